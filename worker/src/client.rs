//! The client: keeps a worker connected to its coordinator, and its slots at work.
//!
//! The searches run on threads of their own ([`slots`](crate::slots)); this task only carries
//! messages, so heartbeats go out however busy the searches are. When the stream is lost the
//! searches go on, and what they find is reported to the next stream of the same solve.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{future, io};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jlpns_link::causes::with_causes;
use jlpns_link::connect::Connector;
use jlpns_link::distrust::Distrust;
use jlpns_proto::{MAX_REASON, v1};
use jlpns_search::searcher::Searching;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::sync::watch;
use tracing::{info, warn};

use self::declines::DeclineReasons;
use self::patience::Patience;
pub use self::wanted::Wanted;
use crate::slots::{JoinedSolve, SlotEvent, SlotEventKind, Slots};

mod declines;
mod patience;
mod session;
mod wanted;

/// What a worker is.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// Its name, for people: 1 to 128 characters.
    pub name: String,
    /// What tells its machine from others, the same after a restart; empty if nothing does.
    pub machine: String,
    /// How many searches it runs at a time, 1 to 1024.
    pub slots: u32,
    /// The memory for the nodes and tables of all its searches, in bytes.
    pub memory: u64,
    /// How long it waits before it tries to connect again.
    pub backoff: Backoff,
    /// How long it goes on trying when nothing is heard of the coordinator; `None` for ever.
    pub give_up_after: Option<Duration>,
}

/// Waiting times that double from one failure to the next, each with up to as much again at
/// random, so that a thousand workers do not come back at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first waiting time, without the random part.
    pub first: Duration,
    /// The longest waiting time, without the random part.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { first: Duration::from_millis(250), most: Duration::from_secs(15) }
    }
}

impl Backoff {
    fn begin(self) -> ExponentialBackoff {
        ExponentialBuilder::new()
            .with_min_delay(self.first)
            .with_max_delay(self.most)
            .with_jitter()
            .without_max_times()
            .build()
    }
}

/// How a worker's run ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// The coordinator said that the solve is over, with this answer.
    SolveOver(String),
    /// It was asked to drain, and has reported what it had.
    Drained,
    /// It was asked to end at once.
    Aborted,
}

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The coordinator will not have it, for the reason that it gave.
    #[error("the coordinator refused this worker: {0}")]
    Refused(String),
    /// One side does not trust the other.
    #[error("no connection that both sides trust: {0}")]
    Distrusted(Distrust),
    /// The coordinator sent what this worker cannot make sense of.
    #[error("the coordinator sent a message that this worker cannot follow: {0}")]
    Confusing(String),
    /// Nothing was heard of the coordinator for too long.
    #[error(
        "nothing was heard of the coordinator for {}, so this worker gives up; {reason}",
        humantime::format_duration(*after)
    )]
    GaveUp {
        /// For how long.
        after: Duration,
        /// Why the last connection did not come about or was lost.
        reason: String,
    },
    /// The threads for the slots could not be started.
    #[error("the threads for {slots} slots could not be started: {source}")]
    Threads {
        /// How many were wanted.
        slots: u32,
        /// What the system said.
        source: io::Error,
    },
}

/// Runs a worker until the solve is over or it is wanted to end. Lost connections are made
/// anew, until nothing was heard of the coordinator for too long; but as long as the worker has
/// reports of a solve that is kept on disk, it waits for the coordinator to go on with it.
pub async fn run_worker(
    config: WorkerConfig,
    searching: Arc<dyn Searching>,
    connector: impl Connector,
    wanted: watch::Receiver<Wanted>,
) -> Result<WorkerEnd, WorkerError> {
    let (to_client, said) = mpsc::unbounded_channel();
    let slots = Slots::start(config.slots, to_client)
        .map_err(|source| WorkerError::Threads { slots: config.slots, source })?;
    let mut aborted = wanted.clone();
    let give_up_after = config.give_up_after;
    let mut client = Client {
        config,
        searching,
        slots,
        said,
        wanted,
        follows: Wanted::Work,
        solve: None,
        generation: 0,
        // Not 0, which stands for none.
        instance: RandomState::new().build_hasher().finish() | 1,
        held: BTreeMap::new(),
        unacknowledged: BTreeMap::new(),
        is_kept: false,
        patience: Patience::new(give_up_after),
        declines: DeclineReasons::default(),
    };
    tokio::select! {
        biased;
        _ = changed(&mut aborted, |wanted| *wanted == Wanted::Abort) => Ok(WorkerEnd::Aborted),
        end = client.run(&connector) => end,
    }
}

