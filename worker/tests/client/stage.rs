//! A coordinator that says what each test wants it to say, and a worker that speaks to it through in-memory pipes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
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
use jlpns_search::{
    Algorithm, Effort, EffortPair, Findings, Initialisation, Job, Question, SolvedPosition,
};
use jlpns_worker::client::{
    Backoff, JobsTaken, Wanted, WorkerConfig, WorkerEnd, WorkerError, run_worker,
};
use tokio::io::DuplexStream;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

/// A coordinator without a mind: each stream goes to the test.
pub struct Puppet {
    pub talks: mpsc::Sender<Talk>,
}

/// One stream, from the coordinator's side.
pub struct Talk {
    pub inbound: Streaming<v1::WorkerMessage>,
    pub outbound: mpsc::Sender<Result<v1::CoordinatorMessage, Status>>,
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
    pub async fn say(&self, kind: Out) {
        self.say_of(0, kind).await;
    }

    /// Says something of the solve of a number.
    pub async fn say_of(&self, solve: u64, kind: Out) {
        let message = v1::CoordinatorMessage { kind: Some(kind), solve };
        self.outbound.send(Ok(message)).await.expect("the worker listens");
    }

    pub async fn fail(&self, status: Status) {
        self.outbound.send(Err(status)).await.expect("the worker listens");
    }

    /// What the worker says of the only solve, or of itself.
    pub async fn hear(&mut self) -> In {
        let (solve, kind) = self.hear_of().await;
        assert_eq!(solve, 0, "{kind:?}");
        kind
    }

    /// What the worker says, behind the number of the solve.
    pub async fn hear_of(&mut self) -> (u64, In) {
        let message = self.inbound.message().await.expect("a sound stream");
        let message = message.expect("the stream goes on");
        (message.solve, message.kind.expect("a message is never empty"))
    }

    pub async fn hello(&mut self) -> v1::Hello {
        match self.hear().await {
            In::Hello(hello) => hello,
            other => panic!("{other:?} instead of a hello"),
        }
    }

    /// The next batch that says more than that leases are renewed.
    pub async fn news(&mut self) -> v1::WorkerBatch {
        let (solve, batch) = self.news_of().await;
        assert_eq!(solve, 0, "{batch:?}");
        batch
    }

    /// The same of any solve, behind its number.
    pub async fn news_of(&mut self) -> (u64, v1::WorkerBatch) {
        loop {
            match self.hear_of().await {
                (_, other @ (In::Hello(_) | In::Part(_))) => panic!("an unexpected {other:?}"),
                (solve, In::Batch(batch)) => {
                    let only_renewals = v1::WorkerBatch {
                        renewals: batch.renewals.clone(),
                        ..v1::WorkerBatch::default()
                    };
                    if batch != only_renewals {
                        return (solve, batch);
                    }
                }
            }
        }
    }

    pub async fn welcome(&mut self, solve_id: &str) {
        self.hello().await;
        self.say(Out::Welcome(welcome(solve_id))).await;
    }

    /// The same where workers tell each other whatever they solve.
    pub async fn welcome_to_share(&mut self, solve_id: &str) {
        self.hello().await;
        self.say(Out::Welcome(v1::Welcome { solved_from: 1, ..welcome(solve_id) })).await;
    }

    pub async fn lease(&self, lease_id: u64) {
        let leases = vec![lease(lease_id)];
        self.say(Out::Batch(v1::CoordinatorBatch { leases, ..Default::default() })).await;
    }

    pub async fn cancel(&self, lease_id: u64) {
        let cancels = vec![lease_id];
        self.say(Out::Batch(v1::CoordinatorBatch { cancels, ..Default::default() })).await;
    }

    pub async fn acknowledge(&self, lease_id: u64) {
        let acknowledged = vec![lease_id];
        self.say(Out::Batch(v1::CoordinatorBatch { acknowledged, ..Default::default() })).await;
    }
}

pub fn welcome(solve_id: &str) -> v1::Welcome {
    v1::Welcome {
        protocol_version: PROTOCOL_VERSION,
        solve_id: solve_id.to_owned(),
        spec: "connect4:4x4".to_owned(),
        heartbeat_interval_ms: 1,
        solved_from: 0,
        ..v1::Welcome::default()
    }
}

