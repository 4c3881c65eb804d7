//! What a new claim does to the claims that are there: it confirms some, contradicts others, and may
//! show that a machine has claimed what is not true.

use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use jlpns_games::{Move, Threshold};
use jlpns_search::{EffortPair, Findings};

use super::rechecks::Claimed;
use super::{Belief, Claim, Confirm, Keys, MachineId, Standing, ThresholdAt, Why};

/// A machine is proven when so many of its claims are confirmed.
const PROVEN: u64 = 10;
/// At most so many claims wait as samples: a machine that was alone for long must not leave a second
/// one nothing but rechecks.
const MOST_SAMPLES: usize = 64;

/// What follows from a new claim for machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Two machines contradict each other, and a third machine has to decide.
    Disputed {
        /// The machine whose claim was there first.
        claimant: MachineId,
        /// The machine that claims the contrary.
        against: MachineId,
        /// The moves to the position.
        moves: Vec<Move>,
    },
    /// This machine has claimed what is not true.
    FoundOut(MachineId),
    /// Something does not count any more that nobody can be put out for: the coordinator's own search was wrong, or
    /// somebody had been told what is not true.
    TakenBack,
    /// Something that workers have told each other is not true, or somebody says so who lies.
    Misled,
    /// A machine says the contrary of a claim that more than it can outweigh stands behind: what is claimed stays so.
    Overruled,
}

impl Judgement {
    /// Whether a report says the contrary of what is claimed, which stays so until somebody decides.
    pub fn leaves_the_contrary(&self) -> bool {
        matches!(self, Judgement::Disputed { .. } | Judgement::Overruled)
    }
}

/// By what a report is known to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// By the word of a machine.
    Of(MachineId),
    /// By what a machine has found with the help of what others had told it.
    Hearsay(MachineId),
    /// By a certificate of its position, which the coordinator has checked.
    Proof,
}

impl Belief {
    /// Takes in a report that is durable: `first` is its first threshold, `number` that of its
    /// record. What it settles is a claim of its machine, or confirms or contradicts another's; with a
    /// certificate it is certain.
    pub fn take_in(
        &mut self,
        number: u64,
        word: Word,
        (keys, moves): (&Keys, &[Move]),
        first: Threshold,
        findings: &Findings,
    ) -> Vec<Judgement> {
        let mut found = Vec::new();
        let (by, standing) = match word {
            Word::Of(machine) => (machine, Standing::Claimed),
            Word::Hearsay(machine) => (machine, Standing::Hearsay),
            Word::Proof => (MachineId::COORDINATOR, Standing::Proved),
        };
        let is_certificate = word == Word::Proof;
        // A certificate shows one threshold of its own position, and nothing else that came with it.
        let shown = if is_certificate { 1 } else { findings.efforts.len() };
        let mut about = vec![(keys.position, None, &findings.efforts[..shown])];
        if !is_certificate && !findings.efforts.iter().all(|pair| pair.is_solved()) {
            self.claims.expand(keys.position);
            // The tree does not look at the children of a position whose thresholds are all settled.
            about.extend(findings.children.iter().filter_map(|child| {
                let (_, key) = keys.children.iter().find(|(mv, _)| *mv == child.mv)?;
                Some((*key, Some(child.mv), &child.efforts[..]))
            }));
        }
        for (key, mv, efforts) in about {
            let moves: Vec<Move> = moves.iter().copied().chain(mv).collect();
            for (place, holds) in verdicts(key, first, efforts) {
                let drawn = self.is_drawn(number, place, by);
                let claim = Claim { holds, by, work: findings.nodes, standing };
                found.extend(self.judge(place, claim, &moves, drawn));
                let is_misled = claim.is_hearsay() && found.contains(&Judgement::Misled);
                if self.is_quarantined(by) || is_misled {
                    return found;
                }
            }
        }
        found
    }

