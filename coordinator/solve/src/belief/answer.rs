//! The claims that an answer rests on, and whether the answer counts.

use std::collections::BTreeSet;
use std::time::Duration;

use super::rechecks::Claimed;
use super::{Basis, Belief, Claims, Confirm, Keys, Open, Recheck, ThresholdAt, Why};

/// How often it is told that machines contradict each other.
const DISPUTES_AGAIN: Duration = Duration::from_secs(60);

/// The claims that the answer rests on, once there is an answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Those of them that are still to be confirmed.
    awaited: BTreeSet<ThresholdAt>,
    /// All of them, as the last walk over the proof tree found them.
    basis: Option<Basis>,
    /// Whether people were told that only the coordinator can confirm the answer.
    alone_told: bool,
}

impl Belief {
    /// Whether the answer counts: whether all claims that it rests on are confirmed, if that is asked
    /// for. The claims that are not are to be searched again.
    pub fn answer_counts(&mut self, basis: impl FnOnce(&Claims) -> Basis) -> bool {
        if !self.answer.awaited.is_empty() {
            return false;
        }
        let basis = basis(&self.claims);
        let counts = basis.open.is_empty() || !self.confirm().is_of_the_answer();
        if !counts {
            self.answer.awaited.extend(basis.open.iter().map(|open| open.place));
            self.want_confirmed(&basis.open);
        }
        self.answer.basis = Some(basis);
        counts
    }

    /// Notes which claims about the positions of a report are confirmed by now, of those that the
    /// answer rests on. A report confirms claims about its children as well as about its own position.
    pub fn note_confirmed(&mut self, keys: &Keys) {
        if self.answer.awaited.is_empty() {
            return;
        }
        let children = keys.children.iter().map(|(_, key)| *key);
        for key in children.chain([keys.position]) {
            let awaited = self.answer.awaited.range((key, 0)..=(key, u8::MAX));
            let confirm = self.confirm();
            let confirmed = |at: &ThresholdAt| {
                self.claims.get(*at).is_some_and(|claim| confirm.is_met_by(claim))
            };
            let confirmed: Vec<ThresholdAt> = awaited.copied().filter(confirmed).collect();
            confirmed.iter().for_each(|at| {
                self.answer.awaited.remove(at);
            });
        }
    }

    /// How many claims the answer rests on, once there is one, and how many of them are still
    /// to be confirmed or proved.
    pub fn answer_claims(&self) -> Option<(u64, u64)> {
        let basis = self.answer.basis.as_ref()?;
        let open = match self.confirm() {
            Confirm::Answer | Confirm::Proof => self.answer.awaited.len(),
            Confirm::Sample | Confirm::None => basis.open.len(),
        };
        Some((basis.claims, open as u64))
    }

    /// How many claims only the coordinator can confirm; `None` when people were told before.
    pub fn tell_once_that_alone(&mut self) -> Option<u64> {
        let told = std::mem::replace(&mut self.answer.alone_told, true);
        (!told).then_some(self.answer.awaited.len() as u64)
    }

    /// When people are told next that machines contradict each other and no third one has decided.
    pub fn next_telling(&self) -> Option<Duration> {
        (self.rechecks.count(Why::Dispute) > 0).then_some(self.disputes_told)
    }

    /// How many contradictions are undecided, if people are to be told now.
    pub fn tell_of_disputes(&mut self, now: Duration) -> Option<u64> {
        self.next_telling().filter(|&due| now >= due)?;
        self.disputes_told = now + DISPUTES_AGAIN;
        Some(self.rechecks.count(Why::Dispute) as u64)
    }

    /// Has those claims searched again that only one machine stands behind, and that an answer rests on.
    pub fn want_confirmed(&mut self, open: &[Open]) {
        for Open { place, moves, claim, .. } in open {
            let claimed = claim.map_or_else(Claimed::default, |claim| claim.claimed());
            self.want(*place, moves, Why::Answer, claimed);
        }
    }

    /// The answer has changed: claims that only the former answer rested on need not be searched
    /// again.
    pub fn forget_answer(&mut self) -> Vec<Recheck> {
        self.answer.awaited.clear();
        self.answer.basis = None;
        self.rechecks.retain(|recheck| recheck.why != Why::Answer)
    }
}
