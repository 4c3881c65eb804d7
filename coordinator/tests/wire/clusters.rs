//! Whole solves with real workers; workers and networks that go away.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jlpns_coordinator::embedded::solve_embedded;
use jlpns_coordinator::serve::serve;
use jlpns_games::spec::GameSpec;
use jlpns_games::{Goal, Outcome};
use jlpns_link::connect::{ConnectError, Connector, Dial, TokenChannel};
use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_search::search::Observer;
use jlpns_search::searcher::{Searcher, Searching};
use jlpns_search::sub_search::SubSearches;
use jlpns_search::{Findings, Job};
use jlpns_solve::Solve;
use jlpns_worker::client::{Wanted, WorkerEnd, run_worker};
use tokio::io::{DuplexStream, copy_bidirectional};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::stage::{Coordinator, driver, settings, within_a_minute, worker_config};

fn value(solve: &Solve) -> Option<Outcome> {
    solve.end().and_then(|end| end.bounds.value())
}

const DRAW: Option<Outcome> = Some(Outcome(1));

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn coordinator_and_worker_solve_a_game_in_one_process() {
    within_a_minute(async {
        let worker = worker_config("embedded", 2);
        let solve = solve_embedded(
            driver(settings("connect4:4x4")),
            worker,
            Arc::new(SubSearches),
            std::future::pending(),
        );
        let solve = solve.await.expect("a good end");
        assert_eq!(value(&solve), DRAW);
        let status = solve.status(Duration::from_secs(1));
        assert!(status.jobs > 1 && status.most_workers == 1, "{status:?}");
        assert_eq!(status.refused, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_over_tcp_hear_of_the_end() {
    within_a_minute(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let driver = driver(settings("connect4:4x4"));
        let serving = tokio::spawn(serve(listener, driver, std::future::pending()));
        let (_keep, asked) = watch::channel(Wanted::Work);
        let (ended, mut ends) = mpsc::channel(2);
        for name in ["a", "b"] {
            let dial = Dial::new(&format!("http://{address}")).expect("an address");
            let config = worker_config(name, 1);
            let worker = run_worker(config, Arc::new(SubSearches), dial, asked.clone());
            let ended = ended.clone();
            tokio::spawn(async move { ended.send(worker.await).await });
        }
        let solve = serving.await.expect("no panic").expect("a good end");
        assert_eq!(value(&solve), DRAW);
        // The other may have come too late to hear it; then it waits for a coordinator.
        let end = ends.recv().await.expect("a worker ends").expect("a good end");
        assert_eq!(end, WorkerEnd::SolveOver("the value is draw".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn status_health_and_reflection_are_served() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let _stream = coordinator.join(3).await;
        coordinator.until(|status| status.workers.len() == 1).await;

        let mut client = SolverClient::new(coordinator.channel().await);
        let status = client.get_status(v1::GetStatusRequest {}).await.expect("a status");
        let status = status.into_inner();
        assert_eq!((status.spec.as_str(), status.value.as_deref()), ("connect4:4x4", None));
        assert_eq!((status.lower.as_str(), status.upper.as_str()), ("loss", "win"));
        assert_eq!((status.workers[0].name.as_str(), status.workers[0].slots), ("ghost", 3));

        let mut client = HealthClient::new(coordinator.channel().await);
        let service = "jlpns.v1.Solver".to_owned();
        let health = client.check(tonic_health::pb::HealthCheckRequest { service }).await;
        let health = health.expect("an answer").into_inner().status();
        assert_eq!(health, ServingStatus::Serving);

        assert_eq!(
            reflected_services(coordinator.channel().await).await,
            ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "jlpns.v1.Solver"]
        );
    })
    .await;
}

async fn reflected_services(line: TokenChannel) -> Vec<String> {
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
    let request = tonic_reflection::pb::v1::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut client = ServerReflectionClient::new(line);
    let answers = client.server_reflection_info(tokio_stream::once(request)).await;
    let answer = answers.expect("an answer").into_inner().message().await.expect("an answer");
    match answer.and_then(|answer| answer.message_response) {
        Some(MessageResponse::ListServicesResponse(list)) => {
            let mut names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
            names.sort_unstable();
            names
        }
        other => panic!("{other:?} instead of a list"),
    }
}

/// Time stands still in this test until all wait, and then leaps to the next deadline.
#[tokio::test(start_paused = true)]
async fn a_silent_worker_loses_its_leases() {
    let mut settings = settings("connect4:4x4");
    settings.lease_length = Duration::from_secs(7);
    let coordinator = Coordinator::start(settings);
    let mut silent = coordinator.join(1).await;
    let lease = silent.batch().await.leases[0].clone();
    assert_eq!(lease.deadline_ms, 7_000);
    // It is told to stop, in case it is only slow.
    assert_eq!(silent.batch().await.cancels, [lease.lease_id]);
    assert!(coordinator.status().await.leases_expired >= 1);
}

#[tokio::test(start_paused = true)]
async fn renewed_leases_stay() {
    let mut settings = settings("connect4:4x4");
    settings.lease_length = Duration::from_secs(7);
    let coordinator = Coordinator::start(settings);
    let mut worker = coordinator.join(1).await;
    let lease = worker.batch().await.leases[0].lease_id;
    for _ in 0..10 {
        tokio::time::advance(Duration::from_secs(5)).await;
        // A report of a lease that nobody knows: its acknowledgement says that all has arrived.
        let findings = Some(v1::Findings { efforts: vec![3, 4], ..Default::default() });
        let reports =
            vec![v1::Report { lease_id: 77, findings, elapsed_us: 1, ..Default::default() }];
        let renewals = vec![lease];
        let batch = v1::WorkerBatch { renewals, reports, ..Default::default() };
        worker.say(FromWorker::Batch(batch)).await;
        assert_eq!(worker.batch().await.acknowledged, [77]);
    }
    let status = coordinator.status().await;
    assert!(status.seconds >= 50.0, "{}", status.seconds);
    assert_eq!((status.leases_expired, status.leased), (0, 1));
}

#[tokio::test]
async fn acknowledgements_wait_for_another_message_or_a_sign_of_life() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let mut worker = coordinator.join(2).await;
        // There is only the root to be searched.
        let lease = worker.batch().await.leases[0].lease_id;
        // Reports of leases that nobody knows.
        let report = |lease_id| {
            let findings = Some(v1::Findings { efforts: vec![3, 4], ..Default::default() });
            let report = v1::Report { lease_id, findings, elapsed_us: 1, ..Default::default() };
            v1::WorkerBatch { reports: vec![report], ..Default::default() }
        };
        worker.say(FromWorker::Batch(report(77))).await;
        worker.say(FromWorker::Batch(report(78))).await;
        let renewal = v1::WorkerBatch { renewals: vec![lease], ..Default::default() };
        worker.say(FromWorker::Batch(renewal)).await;
        assert_eq!(worker.batch().await.acknowledged, [77, 78]);
        // Who drains gets no leases for them to go with.
        let draining = v1::WorkerBatch { draining: true, ..Default::default() };
        worker.say(FromWorker::Batch(draining)).await;
        worker.say(FromWorker::Batch(report(79))).await;
        assert_eq!(worker.batch().await.acknowledged, [79]);
    })
    .await;
}

#[tokio::test]
async fn a_draining_worker_gets_no_more_leases() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let mut leaver = coordinator.join(1).await;
        let lease = leaver.batch().await.leases[0].clone();
        leaver
            .say(FromWorker::Batch(v1::WorkerBatch { draining: true, ..Default::default() }))
            .await;
        let report = v1::Report {
            lease_id: lease.lease_id,
            findings: Some(v1::Findings { efforts: vec![3, 4], nodes: 5, ..Default::default() }),
            elapsed_us: 1,
            ..Default::default()
        };
        leaver
            .say(FromWorker::Batch(v1::WorkerBatch { reports: vec![report], ..Default::default() }))
            .await;
        let answer = leaver.batch().await;
        assert_eq!(answer.acknowledged, [lease.lease_id]);
        assert!(answer.leases.is_empty(), "{answer:?}");
        let status = coordinator.status().await;
        assert_eq!((status.jobs, status.leased), (1, 0));
        assert!(status.workers[0].draining);
        drop(leaver);
        coordinator.until(|status| status.workers.is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn the_leases_of_a_lost_worker_go_to_another() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let mut lost = coordinator.join(1).await;
        let first = lost.batch().await.leases[0].clone();
        let mut other = coordinator.join(1).await;
        coordinator.until(|status| status.workers.len() == 2).await;
        drop(lost);
        let second = other.batch().await.leases[0].clone();
        assert_eq!(first.job, second.job);
        assert_ne!(first.lease_id, second.lease_id);
        let status = coordinator.status().await;
        assert_eq!((status.leases_expired, status.workers.len()), (1, 1));
    })
    .await;
}

