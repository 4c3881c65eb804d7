//! What a worker does at a coordinator that holds a queue: many solves on one stream.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as Out;
use jlpns_proto::v1::worker_message::Kind as In;
use jlpns_worker::client::{Wanted, WorkerEnd};
use tonic::Status;

use super::stage::*;

const CONNECT4: &str = "connect4:4x4";

/// The welcome of a queue with these open solves.
pub fn queue(open: &[&str]) -> v1::Welcome {
    v1::Welcome {
        solve_id: String::new(),
        spec: String::new(),
        queue: true,
        kept: true,
        open_solves: open.iter().map(|&id| id.to_owned()).collect(),
        ..welcome("")
    }
}

pub fn begun(id: &str, spec: &str) -> Out {
    Out::Begun(v1::SolveBegun { solve_id: id.to_owned(), spec: spec.to_owned() })
}

pub fn over() -> Out {
    Out::Over(v1::SolveOver { answer: "a draw".to_owned() })
}

/// A batch with a lease whose search has this budget.
pub fn granted(lease_id: u64, budget: u64) -> Out {
    let leases = vec![v1::Lease { lease_id, ..lease(budget) }];
    Out::Batch(v1::CoordinatorBatch { leases, ..Default::default() })
}

fn acknowledged(lease_id: u64) -> Out {
    let acknowledged = vec![lease_id];
    Out::Batch(v1::CoordinatorBatch { acknowledged, ..Default::default() })
}

fn stopped() -> Out {
    Out::Batch(v1::CoordinatorBatch { stopped: true, ..Default::default() })
}

impl Talk {
    pub async fn welcome_to_queue(&mut self, open: &[&str]) {
        self.hello().await;
        self.say(Out::Welcome(queue(open))).await;
    }

    pub async fn begin(&self, number: u64, id: &str) {
        self.say_of(number, begun(id, CONNECT4)).await;
    }

    /// The next news, which is of one report: the number of its solve, its lease and its nodes.
    async fn report(&mut self) -> (u64, u64, u64) {
        let (number, news) = self.news_of().await;
        let [report] = &news.reports[..] else { panic!("no single report: {news:?}") };
        let nodes = report.findings.as_ref().expect("a report has findings").nodes;
        assert_eq!(news, v1::WorkerBatch { reports: news.reports.clone(), ..Default::default() });
        (number, report.lease_id, nodes)
    }

    /// Waits until the worker has hung up.
    async fn until_left(mut self) {
        while self.inbound.message().await.is_ok_and(|message| message.is_some()) {}
    }
}

/// A worker at a queue, with as many slots as there are solves, and a search in each: of lease 7, with the budget 71 in
/// the solve of number 1, and so on.
async fn at_work(solves: u64) -> (Stage, Talk) {
    let mut stage = Stage::new(solves as u32);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&[]).await;
    for number in 1..=solves {
        talk.begin(number, &format!("solve {number}")).await;
        talk.say_of(number, granted(7, 70 + number)).await;
        assert_eq!(stage.begun.recv().await, Some(70 + number));
    }
    (stage, talk)
}

/// A worker at a queue that has reported lease 7 of each of its solves, without an answer.
async fn with_reports(solves: u64) -> (Stage, Talk) {
    let mut stage = Stage::new(1);
    stage.may_end.store(true, Ordering::Relaxed);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&[]).await;
    for number in 1..=solves {
        talk.begin(number, &format!("solve {number}")).await;
        talk.say_of(number, granted(7, 70 + number)).await;
        assert_eq!(stage.begun.recv().await, Some(70 + number));
        assert_eq!(talk.report().await, (number, 7, 70 + number));
    }
    (stage, talk)
}

