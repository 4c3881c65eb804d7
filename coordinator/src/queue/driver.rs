//! The task that owns a queue: what is submitted comes in here, solves are opened and end, and each gets its slots of each
//! worker. Every open solve has a driver of its own, which knows nothing of the others.
//!
//! - `handle`: what others may send to the task.
//! - `inquiries`: what clients ask of the queue.
//! - `journal`: what is written, and what of it is durable.
//! - `solves`, `places`: the solves, from their opening to their end, and the driver that each has.
//! - `connections`, `workers`: workers that come and go, and those that are there.

mod connections;
mod handle;
mod inquiries;
mod journal;
mod place;
mod places;
mod solves;
mod workers;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use handle::QueueHandle;
pub(super) use handle::{Follower, NewStream, QueueCommand, QueueGone, Submitted};
use jlpns_games::spec::Games;
use jlpns_journal::{Header, JournalError, Writer, WriterEvent};
use jlpns_queue::shares::{Shares, TERM};
use jlpns_queue::{Queue, QueueAction, QueueSettings};
use jlpns_solve::Tidings;
use journal::{Unwritten, encode, read};
use places::Places;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tracing::{info, warn};
use workers::Workers;

use super::followers::Followers;
use super::opening::Opening;
use super::words::entry_to_wire;
use super::written;
use crate::driver::heartbeat_of;

/// After so many records a snapshot takes their place.
const RECORDS_OF_A_SNAPSHOT: u64 = 50_000;
/// How long the solves may take to write what they have when the coordinator is stopped.
const LAST_RECORDS: Duration = Duration::from_secs(20);
/// The folder of the queue's own journal.
const JOURNAL: &str = "queue";

/// Why a queue cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The journal cannot be opened or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal cannot be written any more, for this reason.
    #[error("{0}; what clients were told is in the journal: start again to go on from there")]
    Broken(String),
    /// A record of the journal cannot be read, though it is whole.
    #[error("record {number} of the queue's journal is none of this release: {reason}")]
    Record {
        /// Its number.
        number: u64,
        /// What is wrong with it.
        reason: written::ReadError,
    },
    /// No snapshot can be read, though they are whole, and the records do not begin at the beginning.
    #[error(
        "no snapshot of the queue can be read, and the records before them are gone; the newest, after record {number}: \
         {reason}; is it another program's, with games of its own?"
    )]
    Snapshot {
        /// After which record the newest was made.
        number: u64,
        /// What is wrong with it.
        reason: written::ReadError,
    },
    /// The system failed.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

/// A queue, its solves and its workers: see the module's page.
pub struct QueueDriver {
    queue: Queue,
    opening: Arc<Opening>,
    heartbeat: Duration,
    writer: Writer<Unwritten>,
    written: mpsc::UnboundedReceiver<WriterEvent>,
    /// Why nothing can be written at present.
    halted: Option<String>,
    /// How often the certificates of entries could not be made.
    uncertified: BTreeMap<u64, u32>,
    commands: mpsc::UnboundedReceiver<QueueCommand>,
    handle: QueueHandle,
    places: Places,
    workers: Workers,
    shares: Shares,
    /// When slots were last given out.
    divided: Instant,
    followers: Followers,
    /// Answers that wait until a record is durable.
    answers: BTreeMap<u64, Vec<Submitted>>,
    /// The record of the last snapshot.
    snapshot: u64,
    began: Instant,
    is_stopping: Arc<AtomicBool>,
}

/// What a queue is like when it begins.
pub struct QueueConfig {
    /// How solves are opened.
    pub opening: Opening,
    /// How the queue goes about its entries.
    pub settings: QueueSettings,
    /// The games that entries may be of.
    pub games: Games,
}