    /// Lets one claim count. This is the only place where the word of a machine settles anything.
    fn judge(
        &mut self,
        place: ThresholdAt,
        said: Claim,
        moves: &[Move],
        drawn: bool,
    ) -> Vec<Judgement> {
        let (key, threshold) = (place.0, Threshold(place.1));
        let mut found = Vec::new();
        let mut contested = false;
        while let Some((at, other)) = self.claims.contrary(key, threshold, said.holds) {
            if said.is_hearsay() || other.is_hearsay() {
                found.push(Judgement::Misled);
                if said.is_hearsay() {
                    if !other.is_confirmed() {
                        let work = other.work.max(said.work);
                        let claimed = Claimed { work, ..other.claimed() };
                        self.want(at, moves, Why::Dispute, claimed);
                    }
                    return found;
                }
                // Somebody's own word counts for more, whoever it is; it is looked into at once.
                self.take_back(at);
                found.push(Judgement::TakenBack);
                contested = true;
                continue;
            }
            let liars = self.liars(&said, &other);
            if liars.is_empty() {
                if other.standing == Standing::Claimed {
                    self.disputes += 1;
                    self.claims.set_standing(at, Standing::Contradicted { by: said.by });
                    found.push(Judgement::Disputed {
                        claimant: other.by,
                        against: said.by,
                        moves: moves.to_vec(),
                    });
                } else {
                    found.push(Judgement::Overruled);
                }
                let Some(&Claim { standing: Standing::Contradicted { by }, .. }) =
                    self.claims.get(at)
                else {
                    return found;
                };
                let (parties, work) = ([Some(other.by), Some(by)], other.work.max(said.work));
                let claimed = Claimed { parties, work, ..other.claimed() };
                self.want(at, moves, Why::Dispute, claimed);
                return found;
            }
            for &liar in &liars {
                found.extend(self.put_out(liar).then_some(Judgement::FoundOut(liar)));
            }
            if said.standing == Standing::Proved {
                // Also if it was the coordinator's own claim, who cannot be put out.
                if self.claims.get(at).is_some_and(|claim| claim.holds != said.holds) {
                    self.take_back(at);
                    found.push(Judgement::TakenBack);
                }
            } else if liars.contains(&said.by) {
                return found;
            }
        }
        match self.claims.get(place).copied() {
            Some(known) if said.standing == Standing::Proved => {
                if let Standing::Contradicted { by: against } = known.standing {
                    found.extend(self.put_out(against).then_some(Judgement::FoundOut(against)));
                }
                self.note_confirmation_of(&known);
                self.claims.set_standing(place, Standing::Proved);
                self.rechecks.remove(place);
            }
            // What others were told confirms nothing.
            Some(_) if said.is_hearsay() => {}
            Some(known) if known.is_hearsay() => self.put_into_words(place, &known, said, moves),
            Some(known) if self.machines.are_independent(known.by, said.by) => {
                if let Standing::Contradicted { by: against } = known.standing {
                    if self.confirm() == Confirm::Proof {
                        return found;
                    }
                    if !self.machines.are_independent(against, said.by) {
                        return found;
                    }
                    found.extend(self.put_out(against).then_some(Judgement::FoundOut(against)));
                }
                if !known.is_confirmed() {
                    self.claims.set_standing(place, Standing::Confirmed { by: said.by });
                    self.note_confirmation_of(&known);
                }
                // A second opinion is not the certificate that it may wait for.
                if !self.rechecks.at(place).is_some_and(|wanted| self.asks_for_proof(wanted.why)) {
                    self.rechecks.remove(place);
                }
            }
            Some(_) => {}
            None => {
                self.claims.insert(place, said);
                self.machines.of_mut(said.by).claims += 1;
                if said.standing == Standing::Proved {
                    self.rechecks.remove(place);
                } else if contested && !said.is_confirmed() {
                    self.want(place, moves, Why::Dispute, said.claimed());
                } else if self.rechecks.at(place).is_some() || drawn {
                    // If the answer rests on this threshold without a claim of its own, it is this machine's claim
                    // from now on.
                    self.want(place, moves, Why::Sample, said.claimed());
                }
            }
        }
        found
    }