#[tokio::test]
async fn two_solves_at_a_time_may_have_the_same_leases() {
    let (stage, mut talk) = at_work(2).await;
    let mut renewed = BTreeSet::new();
    while renewed.len() < 2 {
        match talk.hear_of().await {
            (number, In::Batch(batch)) => {
                assert_eq!(batch.renewals, [7]);
                renewed.insert(number);
            }
            other => panic!("an unexpected {other:?}"),
        }
    }
    assert_eq!(renewed, BTreeSet::from([1, 2]));
    let cancels = vec![7];
    talk.say_of(1, Out::Batch(v1::CoordinatorBatch { cancels, ..Default::default() })).await;
    assert_eq!(talk.report().await, (1, 7, 0));
    stage.may_end.store(true, Ordering::Relaxed);
    assert_eq!(talk.report().await, (2, 7, 72));
    // The answer for one is none for the other.
    talk.say_of(1, acknowledged(7)).await;
    talk.fail(Status::unavailable("a storm")).await;
    drop(talk);
    let mut stage = stage;
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 1", "solve 2"]).await;
    talk.begin(1, "solve 1").await;
    talk.begin(2, "solve 2").await;
    assert_eq!(talk.report().await, (2, 7, 72));
}

#[tokio::test]
async fn long_searches_of_each_solve_send_partial_reports() {
    let mut stage = Stage::new(2);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&[]).await;
    for number in [1, 2] {
        talk.begin(number, &format!("solve {number}")).await;
        let leases = vec![v1::Lease { report_interval_ms: 1, ..lease(5) }];
        talk.say_of(number, Out::Batch(v1::CoordinatorBatch { leases, ..Default::default() }))
            .await;
    }
    let mut told = BTreeSet::new();
    while told.len() < 2 {
        let (number, news) = talk.news_of().await;
        assert!(news.progress.iter().all(|progress| progress.lease_id == 5));
        told.insert(number);
    }
    assert_eq!(told, BTreeSet::from([1, 2]));
}

#[tokio::test]
async fn a_solve_ends_and_the_worker_stays() {
    let (mut stage, mut talk) = at_work(1).await;
    // This one waits behind the search.
    talk.say_of(1, granted(8, 80)).await;
    talk.say_of(1, over()).await;
    talk.begin(2, "solve 2").await;
    talk.say_of(2, granted(7, 72)).await;
    // The slot is free: what was searched there has been stopped, and what waited is not begun.
    assert_eq!(stage.begun.recv().await, Some(72));
    stage.may_end.store(true, Ordering::Relaxed);
    // No word of the former solve comes before it.
    assert_eq!(talk.report().await, (2, 7, 72));
    talk.say(over()).await;
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::SolveOver("a draw".to_owned()));
}

#[tokio::test]
async fn the_reports_of_a_solve_that_has_ended_are_forgotten() {
    let (mut stage, talk) = with_reports(1).await;
    talk.say_of(1, over()).await;
    // It is not kept either.
    talk.fail(Status::unavailable("a storm")).await;
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 1"]).await;
    talk.begin(1, "solve 1").await;
    talk.say_of(1, granted(9, 90)).await;
    assert_eq!(talk.report().await, (1, 9, 90));
}

#[tokio::test]
async fn reports_are_told_under_the_number_of_the_new_stream() {
    let (mut stage, talk) = with_reports(2).await;
    talk.fail(Status::unavailable("a storm")).await;
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 1", "solve 2"]).await;
    talk.begin(1, "solve 2").await;
    assert_eq!(talk.report().await, (1, 7, 72));
    talk.begin(9, "solve 1").await;
    assert_eq!(talk.report().await, (9, 7, 71));
    talk.say_of(1, acknowledged(7)).await;
    talk.say_of(9, acknowledged(7)).await;
    stage.ask(Wanted::Drain("asked".to_owned()));
    let (number, news) = talk.news_of().await;
    assert!(number == 0 && news.draining && news.reports.is_empty(), "{news:?}");
    talk.until_left().await;
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::Drained);
}

#[tokio::test]
async fn what_is_found_before_a_solve_has_begun_again_is_kept() {
    let (mut stage, talk) = at_work(1).await;
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 1"]).await;
    talk.begin(1, "solve 2").await;
    talk.say_of(1, granted(7, 72)).await;
    // The only slot is free again, so the former search has said what it has.
    assert_eq!(stage.begun.recv().await, Some(72));
    talk.begin(2, "solve 1").await;
    assert_eq!(talk.report().await, (2, 7, 0));
    stage.may_end.store(true, Ordering::Relaxed);
    assert_eq!(talk.report().await, (1, 7, 72));
}

