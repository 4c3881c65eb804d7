//! Directories, records and what a journal must give back.

use std::fs;
use std::path::{Path, PathBuf};

use jlpns_journal::{Header, Journal, JournalError, Opened, Record};
use tempfile::TempDir;

/// A directory for a journal, which is not there yet.
pub fn directory() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("journal");
    (parent, directory)
}

/// What the journals of these tests are about.
pub fn header() -> Header {
    header_of(&[("game", "connect4:6x5"), ("goal", ">=draw")])
}

/// A header with these facts.
pub fn header_of(facts: &[(&str, &str)]) -> Header {
    let own = |text: &str| text.to_owned();
    let facts = facts.iter().map(|(name, value)| (own(name), own(value))).collect();
    Header { solve_id: own("solve-1"), facts }
}

/// Opens the journal of these tests.
pub fn open(directory: &Path) -> Result<Opened, JournalError> {
    Journal::open(directory, &header())
}

/// The journal, which must have nothing to repair.
pub fn open_whole(directory: &Path) -> Opened {
    let opened = open(directory).expect("a whole journal");
    assert_eq!(opened.repairs, Vec::<String>::new());
    opened
}

/// The record with this number: its bytes follow from the number, and are of very different
/// lengths, some longer than a page of the database.
pub fn record(number: u64) -> Record {
    let length = match number % 10 {
        0 => 0,
        7 => 9_000,
        rest => rest * 30,
    };
    let bytes = (0..length).map(|place| (number * 31 + place * 7) as u8).collect();
    Record { number, bytes }
}

/// Records with these numbers.
pub fn records(numbers: std::ops::RangeInclusive<u64>) -> Vec<Record> {
    numbers.map(record).collect()
}

/// The numbers of records that must each be as they were appended.
pub fn numbers(found: &[Record]) -> Vec<u64> {
    for found in found {
        assert_eq!(*found, record(found.number), "record {}", found.number);
    }
    found.iter().map(|record| record.number).collect()
}

/// The names of the journal's files, sorted, without the lock.
pub fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| name != "lock" && name != "generation")
        .collect();
    names.sort();
    names
}

/// A copy of a journal in a directory of its own.
pub fn copy(of: &Path) -> (TempDir, PathBuf) {
    let (parent, copy) = directory();
    fs::create_dir(&copy).expect("a directory");
    for name in files(of) {
        fs::copy(of.join(&name), copy.join(&name)).expect("a copy");
    }
    (parent, copy)
}
