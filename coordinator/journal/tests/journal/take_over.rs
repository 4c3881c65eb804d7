//! A process that was frozen or cut off while another went on with its journal must not write to it any more, and what
//! it was told to be durable must be there for the other.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, mpsc};

use jlpns_journal::{
    FaultInjector, Journal, JournalError, Opened, WriteRequest, WriteStep, Writer, WriterEvent,
};
use proptest::prelude::*;

use crate::stage::{directory, header, numbers, open, open_whole, record, records};

fn take_over(directory: &Path) -> Opened {
    Journal::take_over(directory, &header()).expect("it is taken over")
}

fn is_superseded(result: Result<(), JournalError>) -> bool {
    matches!(result, Err(JournalError::Superseded { .. }))
}

#[test]
fn the_older_process_writes_nothing_any_more() {
    let (_parent, directory) = directory();
    let mut frozen = open_whole(&directory).journal;
    frozen.append(&records(1..=3)).expect("appended");
    frozen.snapshot(2, true, b"two").expect("a snapshot");
    let in_use = open(&directory).expect_err("in use").to_string();
    assert!(in_use.contains("(generation 1: process "), "{in_use}");
    assert!(in_use.contains("--take-over"), "{in_use}");
    let Opened { mut journal, records: found, .. } = take_over(&directory);
    assert_eq!(numbers(&found).last(), Some(&3));
    let files = crate::stage::files(&directory);
    assert!(is_superseded(frozen.append(&[record(4)])));
    assert!(is_superseded(frozen.append(&[record(4)])));
    assert!(is_superseded(frozen.snapshot(3, true, b"three")));
    assert!(is_superseded(frozen.settle(2)));
    assert_eq!(crate::stage::files(&directory), files);
    journal.append(&records(4..=5)).expect("appended");
    drop(frozen);
    drop(journal);
    assert_eq!(numbers(&open_whole(&directory).records).last(), Some(&5));
}

/// What is done to a journal once, in the middle of one of its steps.
fn once(
    is_it: fn(WriteStep) -> bool,
    then: impl Fn() + Send + Sync + 'static,
) -> (FaultInjector, Arc<AtomicBool>) {
    let armed = Arc::new(AtomicBool::new(false));
    let trigger = armed.clone();
    let faults = FaultInjector::new(move |asked| {
        if is_it(asked) && trigger.swap(false, SeqCst) {
            then();
        }
        Ok(())
    });
    (faults, armed)
}

/// The other process reads before the commit is on disk, so nobody may hear that it is durable.
#[test]
fn a_commit_during_which_the_journal_is_taken_over_is_not_durable() {
    let (_parent, directory) = directory();
    let taken = Arc::new(Mutex::new(None));
    let (path, there) = (directory.clone(), taken.clone());
    let (faults, armed) = once(
        |step| matches!(step, WriteStep::Write(_)),
        move || {
            *there.lock().expect("not poisoned") = Some(take_over(&path));
        },
    );
    let mut frozen =
        Journal::open_with_faults(faults, &directory, &header()).expect("a journal").journal;
    frozen.append(&records(1..=3)).expect("appended");
    armed.store(true, SeqCst);
    assert!(is_superseded(frozen.append(&[record(4)])));
    let Opened { mut journal, records: found, .. } =
        taken.lock().expect("not poisoned").take().expect("it was taken over");
    assert_eq!(numbers(&found), [1, 2, 3]);
    // What the frozen one has left behind is not taken for a record of the newer one.
    journal.append(&[record(4)]).expect("appended");
    drop((frozen, journal));
    assert_eq!(numbers(&open_whole(&directory).records), [1, 2, 3, 4]);
}

/// The other process may be about to read what the older snapshots need.
#[test]
fn a_snapshot_during_which_the_journal_is_taken_over_deletes_nothing() {
    let (_parent, directory) = directory();
    let path = directory.clone();
    let (faults, armed) =
        once(|step| matches!(step, WriteStep::Write(_)), move || drop(take_over(&path)));
    let mut frozen =
        Journal::open_with_faults(faults, &directory, &header()).expect("a journal").journal;
    for last in 1..=3 {
        frozen.append(&[record(last)]).expect("appended");
        if last < 3 {
            frozen.snapshot(last, true, b"all").expect("a snapshot");
        }
    }
    let before = crate::stage::files(&directory);
    armed.store(true, SeqCst);
    // What it had begun to write is gone.
    assert!(frozen.snapshot(3, true, b"all").is_err());
    assert!(is_superseded(frozen.snapshot(3, true, b"all")));
    let after = crate::stage::files(&directory);
    assert!(before.iter().all(|name| after.contains(name)), "{before:?}, then {after:?}");
}

/// The generation is written before anything is read: what the older process was told to be durable until then is read.
#[test]
fn what_is_durable_before_the_generation_begins_is_read() {
    let (_parent, directory) = directory();
    let mut frozen = open_whole(&directory).journal;
    frozen.append(&records(1..=3)).expect("appended");
    drop(frozen);
    let frozen = Arc::new(Mutex::new(open_whole(&directory).journal));
    let older = frozen.clone();
    let (faults, armed) = once(
        |step| step == WriteStep::Sync,
        move || {
            older.lock().expect("not poisoned").append(&[record(4)]).expect("it is the newest yet");
        },
    );
    armed.store(true, SeqCst);
    // A lock that does not hold, as on a file system that has none.
    std::fs::remove_file(directory.join("lock")).expect("removed");
    let opened = Journal::open_with_faults(faults, &directory, &header()).expect("opened");
    assert!(!armed.load(SeqCst));
    assert_eq!(numbers(&opened.records), [1, 2, 3, 4]);
    assert!(is_superseded(frozen.lock().expect("not poisoned").append(&[record(5)])));
}

