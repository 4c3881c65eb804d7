//! Coordinator and worker in one process: the same service and the same messages as over the
//! network, through an in-memory pipe.

use std::future::Future;
use std::io;
use std::sync::Arc;

use jlpns_worker::client::{Shutdown, WorkerConfig, WorkerError, run_worker};
use jlpns_worker::connect::Pipe;
use jlpns_worker::slots::Searching;
use tokio::io::DuplexStream;
use tokio::sync::{mpsc, watch};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use crate::driver::Driver;
use crate::serve::{ServeError, serve_connections};
use crate::solve::Solve;

/// Why a solve within this process failed.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// On the coordinator's side.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// On the worker's side.
    #[error("the embedded worker failed: {0}")]
    Worker(#[from] WorkerError),
}

/// Runs `driver` with one worker in this process until its solve has ended or `shutdown` is
/// there. Gives the solve back: it tells which of the two it was.
pub async fn solve_embedded(
    driver: Driver,
    worker: WorkerConfig,
    searching: Arc<dyn Searching>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Solve, EmbeddedError> {
    let (to_coordinator, pipes) = mpsc::channel(1);
    let connections = ReceiverStream::new(pipes).map(Ok::<DuplexStream, io::Error>);
    let (ask, asked) = watch::channel(Shutdown::None);
    let worker = run_worker(worker, searching, Pipe::new(to_coordinator), asked);
    let serving = serve_connections(connections, driver, shutdown);
    tokio::pin!(worker, serving);
    let solve = tokio::select! {
        solve = &mut serving => solve?,
        end = &mut worker => {
            // Without an error it was told of the end, which the coordinator reaches as well.
            end?;
            return Ok(serving.await?);
        }
    };
    let _ = ask.send(Shutdown::Abort);
    worker.await?;
    Ok(solve)
}
