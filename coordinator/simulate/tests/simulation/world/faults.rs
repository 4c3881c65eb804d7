//! What goes wrong, and what was counted of it.

use std::time::Duration;

use jlpns_search::Job;
use jlpns_solve::Event;
use rand::RngExt;

use super::{Happening, World};

/// How often each thing goes wrong: the mean time between two, for the whole cluster.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub worker_crash: Option<Duration>,
    pub coordinator_crash: Option<Duration>,
    pub partition: Option<Duration>,
    pub disk_full: Option<Duration>,
    /// The coordinator stands still, as under SIGSTOP.
    pub freeze: Option<Duration>,
    /// Of a thousand messages, how many are lost, come twice, or come late.
    pub lost: u32,
    pub doubled: u32,
    pub late: u32,
    /// Of a thousand searches, how many never end.
    pub stuck: u32,
    /// Of a thousand jobs, how many are declined.
    pub declined: u32,
    /// One position in so many kills the first workers that search it.
    pub poison: Option<u64>,
    /// From when on nothing goes wrong any more.
    pub until: Duration,
}

/// What was counted, to show that the faults were there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub worker_crashes: u64,
    pub coordinator_crashes: u64,
    pub partitions: u64,
    pub disk_full: u64,
    pub freezes: u64,
    pub lost: u64,
    pub doubled: u64,
    pub late: u64,
    pub stuck: u64,
    pub declined: u64,
    pub poisoned: u64,
    pub lies: u64,
    pub regrown: u64,
    pub steps: u64,
    pub reports_kept: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Fault {
    WorkerCrash,
    CoordinatorCrash,
    Partition,
    DiskFull,
    Freeze,
}

impl World {
    pub(super) fn means(&self) -> Vec<(Fault, Duration)> {
        let faults = &self.faults;
        [
            (Fault::WorkerCrash, faults.worker_crash),
            (Fault::CoordinatorCrash, faults.coordinator_crash),
            (Fault::Partition, faults.partition),
            (Fault::DiskFull, faults.disk_full),
            (Fault::Freeze, faults.freeze),
        ]
        .into_iter()
        .filter_map(|(fault, mean)| Some((fault, mean?)))
        .collect()
    }

    pub(super) fn next_fault(&mut self, fault: Fault, mean: Duration) {
        let delay = self.up_to(2 * mean);
        if self.now + delay < self.faults.until {
            self.later(delay, Happening::Fault(fault));
        }
    }

    pub(super) fn chance(&mut self, per_mille: u32) -> bool {
        self.now < self.faults.until && self.rng.random_range(0..1000) < per_mille
    }

    /// Whether a job kills whoever takes it: the same position each time, and at most five workers.
    pub(super) fn is_poison(&mut self, job: &Job) -> bool {
        let Some(rarity) = self.faults.poison else { return false };
        let mixed = job.moves.iter().fold(7u64, |mixed, mv| {
            (mixed ^ u64::from(mv.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
        });
        if !mixed.is_multiple_of(rarity) {
            return false;
        }
        let kills = self.kills.entry(job.moves.clone()).or_default();
        *kills += 1;
        *kills <= 5
    }

    /// A worker's side of its connection is gone; the coordinator notices later.
    pub(super) fn cut(&mut self, index: usize) {
        if let Some(connection) = self.workers[index].connection.take() {
            let delay = self.up_to(self.settings.lease_length);
            self.later(delay, Happening::Noticed(connection));
        }
    }

    pub(super) fn crash_worker(&mut self, index: usize) {
        self.cut(index);
        self.workers[index].die();
        let delay = self.up_to(Duration::from_secs(5));
        self.later(delay, Happening::WorkerStarts(index));
    }

    pub(super) fn break_down(&mut self, fault: Fault) {
        match fault {
            Fault::WorkerCrash => {
                let index = self.rng.random_range(0..self.workers.len());
                if self.workers[index].alive {
                    self.counts.worker_crashes += 1;
                    self.crash_worker(index);
                }
            }
            Fault::CoordinatorCrash if self.solve.is_some() && self.settings.journal => {
                self.counts.coordinator_crashes += 1;
                self.solve = None;
                self.life += 1;
                self.disk.crash();
                self.open.clear();
                for index in 0..self.workers.len() {
                    self.workers[index].connection = None;
                    let instance = self.workers[index].instance;
                    let delay = self.up_to(Duration::from_secs(3));
                    self.later(delay, Happening::Connect { worker: index, instance });
                }
                let delay = self.up_to(Duration::from_secs(2));
                self.later(delay, Happening::CoordinatorStarts);
            }
            Fault::Partition => {
                self.counts.partitions += 1;
                for index in 0..self.workers.len() {
                    if self.rng.random_range(0..2) == 0 {
                        self.cut(index);
                        let instance = self.workers[index].instance;
                        let delay = self.up_to(Duration::from_secs(10));
                        self.later(delay, Happening::Connect { worker: index, instance });
                    }
                }
            }
            Fault::DiskFull if !self.full && self.settings.journal && self.solve.is_some() => {
                self.counts.disk_full += 1;
                self.full = true;
                self.tell(Event::Parked { reason: Some("no space".to_owned()) });
                let delay = self.up_to(Duration::from_secs(20));
                self.later(delay, Happening::DiskHasRoom);
            }
            Fault::Freeze if self.solve.is_some() => {
                self.counts.freezes += 1;
                self.frozen_until = self.now + self.up_to(Duration::from_secs(60));
            }
            Fault::CoordinatorCrash | Fault::DiskFull | Fault::Freeze => {}
        }
        let mean = self
            .means()
            .into_iter()
            .find(|(other, _)| std::mem::discriminant(other) == std::mem::discriminant(&fault));
        if let Some((fault, mean)) = mean {
            self.next_fault(fault, mean);
        }
    }
}
