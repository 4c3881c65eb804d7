//! Coordinator and worker in one process: the same service and the same messages as over the
//! network, through an in-memory pipe.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jlpns_link::connect::Pipe;
use jlpns_search::searcher::Searching;
use jlpns_solve::Solve;
use jlpns_worker::client::{Wanted, WorkerConfig, WorkerError, run_worker};
use tokio::io::DuplexStream;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use crate::driver::Driver;
use crate::serve::{ServeError, serve_connections};

/// How long the searches may take to report what they have when the solve is stopped.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

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
    if driver.is_over() {
        // A worker would only be told so.
        return Ok(driver.run(shutdown).await.map_err(ServeError::from)?);
    }
    let (to_coordinator, pipes) = mpsc::channel(1);
    let connections = ReceiverStream::new(pipes).map(Ok::<DuplexStream, io::Error>);
    let (ask, asked) = watch::channel(Wanted::Work);
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = run_worker(worker, searching, Pipe::new(to_coordinator), asked);
    let serving = serve_connections(connections, driver, async {
        // Stopping and dropping mean the same.
        let _ = stopped.await;
    });
    tokio::pin!(worker, serving, shutdown);
    let solve = tokio::select! {
        solve = &mut serving => solve?,
        end = &mut worker => {
            // Without an error it was told of the end, which the coordinator reaches as well.
            end?;
            return Ok(serving.await?);
        }
        () = &mut shutdown => {
            // What the searches have found so far is not to be lost.
            let _ = ask.send(Wanted::Drain("the solve is stopped".to_owned()));
            tokio::select! {
                solve = &mut serving => solve?,
                drained = timeout(DRAIN_TIMEOUT, &mut worker) => {
                    drop(stop);
                    let solve = serving.await?;
                    // A search that does not stop is left behind.
                    return drained.map_or(Ok(()), |end| end.map(|_| ())).map(|()| solve).map_err(Into::into);
                }
            }
        }
    };
    let _ = ask.send(Wanted::Abort);
    worker.await?;
    Ok(solve)
}