#[tokio::test]
async fn solves_that_are_not_open_any_more_are_dropped() {
    let (mut stage, talk) = with_reports(2).await;
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 2", "another"]).await;
    // If it begins all the same, it is a new one.
    talk.begin(1, "solve 1").await;
    talk.say_of(1, granted(9, 90)).await;
    assert_eq!(talk.report().await, (1, 9, 90));
    talk.begin(2, "solve 2").await;
    assert_eq!(talk.report().await, (2, 7, 72));
}

#[tokio::test]
async fn a_pause_stops_the_leases_of_all_solves_and_is_told_once() {
    let (mut stage, mut talk) = at_work(2).await;
    stage.ask(Wanted::Pause("busy".to_owned()));
    let (mut told, mut reported) = (0, BTreeSet::new());
    while told == 0 || reported.len() < 2 {
        let (number, news) = talk.news_of().await;
        if number == 0 {
            assert_eq!((news.paused, news.idle_reason.as_str()), (Some(true), "busy"));
            told += 1;
        } else {
            assert!(news.paused.is_none() && news.idle_reason.is_empty(), "{news:?}");
            reported.extend(news.reports.iter().map(|report| (number, report.lease_id)));
        }
    }
    assert_eq!((told, reported), (1, BTreeSet::from([(1, 7), (2, 7)])));
    talk.say_of(2, granted(9, 90)).await;
    let (number, news) = talk.news_of().await;
    assert_eq!((number, news.declines[0].lease_id), (2, 9));
    assert_eq!(news.declines[0].reason, "the worker pauses");
    stage.ask(Wanted::Work);
    let (number, news) = talk.news_of().await;
    assert_eq!((number, news.paused), (0, Some(false)));
    talk.say_of(1, granted(10, 100)).await;
    assert_eq!(stage.begun.recv().await, Some(100));
}

#[tokio::test]
async fn a_worker_that_drains_waits_for_the_answers_of_all_solves() {
    let (stage, mut talk) = with_reports(2).await;
    stage.ask(Wanted::Drain("it is late".to_owned()));
    let (number, news) = talk.news_of().await;
    assert!(number == 0 && news.draining, "{news:?}");
    talk.say_of(1, acknowledged(7)).await;
    talk.say_of(2, granted(9, 90)).await;
    let (number, news) = talk.news_of().await;
    assert_eq!((number, news.declines[0].lease_id), (2, 9));
    assert_eq!(news.declines[0].reason, "the worker is about to leave");
    talk.say_of(2, acknowledged(7)).await;
    talk.until_left().await;
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::Drained);
}

#[tokio::test]
async fn a_worker_that_drains_waits_for_solves_to_begin_again() {
    let (mut stage, talk) = with_reports(2).await;
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 1", "solve 2"]).await;
    stage.ask(Wanted::Drain("it is late".to_owned()));
    assert!(talk.news_of().await.1.draining);
    for number in [1, 2] {
        talk.begin(number, &format!("solve {number}")).await;
        assert_eq!(talk.report().await, (number, 7, 70 + number));
        talk.say_of(number, acknowledged(7)).await;
    }
    talk.until_left().await;
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::Drained);
}

/// Time stands still until all wait, and then leaps.
#[tokio::test(start_paused = true)]
async fn a_worker_that_drains_does_not_wait_for_a_solve_that_never_begins_again() {
    let (mut stage, talk) = with_reports(2).await;
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 1", "solve 2"]).await;
    talk.begin(1, "solve 2").await;
    assert_eq!(talk.report().await, (1, 7, 72));
    stage.ask(Wanted::Drain("it is late".to_owned()));
    assert!(talk.news_of().await.1.draining);
    talk.say_of(1, acknowledged(7)).await;
    talk.until_left().await;
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::Drained);
}

