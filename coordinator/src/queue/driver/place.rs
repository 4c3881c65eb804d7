//! A solve of a queue that is open: its driver, which of the queue's workers take part in it, and how many slots it can
//! use.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jlpns_queue::entry::{EndKind, Entry, Found};
use jlpns_queue::shares::{Allotment, Taker};
use jlpns_queue::{Queue, Sweep};
use jlpns_solve::belief::{Confirm, Identity};
use jlpns_solve::{Event, Readiness, SolveStatus, WorkerId, WorkerInfo};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tracing::{Instrument, info_span};

use super::handle::{QueueCommand, QueueHandle};
use super::workers::Worker;
use crate::driver::{Driver, DriverCommand, DriverHandle};
use crate::queue::opening::{Opening, Uncertified};
use crate::queue::stream::attach;

/// A sweep is closed when it was asked for nothing for so long.
const IDLE: Duration = Duration::from_secs(60);

/// A driver that is about to run.
pub struct OpenedDriver {
    pub(super) driver: Driver,
    pub(super) sweep: Option<Arc<Sweep>>,
}

/// How a solve has ended.
#[derive(Debug)]
pub enum PlaceEnd {
    /// That of an entry's own.
    Solve {
        /// How.
        kind: EndKind,
        /// Why, if it was stopped or failed.
        reason: String,
        /// With what.
        found: Found,
    },
    /// That of an entry's own is answered, and the machine failed while its certificate was made.
    Uncertified(Box<Uncertified>),
    /// A sweep that was closed.
    Sweep,
    /// It broke down.
    Failed(String),
}

/// A solve that is open.
pub(super) struct Place {
    sweep: Option<Arc<Sweep>>,
    game: String,
    has_long_jobs: bool,
    handle: DriverHandle,
    /// What the driver is told, in order: nothing waits for a driver that is busy.
    commands: mpsc::UnboundedSender<DriverCommand>,
    /// Dropped, it ends the driver.
    stop: Option<oneshot::Sender<()>>,
    /// Why it is stopped at its limit.
    limit: Arc<OnceLock<String>>,
    /// What the solve calls each worker, and its slots there.
    workers: BTreeMap<WorkerId, (WorkerId, u32)>,
    /// How many slots it can use.
    wants: u32,
    status: Option<SolveStatus>,
    /// Whether it is asked how far it is.
    is_asked: bool,
    idle_since: Option<Instant>,
}

impl Place {
    /// Runs a driver that was opened; the queue is told how it ends. Nothing if the entry that it is of is gone.
    pub fn run(
        number: u64,
        opened: OpenedDriver,
        opening: &Arc<Opening>,
        queue_handle: &QueueHandle,
        queue: &Queue,
    ) -> Option<Place> {
        let OpenedDriver { mut driver, sweep } = opened;
        let judged: Vec<(Identity, bool)> =
            queue.judged().map(|(identity, is_out)| (identity.clone(), is_out)).collect();
        let entry: Option<Entry> = queue.entry(number).cloned();
        let (spec, has_long_jobs) = match (&sweep, &entry) {
            (Some(sweep), _) => (sweep.spec.clone(), false),
            (None, Some(entry)) => {
                let proves = opening.template.confirm == Confirm::Proof;
                (entry.asked.spec.as_str().to_owned(), proves || entry.asked.certificate)
            }
            (None, None) => return None,
        };
        let game = spec.split(':').next().unwrap_or_default().to_owned();
        let handle = driver.handle();
        let (stop, stopped) = oneshot::channel::<()>();
        let limit: Arc<OnceLock<String>> = Arc::default();
        let (commands, mut told) = mpsc::unbounded_channel();
        let teller = handle.clone();
        tokio::spawn(async move {
            while let Some(command) = told.recv().await {
                if teller.send(command).await.is_err() {
                    return;
                }
            }
        });
        let (is_sweep, reason) = (sweep.is_some(), limit.clone());
        let span = match &sweep {
            Some(sweep) => info_span!("sweep", spec = sweep.spec, goal = sweep.goal),
            None => info_span!("entry", number),
        };
        let (opening, queue_handle) = (opening.clone(), queue_handle.clone());
        tokio::spawn(async move {
            let run = async move {
                // It may grow its tree anew, for which nobody waits.
                driver.begin_with_judged(judged);
                let stopped = async {
                    // Stopping and dropping mean the same.
                    let _ = stopped.await;
                };
                driver.run(stopped).await
            };
            let run = run.instrument(span);
            // On a task of its own, so that a panic is an end like others.
            let end = match (tokio::spawn(run).await, entry) {
                (Err(error), _) => PlaceEnd::Failed(error.to_string()),
                (Ok(Err(error)), _) => PlaceEnd::Failed(error.to_string()),
                (Ok(Ok(_)), _) if is_sweep => PlaceEnd::Sweep,
                (Ok(Ok(solve)), Some(entry)) => {
                    let reason = reason.get().cloned();
                    let end = move || opening.end_of(number, &entry, &solve, reason);
                    match spawn_blocking(end).await {
                        Ok(Ok((kind, reason, found))) => PlaceEnd::Solve { kind, reason, found },
                        Ok(Err(uncertified)) => PlaceEnd::Uncertified(uncertified),
                        Err(error) => PlaceEnd::Failed(error.to_string()),
                    }
                }
                (Ok(Ok(_)), None) => PlaceEnd::Sweep,
            };
            queue_handle.send(QueueCommand::Ended { number, end: Box::new(end) });
        });
        Some(Place {
            idle_since: sweep
                .as_ref()
                .filter(|it| queue.asked_of(it).is_empty())
                .map(|_| Instant::now()),
            sweep,
            game,
            has_long_jobs,
            handle,
            commands,
            stop: Some(stop),
            limit,
            workers: BTreeMap::new(),
            wants: u32::MAX,
            status: None,
            is_asked: false,
        })
    }

