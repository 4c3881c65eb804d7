//! Workers that are not what they say: they speak the contract, and search nothing.

use std::time::Duration;

use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{MAX_PART, PROTOCOL_VERSION, v1};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

/// The effort number of what is proved, and of what cannot be.
const PROVED: u32 = 0;
const INFINITE: u32 = u32::MAX;

/// A stream that says what a test wants it to say.
#[derive(Debug)]
pub struct Impostor {
    runtime: Runtime,
    outbound: Sender<v1::WorkerMessage>,
    inbound: Streaming<v1::CoordinatorMessage>,
}

/// What an impostor hears.
#[derive(Debug)]
pub enum Heard {
    /// Something to do.
    Batch(v1::CoordinatorBatch),
    /// Nothing in the time that it listened.
    Nothing,
    /// The solve is over, with this answer.
    Over(String),
    /// The stream has ended; with this status, if not in order.
    End(Option<Status>),
}

impl Impostor {
    /// Joins the coordinator at `url` with one slot.
    ///
    /// # Errors
    ///
    /// The coordinator refuses.
    ///
    /// # Panics
    ///
    /// If there is no coordinator.
    pub fn join(url: &str, name: &str, instance: u64) -> Result<Impostor, Status> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let (outbound, messages) = mpsc::channel(64);
        let hello = v1::Hello {
            protocol_version: PROTOCOL_VERSION,
            name: name.to_owned(),
            slots: 1,
            memory_bytes: 0,
            instance,
            ..v1::Hello::default()
        };
        let inbound = runtime.block_on(async {
            let mut client =
                SolverClient::connect(url.to_owned()).await.expect("there is a coordinator");
            let hello = v1::WorkerMessage::from(FromWorker::Hello(hello));
            outbound.send(hello).await.expect("the channel is new");
            let mut inbound = client.work(ReceiverStream::new(messages)).await?.into_inner();
            let welcome = inbound.message().await?;
            assert!(
                matches!(&welcome, Some(m) if matches!(m.kind, Some(FromCoordinator::Welcome(_)))),
                "{welcome:?} instead of a welcome"
            );
            Ok::<_, Status>(inbound)
        })?;
        Ok(Impostor { runtime, outbound, inbound })
    }

    /// Says something. A coordinator that has hung up does not hear it.
    pub fn say(&self, batch: v1::WorkerBatch) {
        self.send(FromWorker::Batch(batch));
    }

    /// Reports with these bytes as the certificate.
    pub fn report_with_certificate(&self, mut report: v1::Report, certificate: &[u8]) {
        let lease_id = report.lease_id;
        for part in certificate.chunks(MAX_PART) {
            let bytes = part.to_vec();
            self.send(FromWorker::Part(v1::CertificatePart { lease_id, bytes }));
        }
        report.certificate_bytes = Some(certificate.len() as u64);
        self.say(v1::WorkerBatch { reports: vec![report], ..Default::default() });
    }

    fn send(&self, kind: FromWorker) {
        let message = v1::WorkerMessage::from(kind);
        let _ = self.runtime.block_on(self.outbound.send(message));
    }

    /// Listens for at most so long.
    pub fn hear(&mut self, limit: Duration) -> Heard {
        let message = self.runtime.block_on(async { timeout(limit, self.inbound.message()).await });
        match message {
            Err(_) => Heard::Nothing,
            Ok(Ok(Some(v1::CoordinatorMessage {
                kind: Some(FromCoordinator::Batch(batch)),
                ..
            }))) => Heard::Batch(batch),
            Ok(Ok(Some(v1::CoordinatorMessage {
                kind: Some(FromCoordinator::Over(over)),
                ..
            }))) => Heard::Over(over.answer),
            Ok(Ok(_)) => Heard::End(None),
            Ok(Err(status)) => Heard::End(Some(status)),
        }
    }
}

/// A report of a lease that claims, without a search, that each threshold asked is reached.
///
/// # Panics
///
/// If the lease is for nothing.
pub fn lie(lease: &v1::Lease) -> v1::Report {
    let job = lease.job.clone().expect("a lease is for a job");
    let question = job.question.expect("a job asks something");
    let thresholds = match question.kind.as_ref().expect("a question is of a kind") {
        v1::question::Kind::Threshold(_) => 1,
        v1::question::Kind::Value(bounds) => bounds.upper - bounds.lower,
    };
    let efforts = (0..thresholds).flat_map(|_| [PROVED, INFINITE]).collect();
    v1::Report {
        lease_id: lease.lease_id,
        findings: Some(v1::Findings {
            efforts,
            children: Vec::new(),
            nodes: job.budget,
            most_proving_move: None,
        }),
        elapsed_us: 1,
        subject: Some(v1::Subject {
            moves: job.moves,
            question: Some(question),
            budget: job.budget,
            seal: lease.seal,
        }),
        certificate_bytes: None,
        hearsay: false,
    }
}
