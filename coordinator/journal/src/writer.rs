//! The thread that owns a journal: it commits in groups, and waits for room when the disk is full.

use std::collections::VecDeque;
use std::convert::identity;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::error::JournalError;
use super::{Journal, Record};

/// How long to wait before something that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long to wait before a snapshot that did not fit is tried again.
const SNAPSHOT_PAUSE: Duration = Duration::from_secs(10);
/// How often a writer that has nothing to do looks whether the journal is still its own.
const LOOK: Duration = Duration::from_secs(1);
/// The same as long as another process has the lock, which is to be this one's as soon as that one ends.
const LOOK_FOR_LOCK: Duration = Duration::from_millis(50);
/// How often something is tried that fails for another reason than a full disk.
const TRIES: u32 = 3;
/// Bytes of records after which a commit takes no more of them.
const COMMIT_SIZE: usize = 4 << 20;

/// What is requested of a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteRequest {
    /// Append these records.
    Append(Vec<Record>),
    /// From now on, let so much time pass between the beginnings of two commits of records, so that
    /// more of them share one; no time until this is requested.
    Pace(Duration),
    /// Write a snapshot, and compact; as [`Journal::snapshot`].
    Snapshot {
        /// The number of the last record it covers.
        through: u64,
        /// Whether it is settled.
        settled: bool,
        /// What it says.
        bytes: Vec<u8>,
    },
    /// Mark a snapshot as settled, and compact; as [`Journal::settle`].
    Settle {
        /// The number of the last record it covers.
        through: u64,
    },
}

/// What a writer tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriterEvent {
    /// All records up to this number are on disk.
    Durable {
        /// The number of the last of them.
        through: u64,
    },
    /// A snapshot is on disk. One that did not fit is tried again, until a newer one is requested.
    Snapshotted {
        /// The number of the last record it covers.
        through: u64,
    },
    /// There is no room for records; they are kept in memory and tried again. Said once until
    /// there is room.
    Full {
        /// A sentence with the file that did not fit.
        reason: String,
    },
    /// There is room again.
    Room,
    /// The journal cannot be written, for this reason. No request is carried out any more.
    Failed(String),
}

/// A thread that owns a journal. If this is dropped, the thread ends after all that was requested, at
/// the pace that was requested. Requests may be of another type `R`, which the thread makes
/// [`WriteRequest`]s of: the task that requests something need not spend the time to encode it.
#[derive(Debug)]
pub struct Writer<R = WriteRequest> {
    requests: Sender<R>,
    /// Whether the end is being waited for.
    hurry: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), JournalError>>,
}

impl Writer {
    /// Starts the thread. It calls `notify`, which should return soon, as others wait for it.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn start(
        journal: Journal,
        notify: impl FnMut(WriterEvent) + Send + 'static,
    ) -> io::Result<Writer> {
        Writer::start_with(journal, identity, notify)
    }
}

impl<R: Send + 'static> Writer<R> {
    /// Starts the thread, which has each request encoded by `encode`; as [`Writer::start`].
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn start_with(
        journal: Journal,
        encode: impl Fn(R) -> WriteRequest + Send + 'static,
        notify: impl FnMut(WriterEvent) + Send + 'static,
    ) -> io::Result<Writer<R>> {
        let (requests, inbox) = mpsc::channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let writing = WriterThread {
            journal,
            encode,
            notify,
            inbox,
            hurry: hurry.clone(),
            waiting: VecDeque::new(),
            finishing: false,
            full: false,
            postponed: None,
            pace: Duration::ZERO,
            last_commit: None,
        };
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(|| writing.work())?;
        Ok(Writer { requests, hurry, thread })
    }

    /// Requests something; requests are carried out one after the other. Returns at once.
    pub fn request(&self, request: R) {
        // A thread that is gone has said so, or says so when it is asked to finish.
        let _ = self.requests.send(request);
    }

    /// Waits until all that was requested is on disk. A full disk is not waited for: what does not
    /// fit is tried once more and then given up.
    ///
    /// # Errors
    ///
    /// What kept the last records from the disk.
    pub fn finish(self) -> Result<(), JournalError> {
        let Writer { requests, hurry, thread } = self;
        drop(requests);
        hurry.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        thread.join().unwrap_or(Err(JournalError::WriterDied))
    }
}

/// A snapshot that did not fit.
struct Postponed {
    snapshot: (u64, bool, Vec<u8>),
    since: Instant,
}

/// The thread's side.
struct WriterThread<R, E, N> {
    journal: Journal,
    encode: E,
    notify: N,
    inbox: Receiver<R>,
    hurry: Arc<AtomicBool>,
    /// Requests that came in, oldest first.
    waiting: VecDeque<WriteRequest>,
    /// Whether no more requests can come.
    finishing: bool,
    /// Whether the last commit, or the repair before all, did not fit.
    full: bool,
    postponed: Option<Postponed>,
    /// The time between the beginnings of two commits of records.
    pace: Duration,
    /// When the last one began.
    last_commit: Option<Instant>,
}

impl<R, E: Fn(R) -> WriteRequest, N: FnMut(WriterEvent)> WriterThread<R, E, N> {
    fn work(mut self) -> Result<(), JournalError> {
        let worked = self.carry_out_all();
        if let Err(error) = &worked {
            (self.notify)(WriterEvent::Failed(error.to_string()));
        }
        worked
    }

