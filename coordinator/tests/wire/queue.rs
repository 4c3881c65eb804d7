//! A queue over a loopback connection, and workers that say what a test wants.

use std::sync::Arc;
use std::time::Duration;

use jlpns_admission::Admission;
use jlpns_coordinator::queue::driver::{QueueConfig, QueueDriver};
use jlpns_coordinator::queue::opening::{Opening, Template};
use jlpns_coordinator::recorder::OtherProcess;
use jlpns_coordinator::serve::serve_queue;
use jlpns_games::spec::Games;
use jlpns_link::connect::{Connector, Dial, TokenChannel};
use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::queue_client::QueueClient;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_queue::QueueSettings;
use jlpns_search::search::{SearchSettings, search_any};
use jlpns_search::{EffortPair, Findings, Job, TranspositionTable};
use jlpns_solve::SolveSettings;
use jlpns_solve::belief::Confirm;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::stage::{hello, within_a_minute};

/// A queue that is served.
struct Served {
    url: String,
    serving: JoinHandle<()>,
    _folder: TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Served {
    async fn new(confirm: Confirm) -> Served {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let template = Template {
            settings: Arc::new(SolveSettings::new),
            lease_length: Duration::from_secs(30),
            confirm,
            facts: Vec::new(),
        };
        let opening = Opening {
            directory: folder.path().to_owned(),
            queue_id: "q".to_owned(),
            template,
            other: OtherProcess::Keeps,
            is_stopping: Arc::default(),
        };
        let settings = QueueSettings { sweep_nodes: 1 << 30, most_open: 1 };
        let config = QueueConfig { opening, settings, games: Games::built_in() };
        let queue = QueueDriver::open(config).expect("a new queue");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let serving = serve_queue(Admission::of_all(), listener, queue, std::future::pending());
        let serving = tokio::spawn(async { serving.await.expect("it is served") });
        Served { url, serving, _folder: folder }
    }

    async fn line(&self) -> TokenChannel {
        let dial = Dial::new(&self.url).expect("a URL");
        dial.connect().await.expect("it listens")
    }

    async fn submit(&self, specs: &[&str]) -> Vec<u64> {
        let entries =
            specs.iter().map(|&spec| v1::NewEntry { spec: spec.to_owned(), ..Default::default() });
        let submission = specs.concat();
        let request = v1::SubmitRequest { entries: entries.collect(), submission };
        let reply = QueueClient::new(self.line().await).submit(request).await;
        reply.expect("numbers").into_inner().numbers
    }

    /// An entry, once it has ended.
    async fn ended(&self, number: u64) -> v1::QueueEntry {
        let request = v1::FollowEntriesRequest { numbers: vec![number] };
        let told = QueueClient::new(self.line().await).follow_entries(request).await;
        told.expect("a stream").into_inner().message().await.expect("an entry").expect("an end")
    }

    async fn join(&self) -> Result<Worker, Status> {
        self.join_as("ghost").await
    }

    /// Joins under a name, always from the same machine.
    async fn join_as(&self, name: &str) -> Result<Worker, Status> {
        let (outbound, messages) = mpsc::channel(16);
        let hello = v1::Hello { machine: "m".to_owned(), name: name.to_owned(), ..hello() };
        let hello = v1::WorkerMessage::from(FromWorker::Hello(hello));
        outbound.send(hello).await.expect("room for a message");
        let mut client = SolverClient::new(self.line().await);
        let inbound = client.work(ReceiverStream::new(messages)).await?.into_inner();
        let mut worker = Worker { outbound, inbound };
        let (solve, welcome) = worker.hear().await?;
        match welcome {
            FromCoordinator::Welcome(welcome) => {
                assert!(solve == 0 && welcome.queue && welcome.spec.is_empty() && welcome.kept);
            }
            other => panic!("{other:?} instead of a welcome"),
        }
        Ok(worker)
    }
}

/// A worker's stream.
struct Worker {
    outbound: mpsc::Sender<v1::WorkerMessage>,
    inbound: Streaming<v1::CoordinatorMessage>,
}

impl Worker {
    async fn say(&self, solve: u64, batch: v1::WorkerBatch) {
        let kind = Some(FromWorker::Batch(batch));
        // The coordinator may have hung up.
        let _ = self.outbound.send(v1::WorkerMessage { kind, solve }).await;
    }

