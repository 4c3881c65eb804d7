//! What happens to a solve, and what it wants done: the whole interface between the pure core and
//! the shell around it.

use std::fmt;
use std::time::Duration;

use jlpns_common::{Findings, Job};

/// A worker's connection. A worker that reconnects gets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

/// One lease of one job. Never used again within a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {}", self.0)
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lease {}", self.0)
    }
}

/// What a worker says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Its name, for people.
    pub name: String,
    /// How many jobs it runs at a time.
    pub slots: u32,
    /// The bytes that its transposition table may take.
    pub memory: u64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A worker has connected and has free slots.
    Joined {
        /// Its connection.
        worker: WorkerId,
        /// What it says of itself.
        info: WorkerInfo,
    },
    /// A worker's connection has ended: its leases are taken back.
    Left {
        /// Its connection.
        worker: WorkerId,
    },
    /// A worker wants no more leases.
    Draining {
        /// Its connection.
        worker: WorkerId,
    },
    /// A worker is alive and still works on these leases.
    Renewed {
        /// Its connection.
        worker: WorkerId,
        /// The leases that it holds.
        leases: Vec<LeaseId>,
    },
    /// A partial report: how far a job has come.
    Progress {
        /// Its connection.
        worker: WorkerId,
        /// The lease of the job.
        lease: LeaseId,
        /// What is known so far.
        findings: Findings,
    },
    /// The report that ends a lease.
    Reported {
        /// Its connection.
        worker: WorkerId,
        /// The lease of the job.
        lease: LeaseId,
        /// What the sub-search found.
        findings: Findings,
        /// The time that the sub-search took.
        elapsed: Duration,
    },
}

/// Something that the shell has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send a job to a worker.
    Lease {
        /// Its connection.
        worker: WorkerId,
        /// The new lease.
        lease: LeaseId,
        /// The job.
        job: Job,
        /// How long the lease lasts unless it is renewed.
        deadline: Duration,
        /// How often the worker should send a partial report.
        report_interval: Duration,
    },
    /// Tell a worker that a job is moot.
    Cancel {
        /// Its connection.
        worker: WorkerId,
        /// The lease of the job.
        lease: LeaseId,
    },
    /// Tell every worker that the solve is over.
    Over,
}

/// Why an event was not accepted. Nothing has changed but the counters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The worker is not connected.
    #[error("{0} is not connected to this solve")]
    UnknownWorker(WorkerId),
    /// The lease was never given, or its job has long been done by others.
    #[error("{0} is not known to this solve")]
    UnknownLease(LeaseId),
    /// The lease belongs to somebody else.
    #[error("{1} is not held by {0}")]
    NotTheHolder(WorkerId, LeaseId),
    /// The report does not fit the job.
    #[error("the report of {0} is refused: {1}")]
    BadFindings(LeaseId, super::findings::FindingsError),
}
