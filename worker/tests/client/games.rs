//! Which games a worker takes jobs of, and when the tables of a game are kept.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as Out;
use jlpns_worker::client::{JobsTaken, WorkerError};

use super::queue::{begun, granted, over, queue};
use super::stage::*;

const CONNECT4: &str = "connect4:4x4";
const WOODPUSH: &str = "woodpush:8";
/// The memory of the worker on the stage.
const ALL: u64 = 1 << 20;

impl Stage {
    /// Waits for the search of this budget, and gives the searchers that were made before it.
    async fn made_until(&mut self, budget: u64) -> Vec<(String, u64)> {
        assert_eq!(self.begun.recv().await, Some(budget));
        let mut made = Vec::new();
        while let Ok(one) = self.made.try_recv() {
            made.push(one);
        }
        made
    }
}

fn of(made: &[(&str, u64)]) -> Vec<(String, u64)> {
    made.iter().map(|&(game, memory)| (game.to_owned(), memory)).collect()
}

#[tokio::test]
async fn tables_are_kept_from_solve_to_solve_of_a_queue() {
    let mut stage = Stage::new(1);
    stage.may_end.store(true, Ordering::Relaxed);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&[]).await;
    talk.say_of(1, begun("a", CONNECT4)).await;
    talk.say_of(2, begun("b", WOODPUSH)).await;
    // A game takes no memory before its first job.
    talk.say_of(2, granted(1, 1)).await;
    assert_eq!(stage.made_until(1).await, of(&[(WOODPUSH, ALL)]));
    talk.say_of(2, over()).await;
    talk.say_of(1, granted(1, 2)).await;
    assert_eq!(stage.made_until(2).await, of(&[(CONNECT4, ALL)]));
    talk.say_of(1, over()).await;
    // The game is the same, however it is written.
    talk.say_of(1, begun("c", "Connect4:4X4")).await;
    talk.say_of(1, granted(1, 3)).await;
    assert_eq!(stage.made_until(3).await, of(&[]));
    // A lost stream changes nothing.
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&[]).await;
    talk.say_of(1, begun("d", CONNECT4)).await;
    talk.say_of(1, granted(1, 4)).await;
    assert_eq!(stage.made_until(4).await, of(&[]));
    // Two games at a time share the memory.
    talk.say_of(2, begun("e", WOODPUSH)).await;
    talk.say_of(2, granted(1, 5)).await;
    assert_eq!(stage.made_until(5).await, of(&[(CONNECT4, ALL / 2), (WOODPUSH, ALL / 2)]));
    talk.say_of(1, granted(2, 6)).await;
    assert_eq!(stage.made_until(6).await, of(&[]));
}

#[tokio::test]
async fn what_one_solve_knows_does_not_come_into_that_of_another_coordinator() {
    let mut stage = Stage::new(1);
    stage.may_end.store(true, Ordering::Relaxed);
    for (round, solve) in [(1, "a"), (2, "b")] {
        let mut talk = stage.talk().await;
        talk.welcome(solve).await;
        talk.lease(10 + round).await;
        assert_eq!(stage.made_until(10 + round).await, of(&[(CONNECT4, ALL)]));
        drop(talk);
        let mut talk = stage.talk().await;
        talk.welcome(solve).await;
        talk.lease(20 + round).await;
        assert_eq!(stage.made_until(20 + round).await, of(&[]), "it is the same solve");
        drop(talk);
    }
    // A queue, where it may have been before.
    let mut talk = stage.talk().await;
    talk.welcome_to_queue(&["b"]).await;
    talk.say_of(1, begun("b", CONNECT4)).await;
    talk.say_of(1, granted(30, 30)).await;
    assert_eq!(stage.made_until(30).await, of(&[(CONNECT4, ALL)]));
    let reports = talk.news_of().await.1.reports;
    assert_eq!(reports.iter().map(|report| report.lease_id).collect::<Vec<_>>(), [30]);
    drop(talk);
    let mut talk = stage.talk().await;
    talk.welcome("b").await;
    talk.lease(40).await;
    assert_eq!(stage.made_until(40).await, of(&[(CONNECT4, ALL)]));
    assert_eq!(talk.news().await.reports[0].lease_id, 40);
}

fn only_connect4() -> JobsTaken {
    JobsTaken { games: vec!["connect4".to_owned()], longest: Some(Duration::from_secs(90)) }
}

#[tokio::test]
async fn jobs_of_other_games_are_declined() {
    let mut stage = Stage::taking(1, only_connect4());
    let mut talk = stage.talk().await;
    let hello = talk.hello().await;
    assert_eq!((hello.games, hello.longest_job_ms), (vec!["connect4".to_owned()], 90_000));
    talk.say(Out::Welcome(queue(&[]))).await;
    let cases = [
        (WOODPUSH, "the worker takes no jobs of woodpush; it takes those of connect4"),
        ("chess:8x8", "unknown game 'chess'; write connect4:COLUMNSxROWS, "),
    ];
    for (number, (spec, reason)) in (1..).zip(cases) {
        talk.say_of(number, begun(spec, spec)).await;
        talk.say_of(number, granted(7, 7)).await;
        let (of, news) = talk.news_of().await;
        assert_eq!((of, news.declines[0].lease_id), (number, 7));
        assert!(news.declines[0].reason.starts_with(reason), "{}", news.declines[0].reason);
        // It ends as any other.
        talk.say_of(number, over()).await;
    }
    talk.say_of(3, begun("a", CONNECT4)).await;
    talk.say_of(3, granted(8, 8)).await;
    assert_eq!(stage.made_until(8).await, of(&[(CONNECT4, ALL)]));
}

#[tokio::test]
async fn a_coordinator_with_one_solve_of_another_game_is_left() {
    let mut stage = Stage::taking(1, only_connect4());
    let mut talk = stage.talk().await;
    talk.hello().await;
    let welcome = v1::Welcome { spec: WOODPUSH.to_owned(), ..welcome("a") };
    talk.say(Out::Welcome(welcome)).await;
    let error = stage.end().await.expect_err("another game");
    assert!(matches!(error, WorkerError::NotTaken { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "the coordinator solves woodpush:8, and this worker takes jobs of connect4 only (--games)"
    );

    let mut stage = Stage::taking(1, only_connect4());
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
}
