//! Slots: the threads that run the searches, one search at a time each.
//!
//! Leases wait in one queue; whichever slot is free takes the next. What the searches of one solve
//! remember (the transposition table) is shared by all slots and kept from job to job.

use std::any::Any;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jlpns_common::spec::GameSpec;
use jlpns_common::{Findings, Job, SolvedPosition};
use tokio::sync::mpsc::UnboundedSender;

use crate::search::Observer;

/// The stack of a thread that searches, in bytes: room for searches that recurse once a move, in the
/// longest games.
pub const STACK_BYTES: usize = 32 << 20;

/// Makes a searcher for each solve.
pub trait Searching: Send + Sync + 'static {
    /// A searcher for the game of a solve, for `slots` searches at a time, with `memory` bytes for
    /// all of their nodes and tables. The error is one sentence that says why there can be none.
    fn searcher(
        &self,
        spec: &GameSpec,
        memory: u64,
        slots: u32,
    ) -> Result<Arc<dyn Searcher>, String>;
}

/// Runs the searches of one solve, and keeps what they remember (the transposition table).
pub trait Searcher: Send + Sync + 'static {
    /// Searches until the question is answered, the budget is used up or the observer says stop.
    /// The error is one sentence that says why the job cannot be done at all.
    fn search(&self, job: &Job, observer: &mut dyn Observer) -> Result<Findings, String>;

    /// Asks for the positions that are solved with at least so many nodes.
    fn keep_solved_from(&self, _work: u32) {}

    /// Those that were solved since the last call.
    fn take_solved(&self) -> Vec<SolvedPosition> {
        Vec::new()
    }

    /// Takes in what other workers have solved.
    fn learn(&self, _solved: &[SolvedPosition]) {}
}

/// A solve that a worker takes part in.
pub struct Solve {
    /// The coordinator's name for it.
    pub id: String,
    /// Counts the solves that this worker has seen: two may have leases with the same number.
    pub generation: u64,
    /// What runs its searches.
    pub searcher: Arc<dyn Searcher>,
}

/// A lease that waits for a slot.
#[derive(Clone)]
pub struct Task {
    /// The solve.
    pub solve: Arc<Solve>,
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
pub struct Said {
    /// Of which solve of this worker.
    pub generation: u64,
    /// Of which lease.
    pub lease: u64,
    /// What.
    pub what: What,
}

/// What a slot says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The search goes on; this is what it knows.
    Progress(Findings),
    /// The search has ended: what it knows, and the time spent in it.
    Ended(Findings, Duration),
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
    pub fn start(count: u32, said: UnboundedSender<Said>) -> io::Result<Slots> {
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
fn run(tasks: &Mutex<mpsc::Receiver<Task>>, said: &UnboundedSender<Said>) {
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = next else { return };
        let what = work_on(&task, said);
        if said.send(Said { generation: task.solve.generation, lease: task.lease, what }).is_err() {
            return;
        }
    }
}

fn work_on(task: &Task, said: &UnboundedSender<Said>) -> What {
    if task.stop.load(Ordering::Relaxed) {
        return What::Declined("it was called back before its search began".to_owned());
    }
    let begun = Instant::now();
    let mut watch = Watch { task, said, reported: begun };
    let search = AssertUnwindSafe(|| task.solve.searcher.search(&task.job, &mut watch));
    match catch_unwind(search) {
        Ok(Ok(findings)) => What::Ended(findings, begun.elapsed()),
        Ok(Err(reason)) => What::Declined(reason),
        Err(panic) => What::Declined(format!("its search panicked: {}", panic_text(&*panic))),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Stops a search that is called back, and sends its partial findings.
struct Watch<'a> {
    task: &'a Task,
    said: &'a UnboundedSender<Said>,
    reported: Instant,
}

impl Observer for Watch<'_> {
    fn observe(&mut self, _nodes: u64, findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if self.task.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        if self.reported.elapsed() >= self.task.report_interval {
            let said = Said {
                generation: self.task.solve.generation,
                lease: self.task.lease,
                what: What::Progress(findings()),
            };
            if self.said.send(said).is_err() {
                return ControlFlow::Break(());
            }
            self.reported = Instant::now();
        }
        ControlFlow::Continue(())
    }
}
