//! The worker's client against a coordinator that says what each test wants it to say, through
//! in-memory pipes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jlpns_games::Threshold;
use jlpns_games::spec::GameSpec;
use jlpns_link::connect::Pipe;
use jlpns_proto::v1::coordinator_message::Kind as Out;
use jlpns_proto::v1::solver_server::{Solver, SolverServer};
use jlpns_proto::v1::worker_message::Kind as In;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use jlpns_search::search::{EPSILON, Growth, Observer};
use jlpns_search::searcher::{Searcher, Searching};
use jlpns_search::{Algorithm, Effort, EffortPair, Findings, Initialisation, Job, Question};
use jlpns_worker::client::{Backoff, Shutdown, WorkerConfig, WorkerEnd, WorkerError, run_worker};
use tokio::io::DuplexStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

/// A coordinator without a mind: each stream goes to the test.
struct Puppet {
    talks: mpsc::Sender<Talk>,
}

/// One stream, from the coordinator's side.
struct Talk {
    inbound: Streaming<v1::WorkerMessage>,
    outbound: mpsc::Sender<Result<v1::CoordinatorMessage, Status>>,
}

#[tonic::async_trait]
impl Solver for Puppet {
    type WorkStream = ReceiverStream<Result<v1::CoordinatorMessage, Status>>;

    async fn work(
        &self,
        request: Request<Streaming<v1::WorkerMessage>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let (outbound, messages) = mpsc::channel(16);
        let talk = Talk { inbound: request.into_inner(), outbound };
        self.talks.send(talk).await.map_err(|_| Status::unavailable("the test is over"))?;
        Ok(Response::new(ReceiverStream::new(messages)))
    }

    async fn get_status(
        &self,
        _request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::SolveStatus>, Status> {
        Ok(Response::new(v1::SolveStatus::default()))
    }

    async fn order_worker(
        &self,
        _request: Request<v1::OrderWorkerRequest>,
    ) -> Result<Response<v1::OrderWorkerReply>, Status> {
        Err(Status::not_found("a puppet has no workers"))
    }
}

impl Talk {
    async fn say(&self, kind: Out) {
        let message = v1::CoordinatorMessage { kind: Some(kind) };
        self.outbound.send(Ok(message)).await.expect("the worker listens");
    }

    async fn fail(&self, status: Status) {
        self.outbound.send(Err(status)).await.expect("the worker listens");
    }

    async fn hear(&mut self) -> In {
        let message = self.inbound.message().await.expect("a sound stream");
        message.expect("the stream goes on").kind.expect("a message is never empty")
    }

    async fn hello(&mut self) -> v1::Hello {
        match self.hear().await {
            In::Hello(hello) => hello,
            other => panic!("{other:?} instead of a hello"),
        }
    }

    /// The next batch that says more than that leases are renewed.
    async fn news(&mut self) -> v1::WorkerBatch {
        loop {
            match self.hear().await {
                other @ (In::Hello(_) | In::Part(_)) => panic!("an unexpected {other:?}"),
                In::Batch(batch) => {
                    let only_renewals = v1::WorkerBatch {
                        renewals: batch.renewals.clone(),
                        ..v1::WorkerBatch::default()
                    };
                    if batch != only_renewals {
                        return batch;
                    }
                }
            }
        }
    }

    async fn welcome(&mut self, solve_id: &str) {
        self.hello().await;
        self.say(Out::Welcome(welcome(solve_id))).await;
    }

    async fn lease(&self, lease_id: u64) {
        let leases = vec![lease(lease_id)];
        self.say(Out::Batch(v1::CoordinatorBatch { leases, ..Default::default() })).await;
    }

    async fn cancel(&self, lease_id: u64) {
        let cancels = vec![lease_id];
        self.say(Out::Batch(v1::CoordinatorBatch { cancels, ..Default::default() })).await;
    }

