//! What may be believed: the one place that turns what a worker says into something settled, and the
//! only one that takes it back. `docs/belief.md` is its page.
//!
//! A report that settles a threshold makes a claim, and claims steer the search. The answer does not
//! rest on them: it counts when its proof tree holds no claim that only one machine stands behind.
//!
//! - `machine`: who makes claims; a name counts for nothing.
//! - `claims`: all claims, and what stands behind each.
//! - `judgement`: what a claim confirms, what it contradicts, and who is found out by it.
//! - `answer`: what an answer rests on, and whether it counts.
//! - `bytes`: claims as a snapshot keeps them.
//! - `proof`: the proof tree of an answer, and the claims that it rests on.
//! - `rechecks`: claims that are to be searched again, and by whom.

mod answer;
mod bytes;
mod claims;
mod judgement;
mod machine;
mod proof;
mod rechecks;

use std::fmt;
use std::time::Duration;

use answer::Answer;
pub use bytes::ClaimsError;
pub use claims::{Claim, Claims, Standing, ThresholdAt};
use jlpns_games::Move;
pub use judgement::{Judgement, Word};
pub use machine::{Identity, Machine, MachineId, Machines};
pub use proof::{Basis, Open, Proofs};
use rechecks::Claimed;
pub use rechecks::{NoResult, Parties, Recheck, Rechecker, Rechecks, Turn, Why};

use crate::ids::LeaseId;

/// What must be confirmed before an answer counts.
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
    /// Whatever the answer rests on is shown by a certificate that the coordinator has checked.
    Proof,
}

impl Confirm {
    /// Whether an answer counts that rests on this claim, if what it rests on matters at all.
    pub fn is_met_by(self, claim: &Claim) -> bool {
        match self {
            Confirm::Proof => claim.standing == Standing::Proved,
            Confirm::None | Confirm::Sample | Confirm::Answer => claim.is_confirmed(),
        }
    }

    /// Whether workers may tell each other what they solve. Whoever has told what is not true is not found out by that, so
    /// the hearsay that followed from it would stay; samples are to find out, and whoever is found out is withdrawn
    /// with all of its claims.
    pub const fn goes_with_sharing(self) -> bool {
        !matches!(self, Confirm::Sample)
    }

    /// Whether all that an answer rests on must be made sure of.
    pub const fn is_of_the_answer(self) -> bool {
        matches!(self, Confirm::Answer | Confirm::Proof)
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Confirm::None => "none",
            Confirm::Sample => "sample",
            Confirm::Answer => "answer",
            Confirm::Proof => "proof",
        }
    }
}

impl fmt::Display for Confirm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How much of what machines claim is searched again by another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeliefSettings {
    /// What must be confirmed before an answer counts.
    pub confirm: Confirm,
    /// The share of the claims of proven machines that is searched again, from 0 to 1.
    pub sample: f64,
    /// The seed by which claims are drawn as samples; only the coordinator knows it.
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

/// The claims of all machines, how each stands, and which are to be searched again.
#[derive(Clone, Debug)]
pub struct Belief {
    settings: BeliefSettings,
    machines: Machines,
    claims: Claims,
    rechecks: Rechecks,
    /// How many claims were ever confirmed, and how many contradicted.
    confirmed: u64,
    disputes: u64,
    answer: Answer,
    /// When it is told again that machines contradict each other.
    disputes_told: Duration,
    /// Whether something was ever taken back: then a position may be settled that the tree does not know to be. (So it may
    /// where the tree has given something up because its memory was full.)
    has_withdrawn: bool,
}

impl Belief {
    /// A belief without claims.
    pub fn new(settings: BeliefSettings) -> Belief {
        Belief {
            settings,
            machines: Machines::default(),
            claims: Claims::default(),
            rechecks: Rechecks::default(),
            confirmed: 0,
            disputes: 0,
            answer: Answer::default(),
            disputes_told: Duration::ZERO,
            has_withdrawn: false,
        }
    }

    /// A belief with the machines and claims of a snapshot.
    pub fn restore(settings: BeliefSettings, machines: Machines, claims: Claims) -> Belief {
        // Something may have been taken back in an earlier life.
        Belief { machines, claims, has_withdrawn: true, ..Belief::new(settings) }
    }

    /// What must be confirmed before an answer counts.
    pub fn confirm(&self) -> Confirm {
        self.settings.confirm
    }

    /// The machines.
    pub fn machines(&self) -> &Machines {
        &self.machines
    }

    /// The machines, to be changed when one of them joins.
    pub fn machines_mut(&mut self) -> &mut Machines {
        &mut self.machines
    }

    /// The claims that count.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The claims that are to be searched again.
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

