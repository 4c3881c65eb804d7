//! Which jobs go depth first where alpha-beta is one of two sub-searches.
//!
//! Alpha-beta has five sixths of the slots ([`SHARE`]): it is the better search on most boards of Connect Four, and
//! nobody knows before on which it is not. They are those of the workers that have been here for the longest time, as
//! each has a subtree of its own, and a table that knows it. A slot that is in that part with only some sixths of
//! it, as a single one is, does the one and the other by turns, which get longer the longer the solve takes. So of all
//! work each has its share: alpha-beta can cost no more than about 1.2 times what it would take alone, the
//! other sub-search six times; and what one has solved the other has in its table.

use std::collections::BTreeMap;

use crate::ids::{LeaseId, WorkerId};
use crate::scheduler::Place;

/// Which part of all slots goes depth first.
const SHARE: (u64, u64) = (5, 6);
/// Of the slot that has turns, how many full jobs one way of selection may be ahead of its share before it is the
/// other's turn: so many, and this part of all that was done.
const TURN: (f64, f64) = (10.0, 0.05);

/// The search that goes depth first beside the other.
#[derive(Debug)]
pub(super) struct DepthFirst {
    /// Whether the second sub-search runs it, and the first all else.
    is_second: bool,
    /// Its jobs that are out with each worker; also some that are not any more, until that is asked.
    out: BTreeMap<WorkerId, Vec<LeaseId>>,
    /// The full jobs that it has done, and those that were done best first.
    done: f64,
    done_best_first: f64,
    /// Whether it is its turn, with the slot that has turns.
    has_turn: bool,
}

impl DepthFirst {
    /// Nothing is done yet.
    pub fn new(is_second: bool) -> DepthFirst {
        let out = BTreeMap::new();
        DepthFirst { is_second, out, done: 0.0, done_best_first: 0.0, has_turn: true }
    }

    /// Whether the second sub-search runs it.
    pub fn is_second(&self) -> bool {
        self.is_second
    }

    /// Whether a worker at this place goes depth first with one of its slots, be it by turns.
    pub fn may_be_at(place: Place) -> bool {
        let slots = Slots::of(place);
        slots.always > 0 || slots.has_turns
    }

    /// Whether the next job of a worker is to be one of its own.
    pub fn is_next(
        &mut self,
        worker: WorkerId,
        place: Place,
        is_out: impl Fn(LeaseId) -> bool,
    ) -> bool {
        let Slots { always, has_turns } = Slots::of(place);
        let slots = always + u64::from(has_turns && self.has_turn());
        // Of the leases that wait for a slot it has its part as well: else its slots go on with those of the other.
        let ahead = place.room.saturating_sub(place.own);
        let most = slots + (ahead * slots).div_ceil(place.own.max(1));
        let out = self.out.entry(worker).or_default();
        out.retain(|&lease| is_out(lease));
        (out.len() as u64) < most
    }

    /// Whether the slot that has turns goes depth first now.
    fn has_turn(&mut self) -> bool {
        let all = self.done + self.done_best_first;
        let ahead = self.done - all * SHARE.0 as f64 / SHARE.1 as f64;
        let most = TURN.0 + TURN.1 * all;
        self.has_turn = if self.has_turn { ahead <= most } else { -ahead > most };
        self.has_turn
    }

    /// Notes that a worker holds this lease of one of its jobs.
    pub fn note_granted(&mut self, worker: WorkerId, lease: LeaseId) {
        self.out.entry(worker).or_default().push(lease);
    }

    /// Notes a job of either search that has come back, and how much of a full job it was.
    pub fn note_done(&mut self, worker: WorkerId, lease: LeaseId, full_jobs: f64) {
        let out = self.out.get_mut(&worker);
        let place = out.as_ref().and_then(|out| out.iter().position(|&out| out == lease));
        if let (Some(out), Some(place)) = (out, place) {
            out.swap_remove(place);
            self.done += full_jobs;
        } else {
            self.done_best_first += full_jobs;
        }
    }

    /// Forgets a worker that is gone.
    pub fn forget(&mut self, worker: WorkerId) {
        self.out.remove(&worker);
    }
}

/// The slots of a worker that go depth first.
struct Slots {
    /// How many always do.
    always: u64,
    /// Whether one does by turns.
    has_turns: bool,
}

impl Slots {
    fn of(place: Place) -> Slots {
        let (part, whole) = SHARE;
        let (all, rest) = (place.slots * part / whole, place.slots * part % whole);
        let always = place.among_first(all);
        let is_in_part = rest > 0 && place.among_first(all + 1) > always;
        Slots { always, has_turns: is_in_part }
    }
}