    async fn acknowledge(&self, lease_id: u64) {
        let acknowledged = vec![lease_id];
        self.say(Out::Batch(v1::CoordinatorBatch { acknowledged, ..Default::default() })).await;
    }
}

fn welcome(solve_id: &str) -> v1::Welcome {
    v1::Welcome {
        protocol_version: PROTOCOL_VERSION,
        solve_id: solve_id.to_owned(),
        spec: "connect4:4x4".to_owned(),
        heartbeat_interval_ms: 1,
        solved_from: 0,
        ..v1::Welcome::default()
    }
}

fn lease(lease_id: u64) -> v1::Lease {
    let job = Job {
        moves: Vec::new(),
        question: Question::Threshold(Threshold(1)),
        sub_search: Algorithm::Pns,
        initialisation: Initialisation::Unit,
        knowledge: true,
        prove: false,
        growth: Growth::of(Algorithm::Pns),
        epsilon: EPSILON,
        budget: lease_id,
    };
    v1::Lease {
        lease_id,
        job: Some(v1::Job::from(&job)),
        deadline_ms: 30_000,
        report_interval_ms: 3_600_000,
        ..v1::Lease::default()
    }
}

/// Searches that say when they begin, and go on until they are stopped or the test lets them end.
struct Patient {
    begun: mpsc::UnboundedSender<u64>,
    may_end: Arc<AtomicBool>,
}

impl Searching for Patient {
    fn searcher(
        &self,
        _spec: &GameSpec,
        _memory: u64,
        _slots: u32,
    ) -> Result<Arc<dyn Searcher>, String> {
        Ok(Arc::new(Patient { begun: self.begun.clone(), may_end: self.may_end.clone() }))
    }
}

impl Searcher for Patient {
    /// The number of nodes in the findings is the budget if the search ended by itself, else 0.
    fn search(&self, job: &Job, observer: &mut dyn Observer) -> Result<Findings, String> {
        assert_ne!(job.budget, 666, "the budget of the beast {}", "!".repeat(2000));
        let _ = self.begun.send(job.budget);
        let so_far = |nodes| Findings {
            efforts: vec![EffortPair { proof: Effort::finite(3), disproof: Effort::finite(4) }],
            children: Vec::new(),
            nodes,
            most_proving_move: None,
        };
        while !self.may_end.load(Ordering::Relaxed) {
            if observer.observe(0, &|| so_far(0)).is_break() {
                return Ok(so_far(0));
            }
            thread::yield_now();
        }
        Ok(so_far(job.budget))
    }
}

/// A worker with a coordinator that the test plays.
struct Stage {
    talks: mpsc::Receiver<Talk>,
    begun: mpsc::UnboundedReceiver<u64>,
    may_end: Arc<AtomicBool>,
    shutdown: watch::Sender<Shutdown>,
    worker: JoinHandle<Result<WorkerEnd, WorkerError>>,
}

impl Stage {
    fn new(slots: u32) -> Stage {
        let (pipe, pipes) = mpsc::channel::<DuplexStream>(1);
        let (to_test, talks) = mpsc::channel(1);
        let connections = ReceiverStream::new(pipes).map(Ok::<_, std::io::Error>);
        let service = SolverServer::new(Puppet { talks: to_test });
        tokio::spawn(Server::builder().add_service(service).serve_with_incoming(connections));

        let (to_begun, begun) = mpsc::unbounded_channel();
        let may_end = Arc::new(AtomicBool::new(false));
        let searching = Arc::new(Patient { begun: to_begun, may_end: may_end.clone() });
        let config = WorkerConfig {
            name: "hamlet".to_owned(),
            machine: "elsinore".to_owned(),
            slots,
            memory: 1 << 20,
            backoff: Backoff { first: Duration::from_micros(10), most: Duration::from_micros(100) },
        };
        let (shutdown, asked) = watch::channel(Shutdown::None);
        let worker = tokio::spawn(run_worker(config, searching, Pipe::new(pipe), asked));
        Stage { talks, begun, may_end, shutdown, worker }
    }

    async fn talk(&mut self) -> Talk {
        self.talks.recv().await.expect("the worker connects")
    }

    fn ask(&self, wanted: Shutdown) {
        self.shutdown.send(wanted).expect("the worker runs");
    }

    async fn end(self) -> Result<WorkerEnd, WorkerError> {
        self.worker.await.expect("no panic")
    }
}

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
    stage.ask(Shutdown::Drain);
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

#[tokio::test]
async fn abort_does_not_wait() {
    let mut stage = Stage::new(1);
    let mut talk = stage.talk().await;
    talk.welcome("a").await;
    talk.lease(7).await;
    assert_eq!(stage.begun.recv().await, Some(7));
    stage.ask(Shutdown::Abort);
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
            "it speaks protocol version 9, this worker version 2; use the same release of both",
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
    let searching = Arc::new(Patient { begun: to_begun, may_end: Arc::default() });
    let config = WorkerConfig {
        name: "ophelia".to_owned(),
        machine: String::new(),
        slots: 1,
        memory: 1 << 20,
        backoff: Backoff { first: Duration::from_secs(3600), most: Duration::from_secs(3600) },
    };
    let (shutdown, asked) = watch::channel(Shutdown::None);
    let worker = tokio::spawn(run_worker(config, searching, Pipe::new(pipe), asked));
    shutdown.send(Shutdown::Drain).expect("the worker runs");
    let end = worker.await.expect("no panic");
    assert_eq!(end.expect("a good end"), WorkerEnd::Drained);
}
