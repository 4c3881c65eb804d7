//! What may be believed: the one place that turns what a worker says into something settled, and the
//! only one that takes it back. `docs/belief.md` is its page.
//!
//! A report that settles a threshold makes a claim, and claims steer the search. The answer does not
//! rest on them: it counts when its proof tree holds no claim that only one machine stands behind.
//!
//! - `machine`: who makes claims; a name counts for nothing.
//! - `claims`: all claims, and what stands behind each.
//! - `bytes`: claims as a snapshot keeps them.
//! - `proof`: the proof tree of an answer, and the claims that it rests on.
//! - `rechecks`: claims that are to be searched again, and by whom.

mod bytes;
mod claims;
mod machine;
mod proof;
mod rechecks;

use std::fmt;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use jlpns_games::{Move, Threshold};
use jlpns_search::{EffortPair, Findings};

pub use bytes::ClaimsError;
pub use claims::{Claim, Claims, Standing, ThresholdAt};
pub use machine::{Identity, Machine, MachineId, Machines};
pub use proof::{Basis, Open, Proofs};
pub use rechecks::{Parties, Recheck, Rechecker, Rechecks, Why};

/// A machine is proven when so many of its claims are confirmed.
const PROVEN: u64 = 10;
/// At most so many claims wait as samples: a machine that was alone for long must not leave a second
/// one nothing but rechecks.
const MOST_SAMPLES: usize = 64;

/// What is made sure of before an answer counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// Nothing: every machine is believed.
    None,
    /// A share of the claims is searched again by another machine, which finds bad machines, but not
    /// every lie.
    Sample,
    /// Whatever the answer rests on has been claimed by two machines, or by the coordinator itself.
    #[default]
    Answer,
}

impl Confirm {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Confirm::None => "none",
            Confirm::Sample => "sample",
            Confirm::Answer => "answer",
        }
    }
}

impl fmt::Display for Confirm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How far what workers say is made sure of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeliefSettings {
    /// What is made sure of.
    pub confirm: Confirm,
    /// The share of the claims of proven machines that is searched again, from 0 to 1.
    pub sample: f64,
    /// What decides which ones; nobody else knows it.
    pub seed: u64,
}

/// The positions that a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The key of its own position.
    pub position: u128,
    /// The keys of the positions one move on.
    pub children: Vec<(Move, u128)>,
}

/// What follows from a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Two machines contradict each other, and a third one has to decide.
    Disputed {
        /// Who claimed something first.
        claimant: MachineId,
        /// Who says the contrary.
        against: MachineId,
        /// The moves to the position.
        moves: Vec<Move>,
    },
    /// A machine has claimed what is not true.
    FoundOut(MachineId),
}

/// What is believed of what was said.
#[derive(Clone, Debug)]
pub struct Belief {
    settings: BeliefSettings,
    machines: Machines,
    claims: Claims,
    rechecks: Rechecks,
    /// How many claims were ever confirmed, and how many contradicted.
    confirmed: u64,
    disputes: u64,
    /// Whether something was ever taken back: only then may a position be settled that the tree
    /// does not know to be.
    has_withdrawn: bool,
}

impl Belief {
    /// Nothing has been said.
    pub fn new(settings: BeliefSettings) -> Belief {
        Belief {
            settings,
            machines: Machines::default(),
            claims: Claims::default(),
            rechecks: Rechecks::default(),
            confirmed: 0,
            disputes: 0,
            has_withdrawn: false,
        }
    }

    /// The same with what was believed before.
    pub fn restore(settings: BeliefSettings, machines: Machines, claims: Claims) -> Belief {
        // Something may have been taken back in an earlier life.
        Belief { machines, claims, has_withdrawn: true, ..Belief::new(settings) }
    }

    /// What is made sure of.
    pub fn confirm(&self) -> Confirm {
        self.settings.confirm
    }

    /// The machines.
    pub fn machines(&self) -> &Machines {
        &self.machines
    }

    /// The same, for one that joins.
    pub fn machines_mut(&mut self) -> &mut Machines {
        &mut self.machines
    }

    /// The claims that count.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// What is to be searched again.
    pub fn rechecks(&self) -> &Rechecks {
        &self.rechecks
    }

    /// How many claims were ever confirmed.
    pub fn confirmed(&self) -> u64 {
        self.confirmed
    }

    /// How many claims were ever contradicted.
    pub fn disputes(&self) -> u64 {
        self.disputes
    }

    /// Whether something was ever taken back.
    pub fn has_withdrawn(&self) -> bool {
        self.has_withdrawn
    }

    /// Whether a machine is put out.
    pub fn is_quarantined(&self, machine: MachineId) -> bool {
        self.machines.of(machine).quarantined
    }

