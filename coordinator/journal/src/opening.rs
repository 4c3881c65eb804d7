//! Opening a journal: everything is read and checked before anything is changed, and what has to be
//! repaired waits if there is no room for it.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use super::directory::{self, IDENTITY, Listing, segment_name, snapshot_name};
use super::error::JournalError;
use super::fault_injection::FaultInjector;
use super::generation::Generation;
use super::identity::{self, FORMAT, Unreadable};
use super::journal::ClosedSegment;
use super::repair::{Repair, RepairStep};
use super::retention::KeptSnapshot;
use super::salvage::{FoundSegment, Salvage, salvage};
use super::{Header, Journal, Opened, Record, Snapshot, segment, snapshot};

/// A snapshot that was read, and where from.
struct ReadSnapshot {
    serial: u64,
    snapshot: Snapshot,
}

/// Opens the journal in a directory.
pub(super) fn open(
    faults: FaultInjector,
    directory: &Path,
    given: &Header,
    takes_over: bool,
) -> Result<Opened, JournalError> {
    directory::create(directory)?;
    let lock = directory::lock(directory, takes_over)?;
    let mut headers = Headers { directory, stored: None };
    let solve_json = headers.of_solve_json()?;
    // What is about something else is not touched. Where the header must be looked for in the other files, they
    // are read first.
    let stored = headers.stored.as_ref();
    let is_of_it = stored.is_some_and(|stored| identity::difference(stored, given).is_none());
    let mut generation = None;
    if is_of_it {
        generation = Some(Generation::begin(directory, &faults)?);
    }

    let listing = directory::list(directory)?;
    let segments = read_segments(directory, &listing, &mut headers)?;
    let (snapshots, damaged_snapshots) = read_snapshots(directory, &listing, &mut headers)?;
    let empty = listing.segments.is_empty() && listing.snapshots.is_empty();
    let header = match (headers.stored.clone(), solve_json) {
        (Some(stored), _) => stored,
        (None, SolveJson::Version(found)) => {
            return Err(headers.other_version(IDENTITY, found));
        }
        (None, SolveJson::Missing) if empty => given.clone(),
        (None, _) => {
            let said =
                format!("{IDENTITY} is damaged or gone, and no other file says what the solve is");
            return Err(nothing_usable(directory, said));
        }
    };
    if let Some(difference) = identity::difference(&header, given) {
        return Err(JournalError::OtherSolve { path: directory.to_owned(), difference });
    }

    let any_records = segments.iter().any(|found| found.damaged || !found.records.is_empty());
    let throughs: Vec<u64> = snapshots.iter().map(|read| read.snapshot.through).collect();
    let salvage = salvage(segments, &throughs);
    if salvage.last == 0 && (any_records || !damaged_snapshots.is_empty()) && snapshots.is_empty() {
        let mut said = salvage.said;
        said.extend(damaged_snapshots.iter().map(|name| format!("{name} is damaged")));
        return Err(nothing_usable(directory, said.join("; ")));
    }

    let generation = match generation {
        Some(generation) => generation,
        None => Generation::begin(directory, &faults)?,
    };
    let mut journal = Journal {
        directory: directory.to_owned(),
        lock,
        generation,
        faults,
        header: identity::encode(&header),
        last: salvage.last,
        next_serial: listing.next_serial,
        active: None,
        closed: Vec::new(),
        snapshots: Vec::new(),
        repair: Repair::default(),
    };
    for path in &listing.unfinished {
        fs::remove_file(path).map_err(JournalError::at("delete", path))?;
    }
    let (records, mut repairs) = repair_segments(&mut journal, &listing.segments, salvage);
    let first = records.first().map_or(journal.last + 1, |record| record.number);
    let snapshots =
        repair_snapshots(&mut journal, first, snapshots, damaged_snapshots, &mut repairs);
    if solve_json != SolveJson::Whole {
        repair_solve_json(&mut journal, solve_json, empty, &mut repairs);
    }
    match journal.repair() {
        Ok(()) => {}
        Err(error) if error.is_full() => {
            repairs.push(format!("{error}; nothing is changed in the journal until there is room"));
        }
        Err(error) => return Err(error),
    }
    Ok(Opened {
        journal,
        header,
        resumed: !empty || solve_json != SolveJson::Missing,
        snapshots,
        records,
        repairs,
    })
}