impl QueueDriver {
    /// The queue that is kept in the directory, or a new one.
    pub fn open(config: QueueConfig) -> Result<QueueDriver, QueueError> {
        let QueueConfig { mut opening, settings, games } = config;
        let mut facts = vec![("keeps".to_owned(), "a queue".to_owned())];
        facts.extend(opening.template.facts.iter().cloned());
        let header = Header { solve_id: opening.queue_id.clone(), facts };
        let directory = opening.directory.join(JOURNAL);
        let opened = opening.other.open(&directory, &header)?;
        opened.repairs.iter().for_each(|repair| warn!("{repair}"));
        opening.queue_id = opened.header.solve_id;
        let (records, through, snapshot) = read(&games, opened.snapshots, opened.records)?;
        let queue = Queue::resume(settings, through, records);
        if opened.resumed {
            let counts: Vec<String> =
                queue.counts().map(|(state, count)| format!("{count} {}", state.name())).collect();
            info!(
                "going on with the queue in {}: {}",
                opening.directory.display(),
                counts.join(", ")
            );
        }
        let (events, written) = mpsc::unbounded_channel();
        let writer = Writer::start_with(opened.journal, encode, move |event| {
            // A driver that is gone needs no events.
            let _ = events.send(event);
        })?;
        let (handle, commands) = QueueHandle::new(games);
        let heartbeat = heartbeat_of(opening.template.lease_length);
        let (now, is_stopping) = (Instant::now(), opening.is_stopping.clone());
        Ok(QueueDriver {
            queue,
            opening: Arc::new(opening),
            heartbeat,
            writer,
            written,
            halted: None,
            uncertified: BTreeMap::new(),
            commands,
            handle,
            places: Places::default(),
            workers: Workers::default(),
            shares: Shares::default(),
            divided: now,
            followers: Followers::default(),
            answers: BTreeMap::new(),
            snapshot,
            began: now,
            is_stopping,
        })
    }

    /// A way to this queue.
    pub fn handle(&self) -> QueueHandle {
        self.handle.clone()
    }

