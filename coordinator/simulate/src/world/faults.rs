//! What goes wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use jlpns_search::Job;

use super::{Behaviour, Happening, World};

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A worker crashes.
    WorkerCrash,
    /// The coordinator crashes.
    CoordinatorCrash,
    /// About half of the workers lose their connections.
    Partition,
    /// The disk is full for a while.
    DiskFull,
    /// The coordinator stands still, as under SIGSTOP.
    Freeze,
    /// A message is lost.
    Lost,
    /// A message comes twice.
    Doubled,
    /// A message comes late.
    Late,
    /// A search never ends.
    Stuck,
    /// A worker declines a job.
    Declined,
    /// A job kills its worker.
    Poison,
}

/// How often what goes wrong, for the whole cluster.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The mean time between two of a kind.
    pub every: BTreeMap<Fault, Duration>,
    /// Of a thousand messages, searches or jobs, how many are hit.
    pub per_mille: BTreeMap<Fault, usize>,
    /// One position in so many kills the first workers that search it.
    pub poison: Option<u64>,
    /// From when on nothing goes wrong any more.
    pub until: Duration,
}

impl<B: Behaviour> World<B> {
    pub(super) fn begin_faults(&mut self) {
        let every = self.faults.as_ref().map(|faults| faults.every.clone());
        every.into_iter().flatten().for_each(|(fault, _)| self.next_fault(fault));
    }

    fn next_fault(&mut self, fault: Fault) {
        let Some(Faults { every, until, .. }) = &self.faults else { return };
        let (mean, until) = (every[&fault], *until);
        let delay = self.draws.up_to(2 * mean);
        if self.now + delay < until {
            self.later(delay, Happening::Fault(fault));
        }
    }

    fn count(&mut self, fault: Fault) {
        *self.counts.faults.entry(fault).or_default() += 1;
    }

    /// Whether something goes wrong now.
    pub(super) fn hits(&mut self, fault: Fault) -> bool {
        let faults = self.faults.as_ref().filter(|faults| self.now < faults.until);
        let per_mille = faults.and_then(|faults| faults.per_mille.get(&fault));
        let hits = per_mille.is_some_and(|&count| self.draws.below(1000) < count);
        if hits {
            self.count(fault);
        }
        hits
    }

    /// Whether a job kills whoever takes it: the same position each time, and at most five workers.
    pub(super) fn is_poison(&mut self, job: &Job) -> bool {
        let rarity = self.faults.as_ref().and_then(|faults| faults.poison);
        let mixed = job.moves.iter().fold(7u64, |mixed, mv| {
            (mixed ^ u64::from(mv.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
        });
        if !rarity.is_some_and(|rarity| mixed.is_multiple_of(rarity)) {
            return false;
        }
        let kills = self.kills.entry(job.moves.clone()).or_default();
        *kills += 1;
        let kills = *kills <= 5;
        if kills {
            self.count(Fault::Poison);
        }
        kills
    }

    /// A worker's side of its connection is gone; the coordinator notices later.
    pub(super) fn cut(&mut self, index: usize) {
        if let Some(connection) = self.workers[index].connection.take() {
            let delay = self.draws.up_to(self.settings.lease_length);
            self.later(delay, Happening::Noticed(connection));
        }
    }

    pub(super) fn crash_worker(&mut self, index: usize) {
        self.cut(index);
        self.workers[index].die(self.now);
        let delay = self.draws.up_to(Duration::from_secs(5));
        self.later(delay, Happening::WorkerStarts(index));
    }

    pub(super) fn break_down(&mut self, fault: Fault) {
        self.next_fault(fault);
        let (runs, journal) = (self.solve().is_some(), self.settings.journal);
        match fault {
            Fault::WorkerCrash => {
                let index = self.draws.below(self.workers.len());
                if !self.workers[index].alive {
                    return;
                }
                self.crash_worker(index);
            }
            Fault::CoordinatorCrash if runs && journal => self.crash_coordinator(),
            Fault::Partition => {
                for index in 0..self.workers.len() {
                    if self.draws.below(2) == 0 {
                        self.cut(index);
                        self.connect_within(index, Duration::from_secs(10));
                    }
                }
            }
            Fault::DiskFull if runs && journal && !self.coordinator.full => self.fill_disk(),
            Fault::Freeze if runs => {
                let pause = self.draws.up_to(Duration::from_secs(60));
                self.coordinator.frozen_until = self.now + pause;
            }
            _ => return,
        }
        self.count(fault);
    }
}
