//! The driver: the one task that owns a running solve.
//!
//! Events come in from the workers' streams through one channel, in order; what the solve wants
//! done goes out to the streams. The clock is read here and nowhere below.

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jlpns_proto::v1::coordinator_message::Kind;
use jlpns_proto::{MAX_BATCH, PROTOCOL_VERSION, v1};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tonic::Status;
use tracing::{debug, info, warn};

use crate::solve::{Action, Event, LeaseId, Solve, SolveStatus, WorkerId, WorkerInfo};

/// How many commands may wait for the driver before the streams that send them wait too.
const COMMANDS: usize = 1024;
/// How many commands are handled before the actions that follow from them are sent.
const COMMANDS_AT_ONCE: usize = 64;
/// How many messages may wait for a worker; one that leaves more unread is given up.
pub(crate) const MESSAGES: usize = 256;
/// How long there may be no worker before it is said, the first time and from then on.
const IDLE_FIRST: Duration = Duration::from_secs(1);
const IDLE_AGAIN: Duration = Duration::from_secs(60);

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

impl DriverConfig {
    /// The settings for a new solve: a random name, a heartbeat every five seconds.
    pub fn new(spec: String) -> DriverConfig {
        let random = RandomState::new().build_hasher().finish();
        DriverConfig {
            solve_id: format!("{random:016x}"),
            spec,
            heartbeat_interval: Duration::from_secs(5),
        }
    }
}

/// Where messages to a worker go.
pub(crate) type Outbound = mpsc::Sender<Result<v1::CoordinatorMessage, Status>>;

/// A stream to a worker, as the driver holds it; dropping it ends the stream.
pub(crate) struct Connection {
    /// Where messages to the worker go.
    pub outbound: Outbound,
    /// Dropped with the connection: what reads from the worker stops then.
    pub _open: oneshot::Sender<()>,
}

/// What the streams and the unary calls ask of the driver.
pub(crate) enum Command {
    /// A worker has said Hello.
    Join { worker: WorkerId, info: WorkerInfo, connection: Connection },
    /// A worker has sent a batch.
    Batch { worker: WorkerId, events: Vec<Event>, declines: Vec<(LeaseId, String)> },
    /// A worker's stream has ended.
    Leave { worker: WorkerId },
    /// Somebody asks for the status.
    Status { reply: oneshot::Sender<SolveStatus> },
}

/// The way to a driver, for streams and for whoever shows the solve's progress.
#[derive(Clone, Debug)]
pub struct DriverHandle {
    commands: mpsc::Sender<Command>,
    next_worker: Arc<AtomicU64>,
}

/// The driver is gone: the solve has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the solve has ended")]
pub struct Ended;

impl DriverHandle {
    /// The state of the solve.
    pub async fn status(&self) -> Result<SolveStatus, Ended> {
        let (reply, status) = oneshot::channel();
        self.send(Command::Status { reply }).await?;
        status.await.map_err(|_| Ended)
    }

    pub(crate) async fn send(&self, command: Command) -> Result<(), Ended> {
        self.commands.send(command).await.map_err(|_| Ended)
    }

    pub(crate) fn new_worker(&self) -> WorkerId {
        WorkerId(self.next_worker.fetch_add(1, Ordering::Relaxed))
    }
}

/// Runs a solve: see the module's page.
pub struct Driver {
    solve: Solve,
    config: DriverConfig,
    commands: mpsc::Receiver<Command>,
    handle: DriverHandle,
    connections: BTreeMap<WorkerId, (WorkerInfo, Connection)>,
    /// What the next message to each worker will hold.
    batches: BTreeMap<WorkerId, v1::CoordinatorBatch>,
    began: Instant,
    /// When to say next that there is no worker.
    idle_notice: Instant,
    /// From how many shed nodes on it is said next that the tree is full.
    shed_notice: u64,
}

impl Driver {
    /// A driver for `solve`, whose time begins now.
    pub fn new(solve: Solve, config: DriverConfig) -> Driver {
        let (commands, from_handles) = mpsc::channel(COMMANDS);
        let handle = DriverHandle { commands, next_worker: Arc::new(AtomicU64::new(1)) };
        let began = Instant::now();
        Driver {
            solve,
            config,
            commands: from_handles,
            handle,
            connections: BTreeMap::new(),
            batches: BTreeMap::new(),
            began,
            idle_notice: began + IDLE_FIRST,
            shed_notice: 1,
        }
    }

    /// A way to this driver.
    pub fn handle(&self) -> DriverHandle {
        self.handle.clone()
    }

