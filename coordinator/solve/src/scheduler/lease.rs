//! A job that is out, and for how long.

use std::time::Duration;

use jlpns_search::Job;

use crate::ahead::Ahead;
use crate::belief::MachineId;
use crate::ids::WorkerId;
use crate::top_level::NodeRef;

/// What a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To find out more about a frontier node.
    Frontier(NodeRef),
    /// To search again what another machine claims; the number is that of the recheck.
    Recheck(u64),
}

/// A job that is out.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Who works on it.
    pub worker: WorkerId,
    /// The machine of that worker.
    pub machine: MachineId,
    /// What the job is for.
    pub purpose: Purpose,
    /// The job.
    pub job: Job,
    /// When it was granted, since the solve began.
    pub granted: Duration,
    /// When it ends unless it is renewed.
    pub(super) expires: Duration,
    /// When it ends unless its search gets further.
    pub(super) stalls: Duration,
    /// When it ends whatever its search says: a search that counts on by ones gets no further.
    pub(super) ends: Duration,
    /// How long its job may take before an idle slot gets it as well.
    pub(super) patience: Duration,
    /// When an idle slot gets its job as well, if ever.
    pub(super) overtime: Option<Duration>,
    /// How many nodes its search had when it was last heard of.
    pub(super) progress: u64,
    /// Whether a slot was free for it.
    pub(super) at_once: bool,
}

impl Lease {
    pub(super) fn deadline(&self) -> Duration {
        self.expires.min(self.stalls).min(self.ends)
    }
}

/// Why leases were taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBack {
    /// The worker's connection ended.
    WorkerLeft,
    /// The deadline passed without a heartbeat.
    Expired,
    /// The worker is alive, but its search got no further.
    Stalled,
    /// The worker cannot do the job.
    Declined,
    /// The job is moot: its node was solved or is not needed any more.
    Moot,
}

/// How long leases last, and when they are granted.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTerms {
    /// Without a heartbeat.
    pub length: Duration,
    /// Without progress of the search.
    pub stall_after: Duration,
    /// How many may be granted ahead of free slots, if any may; of a worker of which nothing is measured.
    pub ahead: Option<Ahead>,
}