#[test]
fn the_writer_says_once_that_it_was_superseded_and_ends() {
    let (_parent, directory) = directory();
    let journal = open_whole(&directory).journal;
    let (events, told) = mpsc::channel();
    let writer = Writer::start(journal, move |event| {
        // The test may have ended.
        let _ = events.send(event);
    })
    .expect("a thread");
    writer.request(WriteRequest::Append(records(1..=2)));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 2 }));
    drop(take_over(&directory));
    writer.request(WriteRequest::Append(records(3..=3)));
    let Ok(WriterEvent::Failed(reason)) = told.recv() else { panic!("it must not go on") };
    assert!(reason.contains("was taken over (generation 2: process "), "{reason}");
    assert!(writer.finish().is_err());
    assert_eq!(told.recv(), Err(mpsc::RecvError));
}

/// The older process comes to in the middle of making a file that the newer one has made in the meantime.
#[test]
fn what_the_older_process_finishes_replaces_nothing_of_the_newer_one() {
    for is_it in [
        (|step| matches!(step, WriteStep::Write(_))) as fn(WriteStep) -> bool,
        |step| step == WriteStep::Sync,
        // Before the newer one could see that it is under way.
        |step| step == WriteStep::Create,
    ] {
        for makes_a_snapshot in [false, true] {
            let (_parent, directory) = directory();
            let newer = Arc::new(Mutex::new(None));
            let (path, there) = (directory.clone(), newer.clone());
            let (faults, armed) = once(is_it, move || {
                let mut journal = take_over(&path).journal;
                let next = journal.last() + 1;
                journal.append(&records(next..=next + 4)).expect("appended");
                journal.snapshot(next + 4, true, b"newer").expect("a snapshot");
                journal.append(&records(next + 5..=next + 6)).expect("appended");
                *there.lock().expect("not poisoned") = Some(journal);
            });
            let mut frozen = Journal::open_with_faults(faults, &directory, &header())
                .expect("a journal")
                .journal;
            if makes_a_snapshot {
                frozen.append(&records(1..=2)).expect("appended");
                armed.store(true, SeqCst);
                assert!(frozen.snapshot(2, true, b"older").is_err());
                assert!(is_superseded(frozen.snapshot(2, true, b"older")));
            } else {
                armed.store(true, SeqCst);
                assert!(frozen.append(&records(1..=2)).is_err());
                assert!(is_superseded(frozen.append(&records(1..=2))));
            }
            drop(frozen);
            let mut journal = newer.lock().expect("not poisoned").take().expect("taken over");
            let last = journal.last();
            journal.append(&records(last + 1..=last + 1)).expect("appended");
            drop(journal);
            let opened = open_whole(&directory);
            assert_eq!(opened.snapshots[0].bytes, b"newer");
            assert_eq!(numbers(&opened.records).last(), Some(&(last + 1)));
        }
    }
}

#[test]
fn who_takes_over_has_the_lock_as_soon_as_the_other_has_ended() {
    let (_parent, directory) = directory();
    let frozen = open_whole(&directory).journal;
    let mut journal = take_over(&directory).journal;
    drop(frozen);
    journal.append(&[record(1)]).expect("appended");
    assert!(matches!(open(&directory), Err(JournalError::InUse { .. })));
}

#[test]
fn a_journal_that_is_gone_is_not_said_to_be_taken_over() {
    let (parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    journal.append(&[record(1)]).expect("appended");
    std::fs::rename(&directory, parent.path().join("moved")).expect("moved");
    let error = journal.append(&[record(2)]).expect_err("it is gone");
    assert!(!matches!(error, JournalError::Superseded { .. }), "{error}");
    assert!(error.to_string().contains("generation"), "{error}");
}

#[test]
fn a_writer_without_work_ends_as_well() {
    let (_parent, directory) = directory();
    let (events, told) = mpsc::channel();
    let writer: Writer = Writer::start(open_whole(&directory).journal, move |event| {
        // The test may have ended.
        let _ = events.send(event);
    })
    .expect("a thread");
    drop(take_over(&directory));
    let Ok(WriterEvent::Failed(reason)) = told.recv() else { panic!("it must not go on") };
    assert!(reason.contains("was taken over"), "{reason}");
    assert!(writer.finish().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Processes take over from each other at any time; each goes on trying to write.
    #[test]
    fn what_was_acknowledged_is_read_by_whoever_comes_next(
        steps in prop::collection::vec((0..4_usize, 0..5_u64), 1..20),
    ) {
        let (_parent, directory) = directory();
        let mut processes = vec![(open_whole(&directory).journal, 0)];
        let mut durable = 0;
        for (who, count) in steps {
            if who == 3 {
                let opened = take_over(&directory);
                prop_assert_eq!(opened.records.len() as u64, durable);
                numbers(&opened.records);
                processes.push((opened.journal, durable));
                continue;
            }
            let index = who.min(processes.len() - 1);
            let is_newest = index == processes.len() - 1;
            let (journal, last) = &mut processes[index];
            let appended = journal.append(&records(*last + 1..=*last + count));
            if is_newest {
                prop_assert!(appended.is_ok());
                *last += count;
                durable = *last;
            } else {
                prop_assert!(count == 0 || is_superseded(appended));
            }
        }
        drop(processes);
        prop_assert_eq!(open_whole(&directory).records.len() as u64, durable);
    }
}
