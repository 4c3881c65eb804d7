//! One segment: a redb database of framed records, written by one opening of the journal only.
//!
//! Once it is closed a segment is never written again. Reading works on a copy in memory, so that
//! neither the database's own repair nor its panics can touch what is on disk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use redb::backends::FileBackend;
use redb::{
    Builder, Database, ReadableDatabase, ReadableTable, StorageBackend, StorageError,
    TableDefinition,
};

use super::error::JournalError;
use super::fault_injection::{FaultInjector, InjectedFile, Trouble, WriteStep};
use super::frame::{self, HEADER};
use super::{Record, directory};

const FRAMES: TableDefinition<u64, &[u8]> = TableDefinition::new("frames");
/// Bytes that the database may hold in memory; a commit reads and writes only its newest pages.
const CACHE: usize = 32 << 20;

/// What was found in the file of a segment.
#[derive(Debug, Default)]
pub(super) struct SegmentContents {
    /// The first number that was free when the segment was begun, if any frame is left to say so.
    pub since: Option<u64>,
    /// The bytes of the journal's header.
    pub header: Option<Vec<u8>>,
    /// The records, by number.
    pub records: BTreeMap<u64, Vec<u8>>,
    /// Whether the database could not be read, so that these are the frames found in the raw file.
    pub damaged: bool,
    /// The first and last of the records that follow those of the last commit.
    pub uncommitted: Option<(u64, u64)>,
}

impl SegmentContents {
    fn add(&mut self, since: u64, number: u64, bytes: Vec<u8>) {
        self.since.get_or_insert(since);
        if number == HEADER {
            self.header.get_or_insert(bytes);
        } else {
            self.records.entry(number).or_insert(bytes);
        }
    }
}

/// Reads what is in a segment, and first brings it to the disk: a process that was killed may have
/// left what only the system's memory holds, and later segments build on it.
pub(super) fn read(path: &Path) -> Result<SegmentContents, JournalError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::options().read(true).write(true).open(path)?;
        file.sync_all()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(JournalError::at("read", path))?;
    let mut scanned = SegmentContents { damaged: true, ..SegmentContents::default() };
    for found in frame::scan(&bytes) {
        scanned.add(found.since, found.number, found.bytes.to_vec());
    }
    let Some(mut contents) = read_database(bytes) else { return Ok(scanned) };
    // Records that were written and not committed continue the committed ones as well as those
    // would that come in their place, and if the last commit is damaged they are what is left.
    let Some(since) = contents.since else { return Ok(scanned) };
    let committed = contents.records.last_key_value().map_or(since - 1, |(last, _)| *last);
    let mut last = committed;
    while let Some(bytes) = scanned.records.remove(&(last + 1)) {
        last += 1;
        contents.records.insert(last, bytes);
    }
    contents.uncommitted = (last > committed).then_some((committed + 1, last));
    Ok(contents)
}

/// The frames that are in the database, or `None` if anything at all is wrong with it.
fn read_database(bytes: Vec<u8>) -> Option<SegmentContents> {
    let copy = Copy { most: bytes.len() + (64 << 20), bytes: Mutex::new(bytes) };
    let opened = guarded(|| {
        Ok(Builder::new()
            .set_cache_size(CACHE)
            .set_check_integrity_on_open(true)
            .create_with_backend(copy)?)
    });
    let database = opened.ok()?;
    let contents = guarded(|| {
        let mut contents = SegmentContents::default();
        for entry in database.begin_read()?.open_table(FRAMES)?.iter()? {
            let (number, value) = entry?;
            let (number, value) = (number.value(), value.value());
            let whole = frame::decode_exactly(value)
                .filter(|frame| frame.number == number)
                .filter(|frame| contents.since.is_none_or(|since| since == frame.since));
            let Some(frame) = whole else {
                return Err(StorageError::Corrupted(format!("frame {number}")).into());
            };
            contents.add(frame.since, number, frame.bytes.to_vec());
        }
        Ok(contents)
    });
    if contents.is_ok() {
        let _ = guarded(|| Ok(database.close()?));
    } else {
        // Closing a database that is broken may end in a panic, and it is only memory.
        std::mem::forget(database);
    }
    contents.ok().filter(|contents| contents.header.is_some())
}

/// The segment that is appended to.
#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    /// Its serial number.
    pub serial: u64,
    /// The number of its last durable record.
    pub last: u64,
    /// The bytes of records appended to it.
    pub size: u64,
    since: u64,
    faults: FaultInjector,
    /// `None` after an error: the database must be opened again then.
    database: Option<Database>,
    trouble: Trouble,
}

impl Segment {
    /// Begins a segment with the header and these records; it is there with all of them or not at
    /// all. `since` is the first number that is free.
    pub fn begin(
        directory: &Path,
        serial: u64,
        since: u64,
        header: &[u8],
        records: &[Record],
        faults: &FaultInjector,
    ) -> Result<Segment, JournalError> {
        let path = directory.join(directory::segment_name(serial));
        let new = directory::unfinished(&path)?;
        let mut segment = Segment {
            path: new.clone(),
            serial,
            last: since - 1,
            size: 0,
            since,
            faults: faults.clone(),
            database: None,
            trouble: Trouble::default(),
        };
        let begun = (|| {
            let created = faults.ask(WriteStep::Create).and_then(|()| File::create_new(&new));
            created.map_err(JournalError::at("create", &new))?;
            segment.open()?;
            segment.commit(Some(header), records)?;
            directory::publish(&new, &path)
        })();
        segment.path = path;
        if let Err(error) = begun {
            // What is left of it would do no harm, but takes room that may be short.
            segment.close();
            let _ = fs::remove_file(&new);
            return Err(error);
        }
        Ok(segment)
    }

