//! Both directions of one stream to the coordinator: how it is opened, what is sent on it, and how it breaks off.

use std::error::Error;
use std::time::Duration;

use jlpns_link::connect::TokenChannel;
use jlpns_link::distrust::lost;
use jlpns_proto::convert::WireError;
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{MAX_BATCH, MAX_MESSAGE_BYTES, MAX_PART, PROTOCOL_VERSION, v1};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use super::joined::FinalReport;
use super::{WorkerConfig, WorkerError};

/// How long the coordinator may take to end the stream of a worker that leaves.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(5);
/// The most entries of one batch: leaves room below the largest message for long findings.
pub const BATCH: usize = 256;
const _: () = assert!(BATCH <= MAX_BATCH);

/// Both directions of an open stream.
pub struct Stream {
    outbound: mpsc::Sender<v1::WorkerMessage>,
    inbound: Streaming<v1::CoordinatorMessage>,
}

/// Why a stream broke off.
pub enum Broken {
    /// The coordinator has nothing more to do: this is the answer.
    Over(String),
    /// One side went away.
    Lost(String),
    /// The coordinator itself ends the stream, for now.
    PutOff(String),
    /// The worker cannot go on.
    Fatal(WorkerError),
}

/// A coordinator that says this keeps the solve.
pub const STOPPED: &str =
    "the coordinator was stopped, and keeps the solve; this worker waits for it to be resumed";

impl From<WireError> for Broken {
    fn from(error: WireError) -> Broken {
        confusing(error.to_string())
    }
}

impl From<Status> for Broken {
    fn from(status: Status) -> Broken {
        match status.code() {
            // Coming back would not help.
            Code::FailedPrecondition
            | Code::InvalidArgument
            | Code::PermissionDenied
            | Code::Unauthenticated => {
                Broken::Fatal(WorkerError::Refused(status.message().to_owned()))
            }
            Code::Unimplemented => Broken::Fatal(WorkerError::Refused(
                "it does not offer jlpns.v1.Solver; is it a jlpns coordinator?".to_owned(),
            )),
            // Errors of the connection have a cause, answers have none.
            _ if status.source().is_none() && !is_of_proxy(&status) => {
                Broken::PutOff(format!("the coordinator says: {}", lost(&status)))
            }
            _ => Broken::Lost(format!("the stream was lost: {}", lost(&status))),
        }
    }
}

/// What the coordinator said makes no sense, for this reason.
pub fn confusing(text: impl Into<String>) -> Broken {
    Broken::Fatal(WorkerError::Confusing(text.into()))
}

/// Whether a program between the coordinator and this worker has answered: it speaks HTTP, and tonic makes a status of
/// that, in these words. It says nothing of the coordinator, which may be gone.
fn is_of_proxy(status: &Status) -> bool {
    status.message().starts_with("grpc-status header missing")
}

impl Stream {
    /// Sends a batch about the solve of a number, or with 0 about the worker itself.
    pub async fn send(&mut self, solve: u64, batch: v1::WorkerBatch) -> Result<(), Broken> {
        self.say(solve, FromWorker::Batch(batch)).await
    }

