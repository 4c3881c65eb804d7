//! The task that owns a queue: what is submitted comes in here, solves are opened and end, and each gets its slots of each
//! worker. Every open solve has a driver of its own, which knows nothing of the others.

mod handle;
mod places;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use handle::QueueHandle;
pub(super) use handle::{Follower, NewStream, QueueCommand, QueueGone, Submitted};
use jlpns_games::spec::Games;
use jlpns_journal::{Header, JournalError, WriteRequest, Writer, WriterEvent};
use jlpns_proto::v1::coordinator_message::Kind;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use jlpns_queue::entry::Entry;
use jlpns_queue::record::QueueRecord;
use jlpns_queue::shares::{Shares, TERM};
use jlpns_queue::{Queue, QueueAction, QueueSettings, Sweep};
use jlpns_solve::{Order, Refusal, SolveStatus, Tidings, WorkerId};
use places::Places;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tracing::{info, warn};
use workers::Workers;

use super::followers::Followers;
use super::opening::Opening;
use super::words::{EntryReader, entry_to_wire, state_to_wire};
use super::written;
use crate::driver::{denied, heartbeat_of};
use crate::service::Newcomer;

/// After so many records a snapshot takes their place.
const RECORDS_OF_A_SNAPSHOT: u64 = 50_000;
/// How long the solves may take to write what they have when the coordinator is stopped.
const LAST_RECORDS: Duration = Duration::from_secs(20);
/// After how long a solve is opened again that could not be, or broke down.
const TRY_AGAIN: Duration = Duration::from_secs(10);
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
        let now = Instant::now();
        Ok(QueueDriver {
            queue,
            opening: Arc::new(opening),
            heartbeat,
            writer,
            written,
            halted: None,
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
            is_stopping: Arc::default(),
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

    /// What the journal's writer says.
    fn hear(&mut self, event: WriterEvent) -> Result<(), QueueError> {
        match event {
            WriterEvent::Durable { through } => {
                self.queue.note_durable(through);
                let later = self.answers.split_off(&(through + 1));
                let due = std::mem::replace(&mut self.answers, later);
                due.into_values().flatten().for_each(Submitted::tell);
            }
            WriterEvent::Snapshotted { .. } => {}
            WriterEvent::Full { reason } => {
                warn!("{reason}; nothing is taken into the queue until there is room");
                self.halted = Some(reason);
            }
            WriterEvent::Room => {
                info!("there is room for the queue's journal again");
                self.halted = None;
            }
            WriterEvent::Failed(reason) => return Err(QueueError::Broken(reason)),
        }
        Ok(())
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

    fn write_snapshot(&mut self) {
        let through = self.queue.written();
        self.snapshot = through;
        self.writer.request(Unwritten::Snapshot(through, self.queue.records().collect()));
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

    /// Answers a client when a record is durable.
    fn answer(&mut self, record: u64, answer: Submitted) {
        if self.queue.durable() >= record {
            answer.tell();
        } else {
            self.answers.entry(record).or_default().push(answer);
        }
    }

    fn list(&self, numbers: &[u64], states: &[v1::EntryState]) -> Result<Vec<v1::QueueEntry>, u64> {
        let told = |(number, entry): (u64, &Entry)| {
            let slots = self.shares.slots_of(number);
            // Nobody hears of an end that is not durable.
            let unended;
            let entry = if entry.has_ended() && !self.queue.has_ended_for_good(number) {
                unended = entry.before_its_end();
                &unended
            } else {
                entry
            };
            let is_asked = states.is_empty() || states.contains(&state_to_wire(entry.state));
            is_asked.then(|| entry_to_wire(number, entry, slots))
        };
        if numbers.is_empty() {
            return Ok(self.queue.entries().filter_map(told).collect());
        }
        let numbers: BTreeSet<u64> = numbers.iter().copied().collect();
        let mut entries = Vec::with_capacity(numbers.len());
        for number in numbers {
            let entry = self.queue.entry(number).ok_or(number)?;
            entries.extend(told((number, entry)));
        }
        Ok(entries)
    }

    fn follow(&mut self, numbers: &[u64], follower: Follower) {
        let Follower { told, missing } = follower;
        let all: BTreeSet<u64> = if numbers.is_empty() {
            self.queue.entries().map(|(number, _)| number).collect()
        } else {
            numbers.iter().copied().collect()
        };
        let unknown = all.iter().find(|&&number| self.queue.entry(number).is_none());
        // The client may have gone.
        let _ = missing.send(unknown.copied());
        if unknown.is_some() {
            return;
        }
        let mut waited_for = BTreeSet::new();
        for number in all {
            match self.queue.entry(number).filter(|_| self.queue.has_ended_for_good(number)) {
                Some(entry) => drop(told.send(entry_to_wire(number, entry, 0))),
                None => drop(waited_for.insert(number)),
            }
        }
        self.followers.add(waited_for, told);
    }

    fn status(&self) -> v1::QueueStatus {
        let counts = self
            .queue
            .counts()
            .map(|(state, entries)| v1::EntryCount { state: state_to_wire(state).into(), entries });
        v1::QueueStatus {
            counts: counts.collect(),
            workers: self.workers.status(&self.places),
            seconds: self.began.elapsed().as_secs_f64(),
            search_seconds: self.places.search_seconds(),
            slot_seconds: self.workers.slot_seconds(),
            halted: self.halted.clone(),
            quarantined: self.queue.names_put_out().map(str::to_owned).collect(),
        }
    }

    /// How far a solve is. That of an entry's own is stopped at its limit.
    fn note_status(&mut self, number: u64, status: Option<SolveStatus>) {
        let told = status.clone();
        let is_own = self.places.note_status(number, status, &self.shares, self.workers.slots());
        let Some((status, entry)) = told.filter(|_| is_own).zip(self.queue.entry(number)) else {
            return;
        };
        let seconds = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let (nodes, jobs) = (status.nodes, status.jobs);
        let found = entry.with_work(nodes, jobs, seconds(status.search_seconds));
        let (nodes, worked) = (found.nodes, seconds(status.seconds) + entry.swept.1);
        self.queue.note_found(number, found);
        if let Some(reason) = self.queue.note_progress(number, nodes, worked, now_ms()) {
            self.places.stop_at_limit(number, reason);
        }
    }

    /// Gives slots out anew.
    fn begin_a_term(&mut self) {
        self.places.ask_statuses(&self.handle);
        self.places.close_idle();
        self.workers.note_time(!self.queue.is_done());
        self.divide();
    }

    /// A worker has come; the same process has only lost touch, and its former connection is ended.
    fn join(&mut self, newcomer: Newcomer, stream: NewStream) {
        let info = newcomer.info.clone();
        if self.queue.is_put_out(&info.identity) {
            let (worker, identity) = (info.name, info.identity);
            let refusal = Refusal::Quarantined { worker, identity };
            warn!("{refusal}");
            // A worker that does not read it has gone already.
            let _ = stream.outbound.try_send(Err(denied(&refusal)));
            return;
        }
        if let Some(former) = self.workers.connection_of(&info) {
            self.leave(former, "it has connected anew");
        }
        let heartbeat = self.heartbeat.as_millis();
        let sweeps = self.queue.sweeps().map(|(sweep, ..)| self.opening.id_of_sweep(sweep));
        let solves = self.queue.of_their_own().map(|number| self.opening.id_of_solve(number));
        let welcome = v1::Welcome {
            protocol_version: PROTOCOL_VERSION,
            heartbeat_interval_ms: u32::try_from(heartbeat).unwrap_or(u32::MAX),
            build: jlpns_proto::BUILD.to_owned(),
            kept: true,
            queue: true,
            open_solves: sweeps.chain(solves).collect(),
            ..v1::Welcome::default()
        };
        if stream.outbound.try_send(Ok(Kind::Welcome(welcome).into())).is_err() {
            return;
        }
        let id = self.workers.add(newcomer, stream);
        info!(
            "{id} ({}) joined with {} slots; now {} workers with {} slots",
            info.name,
            info.slots,
            self.workers.len(),
            self.workers.slots()
        );
        if let Some(worker) = self.workers.get(id) {
            for number in self.places.numbers() {
                let stopping = self.is_stopping.clone();
                self.places.attach(number, id, worker, &self.handle, stopping);
            }
        }
        self.divide();
    }

    fn leave(&mut self, id: WorkerId, why: &str) {
        let Some(worker) = self.workers.remove(id) else { return };
        self.places.detach(id);
        info!("{id} ({}) left: {why}; {} workers stay", worker.info.name, self.workers.len());
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

    /// A solve has been opened: all workers are told of it.
    fn opened(&mut self, number: u64, opened: anyhow::Result<places::OpenedDriver>) {
        match opened {
            Ok(driver) => {
                let begun =
                    self.places.begin(number, driver, &self.opening, &self.handle, &self.queue);
                if begun {
                    for (id, worker) in self.workers.all() {
                        let stopping = self.is_stopping.clone();
                        self.places.attach(number, id, worker, &self.handle, stopping);
                    }
                    self.divide();
                }
            }
            Err(error) => {
                warn!("a solve of the queue cannot be opened, and is tried again: {error:#}");
                let sweep = self.places.forget(number);
                self.try_again(number, sweep);
            }
        }
    }

    /// Opens a solve again after a while: what is wrong with the machine says nothing of an entry.
    fn try_again(&self, number: u64, sweep: Option<Arc<Sweep>>) {
        let queue = self.handle.clone();
        tokio::spawn(async move {
            tokio::time::sleep(TRY_AGAIN).await;
            queue.send(QueueCommand::Again { number, sweep });
        });
    }

    fn open_again(&mut self, number: u64, sweep: Option<Arc<Sweep>>) {
        match sweep {
            Some(sweep) => self.queue.ask_again(&sweep),
            None => match self.queue.entry(number).filter(|entry| !entry.has_ended()) {
                Some(entry) => {
                    let asked = entry.asked.clone();
                    self.places.open(&self.opening, &self.handle, number, asked);
                }
                // It was cancelled meanwhile.
                None => self.queue.forget_open(number),
            },
        }
    }

    /// The driver of a solve has ended.
    fn ended(&mut self, number: u64, end: places::PlaceEnd) {
        let Some(place) = self.places.remove(number) else { return };
        self.workers.forget_route(number);
        match end {
            places::PlaceEnd::Solve { kind, reason, found } => {
                self.queue.solve_ended(number, kind, reason, found, now_ms());
            }
            places::PlaceEnd::Sweep => {}
            places::PlaceEnd::Failed(reason) => {
                warn!("a solve of the queue has broken down, and is opened again: {reason}");
                self.try_again(number, place.sweep().cloned());
            }
        }
        if let Some((sweep, of, positions)) = self.places.take_again(&place) {
            self.places.ask(&self.opening, &self.handle, sweep, of, positions);
        }
        self.divide();
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

    fn order(&mut self, name: &str, order: Order) -> usize {
        match order {
            Order::Reinstate => {
                let machines = self.queue.reinstate(name);
                for (identity, _) in self.queue.judged().filter(|(_, is_out)| !is_out) {
                    self.places.judge(identity, false);
                }
                machines
            }
            Order::Drain => {
                let workers = self.workers.of_name(name);
                for &worker in &workers {
                    let readiness = jlpns_solve::Readiness::Draining("ordered".to_owned());
                    self.workers.note_readiness(worker, readiness.clone());
                    self.places.tell_readiness(worker, &readiness);
                }
                self.divide();
                workers.len()
            }
            Order::Kick => {
                let workers = self.workers.of_name(name);
                for &worker in &workers {
                    if let Some(worker) = self.workers.get(worker) {
                        let identity = worker.info.identity.clone();
                        // Each solve withdraws what only that machine has claimed of it.
                        self.places.judge(&identity, true);
                        self.queue.put_out(identity, name.to_owned());
                    }
                    self.leave(worker, "it was put out by hand");
                }
                workers.len()
            }
        }
    }
}

/// What the thread of the writer is to encode and write: neither is done on the queue's task, which everybody waits for.
enum Unwritten {
    Record(u64, Arc<QueueRecord>),
    Snapshot(u64, Vec<QueueRecord>),
}

fn encode(unwritten: Unwritten) -> WriteRequest {
    match unwritten {
        Unwritten::Record(number, record) => {
            let bytes = written::record_to_bytes(&record);
            WriteRequest::Append(vec![jlpns_journal::Record { number, bytes }])
        }
        Unwritten::Snapshot(through, records) => {
            let bytes = written::snapshot_to_bytes(records.iter());
            WriteRequest::Snapshot { through, settled: true, bytes }
        }
    }
}

/// The records that make the queue, the number of the last one, and that of the snapshot among them.
fn read(
    games: &Games,
    snapshots: Vec<jlpns_journal::Snapshot>,
    records: Vec<jlpns_journal::Record>,
) -> Result<(Vec<QueueRecord>, u64, u64), QueueError> {
    let mut reader = EntryReader::new(games);
    let mut through = 0;
    let mut read = Vec::new();
    for snapshot in snapshots {
        match written::snapshot_from_bytes(&snapshot.bytes, &mut reader) {
            Ok(records) => {
                (read, through) = (records, snapshot.through);
                break;
            }
            Err(error) => {
                let number = snapshot.through;
                warn!("the snapshot after record {number} of the queue is not used: {error}");
            }
        }
    }
    let snapshot = through;
    for jlpns_journal::Record { number, bytes } in records {
        if number > through {
            let record = written::record_from_bytes(&bytes, &mut reader);
            read.push(record.map_err(|reason| QueueError::Record { number, reason })?);
            through = number;
        }
    }
    Ok((read, through, snapshot))
}

/// The time by the clock of this machine, in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
