//! Serving a solve: the gRPC services on one listener, and the driver behind them.

use std::future::{Future, ready};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jlpns_admission::Admission;
use jlpns_admission::check::Check;
use jlpns_admission::incoming::Incoming;
use jlpns_proto::v1::queue_server::QueueServer;
use jlpns_proto::v1::solver_server::{Solver, SolverServer};
use jlpns_proto::{FILE_DESCRIPTOR_SET, MAX_MESSAGE_BYTES};
use jlpns_solve::Solve;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::server::NamedService;
use tonic::transport::Server;
use tonic::transport::server::{Connected, Router};
use tonic_health::server::health_reporter;
use tonic_reflection::server as reflection;
use tower::layer::util::{Identity, Stack};

use crate::driver::{Driver, DriverError};
use crate::queue::driver::{QueueDriver, QueueError};
use crate::queue::service::QueueService;
use crate::service::SolverService;

/// How often a silent connection is tried, and how long the answer may take: what finds out that
/// a worker is gone without a word.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the workers may take to read the end of the solve and hang up.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(5);
/// The most requests at a time on one connection. A client that keeps the rules of HTTP/2 waits;
/// the limit on a worker's streams, which is lower, is the one that it is told of.
const MOST_REQUESTS: u32 = 512;
/// The name of the service that tells whether the solver is there.
const HEALTH: &str = "grpc.health.v1.Health";
/// The most bytes in the head of a request.
const MOST_HEADER_BYTES: u32 = 16 << 10;

