//! The handle of a driver, for the streams of workers and for what shows the solve's progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jlpns_proto::v1;
use jlpns_search::Findings;
use jlpns_solve::{
    Event, Examiner, LeaseId, Order, OrderError, ProofId, SolveStatus, Subject, WorkerId,
    WorkerInfo,
};
use tokio::sync::{mpsc, oneshot};
use tonic::Status;

use crate::proofs::ProofFolder;

/// How many commands may wait for the driver before the streams that send them wait too.
const COMMANDS: usize = 1024;
/// How many messages may wait for a worker; one that leaves more unread is given up.
pub(crate) const MESSAGES: usize = 256;

/// Where messages to a worker go.
pub(crate) type Outbound = mpsc::Sender<Result<v1::CoordinatorMessage, Status>>;

/// A stream to a worker, as the driver holds it; dropping it ends the stream.
pub(crate) struct WorkerStream {
    /// Where messages to the worker go.
    pub outbound: Outbound,
    /// Dropped with the connection: what reads from the worker stops then.
    pub _open: oneshot::Sender<()>,
}

/// What the streams and the unary calls ask of the driver.
pub(crate) enum DriverCommand {
    /// A worker has said Hello.
    Join { worker: WorkerId, info: WorkerInfo, connection: WorkerStream },
    /// A worker has sent a batch.
    Batch { worker: WorkerId, events: Vec<Event>, declines: Vec<(LeaseId, String)> },
    /// A worker's stream has ended.
    Leave { worker: WorkerId },
    /// A search of the coordinator's own has ended.
    Searched { number: u64, findings: Findings, elapsed: Duration, proof: Option<ProofId> },
    /// A search of the coordinator's own could not run, or broke down.
    SearchFailed { trouble: String },
    /// A client orders something about the workers of a name.
    Order { name: String, order: Order, reply: oneshot::Sender<Result<usize, OrderError>> },
    /// A stream asks whether a report would be looked into.
    Awaits { worker: WorkerId, lease: LeaseId, subject: Subject, reply: oneshot::Sender<bool> },
    /// Something has happened that no worker says: of what is asked, or of the slots of a worker.
    Tell { event: Event },
    /// A client asks for the status.
    Status { reply: oneshot::Sender<SolveStatus> },
}

/// The handle of a driver, for the streams of workers and for what shows the solve's progress.
#[derive(Clone, Debug)]
pub struct DriverHandle {
    commands: mpsc::Sender<DriverCommand>,
    next_worker: Arc<AtomicU64>,
    examiner: Examiner,
    proofs: Option<Arc<ProofFolder>>,
    end: Arc<OnceLock<ToldEnd>>,
}

/// What those are told who come after the end.
#[derive(Clone, Debug)]
pub(crate) struct ToldEnd {
    /// The answer, or why there is none.
    pub answer: String,
    /// The state of the solve when it ended.
    pub status: SolveStatus,
}

/// The driver is gone: the solve has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the solve has ended")]
pub struct DriverGone;

impl DriverHandle {
    /// The way to a driver that is about to run, and the driver's end of it.
    pub(super) fn new(
        examiner: Examiner,
        proofs: Option<Arc<ProofFolder>>,
    ) -> (DriverHandle, mpsc::Receiver<DriverCommand>) {
        let (commands, from_handles) = mpsc::channel(COMMANDS);
        let next_worker = Arc::new(AtomicU64::new(1));
        let end = Arc::default();
        (DriverHandle { commands, next_worker, examiner, proofs, end }, from_handles)
    }

    /// Whether a report by this worker would be looked into ([`Solve::awaits_report`]).
    ///
    /// [`Solve::awaits_report`]: jlpns_solve::Solve::awaits_report
    pub async fn awaits(
        &self,
        worker: WorkerId,
        lease: LeaseId,
        subject: Subject,
    ) -> Result<bool, DriverGone> {
        let (reply, awaits) = oneshot::channel();
        self.send(DriverCommand::Awaits { worker, lease, subject, reply }).await?;
        awaits.await.map_err(|_| DriverGone)
    }

    /// The state of the solve.
    pub async fn status(&self) -> Result<SolveStatus, DriverGone> {
        let (reply, status) = oneshot::channel();
        self.send(DriverCommand::Status { reply }).await?;
        status.await.map_err(|_| DriverGone)
    }

    /// Carries an order out about the workers of a name; how many workers or machines it was about.
    pub async fn order(
        &self,
        name: String,
        order: Order,
    ) -> Result<Result<usize, OrderError>, DriverGone> {
        let (reply, done) = oneshot::channel();
        self.send(DriverCommand::Order { name, order, reply }).await?;
        done.await.map_err(|_| DriverGone)
    }

    pub(crate) async fn send(&self, command: DriverCommand) -> Result<(), DriverGone> {
        self.commands.send(command).await.map_err(|_| DriverGone)
    }

    /// Sends without waiting; nothing if the driver is gone, or so busy that there is no room.
    pub(crate) fn send_if_room(&self, command: DriverCommand) {
        let _ = self.commands.try_send(command);
    }

    /// Sends from a thread that may wait.
    pub(crate) fn send_from_thread(&self, command: DriverCommand) -> Result<(), DriverGone> {
        self.commands.blocking_send(command).map_err(|_| DriverGone)
    }

    /// What can examine a report before it comes to the driver.
    pub(crate) fn examiner(&self) -> &Examiner {
        &self.examiner
    }

    /// Where certificates of jobs are kept, if any are wanted.
    pub(crate) fn proofs(&self) -> Option<&Arc<ProofFolder>> {
        self.proofs.as_ref()
    }

    /// What to tell those who come after the end; `None` before it, and if the solve may be resumed.
    pub(crate) fn told_end(&self) -> Option<&ToldEnd> {
        self.end.get()
    }

    pub(super) fn set_told_end(&self, end: ToldEnd) {
        // There is only one.
        let _ = self.end.set(end);
    }

    pub(crate) fn new_worker(&self) -> WorkerId {
        WorkerId(self.next_worker.fetch_add(1, Ordering::Relaxed))
    }
}
