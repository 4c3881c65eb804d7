//! What goes wrong, and what was counted of it.

use std::time::Duration;

use jlpns_search::Job;

use super::{Behaviour, Happening, World};

/// How often each thing goes wrong, for the whole cluster.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The mean time between two crashes of workers.
    pub worker_crash: Option<Duration>,
    /// The same for crashes of the coordinator,
    pub coordinator_crash: Option<Duration>,
    /// cut connections of about half of the workers,
    pub partition: Option<Duration>,
    /// a disk that is full for a while,
    pub disk_full: Option<Duration>,
    /// and a coordinator that stands still, as under SIGSTOP.
    pub freeze: Option<Duration>,
    /// Of a thousand messages, how many are lost.
    pub lost: u32,
    /// How many of a thousand come twice.
    pub doubled: u32,
    /// How many of a thousand come late.
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
#[expect(missing_docs, reason = "each is named as the fault that it counts")]
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

impl<B: Behaviour> World<B> {
    pub(super) fn begin_faults(&mut self) {
        use Fault::{CoordinatorCrash, DiskFull, Freeze, Partition, WorkerCrash};
        [WorkerCrash, CoordinatorCrash, Partition, DiskFull, Freeze]
            .into_iter()
            .for_each(|fault| self.next_fault(fault));
    }

    fn next_fault(&mut self, fault: Fault) {
        let Some(faults) = &self.faults else { return };
        let mean = match fault {
            Fault::WorkerCrash => faults.worker_crash,
            Fault::CoordinatorCrash => faults.coordinator_crash,
            Fault::Partition => faults.partition,
            Fault::DiskFull => faults.disk_full,
            Fault::Freeze => faults.freeze,
        };
        let (Some(mean), until) = (mean, faults.until) else { return };
        let delay = self.draws.up_to(2 * mean);
        if self.now + delay < until {
            self.later(delay, Happening::Fault(fault));
        }
    }

    /// Whether something happens of which so many in a thousand do.
    pub(super) fn chance(&mut self, per_mille: u32) -> bool {
        let on = self.faults.as_ref().is_some_and(|faults| self.now < faults.until);
        on && self.draws.below(1000) < per_mille as usize
    }

    /// Whether the next job is declined.
    pub(super) fn declines(&mut self) -> bool {
        let declines = self.chance(self.faults.as_ref().map_or(0, |faults| faults.declined));
        self.counts.declined += u64::from(declines);
        declines
    }

    /// Whether the next search of a worker gets stuck; somebody kills the worker then.
    pub(super) fn gets_stuck(&mut self, index: usize) -> bool {
        let stuck = self.chance(self.faults.as_ref().map_or(0, |faults| faults.stuck));
        if stuck {
            self.counts.stuck += 1;
            let killed = Happening::Killed { worker: index, life: self.workers[index].life };
            self.later(3 * self.settings.stall_after, killed);
        }
        stuck
    }

    /// Whether a job kills whoever takes it: the same position each time, and at most five workers.
    pub(super) fn is_poison(&mut self, job: &Job) -> bool {
        let Some(rarity) = self.faults.as_ref().and_then(|faults| faults.poison) else {
            return false;
        };
        let mixed = job.moves.iter().fold(7u64, |mixed, mv| {
            (mixed ^ u64::from(mv.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
        });
        if !mixed.is_multiple_of(rarity) {
            return false;
        }
        let kills = self.kills.entry(job.moves.clone()).or_default();
        *kills += 1;
        self.counts.poisoned += u64::from(*kills <= 5);
        *kills <= 5
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
        self.workers[index].die();
        let delay = self.draws.up_to(Duration::from_secs(5));
        self.later(delay, Happening::WorkerStarts(index));
    }

    pub(super) fn break_down(&mut self, fault: Fault) {
        let (runs, journal) = (self.solve().is_some(), self.settings.journal);
        match fault {
            Fault::WorkerCrash => {
                let index = self.draws.below(self.workers.len());
                if self.workers[index].alive {
                    self.counts.worker_crashes += 1;
                    self.crash_worker(index);
                }
            }
            Fault::CoordinatorCrash if runs && journal => {
                self.counts.coordinator_crashes += 1;
                self.crash_coordinator();
            }
            Fault::Partition => {
                self.counts.partitions += 1;
                for index in 0..self.workers.len() {
                    if self.draws.below(2) == 0 {
                        self.cut(index);
                        self.connect_within(index, Duration::from_secs(10));
                    }
                }
            }
            Fault::DiskFull if runs && journal && !self.coordinator.full => {
                self.counts.disk_full += 1;
                self.fill_disk();
            }
            Fault::Freeze if runs => {
                self.counts.freezes += 1;
                let pause = self.draws.up_to(Duration::from_secs(60));
                self.coordinator.frozen_until = self.now + pause;
            }
            Fault::CoordinatorCrash | Fault::DiskFull | Fault::Freeze => {}
        }
        self.next_fault(fault);
    }
}
