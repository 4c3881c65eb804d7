//! The writer's thread: orders that wait go into one commit, and none is forgotten at the end.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jlpns_journal::{FaultInjector, Journal, WriteRequest, WriteStep, Writer, WriterEvent};

use crate::stage::{directory, header, open_whole, record, records};

/// Waits for the notices that follow, until the thread is gone.
fn rest(told: &Receiver<WriterEvent>) -> Vec<WriterEvent> {
    told.iter().collect()
}

#[test]
fn orders_that_wait_go_into_one_commit() {
    let (_parent, directory) = directory();
    let (go, gone) = mpsc::channel::<()>();
    let (arrive, arrived) = mpsc::channel::<()>();
    let held = AtomicBool::new(false);
    let gone = Mutex::new(gone);
    let ready = Arc::new(AtomicBool::new(false));
    let is_ready = Arc::clone(&ready);
    // The first thing that is written stops until the test lets it go.
    let faults = FaultInjector::new(move |step| {
        if is_ready.load(SeqCst) && matches!(step, WriteStep::Write(_)) && !held.swap(true, SeqCst)
        {
            arrive.send(()).map_err(io::Error::other)?;
            let gone = gone.lock().map_err(|_| io::ErrorKind::Other)?;
            gone.recv().map_err(io::Error::other)?;
        }
        Ok(())
    });
    let journal =
        Journal::open_with_faults(faults, &directory, &header()).expect("a journal").journal;
    ready.store(true, SeqCst);
    let (tell, told) = mpsc::channel();
    let notify = move |notice| tell.send(notice).expect("someone listens");
    let writer = Writer::start(journal, notify).expect("a thread");
    writer.request(WriteRequest::Append(vec![record(1)]));
    arrived.recv().expect("the first commit");
    for number in 2..=500 {
        writer.request(WriteRequest::Append(vec![record(number)]));
    }
    go.send(()).expect("the first commit waits");
    writer.finish().expect("all on disk");
    assert_eq!(
        rest(&told),
        [WriterEvent::Durable { through: 1 }, WriterEvent::Durable { through: 500 }]
    );
    assert_eq!(open_whole(&directory).records, records(1..=500));
}

#[test]
fn records_wait_for_others_until_the_pace_lets_them_go() {
    let (_parent, directory) = directory();
    let (tell, told) = mpsc::channel();
    let notify = move |notice| tell.send(notice).expect("someone listens");
    let writer = Writer::start(open_whole(&directory).journal, notify).expect("a thread");
    writer.request(WriteRequest::Pace(Duration::from_secs(3_600)));
    writer.request(WriteRequest::Append(vec![record(1)]));
    assert_eq!(told.recv(), Ok(WriterEvent::Durable { through: 1 }), "there was no commit before");
    for number in 2..=500 {
        writer.request(WriteRequest::Append(vec![record(number)]));
    }
    // Who finishes does not wait for the next hour.
    writer.finish().expect("all on disk");
    assert_eq!(rest(&told), [WriterEvent::Durable { through: 500 }]);
    assert_eq!(open_whole(&directory).records, records(1..=500));
}

#[test]
fn a_snapshot_comes_between_the_records_it_was_ordered_between() {
    let (_parent, directory) = directory();
    let (tell, told) = mpsc::channel();
    let notify = move |notice| tell.send(notice).expect("someone listens");
    let writer = Writer::start(open_whole(&directory).journal, notify).expect("a thread");
    writer.request(WriteRequest::Append(Vec::new()));
    for round in 1..=3 {
        writer.request(WriteRequest::Append(records(round * 10 - 9..=round * 10)));
        writer.request(WriteRequest::Snapshot {
            through: round * 10,
            settled: true,
            bytes: vec![2; 10],
        });
    }
    writer.request(WriteRequest::Append(records(31..=32)));
    writer.finish().expect("all on disk");
    let expected: Vec<WriterEvent> = (1..=3)
        .map(|round| round * 10)
        .flat_map(|through| {
            [WriterEvent::Durable { through }, WriterEvent::Snapshotted { through }]
        })
        .chain([WriterEvent::Durable { through: 32 }])
        .collect();
    assert_eq!(rest(&told), expected);
    assert_eq!(open_whole(&directory).records, records(21..=32));
}

#[test]
fn a_writer_that_is_dropped_writes_what_was_ordered() {
    let (_parent, directory) = directory();
    let (tell, told) = mpsc::channel();
    let notify = move |notice| tell.send(notice).expect("someone listens");
    let writer = Writer::start(open_whole(&directory).journal, notify).expect("a thread");
    for number in 1..=50 {
        writer.request(WriteRequest::Append(vec![record(number)]));
    }
    drop(writer);
    assert_eq!(rest(&told).last(), Some(&WriterEvent::Durable { through: 50 }));
}

#[test]
fn records_out_of_order_are_told() {
    let (_parent, directory) = directory();
    let (tell, told) = mpsc::channel();
    let notify = move |notice| tell.send(notice).expect("someone listens");
    let writer = Writer::start(open_whole(&directory).journal, notify).expect("a thread");
    writer.request(WriteRequest::Append(vec![record(2)]));
    let error = writer.finish().expect_err("refused").to_string();
    assert_eq!(error, "cannot add record 2 as record 1 to a journal whose last record is 0");
    assert_eq!(rest(&told), [WriterEvent::Failed(error)]);
}
