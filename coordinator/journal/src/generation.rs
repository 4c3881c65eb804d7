//! Which opening of a journal may write to it: the newest.
//!
//! A lock keeps two processes of one machine apart, and machines where the file system has locks that hold. It does
//! not keep a coordinator from writing that was frozen or cut off so long that its lock was given to another. So each
//! opening has a generation, which it writes to a file before it reads anything else, and the writer looks whether the
//! file is still its own: before a commit, so that it does not write into what belongs to another, and after it, before
//! anyone hears that the commit is durable. What is told to be durable was on disk while its generation was the newest,
//! and so is there for the next one to read.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::directory;
use super::error::JournalError;
use super::fault_injection::{FaultInjector, WriteStep};

/// The name of the file.
pub(super) const GENERATION: &str = "generation";
/// Its length: always the same, so that it can be written over where there is no room for a new file.
const LENGTH: usize = 256;
const FIRST_WORDS: &str = "jlpns generation ";

/// The generation of one opening.
#[derive(Debug)]
pub(super) struct Generation {
    directory: PathBuf,
    /// What the file holds as long as no later opening has written to it.
    own: Vec<u8>,
    /// What the file held before, if there was no room to write.
    unwritten: Option<Vec<u8>>,
    faults: FaultInjector,
}

impl Generation {
    /// Begins a new generation of the journal in a directory. Where there is no room for it, it begins with
    /// the first write.
    pub fn begin(directory: &Path, faults: &FaultInjector) -> Result<Generation, JournalError> {
        let before = read(directory)?;
        let number = number(&before).unwrap_or(0).saturating_add(1);
        let own = content(number).map_err(JournalError::at("name", directory))?;
        let faults = faults.clone();
        let unwritten = Some(before);
        let mut begun = Generation { directory: directory.to_owned(), own, unwritten, faults };
        match begun.write() {
            Err(error) if error.is_full() => Ok(begun),
            written => written.map(|()| begun),
        }
    }

    /// Whether no later generation has begun.
    ///
    /// # Errors
    ///
    /// One has, or the file cannot be read, or there is still no room to write it.
    pub fn check(&mut self) -> Result<(), JournalError> {
        let there = read(&self.directory)?;
        let expected = self.unwritten.as_ref().unwrap_or(&self.own);
        if there.is_empty() && !expected.is_empty() {
            // The folder was moved or its disk is gone: nobody goes on with it.
            return Err(JournalError::at("read", &self.path())(io::ErrorKind::NotFound.into()));
        }
        if there != *expected {
            let directory = self.directory.clone();
            return Err(JournalError::Superseded { directory, by: description(&there) });
        }
        if self.unwritten.is_some() { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), JournalError> {
        let path = self.path();
        let written = match directory::write_whole(&path, &[&self.own], &self.faults) {
            Err(error) if error.is_full() => write_over(&path, &self.own, &self.faults),
            written => written,
        };
        written.map(|()| self.unwritten = None)
    }

    fn path(&self) -> PathBuf {
        self.directory.join(GENERATION)
    }
}

/// Who has the journal in a directory, for people.
pub(super) fn holder(directory: &Path) -> String {
    description(&read(directory).unwrap_or_default())
}

/// The file's bytes; none if there is no file.
fn read(directory: &Path) -> Result<Vec<u8>, JournalError> {
    let path = directory.join(GENERATION);
    match fs::read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(JournalError::at("read", &path)(error)),
    }
}

/// Writes over a file that is there; needs no room.
fn write_over(path: &Path, bytes: &[u8], faults: &FaultInjector) -> Result<(), JournalError> {
    let write = || {
        let mut file = File::options().write(true).open(path)?;
        if file.metadata()?.len() < bytes.len() as u64 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        faults.ask(WriteStep::Write(0))?;
        file.write_all(bytes)?;
        faults.ask(WriteStep::Sync)?;
        file.sync_all()
    };
    write().map_err(|error| match error.kind() {
        // A new journal has none.
        io::ErrorKind::NotFound => {
            JournalError::at("write", path)(io::ErrorKind::StorageFull.into())
        }
        _ => JournalError::at("write", path)(error),
    })
}

/// A generation that no other opening has.
fn content(number: u64) -> io::Result<Vec<u8>> {
    let token = getrandom::u64()?;
    let host = gethostname::gethostname();
    let host: String =
        host.to_string_lossy().chars().filter(char::is_ascii_graphic).take(64).collect();
    let process = std::process::id();
    let mut text =
        format!("{FIRST_WORDS}{number}\nhost {host}\nprocess {process}\ntoken {token:016x}\n");
    text.extend(std::iter::repeat_n(' ', LENGTH - 1 - text.len()));
    text.push('\n');
    Ok(text.into_bytes())
}

fn number(bytes: &[u8]) -> Option<u64> {
    let text = str::from_utf8(bytes).ok()?;
    text.lines().next()?.strip_prefix(FIRST_WORDS)?.parse().ok()
}

fn description(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    match (number(bytes), line("host "), line("process ")) {
        (Some(number), Some(host), Some(process)) => {
            format!("generation {number}: process {process} on {host}")
        }
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    #[test]
    fn the_newest_generation_alone_is_in_force() {
        let folder = folder();
        let begin = || Generation::begin(folder.path(), &FaultInjector::none()).expect("begun");
        let mut first = begin();
        first.check().expect("the newest");
        let mut second = begin();
        let process = std::process::id();
        let error = first.check().expect_err("there is a newer one").to_string();
        assert!(error.contains(&format!("generation 2: process {process} on ")), "{error}");
        second.check().expect("the newest");
        assert!(first.check().is_err());
        assert_eq!(fs::read(folder.path().join(GENERATION)).expect("a file").len(), LENGTH);
    }

    #[test]
    fn a_damaged_file_is_not_taken_for_ones_own() {
        let folder = folder();
        let mut first = Generation::begin(folder.path(), &FaultInjector::none()).expect("begun");
        for damage in [&b"jlpns generation "[..], b"\xff\xfe", b"jlpns generation 1\n"] {
            fs::write(folder.path().join(GENERATION), damage).expect("written");
            let error = first.check().expect_err("damaged").to_string();
            assert!(error.contains("unknown"), "{error}");
            Generation::begin(folder.path(), &FaultInjector::none()).expect("a new one begins");
        }
    }
}
