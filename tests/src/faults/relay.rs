//! A relay that speaks the contract on both sides: it sends batches twice or in another order, and
//! keeps the ledger of what passes.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::solver_server::{Solver, SolverServer};
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{MAX_MESSAGE_BYTES, v1};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};

use super::ledger::Ledger;
use super::watch::{Place, address};

/// How long a batch is held back for another that overtakes it.
const HELD_BACK: Duration = Duration::from_millis(20);
/// How long a connection to the coordinator may take.
const CONNECT: Duration = Duration::from_secs(5);
/// While there is noise: of so many batches one comes twice, and one is overtaken.
const ONE_IN: u32 = 4;

/// A relay on a port of its own.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    noise: Arc<Noise>,
    _runtime: Runtime,
}

/// Whether batches come twice and in another order, and how often they did.
#[derive(Debug)]
pub struct Noise {
    on: AtomicBool,
    chance: Mutex<StdRng>,
    /// Batches that came twice.
    pub duplicated: AtomicU64,
    /// Batches that were overtaken.
    pub reordered: AtomicU64,
}

impl Noise {
    fn strikes(&self) -> bool {
        self.on.load(Ordering::Relaxed)
            && self.chance.lock().expect("chance does not panic").random_range(0..ONE_IN) == 0
    }
}

impl Relay {
    /// A relay before whatever is at `target` when a stream comes, without noise.
    ///
    /// # Panics
    ///
    /// If there is no free port, or no room for a runtime.
    pub fn start(target: Place, ledger: Arc<Ledger>, seed: u64) -> Relay {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let noise = Arc::new(Noise {
            on: AtomicBool::new(false),
            chance: Mutex::new(StdRng::seed_from_u64(seed)),
            duplicated: AtomicU64::new(0),
            reordered: AtomicU64::new(0),
        });
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let service = SolverServer::new(Between { target, ledger, noise: noise.clone() })
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        runtime.spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        Relay { address, noise, _runtime: runtime }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins or ends the noise.
    pub fn disturb(&self, on: bool) {
        self.noise.on.store(on, Ordering::Relaxed);
    }

    /// What the noise has done.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }
}

/// The service of a relay.
#[derive(Clone)]
struct Between {
    target: Place,
    ledger: Arc<Ledger>,
    noise: Arc<Noise>,
}

#[tonic::async_trait]
impl Solver for Between {
    type WorkStream = ReceiverStream<Result<v1::CoordinatorMessage, Status>>;

    async fn work(
        &self,
        request: Request<Streaming<v1::WorkerMessage>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let mut inbound = request.into_inner();
        let hello = inbound.message().await?.ok_or_else(|| Status::unavailable("no hello"))?;
        let mut client = self.client().await?;
        let (to_coordinator, said) = mpsc::channel(64);
        let (to_worker, heard) = mpsc::channel(64);
        // The channel is new and has room.
        let _ = to_coordinator.send(hello).await;
        let outbound = client.work(ReceiverStream::new(said)).await.map_err(lost)?.into_inner();
        let stream = self.ledger.stream();
        let (ledger, noise) = (self.ledger.clone(), self.noise.clone());
        let up = async move {
            let note = |message: &v1::WorkerMessage| ledger.tell(message);
            carry(inbound, note, &noise, |message| to_coordinator.send(message)).await
        };
        let (ledger, noise) = (self.ledger.clone(), self.noise.clone());
        tokio::spawn(async move {
            let note = |message: &v1::CoordinatorMessage| ledger.hear(stream, message);
            let send = |message| to_worker.send(Ok(message));
            // When one way ends the other ends with it.
            let end = tokio::select! {
                end = carry(outbound, note, &noise, send) => end,
                end = up => end,
            };
            if let Some(status) = end {
                let _ = to_worker.send(Err(lost(status))).await;
            }
        });
        Ok(Response::new(ReceiverStream::new(heard)))
    }

    async fn get_status(
        &self,
        request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::SolveStatus>, Status> {
        self.client().await?.get_status(request.into_inner()).await
    }

    async fn order_worker(
        &self,
        request: Request<v1::OrderWorkerRequest>,
    ) -> Result<Response<v1::OrderWorkerReply>, Status> {
        self.client().await?.order_worker(request.into_inner()).await
    }
}

impl Between {
    async fn client(&self) -> Result<SolverClient<tonic::transport::Channel>, Status> {
        let gone = || Status::unavailable("there is no coordinator");
        let target = address(&self.target).ok_or_else(gone)?;
        let endpoint = Endpoint::from_shared(format!("http://{target}")).map_err(|_| gone())?;
        let channel = endpoint.connect_timeout(CONNECT).connect().await.map_err(|_| gone())?;
        Ok(SolverClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES))
    }
}

/// What the worker is told of an end: a connection of the relay that is lost must look like one of
/// its own.
fn lost(status: Status) -> Status {
    use std::error::Error;
    match status.source() {
        Some(_) => Status::unavailable("the connection was lost"),
        None => Status::new(status.code(), status.message()),
    }
}

/// A message that noise may strike.
trait Struck: Clone {
    /// Whether it is a batch: all else comes once, and in its place.
    fn is_batch(&self) -> bool;
}

impl Struck for v1::WorkerMessage {
    fn is_batch(&self) -> bool {
        matches!(self.kind, Some(FromWorker::Batch(_)))
    }
}

impl Struck for v1::CoordinatorMessage {
    fn is_batch(&self) -> bool {
        matches!(self.kind, Some(FromCoordinator::Batch(_)))
    }
}

/// Carries messages one way until that way ends; how it ended, if not in order.
async fn carry<M: Struck, E, F: Future<Output = Result<(), E>>>(
    mut from: Streaming<M>,
    note: impl Fn(&M),
    noise: &Noise,
    send: impl Fn(M) -> F,
) -> Option<Status> {
    let mut held: Option<M> = None;
    loop {
        let next = match &held {
            None => from.message().await,
            Some(_) => match timeout(HELD_BACK, from.message()).await {
                Ok(next) => next,
                Err(_) => {
                    send(held.take()?).await.ok()?;
                    continue;
                }
            },
        };
        let message = match next {
            Ok(Some(message)) => message,
            Ok(None) => return None,
            Err(status) => return Some(status),
        };
        note(&message);
        let is_batch = message.is_batch();
        if is_batch && held.is_none() && noise.strikes() {
            held = Some(message);
            continue;
        }
        if !is_batch && let Some(held) = held.take() {
            send(held).await.ok()?;
        }
        let again = (is_batch && noise.strikes()).then(|| message.clone());
        send(message).await.ok()?;
        if let Some(overtaken) = held.take() {
            noise.reordered.fetch_add(1, Ordering::Relaxed);
            send(overtaken).await.ok()?;
        }
        if let Some(again) = again {
            noise.duplicated.fetch_add(1, Ordering::Relaxed);
            send(again).await.ok()?;
        }
    }
}