/// Why serving ended without the solve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server could not be set up, or broke down.
    #[error("the server failed: {0}")]
    Server(#[from] tonic::transport::Error),
    /// The descriptors for reflection are broken.
    #[error("the reflection service failed: {0}")]
    Reflection(#[from] reflection::Error),
    /// The solve itself broke down, or the server.
    #[error("the solve failed: {0}")]
    Driver(#[from] JoinError),
    /// The driver cannot go on.
    #[error(transparent)]
    Stopped(#[from] DriverError),
}

/// A solve that has ended or was stopped, and the server that is still there for late workers.
pub struct Served {
    /// The solve: it tells which of the two it was.
    pub solve: Solve,
    /// Who answers those that come late.
    pub late: LateWorkers,
}

/// The server after the end of its solve: whoever connects is told of the end.
pub struct LateWorkers {
    /// A set of one, because dropping it ends the server.
    server: JoinSet<Result<(), tonic::transport::Error>>,
    stop: oneshot::Sender<()>,
}

impl LateWorkers {
    /// Goes on until `end` is there, and then waits until the workers have hung up.
    pub async fn answer_until(mut self, end: impl Future<Output = ()>) -> Result<(), ServeError> {
        tokio::select! {
            () = end => {}
            Some(served) = self.server.join_next() => return Ok(served??),
        }
        drop(self.stop);
        // A worker that will not hang up does not keep the coordinator.
        match timeout(GOODBYE_TIMEOUT, self.server.join_next()).await {
            Ok(Some(served)) => Ok(served??),
            Ok(None) | Err(_) => Ok(()),
        }
    }
}

/// Serves `driver` on a TCP listener until its solve has ended or `shutdown` is there. Gives the
/// solve back: it tells which of the two it was. All requests are admitted.
pub async fn serve(
    listener: TcpListener,
    driver: Driver,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Solve, ServeError> {
    let Served { solve, late } =
        serve_behind(Admission::of_all(), listener, driver, shutdown).await?;
    late.answer_until(ready(())).await?;
    Ok(solve)
}

/// As [`serve`], for the requests that `admission` admits. The server stays until it is told to go.
pub async fn serve_behind(
    admission: Admission,
    listener: TcpListener,
    driver: Driver,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Served, ServeError> {
    let admission = Arc::new(admission);
    let connections = Incoming::new(listener, admission.clone());
    serve_through(admission, connections, driver, shutdown).await
}

/// As [`serve`], for connections of any kind.
pub async fn serve_connections<IO>(
    connections: impl Stream<Item = io::Result<IO>> + Send + 'static,
    driver: Driver,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Solve, ServeError>
where
    IO: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let Served { solve, late } =
        serve_through(Arc::new(Admission::of_all()), connections, driver, shutdown).await?;
    late.answer_until(ready(())).await?;
    Ok(solve)
}

async fn serve_through<IO>(
    admission: Arc<Admission>,
    connections: impl Stream<Item = io::Result<IO>> + Send + 'static,
    driver: Driver,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Served, ServeError>
where
    IO: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let solver = SolverService::new(driver.handle()).behind(admission.clone());
    let services = services(solver, None, admission).await?;
    let (stop, stopped) = oneshot::channel::<()>();
    let mut server = JoinSet::new();
    server.spawn(services.serve_with_incoming_shutdown(connections, async {
        // Stopping and dropping mean the same.
        let _ = stopped.await;
    }));
    // A set of one, because dropping it ends the driver with this future.
    let mut drivers = JoinSet::new();
    drivers.spawn(driver.run(shutdown));
    let solve = loop {
        tokio::select! {
            Some(solve) = drivers.join_next() => break solve??,
            // No more connections can come; those that are there go on.
            Some(served) = server.join_next() => served??,
        }
    };
    Ok(Served { solve, late: LateWorkers { server, stop } })
}

/// Why serving a queue ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeQueueError {
    /// On the side of the network.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The queue cannot go on.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// Serves a queue on a TCP listener, for the requests that `admission` admits, until `shutdown` is there.
pub async fn serve_queue(
    admission: Admission,
    listener: TcpListener,
    queue: QueueDriver,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeQueueError> {
    let admission = Arc::new(admission);
    let connections = Incoming::new(listener, admission.clone());
    let service = QueueService::new(queue.handle(), admission.clone());
    let services = services(service.clone(), Some(service), admission).await?;
    let (stop, stopped) = oneshot::channel::<()>();
    let mut server = JoinSet::new();
    server.spawn(services.serve_with_incoming_shutdown(connections, async {
        // Stopping and dropping mean the same.
        let _ = stopped.await;
    }));
    // A set of one, because dropping it ends the queue with this future.
    let mut queues = JoinSet::new();
    queues.spawn(queue.run(shutdown));
    loop {
        tokio::select! {
            Some(ended) = queues.join_next() => {
                ended.map_err(ServeError::from)??;
                break;
            }
            // No more connections can come; those that are there go on.
            Some(served) = server.join_next() => {
                served.map_err(ServeError::from)?.map_err(ServeError::from)?;
            }
        }
    }
    let late = LateWorkers { server, stop };
    Ok(late.answer_until(ready(())).await?)
}

/// The solver, and the queue if there is one, with health and reflection beside it, behind the check of each request.
async fn services<S: Solver>(
    solver: S,
    queue: Option<QueueService>,
    admission: Arc<Admission>,
) -> Result<Router<Stack<Check, Identity>>, ServeError> {
    let solver = SolverServer::new(solver)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let queue = queue.map(|queue| {
        QueueServer::new(queue)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    });
    let (reporter, health) = health_reporter();
    reporter.set_serving::<SolverServer<S>>().await;
    // Of all that is described, what is served here.
    let served = [
        Some(SolverServer::<S>::NAME),
        queue.as_ref().map(|_| QueueServer::<QueueService>::NAME),
        Some(HEALTH),
    ];
    let described = |own: &str| {
        let builder = reflection::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
        let served = served.into_iter().flatten().chain([own]);
        served.fold(builder, |builder, name| builder.with_service_name(name))
    };
    // Connections come decrypted: see `jlpns_admission::incoming`.
    Ok(Server::builder()
        .max_concurrent_streams(MOST_REQUESTS)
        .http2_max_header_list_size(MOST_HEADER_BYTES)
        .http2_keepalive_interval(Some(PING_INTERVAL))
        .http2_keepalive_timeout(Some(PING_TIMEOUT))
        .layer(Check::new(admission))
        .add_service(solver)
        .add_optional_service(queue)
        .add_service(health)
        .add_service(described("grpc.reflection.v1.ServerReflection").build_v1()?)
        .add_service(described("grpc.reflection.v1alpha.ServerReflection").build_v1alpha()?))
}
