//! Claims that are to be searched again: which, by whom, and with what budget.

use std::collections::{BTreeMap, BTreeSet};

use jlpns_games::Move;

use super::claims::ThresholdAt;
use super::machine::MachineId;
use crate::ids::LeaseId;

/// The first budget is so many times the nodes that the claim took by its machine's word. Whoever
/// lies about that gains nothing: a recheck that ends at its budget is done again with a larger one.
const BUDGET_FACTOR: u64 = 2;
const LEAST_BUDGET: u64 = 10_000;
/// How much larger the budget is each time.
const BUDGET_GROWTH: u64 = 4;
/// After so many leases that were lost the coordinator searches the claim: whoever takes them may not want to.
const MOST_LOSSES: u32 = 8;
/// After so many searches without a result the claim is too large to be searched again at once.
const MOST_ATTEMPTS: u32 = 5;

/// Why a claim is searched again. What much hangs on goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Two machines contradict each other.
    Dispute,
    /// The answer rests on it.
    Answer,
    /// It was drawn, to find bad machines early.
    Sample,
}

/// How a search of a claim has ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResult {
    /// It has used up its budget.
    UsedUp,
    /// It came to nothing where a certificate was asked for: whoever had it may be unable to make one.
    Failed,
    /// Its lease was lost, and that says nothing of the claim.
    Lost,
    /// It was no search of this claim.
    NoAttempt,
}

/// By what a claim is searched again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rechecker {
    /// A worker, under this lease.
    Lease(LeaseId),
    /// The coordinator itself.
    Coordinator,
}

/// The machines that may not search a claim again: the one that makes it, and the one that
/// contradicts it.
pub type Parties = [Option<MachineId>; 2];

/// How something is claimed that is to be searched again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claimed {
    /// The machines that may not search it again; none if nobody claims it.
    pub parties: Parties,
    /// Whether it is nobody's own word.
    pub is_hearsay: bool,
    /// The work that it took, in nodes, if anybody says so.
    pub work: u64,
}

/// A claim that is to be searched again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recheck {
    /// What it is about.
    pub place: ThresholdAt,
    /// The moves to the position, from the start of the game.
    pub moves: Vec<Move>,
    /// Why.
    pub why: Why,
    /// The machines that may not search it.
    pub parties: Parties,
    /// Whether it is nobody's own word yet.
    pub is_hearsay: bool,
    /// How many nodes the next search may create.
    pub budget: u64,
    /// How many searches have ended without a result.
    pub attempts: u32,
    /// How many leases on it were lost.
    pub losses: u32,
    /// By what it is searched at present.
    pub out: Option<Rechecker>,
}

/// Who takes a recheck that is to come with a certificate, by how many searches of it have come to nothing; and
/// whose word a claim is to get that is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// The machine that has made the claim, if it is there.
    Claimant,
    /// Any machine.
    Anyone,
    /// The coordinator: what machines have failed at twice is not left to them.
    Coordinator,
    /// Any machine, and the one that claims it on hearsay before others: its table knows most of how.
    FirstWord,
    /// The coordinator: too many leases were lost.
    LostByAll,
}

impl Recheck {
    fn turn(&self) -> Turn {
        match self.attempts {
            _ if self.losses >= MOST_LOSSES => Turn::LostByAll,
            _ if self.is_hearsay => Turn::FirstWord,
            0 => Turn::Claimant,
            1 => Turn::Anyone,
            _ => Turn::Coordinator,
        }
    }
}

/// All claims that are to be searched again.
#[derive(Clone, Debug, Default)]
pub struct Rechecks {
    all: BTreeMap<u64, Recheck>,
    numbers: BTreeMap<ThresholdAt, u64>,
    /// Those that are not searched at present, by the machines that may not search them and whose turn it is.
    groups: BTreeMap<(Why, Parties, Turn), BTreeSet<u64>>,
    /// Those that a worker searches, or whose report waits to be durable, by their leases.
    leased: BTreeMap<LeaseId, u64>,
    /// The searches of the coordinator that have not ended, by the numbers of their rechecks, which
    /// may be gone already.
    own_searches: BTreeSet<u64>,
    /// How many there are for each reason.
    counts: [usize; 3],
    next: u64,
}

