//! The driver: the one task that owns a running solve.
//!
//! Events come in from the workers' streams through one channel, in order; what the solve wants
//! done goes out to the streams. The clock is read here and nowhere below.

mod connections;
mod declines;
mod ending;
mod handle;
mod messages;
mod names;
mod outbox;
mod own_searches;
mod sent;

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use declines::Declines;
pub(crate) use handle::{DriverCommand, MESSAGES, Outbound, WorkerStream};
pub use handle::{DriverGone, DriverHandle};
use jlpns_journal::WriterEvent;
use jlpns_solve::belief::{Confirm, Identity};
use jlpns_solve::{
    Event, Record, Refusal, Solve, SolveSettings, SolveStatus, Tidings, WorkerId, WorkerInfo,
    value_in_words,
};
pub(crate) use messages::{denied, over, says_quarantined, stopped};
use names::Names;
use outbox::Outbox;
use own_searches::OwnSearches;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tracing::{debug, info, warn};

use crate::proofs::ProofFolder;
use crate::recorder::{Recorder, RecorderError};

/// How many commands are handled before the actions that follow from them are sent.
const COMMANDS_AT_ONCE: usize = 64;
/// How long there may be no worker before it is said, the first time and from then on.
const IDLE_FIRST: Duration = Duration::from_secs(1);
const IDLE_AGAIN: Duration = Duration::from_secs(60);

/// What workers are told whose solve is stopped and not kept.
const STOPPED_FOR_GOOD: &str = "it was stopped before it was solved, and nothing of it is kept";

/// What the workers are told of the solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverConfig {
    /// Tells this solve from all others; 1 to 64 characters.
    pub solve_id: String,
    /// The spec of the game.
    pub spec: String,
    /// How often workers renew their leases; a fraction of the length of a lease.
    pub heartbeat_interval: Duration,
}

/// Heartbeats in the length of a lease: some may be lost.
const HEARTBEATS: u32 = 6;

/// How often workers renew leases of this length.
pub(crate) fn heartbeat_of(lease_length: Duration) -> Duration {
    lease_length / HEARTBEATS
}

/// A name that no other solve or queue has.
pub(crate) fn random_id() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

impl DriverConfig {
    /// The settings for a new solve, with a heartbeat for its leases.
    pub fn of(settings: &SolveSettings) -> DriverConfig {
        let heartbeat_interval = heartbeat_of(settings.lease_length);
        DriverConfig { heartbeat_interval, ..DriverConfig::new(settings.spec.to_string()) }
    }

    /// The settings for a new solve: a random name, a heartbeat every five seconds.
    pub fn new(spec: String) -> DriverConfig {
        DriverConfig { solve_id: random_id(), spec, heartbeat_interval: Duration::from_secs(5) }
    }
}

/// Why a driver cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The journal cannot be written any more, for this reason.
    #[error("{0}; what workers were told is in the journal: start again to go on from there")]
    Journal(String),
    /// The journal cannot be written or read.
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    /// The coordinator cannot search by itself.
    #[error("the coordinator cannot search again what machines claim: {0}")]
    OwnSearches(String),
}

/// Runs a solve: see the module's page.
pub struct Driver {
    solve: Solve,
    recorder: Option<Recorder>,
    /// Records that are to be written at the next flush.
    records: Vec<(u64, Arc<Record>)>,
    own_searches: OwnSearches,
    config: DriverConfig,
    commands: mpsc::Receiver<DriverCommand>,
    handle: DriverHandle,
    connections: BTreeMap<WorkerId, (WorkerInfo, WorkerStream)>,
    outbox: Outbox,
    began: Instant,
    /// When to say next that there is no worker.
    idle_notice: Instant,
    /// From how many shed nodes on it is said next that the tree is full.
    shed_notice: u64,
    names: Names,
    declines: Declines,
    /// Where it is told what became of positions that were asked for.
    tidings: Option<mpsc::UnboundedSender<Tidings>>,
}

impl Driver {
    /// A driver for `solve`, whose time begins now. A solve whose settings ask for a journal needs
    /// its recorder.
    pub fn new(solve: Solve, recorder: Option<Recorder>, config: DriverConfig) -> Driver {
        Driver::with_proofs(solve, recorder, None, config)
    }

    /// The same; an answer that is to be proved needs a folder for proofs.
    pub fn with_proofs(
        solve: Solve,
        recorder: Option<Recorder>,
        proofs: Option<Arc<ProofFolder>>,
        config: DriverConfig,
    ) -> Driver {
        debug_assert_eq!(solve.settings().journal, recorder.is_some());
        debug_assert!(solve.settings().belief.confirm != Confirm::Proof || proofs.is_some());
        // What nobody asks for is not kept.
        let is_proved = solve.settings().belief.confirm == Confirm::Proof;
        let proofs = proofs.filter(|_| is_proved);
        let (handle, commands) = DriverHandle::new(solve.examiner().clone(), proofs.clone());
        let spec = solve.settings().spec.clone();
        let own_searches = OwnSearches::new(spec, proofs, handle.clone());
        let began = Instant::now();
        Driver {
            solve,
            recorder,
            records: Vec::new(),
            own_searches,
            config,
            commands,
            handle,
            connections: BTreeMap::new(),
            outbox: Outbox::default(),
            began,
            idle_notice: began + IDLE_FIRST,
            shed_notice: 1,
            names: Names::default(),
            declines: Declines::default(),
            tidings: None,
        }
    }

    /// The same; it tells there what becomes of positions that are asked for.
    pub(crate) fn telling(mut self, tidings: mpsc::UnboundedSender<Tidings>) -> Driver {
        self.tidings = Some(tidings);
        self
    }