    async fn hear(&mut self) -> Result<(u64, FromCoordinator), Status> {
        let message = self.inbound.message().await?.ok_or(Status::cancelled("the end"))?;
        Ok((message.solve, message.kind.expect("a message is never empty")))
    }

    /// The next lease, and the number of its solve.
    async fn lease(&mut self) -> Result<(u64, v1::Lease), Status> {
        loop {
            if let (solve, FromCoordinator::Batch(mut batch)) = self.hear().await?
                && let Some(lease) = batch.leases.pop()
            {
                assert!(solve > 0 && batch.leases.is_empty(), "one for its slot");
                return Ok((solve, lease));
            }
        }
    }

    /// Reports what `found` makes of a lease.
    async fn report(&self, solve: u64, lease: v1::Lease, found: impl Fn(&Job) -> Findings) {
        let job = Job::try_from(lease.job.expect("a job")).expect("a sound job");
        let subject = v1::Subject { seal: lease.seal, ..v1::Subject::from(&job) };
        let report = v1::Report {
            lease_id: lease.lease_id,
            findings: Some(v1::Findings::from(&found(&job))),
            elapsed_us: 1,
            subject: Some(subject),
            certificate_bytes: None,
            hearsay: false,
        };
        self.say(solve, v1::WorkerBatch { reports: vec![report], ..Default::default() }).await;
    }
}

/// What an honest worker finds.
fn honest(job: &Job) -> Findings {
    let spec = "connect4:4x4".parse::<jlpns_games::spec::GameSpec>().expect("a spec");
    let table = TranspositionTable::with_bytes(1 << 20).expect("a table");
    let settings = SearchSettings::of_job(job);
    let end =
        search_any(spec.game(), &job.moves, job.question, &settings, (&table).into(), &mut ());
    end.expect("legal moves").findings
}

/// That the player who moves first wins.
fn a_win(job: &Job) -> Findings {
    let efforts = vec![EffortPair::solved(true); job.question.thresholds().1];
    Findings { efforts, children: Vec::new(), nodes: 9, most_proving_move: None }
}

#[tokio::test]
async fn what_is_said_of_a_solve_carries_its_number() {
    within_a_minute(async {
        let served = Served::new(Confirm::None).await;
        let mut worker = served.join().await.expect("a welcome");
        assert_eq!(served.submit(&["connect4:4x4"]).await, [1]);
        let (solve, begun) = worker.hear().await.expect("a solve");
        assert!(
            solve > 0
                && matches!(begun, FromCoordinator::Begun(begun) if begun.spec == "connect4:4x4")
        );
        let (of, lease) = worker.lease().await.expect("a lease");
        assert_eq!(of, solve);
        // Of a solve that is not there nothing is heard.
        worker.say(99, v1::WorkerBatch { renewals: vec![1], ..Default::default() }).await;
        worker.report(solve, lease, honest).await;
        let entry = served.ended(1).await;
        assert_eq!((entry.state(), entry.value.as_deref()), (v1::EntryState::Solved, Some("draw")));
        assert_eq!((entry.claims, entry.claims_confirmed, entry.jobs), (Some(2), Some(0), 1));
        // What is about leases says of which solve they are.
        worker.say(0, v1::WorkerBatch { renewals: vec![1], ..Default::default() }).await;
        let status = loop {
            if let Err(status) = worker.hear().await {
                break status;
            }
        };
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    })
    .await;
}

#[tokio::test]
async fn a_liar_is_put_out_of_the_whole_queue_and_its_answer_does_not_come_out() {
    within_a_minute(async {
        let served = Served::new(Confirm::Answer).await;
        let mut liar = served.join().await.expect("a welcome");
        served.submit(&["connect4:4x4"]).await;
        let (solve, lease) = liar.lease().await.expect("a lease");
        liar.report(solve, lease, a_win).await;
        // The coordinator itself finds out that this is not true.
        let status = loop {
            if let Err(status) = liar.hear().await {
                break status;
            }
        };
        assert_eq!(status.code(), Code::PermissionDenied, "{status}");
        let refused = served.join().await.err().expect("it is put out");
        assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
        let order = v1::WorkerOrder::Reinstate.into();
        let request = v1::OrderWorkerRequest { name: "ghost".to_owned(), order };
        let mut client = SolverClient::new(served.line().await);
        assert_eq!(client.order_worker(request).await.expect("an order").into_inner().affected, 1);
        let mut honest_now = served.join().await.expect("it may come again");
        let entry = async { served.ended(1).await };
        let work = async {
            while let Ok((solve, lease)) = honest_now.lease().await {
                honest_now.report(solve, lease, honest).await;
            }
            panic!("an honest worker is let go");
        };
        let entry = tokio::select! {
            entry = entry => entry,
            () = work => unreachable!(),
        };
        assert_eq!(entry.value.as_deref(), Some("draw"));
        assert_eq!(entry.claims, entry.claims_confirmed);
    })
    .await;
}

/// No solve is open that could let it go.
#[tokio::test]
async fn whoever_is_kicked_goes_with_all_workers_of_its_machine() {
    within_a_minute(async {
        let served = Served::new(Confirm::None).await;
        let mut workers = Vec::new();
        for name in ["one", "two"] {
            workers.push(served.join_as(name).await.expect("a welcome"));
        }
        let order = v1::WorkerOrder::Kick.into();
        let request = v1::OrderWorkerRequest { name: "one".to_owned(), order };
        let mut client = SolverClient::new(served.line().await);
        client.order_worker(request).await.expect("an order");
        for mut worker in workers {
            while worker.hear().await.is_ok() {}
        }
        let refused = served.join_as("two").await.err().expect("it is put out");
        assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    })
    .await;
}

#[tokio::test]
async fn bad_requests_are_refused_with_what_is_wrong() {
    within_a_minute(async {
        let served = Served::new(Confirm::None).await;
        let mut client = QueueClient::new(served.line().await);
        let entry = |spec: &str, goal: Option<&str>| v1::NewEntry {
            spec: spec.to_owned(),
            goal: goal.map(str::to_owned),
            ..Default::default()
        };
        let named = |entries| v1::SubmitRequest { entries, submission: "s".to_owned() };
        let good = entry("connect4:4x4", None);
        let many = vec![good.clone(); jlpns_proto::MAX_SUBMITTED + 1];
        let heavy = v1::NewEntry { priority: 1_001, ..good.clone() };
        for (request, words) in [
            (named(Vec::new()), "entries"),
            (named(many), "entries"),
            (named(vec![good.clone(), entry("chess:8x8", None)]), "entry 2: "),
            (named(vec![entry("connect4:4x4", Some(">=three"))]), "entry 1: 'three'"),
            (named(vec![heavy]), "entry 1: its priority is 1001"),
            (v1::SubmitRequest { entries: vec![good], submission: String::new() }, "submission"),
        ] {
            let refused = client.submit(request).await.expect_err("a bad request");
            assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
            assert!(refused.message().contains(words), "{refused}");
        }
        let cancel = v1::CancelEntriesRequest { numbers: vec![7] };
        let refused = client.cancel_entries(cancel).await.expect_err("no such entry");
        assert_eq!(refused.code(), Code::NotFound, "{refused}");
        let mut solver = SolverClient::new(served.line().await);
        let refused = solver.get_status(v1::GetStatusRequest {}).await.expect_err("there are many");
        assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
    })
    .await;
}
