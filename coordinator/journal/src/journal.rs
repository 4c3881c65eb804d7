//! The journal while it is written.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::directory::{self, Lock, segment_name, snapshot_name};
use super::error::JournalError;
use super::fault_injection::FaultInjector;
use super::generation::Generation;
use super::repair::Repair;
use super::retention::{KeptSnapshot, superfluous};
use super::segment::Segment;
use super::{Header, Opened, Record, frame, opening, snapshot};

/// Bytes of records after which a new segment begins even without a snapshot: a segment is read
/// into memory when the journal is opened.
const SEGMENT_SIZE: u64 = 128 << 20;

/// A journal on disk, open in this process only.
#[derive(Debug)]
pub struct Journal {
    pub(super) directory: PathBuf,
    /// Held as long as the journal is there.
    pub(super) lock: Lock,
    /// Begun when it was opened.
    pub(super) generation: Generation,
    pub(super) faults: FaultInjector,
    /// The header, for each segment and snapshot.
    pub(super) header: Vec<u8>,
    /// The number of the last durable record; 0 if none.
    pub(super) last: u64,
    pub(super) next_serial: u64,
    /// The segment that is appended to, from the first record after an opening or a settled
    /// snapshot on.
    pub(super) active: Option<Segment>,
    /// The other segments.
    pub(super) closed: Vec<ClosedSegment>,
    pub(super) snapshots: Vec<KeptSnapshot>,
    /// What is left to do before anything is written.
    pub(super) repair: Repair,
}

/// A segment that is not written any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClosedSegment {
    pub serial: u64,
    /// The number of its last record in use; 0 if none.
    pub last: u64,
}

impl Journal {
    /// Opens the journal in a directory, which is made, for its owner only, if it is not there.
    /// What is damaged is repaired and told. A full disk is no error: the repair waits then, and so
    /// does all that is to be written.
    ///
    /// # Errors
    ///
    /// Another process has the journal open; it is about something else, or in another format;
    /// nothing in it is usable; or the system refuses. The journal is as it was then, but for a
    /// repair that was begun and will be done the next time.
    pub fn open(directory: &Path, header: &Header) -> Result<Opened, JournalError> {
        Journal::open_with_faults(FaultInjector::none(), directory, header)
    }

    /// As [`Journal::open`], but also if another process has the journal open: that one, frozen or cut off, finds
    /// that it was taken over before it writes again, and stops.
    ///
    /// # Errors
    ///
    /// As [`Journal::open`].
    pub fn take_over(directory: &Path, header: &Header) -> Result<Opened, JournalError> {
        opening::open(FaultInjector::none(), directory, header, true)
    }

    /// What the journal in a directory is about, by what its first file says.
    ///
    /// # Errors
    ///
    /// There is none, it is damaged or in another format, or the system refuses.
    pub fn header(directory: &Path) -> Result<Header, JournalError> {
        opening::header(directory)
    }

    /// Opens the journal with faults injected before every write to it.
    ///
    /// # Errors
    ///
    /// As [`Journal::open`].
    pub fn open_with_faults(
        faults: FaultInjector,
        directory: &Path,
        header: &Header,
    ) -> Result<Opened, JournalError> {
        opening::open(faults, directory, header, false)
    }

    /// The number of the last durable record; 0 if there is none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Appends records in one commit, which is on disk when this returns.
    ///
    /// # Errors
    ///
    /// The records do not follow the last one, the journal was opened again since, or the system
    /// refuses. None of them counts as appended then; the same records may be appended again, but no others.
    pub fn append(&mut self, records: &[Record]) -> Result<(), JournalError> {
        let Some(newest) = records.last() else { return Ok(()) };
        self.check_generation()?;
        self.repair()?;
        for (number, record) in (self.last + 1..).zip(records) {
            let (found, length) = (record.number, record.bytes.len());
            if found != number {
                return Err(self.out_of_order(format!("record {found} as record {number}")));
            }
            if length > frame::MAX_LENGTH {
                return Err(self.out_of_order(format!("record {found} of {length} bytes")));
            }
        }
        if self.active.as_ref().is_some_and(|active| active.size >= SEGMENT_SIZE) {
            self.close_segment();
        }
        if let Some(active) = &mut self.active {
            active.append(records)?;
        } else {
            let since = self.last + 1;
            let (directory, header, faults) = (&self.directory, &self.header, &self.faults);
            let begin = |serial| Segment::begin(directory, serial, since, header, records, faults);
            let segment = with_free_serial(&mut self.next_serial, &mut self.generation, begin)?;
            self.active = Some(segment);
        }
        // Who has opened the journal in the meantime may not have read them.
        self.check_generation()?;
        self.last = newest.number;
        Ok(())
    }