/// Waits until such a thing is wanted; for ever, if no sender is left.
async fn changed(
    wanted: &mut watch::Receiver<Wanted>,
    is_it: impl FnMut(&Wanted) -> bool,
) -> Wanted {
    // The guard of what is there must not be held while anything is awaited.
    let there = wanted.wait_for(is_it).await.map(|wanted| wanted.clone());
    match there {
        Ok(wanted) => wanted,
        Err(_) => future::pending().await,
    }
}

/// A worker between and during its streams.
struct Client {
    config: WorkerConfig,
    searching: Arc<dyn Searching>,
    slots: Slots,
    said: UnboundedReceiver<SlotEvent>,
    wanted: watch::Receiver<Wanted>,
    /// What it does of what is wanted.
    follows: Wanted,
    solve: Option<Arc<JoinedSolve>>,
    generation: u64,
    /// Tells this process from others of the same name.
    instance: u64,
    /// The leases in the slots or before them.
    held: BTreeMap<u64, HeldLease>,
    /// Final reports that the coordinator has not acknowledged.
    unacknowledged: BTreeMap<u64, FinalReport>,
    /// Whether the solve is kept on disk, so that it may be resumed.
    is_kept: bool,
    patience: Patience,
    declines: DeclineReasons,
}

/// What a slot has found, until the coordinator has it.
#[derive(Clone)]
struct FinalReport {
    report: v1::Report,
    /// The certificate that belongs to it.
    certificate: Option<Arc<[u8]>>,
}

/// A lease in a slot or before one.
struct HeldLease {
    /// When set, its search stops.
    stop: Arc<AtomicBool>,
    /// What it is for, to be told with its report.
    subject: v1::Subject,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stop_all();
    }
}

/// How one stream ended, if the worker goes on to the next step.
enum SessionEnd {
    /// The worker is done.
    Done(WorkerEnd),
    /// The stream was lost, after the coordinator's welcome or before it.
    Lost {
        reason: String,
        welcomed: bool,
        /// Whether it was the coordinator itself that ended it.
        answered: bool,
    },
}

impl Client {
    async fn run(&mut self, connector: &impl Connector) -> Result<WorkerEnd, WorkerError> {
        let mut delays = self.config.backoff.begin();
        loop {
            if self.follows.is_to_drain() && self.has_nothing_to_tell() {
                return Ok(WorkerEnd::Drained);
            }
            let connected = tokio::select! {
                biased;
                wanted = changed(&mut self.wanted, |wanted| *wanted != self.follows) => {
                    self.follow(wanted);
                    continue;
                }
                () = self.patience.ends(), if !self.has_a_use() => {
                    return Err(self.patience.given_up("it does not answer".to_owned()));
                }
                connected = connector.connect() => connected,
            };
            let reason = match connected {
                Err(error) => {
                    if let Some(distrust) = Distrust::behind(&error) {
                        return Err(WorkerError::Distrusted(distrust.clone()));
                    }
                    format!("no way to the coordinator: {}", with_causes(&error))
                }
                Ok(line) => match self.session(line).await? {
                    SessionEnd::Done(end) => return Ok(end),
                    SessionEnd::Lost { reason, welcomed, answered } => {
                        if welcomed {
                            delays = self.config.backoff.begin();
                        }
                        if welcomed || answered {
                            self.patience.renew();
                        }
                        reason
                    }
                },
            };
            if self.follows.is_to_drain() {
                let lost = self.held.len() + self.unacknowledged.len();
                warn!("{reason}; leaving with {lost} leases unreported");
                return Ok(WorkerEnd::Drained);
            }
            let has_a_use = self.has_a_use();
            if !has_a_use && self.patience.is_over() {
                return Err(self.patience.given_up(reason));
            }
            if has_a_use && self.patience.is_over_at_last() {
                let reports = self.held.len() + self.unacknowledged.len();
                info!(
                    "this worker does not give up yet: it has {reports} reports of a solve that is \
                     kept, for the coordinator that resumes it"
                );
            }
            let delay = delays.next().unwrap_or(self.config.backoff.most);
            warn!("{reason}; trying again in {:.1} s", delay.as_secs_f64());
            tokio::select! {
                () = self.patience.ends(), if !has_a_use => {
                    return Err(self.patience.given_up(reason));
                }
                has_moved = self.wait(delay, connector) => if has_moved {
                    delays = self.config.backoff.begin();
                },
            }
        }
    }