impl Rechecks {
    /// A recheck by its number.
    pub fn get(&self, number: u64) -> Option<&Recheck> {
        self.all.get(&number)
    }

    /// How many there are for this reason.
    pub fn count(&self, why: Why) -> usize {
        self.counts[why as usize]
    }

    /// What is to be searched again there.
    pub fn at(&self, place: ThresholdAt) -> Option<&Recheck> {
        self.all.get(self.numbers.get(&place)?)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether no claim is to be searched again.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a claim waits for a machine that may search it.
    pub fn has_open(&self) -> bool {
        !self.groups.is_empty()
    }

    /// How many searches of the coordinator have not ended.
    pub fn own_searches(&self) -> usize {
        self.own_searches.len()
    }

    /// A search of the coordinator has ended; gives its recheck, if that is still wanted.
    pub fn own_search_ended(&mut self, number: u64) -> Option<&Recheck> {
        self.own_searches.remove(&number).then_some(())?;
        self.all.get(&number)
    }

    /// The recheck that a lease is for.
    pub fn of_lease(&self, lease: LeaseId) -> Option<u64> {
        self.leased.get(&lease).copied()
    }

    /// Has a claim searched again. A recheck that is there already keeps its number and its budget,
    /// and takes the more urgent reason and the new parties.
    pub fn want(&mut self, place: ThresholdAt, moves: &[Move], why: Why, claimed: Claimed) {
        let Claimed { parties, is_hearsay, work } = claimed;
        if let Some(&number) = self.numbers.get(&place) {
            self.change(number, |recheck| {
                recheck.why = recheck.why.min(why);
                recheck.parties = parties;
                recheck.is_hearsay = is_hearsay;
            });
            return;
        }
        self.next += 1;
        let recheck = Recheck {
            place,
            moves: moves.to_vec(),
            why,
            parties,
            is_hearsay,
            budget: work.saturating_mul(BUDGET_FACTOR).max(LEAST_BUDGET),
            attempts: 0,
            losses: 0,
            out: None,
        };
        self.numbers.insert(place, self.next);
        self.groups.entry((why, parties, recheck.turn())).or_default().insert(self.next);
        self.counts[why as usize] += 1;
        self.all.insert(self.next, recheck);
    }

    /// A claim need not be searched again any more.
    pub fn remove(&mut self, place: ThresholdAt) -> Option<Recheck> {
        let number = self.numbers.remove(&place)?;
        let recheck = self.all.remove(&number)?;
        self.counts[recheck.why as usize] -= 1;
        self.leave_group(number, &recheck);
        if let Some(Rechecker::Lease(lease)) = recheck.out {
            self.leased.remove(&lease);
        }
        Some(recheck)
    }

    /// Drops the rechecks that are not to be kept, and gives them.
    pub fn retain(&mut self, keep: impl Fn(&Recheck) -> bool) -> Vec<Recheck> {
        let gone: Vec<ThresholdAt> =
            self.all.values().filter(|recheck| !keep(recheck)).map(|r| r.place).collect();
        gone.into_iter().filter_map(|place| self.remove(place)).collect()
    }

    /// The first recheck that waits and whose parties `may` allow, for a reason at least as urgent as
    /// `least`.
    pub fn next(
        &self,
        least: Why,
        may: impl Fn(Why, &Parties, Turn) -> bool,
    ) -> Option<(u64, &Recheck)> {
        let groups = self.groups.iter().take_while(|((why, ..), _)| *why <= least);
        let open = groups.filter(|((why, parties, turn), _)| may(*why, parties, *turn));
        // Of one reason the oldest.
        let first = open
            .filter_map(|((why, ..), numbers)| Some((*why, *numbers.first()?)))
            .min()
            .map(|(_, number)| number)?;
        Some((first, &self.all[&first]))
    }

    /// Notes by what a claim is searched again.
    pub fn take(&mut self, number: u64, by: Rechecker) {
        match by {
            Rechecker::Lease(lease) => drop(self.leased.insert(lease, number)),
            Rechecker::Coordinator => drop(self.own_searches.insert(number)),
        }
        self.change(number, |recheck| recheck.out = Some(by));
    }

    /// Notes that the search `by` has ended without a result. Whether the claim counts as too large from now on.
    pub fn give_back(&mut self, number: u64, by: Rechecker, end: NoResult) -> bool {
        if let Rechecker::Lease(lease) = by {
            self.leased.remove(&lease);
        }
        let mut too_large = false;
        self.change(number, |recheck| {
            if recheck.out == Some(by) {
                recheck.out = None;
            }
            if end == NoResult::UsedUp {
                recheck.budget = recheck.budget.saturating_mul(BUDGET_GROWTH);
            }
            match end {
                NoResult::UsedUp | NoResult::Failed => {
                    recheck.attempts += 1;
                    too_large = recheck.attempts >= MOST_ATTEMPTS;
                }
                NoResult::Lost => recheck.losses += 1,
                NoResult::NoAttempt => {}
            }
        });
        too_large
    }

    fn change(&mut self, number: u64, change: impl FnOnce(&mut Recheck)) {
        let Some(mut recheck) = self.all.remove(&number) else { return };
        self.leave_group(number, &recheck);
        self.counts[recheck.why as usize] -= 1;
        change(&mut recheck);
        self.counts[recheck.why as usize] += 1;
        if recheck.out.is_none() {
            let group = (recheck.why, recheck.parties, recheck.turn());
            self.groups.entry(group).or_default().insert(number);
        }
        self.all.insert(number, recheck);
    }

    fn leave_group(&mut self, number: u64, recheck: &Recheck) {
        let group = (recheck.why, recheck.parties, recheck.turn());
        if let Some(numbers) = self.groups.get_mut(&group) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.groups.remove(&group);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As a look at all of them would find it.
        #[test]
        fn the_next_one_is_the_first_that_is_for_a_machine(
            steps in prop::collection::vec(
                (0u8..4, 0u128..12, 0u32..4, prop::option::of(0u32..4), 0u8..3, any::<bool>()), 0..60),
        ) {
            let mut rechecks = Rechecks::default();
            let whys = [Why::Dispute, Why::Answer, Why::Sample];
            for (what, key, by, against, why, is_hearsay) in steps {
                let place = (key, 1);
                let parties = [Some(MachineId(by)), against.map(MachineId)];
                let number = rechecks.numbers.get(&place).copied();
                match (what, number) {
                    (0 | 1, _) => rechecks.want(place, &[], whys[why as usize], Claimed { parties, is_hearsay, work: 1 }),
                    (2, Some(number)) => rechecks.take(number, Rechecker::Coordinator),
                    (3, Some(number)) => {
                        let end = [NoResult::UsedUp, NoResult::Failed, NoResult::Lost, NoResult::NoAttempt][by as usize];
                        rechecks.give_back(number, Rechecker::Coordinator, end);
                    }
                    (_, None) => drop(rechecks.remove(place)),
                    _ => {}
                }
                for why in whys {
                    let by_hand = rechecks.all.values().filter(|recheck| recheck.why == why);
                    prop_assert_eq!(rechecks.count(why), by_hand.count());
                }
                for machine in (0..5).map(MachineId) {
                    let may = |parties: &Parties| !parties.contains(&Some(machine));
                    let waiting = |recheck: &&Recheck| recheck.out.is_none() && may(&recheck.parties);
                    let by_hand = rechecks.all.iter().filter(|(_, recheck)| waiting(recheck));
                    let by_hand = by_hand.min_by_key(|(number, recheck)| (recheck.why, **number));
                    let next = rechecks.next(Why::Sample, |_, parties, _| may(parties));
                    prop_assert_eq!(next.map(|(number, _)| number), by_hand.map(|(number, _)| *number));
                }
            }
        }
    }
}
