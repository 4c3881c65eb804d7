//! The world of a solve: its clock, and all that can happen.
//!
//! - `coordinator`: the solve, and what it wants done.
//! - `disk`: its journal.
//! - `network`: messages, and the coordinator's end of a connection.
//! - `workers`: what the workers do; `worker` is what one of them holds.
//! - `waits`: how long slots wait for jobs.
//! - `faults`: what goes wrong.

mod coordinator;
mod disk;
mod faults;
mod network;
mod waits;
mod worker;
mod workers;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use coordinator::Coordinator;
pub use coordinator::CoordinatorCost;
pub use faults::{Fault, Faults};
use jlpns_games::Move;
use jlpns_search::{Findings, Job, SolvedPosition};
use jlpns_solve::{
    Event, LeaseId, ProofId, Record, Refusal, Snapshot, Solve, SolveSettings, Subject, WorkerId,
};
use network::{ToCoordinator, ToWorker};
use tracing::warn;
pub use waits::Waits;
use worker::Used;
pub use worker::Worker;

use super::draws::Draws;
use super::progress::{SimulationError, SoFar};
use super::queue::TimeQueue;
use super::search::Search;

/// A job that is leased to a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    /// The lease.
    pub id: LeaseId,
    /// The job.
    pub job: Job,
    /// Shows to whom it was granted.
    pub seal: u64,
}

/// What a worker reports at the end of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The lease of the job.
    pub lease: LeaseId,
    /// What it is about.
    pub subject: Subject,
    /// What the search found.
    pub findings: Findings,
    /// The virtual time that it took.
    pub elapsed: Duration,
    /// Whether it used what others had told.
    pub hearsay: bool,
    /// What it solved with much work.
    pub solved: Vec<SolvedPosition>,
    /// Whether the certificate that comes with it shows what was found; `None` if there is none.
    pub certificate: Option<bool>,
}

/// What runs the searches of a world, and what its workers say of them.
pub trait Behaviour {
    /// The search of a job on a slot of a worker. The error says why the job cannot be done at all.
    fn begin(&mut self, worker: usize, lease: &Lease) -> Result<Box<dyn Search>, String>;

    /// What the coordinator finds that searches a job itself.
    fn search_here(&mut self, job: &Job) -> Result<Findings, String>;

    /// A worker takes in what others have solved.
    fn learn(&mut self, _worker: usize, _solved: &[SolvedPosition]) {}

    /// A worker is to tell what it solves with so much work from now on.
    fn keep_solved_from(&mut self, _worker: usize, _work: u32) {}

    /// A worker drops what it has learnt, and learns nothing more.
    fn end_sharing(&mut self, _worker: usize) {}

    /// What a worker has solved with much work since the last call.
    fn take_solved(&mut self, _worker: usize) -> Vec<SolvedPosition> {
        Vec::new()
    }

    /// What a worker says on its way that has found this.
    fn progress(&mut self, _worker: usize, findings: Findings) -> Findings {
        findings
    }

    /// What a worker reports, in the process with the number `life`, that has this to report; asked
    /// each time that it is sent.
    fn report(&mut self, _worker: usize, _life: u64, report: Rc<Report>) -> Rc<Report> {
        report
    }

    /// The solve has refused something.
    fn refused(&mut self, refusal: &Refusal) {
        // As the driver does: the solve counts what it refuses.
        warn!("{refusal}");
    }
}

/// What was counted, to show that the faults were there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What went wrong.
    pub faults: BTreeMap<Fault, u64>,
    /// How often the tree was grown anew.
    pub regrown: u64,
    /// How many things have happened.
    pub steps: u64,
    /// How many reports are durable.
    pub reports_kept: usize,
}

#[derive(Clone)]
enum Happening {
    ToCoordinator(WorkerId, ToCoordinator),
    ToWorker(WorkerId, ToWorker),
    /// A part of a search comes to its end, unless it was stopped before.
    Searched(usize, LeaseId),
    Heartbeat(WorkerId),
    Connect {
        worker: usize,
        life: u64,
    },
    /// The coordinator notices that a connection is gone.
    Noticed(WorkerId),
    Committed {
        life: u64,
    },
    /// A search of the coordinator's own ends.
    OwnSearchEnds {
        life: u64,
        number: u64,
        findings: Box<Findings>,
        elapsed: Duration,
        proof: Option<ProofId>,
    },
    Tick {
        life: u64,
    },
    Fault(Fault),
    CoordinatorStarts,
    DiskHasRoom,
    WorkerStarts(usize),
    /// Somebody kills a worker that hangs.
    Killed {
        worker: usize,
        life: u64,
    },
}

/// A coordinator and its workers.
pub struct World<B> {
    settings: SolveSettings,
    /// What its workers do.
    pub behaviour: B,
    faults: Option<Faults>,
    draws: Draws,
    now: Duration,
    queue: TimeQueue<Happening>,
    coordinator: Coordinator,
    workers: Vec<Worker>,
    /// Which worker each connection that was ever opened belongs to: they are numbered from 1.
    owners: Vec<usize>,
    counts: Counts,
    kills: BTreeMap<Vec<Move>, u32>,
    used: Used,
    waits: Waits,
    so_far: SoFar,
    over: bool,
}

