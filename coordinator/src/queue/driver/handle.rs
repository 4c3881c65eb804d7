//! The handle of a queue, for the streams of workers and the calls of clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jlpns_games::spec::Games;
use jlpns_proto::v1;
use jlpns_queue::entry::Asked;
use jlpns_queue::{NoSuchEntry, Sweep};
use jlpns_solve::{Order, Readiness, SolveStatus, Tidings, WorkerId};
use tokio::sync::{mpsc, oneshot, watch};

use super::place::{OpenedDriver, PlaceEnd};
use crate::driver::Outbound;
use crate::queue::followers::Told;
use crate::queue::stream::Routes;
use crate::service::Newcomer;

/// The queue is gone: its coordinator ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue's coordinator is about to end; ask again when it is back")]
pub struct QueueGone;

/// Where the answer to a client goes that submits something.
pub(in crate::queue) type SubmitReply = oneshot::Sender<Result<Vec<u64>, String>>;
/// Where the answer to a client goes that cancels something.
pub(in crate::queue) type CancelReply = oneshot::Sender<Result<u32, NoSuchEntry>>;

/// An answer that waits until what it says is durable.
pub(in crate::queue) enum Submitted {
    /// Entries were taken in.
    Numbers(Vec<u64>, SubmitReply),
    /// Entries were taken out.
    Cancelled(u32, CancelReply),
}

impl Submitted {
    /// Tells the client.
    pub fn tell(self) {
        // The client may have gone.
        match self {
            Submitted::Numbers(numbers, reply) => drop(reply.send(Ok(numbers))),
            Submitted::Cancelled(cancelled, reply) => drop(reply.send(Ok(cancelled))),
        }
    }
}

/// A client that waits for entries to end.
pub(in crate::queue) struct Follower {
    /// Where they go.
    pub told: Told,
    /// Where it is told of the first number that stands for no entry, or that there is none such.
    pub missing: oneshot::Sender<Option<u64>>,
}

/// What a worker's stream consists of, for the queue.
pub(in crate::queue) struct NewStream {
    /// Where messages to the worker go.
    pub outbound: Outbound,
    /// Dropped when the worker is let go: what reads from it stops then.
    pub _open: oneshot::Sender<()>,
    /// Where what reads from it learns of solves.
    pub routes: watch::Sender<Routes>,
    /// Its connection.
    pub id: WorkerId,
}

/// What is asked of a queue, and what happens to it.
pub(in crate::queue) enum QueueCommand {
    /// A client submits entries.
    Submit { submission: String, asked: Vec<Asked>, reply: SubmitReply },
    /// A client takes entries out.
    Cancel { numbers: Vec<u64>, reply: CancelReply },
    /// A client asks for entries; the error is the first number that stands for none.
    List {
        numbers: Vec<u64>,
        states: Vec<v1::EntryState>,
        reply: oneshot::Sender<Result<Vec<v1::QueueEntry>, u64>>,
    },
    /// A client waits for entries; of all that are there, if it names none.
    Follow { numbers: Vec<u64>, told: Follower },
    /// A client asks for the state of the whole.
    Status { reply: oneshot::Sender<v1::QueueStatus> },
    /// A client orders something about the workers of a name; how many workers or machines it was about.
    Order { name: String, order: Order, reply: oneshot::Sender<usize> },
    /// A worker has said Hello.
    Join { newcomer: Box<Newcomer>, stream: NewStream },
    /// A worker's stream has ended.
    Leave { worker: WorkerId },
    /// A solve has let a worker go.
    Dismissed { worker: WorkerId, is_refused: bool },
    /// A worker takes leases, or takes none.
    Readiness { worker: WorkerId, readiness: Readiness },
    /// A solve has been opened, or cannot be.
    Opened { number: u64, driver: Box<anyhow::Result<OpenedDriver>> },
    /// How far a solve is; nothing if it has ended.
    SolveStatus { number: u64, status: Option<Box<SolveStatus>> },
    /// A solve that could not be opened, or broke down, is to be opened again.
    Again { number: u64, sweep: Option<Arc<Sweep>> },
    /// A solve tells what became of a position or of a machine.
    Tidings { news: Tidings },
    /// A solve has ended.
    Ended { number: u64, end: Box<PlaceEnd> },
}

impl std::fmt::Debug for QueueCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a command for the queue")
    }
}

/// The handle of a queue.
#[derive(Clone, Debug)]
pub struct QueueHandle {
    commands: mpsc::UnboundedSender<QueueCommand>,
    games: Games,
    next_worker: Arc<AtomicU64>,
}

impl QueueHandle {
    /// The way to a queue that is about to run, and the queue's end of it.
    pub(in crate::queue) fn new(
        games: Games,
    ) -> (QueueHandle, mpsc::UnboundedReceiver<QueueCommand>) {
        let (commands, from_handles) = mpsc::unbounded_channel();
        let next_worker = Arc::new(AtomicU64::new(1));
        (QueueHandle { commands, games, next_worker }, from_handles)
    }

    /// The games that entries may be of.
    pub fn games(&self) -> &Games {
        &self.games
    }

    pub(in crate::queue) fn new_worker(&self) -> WorkerId {
        WorkerId(self.next_worker.fetch_add(1, Ordering::Relaxed))
    }

    /// Tells the queue; one that is gone needs no news.
    pub(in crate::queue) fn send(&self, command: QueueCommand) {
        let _ = self.commands.send(command);
    }

    /// Asks the queue.
    pub(in crate::queue) async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> QueueCommand,
    ) -> Result<T, QueueGone> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(question(reply)).map_err(|_| QueueGone)?;
        answer.await.map_err(|_| QueueGone)
    }

    /// The state of the queue.
    pub async fn status(&self) -> Result<v1::QueueStatus, QueueGone> {
        self.ask(|reply| QueueCommand::Status { reply }).await
    }
}
