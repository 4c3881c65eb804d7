//! What happens to a solve, and what it wants done: the whole interface between the pure core and
//! the shell around it.

use std::sync::Arc;
use std::time::Duration;

use jlpns_games::Move;
use jlpns_search::{Findings, Job, Question, SolvedPosition};

use super::belief::Identity;
use super::examine::Examined;
use super::ids::{LeaseId, ProofId, WorkerId};
use super::notice::Notice;
use super::positions::{AskedPosition, Tidings};
use super::record::{Record, Snapshot};
use super::scheduler::Readiness;

/// What a worker says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Its name, for people.
    pub name: String,
    /// What its connection shows of its machine.
    pub identity: Identity,
    /// Its build, for people; empty if it does not say.
    pub build: String,
    /// How many jobs it runs at a time.
    pub slots: u32,
    /// The bytes that its transposition table may take.
    pub memory: u64,
    /// Tells this process of the worker from others of the same name; 0 if it does not say.
    pub instance: u64,
}

/// What a report is about, as the worker remembers it: a coordinator that was started anew does not
/// know its former leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The moves to the position, from the start of the game.
    pub moves: Vec<Move>,
    /// What was asked.
    pub question: Question,
    /// The budget of the job, in nodes.
    pub budget: u64,
    /// The seal of the lease ([`Action::Lease`]).
    pub seal: u64,
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
    /// A worker takes leases from now on, or takes none.
    Readiness {
        /// Its connection.
        worker: WorkerId,
        /// Which of both, and why.
        readiness: Readiness,
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
        /// What it is about, if the worker says so.
        subject: Option<Subject>,
        /// What it tells of itself, if that was looked at where it came in; else it is now.
        examined: Option<Examined>,
        /// What the sub-search found.
        findings: Findings,
        /// The time that the sub-search took.
        elapsed: Duration,
        /// Whether it used what others had told its worker.
        hearsay: bool,
    },
    /// A worker cannot work on a lease.
    Declined {
        /// Its connection.
        worker: WorkerId,
        /// The lease of the job.
        lease: LeaseId,
    },
    /// A worker's searches have solved these positions with much work.
    Solved {
        /// Its connection.
        worker: WorkerId,
        /// The positions.
        solved: Vec<SolvedPosition>,
    },
    /// A worker has so many slots for this solve from now on: it works for others as well.
    Allotted {
        /// Its connection.
        worker: WorkerId,
        /// How many.
        slots: u32,
    },
    /// A machine is put out, or may come again, as another solve on the same workers has it.
    Judged {
        /// What it shows of itself.
        identity: Identity,
        /// Which of both.
        is_out: bool,
    },
    /// Further positions are asked for, in a solve of many.
    Asked {
        /// The positions.
        positions: Vec<AskedPosition>,
    },
    /// Positions are not asked for any more.
    Dropped {
        /// Their numbers.
        numbers: Vec<u64>,
    },
    /// The coordinator's own search of a position has ended ([`Action::Search`]).
    Searched {
        /// The number of the search.
        number: u64,
        /// What it found.
        findings: Findings,
        /// The time that it took.
        elapsed: Duration,
        /// The certificate that shows it, if the job asked for one.
        proof: Option<ProofId>,
    },
    /// The records up to this number are durable.
    Recorded {
        /// The number of the last durable record.
        through: u64,
    },
    /// Records cannot be written at present, for this reason; or they can again. While they cannot,
    /// no lease is given.
    Halted {
        /// The reason, in one sentence; `None` when there is none any more.
        reason: Option<String>,
    },
}

impl Event {
    /// The worker that says it, if one does.
    pub fn worker(&self) -> Option<WorkerId> {
        match self {
            Event::Renewed { worker, .. }
            | Event::Progress { worker, .. }
            | Event::Reported { worker, .. }
            | Event::Declined { worker, .. }
            | Event::Readiness { worker, .. }
            | Event::Solved { worker, .. } => Some(*worker),
            Event::Allotted { .. }
            | Event::Asked { .. }
            | Event::Dropped { .. }
            | Event::Judged { .. }
            | Event::Joined { .. }
            | Event::Left { .. }
            | Event::Searched { .. }
            | Event::Recorded { .. }
            | Event::Halted { .. } => None,
        }
    }
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
        /// Shows, after the solve was started anew, that the lease was granted to this machine.
        seal: u64,
    },
    /// Tell a worker that a job is moot.
    Cancel {
        /// Its connection.
        worker: WorkerId,
        /// The lease of the job.
        lease: LeaseId,
    },
    /// Tell a worker what others have solved.
    Tell {
        /// Its connection.
        worker: WorkerId,
        /// The positions.
        solved: Arc<[SolvedPosition]>,
    },
    /// Tell a worker from what work on it is to tell what it has solved, from now on.
    KeepSolved {
        /// Its connection.
        worker: WorkerId,
        /// The work, in nodes.
        work: u32,
    },
    /// Tell a worker that nothing is shared any more, and that what it was told is to go out of its tables.
    EndSharing {
        /// Its connection.
        worker: WorkerId,
    },
    /// Tell a worker that its report has arrived: it need not send it again.
    Acknowledge {
        /// Its connection.
        worker: WorkerId,
        /// The lease that the report ended.
        lease: LeaseId,
    },
    /// End a worker's connection; the solve has already let it go.
    Dismiss {
        /// Its connection.
        worker: WorkerId,
        /// Why it must not come back; `None` if it may, or already has.
        refused: Option<Refusal>,
    },
    /// Write a record, and say when it is durable ([`Event::Recorded`]).
    Record {
        /// Its number.
        number: u64,
        /// What must not be forgotten.
        record: Arc<Record>,
    },
    /// Search a position in the coordinator's own process: no connected machine may confirm what is
    /// claimed of it.
    /// What was found comes back as [`Event::Searched`].
    Search {
        /// The number of the search.
        number: u64,
        /// What to search.
        job: Job,
    },
    /// Tell whoever has opened the solve what became of a position or a machine.
    Tidings(Tidings),
    /// Keep a snapshot; it stands for all records before it.
    Snapshot(Box<Snapshot>),
    /// Tell the people who watch the solve.
    Notify(Notice),
    /// Tell every worker that the solve is over.
    Over,
}

/// Why an event was not accepted. Nothing has changed but the counters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The worker is not connected.
    #[error("{0} is not connected to this solve")]
    UnknownWorker(WorkerId),
    /// The report has been taken in before; nothing is wrong with it.
    #[error("the report of {0} has been taken in before")]
    Duplicate(LeaseId),
    /// The worker's machine is put out.
    #[error(
        "the machine of worker '{worker}' ({identity}) is quarantined, because it claimed what is \
         not true or was put out by hand; repair it, and have it reinstated"
    )]
    Quarantined {
        /// The worker.
        worker: String,
        /// Its machine.
        identity: Identity,
    },
    /// The subject of a report is no position or question of this solve.
    #[error("the report of {0} is about a position or question that is not of this solve")]
    ForeignSubject(LeaseId),
    /// The lease was never given, or its job has long been done by others.
    #[error("{0} is not known to this solve")]
    UnknownLease(LeaseId),
    /// Too many reports of the worker were refused.
    #[error(
        "too many reports of the worker '{0}' were refused, and it was cut off; is it of the same \
         release as the coordinator, and its memory sound?"
    )]
    TooManyRefused(String),
    /// The lease belongs to another worker.
    #[error("{1} is not held by {0}")]
    NotTheHolder(WorkerId, LeaseId),
    /// The report does not fit the job.
    #[error("the report of {0} is refused: {1}")]
    BadFindings(LeaseId, super::findings::FindingsError),
}