    /// Runs until the solve has ended or `shutdown` is there; gives the solve back. On its way out
    /// it ends all streams: after the end of the solve with that message, else without a word, so
    /// that the workers come back if the coordinator does.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> Solve {
        tokio::pin!(shutdown);
        let mut commands = Vec::with_capacity(COMMANDS_AT_ONCE);
        self.flush();
        while self.solve.end().is_none() {
            let deadline = self.solve.next_deadline().map(|at| self.began + at);
            let idle = self.connections.is_empty().then_some(self.idle_notice);
            tokio::select! {
                biased;
                () = &mut shutdown => return self.solve,
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
        let answer = answer(&self.solve.status(self.now()));
        info!("the solve is over: {answer}");
        for (worker, (info, connection)) in &self.connections {
            let over = Kind::Over(v1::SolveOver { answer: answer.clone() });
            if !post(connection, over) {
                warn!("{worker} ({}) could not be told of the end", info.name);
            }
        }
        self.solve
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

    fn obey(&mut self, command: Command) {
        match command {
            Command::Join { worker, info, connection } => self.join(worker, info, connection),
            Command::Batch { worker, events, declines } => self.batch(worker, events, declines),
            Command::Leave { worker } => self.leave(worker, "its stream has ended"),
            Command::Status { reply } => {
                let status = self.solve.status(self.now());
                // Whoever asked may have gone.
                let _ = reply.send(status);
            }
        }
    }

    fn join(&mut self, worker: WorkerId, info: WorkerInfo, connection: Connection) {
        let heartbeat = self.config.heartbeat_interval.as_millis();
        let welcome = v1::Welcome {
            protocol_version: PROTOCOL_VERSION,
            solve_id: self.config.solve_id.clone(),
            spec: self.config.spec.clone(),
            heartbeat_interval_ms: u32::try_from(heartbeat).unwrap_or(u32::MAX),
        };
        if !post(&connection, Kind::Welcome(welcome)) {
            return;
        }
        self.connections.insert(worker, (info.clone(), connection));
        let slots: u64 = self.connections.values().map(|(info, _)| u64::from(info.slots)).sum();
        info!(
            "{worker} ({}) joined with {} slots; now {} workers with {slots} slots",
            info.name,
            info.slots,
            self.connections.len()
        );
        self.tell(Event::Joined { worker, info });
    }

    fn leave(&mut self, worker: WorkerId, why: &str) {
        let Some((info, _)) = self.connections.remove(&worker) else { return };
        self.batches.remove(&worker);
        info!("{worker} ({}) left: {why}; {} workers stay", info.name, self.connections.len());
        self.tell(Event::Left { worker });
        if self.connections.is_empty() {
            self.idle_notice = Instant::now();
        }
    }

    fn batch(&mut self, worker: WorkerId, events: Vec<Event>, declines: Vec<(LeaseId, String)>) {
        let Some((info, _)) = self.connections.get(&worker) else { return };
        for (lease, reason) in declines {
            // The lease runs out and the job goes out again.
            info!("{worker} ({}) declined {lease}: {reason}", info.name);
        }
        for event in events {
            let reported = match event {
                Event::Reported { lease, .. } => Some(lease),
                _ => None,
            };
            self.tell(event);
            if let Some(lease) = reported {
                // Refused reports too: sending them again would not make them better.
                self.batches.entry(worker).or_default().acknowledged.push(lease.0);
            }
        }
    }

    fn tell(&mut self, event: Event) {
        // The solve counts what it refuses.
        if let Err(refusal) = self.solve.handle(event, self.began.elapsed()) {
            warn!("{refusal}");
        }
    }

    /// Sends what the solve wants done. A worker that cannot be reached leaves, which may bring
    /// new actions; each round has a worker less, so it ends.
    fn flush(&mut self) {
        loop {
            for action in self.solve.take_actions() {
                self.sort(action);
            }
            let mut unreachable = Vec::new();
            for (worker, batch) in std::mem::take(&mut self.batches) {
                let Some((_, connection)) = self.connections.get(&worker) else { continue };
                if !split(batch).into_iter().all(|batch| post(connection, Kind::Batch(batch))) {
                    unreachable.push(worker);
                }
            }
            if unreachable.is_empty() {
                return;
            }
            for worker in unreachable {
                self.leave(worker, "it does not read what it is sent");
            }
        }
    }

    fn sort(&mut self, action: Action) {
        match action {
            Action::Lease { worker, lease, job, deadline, report_interval } => {
                debug!("{lease} to {worker}: {job:?}");
                self.batches.entry(worker).or_default().leases.push(v1::Lease {
                    lease_id: lease.0,
                    job: Some(v1::Job::from(&job)),
                    deadline_ms: millis(deadline),
                    report_interval_ms: millis(report_interval),
                });
            }
            Action::Cancel { worker, lease } => {
                debug!("{lease} of {worker} is called back");
                self.batches.entry(worker).or_default().cancels.push(lease.0);
            }
            // The end is told once the loop has seen the answer.
            Action::Over => {}
        }
    }
}

/// The answer of a solve that has ended, in one line.
fn answer(status: &SolveStatus) -> String {
    match (&status.goal, status.proved, &status.value) {
        (Some(goal), Some(true), _) => format!("{goal} is proved"),
        (Some(goal), Some(false), _) => format!("{goal} is disproved"),
        (_, _, Some(value)) => format!("the value is {value}"),
        _ => format!("the value is between {} and {}", status.lower, status.upper),
    }
}

/// Whole milliseconds, at least 1: the contract has no 0.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Batches whose lists are as long as the contract allows.
fn split(mut batch: v1::CoordinatorBatch) -> Vec<v1::CoordinatorBatch> {
    let mut batches = Vec::new();
    loop {
        let head = v1::CoordinatorBatch {
            leases: front(&mut batch.leases),
            cancels: front(&mut batch.cancels),
            acknowledged: front(&mut batch.acknowledged),
        };
        if head == v1::CoordinatorBatch::default() {
            return batches;
        }
        batches.push(head);
    }
}

fn front<T>(list: &mut Vec<T>) -> Vec<T> {
    let rest = list.split_off(list.len().min(MAX_BATCH));
    std::mem::replace(list, rest)
}

/// Puts a message into a worker's channel; false if it is full or closed.
fn post(connection: &Connection, kind: Kind) -> bool {
    connection.outbound.try_send(Ok(v1::CoordinatorMessage { kind: Some(kind) })).is_ok()
}

/// Waits until `at`; for ever, if there is no such time.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