/// What the journal in a directory is about.
pub(super) fn header(directory: &Path) -> Result<Header, JournalError> {
    let mut headers = Headers { directory, stored: None };
    match (headers.of_solve_json()?, headers.stored.take()) {
        (_, Some(stored)) => Ok(stored),
        (SolveJson::Version(found), None) => Err(headers.other_version(IDENTITY, found)),
        (SolveJson::Missing, None) => {
            Err(JournalError::NoJournal { directory: directory.to_owned() })
        }
        (SolveJson::Damaged | SolveJson::Whole, None) => {
            Err(nothing_usable(directory, format!("{IDENTITY} is damaged")))
        }
    }
}

fn nothing_usable(directory: &Path, files: String) -> JournalError {
    JournalError::NothingUsable { directory: directory.to_owned(), files }
}

/// How `solve.json` was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SolveJson {
    Whole,
    Missing,
    Damaged,
    Version(u64),
}

/// The header of the journal, as the files tell it.
struct Headers<'a> {
    directory: &'a Path,
    stored: Option<Header>,
}

impl Headers<'_> {
    fn of_solve_json(&mut self) -> Result<SolveJson, JournalError> {
        let path = self.directory.join(IDENTITY);
        let json = match fs::read(&path) {
            Ok(json) => json,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SolveJson::Missing),
            Err(error) => return Err(JournalError::at("read", &path)(error)),
        };
        Ok(match identity::decode(&json) {
            Ok(header) => {
                self.stored = Some(header);
                SolveJson::Whole
            }
            Err(Unreadable::Damaged) => SolveJson::Damaged,
            Err(Unreadable::Version(found)) => SolveJson::Version(found),
        })
    }

    /// Takes note of the header in a segment or snapshot, which must be the same in all.
    fn of_file(&mut self, name: &str, json: &[u8]) -> Result<(), JournalError> {
        let header = match identity::decode(json) {
            Ok(header) => header,
            Err(Unreadable::Version(found)) => return Err(self.other_version(name, found)),
            // Its checksum was right, so this is not damage but another layout of the header.
            Err(Unreadable::Damaged) => return Ok(()),
        };
        let stored = self.stored.get_or_insert_with(|| header.clone());
        let difference = if stored.solve_id == header.solve_id {
            identity::difference(&header, stored)
        } else {
            Some(format!("it is of the solve {}, not of {}", header.solve_id, stored.solve_id))
        };
        match difference {
            Some(difference) => {
                Err(JournalError::OtherSolve { path: self.directory.join(name), difference })
            }
            None => Ok(()),
        }
    }

    fn other_version(&self, name: &str, found: u64) -> JournalError {
        JournalError::OtherVersion { path: self.directory.join(name), found, expected: FORMAT }
    }
}

fn read_segments(
    directory: &Path,
    listing: &Listing,
    headers: &mut Headers<'_>,
) -> Result<Vec<FoundSegment>, JournalError> {
    let mut segments = Vec::new();
    for &serial in &listing.segments {
        let name = segment_name(serial);
        let segment::SegmentContents { since, header, records, damaged, uncommitted } =
            segment::read(&directory.join(&name))?;
        if let Some(header) = header {
            headers.of_file(&name, &header)?;
        }
        segments.push(FoundSegment { name, since, records, damaged, uncommitted });
    }
    Ok(segments)
}

