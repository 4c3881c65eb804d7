//! Disks that are full or broken: nothing is lost, nothing is there twice, and it goes on when
//! there is room.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};

use jlpns_journal::{
    FaultInjector, Journal, JournalError, WriteRequest, WriteStep, Writer, WriterEvent,
};

use crate::stage::{directory, files, header, open, open_whole, record, records};

/// A disk of which some steps fail.
#[derive(Clone, Default)]
struct Disk {
    taken: Arc<AtomicU64>,
    fails_from: Arc<AtomicU64>,
    fails_before: Arc<AtomicU64>,
}

impl Disk {
    /// Lets steps fail from the one of this number, counted from 0, and so many of them.
    fn fail(&self, from: u64, count: u64) {
        self.taken.store(0, SeqCst);
        self.fails_from.store(from, SeqCst);
        self.fails_before.store(from.saturating_add(count), SeqCst);
    }

    fn faults(&self, kind: io::ErrorKind) -> FaultInjector {
        let disk = self.clone();
        FaultInjector::new(move |_| {
            let taken = disk.taken.fetch_add(1, SeqCst);
            let fails =
                (disk.fails_from.load(SeqCst)..disk.fails_before.load(SeqCst)).contains(&taken);
            if fails { Err(kind.into()) } else { Ok(()) }
        })
    }

    fn open(&self, directory: &Path, kind: io::ErrorKind) -> Journal {
        Journal::open_with_faults(self.faults(kind), directory, &header())
            .expect("a journal")
            .journal
    }
}

/// Does something again until it is done; returns how often it failed.
fn insist(mut work: impl FnMut() -> Result<(), JournalError>) -> u64 {
    for failed in 0..100 {
        match work() {
            Ok(()) => return failed,
            Err(error) => assert!(error.is_full(), "{error}"),
        }
    }
    panic!("it fails for ever");
}

/// Appends and takes snapshots; returns how often something failed.
fn live(journal: &mut Journal) -> u64 {
    let mut failed = 0;
    for round in 1..=4 {
        failed += insist(|| journal.append(&records(round * 10 - 9..=round * 10 - 3)));
        failed += insist(|| journal.append(&records(round * 10 - 2..=round * 10)));
        if round != 3 {
            failed += insist(|| journal.snapshot(round * 10, round != 1, &[7; 3000]));
        }
    }
    failed
}

#[test]
fn a_disk_that_is_full_at_any_step() {
    for from in 0.. {
        let (_parent, directory) = directory();
        let disk = Disk::default();
        let mut journal = disk.open(&directory, io::ErrorKind::StorageFull);
        disk.fail(from, [1, 2, 7][from as usize % 3]);
        let failed = live(&mut journal);
        drop(journal);
        let opened = open_whole(&directory);
        assert_eq!(opened.records, records(21..=40), "from step {from}");
        assert_eq!(opened.snapshots.len(), 2);
        assert!(!files(&directory).iter().any(|name| name.ends_with(".new")));
        if failed == 0 {
            assert!(from > 20, "only {from} steps");
            break;
        }
    }
}

#[test]
fn a_crash_on_a_full_disk() {
    for from in 0.. {
        let (_parent, directory) = directory();
        let disk = Disk::default();
        let mut journal = disk.open(&directory, io::ErrorKind::StorageFull);
        disk.fail(from, u64::MAX);
        let mut durable = 0;
        let mut all = true;
        for commit in 1..=4 {
            match journal.append(&records(commit * 5 - 4..=commit * 5)) {
                Ok(()) => durable = commit * 5,
                Err(_) => {
                    all = false;
                    break;
                }
            }
        }
        drop(journal);
        let opened = open(&directory).expect("a journal");
        let last = opened.journal.last();
        assert!((durable..=durable + 5).contains(&last), "{last} of {durable}, step {from}");
        assert_eq!(opened.records, records(1..=last));
        if all {
            break;
        }
    }
}