    /// Appends records in one durable commit. After an error the same records can be appended
    /// again, whether or not the commit that failed is in the file.
    pub fn append(&mut self, records: &[Record]) -> Result<(), JournalError> {
        if self.database.is_none() {
            self.open()?;
            self.check_durable()?;
        }
        self.commit(None, records)
    }

    /// Closes the database. Errors do not matter: what was committed is on disk.
    pub fn close(&mut self) {
        if let Some(database) = self.database.take() {
            let _ = guarded(|| Ok(database.close()?));
        }
    }

    fn open(&mut self) -> Result<(), JournalError> {
        self.trouble.take();
        let file = File::options()
            .read(true)
            .write(true)
            .open(&self.path)
            .map_err(JournalError::at("open", &self.path))?;
        let (faults, trouble) = (self.faults.clone(), self.trouble.clone());
        let opened = guarded(|| {
            let backend = InjectedFile::new(FileBackend::new(file)?, faults, trouble);
            Ok(Builder::new().set_cache_size(CACHE).create_with_backend(backend)?)
        });
        self.database = Some(opened.map_err(|fault| self.told(fault))?);
        Ok(())
    }

    /// Whether all that was durable is still there after the database was opened again.
    fn check_durable(&mut self) -> Result<(), JournalError> {
        let (since, last) = (self.since, self.last);
        self.with(|database| {
            let table = database.begin_read()?.open_table(FRAMES)?;
            let number = table.last()?.map_or(HEADER, |(number, _)| number.value());
            if table.get(HEADER)?.is_none() || number.max(since - 1) < last {
                let said = format!("record {last} was durable and is not there any more");
                return Err(StorageError::Corrupted(said).into());
            }
            Ok(())
        })
    }

    /// Writes over what a commit that failed may have left: only what was written again is sure
    /// to be on disk.
    fn commit(&mut self, header: Option<&[u8]>, records: &[Record]) -> Result<(), JournalError> {
        let since = self.since;
        self.with(|database| {
            let mut transaction = database.begin_write()?;
            // With two phases the newest commit is either whole or damaged; with one, damage to it
            // would be taken for a commit that never came to its end, and passed over in silence.
            transaction.set_two_phase_commit(true);
            {
                let mut table = transaction.open_table(FRAMES)?;
                if let Some(header) = header {
                    table.insert(HEADER, frame::encode(since, HEADER, header).as_slice())?;
                }
                for Record { number, bytes } in records {
                    table.insert(number, frame::encode(since, *number, bytes).as_slice())?;
                }
            }
            Ok(transaction.commit()?)
        })?;
        self.last = records.last().map_or(self.last, |record| record.number);
        self.size += records.iter().map(|record| record.bytes.len() as u64).sum::<u64>();
        Ok(())
    }

    /// Does something with the database, and closes it if that fails.
    fn with<T>(
        &mut self,
        work: impl FnOnce(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, JournalError> {
        let Some(database) = &self.database else { unreachable!("opened before it is used") };
        guarded(|| work(database)).map_err(|fault| {
            let error = self.told(fault);
            self.close();
            error
        })
    }

    /// A fault in a sentence. The file's own trouble goes first: the database tells it only once,
    /// and not always.
    fn told(&self, fault: DatabaseFault) -> JournalError {
        match (self.trouble.take(), fault) {
            (Some(source), _) | (None, DatabaseFault::Database(redb::Error::Io(source))) => {
                JournalError::at("write", &self.path)(source)
            }
            (None, DatabaseFault::Database(error)) => {
                JournalError::Database { path: self.path.clone(), reason: error.to_string() }
            }
            (None, DatabaseFault::Panic) => {
                JournalError::Database { path: self.path.clone(), reason: "it panicked".to_owned() }
            }
        }
    }
}

/// What a database does when it does not work.
#[derive(Debug)]
enum DatabaseFault {
    Database(redb::Error),
    Panic,
}

/// Runs something of the database, which may panic on files that are damaged.
fn guarded<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, DatabaseFault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(DatabaseFault::Database),
        Err(_) => Err(DatabaseFault::Panic),
    }
}

/// A file's bytes in memory, for a database to read, and to repair as it likes.
#[derive(Debug)]
struct Copy {
    bytes: Mutex<Vec<u8>>,
    /// The length that it may grow to: a damaged file may ask for any.
    most: usize,
}

impl Copy {
    fn bytes(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn range(offset: u64, length: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    Some(start..start.checked_add(length)?)
}

impl StorageBackend for Copy {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes();
        let from = range(offset, out.len()).and_then(|range| bytes.get(range));
        out.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).ok().filter(|len| *len <= self.most);
        self.bytes().resize(len.ok_or(io::ErrorKind::FileTooLarge)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let mut bytes = self.bytes();
        let to = range(offset, from.len()).and_then(|range| bytes.get_mut(range));
        to.ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(from);
        Ok(())
    }
}