    /// Runs until `shutdown` is there; then all solves write what they have.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> Result<(), QueueError> {
        tokio::pin!(shutdown);
        let mut terms = interval(TERM);
        terms.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.act();
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => return self.stop().await,
                Some(event) = self.written.recv() => self.hear(event)?,
                _ = terms.tick() => self.begin_a_term(),
                Some(command) = self.commands.recv() => self.obey(command).await,
            }
            self.act();
        }
    }

    /// Does what the queue wants done.
    fn act(&mut self) {
        let mut has_woken = false;
        for action in self.queue.take_actions() {
            match action {
                QueueAction::Record { number, record } => {
                    self.writer.request(Unwritten::Record(number, record));
                }
                QueueAction::Ask { sweep, positions } => {
                    let of = positions.first().and_then(|p| self.queue.entry(p.number));
                    let Some(of) = of.map(|entry| entry.asked.clone()) else { continue };
                    has_woken |= self.places.ask(&self.opening, &self.handle, sweep, of, positions);
                }
                QueueAction::Drop { sweep, numbers } => self.places.drop_asked(&sweep, &numbers),
                QueueAction::EndSweep(sweep) => self.places.note_idle(&sweep),
                QueueAction::Open(number) => {
                    let Some(entry) = self.queue.entry(number) else { continue };
                    let asked = entry.asked.clone();
                    self.places.open(&self.opening, &self.handle, number, asked);
                }
                QueueAction::Close(number) => self.places.stop_solve(number),
                QueueAction::Ended(number) => {
                    if self.followers.wait_for(number)
                        && let Some(entry) = self.queue.entry(number)
                    {
                        let told = entry_to_wire(number, entry, 0);
                        self.followers.tell(number, &told);
                    }
                }
            }
        }
        if has_woken {
            self.divide();
        }
        if self.queue.written() - self.snapshot >= RECORDS_OF_A_SNAPSHOT {
            self.write_snapshot();
        }
    }

    async fn obey(&mut self, command: QueueCommand) {
        match command {
            QueueCommand::Submit { submission, asked, reply } => {
                if let Some(reason) = &self.halted {
                    // The client may have gone.
                    let _ = reply.send(Err(reason.clone()));
                    return;
                }
                let (numbers, record) = self.queue.submit(submission, asked, now_ms());
                self.answer(record, Submitted::Numbers(numbers, reply));
            }
            QueueCommand::Cancel { numbers, reply } => {
                match self.queue.cancel(&numbers, now_ms()) {
                    Ok((cancelled, record)) => {
                        self.answer(record, Submitted::Cancelled(cancelled, reply));
                    }
                    Err(missing) => {
                        // The client may have gone.
                        let _ = reply.send(Err(missing));
                    }
                }
            }
            QueueCommand::List { numbers, states, reply } => {
                let _ = reply.send(self.list(&numbers, &states));
            }
            QueueCommand::Follow { numbers, told } => self.follow(&numbers, told),
            QueueCommand::Status { reply } => {
                let _ = reply.send(self.status());
            }
            QueueCommand::Join { newcomer, stream } => self.join(*newcomer, stream),
            QueueCommand::Leave { worker } => self.leave(worker, "its stream has ended"),
            QueueCommand::Dismissed { worker, is_refused } => {
                if is_refused && let Some(worker) = self.workers.get(worker) {
                    let (identity, name) = (worker.info.identity.clone(), worker.info.name.clone());
                    warn!("the machine of worker '{name}' was put out by one of the solves");
                    self.places.judge(&identity, true);
                    self.queue.put_out(identity, name);
                }
                self.leave(worker, "it was let go");
            }
            QueueCommand::Readiness { worker, readiness } => {
                self.workers.note_readiness(worker, readiness.clone());
                self.places.tell_readiness(worker, &readiness);
                self.divide();
            }
            QueueCommand::Order { name, order, reply } => {
                let _ = reply.send(self.order(&name, order));
            }
            QueueCommand::Opened { number, driver } => {
                self.opened(number, *driver);
            }
            QueueCommand::SolveStatus { number, status } => {
                self.note_status(number, status.map(|status| *status));
            }
            QueueCommand::Again { number, sweep } => self.open_again(number, sweep),
            QueueCommand::Tidings { news } => {
                if let Tidings::FoundOut { identity, .. } = &news {
                    self.places.judge(identity, true);
                }
                self.queue.hear(news, now_ms());
            }
            QueueCommand::Ended { number, end } => {
                self.ended(number, *end);
            }
        }
    }

    /// Gives slots out anew.
    fn begin_a_term(&mut self) {
        self.places.ask_statuses(&self.handle);
        self.places.close_idle();
        self.workers.note_time(!self.queue.is_done());
        self.divide();
    }

    fn divide(&mut self) {
        let takers = self.places.takers(&self.queue, self.workers.slots());
        let givers = self.workers.givers();
        let elapsed = self.divided.elapsed();
        self.divided = Instant::now();
        let allotment = self.shares.divide(&takers, &givers, elapsed).clone();
        self.places.allot(&allotment);
    }

    /// All solves write what they have, and the workers are told to wait.
    async fn stop(mut self) -> Result<(), QueueError> {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.places.stop_all();
        let end = async {
            while self.places.are_running() {
                match self.commands.recv().await {
                    // What it has found is in its own journal.
                    Some(QueueCommand::Ended { number, .. }) => {
                        self.places.remove(number);
                    }
                    Some(QueueCommand::Tidings { news }) => self.queue.hear(news, now_ms()),
                    Some(_) => {}
                    None => return,
                }
            }
        };
        if timeout(LAST_RECORDS, end).await.is_err() {
            warn!(
                "some solves have not written all they had; what they told their workers is kept"
            );
        }
        self.workers.say_stopped();
        for action in self.queue.take_actions() {
            if let QueueAction::Record { number, record } = action {
                self.writer.request(Unwritten::Record(number, record));
            }
        }
        self.write_snapshot();
        let writer = self.writer;
        tokio::task::spawn_blocking(move || writer.finish())
            .await
            .map_err(|error| QueueError::Broken(error.to_string()))??;
        Ok(())
    }
}

/// The time by the clock of this machine, in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