    /// Takes over what is judged of machines elsewhere, before it runs.
    pub(crate) fn begin_with_judged(&mut self, judged: impl IntoIterator<Item = (Identity, bool)>) {
        self.solve.begin_with_judged(judged);
    }

    /// Where the certificates of jobs are kept, if any are.
    pub fn proofs(&self) -> Option<Arc<ProofFolder>> {
        self.handle.proofs().cloned()
    }

    /// A way to this driver.
    pub fn handle(&self) -> DriverHandle {
        self.handle.clone()
    }

    /// Whether the solve has ended: one that is taken up may have.
    pub fn is_over(&self) -> bool {
        self.solve.end().is_some()
    }

    /// Runs until the solve has ended or `shutdown` is there; gives the solve back, with all that was
    /// reported durable if there is a journal. On its way out it ends all streams, and tells the workers
    /// whether to go, because the solve has ended or is not kept, or to wait until it is resumed.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> Result<Solve, DriverError> {
        tokio::pin!(shutdown);
        let mut commands = Vec::with_capacity(COMMANDS_AT_ONCE);
        self.flush();
        loop {
            if let Some(trouble) = self.own_searches.trouble() {
                return Err(DriverError::OwnSearches(trouble.to_owned()));
            }
            if self.solve.end().is_some() {
                break;
            }
            let deadline = self.solve.next_deadline().map(|at| self.began + at);
            let idle = self.connections.is_empty().then_some(self.idle_notice);
            tokio::select! {
                biased;
                () = &mut shutdown => {
                    if self.recorder.is_none() {
                        self.say_over(STOPPED_FOR_GOOD.to_owned());
                    }
                    return self.stop().await;
                }
                event = written(&mut self.recorder) => self.hear(event)?,
                // Before the commands: a flood of them must not keep leases from expiring.
                () = until(deadline) => self.solve.tick(self.now()),
                () = until(idle) => {
                    warn!("no worker is connected; waiting for one");
                    self.idle_notice = Instant::now() + IDLE_AGAIN;
                }
                _ = self.commands.recv_many(&mut commands, COMMANDS_AT_ONCE) => {
                    for command in commands.drain(..) {
                        self.obey(command);
                    }
                }
            }
            self.flush();
            self.tell_of_shed_nodes();
        }
        self.say_answer();
        self.stop().await
    }

    /// What the journal's writer says.
    fn hear(&mut self, event: WriterEvent) -> Result<(), DriverError> {
        match event {
            WriterEvent::Durable { through } => self.tell(Event::Recorded { through }),
            WriterEvent::Snapshotted { through } => {
                debug!("a snapshot after record {through} is kept")
            }
            WriterEvent::Full { reason } => {
                warn!("{reason}; no job is given out until there is room");
                self.tell(Event::Halted { reason: Some(reason) });
            }
            WriterEvent::Room => {
                info!("there is room for the journal again");
                self.tell(Event::Halted { reason: None });
            }
            WriterEvent::Failed(reason) => return Err(DriverError::Journal(reason)),
        }
        Ok(())
    }

    /// Says that the tree is full: at the first time, and when ten times as much has been shed.
    fn tell_of_shed_nodes(&mut self) {
        let shed = self.solve.shed_nodes();
        if shed >= self.shed_notice {
            warn!(
                "the top-level tree fills its memory: {shed} nodes were shed, to be found again \
                 when they matter, and jobs grow; more --memory would make the solve faster"
            );
            self.shed_notice = shed.saturating_mul(10);
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn obey(&mut self, command: DriverCommand) {
        match command {
            DriverCommand::Join { worker, info, connection } => self.join(worker, info, connection),
            DriverCommand::Batch { worker, events, declines } => {
                self.batch(worker, events, declines)
            }
            DriverCommand::Leave { worker } => self.leave(worker, "its stream has ended"),
            DriverCommand::Searched { number, findings, elapsed, proof } => {
                self.tell(Event::Searched { number, findings, elapsed, proof });
            }
            DriverCommand::SearchFailed { trouble } => self.own_searches.fail(trouble),
            DriverCommand::Order { name, order, reply } => {
                let now = self.now();
                // The client that ordered it may have gone.
                let _ = reply.send(self.solve.order(&name, order, now));
            }
            DriverCommand::Awaits { worker, lease, subject, reply } => {
                // The stream that asked may have gone.
                let _ = reply.send(self.solve.awaits_report(worker, lease, &subject));
            }
            DriverCommand::Tell { event } => self.tell(event),
            DriverCommand::Status { reply } => {
                let status = self.solve.status(self.now());
                // The client that asked may have gone.
                let _ = reply.send(status);
            }
        }
    }

    fn tell(&mut self, event: Event) {
        // The solve counts what it refuses.
        match self.solve.handle(event, self.began.elapsed()) {
            Ok(()) => {}
            Err(refusal @ Refusal::Duplicate(_)) => debug!("{refusal}"),
            Err(refusal) => warn!("{refusal}"),
        }
    }
}

/// What the recorder says next; nothing, ever, if there is none.
async fn written(recorder: &mut Option<Recorder>) -> WriterEvent {
    match recorder {
        Some(recorder) => recorder.event().await,
        None => pending().await,
    }
}

/// The answer of a solve that has ended, in one line.
fn answer(status: &SolveStatus) -> String {
    match (&status.goal, status.proved, &status.value) {
        (Some(goal), Some(true), _) => format!("{goal} is proved"),
        (Some(goal), Some(false), _) => format!("{goal} is disproved"),
        (_, _, Some(value)) => value_in_words(value, status.last_move),
        _ => format!("the value is between {} and {}", status.lower, status.upper),
    }
}

/// Waits until `at`; for ever, if there is no such time.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