/// A writer, and what it says.
fn writer(journal: Journal) -> (Writer, mpsc::Receiver<WriterEvent>) {
    let (tell, told) = mpsc::channel();
    let notify = move |notice| {
        let _ = tell.send(notice);
    };
    (Writer::start(journal, notify).expect("a thread"), told)
}

#[test]
fn the_writer_waits_for_room() {
    let (_parent, directory) = directory();
    let disk = Disk::default();
    let (writer, told) = writer(disk.open(&directory, io::ErrorKind::QuotaExceeded));
    writer.request(WriteRequest::Append(records(1..=3)));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 3 }));
    // Full for several tries.
    disk.fail(0, 3);
    writer.request(WriteRequest::Append(vec![record(4)]));
    let Ok(WriterEvent::Full { reason }) = told.recv() else { panic!("not full") };
    assert!(reason.starts_with("no room to write ") && reason.contains("records-"), "{reason}");
    writer.request(WriteRequest::Append(vec![record(5)]));
    writer.request(WriteRequest::Append(vec![record(6)]));
    assert_eq!(told.recv(), Ok(WriterEvent::Room));
    writer.finish().expect("all on disk");
    let through: Vec<WriterEvent> = told.iter().collect();
    assert_eq!(through.first(), Some(&WriterEvent::Durable { through: 4 }));
    assert_eq!(through.last(), Some(&WriterEvent::Durable { through: 6 }));
    assert_eq!(open_whole(&directory).records, records(1..=6));
}

#[test]
fn finishing_does_not_wait_for_room() {
    let (_parent, directory) = directory();
    let disk = Disk::default();
    let (writer, told) = writer(disk.open(&directory, io::ErrorKind::StorageFull));
    writer.request(WriteRequest::Append(records(1..=3)));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 3 }));
    disk.fail(0, u64::MAX);
    writer.request(WriteRequest::Append(vec![record(4)]));
    assert!(writer.finish().expect_err("full").is_full());
    assert!(matches!(told.recv(), Ok(WriterEvent::Full { .. })));
    assert!(matches!(told.recv(), Ok(WriterEvent::Failed(_))));
    assert_eq!(open(&directory).expect("a journal").records[..3], records(1..=3));
}

#[test]
fn a_broken_disk_is_told() {
    let (_parent, directory) = directory();
    let disk = Disk::default();
    let (writer, told) = writer(disk.open(&directory, io::ErrorKind::Other));
    // A step that fails once is passed over.
    disk.fail(0, 1);
    writer.request(WriteRequest::Append(records(1..=3)));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 3 }));
    disk.fail(0, u64::MAX);
    writer.request(WriteRequest::Append(vec![record(4)]));
    let Ok(WriterEvent::Failed(reason)) = told.recv() else { panic!("not failed") };
    assert!(reason.starts_with("cannot write "), "{reason}");
    writer.request(WriteRequest::Append(vec![record(5)]));
    let error = writer.finish().expect_err("failed");
    assert!(matches!(error, JournalError::Io { .. }), "{error}");
    assert_eq!(told.recv(), Err(mpsc::RecvError));
}

#[test]
fn a_snapshot_that_does_not_fit_holds_up_no_records() {
    let (_parent, directory) = directory();
    let room = Arc::new(AtomicU64::new(100_000));
    let most = Arc::clone(&room);
    let faults = FaultInjector::new(move |step| match step {
        WriteStep::Write(length) if length as u64 > most.load(SeqCst) => {
            Err(io::ErrorKind::StorageFull.into())
        }
        _ => Ok(()),
    });
    let journal =
        Journal::open_with_faults(faults, &directory, &header()).expect("a journal").journal;
    let (writer, told) = writer(journal);
    let snapshot =
        |through| WriteRequest::Snapshot { through, settled: true, bytes: vec![1; 200_000] };
    writer.request(WriteRequest::Append(records(1..=3)));
    writer.request(snapshot(3));
    writer.request(WriteRequest::Append(records(4..=6)));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 3 }));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 6 }));
    assert_eq!(files(&directory), ["records-000001.redb", "solve.json"]);
    writer.request(snapshot(6));
    writer.request(WriteRequest::Append(records(7..=9)));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 9 }));
    // The one that waits is written at the end, now that there is room.
    room.store(u64::MAX, SeqCst);
    writer.finish().expect("all on disk");
    assert_eq!(told.recv(), Ok(WriterEvent::Snapshotted { through: 6 }));
    let opened = open_whole(&directory);
    assert_eq!(opened.snapshots.len(), 1);
    assert_eq!(opened.records, records(1..=9));
}

