//! The gRPC service: reads what workers send, checks every field, and hands it to the driver.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use jlpns_admission::{Admission, WorkerPermit};
use jlpns_proto::convert::{WireError, at_most, in_range, label, moves, unpacked, worker_name};
use jlpns_proto::v1::solver_server::Solver;
use jlpns_proto::v1::worker_message::Kind;
use jlpns_proto::{
    MAX_BATCH, MAX_ELAPSED_US, MAX_GAMES, MAX_REASON, MAX_SLOTS, PROTOCOL_VERSION, v1,
};
use jlpns_search::{Findings, Question};
use jlpns_solve::belief::Identity;
use jlpns_solve::{
    Event, Examiner, LeaseId, Order, ProofId, Readiness, Subject, WorkerId, WorkerInfo,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use crate::driver::{
    DriverCommand, DriverGone, DriverHandle, MESSAGES, Outbound, WorkerStream, over,
};
use crate::incoming_certificates::Certificates;
use crate::status::to_wire;

/// How long a worker may take to say Hello once its stream is open.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// The service in front of a [`Driver`](crate::driver::Driver).
#[derive(Clone, Debug)]
pub struct SolverService {
    driver: DriverHandle,
    admission: Arc<Admission>,
}

impl SolverService {
    /// The service in front of this driver, with as many workers as come.
    pub fn new(driver: DriverHandle) -> SolverService {
        SolverService { driver, admission: Arc::new(Admission::of_all()) }
    }

    /// The same with as many workers as `admission` has permits for.
    pub fn behind(self, admission: Arc<Admission>) -> SolverService {
        SolverService { admission, ..self }
    }
}

impl From<DriverGone> for Status {
    fn from(ended: DriverGone) -> Status {
        Status::unavailable(ended.to_string())
    }
}

pub(crate) fn invalid(error: impl ToString) -> Status {
    Status::invalid_argument(error.to_string())
}

#[tonic::async_trait]
impl Solver for SolverService {
    type WorkStream = ReceiverStream<Result<v1::CoordinatorMessage, Status>>;

    async fn work(
        &self,
        request: Request<Streaming<v1::WorkerMessage>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let permit = self.admission.worker_permit(request.extensions())?;
        let (certificate, address) = jlpns_admission::shown(request.extensions());
        let mut inbound = request.into_inner();
        let Newcomer { info, .. } = greeted(&mut inbound, certificate, address).await?;
        let worker = self.driver.new_worker();
        let (outbound, messages) = mpsc::channel(MESSAGES);
        let (open, closed) = oneshot::channel();
        let connection = WorkerStream { outbound: outbound.clone(), _open: open };
        if let Err(gone) = self.driver.send(DriverCommand::Join { worker, info, connection }).await
        {
            let end = self.driver.told_end().ok_or(gone)?;
            let message = v1::CoordinatorMessage::from(over(end.answer.clone()));
            // The channel is empty.
            let _ = outbound.try_send(Ok(message));
            return Ok(Response::new(ReceiverStream::new(messages)));
        }
        tokio::spawn(listen(worker, inbound, outbound, closed, self.driver.clone(), permit));
        Ok(Response::new(ReceiverStream::new(messages)))
    }

    async fn get_status(
        &self,
        _request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::SolveStatus>, Status> {
        let status = match self.driver.status().await {
            Ok(status) => status,
            Err(gone) => self.driver.told_end().ok_or(gone)?.status.clone(),
        };
        Ok(Response::new(to_wire(status)))
    }

    async fn order_worker(
        &self,
        request: Request<v1::OrderWorkerRequest>,
    ) -> Result<Response<v1::OrderWorkerReply>, Status> {
        let request = request.into_inner();
        worker_name(&request.name).map_err(invalid)?;
        let done = self.driver.order(request.name.clone(), order(request.order())?).await?;
        let affected = done.map_err(|error| Status::not_found(error.to_string()))?;
        let affected = u32::try_from(affected).unwrap_or(u32::MAX);
        Ok(Response::new(v1::OrderWorkerReply { affected }))
    }
}

/// The order that is meant.
pub(crate) fn order(order: v1::WorkerOrder) -> Result<Order, Status> {
    match order {
        v1::WorkerOrder::Unspecified => Err(invalid(WireError::Missing("order"))),
        v1::WorkerOrder::Drain => Ok(Order::Drain),
        v1::WorkerOrder::Kick => Ok(Order::Kick),
        v1::WorkerOrder::Reinstate => Ok(Order::Reinstate),
    }
}

/// The next message of a worker; `None` at the end of its stream, whether it closed the stream or
/// was lost.
async fn next(inbound: &mut Streaming<v1::WorkerMessage>) -> Result<Option<Kind>, Status> {
    Ok(next_message(inbound).await?.map(|(_, kind)| kind))
}

/// The same, with the number of the solve that it is about.
pub(crate) async fn next_message(
    inbound: &mut Streaming<v1::WorkerMessage>,
) -> Result<Option<(u64, Kind)>, Status> {
    match inbound.message().await {
        Ok(Some(message)) => match message.kind {
            Some(kind) => Ok(Some((message.solve, kind))),
            None => Err(invalid(WireError::Missing("message.kind"))),
        },
        Ok(None) => Ok(None),
        // Errors of the connection have a cause, errors of the message have none.
        Err(status) if status.source().is_some() => Ok(None),
        Err(status) => Err(invalid(format!("a message could not be read: {}", status.message()))),
    }
}

/// Hands a worker's messages to the driver until its stream ends, one of them is bad, or the
/// driver lets the worker go.
async fn listen(
    worker: WorkerId,
    mut inbound: Streaming<v1::WorkerMessage>,
    outbound: Outbound,
    mut closed: oneshot::Receiver<()>,
    driver: DriverHandle,
    _permit: WorkerPermit,
) {
    let mut certificates = Certificates::default();
    loop {
        let message = tokio::select! {
            biased;
            _ = &mut closed => return,
            () = outbound.closed() => break,
            message = next(&mut inbound) => message,
        };
        let taken = match message {
            Ok(Some(kind)) => command(worker, kind, &driver, &mut certificates).await,
            Ok(None) => break,
            Err(status) => Err(status),
        };
        let command = match taken {
            Ok(Some(command)) => command,
            Ok(None) => continue,
            Err(status) => {
                tracing::warn!("{worker} is cut off: {}", status.message());
                // A worker that does not read will not read this either.
                let _ = outbound.try_send(Err(status));
                break;
            }
        };
        if driver.send(command).await.is_err() {
            return;
        }
    }
    let _ = driver.send(DriverCommand::Leave { worker }).await;
}

/// What a worker is like, and what it takes of a queue.
pub(crate) struct Newcomer {
    /// What it says of itself.
    pub info: WorkerInfo,
    /// The games that it takes jobs of; all if there are none.
    pub games: Vec<String>,
    /// Whether it takes jobs of a bounded length only.
    pub wants_short_jobs: bool,
}

/// Waits for a Hello, which comes first, and checks it.
pub(crate) async fn greeted(
    inbound: &mut Streaming<v1::WorkerMessage>,
    certificate: Option<String>,
    address: String,
) -> Result<Newcomer, Status> {
    let hello = timeout(HELLO_TIMEOUT, next(inbound)).await.map_err(|_| {
        let seconds = HELLO_TIMEOUT.as_secs();
        Status::deadline_exceeded(format!("no hello within {seconds} s; it must come first"))
    })??;
    match hello {
        Some(Kind::Hello(hello)) => {
            at_most("hello.games", &hello.games, MAX_GAMES).map_err(invalid)?;
            hello.games.iter().try_for_each(|game| label("hello.games", game)).map_err(invalid)?;
            let (games, wants_short_jobs) = (hello.games.clone(), hello.longest_job_ms > 0);
            Ok(Newcomer {
                info: worker_info(hello, certificate, address)?,
                games,
                wants_short_jobs,
            })
        }
        Some(Kind::Batch(_) | Kind::Part(_)) => {
            Err(invalid("the first message is no hello; it must be one"))
        }
        None => Err(invalid("the stream ended before the hello; send one first")),
    }
}

/// Checks a Hello.
fn worker_info(
    hello: v1::Hello,
    certificate: Option<String>,
    address: String,
) -> Result<WorkerInfo, Status> {
    if hello.protocol_version != PROTOCOL_VERSION {
        return Err(Status::failed_precondition(format!(
            "the worker speaks protocol version {}, this coordinator version {PROTOCOL_VERSION}; \
             use the same release of both",
            hello.protocol_version
        )));
    }
    worker_name(&hello.name).map_err(invalid)?;
    let slots = u64::from(hello.slots);
    in_range("hello.slots", slots, 1, u64::from(MAX_SLOTS)).map_err(invalid)?;
    label("hello.machine", &hello.machine).map_err(invalid)?;
    label("hello.build", &hello.build).map_err(invalid)?;
    let v1::Hello { name, slots, memory_bytes: memory, instance, machine, build, .. } = hello;
    let identity = Identity { certificate, machine, address };
    Ok(WorkerInfo { name, identity, build, slots, memory, instance })
}

/// Checks a message after the Hello, to the driver of the solve that it is about. Nothing is for the driver in a part of a certificate.
pub(crate) async fn command(
    worker: WorkerId,
    kind: Kind,
    driver: &DriverHandle,
    certificates: &mut Certificates,
) -> Result<Option<DriverCommand>, Status> {
    match kind {
        Kind::Hello(_) => Err(invalid("a second hello on one stream; there must be one")),
        Kind::Part(part) => certificates.add(part, driver.proofs()).map(|()| None),
        Kind::Batch(batch) => {
            let proofs = certificates.finish(worker, &batch.reports, driver).await?;
            let checked = checked(worker, batch, driver.examiner(), proofs);
            checked.map(Some).map_err(invalid)
        }
    }
}

/// Checks a batch, and examines its reports: the driver has one thread for all workers.
fn checked(
    worker: WorkerId,
    batch: v1::WorkerBatch,
    examiner: &Examiner,
    proofs: Vec<Option<Result<ProofId, String>>>,
) -> Result<DriverCommand, WireError> {
    at_most("batch.renewals", &batch.renewals, MAX_BATCH)?;
    at_most("batch.progress", &batch.progress, MAX_BATCH)?;
    at_most("batch.reports", &batch.reports, MAX_BATCH)?;
    at_most("batch.declines", &batch.declines, MAX_BATCH)?;
    let findings = |findings: Option<v1::Findings>| {
        Findings::try_from(findings.ok_or(WireError::Missing("findings"))?)
    };
    let said = readiness(&batch);
    let mut events = Vec::new();
    if !batch.renewals.is_empty() {
        let leases = batch.renewals.into_iter().map(LeaseId).collect();
        events.push(Event::Renewed { worker, leases });
    }
    for progress in batch.progress {
        let (lease, findings) = (LeaseId(progress.lease_id), findings(progress.findings)?);
        events.push(Event::Progress { worker, lease, findings });
    }
    if let Some(solved) = &batch.solved {
        events.push(Event::Solved { worker, solved: unpacked(solved)? });
    }
    // Before the reports: the slots that they free are not to be filled again.
    label("batch.idle_reason", &batch.idle_reason)?;
    events.extend(said.map(|readiness| Event::Readiness { worker, readiness }));
    for (report, proof) in batch.reports.into_iter().zip(proofs) {
        let (lease, findings) = (LeaseId(report.lease_id), findings(report.findings)?);
        let elapsed = in_range("report.elapsed_us", report.elapsed_us, 0, MAX_ELAPSED_US)?;
        let elapsed = Duration::from_micros(elapsed);
        let subject = report.subject.map(subject).transpose()?;
        let examined = subject
            .as_ref()
            .and_then(|subject| examiner.examine(&subject.moves, subject.question, &findings));
        let examined = examined.map(|examined| match proof {
            Some(Ok(proof)) => examined.with_proof(proof),
            Some(Err(why)) => examined.with_bad_certificate(why),
            None => examined,
        });
        let hearsay = report.hearsay;
        let report =
            Event::Reported { worker, lease, subject, examined, findings, elapsed, hearsay };
        events.push(report);
    }
    let mut declines = Vec::new();
    for decline in batch.declines {
        let length = decline.reason.chars().count() as u64;
        in_range("the length of decline.reason", length, 0, MAX_REASON as u64)?;
        // It goes to the log, where it must stay on its line.
        let reason = decline.reason.replace(char::is_control, " ");
        declines.push((LeaseId(decline.lease_id), reason));
    }
    Ok(DriverCommand::Batch { worker, events, declines })
}

/// Whether the worker takes leases from now on, if a batch says so.
pub(crate) fn readiness(batch: &v1::WorkerBatch) -> Option<Readiness> {
    let reason = || batch.idle_reason.clone();
    match (batch.draining, batch.paused) {
        (true, _) => Some(Readiness::Draining(reason())),
        (false, Some(true)) => Some(Readiness::Paused(reason())),
        (false, Some(false)) => Some(Readiness::Ready),
        (false, None) => None,
    }
}

/// Checks what a report says that it is about.
pub(crate) fn subject(subject: v1::Subject) -> Result<Subject, WireError> {
    let moves = moves("report.subject.moves", &subject.moves)?;
    let question = subject.question.ok_or(WireError::Missing("report.subject.question"))?;
    let (budget, seal) = (subject.budget, subject.seal);
    Ok(Subject { moves, question: Question::try_from(question)?, budget, seal })
}
