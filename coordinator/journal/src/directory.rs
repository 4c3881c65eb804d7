//! The files of a journal by their names, replaced and moved so that a crash leaves either the old
//! or the new.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::JournalError;
use super::fault_injection::{FaultInjector, WriteStep};
use super::generation::{self, GENERATION};

/// The name of the file with the header.
pub(super) const IDENTITY: &str = "solve.json";
/// The name of the file that is locked while the journal is open.
const LOCK: &str = "lock";
/// What the names of files end in that are not written to the end yet.
const UNFINISHED: &str = ".new";

/// The name of a segment.
pub(super) fn segment_name(serial: u64) -> String {
    format!("records-{serial:06}.redb")
}

/// The name of a snapshot.
pub(super) fn snapshot_name(serial: u64) -> String {
    format!("snapshot-{serial:06}")
}

/// Where a file is written before it gets its own name; no two callers are given the same.
pub(super) fn unfinished(path: &Path) -> Result<PathBuf, JournalError> {
    let token = getrandom::u64()
        .map_err(|error| JournalError::at("write", path)(io::Error::other(error)))?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{token:016x}{UNFINISHED}"));
    Ok(PathBuf::from(name))
}

/// Gives a file that was written to the end its own name, and brings that to the disk. A file that has the name already
/// stays as it is: it is of another opening of the journal, which goes on with it.
pub(super) fn publish(new: &Path, path: &Path) -> Result<(), JournalError> {
    let named = match fs::hard_link(new, path) {
        Ok(()) => fs::remove_file(new),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links.
        Err(_) if !path.exists() => fs::rename(new, path),
        Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
    };
    named.map_err(JournalError::at("create", path))?;
    let directory = path.parent().unwrap_or(Path::new("."));
    sync_directory(directory).inspect_err(|_| {
        // It is begun anew under the same name.
        let _ = fs::remove_file(path);
    })
}

/// The files of a journal, by serial number.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The segments, oldest first.
    pub segments: Vec<u64>,
    /// The snapshots, oldest first.
    pub snapshots: Vec<u64>,
    /// Files that a crash left half written.
    pub unfinished: Vec<PathBuf>,
    /// More than the serial number of any file, damaged ones that were moved aside among them.
    pub next_serial: u64,
}

/// Makes the directory, for its owner only, if it is not there.
pub(super) fn create(directory: &Path) -> Result<(), JournalError> {
    if directory.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(JournalError::at("make the directory", directory))?;
    match directory.parent() {
        Some(parent) if parent != Path::new("") => sync_directory(parent),
        _ => Ok(()),
    }
}

/// The lock of a journal.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    is_held: bool,
}

impl Lock {
    /// Whether this process has it, and no other.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Takes it if nobody else has it.
    pub fn acquire(&mut self) {
        if !self.is_held {
            self.is_held = self.file.try_lock().is_ok();
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that is about to be another program may have the file open for a moment longer.
        if self.is_held {
            let _ = self.file.unlock();
        }
    }
}

/// Locks the journal for as long as the lock is kept. Who takes over goes without it as long as another has it.
pub(super) fn lock(directory: &Path, takes_over: bool) -> Result<Lock, JournalError> {
    let path = directory.join(LOCK);
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(JournalError::at("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { file, is_held: true }),
        Err(TryLockError::WouldBlock) if takes_over => Ok(Lock { file, is_held: false }),
        Err(TryLockError::WouldBlock) => {
            let (directory, holder) = (directory.to_owned(), generation::holder(directory));
            Err(JournalError::InUse { directory, holder })
        }
        Err(TryLockError::Error(error)) => Err(JournalError::at("lock", &path)(error)),
    }
}

/// Looks what is in the directory. Names that are not a journal's are passed over.
pub(super) fn list(directory: &Path) -> Result<Listing, JournalError> {
    let failed = || JournalError::at("read the directory", directory);
    let mut listing = Listing { next_serial: 1, ..Listing::default() };
    for entry in fs::read_dir(directory).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let (serials, rest) = if let Some(rest) = name.strip_prefix("records-") {
            (Some(&mut listing.segments), rest)
        } else if let Some(rest) = name.strip_prefix("snapshot-") {
            (Some(&mut listing.snapshots), rest)
        } else {
            (None, name)
        };
        if name.ends_with(UNFINISHED)
            && (serials.is_some() || name.starts_with(IDENTITY) || name.starts_with(GENERATION))
        {
            listing.unfinished.push(entry.path());
            continue;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if let (Some(serials), Ok(serial)) = (serials, rest[..digits].parse::<u64>()) {
            listing.next_serial = listing.next_serial.max(serial.saturating_add(1));
            if name == segment_name(serial) || name == snapshot_name(serial) {
                serials.push(serial);
            }
        }
    }
    listing.segments.sort_unstable();
    listing.snapshots.sort_unstable();
    Ok(listing)
}

/// Brings names that were made, changed or removed to the disk.
pub(super) fn sync_directory(directory: &Path) -> Result<(), JournalError> {
    if cfg!(unix) {
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(JournalError::at("sync the directory", directory))?;
    }
    Ok(())
}

/// Writes a file that is there whole or not at all, and is on disk when this returns. It takes the place of one that has
/// its name.
pub(super) fn write_whole(
    path: &Path,
    parts: &[&[u8]],
    faults: &FaultInjector,
) -> Result<(), JournalError> {
    let new = unfinished(path)?;
    let written = write_parts(&new, parts, faults).and_then(|()| fs::rename(&new, path));
    if let Err(error) = written {
        // The error is what matters; a file left here is removed when the journal is next opened.
        let _ = fs::remove_file(&new);
        return Err(JournalError::at("write", path)(error));
    }
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

/// The same of a file whose name must be free.
pub(super) fn write_new(
    path: &Path,
    parts: &[&[u8]],
    faults: &FaultInjector,
) -> Result<(), JournalError> {
    let new = unfinished(path)?;
    let written = write_parts(&new, parts, faults).map_err(JournalError::at("write", path));
    let published = written.and_then(|()| publish(&new, path));
    if published.is_err() {
        let _ = fs::remove_file(&new);
    }
    published
}

fn write_parts(new: &Path, parts: &[&[u8]], faults: &FaultInjector) -> io::Result<()> {
    faults.ask(WriteStep::Create)?;
    let mut file = File::create_new(new)?;
    for part in parts {
        faults.ask(WriteStep::Write(part.len()))?;
        file.write_all(part)?;
    }
    faults.ask(WriteStep::Sync)?;
    file.sync_all()
}

/// Gives a file another name. The caller syncs the directory.
pub(super) fn rename(directory: &Path, from: &str, to: &str) -> Result<(), JournalError> {
    let from = directory.join(from);
    fs::rename(&from, directory.join(to)).map_err(JournalError::at("move", &from))
}

/// A free name that says that a file is damaged.
pub(super) fn aside_name(directory: &Path, name: &str) -> String {
    (1..)
        .map(|count: u64| format!("{name}.damaged-{count}"))
        .find(|aside| !directory.join(aside).exists())
        .expect("some number is free")
}