impl<B: Behaviour> World<B> {
    /// A world at the start of its clock. Where there are faults, even none of each, all that guards
    /// against them is done: workers connect, renew their leases and keep what was not acknowledged, and
    /// the coordinator looks at its deadlines. Without, the workers are there from the start.
    pub fn new(
        settings: SolveSettings,
        cost: CoordinatorCost,
        draws: Draws,
        faults: Option<Faults>,
        workers: Vec<Worker>,
        behaviour: B,
    ) -> Result<World<B>, SimulationError> {
        let mut world = World {
            coordinator: Coordinator::new(Solve::new(settings.clone())?, cost),
            settings,
            behaviour,
            faults,
            draws,
            now: Duration::ZERO,
            queue: TimeQueue::new(),
            workers,
            owners: Vec::new(),
            counts: Counts::default(),
            kills: BTreeMap::new(),
            used: Used::default(),
            waits: Waits::default(),
            so_far: SoFar::default(),
            over: false,
        };
        for worker in 0..world.workers.len() {
            if world.faults.is_some() {
                let delay = world.draws.up_to(Duration::from_secs(1));
                world.later(delay, Happening::Connect { worker, life: 1 });
            } else {
                let connection = world.open_connection(worker);
                world.join(connection);
            }
        }
        world.begin_faults();
        world.act().map_err(SimulationError::Search)?;
        Ok(world)
    }

    /// What is solved, and how.
    pub fn settings(&self) -> &SolveSettings {
        &self.settings
    }

    /// The solve, while its coordinator runs.
    pub fn solve(&self) -> Option<&Solve> {
        self.coordinator.solve.as_ref()
    }

    /// Whether the solve is over.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The workers.
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// What the coordinator would find on its disk.
    pub fn journal(&self) -> (Vec<Snapshot>, Vec<(u64, Record)>) {
        self.coordinator.disk.read()
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        Counts { reports_kept: self.coordinator.disk.reports(), ..self.counts.clone() }
    }

    /// How far the searches have come.
    pub(super) fn so_far(&self) -> SoFar {
        self.so_far
    }

    /// When the next thing happens.
    pub(super) fn next_at(&self) -> Option<Duration> {
        self.queue.next_at()
    }

    /// When the coordinator is done with all that has reached it, and the time that it spent on it.
    pub(super) fn coordinating(&self) -> (Duration, Duration) {
        (self.coordinator.free_at, self.coordinator.busy)
    }

    /// What the searches have used by `now`.
    pub(super) fn used(&self, now: Duration) -> Used {
        let running = self.workers.iter().map(|worker| worker.in_use(now));
        running.fold(self.used, |sum, used| sum + used)
    }

    /// How long slots have waited by `now`, if that is the end.
    pub(super) fn waits(&self, now: Duration) -> Waits {
        let tail = self.workers.iter().map(|worker| worker.free_slots.waited(now)).sum();
        Waits { tail, ..self.waits }
    }

    fn later(&mut self, delay: Duration, happening: Happening) {
        self.queue.put(self.now + delay, happening);
    }

    /// The next thing happens; `false` when nothing is left.
    pub fn step(&mut self) -> Result<bool, SimulationError> {
        self.happen().map_err(SimulationError::Search)
    }

    fn happen(&mut self) -> Result<bool, String> {
        let Some((at, happening)) = self.queue.next() else { return Ok(false) };
        self.now = self.now.max(at);
        self.so_far.time = self.now;
        self.counts.steps += 1;
        match happening {
            Happening::ToCoordinator(connection, message) => {
                self.at_coordinator(connection, message);
            }
            Happening::ToWorker(connection, message) => self.at_worker(connection, message)?,
            Happening::Searched(worker, lease) => self.go_on(worker, lease)?,
            Happening::Heartbeat(connection) => self.heartbeat(connection),
            Happening::Connect { worker, life } => self.connect(worker, life),
            Happening::Noticed(connection) => {
                if self.coordinator.open.remove(&connection) {
                    self.tell(Event::Left { worker: connection });
                }
            }
            Happening::Committed { life } if life == self.coordinator.life => self.committed(),
            Happening::OwnSearchEnds { life, number, findings, elapsed, proof }
                if life == self.coordinator.life =>
            {
                self.tell(Event::Searched { number, findings: *findings, elapsed, proof });
            }
            Happening::Tick { life } if life == self.coordinator.life => self.tick(),
            Happening::Fault(fault) => self.break_down(fault),
            Happening::CoordinatorStarts => self.start_coordinator(),
            Happening::DiskHasRoom => self.make_room(),
            Happening::Killed { worker, life } => {
                if self.workers[worker].alive && self.workers[worker].life == life {
                    self.crash_worker(worker);
                }
            }
            Happening::WorkerStarts(worker) => {
                self.workers[worker].alive = true;
                self.connect(worker, self.workers[worker].life);
            }
            Happening::Committed { .. }
            | Happening::OwnSearchEnds { .. }
            | Happening::Tick { .. } => {
                // The coordinator that awaited it is gone.
            }
        }
        self.act()?;
        Ok(true)
    }

    /// What must be true at any moment; it takes a look at everything.
    pub fn check(&self) {
        let Some(solve) = self.solve() else { return };
        let status = solve.status(self.time());
        for worker in &status.workers {
            assert!(worker.running + worker.stuck <= worker.slots, "no slot runs two jobs");
        }
        assert_eq!(status.workers.len(), self.coordinator.open.len(), "both know who is connected");
        let free = status
            .workers
            .iter()
            .any(|w| w.running + w.stuck < w.slots && !w.draining && !w.paused);
        let waits = status.leased > 0
            || solve.waits_for_records()
            || self.coordinator.full
            || !status.parked_jobs.is_empty()
            || status.unconfirmed > 0
            || status.most_workers < self.settings.await_workers as u64
            || self.coordinator.next_tick.is_some();
        assert!(
            self.over || !free || waits,
            "an idle slot while nothing is awaited means that the solve is stuck: {status:#?}"
        );
    }
}