/// A way to a coordinator that can be cut.
struct Cable {
    to_coordinator: mpsc::Sender<DuplexStream>,
    relays: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Connector for Cable {
    async fn connect(&self) -> Result<TokenChannel, ConnectError> {
        let (to_relay, mut from_worker) = mpsc::channel(1);
        let to_coordinator = self.to_coordinator.clone();
        let relays = self.relays.clone();
        let relay = tokio::spawn(async move {
            while let Some(mut near) = from_worker.recv().await {
                let (mut far, end) = tokio::io::duplex(1 << 10);
                if to_coordinator.send(end).await.is_err() {
                    return;
                }
                // Ends with either side.
                let _ = copy_bidirectional(&mut near, &mut far).await;
            }
        });
        relays.lock().expect("no panic").push(relay);
        jlpns_link::connect::Pipe::new(to_relay).connect().await
    }
}

/// Real searches; each is counted.
struct Counted {
    begun: mpsc::UnboundedSender<()>,
}

struct CountedSearcher {
    begun: mpsc::UnboundedSender<()>,
    real: Arc<dyn Searcher>,
}

impl Searching for Counted {
    fn searcher(
        &self,
        spec: &GameSpec,
        memory: u64,
        slots: u32,
    ) -> Result<Arc<dyn Searcher>, String> {
        let real = SubSearches.searcher(spec, memory, slots)?;
        Ok(Arc::new(CountedSearcher { begun: self.begun.clone(), real }))
    }
}

impl Searcher for CountedSearcher {
    fn search(&self, job: &Job, observer: &mut dyn Observer) -> Result<Findings, String> {
        let _ = self.begun.send(());
        self.real.search(job, observer)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_breaks_again_and_again_costs_time_only() {
    within_a_minute(async {
        let (to_coordinator, pipes) = mpsc::channel(1);
        let connections = tokio_stream::StreamExt::map(
            tokio_stream::wrappers::ReceiverStream::new(pipes),
            Ok::<DuplexStream, std::io::Error>,
        );
        let driver = driver(settings("connect4:4x4"));
        let handle = driver.handle();
        let serving = tokio::spawn(jlpns_coordinator::serve::serve_connections(
            connections,
            driver,
            std::future::pending(),
        ));
        let relays = Arc::new(Mutex::new(Vec::new()));
        let cable = Cable { to_coordinator, relays: relays.clone() };
        let (begun, mut searches) = mpsc::unbounded_channel();
        let (_keep, asked) = watch::channel(Wanted::Work);
        let worker = run_worker(worker_config("w", 2), Arc::new(Counted { begun }), cable, asked);
        let worker = tokio::spawn(worker);
        for _ in 0..5 {
            searches.recv().await.expect("a search begins");
            let cut: Vec<JoinHandle<()>> = relays.lock().expect("no panic").drain(..).collect();
            for relay in cut {
                relay.abort();
            }
        }
        drop(handle);
        let solve = serving.await.expect("no panic").expect("a good end");
        assert_eq!(value(&solve), DRAW);
        let end = worker.await.expect("no panic").expect("a good end");
        assert_eq!(end, WorkerEnd::SolveOver("the value is draw".to_owned()));
    })
    .await;
}

/// The way to whichever coordinator there is.
struct Address {
    pipe: watch::Receiver<jlpns_link::connect::Pipe>,
}

impl Connector for Address {
    async fn connect(&self) -> Result<TokenChannel, ConnectError> {
        let pipe = self.pipe.borrow().clone();
        pipe.connect().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_finds_the_next_coordinator() {
    within_a_minute(async {
        let first = Coordinator::start(settings("connect4:7x6"));
        let (pipe, pipes) = watch::channel(first.pipe.clone());
        let (_keep, asked) = watch::channel(Wanted::Work);
        let address = Address { pipe: pipes };
        let worker = run_worker(worker_config("w", 1), Arc::new(SubSearches), address, asked);
        let worker = tokio::spawn(worker);
        first.until(|status| status.jobs > 2).await;
        first.vanish().await;

        let second = Coordinator::start(settings("connect4:4x4"));
        pipe.send(second.pipe.clone()).expect("the worker runs");
        let end = worker.await.expect("no panic").expect("a good end");
        assert_eq!(end, WorkerEnd::SolveOver("the value is draw".to_owned()));
        assert_eq!(value(&second.end().await), DRAW);
    })
    .await;
}

#[tokio::test]
async fn the_end_is_told_to_every_worker() {
    within_a_minute(async {
        let mut settings = settings("connect4:4x4");
        settings.goal = Some(Goal::AtLeast(Outcome(1)));
        let coordinator = Coordinator::start(settings);
        let mut busy = coordinator.join(1).await;
        let mut idle = coordinator.join(1).await;
        let lease = busy.batch().await.leases[0].clone();
        assert!(lease.job.is_some_and(|job| job.moves.is_empty()), "the first job is the root");
        let efforts = vec![0, u32::MAX];
        let findings = Some(v1::Findings { efforts, nodes: 5, ..Default::default() });
        let reports = vec![v1::Report {
            lease_id: lease.lease_id,
            findings,
            elapsed_us: 1,
            ..Default::default()
        }];
        busy.say(FromWorker::Batch(v1::WorkerBatch { reports, ..Default::default() })).await;
        for stream in [&mut busy, &mut idle] {
            let over = loop {
                match stream.hear().await.expect("word of the end") {
                    FromCoordinator::Over(over) => break over,
                    FromCoordinator::Batch(_) => {}
                    other => panic!("{other:?} of a coordinator with one solve"),
                }
            };
            assert_eq!(over.answer, ">=draw is proved");
            assert!(stream.end().await.is_none());
        }
        drop((busy, idle));
        let end = coordinator.end().await.end().expect("it has ended");
        assert_eq!(end.proved, Some(true));
    })
    .await;
}
