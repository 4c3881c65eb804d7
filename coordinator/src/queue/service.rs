//! The gRPC services in front of a queue: the workers' streams, and the calls of clients.

use std::sync::Arc;

use jlpns_admission::Admission;
use jlpns_proto::convert::{WireError, at_most, in_range, worker_name};
use jlpns_proto::v1::queue_server::Queue;
use jlpns_proto::v1::solver_server::Solver;
use jlpns_proto::{MAX_NUMBERS, MAX_SUBMITTED, v1};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::{ReceiverStream, UnboundedReceiverStream};
use tonic::{Request, Response, Status, Streaming};

use super::driver::{Follower, NewStream, QueueCommand, QueueGone, QueueHandle};
use super::stream::listen;
use super::words::EntryReader;
use crate::driver::MESSAGES;
use crate::service::{greeted, invalid, order};

/// The services in front of a [`QueueDriver`](super::driver::QueueDriver).
#[derive(Clone, Debug)]
pub struct QueueService {
    queue: QueueHandle,
    admission: Arc<Admission>,
}

impl QueueService {
    /// In front of this queue, with as many workers as `admission` has permits for.
    pub fn new(queue: QueueHandle, admission: Arc<Admission>) -> QueueService {
        QueueService { queue, admission }
    }
}

impl From<QueueGone> for Status {
    fn from(gone: QueueGone) -> Status {
        Status::unavailable(gone.to_string())
    }
}

/// What is said of a number that stands for no entry.
fn no_entry(number: u64) -> Status {
    Status::not_found(format!("there is no entry {number}; 'jlpns queue URL' lists them"))
}

#[tonic::async_trait]
impl Solver for QueueService {
    type WorkStream = ReceiverStream<Result<v1::CoordinatorMessage, Status>>;

    async fn work(
        &self,
        request: Request<Streaming<v1::WorkerMessage>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let permit = self.admission.worker_permit(request.extensions())?;
        let (certificate, address) = jlpns_admission::shown(request.extensions());
        let mut inbound = request.into_inner();
        let newcomer = Box::new(greeted(&mut inbound, certificate, address).await?);
        let id = self.queue.new_worker();
        let (outbound, messages) = mpsc::channel(MESSAGES);
        let (open, closed) = oneshot::channel();
        let (routes, known) = watch::channel(Default::default());
        let stream = NewStream { outbound: outbound.clone(), _open: open, routes, id };
        self.queue.send(QueueCommand::Join { newcomer, stream });
        tokio::spawn(listen(id, inbound, outbound, closed, known, self.queue.clone(), permit));
        Ok(Response::new(ReceiverStream::new(messages)))
    }

    async fn get_status(
        &self,
        _request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::SolveStatus>, Status> {
        Err(Status::failed_precondition(
            "it holds a queue of many solves; 'jlpns queue URL' shows them",
        ))
    }

    async fn order_worker(
        &self,
        request: Request<v1::OrderWorkerRequest>,
    ) -> Result<Response<v1::OrderWorkerReply>, Status> {
        let request = request.into_inner();
        worker_name(&request.name).map_err(invalid)?;
        let (name, order) = (request.name.clone(), order(request.order())?);
        let affected = self.queue.ask(|reply| QueueCommand::Order { name, order, reply }).await?;
        if affected == 0 {
            let name = request.name;
            return Err(Status::not_found(format!(
                "no worker or machine that this order could be about is called '{name}'; 'jlpns workers URL' lists them"
            )));
        }
        let affected = u32::try_from(affected).unwrap_or(u32::MAX);
        Ok(Response::new(v1::OrderWorkerReply { affected }))
    }
}

/// Entries on their way to a client.
type Entries = std::pin::Pin<
    Box<dyn tokio_stream::Stream<Item = Result<v1::QueueEntry, Status>> + Send + 'static>,
>;

#[tonic::async_trait]
impl Queue for QueueService {
    type ListEntriesStream = Entries;
    type FollowEntriesStream = Entries;

    async fn submit(
        &self,
        request: Request<v1::SubmitRequest>,
    ) -> Result<Response<v1::SubmitReply>, Status> {
        let v1::SubmitRequest { entries, submission } = request.into_inner();
        let length = submission.chars().count() as u64;
        in_range("the length of submission", length, 1, 64).map_err(invalid)?;
        at_most("entries", &entries, MAX_SUBMITTED).map_err(invalid)?;
        if entries.is_empty() {
            return Err(invalid(WireError::Missing("entries")));
        }
        let mut reader = EntryReader::new(self.queue.games());
        let asked = (1..).zip(entries).map(|(place, entry)| {
            reader.read(entry).map_err(|error| invalid(format!("entry {place}: {error}")))
        });
        let asked = asked.collect::<Result<Vec<_>, Status>>()?;
        let submit = |reply| QueueCommand::Submit { submission, asked, reply };
        let numbers = self.queue.ask(submit).await?.map_err(Status::unavailable)?;
        Ok(Response::new(v1::SubmitReply { numbers }))
    }

    async fn list_entries(
        &self,
        request: Request<v1::ListEntriesRequest>,
    ) -> Result<Response<Entries>, Status> {
        let request = request.into_inner();
        at_most("numbers", &request.numbers, MAX_NUMBERS).map_err(invalid)?;
        let states: Vec<v1::EntryState> = request.states().collect();
        let numbers = request.numbers;
        let listed = self.queue.ask(|reply| QueueCommand::List { numbers, states, reply }).await?;
        let entries = listed.map_err(no_entry)?.into_iter().map(Ok);
        Ok(Response::new(Box::pin(tokio_stream::iter(entries))))
    }

    async fn follow_entries(
        &self,
        request: Request<v1::FollowEntriesRequest>,
    ) -> Result<Response<Entries>, Status> {
        let numbers = request.into_inner().numbers;
        at_most("numbers", &numbers, MAX_NUMBERS).map_err(invalid)?;
        let (told, ended) = mpsc::unbounded_channel();
        let follow = |missing| QueueCommand::Follow { numbers, told: Follower { told, missing } };
        if let Some(missing) = self.queue.ask(follow).await? {
            return Err(no_entry(missing));
        }
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(ended).map(Ok))))
    }

    async fn cancel_entries(
        &self,
        request: Request<v1::CancelEntriesRequest>,
    ) -> Result<Response<v1::CancelEntriesReply>, Status> {
        let numbers = request.into_inner().numbers;
        at_most("numbers", &numbers, MAX_NUMBERS).map_err(invalid)?;
        if numbers.is_empty() {
            return Err(invalid(WireError::Missing("numbers")));
        }
        let cancelled = self.queue.ask(|reply| QueueCommand::Cancel { numbers, reply }).await?;
        let cancelled = cancelled.map_err(|missing| no_entry(missing.0))?;
        Ok(Response::new(v1::CancelEntriesReply { cancelled }))
    }

    async fn get_queue_status(
        &self,
        _request: Request<v1::GetQueueStatusRequest>,
    ) -> Result<Response<v1::QueueStatus>, Status> {
        Ok(Response::new(self.queue.status().await?))
    }
}
