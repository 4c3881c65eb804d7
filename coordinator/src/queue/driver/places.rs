//! The solves of a queue that are open, each with its driver: sweeps, and entries' own.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jlpns_queue::entry::{Asked, EndKind, Entry, Found};
use jlpns_queue::shares::{Allotment, Shares, Taker};
use jlpns_queue::{Queue, Sweep};
use jlpns_solve::belief::{Confirm, Identity};
use jlpns_solve::{AskedPosition, Event, Readiness, SolveStatus, Tidings, WorkerId, WorkerInfo};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tracing::{Instrument, info_span};

use super::handle::{QueueCommand, QueueHandle};
use super::workers::Worker;
use crate::driver::{Driver, DriverCommand, DriverHandle};
use crate::queue::opening::Opening;
use crate::queue::stream::attach;

/// A sweep is closed when it was asked for nothing for so long.
const IDLE: Duration = Duration::from_secs(60);
/// The numbers of sweeps begin here; those of entries' own solves are the numbers of the entries.
const FIRST_SWEEP: u64 = 1 << 48;

/// A driver that is about to run.
pub struct OpenedDriver {
    driver: Driver,
    sweep: Option<Arc<Sweep>>,
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
    /// The sweep, if it is one.
    pub fn sweep(&self) -> Option<&Arc<Sweep>> {
        self.sweep.as_ref()
    }

    fn tell(&self, event: Event) {
        // A driver that is gone has ended.
        let _ = self.commands.send(DriverCommand::Tell { event });
    }

    /// How many slots a tree of its own can use: as many as it has and one in four more if it uses those; else few
    /// more than it uses.
    fn note_status(&mut self, status: SolveStatus, slots: u32, most: u32) {
        let leased = u32::try_from(status.leased).unwrap_or(u32::MAX);
        self.wants = if leased >= slots { most } else { leased + 1 + leased / 4 };
        self.status = Some(status);
    }
}

/// All solves that are open, by their numbers.
#[derive(Default)]
pub(super) struct Places {
    all: BTreeMap<u64, Place>,
    /// The numbers of the sweeps that are open or about to be.
    sweeps: BTreeMap<Arc<Sweep>, u64>,
    /// Those that are about to be opened, with the positions that came meanwhile.
    opening: BTreeMap<u64, Vec<AskedPosition>>,
    /// Sweeps that are asked again while they are being closed.
    again: BTreeMap<Arc<Sweep>, (Asked, Vec<AskedPosition>)>,
    next_sweep: u64,
    /// Seconds in searches of solves that have ended.
    past_search: f64,
}

impl Places {
    /// Asks a sweep for positions. Whether it was idle: then it has no slots.
    pub fn ask(
        &mut self,
        opening: &Arc<Opening>,
        queue: &QueueHandle,
        sweep: Arc<Sweep>,
        of: Asked,
        positions: Vec<AskedPosition>,
    ) -> bool {
        if let Some(&number) = self.sweeps.get(&sweep) {
            if let Some(early) = self.opening.get_mut(&number) {
                early.extend(positions);
            } else if let Some(place) = self.all.get_mut(&number) {
                if place.stop.is_none() {
                    let again = self.again.entry(sweep).or_insert((of, Vec::new()));
                    again.1.extend(positions);
                } else {
                    let was_idle = place.idle_since.take().is_some();
                    place.tell(Event::Asked { positions });
                    return was_idle;
                }
            }
            return false;
        }
        self.next_sweep += 1;
        let number = FIRST_SWEEP + self.next_sweep;
        self.sweeps.insert(sweep.clone(), number);
        self.opening.insert(number, Vec::new());
        let (opening, queue) = (opening.clone(), queue.clone());
        let tidings = tidings_to(&queue);
        open(queue, number, move || {
            let driver = opening.sweep(&sweep, &of, positions, tidings)?;
            Ok(OpenedDriver { driver, sweep: Some(sweep) })
        });
        false
    }

    /// Tells a sweep that positions are not asked for any more.
    pub fn drop_asked(&mut self, sweep: &Sweep, numbers: &[u64]) {
        if let Some((_, again)) = self.again.get_mut(sweep) {
            again.retain(|position| !numbers.contains(&position.number));
        }
        let Some(number) = self.sweeps.get(sweep) else { return };
        if let Some(early) = self.opening.get_mut(number) {
            early.retain(|position| !numbers.contains(&position.number));
        }
        if let Some(place) = self.all.get(number) {
            place.tell(Event::Dropped { numbers: numbers.to_vec() });
        }
    }

    /// Nothing is asked of a sweep any more; it stays for a while.
    pub fn note_idle(&mut self, sweep: &Sweep) {
        let Some(number) = self.sweeps.get(sweep) else { return };
        if let Some(place) = self.all.get_mut(number) {
            place.idle_since = Some(Instant::now());
        }
    }

    /// Closes sweeps that were asked for nothing for long.
    pub fn close_idle(&mut self) {
        for place in self.all.values_mut() {
            if place.idle_since.is_some_and(|since| since.elapsed() >= IDLE) {
                place.stop = None;
            }
        }
    }

