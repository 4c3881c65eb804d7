//! The client: keeps a worker connected to its coordinator, and its slots at work.
//!
//! The searches run on threads of their own ([`slots`](crate::slots)); this task only carries
//! messages, so heartbeats go out however busy the searches are. When the stream is lost the
//! searches go on, and what they find is reported to the next stream of the same solve.
//!
//! A coordinator has one solve, or a queue of them. Of each solve the worker keeps its leases and its
//! reports (`joined.rs`); the slots and the memory ([`games_at_hand`](crate::games_at_hand)) are for all.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use std::{future, io};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jlpns_link::causes::with_causes;
use jlpns_link::connect::Connector;
use jlpns_link::distrust::Distrust;
use jlpns_search::searcher::Searching;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{info, warn};

use self::declines::DeclineReasons;
pub use self::jobs_taken::JobsTaken;
use self::joined::{BatchEntry, JoinedSolve};
use self::patience::Patience;
use self::solves::Solves;
pub use self::wanted::Wanted;
use crate::games_at_hand::{GameAtHand, GamesAtHand};
use crate::slots::{SlotEvent, Slots};

mod declines;
mod jobs_taken;
mod joined;
mod patience;
mod session;
mod solves;
mod stream;
mod take_up;
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
    /// Which jobs it takes.
    pub takes: JobsTaken,
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
    /// The coordinator said that the solve is over, with this answer; or a queue that it is done.
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
    /// The coordinator's one solve is of a game that this worker takes no jobs of.
    #[error("the coordinator solves {spec}, and this worker takes jobs of {games} only (--games)")]
    NotTaken {
        /// The spec of its game.
        spec: String,
        /// The games that are taken.
        games: String,
    },
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
    let games = GamesAtHand::new(searching, config.memory, config.slots);
    let mut client = Client {
        config,
        games,
        slots,
        said,
        wanted,
        follows: Wanted::Work,
        solves: Solves::default(),
        only: None,
        solved_from: 0,
        // Not 0, which stands for none.
        instance: RandomState::new().build_hasher().finish() | 1,
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
    games: GamesAtHand,
    slots: Slots,
    said: UnboundedReceiver<SlotEvent>,
    wanted: watch::Receiver<Wanted>,
    /// What it does of what is wanted.
    follows: Wanted,
    solves: Solves,
    /// The game of a coordinator with one solve, which has the number 0; `None` at a queue.
    only: Option<Arc<GameAtHand>>,
    /// From how many nodes on it tells that coordinator of positions, and is told of those of others; 0: not at all.
    solved_from: u32,
    /// Tells this process from others of the same name.
    instance: u64,
    /// Whether the coordinator keeps its solves on disk, so that they may be resumed.
    is_kept: bool,
    patience: Patience,
    declines: DeclineReasons,
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

/// A connection that has lasted so long did not fail for what was said at its beginning.
const SETTLED: Duration = Duration::from_secs(60);

impl Client {
    async fn run(&mut self, connector: &impl Connector) -> Result<WorkerEnd, WorkerError> {
        let mut delays = self.config.backoff.begin();
        loop {
            if self.follows.is_to_drain() && self.solves.have_nothing_to_tell() {
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
            let begun = Instant::now();
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
                        // Who is put off each time soon after the welcome does not come back faster for that.
                        if welcomed && (!answered || begun.elapsed() >= SETTLED) {
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
                let lost = self.solves.unreported();
                warn!("{reason}; leaving with {lost} leases unreported");
                return Ok(WorkerEnd::Drained);
            }
            let has_a_use = self.has_a_use();
            if !has_a_use && self.patience.is_over() {
                return Err(self.patience.given_up(reason));
            }
            if has_a_use && self.patience.is_over_at_last() {
                let reports = self.solves.unreported();
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
        self.is_kept && !self.solves.have_nothing_to_tell()
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

    /// Does what is wanted from now on.
    fn follow(&mut self, wanted: Wanted) {
        let held: usize = self.solves.all().map(JoinedSolve::held).sum();
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
        self.solves.all().for_each(JoinedSolve::stop_all);
    }

    /// Keeps what a slot said, and puts it into words for the coordinator, behind the number of its solve.
    /// `None` if that solve is gone, or has not begun on the present stream: its reports are told when it
    /// does.
    fn note(&mut self, said: SlotEvent) -> Option<(u64, BatchEntry)> {
        let solve = self.solves.of_generation(said.generation)?;
        let entry = solve.note(said.lease, said.what, &mut self.declines);
        Some((solve.number?, entry))
    }
}