    /// The sweep, if it is one.
    pub fn sweep(&self) -> Option<&Arc<Sweep>> {
        self.sweep.as_ref()
    }

    /// Tells the solve's driver of an event.
    pub fn tell(&self, event: Event) {
        self.command(DriverCommand::Tell { event });
    }

    /// Whether it is a sweep that is asked for nothing; it is asked again.
    pub fn wake(&mut self) -> bool {
        self.idle_since.take().is_some()
    }

    /// Nothing is asked of it any more.
    pub fn note_idle(&mut self) {
        self.idle_since = Some(Instant::now());
    }

    /// Whether it was asked for nothing for long.
    pub fn is_idle_for_long(&self) -> bool {
        self.idle_since.is_some_and(|since| since.elapsed() >= IDLE)
    }

    /// Ends its driver.
    pub fn stop(&mut self) {
        self.stop = None;
    }

    /// The same, because it has come to a limit.
    pub fn stop_at_limit(&mut self, reason: String) {
        // The first limit counts.
        let _ = self.limit.set(reason);
        self.stop();
    }

    /// Whether its driver was told to end.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_none()
    }

    /// A worker takes part in it from now on, with no slots yet.
    pub fn attach(
        &mut self,
        number: u64,
        id: WorkerId,
        worker: &Worker,
        queue: &QueueHandle,
        is_stopping: Arc<AtomicBool>,
    ) {
        if self.workers.contains_key(&id) {
            return;
        }
        let of_solve = self.handle.new_worker();
        // Before the worker hears of it, so that what it says finds its way.
        worker.route(number, self.handle.clone(), of_solve);
        let to_worker = worker.stream().outbound.clone();
        let connection = attach(id, number, to_worker, queue.clone(), is_stopping);
        let info = WorkerInfo { slots: 0, ..worker.info.clone() };
        self.command(DriverCommand::Join { worker: of_solve, info, connection });
        if !worker.readiness().is_ready() {
            let readiness = worker.readiness().clone();
            self.tell(Event::Readiness { worker: of_solve, readiness });
        }
        self.workers.insert(id, (of_solve, 0));
    }

    /// A worker has gone.
    pub fn detach(&mut self, id: WorkerId) {
        if let Some((worker, _)) = self.workers.remove(&id) {
            self.command(DriverCommand::Leave { worker });
        }
    }

    /// A worker takes leases, or takes none.
    pub fn tell_readiness(&self, id: WorkerId, readiness: &Readiness) {
        if let Some(&(worker, _)) = self.workers.get(&id) {
            self.tell(Event::Readiness { worker, readiness: readiness.clone() });
        }
    }

    /// Tells it how many slots it has of each worker from now on; `number` is its own.
    pub fn allot(&mut self, number: u64, allotment: &Allotment) {
        for (&id, (worker, slots)) in &mut self.workers {
            let allotted = allotment.get(&(id, number)).copied().unwrap_or(0);
            if std::mem::replace(slots, allotted) != allotted {
                let event = Event::Allotted { worker: *worker, slots: allotted };
                // A driver that is gone has ended.
                let _ = self.commands.send(DriverCommand::Tell { event });
            }
        }
    }

    /// How much it counts among those that take slots, with this weight, and how many of `slots` it can use: a sweep of
    /// `positions` two for each; a tree of its own what it has shown to use.
    pub fn taker(&self, id: u64, weight: u32, positions: Option<usize>, slots: u32) -> Taker {
        let wants = match positions {
            _ if self.is_stopping() => 0,
            // Each position is one job, and a second one where it is to be confirmed.
            Some(positions) => u32::try_from(2 * positions).unwrap_or(u32::MAX),
            None => self.wants,
        };
        let (game, has_long_jobs) = (self.game.clone(), self.has_long_jobs);
        Taker { id, weight, wants: wants.min(slots), game, has_long_jobs }
    }

    /// Asks it how far it is, unless it has not answered the last time: nobody waits for one that is busy.
    pub fn ask_status(&mut self, number: u64, queue: &QueueHandle) {
        if self.is_asked || self.is_stopping() {
            return;
        }
        self.is_asked = true;
        let (handle, queue) = (self.handle.clone(), queue.clone());
        tokio::spawn(async move {
            let status = handle.status().await.ok().map(Box::new);
            queue.send(QueueCommand::SolveStatus { number, status });
        });
    }

    /// How far it is, and so how many of all slots it can use: as many as it has and one in four more if it uses those;
    /// else few more than it uses. Nothing of one that has ended.
    pub fn note_status(&mut self, status: Option<SolveStatus>, slots: u32, most: u32) {
        self.is_asked = false;
        let Some(status) = status else {
            self.wants = 0;
            return;
        };
        let leased = u32::try_from(status.leased).unwrap_or(u32::MAX);
        self.wants = if leased >= slots { most } else { leased + 1 + leased / 4 };
        self.status = Some(status);
    }

    /// What it has last said.
    pub fn status(&self) -> Option<&SolveStatus> {
        self.status.as_ref()
    }

    fn command(&self, command: DriverCommand) {
        // A driver that is gone has ended.
        let _ = self.commands.send(command);
    }
}
