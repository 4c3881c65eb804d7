//! A coordinator in this process, and streams to it that say what a test wants.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jlpns_coordinator::driver::{Driver, DriverConfig, DriverHandle};
use jlpns_coordinator::proofs::ProofFolder;
use jlpns_coordinator::serve::serve_connections;
use jlpns_link::connect::{Connector, Pipe, TokenChannel};
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use jlpns_search::{Algorithm, Initialisation};
use jlpns_solve::belief::Confirm;
use jlpns_solve::{Solve, SolveSettings, SolveStatus};
use jlpns_worker::client::{Backoff, JobsTaken, WorkerConfig};
use tokio::io::DuplexStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

/// A solve of a game that takes a few dozen small jobs.
pub fn settings(spec: &str) -> SolveSettings {
    SolveSettings {
        sub_search: Algorithm::Pn2,
        initialisation: Initialisation::Unit,
        knowledge: false,
        job_nodes: 2_000,
        memory: 64 << 20,
        report_interval: Duration::from_secs(1),
        leases_ahead: true,
        snapshot_records: 1_000,
        ..SolveSettings::new(spec.parse().expect("a spec"))
    }
}

/// The driver of a new solve.
pub fn driver(settings: SolveSettings) -> Driver {
    let spec = settings.spec.to_string();
    let is_proved = settings.belief.confirm == Confirm::Proof;
    let proofs = is_proved.then(|| ProofFolder::temporary(settings.spec.clone()));
    let proofs = proofs.map(|proofs| Arc::new(proofs.expect("a folder")));
    let solve = Solve::new(settings).expect("legal moves");
    let config = DriverConfig { solve_id: spec.clone(), ..DriverConfig::new(spec) };
    Driver::with_proofs(solve, None, proofs, config)
}

/// A worker for such solves.
pub fn worker_config(name: &str, slots: u32) -> WorkerConfig {
    let backoff = Backoff { first: Duration::from_micros(10), most: Duration::from_micros(100) };
    WorkerConfig {
        name: name.to_owned(),
        machine: name.to_owned(),
        slots,
        memory: 64 << 20,
        backoff,
        give_up_after: None,
        takes: JobsTaken::default(),
    }
}

/// A coordinator that is served through pipes.
pub struct Coordinator {
    pub handle: DriverHandle,
    pub pipe: Pipe,
    /// Where the certificates of jobs are kept, if they are wanted.
    pub proofs: Option<Arc<ProofFolder>>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Solve>,
}

impl Coordinator {
    /// Begins a solve.
    pub fn start(settings: SolveSettings) -> Coordinator {
        let (to_coordinator, pipes) = mpsc::channel(1);
        let connections = ReceiverStream::new(pipes).map(Ok::<DuplexStream, io::Error>);
        let driver = driver(settings);
        let (handle, proofs) = (driver.handle(), driver.proofs());
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            // Without a word from the test, it is not shut down.
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let serving = serve_connections(connections, driver, shutdown);
        let serving = tokio::spawn(async { serving.await.expect("the server works") });
        Coordinator { handle, pipe: Pipe::new(to_coordinator), proofs, stop: Some(stop), serving }
    }

    pub async fn channel(&self) -> TokenChannel {
        self.pipe.connect().await.expect("a pipe")
    }

    pub async fn status(&self) -> SolveStatus {
        self.handle.status().await.expect("the solve goes on")
    }

    /// Waits until the status is as wanted.
    pub async fn until(&self, wanted: impl Fn(&SolveStatus) -> bool) -> SolveStatus {
        loop {
            let status = self.status().await;
            if wanted(&status) {
                return status;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Shuts the coordinator down.
    pub async fn stop(mut self) -> Solve {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        self.end().await
    }

    /// Has the coordinator vanish, as one that is killed.
    pub async fn vanish(self) {
        self.serving.abort();
        assert!(self.serving.await.is_err(), "it does not come to an end");
    }

    /// Waits for the end of the solve.
    pub async fn end(self) -> Solve {
        self.serving.await.expect("no panic")
    }

    /// Opens a stream; the coordinator's answer to the first message decides whether there is one.
    pub async fn open(&self, first: FromWorker) -> Result<Stream, Status> {
        let (outbound, messages) = mpsc::channel(16);
        let message = v1::WorkerMessage::from(first);
        outbound.send(message).await.expect("room for a message");
        let mut client = SolverClient::new(self.channel().await);
        let inbound = client.work(ReceiverStream::new(messages)).await?.into_inner();
        Ok(Stream { outbound, inbound })
    }

    /// Joins as a worker.
    pub async fn join(&self, slots: u32) -> Stream {
        let hello = v1::Hello { slots, ..hello() };
        let mut stream = self.open(FromWorker::Hello(hello)).await.expect("a welcome");
        match stream.hear().await.expect("a welcome") {
            FromCoordinator::Welcome(welcome) => {
                assert_eq!(welcome.protocol_version, PROTOCOL_VERSION);
            }
            other => panic!("{other:?} instead of a welcome"),
        }
        stream
    }
}

pub fn hello() -> v1::Hello {
    v1::Hello {
        protocol_version: PROTOCOL_VERSION,
        name: "ghost".to_owned(),
        slots: 1,
        memory_bytes: 0,
        instance: 0,
        ..v1::Hello::default()
    }
}

/// A worker's stream that says what the test wants it to say.
pub struct Stream {
    outbound: mpsc::Sender<v1::WorkerMessage>,
    inbound: Streaming<v1::CoordinatorMessage>,
}

impl Stream {
    pub async fn say(&self, kind: FromWorker) {
        // The coordinator may have hung up.
        let _ = self.outbound.send(v1::WorkerMessage::from(kind)).await;
    }

    pub async fn say_nothing(&self) {
        let _ = self.outbound.send(v1::WorkerMessage::default()).await;
    }

    /// The next message; the error is how the stream ended, `None` if without a word.
    pub async fn hear(&mut self) -> Result<FromCoordinator, Option<Status>> {
        match self.inbound.message().await {
            Ok(Some(message)) => Ok(message.kind.expect("a message is never empty")),
            Ok(None) => Err(None),
            Err(status) => Err(Some(status)),
        }
    }

    pub async fn batch(&mut self) -> v1::CoordinatorBatch {
        match self.hear().await {
            Ok(FromCoordinator::Batch(batch)) => batch,
            other => panic!("{other:?} instead of a batch"),
        }
    }

    /// How the coordinator ends the stream.
    pub async fn end(&mut self) -> Option<Status> {
        loop {
            if let Err(end) = self.hear().await {
                return end;
            }
        }
    }
}

/// Runs a test with an end, so that a hang is a failure and not a wait.
pub async fn within_a_minute<T>(test: impl Future<Output = T>) -> T {
    let minute = Duration::from_secs(60);
    tokio::time::timeout(minute, test).await.expect("done within a minute")
}
