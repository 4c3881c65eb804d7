//! How long a worker waits for a coordinator that is gone.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as Out;
use jlpns_worker::client::{WorkerEnd, WorkerError};
use tokio::time::Instant;
use tonic::Status;

use super::stage::*;

/// Time stands still in these tests until all wait, and then leaps.
const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::test(start_paused = true)]
async fn a_worker_that_never_finds_its_coordinator_gives_up() {
    let (stage, mut gate) = Stage::gated(PATIENCE);
    let begun = Instant::now();
    gate.stay_shut_for_good().await;
    assert!(begun.elapsed() >= PATIENCE);
    let error = stage.end().await.expect_err("there is no coordinator");
    assert!(matches!(error, WorkerError::GaveUp { after: PATIENCE, .. }), "{error}");
    assert!(error.to_string().contains("for 10m, so this worker gives up"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_puts_a_worker_off_is_not_given_up() {
    let (mut stage, mut gate) = Stage::gated(PATIENCE);
    let begun = Instant::now();
    while begun.elapsed() < 3 * PATIENCE {
        gate.open().await;
        stage.talk().await.fail(Status::resource_exhausted("there are enough workers")).await;
        tokio::time::advance(PATIENCE / 2).await;
    }
    gate.open().await;
    let mut talk = stage.talk().await;
    talk.hello().await;
    talk.say(Out::Over(v1::SolveOver { answer: "a draw".to_owned() })).await;
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::SolveOver("a draw".to_owned()));
}

/// A worker that holds a report that nobody has acknowledged when its coordinator goes.
async fn with_a_report(kept: bool) -> (Stage, Gate) {
    let (mut stage, mut gate) = Stage::gated(PATIENCE);
    gate.open().await;
    let mut talk = stage.talk().await;
    talk.hello().await;
    talk.say(Out::Welcome(v1::Welcome { kept, ..welcome("a") })).await;
    talk.lease(7).await;
    stage.may_end.store(true, Ordering::Relaxed);
    assert_eq!(talk.news().await.reports.len(), 1);
    (stage, gate)
}

#[tokio::test(start_paused = true)]
async fn a_worker_with_reports_of_a_solve_that_is_kept_does_not_give_up() {
    let (mut stage, mut gate) = with_a_report(true).await;
    gate.stay_shut(3 * PATIENCE).await;
    gate.open().await;
    let mut talk = stage.talk().await;
    talk.hello().await;
    talk.say(Out::Welcome(v1::Welcome { kept: true, ..welcome("a") })).await;
    let reports = talk.news().await.reports;
    assert_eq!(reports.iter().map(|report| report.lease_id).collect::<Vec<_>>(), [7]);
    talk.acknowledge(7).await;
    // Nothing is left that anybody could want.
    drop(talk);
    gate.stay_shut_for_good().await;
    let error = stage.end().await.expect_err("there is no coordinator");
    assert!(matches!(error, WorkerError::GaveUp { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn reports_of_a_solve_that_is_not_kept_are_no_reason_to_wait() {
    let (stage, mut gate) = with_a_report(false).await;
    gate.stay_shut_for_good().await;
    let error = stage.end().await.expect_err("there is no coordinator");
    assert!(matches!(error, WorkerError::GaveUp { .. }), "{error}");
}

#[tokio::test]
async fn a_coordinator_that_was_stopped_is_waited_for() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    stage.begun.recv().await.expect("a search begins");
    let stopped = v1::CoordinatorBatch { stopped: true, ..Default::default() };
    talk.say(Out::Batch(stopped)).await;
    // The worker hangs up.
    while talk.inbound.message().await.is_ok_and(|message| message.is_some()) {}
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    stage.may_end.store(true, Ordering::Relaxed);
    assert_eq!(talk.news().await.reports.len(), 1);
    talk.say(Out::Over(v1::SolveOver { answer: "a draw".to_owned() })).await;
    assert_eq!(stage.end().await.expect("a good end"), WorkerEnd::SolveOver("a draw".to_owned()));
}
