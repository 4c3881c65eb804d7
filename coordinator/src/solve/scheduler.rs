//! Workers, slots and leases: who works on what, and until when.
//!
//! A lease is in one of three states:
//!
//! ```text
//!            renewed by heartbeats
//!                 ┌────┐
//!   granted ──▶ held ──┴──▶ ended by its report
//!                 │
//!                 └──▶ former: taken back (worker gone, deadline passed, job moot)
//! ```
//!
//! A former lease is remembered for a while, so that a late report is still of use.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jlpns_common::Job;

use super::event::{LeaseId, Refusal, WorkerId, WorkerInfo};
use super::top_level::NodeRef;

/// How many former leases are remembered.
const FORMER_LEASES: usize = 4096;

/// A job that is out.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Who works on it.
    pub worker: WorkerId,
    /// The node that the job is about.
    pub node: NodeRef,
    /// The job.
    pub job: Job,
    /// When it was granted, since the solve began.
    pub granted: Duration,
    /// When it ends unless it is renewed.
    expires: Duration,
}

/// A worker that is connected.
#[derive(Clone, Debug)]
pub struct Worker {
    /// What it says of itself.
    pub info: WorkerInfo,
    /// When it joined, since the solve began.
    pub joined: Duration,
    /// How many leases it holds.
    pub running: u32,
    /// How many jobs it has reported.
    pub jobs: u64,
    /// How many nodes its sub-searches created.
    pub nodes: u64,
    /// Whether it wants no more leases.
    pub draining: bool,
}

/// Why leases were taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBack {
    /// The worker's connection ended.
    WorkerLeft,
    /// The deadline passed without a heartbeat.
    Expired,
    /// The job is moot: its node was solved or is not needed any more.
    Moot,
}

/// The workers and leases of a solve.
#[derive(Debug)]
pub struct Scheduler {
    lease_length: Duration,
    workers: BTreeMap<WorkerId, Worker>,
    /// Workers with free slots, by how many leases they hold: the least busy is served first.
    free: BTreeSet<(u32, WorkerId)>,
    leases: BTreeMap<LeaseId, Lease>,
    deadlines: BTreeSet<(Duration, LeaseId)>,
    former: BTreeMap<LeaseId, Lease>,
    former_order: VecDeque<LeaseId>,
    granted: u64,
    expired: u64,
    cancelled: u64,
    most_workers: usize,
}

impl Scheduler {
    /// A scheduler without workers, whose leases last `lease_length` unless renewed.
    pub fn new(lease_length: Duration) -> Scheduler {
        Scheduler {
            lease_length,
            workers: BTreeMap::new(),
            free: BTreeSet::new(),
            leases: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            former: BTreeMap::new(),
            former_order: VecDeque::new(),
            granted: 0,
            expired: 0,
            cancelled: 0,
            most_workers: 0,
        }
    }

    /// The length of a lease that is not renewed.
    pub fn lease_length(&self) -> Duration {
        self.lease_length
    }

    /// The workers that are connected.
    pub fn workers(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.workers.iter().map(|(&id, worker)| (id, worker))
    }

    /// The leases that are held.
    pub fn leases(&self) -> impl Iterator<Item = (LeaseId, &Lease)> {
        self.leases.iter().map(|(&id, lease)| (id, lease))
    }

    /// How many leases ended because their worker was gone or silent.
    pub fn expired(&self) -> u64 {
        self.expired
    }

    /// How many jobs became moot while they were out.
    pub fn cancelled(&self) -> u64 {
        self.cancelled
    }

    /// The most workers that were connected at one time.
    pub fn most_workers(&self) -> usize {
        self.most_workers
    }

    /// All slots of the workers that take leases.
    pub fn slots(&self) -> u64 {
        let working = self.workers.values().filter(|worker| !worker.draining);
        working.map(|worker| u64::from(worker.info.slots)).sum()
    }

    /// Adds a worker.
    pub fn join(&mut self, id: WorkerId, info: WorkerInfo, now: Duration) {
        let worker = Worker { info, joined: now, running: 0, jobs: 0, nodes: 0, draining: false };
        self.workers.insert(id, worker);
        self.most_workers = self.most_workers.max(self.workers.len());
        self.note_load(id, 0);
    }

    /// Removes a worker; its leases become former ones and are returned.
    pub fn leave(&mut self, id: WorkerId) -> Result<(Worker, Vec<Lease>), Refusal> {
        let held: Vec<LeaseId> =
            self.leases.iter().filter(|(_, l)| l.worker == id).map(|(&l, _)| l).collect();
        let leases =
            held.into_iter().filter_map(|l| self.take_back(l, TakenBack::WorkerLeft)).collect();
        let worker = self.workers.remove(&id).ok_or(Refusal::UnknownWorker(id))?;
        self.free.remove(&(worker.running, id));
        Ok((worker, leases))
    }