    /// Notes that a position was expanded without a report.
    pub fn note_expanded(&mut self, key: u128) {
        self.claims.expand(key);
    }

    /// Takes in a report that is durable: `first` is its first threshold, `number` that of its
    /// record. What it settles is a claim of its machine, or confirms or contradicts another's.
    pub fn take_in(
        &mut self,
        number: u64,
        by: MachineId,
        (keys, moves): (&Keys, &[Move]),
        first: Threshold,
        findings: &Findings,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut about = vec![(keys.position, None, &findings.efforts[..])];
        if !findings.efforts.iter().all(|pair| pair.is_solved()) {
            self.claims.expand(keys.position);
            // Where all is settled, the tree does not look at the children.
            about.extend(findings.children.iter().filter_map(|child| {
                let (_, key) = keys.children.iter().find(|(mv, _)| *mv == child.mv)?;
                Some((*key, Some(child.mv), &child.efforts[..]))
            }));
        }
        for (key, mv, efforts) in about {
            let moves: Vec<Move> = moves.iter().copied().chain(mv).collect();
            for (place, holds) in verdicts(key, first, efforts) {
                let drawn = self.is_drawn(number, place, by);
                let claim = Claim { holds, by, work: findings.nodes, standing: Standing::Claimed };
                found.extend(self.hear(place, claim, &moves, drawn));
                if self.is_quarantined(by) {
                    return found;
                }
            }
        }
        found
    }

    /// Lets one claim count. The only place where what a machine says becomes something settled.
    fn hear(
        &mut self,
        place: ThresholdAt,
        said: Claim,
        moves: &[Move],
        drawn: bool,
    ) -> Vec<Finding> {
        let (key, threshold) = (place.0, Threshold(place.1));
        let mut found = Vec::new();
        while let Some((at, other)) = self.claims.contrary(key, threshold, said.holds) {
            let liars = self.liars(&said, &other);
            if liars.is_empty() {
                if other.standing == Standing::Claimed {
                    self.disputes += 1;
                    self.claims.set_standing(at, Standing::Contradicted { by: said.by });
                    found.push(Finding::Disputed {
                        claimant: other.by,
                        against: said.by,
                        moves: moves.to_vec(),
                    });
                }
                let Some(&Claim { standing: Standing::Contradicted { by }, .. }) =
                    self.claims.get(at)
                else {
                    return found;
                };
                let parties = [Some(other.by), Some(by)];
                self.rechecks.want(at, moves, Why::Dispute, parties, other.work.max(said.work));
                return found;
            }
            for &liar in &liars {
                found.extend(self.put_out(liar).then_some(Finding::FoundOut(liar)));
            }
            if liars.contains(&said.by) {
                return found;
            }
        }
        match self.claims.get(place).copied() {
            Some(known) if self.machines.are_independent(known.by, said.by) => {
                if let Standing::Contradicted { by: against } = known.standing {
                    if !self.machines.are_independent(against, said.by) {
                        return found;
                    }
                    found.extend(self.put_out(against).then_some(Finding::FoundOut(against)));
                }
                if !known.is_confirmed() {
                    self.claims.set_standing(place, Standing::Confirmed { by: said.by });
                    self.machines.of_mut(known.by).confirmed += 1;
                    self.confirmed += 1;
                }
                self.rechecks.remove(place);
            }
            Some(_) => {}
            None => {
                self.claims.insert(place, said);
                self.machines.of_mut(said.by).claims += 1;
                if drawn {
                    let parties = [Some(said.by), None];
                    self.rechecks.want(place, moves, Why::Sample, parties, said.work);
                }
            }
        }
        found
    }

    /// Who of those that contradict each other is found out by it: the coordinator is right, whoever
    /// contradicts himself is wrong, and so is one against two.
    fn liars(&self, said: &Claim, other: &Claim) -> Vec<MachineId> {
        let independent = |one, two| self.machines.are_independent(one, two);
        let confirmed_by = match other.standing {
            Standing::Confirmed { by } => Some(by),
            _ => None,
        };
        if said.by == MachineId::COORDINATOR {
            return [Some(other.by), confirmed_by].into_iter().flatten().collect();
        }
        if said.by == other.by || other.by == MachineId::COORDINATOR {
            return vec![said.by];
        }
        match other.standing {
            Standing::Confirmed { by } if by == MachineId::COORDINATOR => vec![said.by],
            Standing::Confirmed { by }
                if independent(said.by, by) && independent(said.by, other.by) =>
            {
                vec![said.by]
            }
            Standing::Contradicted { by }
                if independent(said.by, by) && independent(said.by, other.by) =>
            {
                vec![other.by]
            }
            _ => Vec::new(),
        }
    }