    /// Whether there is something to tell that a coordinator which comes back has use for.
    fn has_a_use(&self) -> bool {
        self.is_kept && !self.has_nothing_to_tell()
    }

    /// Waits between two attempts; a wish to drain ends the wait, and so does news of where the coordinator is. Gives
    /// whether there were any.
    async fn wait(&mut self, delay: Duration, connector: &impl Connector) -> bool {
        let delay = tokio::time::sleep(delay);
        let moved = connector.moved();
        tokio::pin!(delay, moved);
        loop {
            tokio::select! {
                biased;
                wanted = changed(&mut self.wanted, |wanted| *wanted != self.follows) => {
                    self.follow(wanted);
                    if self.follows.is_to_drain() {
                        return false;
                    }
                }
                () = &mut moved => return true,
                Some(said) = self.said.recv() => {
                    self.note(said);
                }
                () = &mut delay => return false,
            }
        }
    }

    fn has_nothing_to_tell(&self) -> bool {
        self.held.is_empty() && self.unacknowledged.is_empty()
    }

    /// Does what is wanted from now on.
    fn follow(&mut self, wanted: Wanted) {
        let held = self.held.len();
        match &wanted {
            Wanted::Work => info!("going on: leases are taken again"),
            Wanted::Pause(why) => {
                info!("pausing: {why}; {held} leases are stopped and reported, none is taken");
            }
            Wanted::Drain(why) => {
                info!("draining: {why}; {held} leases are stopped and reported, none is taken");
            }
            Wanted::Abort => {}
        }
        if wanted != Wanted::Work {
            self.stop_all();
        }
        self.follows = wanted;
    }

    fn stop_all(&self) {
        for held in self.held.values() {
            held.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Keeps what a slot said, and puts it into words for the coordinator; `None` if it is of a
    /// solve that is gone.
    fn note(&mut self, said: SlotEvent) -> Option<BatchEntry> {
        if said.generation != self.generation {
            return None;
        }
        let lease_id = said.lease;
        Some(match said.what {
            SlotEventKind::Progress(findings) => BatchEntry::Progress(v1::Progress {
                lease_id,
                findings: Some(v1::Findings::from(&findings)),
            }),
            SlotEventKind::Ended { findings, certificate, elapsed } => {
                let held = self.held.remove(&lease_id);
                let report = v1::Report {
                    lease_id,
                    findings: Some(v1::Findings::from(&findings)),
                    elapsed_us: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
                    subject: held.map(|held| held.subject),
                    certificate_bytes: certificate.as_ref().map(|bytes| bytes.len() as u64),
                };
                let certificate = certificate.map(Arc::from);
                let report = FinalReport { report, certificate };
                self.unacknowledged.insert(lease_id, report.clone());
                match report.certificate {
                    Some(_) => BatchEntry::Proved(report),
                    None => BatchEntry::Report(report.report),
                }
            }
            SlotEventKind::Declined(reason) => {
                let called_back = self.held.remove(&lease_id);
                if !called_back.is_some_and(|held| held.stop.load(Ordering::Relaxed)) {
                    self.declines.say(lease_id, &reason);
                }
                let reason = reason.chars().take(MAX_REASON).collect();
                BatchEntry::Decline(v1::Decline { lease_id, reason })
            }
        })
    }
}

/// What a slot said, in the words of the contract.
enum BatchEntry {
    Progress(v1::Progress),
    Report(v1::Report),
    /// A report with a certificate, which needs messages of its own.
    Proved(FinalReport),
    Decline(v1::Decline),
}
