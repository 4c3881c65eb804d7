//! Files cut short, changed and overwritten: opening never panics, and what comes back is what was
//! appended, up to some point.

use std::fs;
use std::path::Path;

use jlpns_journal::{JournalError, Opened, Record, Snapshot};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::stage::{copy, directory, files, numbers, open, open_whole, record, records};

/// A journal with commits of a few records each and nothing else.
fn small(commits: u64) -> (TempDir, std::path::PathBuf) {
    let (parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    for commit in 1..=commits {
        journal.append(&records(commit * 5 - 4..=commit * 5)).expect("appended");
    }
    (parent, directory)
}

/// Two settled snapshots, each with records before and after; records are of number 1 to 40.
fn large() -> (TempDir, std::path::PathBuf) {
    let (parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    for round in 1..=4 {
        journal.append(&records(round * 10 - 9..=round * 10)).expect("appended");
        if round < 4 {
            journal.snapshot(round * 10, true, &[round as u8; 500]).expect("a snapshot");
        }
    }
    (parent, directory)
}

/// What holds of every journal that opens, whatever was damaged: all is as it was written, nothing
/// is missing in between, and it goes on and is whole the next time.
fn holds(directory: &Path, opened: Opened) {
    let found = numbers(&opened.records);
    let first = found.first().copied().unwrap_or(opened.journal.last() + 1);
    assert_eq!(found, (first..=opened.journal.last()).collect::<Vec<u64>>());
    for Snapshot { through, .. } in &opened.snapshots {
        assert!(first <= through + 1 && *through <= opened.journal.last());
    }
    assert!(first == 1 || !opened.snapshots.is_empty());
    let mut journal = opened.journal;
    let next = record(journal.last() + 1);
    journal.append(std::slice::from_ref(&next)).expect("appended");
    drop(journal);
    let again = open_whole(directory);
    assert_eq!(again.snapshots, opened.snapshots);
    let expected: Vec<Record> = opened.records.into_iter().chain([next]).collect();
    assert_eq!(again.records, expected);
}

/// Opens a damaged journal, of which something is lost or not.
fn recover(directory: &Path) -> Option<Opened> {
    match open(directory) {
        Ok(opened) => Some(opened),
        Err(JournalError::NothingUsable { files, .. }) => {
            assert!(!files.is_empty());
            None
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_segment_cut_at_any_length_gives_back_its_beginning() {
    let (_parent, whole) = small(4);
    let segment = fs::read(whole.join("records-000001.redb")).expect("a file");
    let mut most = 0;
    // Every length near the ends, and every other page and its neighbours.
    let pages =
        (0..segment.len()).step_by(4096 * 8).flat_map(|page| [page.max(1) - 1, page, page + 1]);
    let lengths = (0..64).chain(pages).chain([segment.len() - 1]);
    for length in lengths.filter(|length| *length < segment.len()) {
        let (_parent, directory) = copy(&whole);
        fs::write(directory.join("records-000001.redb"), &segment[..length]).expect("cut");
        let Some(opened) = recover(&directory) else { continue };
        assert!(!opened.repairs.is_empty(), "{length}");
        most = most.max(opened.records.len());
        holds(&directory, opened);
    }
    assert_eq!(most, 20, "nothing that was on disk before the cut is lost");
}

#[test]
fn a_damaged_segment_is_kept_aside_and_told() {
    let (_parent, directory) = small(4);
    let path = directory.join("records-000001.redb");
    let segment = fs::read(&path).expect("a file");
    // The database's own header is gone, all records are there.
    let mut damaged = segment.clone();
    damaged[..512].fill(0);
    fs::write(&path, &damaged).expect("written");
    let opened = open(&directory).expect("recovered");
    assert_eq!(numbers(&opened.records), (1..=20).collect::<Vec<u64>>());
    assert_eq!(
        opened.repairs,
        [
            "records-000001.redb is damaged: recovered records 1 to 20; what came after record 20 \
             is lost",
            "records-000001.redb is kept as records-000001.redb.damaged-1",
        ]
    );
    assert_eq!(fs::read(directory.join("records-000001.redb.damaged-1")).expect("a file"), damaged);
    assert_eq!(
        files(&directory),
        ["records-000001.redb.damaged-1", "records-000002.redb", "solve.json"]
    );
    holds(&directory, opened);
}

#[test]
fn damage_to_the_newest_snapshot_loses_nothing() {
    let (_parent, directory) = large();
    let newest = directory.join("snapshot-000006");
    let mut bytes = fs::read(&newest).expect("a file");
    *bytes.last_mut().expect("a byte") ^= 1;
    fs::write(&newest, bytes).expect("written");
    let opened = open(&directory).expect("recovered");
    assert_eq!(opened.snapshots.len(), 1);
    assert_eq!(opened.snapshots[0].through, 20);
    assert_eq!(numbers(&opened.records), (21..=40).collect::<Vec<u64>>());
    assert_eq!(
        opened.repairs,
        ["snapshot-000006 is damaged and kept as snapshot-000006.damaged-1; the snapshot through \
          record 20 can be used"]
    );
    holds(&directory, opened);
}

#[test]
fn a_missing_segment_leaves_the_newest_snapshot_and_what_follows() {
    let (_parent, directory) = large();
    // Records 21 to 30, which only the older snapshot needs.
    fs::remove_file(directory.join("records-000005.redb")).expect("removed");
    let opened = open(&directory).expect("recovered");
    assert_eq!(opened.snapshots.iter().map(|it| it.through).collect::<Vec<u64>>(), [30]);
    assert_eq!(numbers(&opened.records), (31..=40).collect::<Vec<u64>>());
    assert_eq!(opened.repairs.len(), 1, "{:?}", opened.repairs);
    assert!(opened.repairs[0].contains("records after 20 are missing"), "{:?}", opened.repairs);
    holds(&directory, opened);
}

#[test]
fn a_gap_makes_what_follows_unusable() {
    let (_parent, directory) = directory();
    for round in 1..=3 {
        // A segment each.
        let mut journal = open_whole(&directory).journal;
        journal.append(&records(round * 10 - 9..=round * 10)).expect("appended");
    }
    fs::write(directory.join("records-000002.redb"), b"garbage").expect("written");
    let opened = open(&directory).expect("recovered");
    assert_eq!(numbers(&opened.records), (1..=10).collect::<Vec<u64>>());
    assert_eq!(
        opened.repairs,
        [
            "records-000002.redb is damaged: recovered no record of it",
            "records 11 to 20 are missing, so records 21 to 30 are of no use and kept aside",
            "records-000002.redb is kept as records-000002.redb.damaged-1",
            "records-000003.redb is kept as records-000003.redb.damaged-1",
        ]
    );
    holds(&directory, opened);
}

#[test]
fn nothing_usable_is_an_error_that_names_the_files() {
    let (_parent, directory) = small(1);
    fs::write(directory.join("records-000001.redb"), b"").expect("written");
    for _ in 0..2 {
        let error = open(&directory).expect_err("nothing usable").to_string();
        assert!(error.contains("records-000001.redb is damaged"), "{error}");
    }
    assert_eq!(files(&directory), ["records-000001.redb", "solve.json"]);

    let (_parent, directory) = large();
    for name in files(&directory).iter().filter(|name| name.starts_with("snapshot")) {
        fs::write(directory.join(name), b"").expect("written");
    }
    let error = open(&directory).expect_err("nothing usable").to_string();
    assert!(error.contains("snapshot-000006 is damaged"), "{error}");
    assert!(error.contains("records 21 to 40 are of no use"), "{error}");
}

#[test]
fn a_crash_in_the_middle_of_a_repair_does_no_harm() {
    let (_parent, directory) = small(4);
    let path = directory.join("records-000001.redb");
    let mut damaged = fs::read(&path).expect("a file");
    damaged[..512].fill(0);
    fs::write(&path, &damaged).expect("written");
    drop(open(&directory).expect("recovered"));
    // The new segment is there, and the damaged one not yet moved aside.
    fs::rename(directory.join("records-000001.redb.damaged-1"), &path).expect("renamed");
    fs::write(directory.join("records-000003.redb.new"), b"half").expect("written");
    let opened = open(&directory).expect("recovered");
    assert_eq!(numbers(&opened.records), (1..=20).collect::<Vec<u64>>());
    assert_eq!(
        files(&directory),
        ["records-000001.redb.damaged-1", "records-000002.redb", "solve.json"]
    );
    holds(&directory, opened);
}

/// What is done to a file.
#[derive(Clone, Debug)]
enum Damage {
    Flip { place: prop::sample::Index, bit: u8 },
    Overwrite { place: prop::sample::Index, length: usize, byte: u8 },
    Cut(prop::sample::Index),
    Extend(usize),
}

impl Damage {
    fn to(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        match *self {
            Damage::Flip { place, bit } => bytes[place.index(length)] ^= 1 << bit,
            Damage::Overwrite { place, length: count, byte } => {
                let from = place.index(length);
                bytes[from..length.min(from + count)].fill(byte);
            }
            Damage::Cut(at) => bytes.truncate(at.index(length)),
            Damage::Extend(count) => bytes.resize(length + count, 0),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = || any::<prop::sample::Index>();
    prop_oneof![
        4 => (place(), 0..8_u8).prop_map(|(place, bit)| Damage::Flip { place, bit }),
        2 => (place(), 1..20_000_usize, any::<u8>())
            .prop_map(|(place, length, byte)| Damage::Overwrite { place, length, byte }),
        1 => place().prop_map(Damage::Cut),
        1 => (1..10_000_usize).prop_map(Damage::Extend),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_damage_to_random_files(
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..4),
    ) {
        let (_parent, directory) = large();
        let names = files(&directory);
        for (file, damage) in &damages {
            let path = directory.join(&names[file.index(names.len())]);
            let mut bytes = fs::read(&path).expect("a file");
            if !bytes.is_empty() {
                damage.to(&mut bytes);
            }
            fs::write(&path, bytes).expect("written");
        }
        if let Some(opened) = recover(&directory) {
            holds(&directory, opened);
        }
    }

    #[test]
    fn one_changed_bit_of_a_segment_is_no_silent_loss(
        place in any::<prop::sample::Index>(), bit in 0..8_u8,
    ) {
        let (_parent, directory) = small(4);
        let path = directory.join("records-000001.redb");
        let mut bytes = fs::read(&path).expect("a file");
        // Most of the file is room that was never used.
        let used: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] != 0).collect();
        bytes[*place.get(&used)] ^= 1 << bit;
        fs::write(&path, bytes).expect("written");
        if let Some(opened) = recover(&directory) {
            prop_assert!(opened.records.len() == 20 || !opened.repairs.is_empty());
            holds(&directory, opened);
        }
    }
}

#[test]
fn no_change_to_the_header_of_the_database_loses_a_record() {
    let (_parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    journal.append(&records(1..=5)).expect("appended");
    journal.append(&records(6..=10)).expect("appended");
    // What a crash leaves, and what an end in good order does: closing commits once more.
    let crashed = copy(&directory);
    drop(journal);
    for whole in [crashed.1, directory] {
        let segment = fs::read(whole.join("records-000001.redb")).expect("a file");
        // All bits of the byte with the flags, one of which says which commit is the newest, and
        // one bit of each other byte.
        let flags = (0..8).map(|bit| (9, bit));
        for (place, bit) in (0..320).map(|place| (place, place % 8)).chain(flags) {
            let (_parent, directory) = copy(&whole);
            let mut bytes = segment.clone();
            bytes[place] ^= 1 << bit;
            fs::write(directory.join("records-000001.redb"), bytes).expect("written");
            let opened = open(&directory).expect("recovered");
            let all: Vec<u64> = (1..=10).collect();
            assert_eq!(numbers(&opened.records), all, "bit {bit} of byte {place}");
        }
    }
}
