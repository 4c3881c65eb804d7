//! The solves of a queue that are open, each with its driver: sweeps, and entries' own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jlpns_queue::entry::{Asked, Entry};
use jlpns_queue::shares::{Allotment, Shares, Taker};
use jlpns_queue::{Queue, Sweep};
use jlpns_solve::belief::Identity;
use jlpns_solve::{AskedPosition, Event, Readiness, SolveStatus, Tidings, WorkerId};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::handle::{QueueCommand, QueueHandle};
use super::place::{OpenedDriver, Place};
use super::workers::Worker;
use crate::queue::opening::Opening;

/// The numbers of sweeps begin here; those of entries' own solves are the numbers of the entries.
const FIRST_SWEEP: u64 = 1 << 48;

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
                if place.is_stopping() {
                    let again = self.again.entry(sweep).or_insert((of, Vec::new()));
                    again.1.extend(positions);
                } else {
                    let was_idle = place.wake();
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
            place.note_idle();
        }
    }

    /// Closes sweeps that were asked for nothing for long.
    pub fn close_idle(&mut self) {
        for place in self.all.values_mut() {
            if place.is_idle_for_long() {
                place.stop();
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

    /// Runs a driver that was opened. Whether there is still an entry or a sweep that it is of.
    pub fn begin(
        &mut self,
        number: u64,
        opened: OpenedDriver,
        opening: &Arc<Opening>,
        queue_handle: &QueueHandle,
        queue: &Queue,
    ) -> bool {
        let early = self.opening.remove(&number).unwrap_or_default();
        let Some(place) = Place::run(number, opened, opening, queue_handle, queue) else {
            return false;
        };
        if !early.is_empty() {
            place.tell(Event::Asked { positions: early });
        }
        // It may have been cancelled while it was being opened.
        let is_moot = place.sweep().is_none() && queue.entry(number).is_none_or(Entry::has_ended);
        self.all.insert(number, place);
        if is_moot {
            self.stop_solve(number);
        }
        true
    }

    /// Takes the positions for which a sweep is to be opened again that has just been closed.
    pub fn take_again(&mut self, place: &Place) -> Option<(Arc<Sweep>, Asked, Vec<AskedPosition>)> {
        let sweep = place.sweep()?.clone();
        let (of, positions) = self.again.remove(&sweep)?;
        Some((sweep, of, positions))
    }

    /// Removes one whose driver has ended.
    pub fn remove(&mut self, number: u64) -> Option<Place> {
        let place = self.all.remove(&number)?;
        if let Some(sweep) = place.sweep() {
            self.sweeps.remove(sweep);
        }
        self.past_search += place.status().map_or(0.0, |status| status.search_seconds);
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
        if let Some(place) = self.all.get_mut(&number) {
            place.attach(number, id, worker, queue, is_stopping);
        }
    }

    /// The numbers of all that are open.
    pub fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// A worker has gone.
    pub fn detach(&mut self, id: WorkerId) {
        self.all.values_mut().for_each(|place| place.detach(id));
    }

    /// A worker takes leases, or takes none.
    pub fn tell_readiness(&self, id: WorkerId, readiness: &Readiness) {
        self.all.values().for_each(|place| place.tell_readiness(id, readiness));
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
            place.allot(number, allotment);
        }
    }

    /// What takes slots, and how many it can use.
    pub fn takers(&self, queue: &Queue, slots: u32) -> Vec<Taker> {
        let weights: BTreeMap<&Arc<Sweep>, (usize, u32)> =
            queue.sweeps().map(|(sweep, many, weight)| (sweep, (many, weight))).collect();
        let taker = |(&id, place): (&u64, &Place)| {
            let (weight, positions) = match place.sweep() {
                Some(sweep) => {
                    let (many, weight) = weights.get(sweep).copied().unwrap_or((0, 1));
                    (weight, Some(many))
                }
                None => (queue.entry(id).map_or(1, |entry| entry.asked.priority), None),
            };
            place.taker(id, weight, positions, slots)
        };
        self.all.iter().map(taker).collect()
    }

    /// Asks all solves how far they are that have answered the last time; nobody waits for one that is busy.
    pub fn ask_statuses(&mut self, queue: &QueueHandle) {
        for (&number, place) in &mut self.all {
            place.ask_status(number, queue);
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
        place.note_status(status, shares.slots_of(number), slots);
        place.sweep().is_none()
    }

    /// What the solves have last said.
    pub fn statuses(&self) -> impl Iterator<Item = &SolveStatus> {
        self.all.values().filter_map(Place::status)
    }

    /// Seconds in searches of this process's solves.
    pub fn search_seconds(&self) -> f64 {
        self.past_search + self.statuses().map(|status| status.search_seconds).sum::<f64>()
    }

    /// Stops the solve of an entry's own.
    pub fn stop_solve(&mut self, number: u64) {
        if let Some(place) = self.all.get_mut(&number) {
            place.stop();
        }
    }

    /// The same, because it has come to a limit.
    pub fn stop_at_limit(&mut self, number: u64, reason: String) {
        if let Some(place) = self.all.get_mut(&number) {
            place.stop_at_limit(reason);
        }
    }

    /// Stops all of them.
    pub fn stop_all(&mut self) {
        self.all.values_mut().for_each(Place::stop);
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
