//! What a worker does with what its coordinator says.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jlpns_games::Threshold;
use jlpns_link::connect::Pipe;
use jlpns_proto::convert::{packed_parts, unpacked};
use jlpns_proto::v1::coordinator_message::Kind as Out;
use jlpns_proto::v1::worker_message::Kind as In;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use jlpns_search::SolvedPosition;
use jlpns_worker::client::{Backoff, JobsTaken, Wanted, WorkerConfig, WorkerEnd, run_worker};
use tokio::sync::{mpsc, watch};
use tonic::Status;

use super::stage::*;

#[tokio::test]
async fn a_job_is_renewed_while_it_runs_and_reported_when_it_ends() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    let hello = talk.hello().await;
    let expected = v1::Hello {
        protocol_version: PROTOCOL_VERSION,
        name: "hamlet".to_owned(),
        slots: 1,
        memory_bytes: 1 << 20,
        instance: hello.instance,
        machine: "elsinore".to_owned(),
        build: jlpns_proto::BUILD.to_owned(),
        ..Default::default()
    };
    assert_eq!(hello, expected);
    assert_ne!(hello.instance, 0, "it tells its process from others");
    talk.say(Out::Welcome(welcome("a"))).await;
    talk.lease(7).await;
    talk.lease(8).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    // The only slot is busy, and both leases are kept alive all the same.
    let renewed = loop {
        match talk.hear().await {
            In::Batch(batch) if batch.renewals.len() == 2 => break batch.renewals,
            In::Batch(batch) => assert!(batch.reports.is_empty()),
            other @ (In::Hello(_) | In::Part(_)) => panic!("an unexpected {other:?}"),
        }
    };
    assert_eq!(renewed, [7, 8]);
    stage.may_end.store(true, Ordering::Relaxed);
    let mut reported = Vec::new();
    while reported.len() < 2 {
        for report in talk.news().await.reports {
            let findings = report.findings.expect("a report has findings");
            assert_eq!((findings.nodes, findings.efforts), (report.lease_id, vec![3, 4]));
            reported.push(report.lease_id);
        }
    }
    assert_eq!(reported, [7, 8]);
    talk.say(Out::Over(v1::SolveOver { answer: "a draw".to_owned() })).await;
    let end = stage.end().await.expect("a good end");
    assert_eq!(end, WorkerEnd::SolveOver("a draw".to_owned()));
}

#[tokio::test]
async fn a_worker_gets_ready_before_it_has_anything_to_do() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    stage.ready.notified().await;
}

#[tokio::test]
async fn what_is_solved_is_told_while_the_search_goes_on() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome_to_share("a").await;
    talk.lease(5).await;
    assert_eq!(stage.begun.recv().await, Some(5));
    for key in 1..=2 {
        stage.solved.lock().unwrap().push(solved(key));
        let news = talk.news().await;
        assert!(news.reports.is_empty() && news.progress.is_empty());
        let told = unpacked(&news.solved.expect("what was solved")).expect("it is well packed");
        assert_eq!(told, [solved(key)]);
    }
}

/// A table may be told something until the search that reads it has ended.
#[tokio::test]
async fn what_is_told_during_a_search_makes_its_report_hearsay() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome_to_share("a").await;
    for (lease, told) in [(5, false), (6, true)] {
        stage.may_end.store(false, Ordering::Relaxed);
        talk.lease(lease).await;
        assert_eq!(stage.begun.recv().await, Some(lease));
        stage.is_told.store(told, Ordering::Relaxed);
        stage.may_end.store(true, Ordering::Release);
        let report = talk.news().await.reports.remove(0);
        assert_eq!((report.lease_id, report.hearsay), (lease, told));
    }
}

#[tokio::test]
async fn who_is_told_something_answers_with_what_it_has_solved() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome_to_share("a").await;
    // Nothing is searched, so that nothing is told without being asked for.
    stage.solved.lock().unwrap().push(solved(1));
    let others = packed_parts(&[solved(2)]);
    talk.say(Out::Batch(v1::CoordinatorBatch { solved: others, ..Default::default() })).await;
    let told = unpacked(&talk.news().await.solved.expect("what was solved"));
    assert_eq!(told.expect("it is well packed"), [solved(1)]);
}

fn solved(key: u128) -> SolvedPosition {
    SolvedPosition { key, threshold: Threshold(1), holds: true, work: 9 }
}

#[tokio::test]
async fn long_searches_send_partial_reports() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    let often = v1::Lease { report_interval_ms: 1, ..lease(5) };
    talk.say(Out::Batch(v1::CoordinatorBatch { leases: vec![often], ..Default::default() })).await;
    for _ in 0..3 {
        let news = talk.news().await;
        assert!(news.reports.is_empty() && !news.progress.is_empty());
        assert!(news.progress.iter().all(|progress| progress.lease_id == 5));
    }
}