    /// Puts a machine out: whatever only it stands behind does not count any more. `false` if it is
    /// out already, or is the coordinator.
    pub fn put_out(&mut self, machine: MachineId) -> bool {
        if machine == MachineId::COORDINATOR || self.is_quarantined(machine) {
            return false;
        }
        self.machines.of_mut(machine).quarantined = true;
        self.claims.withdraw(machine);
        self.has_withdrawn = true;
        // What stands otherwise than before is to be drawn or needed anew.
        let claims = &self.claims;
        self.rechecks.retain(|recheck| match claims.get(recheck.place) {
            Some(claim) => {
                recheck.parties[0] == Some(claim.by) && !recheck.parties.contains(&Some(machine))
            }
            None => recheck.parties[0].is_none(),
        });
        true
    }

    /// Lets a machine that was put out come again; what it had claimed before stays away.
    pub fn reinstate(&mut self, machine: MachineId) {
        self.machines.of_mut(machine).quarantined = false;
    }

    /// Takes one claim back, for it cannot be searched again at once; nobody is to blame.
    pub fn take_back(&mut self, place: ThresholdAt) {
        self.claims.remove(place);
        self.rechecks.remove(place);
        self.has_withdrawn = true;
    }

    /// Has what an answer rests on searched again, as far as only one machine stands behind it.
    pub fn want_for_answer(&mut self, open: &[Open]) {
        for Open { place, moves, claim, .. } in open {
            let parties = match claim {
                Some(Claim { by, standing: Standing::Contradicted { by: against }, .. }) => {
                    [Some(*by), Some(*against)]
                }
                Some(claim) => [Some(claim.by), None],
                None => [None, None],
            };
            let work = claim.map_or(0, |claim| claim.work);
            self.rechecks.want(*place, moves, Why::Answer, parties, work);
        }
    }

    /// The answer has changed: what only the former one rested on need not be searched again.
    pub fn forget_answer(&mut self) -> Vec<Recheck> {
        self.rechecks.retain(|recheck| recheck.why != Why::Answer)
    }

    /// The next claim that a machine may search again.
    pub fn next_for(&self, machine: MachineId, least: Why) -> Option<(u64, &Recheck)> {
        self.rechecks.next(least, |parties| self.may_recheck(machine, parties))
    }

    /// The next claim that only the coordinator can search again, of those machines that are
    /// connected.
    pub fn next_for_coordinator(&self, connected: &[MachineId]) -> Option<(u64, &Recheck)> {
        self.rechecks.next(Why::Sample, |parties| {
            !connected.iter().any(|&machine| self.may_recheck(machine, parties))
        })
    }

    fn may_recheck(&self, machine: MachineId, parties: &Parties) -> bool {
        let independent = |party: &MachineId| self.machines.are_independent(*party, machine);
        parties.iter().flatten().all(independent) && !self.is_quarantined(machine)
    }

    /// Notes who searches a claim again.
    pub fn recheck_taken(&mut self, number: u64, by: Rechecker) {
        self.rechecks.take(number, by);
    }

    /// Notes that a recheck has ended without a result. The place of a claim that is too large to be
    /// searched again at once, with the moves to it.
    pub fn recheck_given_back(
        &mut self,
        number: u64,
        by: Rechecker,
        used_up: bool,
    ) -> Option<(ThresholdAt, Vec<Move>)> {
        let too_large = self.rechecks.give_back(number, by, used_up);
        let recheck = self.rechecks.get(number).filter(|_| too_large)?;
        Some((recheck.place, recheck.moves.clone()))
    }

    /// Whether a claim is drawn to be searched again: all of a machine that is not proven, and a
    /// share of the others.
    fn is_drawn(&self, number: u64, place: ThresholdAt, by: MachineId) -> bool {
        if self.settings.confirm == Confirm::None
            || by == MachineId::COORDINATOR
            || self.rechecks.count(Why::Sample) >= MOST_SAMPLES
        {
            return false;
        }
        let drawn = FixedState::with_seed(self.settings.seed).hash_one((number, place));
        self.machines.of(by).confirmed < PROVEN
            || (drawn as f64) < self.settings.sample * u64::MAX as f64
    }
}

/// What effort numbers settle, from the first threshold on.
fn verdicts(
    key: u128,
    first: Threshold,
    efforts: &[EffortPair],
) -> impl Iterator<Item = (ThresholdAt, bool)> {
    let settled = move |(t, pair): (u8, &EffortPair)| Some(((key, t), pair.verdict()?));
    (first.0..=u8::MAX).zip(efforts).filter_map(settled)
}