/// The snapshots that are whole, and the names of the others.
fn read_snapshots(
    directory: &Path,
    listing: &Listing,
    headers: &mut Headers<'_>,
) -> Result<(Vec<ReadSnapshot>, Vec<String>), JournalError> {
    let (mut whole, mut damaged) = (Vec::new(), Vec::new());
    for &serial in &listing.snapshots {
        let name = snapshot_name(serial);
        match snapshot::read(&directory.join(&name))? {
            Some(contents) => {
                headers.of_file(&name, &contents.header)?;
                whole.push(ReadSnapshot { serial, snapshot: contents.snapshot });
            }
            None => damaged.push(name),
        }
    }
    Ok((whole, damaged))
}

/// Has what is used of damaged segments written to a new one, and only then moves them aside.
fn repair_segments(
    journal: &mut Journal,
    serials: &[u64],
    salvage: Salvage,
) -> (Vec<Record>, Vec<String>) {
    let Salvage { last, records, rewrite, aside, lasts, said, .. } = salvage;
    let aside: BTreeSet<usize> = aside.into_iter().collect();
    if !rewrite.is_empty() {
        let rewritten: Vec<Record> =
            records.iter().filter(|record| rewrite.contains(&record.number)).cloned().collect();
        journal.repair.add(RepairStep::Rewrite { since: last + 1, records: rewritten });
    }
    let mut repairs = said;
    for (index, &serial) in serials.iter().enumerate() {
        if aside.contains(&index) {
            let name = segment_name(serial);
            let kept = journal.repair.move_aside(&journal.directory, &name);
            repairs.push(format!("{name} is kept as {kept}"));
        } else {
            journal.closed.push(ClosedSegment { serial, last: lasts[index].unwrap_or(0) });
        }
    }
    if !aside.is_empty() {
        journal.repair.add(RepairStep::SyncNames);
    }
    (records, repairs)
}

/// Has the snapshots moved aside that are damaged or that the records do not continue; returns the
/// others, newest first.
fn repair_snapshots(
    journal: &mut Journal,
    first: u64,
    snapshots: Vec<ReadSnapshot>,
    damaged: Vec<String>,
    repairs: &mut Vec<String>,
) -> Vec<Snapshot> {
    let (mut kept, unused): (Vec<ReadSnapshot>, Vec<ReadSnapshot>) =
        snapshots.into_iter().partition(|read| read.snapshot.through + 1 >= first);
    kept.sort_by_key(|read| std::cmp::Reverse(age(read)));
    for name in &damaged {
        let aside = journal.repair.move_aside(&journal.directory, name);
        let instead = match kept.first() {
            Some(read) => format!("the snapshot through record {}", read.snapshot.through),
            None => "the records from the beginning".to_owned(),
        };
        repairs.push(format!("{name} is damaged and kept as {aside}; {instead} can be used"));
    }
    for read in &unused {
        let (name, through) = (snapshot_name(read.serial), read.snapshot.through);
        let aside = journal.repair.move_aside(&journal.directory, &name);
        repairs.push(format!(
            "{name} is of no use, because records after {through} are missing; it is kept as {aside}"
        ));
    }
    if !damaged.is_empty() || !unused.is_empty() {
        journal.repair.add(RepairStep::SyncNames);
    }
    journal.snapshots = kept.iter().map(of).collect();
    kept.into_iter().map(|read| read.snapshot).collect()
}

fn of(read: &ReadSnapshot) -> KeptSnapshot {
    let Snapshot { through, settled, .. } = read.snapshot;
    KeptSnapshot { serial: read.serial, through, settled }
}

fn age(read: &ReadSnapshot) -> (u64, u64) {
    of(read).age()
}

/// Has `solve.json` written anew; a damaged one is moved aside.
fn repair_solve_json(
    journal: &mut Journal,
    found: SolveJson,
    new: bool,
    repairs: &mut Vec<String>,
) {
    let again = "written again from what the other files say";
    if found == SolveJson::Missing {
        if !new {
            repairs.push(format!("{IDENTITY} is gone: {again}"));
        }
    } else {
        let aside = journal.repair.move_aside(&journal.directory, IDENTITY);
        repairs.push(format!("{IDENTITY} is damaged: kept as {aside} and {again}"));
    }
    journal.repair.add(RepairStep::WriteHeader);
}