    /// Sends reports that belong to the solve of a number, those with certificates last.
    pub async fn send_reports<'a>(
        &mut self,
        solve: u64,
        reports: impl Iterator<Item = &'a FinalReport> + Clone,
    ) -> Result<(), Broken> {
        let plain = reports.clone().filter(|report| report.certificate.is_none());
        let plain: Vec<_> = plain.map(|report| report.report.clone()).collect();
        for reports in plain.chunks(BATCH) {
            let reports = reports.to_vec();
            self.send(solve, v1::WorkerBatch { reports, ..Default::default() }).await?;
        }
        for report in reports.filter(|report| report.certificate.is_some()) {
            self.send_proved(solve, report).await?;
        }
        Ok(())
    }

    /// Sends a report after the parts of its certificate.
    pub async fn send_proved(&mut self, solve: u64, report: &FinalReport) -> Result<(), Broken> {
        let FinalReport { report, certificate } = report;
        for part in certificate.iter().flat_map(|bytes| bytes.chunks(MAX_PART)) {
            let (lease_id, bytes) = (report.lease_id, part.to_vec());
            self.say(solve, FromWorker::Part(v1::CertificatePart { lease_id, bytes })).await?;
        }
        let reports = vec![report.clone()];
        self.send(solve, v1::WorkerBatch { reports, ..Default::default() }).await
    }

    async fn say(&mut self, solve: u64, kind: FromWorker) -> Result<(), Broken> {
        match self.outbound.send(v1::WorkerMessage { kind: Some(kind), solve }).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.last_words().await),
        }
    }

    /// Why the sending side closed. A coordinator that ends the solve stops listening at once, and
    /// what it said before that may still be unread.
    async fn last_words(&mut self) -> Broken {
        let until_over = async {
            loop {
                match self.next().await {
                    Ok((0, FromCoordinator::Over(over))) => return Broken::Over(over.answer),
                    Ok((_, FromCoordinator::Batch(batch))) if batch.stopped => {
                        return Broken::PutOff(STOPPED.to_owned());
                    }
                    // Nothing that was asked can be answered any more.
                    Ok(_) => {}
                    Err(broken) => return broken,
                }
            }
        };
        let silent = |_| Broken::Lost("the stream was lost while sending".to_owned());
        timeout(GOODBYE_TIMEOUT, until_over).await.unwrap_or_else(silent)
    }

    /// The next message, behind the number of the solve that it is about.
    pub async fn next(&mut self) -> Result<(u64, FromCoordinator), Broken> {
        match self.inbound.message().await? {
            Some(message) => {
                let kind = message.kind.ok_or(WireError::Missing("message.kind"))?;
                Ok((message.solve, kind))
            }
            None => Err(Broken::Lost("the coordinator closed the stream".to_owned())),
        }
    }
}

/// Says Hello and waits for Welcome.
pub async fn open(
    config: WorkerConfig,
    instance: u64,
    line: TokenChannel,
) -> Result<(Stream, v1::Welcome), Broken> {
    let (outbound, messages) = mpsc::channel(16);
    let hello = v1::Hello {
        protocol_version: PROTOCOL_VERSION,
        name: config.name,
        slots: config.slots,
        memory_bytes: config.memory,
        instance,
        machine: config.machine,
        build: jlpns_proto::BUILD.to_owned(),
        longest_job_ms: config.takes.longest_ms(),
        games: config.takes.games,
    };
    let hello = v1::WorkerMessage::from(FromWorker::Hello(hello));
    let lost = |_| Broken::Lost("the stream was lost before it began".to_owned());
    outbound.send(hello).await.map_err(lost)?;
    let mut client = SolverClient::new(line)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let inbound = client.work(ReceiverStream::new(messages)).await?.into_inner();
    let mut stream = Stream { outbound, inbound };
    match stream.next().await? {
        (_, FromCoordinator::Welcome(welcome)) => Ok((stream, welcome)),
        (0, FromCoordinator::Over(over)) => Err(Broken::Over(over.answer)),
        (number, FromCoordinator::Over(_)) => Err(not_open("the end of", number)),
        (_, FromCoordinator::Begun(_)) => Err(no_queue()),
        (_, FromCoordinator::Batch(_)) => {
            Err(confusing("work before the welcome; the welcome must come first"))
        }
    }
}

/// A solve of a queue has begun where there is none.
pub fn no_queue() -> Broken {
    confusing("a solve of a queue; there must be a welcome of a queue before it")
}

/// Something is said of a solve which has not begun on this stream, or has ended.
pub fn not_open(what: &str, number: u64) -> Broken {
    confusing(format!(
        "{what} solve {number}, which is not open; it must have begun on this stream"
    ))
}

/// Ends the sending side and lets the coordinator end its own, so that nothing said is cut off.
pub async fn leave(stream: Stream) {
    let Stream { outbound, mut inbound } = stream;
    drop(outbound);
    let ended = async { while let Ok(Some(_)) = inbound.message().await {} };
    // A coordinator that does not answer has been told all the same.
    let _ = timeout(GOODBYE_TIMEOUT, ended).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_answers_is_no_sign_of_the_coordinator() {
        let bad_gateway = "grpc-status header missing, mapped from HTTP status code 502";
        assert!(matches!(Broken::from(Status::unavailable(bad_gateway)), Broken::Lost(_)));
        let busy = "too many workers; come again later";
        assert!(matches!(Broken::from(Status::resource_exhausted(busy)), Broken::PutOff(_)));
    }
}