    /// A machine says by its own word what was only hearsay. What the answer rests on, or what is disputed, waits
    /// for a second machine; for a sample it is enough that it was another one.
    fn put_into_words(&mut self, place: ThresholdAt, known: &Claim, said: Claim, moves: &[Move]) {
        let is_another = self.machines.are_independent(known.by, said.by);
        if is_another {
            self.machines.of_mut(known.by).confirmed += 1;
        }
        self.claims.insert(place, said);
        self.machines.of_mut(said.by).claims += 1;
        let Some(why) = self.rechecks.at(place).map(|wanted| wanted.why) else { return };
        let is_enough = said.is_confirmed() || why == Why::Sample && is_another;
        if is_enough && !self.asks_for_proof(why) {
            self.rechecks.remove(place);
        } else {
            self.want(place, moves, why, said.claimed());
        }
    }

    /// Notes that a claim is confirmed now, if it was not before.
    fn note_confirmation_of(&mut self, claim: &Claim) {
        if !claim.is_confirmed() {
            self.machines.of_mut(claim.by).confirmed += 1;
            self.confirmed += 1;
        }
    }

    /// The machines that a contradiction shows to be wrong: those that contradict a certificate or the
    /// coordinator, a machine that contradicts itself, and one machine against two independent ones.
    fn liars(&self, said: &Claim, other: &Claim) -> Vec<MachineId> {
        let independent = |one, two| self.machines.are_independent(one, two);
        let confirmed_by = match other.standing {
            Standing::Confirmed { by } => Some(by),
            _ => None,
        };
        if other.standing == Standing::Proved {
            return vec![said.by];
        }
        if said.by == MachineId::COORDINATOR {
            return [Some(other.by), confirmed_by].into_iter().flatten().collect();
        }
        if said.by == other.by || other.by == MachineId::COORDINATOR {
            return vec![said.by];
        }
        match other.standing {
            Standing::Confirmed { by } if by == MachineId::COORDINATOR => vec![said.by],
            // Machines are not outvoted where there will be a certificate.
            _ if self.confirm() == Confirm::Proof => Vec::new(),
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

    /// Quarantines a machine: claims that only this machine stands behind are withdrawn. `false` if it
    /// is in quarantine already, or is the coordinator.
    pub fn put_out(&mut self, machine: MachineId) -> bool {
        if machine == MachineId::COORDINATOR || self.is_quarantined(machine) {
            return false;
        }
        self.machines.of_mut(machine).quarantined = true;
        self.claims.withdraw(machine);
        self.has_withdrawn = true;
        // A recheck whose claim stands otherwise than before is dropped; it is drawn or needed anew.
        let claims = &self.claims;
        self.rechecks.retain(|recheck| match claims.get(recheck.place) {
            Some(claim) => {
                recheck.parties[0] == Some(claim.by) && !recheck.parties.contains(&Some(machine))
            }
            None => recheck.parties[0].is_none(),
        });
        true
    }

    /// Whether a machine's own word about a position tells something though its thresholds are settled: it is the second
    /// word about a claim, or the contrary of one.
    pub fn would_learn(
        &self,
        machine: MachineId,
        key: u128,
        first: Threshold,
        efforts: &[EffortPair],
    ) -> bool {
        let lacks_its_word = |claim: &Claim| {
            let is_another = self.machines.are_independent(claim.by, machine);
            !claim.is_confirmed() && (is_another || claim.is_hearsay())
        };
        self.confirm() != Confirm::None
            && verdicts(key, first, efforts).any(|(place, holds)| {
                self.claims.contrary(key, Threshold(place.1), holds).is_some()
                    || self.claims.get(place).is_some_and(lacks_its_word)
            })
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
