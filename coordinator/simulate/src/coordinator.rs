//! The solve with a virtual clock: a queue with one server, as the driver is.
//!
//! This is the only file of the simulator that knows the events and actions of a solve.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jlpns_games::spec::MoveError;
use jlpns_search::{Findings, Job, SolvedPosition};
use jlpns_solve::belief::Identity;
use jlpns_solve::{
    Action, Event, LeaseId, Solve, SolveEnd, SolveSettings, SolveStatus, WorkerId, WorkerInfo,
};
use tracing::warn;

use super::run::Cluster;

/// How long a lease lasts. Virtual workers never fail, so they need no heartbeats.
const LEASE_LENGTH: Duration = Duration::from_secs(1 << 32);

/// How much virtual time the coordinator takes for each report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatorCost {
    /// As much as it really takes on this machine; no two runs are the same then.
    Real,
    /// This much.
    Fixed(Duration),
}

/// What the coordinator tells a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Run this job.
    Run(LeaseId, Job),
    /// Stop, and do not report.
    Stop(LeaseId),
    /// Take in what others have solved.
    Learn(Arc<[SolvedPosition]>),
}

/// What a worker tells the coordinator at the end of a search.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who.
    pub worker: WorkerId,
    /// The lease of the job.
    pub lease: LeaseId,
    /// What the search found.
    pub findings: Findings,
    /// The virtual time that it took.
    pub elapsed: Duration,
    /// What it solved with much work.
    pub solved: Vec<SolvedPosition>,
}

/// The coordinator of a run.
pub struct VirtualCoordinator {
    solve: Solve,
    cost: CoordinatorCost,
    /// When it is done with all that has reached it so far.
    free_at: Duration,
    /// The time that it spent on reports.
    busy: Duration,
}

impl VirtualCoordinator {
    /// A coordinator whose first jobs go out when `workers` workers have joined.
    pub fn new(
        settings: &SolveSettings,
        workers: u32,
        cost: CoordinatorCost,
    ) -> Result<VirtualCoordinator, MoveError> {
        let await_workers = workers as usize;
        let settings = SolveSettings {
            await_workers,
            lease_length: LEASE_LENGTH,
            stall_after: LEASE_LENGTH,
            journal: false,
            ..settings.clone()
        };
        let solve = Solve::new(settings)?;
        Ok(VirtualCoordinator { solve, cost, free_at: Duration::ZERO, busy: Duration::ZERO })
    }

    /// All workers of the cluster join; that is before the clock starts. Returns their first
    /// orders.
    pub fn join(&mut self, cluster: Cluster, memory: u64) -> Vec<(WorkerId, Order)> {
        for number in 1..=u64::from(cluster.workers) {
            let name = format!("virtual {number}");
            let identity = Identity { machine: name.clone(), ..Identity::default() };
            let (slots, build) = (cluster.slots_per_worker, String::new());
            let info = WorkerInfo { name, identity, build, slots, memory, instance: 0 };
            self.tell(Event::Joined { worker: WorkerId(number), info }, Duration::ZERO);
        }
        self.orders()
    }

    /// Takes in a report that arrives at `at`. Returns when the coordinator is done with it, and
    /// what it sends out then.
    pub fn take(&mut self, report: Report, at: Duration) -> (Duration, Vec<(WorkerId, Order)>) {
        let begins = self.free_at.max(at);
        let clock = Instant::now();
        let Report { worker, lease, findings, elapsed, solved } = report;
        if !solved.is_empty() {
            self.tell(Event::Solved { worker, solved }, begins);
        }
        self.tell(
            Event::Reported { worker, lease, subject: None, examined: None, findings, elapsed },
            begins,
        );
        let orders = self.orders();
        let cost = match self.cost {
            CoordinatorCost::Real => clock.elapsed(),
            CoordinatorCost::Fixed(cost) => cost,
        };
        self.free_at = begins + cost;
        self.busy += cost;
        (self.free_at, orders)
    }

    /// The answer, once there is one.
    pub fn end(&self) -> Option<SolveEnd> {
        self.solve.end()
    }

    /// The state of the solve.
    pub fn status(&self, now: Duration) -> SolveStatus {
        self.solve.status(now)
    }

    /// The time that it spent on reports.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    fn tell(&mut self, event: Event, now: Duration) {
        // As the driver does: the solve counts what it refuses.
        if let Err(refusal) = self.solve.handle(event, now) {
            warn!("{refusal}");
        }
    }

    fn orders(&mut self) -> Vec<(WorkerId, Order)> {
        let order = |action| match action {
            Action::Lease { worker, lease, job, .. } => Some((worker, Order::Run(lease, job))),
            Action::Cancel { worker, lease } => Some((worker, Order::Stop(lease))),
            Action::Tell { worker, solved } => Some((worker, Order::Learn(solved))),
            // A run ends as soon as the coordinator has the answer; and virtual workers need neither
            // words nor records.
            _ => None,
        };
        self.solve.take_actions().into_iter().filter_map(order).collect()
    }
}

/// The first job of a solve, which is about its root; `None` if there is nothing to search.
pub fn first_job(settings: &SolveSettings) -> Result<Option<Job>, MoveError> {
    let mut coordinator = VirtualCoordinator::new(settings, 1, CoordinatorCost::Real)?;
    let orders = coordinator.join(Cluster { workers: 1, slots_per_worker: 1 }, 0);
    Ok(orders.into_iter().find_map(|(_, order)| match order {
        Order::Run(_, job) => Some(job),
        Order::Stop(_) | Order::Learn(_) => None,
    }))
}
