//! Fault injection: what tests put in to fill or break the disk.

use std::io;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

/// What is about to be done to a file of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStep {
    /// A file is made.
    Create,
    /// So many bytes are written.
    Write(usize),
    /// What was written is brought to the disk.
    Sync,
}

/// Asked before each step; an error is taken as the system's answer to that step.
#[derive(Clone)]
pub struct FaultInjector(Arc<dyn Fn(WriteStep) -> io::Result<()> + Send + Sync>);

impl std::fmt::Debug for FaultInjector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FaultInjector")
    }
}

impl FaultInjector {
    /// Gives the faults that `answer` gives.
    pub fn new(
        answer: impl Fn(WriteStep) -> io::Result<()> + Send + Sync + 'static,
    ) -> FaultInjector {
        FaultInjector(Arc::new(answer))
    }

    /// Gives no fault.
    pub fn none() -> FaultInjector {
        FaultInjector::new(|_| Ok(()))
    }

    pub(super) fn ask(&self, step: WriteStep) -> io::Result<()> {
        (self.0)(step)
    }
}

/// A database's file that is asked for faults, and remembers the first error that it gave: the
/// database itself does not always pass it on.
#[derive(Debug)]
pub(super) struct InjectedFile {
    file: FileBackend,
    faults: FaultInjector,
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

impl InjectedFile {
    pub fn new(file: FileBackend, faults: FaultInjector, trouble: Trouble) -> InjectedFile {
        InjectedFile { file, faults, trouble }
    }

    fn passed<T>(&self, step: WriteStep, then: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.trouble.note(self.faults.ask(step).and_then(|()| then()))
    }
}

impl StorageBackend for InjectedFile {
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
        self.passed(WriteStep::Sync, || self.file.sync_data())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.passed(WriteStep::Write(bytes.len()), || self.file.write(offset, bytes))
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
