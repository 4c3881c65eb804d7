//! One worker's stream, which carries the messages of all solves: those that come in go to the driver of the solve that
//! they are about, and those of the drivers go out under the numbers of their solves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jlpns_admission::WorkerPermit;
use jlpns_proto::convert::label;
use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as ToWorker;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_solve::{Event, Readiness, WorkerId};
use tokio::sync::{mpsc, oneshot, watch};
use tonic::{Code, Status, Streaming};

use super::driver::{QueueCommand, QueueHandle};
use crate::driver::{
    DriverCommand, DriverHandle, MESSAGES, Outbound, WorkerStream, says_quarantined,
};
use crate::incoming_certificates::Certificates;
use crate::service::{command, invalid, next_message, readiness};

/// The solves that a worker takes part in, by their numbers, with what each calls the worker.
pub(super) type Routes = Arc<BTreeMap<u64, (DriverHandle, WorkerId)>>;

/// Hands a worker's messages to the drivers of the solves that they are about, until its stream ends, one of them is bad,
/// or the worker is let go.
pub(super) async fn listen(
    worker: WorkerId,
    mut inbound: Streaming<v1::WorkerMessage>,
    outbound: Outbound,
    mut closed: oneshot::Receiver<()>,
    routes: watch::Receiver<Routes>,
    queue: QueueHandle,
    _permit: WorkerPermit,
) {
    let mut certificates: BTreeMap<u64, Certificates> = BTreeMap::new();
    loop {
        let message = tokio::select! {
            biased;
            _ = &mut closed => return,
            () = outbound.closed() => break,
            message = next_message(&mut inbound) => message,
        };
        let (solve, kind) = match message {
            Ok(Some(message)) => message,
            Ok(None) => break,
            Err(status) => {
                cut_off(worker, &outbound, status);
                break;
            }
        };
        let handed = if solve == 0 {
            match of_the_worker(kind) {
                Ok(Some(readiness)) => {
                    // At once, so that what it gives back with its next message is no loss; the queue says so again.
                    for (driver, id) in routes.borrow().values() {
                        let event = Event::Readiness { worker: *id, readiness: readiness.clone() };
                        driver.send_if_room(DriverCommand::Tell { event });
                    }
                    queue.send(QueueCommand::Readiness { worker, readiness });
                    Ok(())
                }
                Ok(None) => Ok(()),
                Err(status) => Err(status),
            }
        } else {
            let route = routes.borrow().get(&solve).cloned();
            // What is said of a solve that has ended changes nothing.
            let Some((driver, id)) = route else { continue };
            let certificates = certificates.entry(solve).or_default();
            match command(id, kind, &driver, certificates).await {
                Ok(Some(command)) => {
                    // A driver that is gone has ended.
                    let _ = driver.send(command).await;
                    Ok(())
                }
                Ok(None) => Ok(()),
                // The driver has ended. What is wrong with this machine is said with another code.
                Err(status) if status.code() == Code::Unavailable => Ok(()),
                Err(status) => Err(status),
            }
        };
        if let Err(status) = handed {
            cut_off(worker, &outbound, status);
            break;
        }
    }
    queue.send(QueueCommand::Leave { worker });
}

/// What a worker says of itself, and of no solve: whether it takes leases from now on.
fn of_the_worker(kind: FromWorker) -> Result<Option<Readiness>, Status> {
    let FromWorker::Batch(batch) = kind else {
        return Err(invalid("a second hello, or a certificate of no solve; say of which it is"));
    };
    label("batch.idle_reason", &batch.idle_reason).map_err(invalid)?;
    let said: Option<Readiness> = readiness(&batch);
    let v1::WorkerBatch { renewals, progress, reports, declines, solved, .. } = batch;
    let is_empty = renewals.is_empty()
        && progress.is_empty()
        && reports.is_empty()
        && declines.is_empty()
        && solved.is_none();
    if !is_empty {
        return Err(invalid("a batch about leases that names no solve; say of which it is"));
    }
    Ok(said)
}

fn cut_off(worker: WorkerId, outbound: &Outbound, status: Status) {
    tracing::warn!("{worker} is cut off: {}", status.message());
    // A worker that does not read will not read this either.
    let _ = outbound.try_send(Err(status));
}

/// What a driver gets as the stream to a worker: its messages go out under the number of its solve. When the driver drops
/// it, the worker is let go.
pub(super) fn attach(
    worker: WorkerId,
    solve: u64,
    to_worker: Outbound,
    queue: QueueHandle,
    is_stopping: Arc<AtomicBool>,
) -> WorkerStream {
    let (outbound, mut messages) =
        mpsc::channel::<Result<v1::CoordinatorMessage, Status>>(MESSAGES);
    let (open, _) = oneshot::channel();
    tokio::spawn(async move {
        let (mut has_begun, mut is_over) = (false, false);
        while let Some(message) = messages.recv().await {
            // A number stands for nothing any more once its solve is over for the worker.
            if is_over {
                continue;
            }
            let message = match message {
                Ok(v1::CoordinatorMessage { kind: Some(kind), .. }) => kind,
                Ok(_) => continue,
                Err(status) => {
                    let is_refused = says_quarantined(&status);
                    let _ = to_worker.try_send(Err(status));
                    queue.send(QueueCommand::Dismissed { worker, is_refused });
                    return;
                }
            };
            let kind = match message {
                ToWorker::Welcome(welcome) => {
                    let v1::Welcome { solve_id, spec, .. } = welcome;
                    ToWorker::Begun(v1::SolveBegun { solve_id, spec })
                }
                // One solve of many is stopped: it is over for the worker, which stays.
                ToWorker::Batch(batch) if batch.stopped && !is_stopping.load(Ordering::Relaxed) => {
                    ToWorker::Over(v1::SolveOver { answer: "it was stopped".to_owned() })
                }
                other => other,
            };
            has_begun |= matches!(kind, ToWorker::Begun(_));
            is_over = matches!(kind, ToWorker::Over(_));
            if is_over && !has_begun {
                // One that was settled at its root: the worker has never heard of it.
                continue;
            }
            let message = v1::CoordinatorMessage { kind: Some(kind), solve };
            if to_worker.send(Ok(message)).await.is_err() {
                return;
            }
        }
        // One that has ended meanwhile, and makes its certificate perhaps, never let the worker in: it has others.
        if has_begun && !is_over {
            // The driver has broken down, or the worker does not read: it begins anew with all solves.
            queue.send(QueueCommand::Dismissed { worker, is_refused: false });
        }
    });
    WorkerStream { outbound, _open: open }
}

#[cfg(test)]
mod tests {
    use jlpns_games::spec::Games;

    use super::*;

    /// One that makes its certificate lets nobody in any more: who comes meanwhile has the other solves.
    #[tokio::test]
    async fn a_solve_that_has_ended_leaves_newcomers_alone() {
        let (queue, mut commands) = QueueHandle::new(Games::built_in());
        let (to_worker, _inbound) = mpsc::channel(4);
        let attached = |worker, solve| {
            let stopping = Arc::default();
            attach(WorkerId(worker), solve, to_worker.clone(), queue.clone(), stopping)
        };
        drop(attached(1, 7));
        let begun = attached(2, 8);
        let welcome = ToWorker::Welcome(v1::Welcome::default());
        begun.outbound.send(Ok(welcome.into())).await.expect("it is passed on");
        // It breaks down.
        drop(begun);
        match commands.recv().await {
            Some(QueueCommand::Dismissed { worker: WorkerId(2), is_refused: false }) => {}
            other => panic!("{:?}", other.is_some()),
        }
    }
}
