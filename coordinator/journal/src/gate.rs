//! What is asked before anything is written: a place for tests to fill the disk.

use std::io;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

/// What is about to be done to a file of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many bytes are written.
    Write(usize),
    /// What was written is brought to the disk.
    Sync,
}

/// Asked before each step; an error is taken as the system's answer to that step.
#[derive(Clone)]
pub struct Gate(Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

impl Gate {
    /// A gate that answers as `answer` does.
    pub fn new(answer: impl Fn(Step) -> io::Result<()> + Send + Sync + 'static) -> Gate {
        Gate(Arc::new(answer))
    }

    /// A gate that lets everything through.
    pub fn open() -> Gate {
        Gate::new(|_| Ok(()))
    }

    pub(super) fn ask(&self, step: Step) -> io::Result<()> {
        (self.0)(step)
    }
}

/// A database's file behind a gate, which remembers the first error that it answered: the database
/// itself does not always pass it on.
#[derive(Debug)]
pub(super) struct Gated {
    file: FileBackend,
    gate: Gate,
    trouble: Trouble,
}

/// The first error of a file since it was opened.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble(Arc<Mutex<Option<io::Error>>>);

impl Trouble {
    /// The first error, if there was one and it was not yet taken.
    pub fn take(&self) -> Option<io::Error> {
        self.lock().take()
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            // An error of the system cannot be cloned, but its number can be told again.
            let again = match error.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            self.lock().get_or_insert(again);
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<io::Error>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Gated {
    pub fn new(file: FileBackend, gate: Gate, trouble: Trouble) -> Gated {
        Gated { file, gate, trouble }
    }

    fn passed<T>(&self, step: Step, then: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.trouble.note(self.gate.ask(step).and_then(|()| then()))
    }
}

impl StorageBackend for Gated {
    fn len(&self) -> io::Result<u64> {
        self.trouble.note(self.file.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.trouble.note(self.file.read(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.trouble.note(self.file.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.passed(Step::Sync, || self.file.sync_data())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.passed(Step::Write(bytes.len()), || self.file.write(offset, bytes))
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }
}
