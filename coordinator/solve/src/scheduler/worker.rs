//! A worker that is connected, and when it is served.

use std::time::Duration;

use super::readiness::Readiness;
use crate::ahead::Ahead;
use crate::belief::MachineId;
use crate::event::WorkerInfo;
use crate::ids::WorkerId;

/// A worker that is connected.
#[derive(Clone, Debug)]
pub struct Worker {
    /// What it says of itself.
    pub info: WorkerInfo,
    /// The number of its machine.
    pub machine: MachineId,
    /// When it joined, since the solve began.
    pub joined: Duration,
    /// When something was last heard of it, since the solve began.
    pub heard: Duration,
    /// How many leases it holds.
    pub running: u32,
    /// How many of its slots hold a search that was given up because it got no further: they are
    /// busy until they say something.
    pub stuck: u32,
    /// How many jobs it has reported.
    pub jobs: u64,
    /// How many nodes its sub-searches created.
    pub nodes: u64,
    /// How long its sub-searches took.
    pub search_time: Duration,
    /// How many rechecks it was given.
    pub rechecks: u64,
    /// How many of its reports were refused.
    pub refused: u32,
    /// Whether it takes leases.
    pub readiness: Readiness,
    /// How many leases it has declined since its last report.
    pub(super) declined: u32,
    /// Until when it gets no leases.
    pub(super) benched: Option<Duration>,
    /// Since when it has as many slots as now, and the slot time before that.
    allotted: Duration,
    former_slot_time: Duration,
    /// How long its jobs and their messages take.
    pub(super) ahead: Ahead,
}

impl Worker {
    /// One that joins now, since the solve began, and holds no leases.
    pub(super) fn new(info: WorkerInfo, machine: MachineId, ahead: Ahead, now: Duration) -> Worker {
        Worker {
            info,
            machine,
            joined: now,
            heard: now,
            running: 0,
            stuck: 0,
            jobs: 0,
            nodes: 0,
            search_time: Duration::ZERO,
            rechecks: 0,
            refused: 0,
            readiness: Readiness::Ready,
            declined: 0,
            benched: None,
            allotted: now,
            former_slot_time: Duration::ZERO,
            ahead,
        }
    }

    /// Whether it is served when a slot is free.
    pub fn is_served(&self) -> bool {
        self.readiness.is_ready() && self.benched.is_none() && self.stuck < self.info.slots
    }

    /// Whether it can take a lease: for a free slot, or for the one that is free next.
    pub fn can_take_a_lease(&self) -> bool {
        self.is_served() && self.running + self.stuck < self.room()
    }

    /// How many leases it may hold: one for each slot, and those that wait for one.
    pub fn room(&self) -> u32 {
        // Who knows when a slot that is stuck will be free.
        let ahead = if self.stuck == 0 { self.ahead.leases(self.info.slots) } else { 0 };
        self.info.slots.saturating_add(ahead)
    }

    /// How many of its slots run a search that is wanted; further leases wait.
    pub fn busy_slots(&self) -> u32 {
        self.running.min(self.info.slots.saturating_sub(self.stuck))
    }

    pub(super) fn has_free_slot(&self) -> bool {
        self.running + self.stuck < self.info.slots
    }

    pub(super) fn turn(&self, id: WorkerId) -> Turn {
        Turn { waits: !self.has_free_slot(), leases: self.running, worker: id }
    }

    /// The time that its slots were for this solve, over all of them.
    pub fn slot_time(&self, now: Duration) -> Duration {
        let since = now.saturating_sub(self.allotted);
        self.former_slot_time + since.saturating_mul(self.info.slots)
    }

    /// It has so many slots from now on.
    pub(super) fn allot(&mut self, slots: u32, now: Duration) {
        self.former_slot_time = self.slot_time(now);
        self.allotted = now;
        self.info.slots = slots;
    }

    /// Whether none of its slots gets any further.
    pub fn is_stuck(&self) -> bool {
        self.stuck > 0 && self.stuck >= self.info.slots
    }
}

/// When a worker is served: first who has a free slot, then the least busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// Whether a lease would wait for a slot.
    pub waits: bool,
    /// How many leases it holds.
    leases: u32,
    pub worker: WorkerId,
}