    /// Whether a machine is quarantined.
    pub fn is_quarantined(&self, machine: MachineId) -> bool {
        self.machines.of(machine).quarantined
    }

    /// Notes that a position was expanded without a report.
    pub fn note_expanded(&mut self, key: u128) {
        self.claims.expand(key);
    }

    /// Lets a quarantined machine come again; its withdrawn claims stay withdrawn.
    pub fn reinstate(&mut self, machine: MachineId) {
        self.machines.of_mut(machine).quarantined = false;
    }

    /// Withdraws a claim that is too large to be searched again in one job. Its machine is not
    /// blamed for it.
    pub fn take_back(&mut self, place: ThresholdAt) {
        self.claims.remove(place);
        self.rechecks.remove(place);
        self.has_withdrawn = true;
    }

    /// The next claim that a machine may search again. What it has claimed itself it proves first, or searches
    /// without what others have told: its table may still know how. Where it is the `only` machine its word would
    /// confirm nothing.
    pub fn next_for(&self, machine: MachineId, least: Why, only: bool) -> Option<(u64, &Recheck)> {
        if self.is_quarantined(machine) {
            return None;
        }
        let own = |why, parties: &Parties, turn: Turn| {
            let is_its_turn = match turn {
                // A sample is a look at what somebody else has claimed.
                Turn::FirstWord => !only && why != Why::Sample,
                Turn::Claimant => self.asks_for_proof(why),
                Turn::Anyone | Turn::Coordinator | Turn::LostByAll => false,
            };
            is_its_turn && parties[0] == Some(machine)
        };
        let own = self.rechecks.next(least, own);
        own.or_else(|| {
            self.rechecks
                .next(least, |why, parties, turn| self.may_recheck(machine, why, parties, turn))
        })
    }

    /// Whether the recheck with this number is to come with a certificate.
    pub fn needs_proof(&self, number: u64) -> bool {
        self.rechecks.get(number).is_some_and(|recheck| self.asks_for_proof(recheck.why))
    }

    /// Has a claim searched again.
    fn want(&mut self, place: ThresholdAt, moves: &[Move], why: Why, claimed: Claimed) {
        let reason = self.rechecks.at(place).map_or(why, |wanted| wanted.why.min(why));
        // A certificate needs nobody's word.
        let is_hearsay = claimed.is_hearsay && !self.asks_for_proof(reason);
        self.rechecks.want(place, moves, why, Claimed { is_hearsay, ..claimed });
    }

    /// Whether what is searched again for this reason is to come with a certificate: a sample is a second
    /// opinion only.
    fn asks_for_proof(&self, why: Why) -> bool {
        self.confirm() == Confirm::Proof && why != Why::Sample
    }

    /// The next claim that no connected machine may search again, so that the coordinator must.
    pub fn next_for_coordinator(&self, connected: &[MachineId]) -> Option<(u64, &Recheck)> {
        self.rechecks.next(Why::Sample, |why, parties, turn| {
            !connected.iter().any(|&machine| self.may_recheck(machine, why, parties, turn))
        })
    }

    fn may_recheck(&self, machine: MachineId, why: Why, parties: &Parties, turn: Turn) -> bool {
        if self.is_quarantined(machine) || turn == Turn::LostByAll {
            return false;
        }
        if self.asks_for_proof(why) {
            // A certificate is as good from whoever makes it.
            return turn != Turn::Coordinator;
        }
        parties.iter().flatten().all(|&party| self.machines.are_independent(party, machine))
    }

    /// Notes the lease or the own search by which a claim is searched again.
    pub fn recheck_taken(&mut self, number: u64, by: Rechecker) {
        self.rechecks.take(number, by);
    }

    /// The coordinator's own search of a claim has ended; gives its recheck, if that is still wanted.
    pub fn own_search_ended(&mut self, number: u64) -> Option<&Recheck> {
        self.rechecks.own_search_ended(number)
    }

    /// The report of a lease counts now. If the lease was for a recheck that the report has not
    /// decided, the recheck may go to another machine.
    pub fn recheck_reported(&mut self, lease: LeaseId) {
        if let Some(number) = self.rechecks.of_lease(lease) {
            self.rechecks.give_back(number, Rechecker::Lease(lease), NoResult::NoAttempt);
        }
    }

    /// Notes that a recheck has ended without a result. Gives the place of its claim, and the moves to
    /// it, if the claim is too large to be searched again in one job.
    pub fn recheck_given_back(
        &mut self,
        number: u64,
        by: Rechecker,
        end: NoResult,
    ) -> Option<(ThresholdAt, Vec<Move>)> {
        let too_large = self.rechecks.give_back(number, by, end);
        let recheck = self.rechecks.get(number).filter(|_| too_large)?;
        Some((recheck.place, recheck.moves.clone()))
    }
}