/// A journal of which all records are only in a file that is damaged.
fn damaged() -> (tempfile::TempDir, std::path::PathBuf) {
    let (parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    journal.append(&records(1..=20)).expect("appended");
    drop(journal);
    let segment = directory.join("records-000001.redb");
    let mut bytes = std::fs::read(&segment).expect("a file");
    // The database cannot be opened, and its records can be found.
    bytes[..64].fill(0);
    std::fs::write(&segment, bytes).expect("written");
    (parent, directory)
}

#[test]
fn a_damaged_journal_is_read_from_a_full_disk_and_repaired_when_there_is_room() {
    let (_parent, directory) = damaged();
    let found = files(&directory);
    let disk = Disk::default();
    let open_full = || {
        disk.fail(0, u64::MAX);
        let faults = disk.faults(io::ErrorKind::StorageFull);
        Journal::open_with_faults(faults, &directory, &header()).expect("it can be read")
    };
    for _ in 0..2 {
        let mut opened = open_full();
        assert_eq!(opened.records, records(1..=20));
        let waits = opened.repairs.last().expect("a sentence");
        assert!(waits.starts_with("no room to write ") && waits.ends_with("until there is room"));
        let next = [record(21)];
        assert!(opened.journal.append(&next).expect_err("no room").is_full());
        assert!(opened.journal.snapshot(20, true, &[1]).expect_err("no room").is_full());
        assert_eq!(files(&directory), found, "nothing is moved before its records are elsewhere");
    }
    let mut journal = open_full().journal;
    disk.fail(0, 0);
    journal.append(&[record(21)]).expect("there is room");
    drop(journal);
    assert!(files(&directory).contains(&"records-000001.redb.damaged-1".to_owned()));
    assert_eq!(open_whole(&directory).records, records(1..=21));
}

#[test]
fn the_repair_goes_on_where_the_disk_was_full() {
    for from in 0.. {
        let (_parent, directory) = damaged();
        let disk = Disk::default();
        // The generation is tried twice, when the journal is opened and before the repair.
        disk.fail(from, 6);
        let faults = disk.faults(io::ErrorKind::StorageFull);
        let opened = Journal::open_with_faults(faults, &directory, &header());
        let mut opened = opened.expect("it can be read");
        let waits = opened.repairs.iter().any(|said| said.ends_with("until there is room"));
        insist(|| opened.journal.append(&[record(21)]));
        drop(opened);
        assert_eq!(open_whole(&directory).records, records(1..=21), "from step {from}");
        if !waits {
            assert!(from > 3, "only {from} steps");
            break;
        }
    }
}

#[test]
fn the_writer_says_at_once_that_a_repair_waits_for_room() {
    let (_parent, directory) = damaged();
    let disk = Disk::default();
    disk.fail(0, u64::MAX);
    let (writer, told) = writer(disk.open(&directory, io::ErrorKind::StorageFull));
    let Ok(WriterEvent::Full { reason }) = told.recv() else { panic!("not full") };
    assert!(reason.starts_with("no room to write "), "{reason}");
    disk.fail(0, 0);
    assert_eq!(told.recv(), Ok(WriterEvent::Room));
    writer.finish().expect("nothing is left to do");
    assert_eq!(open_whole(&directory).records, records(1..=20));
}
