//! Solved positions that travel from worker to worker.

use jlpns_games::Threshold;
use jlpns_proto::convert::{packed, unpacked_parts};
use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_search::SolvedPosition;
use jlpns_solve::SolveSettings;

use crate::stage::{Coordinator, Stream, hello, settings, within_a_minute};

fn solved(key: u128) -> SolvedPosition {
    SolvedPosition { key, threshold: Threshold(1), holds: true, work: 5_000 }
}

/// Joins under a name; also what the welcome asks for.
async fn join(coordinator: &Coordinator, name: &str) -> (Stream, u32) {
    let hello = v1::Hello { name: name.to_owned(), ..hello() };
    let mut stream = coordinator.open(FromWorker::Hello(hello)).await.expect("a welcome");
    match stream.hear().await {
        Ok(FromCoordinator::Welcome(welcome)) => (stream, welcome.solved_from),
        other => panic!("{other:?} instead of a welcome"),
    }
}

async fn tell(stream: &Stream, solved: v1::SolvedPositions) {
    let solved = Some(solved);
    stream.say(FromWorker::Batch(v1::WorkerBatch { solved, ..Default::default() })).await;
}

/// The next positions that it is told.
async fn told(stream: &mut Stream) -> Vec<SolvedPosition> {
    loop {
        let solved = unpacked_parts(&stream.batch().await.solved).expect("solved positions");
        if !solved.is_empty() {
            return solved;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_worker_has_solved_is_told_to_the_others_once_and_to_newcomers() {
    within_a_minute(async {
        let settings = SolveSettings { share: true, ..settings("connect4:7x6") };
        let coordinator = Coordinator::start(settings);
        let (first, from) = join(&coordinator, "first").await;
        let (mut second, _) = join(&coordinator, "second").await;
        assert_eq!(from, 1_000);
        coordinator.until(|status| status.workers.len() == 2).await;
        tell(&first, packed(&[solved(7)])).await;
        assert_eq!(told(&mut second).await, [solved(7)]);
        tell(&first, packed(&[solved(7), solved(8)])).await;
        assert_eq!(told(&mut second).await, [solved(8)]);
        coordinator.until(|status| status.shared_positions == 2).await;
        let (mut third, _) = join(&coordinator, "third").await;
        assert_eq!(told(&mut third).await, [solved(7), solved(8)]);
        coordinator.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_told_where_workers_are_not_trusted() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:7x6"));
        let (first, from) = join(&coordinator, "first").await;
        let (mut second, _) = join(&coordinator, "second").await;
        assert_eq!(from, 0);
        tell(&first, packed(&[solved(7)])).await;
        // Everything that the first worker said has been heard when its draining shows.
        first
            .say(FromWorker::Batch(v1::WorkerBatch { draining: true, ..Default::default() }))
            .await;
        coordinator.until(|status| status.workers.iter().any(|worker| worker.draining)).await;
        coordinator.stop().await;
        while let Ok(message) = second.hear().await {
            if let FromCoordinator::Batch(batch) = message {
                assert!(batch.solved.is_empty());
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_that_are_none_are_refused() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:7x6"));
        let (mut worker, _) = join(&coordinator, "first").await;
        tell(&worker, v1::SolvedPositions { facts: vec![512], ..packed(&[solved(7)]) }).await;
        let status = worker.end().await.expect("a reason");
        assert!(status.message().contains("solved.facts"), "{status:?}");
        coordinator.stop().await;
    })
    .await;
}