    /// Writes a snapshot of what the records up to `through` say, which is on disk when this
    /// returns, and deletes what is not needed any more.
    ///
    /// # Errors
    ///
    /// `through` is beyond the last record, or the system refuses to write the snapshot. Nothing
    /// of it stays then.
    pub fn snapshot(
        &mut self,
        through: u64,
        settled: bool,
        bytes: &[u8],
    ) -> Result<(), JournalError> {
        if through > self.last {
            return Err(self.out_of_order(format!("a snapshot through record {through}")));
        }
        self.check_generation()?;
        self.repair()?;
        let (directory, header, faults) = (&self.directory, &self.header, &self.faults);
        let write = |serial| {
            let path = directory.join(snapshot_name(serial));
            snapshot::write(&path, (through, settled), header, bytes, faults).map(|()| serial)
        };
        let serial = with_free_serial(&mut self.next_serial, &mut self.generation, write)?;
        self.snapshots.push(KeptSnapshot { serial, through, settled });
        if settled {
            // So that one day the files before this are superfluous as a whole.
            self.close_segment();
        }
        self.check_generation()?;
        if let Err(error) = self.compact() {
            tracing::warn!("old files of the journal stay until the next snapshot: {error}");
        }
        Ok(())
    }

    /// Marks the snapshot that covers the records up to `through` as settled, if it is still there,
    /// and deletes what is not needed any more.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn settle(&mut self, through: u64) -> Result<(), JournalError> {
        self.check_generation()?;
        self.repair()?;
        let found = self.snapshots.iter_mut().rfind(|kept| kept.through == through);
        let Some(kept) = found.filter(|kept| !kept.settled) else { return Ok(()) };
        snapshot::settle(&self.directory.join(snapshot_name(kept.serial)))?;
        kept.settled = true;
        self.compact()
    }

    /// Whether the journal was not opened again since. Who has taken it over gets its lock when the other one ends.
    pub(super) fn check_generation(&mut self) -> Result<(), JournalError> {
        self.generation.check()?;
        self.lock.acquire();
        Ok(())
    }

    /// Whether no other process has the lock of the journal.
    pub(super) fn is_locked(&self) -> bool {
        self.lock.is_held()
    }

    fn close_segment(&mut self) {
        if let Some(mut active) = self.active.take() {
            active.close();
            self.closed.push(ClosedSegment { serial: active.serial, last: active.last });
        }
    }

    /// Deletes snapshots first and then records, oldest first, so that a crash leaves no snapshot
    /// without its records and no gap in them.
    fn compact(&mut self) -> Result<(), JournalError> {
        let superfluous = superfluous(&self.snapshots);
        for serial in superfluous.snapshots {
            self.delete(&snapshot_name(serial))?;
            self.snapshots.retain(|kept| kept.serial != serial);
        }
        directory::sync_directory(&self.directory)?;
        self.closed.sort_unstable_by_key(|closed| closed.last);
        while let Some(closed) = self.closed.first().copied()
            && closed.last <= superfluous.records_through
        {
            self.delete(&segment_name(closed.serial))?;
            self.closed.remove(0);
        }
        directory::sync_directory(&self.directory)
    }

    fn delete(&self, name: &str) -> Result<(), JournalError> {
        let path = self.directory.join(name);
        match fs::remove_file(&path) {
            // A process that was superseded may have come first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            deleted => deleted.map_err(JournalError::at("delete", &path)),
        }
    }

    fn out_of_order(&self, what: String) -> JournalError {
        JournalError::OutOfOrder { what, last: self.last }
    }
}

/// Makes a file under the next serial number that is free: a process that was superseded may have taken one.
pub(super) fn with_free_serial<T>(
    next_serial: &mut u64,
    generation: &mut Generation,
    make: impl Fn(u64) -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    loop {
        let made = make(*next_serial);
        if made.as_ref().is_err_and(JournalError::is_taken) {
            generation.check()?;
        } else if made.is_err() {
            return made;
        }
        *next_serial += 1;
        if made.is_ok() {
            return made;
        }
    }
}
