//! Disks that are full or broken: nothing is lost, nothing is there twice, and it goes on when
//! there is room.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};

use jlpns_journal::{Gate, Journal, JournalError, Notice, Order, Step, Writer};

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

    fn gate(&self, kind: io::ErrorKind) -> Gate {
        let disk = self.clone();
        Gate::new(move |_| {
            let taken = disk.taken.fetch_add(1, SeqCst);
            let fails =
                (disk.fails_from.load(SeqCst)..disk.fails_before.load(SeqCst)).contains(&taken);
            if fails { Err(kind.into()) } else { Ok(()) }
        })
    }

    fn open(&self, directory: &Path, kind: io::ErrorKind) -> Journal {
        Journal::open_behind(self.gate(kind), directory, &header()).expect("a journal").journal
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
fn writer(journal: Journal) -> (Writer, mpsc::Receiver<Notice>) {
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
    writer.order(Order::Append(records(1..=3)));
    assert_eq!(told.recv(), Ok(Notice::Durable { through: 3 }));
    // Full for several tries.
    disk.fail(0, 3);
    writer.order(Order::Append(vec![record(4)]));
    let Ok(Notice::Full { reason }) = told.recv() else { panic!("not full") };
    assert!(reason.starts_with("no room to write ") && reason.contains("records-"), "{reason}");
    writer.order(Order::Append(vec![record(5)]));
    writer.order(Order::Append(vec![record(6)]));
    assert_eq!(told.recv(), Ok(Notice::Room));
    writer.finish().expect("all on disk");
    let through: Vec<Notice> = told.iter().collect();
    assert_eq!(through.first(), Some(&Notice::Durable { through: 4 }));
    assert_eq!(through.last(), Some(&Notice::Durable { through: 6 }));
    assert_eq!(open_whole(&directory).records, records(1..=6));
}

#[test]
fn finishing_does_not_wait_for_room() {
    let (_parent, directory) = directory();
    let disk = Disk::default();
    let (writer, told) = writer(disk.open(&directory, io::ErrorKind::StorageFull));
    writer.order(Order::Append(records(1..=3)));
    assert_eq!(told.recv(), Ok(Notice::Durable { through: 3 }));
    disk.fail(0, u64::MAX);
    writer.order(Order::Append(vec![record(4)]));
    assert!(writer.finish().expect_err("full").is_full());
    assert!(matches!(told.recv(), Ok(Notice::Full { .. })));
    assert!(matches!(told.recv(), Ok(Notice::Failed(_))));
    assert_eq!(open(&directory).expect("a journal").records[..3], records(1..=3));
}

#[test]
fn a_broken_disk_is_told() {
    let (_parent, directory) = directory();
    let disk = Disk::default();
    let (writer, told) = writer(disk.open(&directory, io::ErrorKind::Other));
    // A step that fails once is passed over.
    disk.fail(0, 1);
    writer.order(Order::Append(records(1..=3)));
    assert_eq!(told.recv(), Ok(Notice::Durable { through: 3 }));
    disk.fail(0, u64::MAX);
    writer.order(Order::Append(vec![record(4)]));
    let Ok(Notice::Failed(reason)) = told.recv() else { panic!("not failed") };
    assert!(reason.starts_with("cannot write "), "{reason}");
    writer.order(Order::Append(vec![record(5)]));
    let error = writer.finish().expect_err("failed");
    assert!(matches!(error, JournalError::Io { .. }), "{error}");
    assert_eq!(told.recv(), Err(mpsc::RecvError));
}

#[test]
fn a_snapshot_that_does_not_fit_holds_up_no_records() {
    let (_parent, directory) = directory();
    let room = Arc::new(AtomicU64::new(100_000));
    let most = Arc::clone(&room);
    let gate = Gate::new(move |step| match step {
        Step::Write(length) if length as u64 > most.load(SeqCst) => {
            Err(io::ErrorKind::StorageFull.into())
        }
        _ => Ok(()),
    });
    let journal = Journal::open_behind(gate, &directory, &header()).expect("a journal").journal;
    let (writer, told) = writer(journal);
    let snapshot = |through| Order::Snapshot { through, settled: true, bytes: vec![1; 200_000] };
    writer.order(Order::Append(records(1..=3)));
    writer.order(snapshot(3));
    writer.order(Order::Append(records(4..=6)));
    assert_eq!(told.recv(), Ok(Notice::Durable { through: 3 }));
    assert_eq!(told.recv(), Ok(Notice::Durable { through: 6 }));
    assert_eq!(files(&directory), ["records-000001.redb", "solve.json"]);
    writer.order(snapshot(6));
    writer.order(Order::Append(records(7..=9)));
    assert_eq!(told.recv(), Ok(Notice::Durable { through: 9 }));
    // The one that waits is written at the end, now that there is room.
    room.store(u64::MAX, SeqCst);
    writer.finish().expect("all on disk");
    assert_eq!(told.recv(), Ok(Notice::Snapshotted { through: 6 }));
    let opened = open_whole(&directory);
    assert_eq!(opened.snapshots.len(), 1);
    assert_eq!(opened.records, records(1..=9));
}