#[tokio::test]
async fn a_cancelled_search_stops_and_reports_what_it_has() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    talk.lease(8).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    talk.cancel(8).await;
    talk.cancel(7).await;
    let (mut reports, mut declines) = (Vec::new(), Vec::new());
    while reports.is_empty() || declines.is_empty() {
        let news = talk.news().await;
        reports.extend(news.reports);
        declines.extend(news.declines);
    }
    assert_eq!(reports[0].lease_id, 7);
    assert_eq!(reports[0].findings.as_ref().map(|findings| findings.nodes), Some(0));
    assert_eq!(declines[0].lease_id, 8);
    assert_eq!(declines[0].reason, "it was called back before its search began");
}

#[tokio::test]
async fn draining_reports_what_there_is_and_waits_until_it_is_heard() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    stage.ask(Wanted::Drain("asked".to_owned()));
    let mut drained = false;
    let mut reports = Vec::new();
    while !drained || reports.is_empty() {
        let news = talk.news().await;
        drained |= news.draining;
        reports.extend(news.reports);
    }
    assert_eq!(reports[0].lease_id, 7);
    // It is not gone yet: it declines what it is given.
    talk.lease(8).await;
    let declined = talk.news().await.declines;
    assert_eq!(declined[0].reason, "the worker is about to leave");
    talk.acknowledge(7).await;
    while talk.inbound.message().await.expect("a sound stream").is_some() {}
    drop(talk);
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::Drained);
}

/// Reads what a worker says until it says this of its pauses; gives the reason.
async fn said_of_pauses(talk: &mut Talk, paused: bool) -> String {
    loop {
        let news = talk.news().await;
        assert!(!news.draining);
        if news.paused == Some(paused) {
            return news.idle_reason;
        }
    }
}

#[tokio::test]
async fn a_pause_gives_back_what_there_is_and_lasts_until_it_is_over() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    stage.ask(Wanted::Pause("anna\nis logged in".to_owned()));
    let (mut reason, mut reports) = (None, Vec::new());
    while reason.is_none() || reports.is_empty() {
        let news = talk.news().await;
        reason = reason.or((news.paused == Some(true)).then_some(news.idle_reason));
        reports.extend(news.reports);
    }
    assert_eq!(reason.as_deref(), Some("anna is logged in"));
    assert_eq!(reports[0].lease_id, 7);
    talk.acknowledge(7).await;
    // What was granted in the meantime is declined.
    talk.lease(8).await;
    let declined = talk.news().await.declines;
    assert_eq!(declined[0].reason, "the worker pauses");
    // A new stream is told as well.
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    assert_eq!(said_of_pauses(&mut talk, true).await, "anna is logged in");
    stage.ask(Wanted::Work);
    assert_eq!(said_of_pauses(&mut talk, false).await, "");
    talk.lease(9).await;
    assert_eq!(stage.begun.recv().await, Some(9));
}

#[tokio::test]
async fn a_worker_that_pauses_can_be_drained() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    stage.ask(Wanted::Pause("busy".to_owned()));
    assert_eq!(said_of_pauses(&mut talk, true).await, "busy");
    stage.ask(Wanted::Drain("it is late".to_owned()));
    loop {
        let news = talk.news().await;
        if news.draining {
            assert_eq!((news.paused, news.idle_reason.as_str()), (None, "it is late"));
            break;
        }
    }
    while talk.inbound.message().await.expect("a sound stream").is_some() {}
    drop(talk);
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::Drained);
}

#[tokio::test]
async fn abort_does_not_wait() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    stage.ask(Wanted::Abort);
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::Aborted);
}

#[tokio::test]
async fn a_report_that_was_not_acknowledged_is_sent_again() {
    let mut stage = Stage::new(2);
    stage.may_end.store(true, Ordering::Relaxed);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(talk.news().await.reports[0].lease_id, 7);
    talk.lease(8).await;
    assert_eq!(talk.news().await.reports[0].lease_id, 8);
    talk.acknowledge(7).await;
    talk.fail(Status::unavailable("a storm")).await;
    drop(talk);

    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    let news = talk.news().await;
    assert_eq!(news.reports.iter().map(|report| report.lease_id).collect::<Vec<_>>(), [8]);
}

#[tokio::test]
async fn a_search_outlives_its_stream_and_reports_to_the_next() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    drop(talk);

    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    let news = talk.news().await;
    assert_eq!(news.reports[0].lease_id, 7);
    // And its slot is free for the next.
    talk.lease(9).await;
    assert_eq!(stage.begun.recv().await, Some(9));
}

