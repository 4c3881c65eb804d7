//! Slots: the threads that run the searches, one search at a time each.
//!
//! Leases of all solves wait in one queue; whichever slot is free takes the next. What the searches of
//! a game remember (the transposition table) is shared by all slots and kept from job to job.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use std::{io, thread};

use jlpns_certificate::{FoundByJob, run_job};
use jlpns_search::search::Observer;
use jlpns_search::searcher::STACK_BYTES;
use jlpns_search::{Findings, Job};
use tokio::sync::mpsc::UnboundedSender;

use crate::games_at_hand::GameAtHand;

/// A lease that waits for a slot.
#[derive(Clone)]
pub struct Task {
    /// Of which solve of this worker, by the count of those that it has seen: two may have leases with
    /// the same number.
    pub generation: u64,
    /// The game, and what runs its searches.
    pub game: Arc<GameAtHand>,
    /// The lease.
    pub lease: u64,
    /// What to do.
    pub job: Job,
    /// How often to send partial findings.
    pub report_interval: Duration,
    /// When set, the search stops and reports what it has.
    pub stop: Arc<AtomicBool>,
}

/// What a slot says of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotEvent {
    /// Of which solve of this worker.
    pub generation: u64,
    /// Of which lease.
    pub lease: u64,
    /// What.
    pub what: SlotEventKind,
}

/// What a slot says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotEventKind {
    /// The search goes on; this is what it knows.
    Progress(Findings),
    /// The search has ended.
    Ended {
        /// What it knows.
        findings: Findings,
        /// The certificate of its answer, if the job asks for one.
        certificate: Option<Vec<u8>>,
        /// The time spent in it.
        elapsed: Duration,
        /// Whether it may have used what others had told.
        hearsay: bool,
    },
    /// There was no search, for this reason.
    Declined(String),
}

/// A number of slots. Dropping it lets each slot end after its present search.
#[derive(Debug)]
pub struct Slots {
    queue: mpsc::Sender<Task>,
}

impl Slots {
    /// Starts `count` threads that tell all to `said`.
    pub fn start(count: u32, said: UnboundedSender<SlotEvent>) -> io::Result<Slots> {
        let (queue, tasks) = mpsc::channel();
        let tasks = Arc::new(Mutex::new(tasks));
        for number in 1..=count {
            let (tasks, said) = (tasks.clone(), said.clone());
            thread::Builder::new()
                .name(format!("slot {number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || run(&tasks, &said))?;
        }
        Ok(Slots { queue })
    }

    /// Puts a lease at the end of the queue.
    pub fn put(&self, task: Task) {
        // The slots end when this queue does, and not before: there is always one to take it.
        let _ = self.queue.send(task);
    }
}

/// One slot: takes leases from the queue until it ends.
fn run(tasks: &Mutex<mpsc::Receiver<Task>>, said: &UnboundedSender<SlotEvent>) {
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = next else { return };
        let what = work_on(&task, said);
        if said.send(SlotEvent { generation: task.generation, lease: task.lease, what }).is_err() {
            return;
        }
    }
}

fn work_on(task: &Task, said: &UnboundedSender<SlotEvent>) -> SlotEventKind {
    if task.stop.load(Ordering::Relaxed) {
        return SlotEventKind::Declined("it was called back before its search began".to_owned());
    }
    let begun = Instant::now();
    let mut watch = SlotObserver { task, said, reported: begun };
    let GameAtHand { spec, searcher } = &*task.game;
    let is_stopped = || task.stop.load(Ordering::Relaxed);
    match run_job(spec, &**searcher, &task.job, &mut watch, &is_stopped) {
        Ok(FoundByJob { findings, certificate }) => {
            let (elapsed, hearsay) = (begun.elapsed(), searcher.rests_on_hearsay(&task.job));
            SlotEventKind::Ended { findings, certificate, elapsed, hearsay }
        }
        Err(reason) => SlotEventKind::Declined(reason),
    }
}

/// Stops a search that is called back, and sends its partial findings.
struct SlotObserver<'a> {
    task: &'a Task,
    said: &'a UnboundedSender<SlotEvent>,
    reported: Instant,
}

impl Observer for SlotObserver<'_> {
    fn observe(&mut self, _nodes: u64, findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if self.task.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        if self.reported.elapsed() >= self.task.report_interval {
            let said = SlotEvent {
                generation: self.task.generation,
                lease: self.task.lease,
                what: SlotEventKind::Progress(findings()),
            };
            if self.said.send(said).is_err() {
                return ControlFlow::Break(());
            }
            self.reported = Instant::now();
        }
        ControlFlow::Continue(())
    }
}