    /// The worker gets no more leases.
    pub fn drain(&mut self, id: WorkerId) -> Result<(), Refusal> {
        let worker = self.workers.get_mut(&id).ok_or(Refusal::UnknownWorker(id))?;
        worker.draining = true;
        let running = worker.running;
        self.free.remove(&(running, id));
        Ok(())
    }

    /// The worker to serve next: the least busy one with a free slot.
    pub fn idle_worker(&self) -> Option<WorkerId> {
        self.free.first().map(|&(_, id)| id)
    }

    /// Leases a job to a worker that has a free slot.
    pub fn grant(&mut self, id: WorkerId, node: NodeRef, job: Job, now: Duration) -> LeaseId {
        self.granted += 1;
        let lease_id = LeaseId(self.granted);
        let expires = now + self.lease_length;
        self.leases.insert(lease_id, Lease { worker: id, node, job, granted: now, expires });
        self.deadlines.insert((expires, lease_id));
        self.note_load(id, 1);
        lease_id
    }

    /// Pushes the deadlines of the leases that `id` holds; others are passed over.
    pub fn renew(&mut self, id: WorkerId, leases: &[LeaseId], now: Duration) {
        for &lease_id in leases {
            let Some(lease) = self.leases.get_mut(&lease_id).filter(|l| l.worker == id) else {
                continue;
            };
            self.deadlines.remove(&(lease.expires, lease_id));
            lease.expires = now + self.lease_length;
            self.deadlines.insert((lease.expires, lease_id));
        }
    }

    /// The lease, if `id` holds it or a former lease of that number is remembered. The flag tells
    /// whether it is held.
    pub fn find(&self, id: WorkerId, lease_id: LeaseId) -> Result<(&Lease, bool), Refusal> {
        if !self.workers.contains_key(&id) {
            return Err(Refusal::UnknownWorker(id));
        }
        match (self.leases.get(&lease_id), self.former.get(&lease_id)) {
            (Some(lease), _) if lease.worker == id => Ok((lease, true)),
            (Some(_), _) => Err(Refusal::NotTheHolder(id, lease_id)),
            (None, Some(lease)) => Ok((lease, false)),
            (None, None) => Err(Refusal::UnknownLease(lease_id)),
        }
    }

    /// Ends a lease with its report.
    pub fn end(&mut self, lease_id: LeaseId, nodes: u64) {
        let lease = match self.remove(lease_id) {
            Some(lease) => lease,
            None => match self.former.remove(&lease_id) {
                Some(lease) => lease,
                None => return,
            },
        };
        if let Some(worker) = self.workers.get_mut(&lease.worker) {
            worker.jobs += 1;
            worker.nodes = worker.nodes.saturating_add(nodes);
        }
    }

    /// Takes a lease back; it is remembered as a former one.
    pub fn take_back(&mut self, lease_id: LeaseId, why: TakenBack) -> Option<Lease> {
        let lease = self.remove(lease_id)?;
        match why {
            TakenBack::WorkerLeft | TakenBack::Expired => self.expired += 1,
            TakenBack::Moot => self.cancelled += 1,
        }
        self.former.insert(lease_id, lease.clone());
        self.former_order.push_back(lease_id);
        if self.former_order.len() > FORMER_LEASES
            && let Some(oldest) = self.former_order.pop_front()
        {
            self.former.remove(&oldest);
        }
        Some(lease)
    }

    /// The leases whose deadline has passed.
    pub fn overdue(&self, now: Duration) -> Vec<LeaseId> {
        self.deadlines.iter().take_while(|(at, _)| *at <= now).map(|&(_, id)| id).collect()
    }

    /// The next deadline.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|&(at, _)| at)
    }

    fn remove(&mut self, lease_id: LeaseId) -> Option<Lease> {
        let lease = self.leases.remove(&lease_id)?;
        self.deadlines.remove(&(lease.expires, lease_id));
        self.note_load(lease.worker, -1);
        Some(lease)
    }

    /// Changes how many leases a worker holds.
    fn note_load(&mut self, id: WorkerId, change: i32) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        self.free.remove(&(worker.running, id));
        worker.running = worker.running.saturating_add_signed(change);
        if worker.running < worker.info.slots && !worker.draining {
            self.free.insert((worker.running, id));
        }
    }
}