#[tokio::test]
async fn another_solve_hears_nothing_of_the_former_one() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    drop(talk);

    let mut talk = stage.talk().await;
    talk.welcome("b").await;
    // The same number, another lease.
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    stage.may_end.store(true, Ordering::Relaxed);
    let news = talk.news().await;
    assert_eq!(news.reports.len(), 1);
    assert_eq!(news.reports[0].findings.as_ref().map(|findings| findings.nodes), Some(7));
}

#[tokio::test]
async fn a_refused_worker_does_not_come_back() {
    let mut stage = Stage::new(1);
    let talk = stage.talk().await;
    talk.fail(Status::failed_precondition("speak version 2")).await;
    let error = stage.end().await.expect_err("refused");
    assert_eq!(error.to_string(), "the coordinator refused this worker: speak version 2");
}

#[tokio::test]
async fn jobs_that_make_no_sense_are_declined() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    let mut no_question = lease(1);
    if let Some(job) = &mut no_question.job {
        job.question = None;
    }
    let cases = [
        (v1::Lease { job: None, ..lease(1) }, "lease.job is missing; it must be set"),
        (no_question, "job.question is missing; it must be set"),
        (
            v1::Lease { report_interval_ms: 0, ..lease(1) },
            "lease.report_interval_ms is 0; it must be 1 to 18446744073709551615",
        ),
        (
            v1::Lease { deadline_ms: 0, ..lease(1) },
            "lease.deadline_ms is 0; it must be 1 to 18446744073709551615",
        ),
        (lease(666), "its search panicked: assertion `left != right` failed: the budget of the"),
    ];
    for (lease, reason) in cases {
        let leases = vec![lease];
        talk.say(Out::Batch(v1::CoordinatorBatch { leases, ..Default::default() })).await;
        let declines = talk.news().await.declines;
        assert!(declines[0].reason.starts_with(reason), "{}", declines[0].reason);
        assert!(declines[0].reason.len() <= 1000);
    }
    // The slot has survived the panic.
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
}

#[tokio::test]
async fn a_coordinator_that_makes_no_sense_is_left() {
    let wrong = "the coordinator sent a message that this worker cannot follow: ";
    let cases = [
        (
            Out::Batch(v1::CoordinatorBatch::default()),
            "work before the welcome; the welcome must come first",
        ),
        (
            Out::Welcome(v1::Welcome { protocol_version: 9, ..welcome("a") }),
            "it speaks protocol version 9, this worker version 6; use the same release of both",
        ),
        (
            Out::Welcome(v1::Welcome { spec: "chess:8x8".to_owned(), ..welcome("a") }),
            "unknown game 'chess'; write connect4:COLUMNSxROWS, woodpush:CELLS or woodpush:BOARD",
        ),
        (
            Out::Welcome(v1::Welcome { heartbeat_interval_ms: 0, ..welcome("a") }),
            "welcome.heartbeat_interval_ms is 0; it must be 1 to 3600000",
        ),
        (Out::Welcome(welcome("")), "the length of welcome.solve_id is 0; it must be 1 to 64"),
    ];
    for (message, sentence) in cases {
        let mut stage = Stage::new(1);
        let talk = stage.talk().await;
        talk.say(message).await;
        let error = stage.end().await.expect_err(sentence);
        assert_eq!(error.to_string(), format!("{wrong}{sentence}"));
    }
}

#[tokio::test]
async fn without_a_coordinator_a_worker_drains_at_once() {
    let (pipe, pipes) = mpsc::channel(1);
    drop(pipes);
    let (to_begun, _begun) = mpsc::unbounded_channel();
    let searching = Arc::new(Patient {
        begun: to_begun,
        may_end: Arc::default(),
        ready: Arc::default(),
        solved: Arc::default(),
        is_told: Arc::default(),
    });
    let config = WorkerConfig {
        name: "ophelia".to_owned(),
        machine: String::new(),
        slots: 1,
        memory: 1 << 20,
        backoff: Backoff { first: Duration::from_secs(3600), most: Duration::from_secs(3600) },
        give_up_after: None,
        takes: JobsTaken::default(),
    };
    let (shutdown, asked) = watch::channel(Wanted::Work);
    let worker = tokio::spawn(run_worker(config, searching, Pipe::new(pipe), asked));
    shutdown.send(Wanted::Drain("asked".to_owned())).expect("the worker runs");
    let end = worker.await.expect("no panic");
    assert_eq!(end.expect("a good end"), WorkerEnd::Drained);
}