#[tokio::test]
async fn a_queue_that_is_stopped_is_waited_for() {
    let (mut stage, mut talk) = with_reports(1).await;
    for number in [0, 1, 99] {
        talk.say_of(number, stopped()).await;
        talk.until_left().await;
        talk = stage.talk().await;
        talk.welcome_to_queue(&["solve 1"]).await;
        talk.begin(1, "solve 1").await;
        assert_eq!(talk.report().await, (1, 7, 71));
    }
}

#[tokio::test]
async fn queues_that_make_no_sense_are_left() {
    let wrong = "the coordinator sent a message that this worker cannot follow: ";
    let long = "i".repeat(65);
    let welcome_to = || (0, Out::Welcome(queue(&[])));
    let one = || (0, Out::Welcome(welcome("a")));
    let begins = |number, id: &str| (number, begun(id, CONNECT4));
    let names = "the welcome of a queue names a solve or a game; each must come when it begins";
    let no_queue = "a solve of a queue; there must be a welcome of a queue before it";
    let cases = [
        (vec![(0, Out::Welcome(v1::Welcome { spec: CONNECT4.into(), ..queue(&[]) }))], names),
        (vec![(0, Out::Welcome(v1::Welcome { solve_id: "a".into(), ..queue(&[]) }))], names),
        (
            vec![(0, Out::Welcome(v1::Welcome { queue: false, ..queue(&[]) }))],
            "the length of welcome.solve_id is 0; it must be 1 to 64",
        ),
        (vec![begins(1, "a")], no_queue),
        (vec![one(), begins(1, "b")], no_queue),
        (
            vec![(1, over())],
            "the end of solve 1, which is not open; it must have begun on this stream",
        ),
        (
            vec![one(), (1, granted(7, 7))],
            "work on solve 1, which is not open; it must have begun on this stream",
        ),
        (
            vec![one(), (1, over())],
            "the end of solve 1, which is not open; it must have begun on this stream",
        ),
        (
            vec![welcome_to(), begins(0, "a")],
            "a solve begins under the number 0, which stands for none",
        ),
        (
            vec![welcome_to(), begins(1, "")],
            "the length of begun.solve_id is 0; it must be 1 to 64",
        ),
        (
            vec![welcome_to(), begins(1, &long)],
            "the length of begun.solve_id is 65; it must be 1 to 64",
        ),
        (
            vec![welcome_to(), begins(1, "a"), begins(1, "b")],
            "solve 1 (b) begins, which is open already",
        ),
        (
            vec![welcome_to(), begins(1, "a"), begins(2, "a")],
            "solve 2 (a) begins, which is open already",
        ),
        (
            vec![welcome_to(), begins(1, "a"), (0, granted(7, 7))],
            "work on solve 0, which is not open; it must have begun on this stream",
        ),
        (
            vec![welcome_to(), begins(1, "a"), (2, granted(7, 7))],
            "work on solve 2, which is not open; it must have begun on this stream",
        ),
        (
            vec![welcome_to(), begins(1, "a"), (1, over()), (1, granted(7, 7))],
            "work on solve 1, which is not open; it must have begun on this stream",
        ),
        (
            vec![welcome_to(), begins(1, "a"), (1, over()), (1, over())],
            "the end of solve 1, which is not open; it must have begun on this stream",
        ),
        (vec![welcome_to(), welcome_to()], "a second welcome on one stream; there must be one"),
    ];
    for (messages, sentence) in cases {
        let mut stage = Stage::new(1);
        let talk = stage.talk().await;
        for (number, message) in messages {
            talk.say_of(number, message).await;
        }
        let error = stage.end().await.expect_err(sentence);
        assert_eq!(error.to_string(), format!("{wrong}{sentence}"));
    }
}

#[tokio::test]
async fn a_solve_keeps_its_game() {
    let (mut stage, talk) = with_reports(1).await;
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["solve 1"]).await;
    talk.say_of(1, begun("solve 1", "woodpush:8")).await;
    let error = stage.end().await.expect_err("another game");
    let sentence = "solve solve 1 is of another game than before";
    assert!(error.to_string().ends_with(sentence), "{error}");
}