pub fn lease(lease_id: u64) -> v1::Lease {
    let job = Job {
        moves: Vec::new(),
        question: Question::Threshold(Threshold(1)),
        sub_search: Algorithm::Pns,
        initialisation: Initialisation::Unit,
        knowledge: true,
        prove: false,
        alone: true,
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
#[derive(Clone)]
pub struct Patient {
    pub begun: mpsc::UnboundedSender<u64>,
    pub may_end: Arc<AtomicBool>,
    /// Told when a searcher has got ready.
    pub ready: Arc<Notify>,
    /// What the searches have solved, to be told.
    pub solved: Arc<Mutex<Vec<SolvedPosition>>>,
    /// Whether their table has taken in what others had told.
    pub is_told: Arc<AtomicBool>,
}

impl Searching for Patient {
    fn searcher(
        &self,
        _spec: &GameSpec,
        _memory: u64,
        _slots: u32,
    ) -> Result<Arc<dyn Searcher>, String> {
        Ok(Arc::new(self.clone()))
    }
}

/// Makes such searches, and tells of which game and with how much memory.
pub struct Told {
    pub searching: Patient,
    pub made: mpsc::UnboundedSender<(String, u64)>,
}

impl Searching for Told {
    fn searcher(
        &self,
        spec: &GameSpec,
        memory: u64,
        slots: u32,
    ) -> Result<Arc<dyn Searcher>, String> {
        let _ = self.made.send((spec.to_string(), memory));
        self.searching.searcher(spec, memory, slots)
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
        while !self.may_end.load(Ordering::Acquire) {
            if observer.observe(0, &|| so_far(0)).is_break() {
                return Ok(so_far(0));
            }
            thread::yield_now();
        }
        Ok(so_far(job.budget))
    }

    fn get_ready(&self) {
        self.ready.notify_one();
    }

    fn take_solved(&self) -> Vec<SolvedPosition> {
        std::mem::take(&mut *self.solved.lock().expect("no panic"))
    }

    fn rests_on_hearsay(&self, _: &Job) -> bool {
        self.is_told.load(Ordering::Relaxed)
    }
}

/// A worker with a coordinator that the test plays.
pub struct Stage {
    pub talks: mpsc::Receiver<Talk>,
    pub begun: mpsc::UnboundedReceiver<u64>,
    pub made: mpsc::UnboundedReceiver<(String, u64)>,
    pub may_end: Arc<AtomicBool>,
    pub ready: Arc<Notify>,
    pub solved: Arc<Mutex<Vec<SolvedPosition>>>,
    pub is_told: Arc<AtomicBool>,
    pub shutdown: watch::Sender<Wanted>,
    pub worker: JoinHandle<Result<WorkerEnd, WorkerError>>,
}

/// What stands between a worker and its coordinator.
pub struct Gate {
    pub connections: mpsc::Receiver<DuplexStream>,
    pub passed: mpsc::Sender<DuplexStream>,
}

impl Gate {
    /// Lets the next connection through.
    pub async fn open(&mut self) {
        let connection = self.connections.recv().await.expect("the worker connects");
        self.passed.send(connection).await.expect("the server runs");
    }

    /// Lets nothing through for so long.
    pub async fn stay_shut(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            drop(self.connections.recv().await.expect("the worker tries again"));
        }
    }

    /// Lets nothing through until the worker has gone.
    pub async fn stay_shut_for_good(&mut self) {
        while self.connections.recv().await.is_some() {}
    }
}

impl Stage {
    pub fn new(slots: u32) -> Stage {
        Stage::taking(slots, JobsTaken::default())
    }

    /// A worker that takes such jobs only.
    pub fn taking(slots: u32, takes: JobsTaken) -> Stage {
        let (pipe, pipes) = mpsc::channel::<DuplexStream>(1);
        Stage::with(slots, takes, pipe, pipes, Duration::from_micros(100), None)
    }

    /// A worker that gives up, and a gate: its connections come to the test, which passes them on or not.
    pub fn gated(give_up_after: Duration) -> (Stage, Gate) {
        let (pipe, connections) = mpsc::channel::<DuplexStream>(1);
        let (passed, pipes) = mpsc::channel::<DuplexStream>(1);
        (
            Stage::with(
                1,
                JobsTaken::default(),
                pipe,
                pipes,
                Duration::from_secs(30),
                Some(give_up_after),
            ),
            Gate { connections, passed },
        )
    }

    pub fn with(
        slots: u32,
        takes: JobsTaken,
        pipe: mpsc::Sender<DuplexStream>,
        pipes: mpsc::Receiver<DuplexStream>,
        most: Duration,
        give_up_after: Option<Duration>,
    ) -> Stage {
        let (to_test, talks) = mpsc::channel(1);
        let connections = ReceiverStream::new(pipes).map(Ok::<_, std::io::Error>);
        let service = SolverServer::new(Puppet { talks: to_test });
        tokio::spawn(Server::builder().add_service(service).serve_with_incoming(connections));

        let (to_begun, begun) = mpsc::unbounded_channel();
        let may_end = Arc::new(AtomicBool::new(false));
        let (ready, solved, is_told) = (Arc::default(), Arc::default(), Arc::default());
        let searching =
            Patient { begun: to_begun, may_end: may_end.clone(), ready, solved, is_told };
        let Patient { ready, solved, is_told, .. } = searching.clone();
        let (to_made, made) = mpsc::unbounded_channel();
        let searching = Arc::new(Told { searching, made: to_made });
        let config = WorkerConfig {
            name: "hamlet".to_owned(),
            machine: "elsinore".to_owned(),
            slots,
            memory: 1 << 20,
            backoff: Backoff { first: Duration::from_micros(10), most },
            give_up_after,
            takes,
        };
        let (shutdown, asked) = watch::channel(Wanted::Work);
        let worker = tokio::spawn(run_worker(config, searching, Pipe::new(pipe), asked));
        Stage { talks, begun, made, may_end, ready, solved, is_told, shutdown, worker }
    }

    pub async fn talk(&mut self) -> Talk {
        self.talks.recv().await.expect("the worker connects")
    }

    pub fn ask(&self, wanted: Wanted) {
        self.shutdown.send(wanted).expect("the worker runs");
    }

    pub async fn end(self) -> Result<WorkerEnd, WorkerError> {
        self.worker.await.expect("no panic")
    }
}