    fn carry_out_all(&mut self) -> Result<(), JournalError> {
        // The solve must learn at once that no report could be recorded, before it grants leases.
        self.insist(Journal::repair)?;
        while self.receive()? {
            while let Some(request) = self.waiting.pop_front() {
                match request {
                    WriteRequest::Append(records) => {
                        self.keep_pace();
                        self.last_commit = Some(Instant::now());
                        let records = self.gather(records);
                        self.append(&records)?;
                    }
                    WriteRequest::Pace(pace) => self.pace = pace,
                    WriteRequest::Settle { through } => self.settle(through),
                    WriteRequest::Snapshot { through, settled, bytes } => {
                        self.postponed = None;
                        self.snapshot((through, settled, bytes))?;
                    }
                }
            }
            if let Some(postponed) =
                self.postponed.take_if(|it| it.since.elapsed() >= SNAPSHOT_PAUSE)
            {
                self.snapshot(postponed.snapshot)?;
            }
        }
        match self.postponed.take() {
            Some(postponed) => self.snapshot(postponed.snapshot),
            None => Ok(()),
        }
    }

    /// Waits for a request and takes all that are there. False if none can come any more. A solve that has
    /// nothing to write must learn as well that another goes on with it.
    fn receive(&mut self) -> Result<bool, JournalError> {
        loop {
            let look = if self.journal.is_locked() { LOOK } else { LOOK_FOR_LOCK };
            match self.inbox.recv_timeout(look) {
                Ok(request) => {
                    self.waiting.push_back((self.encode)(request));
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.finishing = true;
                    break;
                }
                Err(RecvTimeoutError::Timeout) => match self.journal.check_generation() {
                    Err(error) if error.is_final() => return Err(error),
                    // What else is wrong with the disk shows when there is something to write.
                    _ => {}
                },
            }
        }
        self.waiting.extend(self.inbox.try_iter().map(&self.encode));
        Ok(!self.waiting.is_empty())
    }

    /// Takes records of the requests that wait behind these into the same commit.
    fn gather(&mut self, mut records: Vec<Record>) -> Vec<Record> {
        let size = |records: &[Record]| records.iter().map(|it| it.bytes.len()).sum::<usize>();
        let mut gathered = size(&records);
        self.waiting.extend(self.inbox.try_iter().map(&self.encode));
        while gathered < COMMIT_SIZE {
            match self.waiting.front_mut() {
                Some(WriteRequest::Append(more)) => {
                    gathered += size(more);
                    records.append(more);
                }
                Some(WriteRequest::Pace(pace)) => self.pace = *pace,
                _ => break,
            }
            self.waiting.pop_front();
        }
        records
    }

    fn append(&mut self, records: &[Record]) -> Result<(), JournalError> {
        let Some(newest) = records.last() else { return Ok(()) };
        self.insist(|journal| journal.append(records))?;
        (self.notify)(WriterEvent::Durable { through: newest.number });
        Ok(())
    }

    /// Does what records cannot do without, until there is room for it.
    fn insist(
        &mut self,
        work: impl Fn(&mut Journal) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let mut failed = 0;
        while let Err(error) = work(&mut self.journal) {
            if error.is_full() {
                if self.full && self.finishing {
                    return Err(error);
                }
                if !std::mem::replace(&mut self.full, true) {
                    (self.notify)(WriterEvent::Full { reason: error.to_string() });
                }
            } else {
                failed += 1;
                if failed >= TRIES || error.is_final() {
                    return Err(error);
                }
                tracing::warn!("the journal is tried again: {error}");
            }
            self.pause();
        }
        if std::mem::take(&mut self.full) {
            (self.notify)(WriterEvent::Room);
        }
        Ok(())
    }

    fn settle(&mut self, through: u64) {
        if let Err(error) = self.journal.settle(through) {
            tracing::warn!("a snapshot is not settled, and the records before it stay: {error}");
        }
    }

    fn snapshot(&mut self, snapshot: (u64, bool, Vec<u8>)) -> Result<(), JournalError> {
        let (through, settled, bytes) = &snapshot;
        let mut failed = 0;
        loop {
            match self.journal.snapshot(*through, *settled, bytes) {
                Ok(()) => {
                    (self.notify)(WriterEvent::Snapshotted { through: *through });
                    return Ok(());
                }
                Err(error) if error.is_full() => {
                    // The records are on disk without it.
                    tracing::warn!("a snapshot does not fit and is tried again later: {error}");
                    if !self.finishing {
                        self.postponed = Some(Postponed { snapshot, since: Instant::now() });
                    }
                    return Ok(());
                }
                Err(error) => {
                    failed += 1;
                    if failed >= TRIES || error.is_final() {
                        return Err(error);
                    }
                    tracing::warn!("a snapshot is tried again: {error}");
                    self.pause();
                }
            }
        }
    }

    /// Waits until the next commit may begin, or the end is waited for. Requests that come
    /// meanwhile do not wake this thread.
    fn keep_pace(&self) {
        let Some(last) = self.last_commit else { return };
        while let left = self.pace.saturating_sub(last.elapsed())
            && !left.is_zero()
            && !self.hurry.load(Ordering::Relaxed)
        {
            thread::park_timeout(left);
        }
    }

    /// Waits a while and takes the requests that come meanwhile.
    fn pause(&mut self) {
        let end = Instant::now() + PAUSE;
        loop {
            match self.inbox.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(request) => self.waiting.push_back((self.encode)(request)),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => {
                    // The end should not be waited for longer than one more try takes.
                    self.finishing = true;
                    return;
                }
            }
        }
    }
}