    /// Opens the solve of an entry's own.
    pub fn open(&mut self, opening: &Arc<Opening>, queue: &QueueHandle, number: u64, asked: Asked) {
        self.opening.insert(number, Vec::new());
        let (opening, tidings) = (opening.clone(), tidings_to(queue));
        open(queue.clone(), number, move || {
            Ok(OpenedDriver { driver: opening.solve(number, &asked, tidings)?, sweep: None })
        });
    }

    /// A solve that could not be opened is not waited for; gives its sweep, if it was one.
    pub fn forget(&mut self, number: u64) -> Option<Arc<Sweep>> {
        self.opening.remove(&number);
        let sweep = self.sweeps.iter().find(|(_, of)| **of == number)?.0.clone();
        self.sweeps.remove(&sweep);
        Some(sweep)
    }

    /// Runs a driver that was opened.
    pub fn begin(
        &mut self,
        number: u64,
        opened: OpenedDriver,
        opening: &Arc<Opening>,
        queue_handle: &QueueHandle,
        queue: &Queue,
    ) -> bool {
        let OpenedDriver { driver, sweep } = opened;
        let early = self.opening.remove(&number).unwrap_or_default();
        let entry: Option<Entry> = queue.entry(number).cloned();
        let (spec, has_long_jobs) = match (&sweep, &entry) {
            (Some(sweep), _) => (sweep.spec.clone(), false),
            (None, Some(entry)) => {
                let proves = opening.template.confirm == Confirm::Proof;
                (entry.asked.spec.as_str().to_owned(), proves || entry.asked.certificate)
            }
            (None, None) => return false,
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
            let run = driver.run(async {
                // Stopping and dropping mean the same.
                let _ = stopped.await;
            });
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
                        Ok((kind, reason, found)) => PlaceEnd::Solve { kind, reason, found },
                        Err(error) => PlaceEnd::Failed(error.to_string()),
                    }
                }
                (Ok(Ok(_)), None) => PlaceEnd::Sweep,
            };
            queue_handle.send(QueueCommand::Ended { number, end: Box::new(end) });
        });
        let place = Place {
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
        };
        for (identity, is_out) in queue.judged() {
            place.tell(Event::Judged { identity: identity.clone(), is_out });
        }
        if !early.is_empty() {
            place.tell(Event::Asked { positions: early });
        }
        // It may have been cancelled while it was being opened.
        let is_moot = place.sweep.is_none() && queue.entry(number).is_none_or(Entry::has_ended);
        self.all.insert(number, place);
        if is_moot {
            self.stop_solve(number);
        }
        true
    }

    /// Takes the positions for which a sweep is to be opened again that has just been closed.
    pub fn take_again(&mut self, place: &Place) -> Option<(Arc<Sweep>, Asked, Vec<AskedPosition>)> {
        let sweep = place.sweep.clone()?;
        let (of, positions) = self.again.remove(&sweep)?;
        Some((sweep, of, positions))
    }

    /// Removes one whose driver has ended.
    pub fn remove(&mut self, number: u64) -> Option<Place> {
        let place = self.all.remove(&number)?;
        if let Some(sweep) = &place.sweep {
            self.sweeps.remove(sweep);
        }
        self.past_search += place.status.as_ref().map_or(0.0, |status| status.search_seconds);
        Some(place)
    }

    /// A worker takes part in a solve, with no slots yet.
    pub fn attach(
        &mut self,
        number: u64,
        id: WorkerId,
        worker: &Worker,
        queue: &QueueHandle,
        is_stopping: Arc<AtomicBool>,
    ) {
        let Some(place) = self.all.get_mut(&number) else { return };
        if place.workers.contains_key(&id) {
            return;
        }
        let of_solve = place.handle.new_worker();
        // Before the worker hears of it, so that what it says finds its way.
        worker.route(number, place.handle.clone(), of_solve);
        let to_worker = worker.stream().outbound.clone();
        let connection = attach(id, number, to_worker, queue.clone(), is_stopping);
        let info = WorkerInfo { slots: 0, ..worker.info.clone() };
        // A driver that is gone has ended.
        let _ = place.commands.send(DriverCommand::Join { worker: of_solve, info, connection });
        if !worker.readiness().is_ready() {
            let readiness = worker.readiness().clone();
            place.tell(Event::Readiness { worker: of_solve, readiness });
        }
        place.workers.insert(id, (of_solve, 0));
    }

    /// The numbers of all that are open.
    pub fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// A worker has gone.
    pub fn detach(&mut self, id: WorkerId) {
        for place in self.all.values_mut() {
            if let Some((worker, _)) = place.workers.remove(&id) {
                let _ = place.commands.send(DriverCommand::Leave { worker });
            }
        }
    }

    /// A worker takes leases, or takes none.
    pub fn tell_readiness(&self, id: WorkerId, readiness: &Readiness) {
        for place in self.all.values() {
            if let Some(&(worker, _)) = place.workers.get(&id) {
                place.tell(Event::Readiness { worker, readiness: readiness.clone() });
            }
        }
    }

    /// A machine is put out, or may come again: all solves have it so.
    pub fn judge(&self, identity: &Identity, is_out: bool) {
        for place in self.all.values() {
            place.tell(Event::Judged { identity: identity.clone(), is_out });
        }
    }

    /// Tells each solve how many slots it has of each worker from now on.
    pub fn allot(&mut self, allotment: &Allotment) {
        for (&number, place) in &mut self.all {
            for (&id, (worker, slots)) in &mut place.workers {
                let allotted = allotment.get(&(id, number)).copied().unwrap_or(0);
                if std::mem::replace(slots, allotted) != allotted {
                    let event = Event::Allotted { worker: *worker, slots: allotted };
                    // A driver that is gone has ended.
                    let _ = place.commands.send(DriverCommand::Tell { event });
                }
            }
        }
    }

    /// What takes slots, and how many it can use.
    pub fn takers(&self, queue: &Queue, slots: u32) -> Vec<Taker> {
        let weights: BTreeMap<&Arc<Sweep>, (usize, u32)> =
            queue.sweeps().map(|(sweep, many, weight)| (sweep, (many, weight))).collect();
        let taker = |(&id, place): (&u64, &Place)| {
            let (weight, wants) = match &place.sweep {
                // Each position is one job, and a second one where it is to be confirmed.
                Some(sweep) => match weights.get(sweep) {
                    Some(&(many, weight)) => {
                        (weight, u32::try_from(2 * many).unwrap_or(u32::MAX).min(slots))
                    }
                    None => (1, 0),
                },
                None => (queue.entry(id).map_or(1, |e| e.asked.priority), place.wants.min(slots)),
            };
            let wants = if place.stop.is_some() { wants } else { 0 };
            let (game, has_long_jobs) = (place.game.clone(), place.has_long_jobs);
            Taker { id, weight, wants, game, has_long_jobs }
        };
        self.all.iter().map(taker).collect()
    }

    /// Asks all solves how far they are that have answered the last time; nobody waits for one that is busy.
    pub fn ask_statuses(&mut self, queue: &QueueHandle) {
        let open = self.all.iter_mut().filter(|(_, place)| !place.is_asked && place.stop.is_some());
        for (&number, place) in open {
            place.is_asked = true;
            let (handle, queue) = (place.handle.clone(), queue.clone());
            tokio::spawn(async move {
                let status = handle.status().await.ok().map(Box::new);
                queue.send(QueueCommand::SolveStatus { number, status });
            });
        }
    }

    /// How far a solve is; nothing of one that has ended, and makes its certificate perhaps. Whether it is of an entry's
    /// own.
    pub fn note_status(
        &mut self,
        number: u64,
        status: Option<SolveStatus>,
        shares: &Shares,
        slots: u32,
    ) -> bool {
        let Some(place) = self.all.get_mut(&number) else { return false };
        place.is_asked = false;
        match status {
            Some(status) => place.note_status(status, shares.slots_of(number), slots),
            None => place.wants = 0,
        }
        place.sweep.is_none()
    }

    /// What the solves have last said.
    pub fn statuses(&self) -> impl Iterator<Item = &SolveStatus> {
        self.all.values().filter_map(|place| place.status.as_ref())
    }

    /// Seconds in searches of this process's solves.
    pub fn search_seconds(&self) -> f64 {
        self.past_search + self.statuses().map(|status| status.search_seconds).sum::<f64>()
    }

    /// Stops the solve of an entry's own.
    pub fn stop_solve(&mut self, number: u64) {
        if let Some(place) = self.all.get_mut(&number) {
            place.stop = None;
        }
    }

    /// The same, because it has come to a limit.
    pub fn stop_at_limit(&mut self, number: u64, reason: String) {
        if let Some(place) = self.all.get_mut(&number) {
            // The first limit counts.
            let _ = place.limit.set(reason);
            place.stop = None;
        }
    }

    /// Stops all of them.
    pub fn stop_all(&mut self) {
        self.all.values_mut().for_each(|place| place.stop = None);
    }

    /// Whether a driver still runs.
    pub fn are_running(&self) -> bool {
        !self.all.is_empty()
    }
}

/// Where a solve tells the queue of positions and machines.
fn tidings_to(queue: &QueueHandle) -> mpsc::UnboundedSender<Tidings> {
    let (tidings, mut told) = mpsc::unbounded_channel::<Tidings>();
    let queue = queue.clone();
    tokio::spawn(async move {
        while let Some(news) = told.recv().await {
            queue.send(QueueCommand::Tidings { news });
        }
    });
    tidings
}

/// Opens a solve on a thread that may wait for the disk, and tells the queue.
fn open(
    queue: QueueHandle,
    number: u64,
    open: impl FnOnce() -> anyhow::Result<OpenedDriver> + Send + 'static,
) {
    tokio::spawn(async move {
        let opened = spawn_blocking(open).await;
        let opened = opened.unwrap_or_else(|error| Err(anyhow::anyhow!("{error}")));
        queue.send(QueueCommand::Opened { number, driver: Box::new(opened) });
    });
}
