//! One stream to the coordinator, from Hello to its end.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jlpns_link::connect::TokenChannel;
use jlpns_link::distrust::lost;
use jlpns_proto::convert::{WireError, at_most, in_range, solved_positions};
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{MAX_BATCH, MAX_LABEL, MAX_MESSAGE_BYTES, MAX_PART, PROTOCOL_VERSION, v1};
use jlpns_search::Job;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};
use tracing::{debug, info, warn};

use super::{
    BatchEntry, Client, FinalReport, HeldLease, SessionEnd, Wanted, WorkerConfig, WorkerEnd,
    WorkerError, changed,
};
use crate::slots::{JoinedSolve, Task};

/// How long the coordinator may take to answer Hello.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the coordinator may take to end the stream of a worker that leaves.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(5);
/// The most entries of one batch: leaves room below the largest message for long findings.
const BATCH: usize = 256;
const _: () = assert!(BATCH <= MAX_BATCH);

/// Both directions of an open stream.
struct Stream {
    outbound: mpsc::Sender<v1::WorkerMessage>,
    inbound: Streaming<v1::CoordinatorMessage>,
}

/// Why a stream broke off.
enum Broken {
    Over(String),
    Lost(String),
    /// The coordinator itself ends the stream, for now.
    PutOff(String),
    Fatal(WorkerError),
}

/// A coordinator that says this keeps the solve.
const STOPPED: &str =
    "the coordinator was stopped, and keeps the solve; this worker waits for it to be resumed";

impl From<WireError> for Broken {
    fn from(error: WireError) -> Broken {
        Broken::Fatal(WorkerError::Confusing(error.to_string()))
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

/// Whether a program between the coordinator and this worker has answered: it speaks HTTP, and tonic makes a status of
/// that, in these words. It says nothing of the coordinator, which may be gone.
fn is_of_proxy(status: &Status) -> bool {
    status.message().starts_with("grpc-status header missing")
}

impl Stream {
    async fn send(&mut self, batch: v1::WorkerBatch) -> Result<(), Broken> {
        self.say(FromWorker::Batch(batch)).await
    }

    /// Sends a report after the parts of its certificate.
    async fn send_proved(&mut self, report: &FinalReport) -> Result<(), Broken> {
        let FinalReport { report, certificate } = report;
        for part in certificate.iter().flat_map(|bytes| bytes.chunks(MAX_PART)) {
            let (lease_id, bytes) = (report.lease_id, part.to_vec());
            self.say(FromWorker::Part(v1::CertificatePart { lease_id, bytes })).await?;
        }
        self.send(v1::WorkerBatch { reports: vec![report.clone()], ..Default::default() }).await
    }

    async fn say(&mut self, kind: FromWorker) -> Result<(), Broken> {
        match self.outbound.send(v1::WorkerMessage::from(kind)).await {
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
                    Ok(FromCoordinator::Over(over)) => return Broken::Over(over.answer),
                    Ok(FromCoordinator::Batch(batch)) if batch.stopped => {
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

    async fn next(&mut self) -> Result<FromCoordinator, Broken> {
        match self.inbound.message().await? {
            Some(message) => Ok(message.kind.ok_or(WireError::Missing("message.kind"))?),
            None => Err(Broken::Lost("the coordinator closed the stream".to_owned())),
        }
    }
}

impl Client {
    /// Opens a stream on `line` and works until it ends.
    pub(super) async fn session(&mut self, line: TokenChannel) -> Result<SessionEnd, WorkerError> {
        let mut welcomed = false;
        match self.talk(line, &mut welcomed).await {
            Ok(end) => Ok(SessionEnd::Done(end)),
            Err(Broken::Over(answer)) => {
                info!("the solve is over: {answer}");
                self.stop_all();
                Ok(SessionEnd::Done(WorkerEnd::SolveOver(answer)))
            }
            Err(Broken::Lost(reason)) => Ok(SessionEnd::Lost { reason, welcomed, answered: false }),
            Err(Broken::PutOff(reason)) => {
                Ok(SessionEnd::Lost { reason, welcomed, answered: true })
            }
            Err(Broken::Fatal(error)) => Err(error),
        }
    }

    async fn talk(&mut self, line: TokenChannel, welcomed: &mut bool) -> Result<WorkerEnd, Broken> {
        let late = |_| Broken::Lost("the coordinator did not answer".to_owned());
        let opening = open(self.config.clone(), self.instance, line);
        let opening = timeout(WELCOME_TIMEOUT, opening);
        tokio::pin!(opening);
        let (mut stream, welcome) = loop {
            tokio::select! {
                opened = &mut opening => break opened.map_err(late)??,
                // What still runs of a former stream stops at once, whatever the coordinator does.
                wanted = changed(&mut self.wanted, |wanted| *wanted != self.follows) => {
                    self.follow(wanted);
                    if self.follows.is_to_drain() && self.has_nothing_to_tell() {
                        return Ok(WorkerEnd::Drained);
                    }
                }
            }
        };
        let heartbeat = self.take_up(&welcome)?;
        *welcomed = true;
        let mut heartbeat = interval(heartbeat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);

        self.send_unacknowledged(&mut stream).await?;
        if self.follows != Wanted::Work {
            stream.send(self.readiness()).await?;
        }
        loop {
            if self.follows.is_to_drain() && self.has_nothing_to_tell() {
                leave(stream).await;
                return Ok(WorkerEnd::Drained);
            }
            tokio::select! {
                wanted = changed(&mut self.wanted, |wanted| *wanted != self.follows) => {
                    self.follow(wanted);
                    stream.send(self.readiness()).await?;
                }
                message = stream.next() => match message? {
                    FromCoordinator::Welcome(_) => {
                        let text = "a second welcome on one stream; there must be one".to_owned();
                        return Err(Broken::Fatal(WorkerError::Confusing(text)));
                    }
                    FromCoordinator::Batch(batch) => {
                        let declined = self.take(batch)?;
                        if !declined.declines.is_empty() {
                            stream.send(declined).await?;
                        }
                    }
                    FromCoordinator::Over(over) => return Err(Broken::Over(over.answer)),
                    FromCoordinator::Begun(_) => return Err(no_queue()),
                },
                Some(said) = self.said.recv() => {
                    let mut batch = v1::WorkerBatch::default();
                    let mut next = Some(said);
                    let mut entries = 0;
                    let mut proved = Vec::new();
                    while let Some(said) = next {
                        if let Some(entry) = self.note(said) {
                            put(&mut batch, &mut proved, entry);
                            entries += 1;
                        }
                        next = if entries < BATCH { self.said.try_recv().ok() } else { None };
                    }
                    batch.solved = self.solved();
                    if batch != v1::WorkerBatch::default() {
                        stream.send(batch).await?;
                    }
                    for report in &proved {
                        stream.send_proved(report).await?;
                    }
                }
                _ = heartbeat.tick() => self.renew(&mut stream).await?,
            }
        }
    }

    /// Takes up the solve that the coordinator is at; returns the heartbeat interval.
    fn take_up(&mut self, welcome: &v1::Welcome) -> Result<Duration, Broken> {
        let confusing = |text: String| Broken::Fatal(WorkerError::Confusing(text));
        if welcome.protocol_version != PROTOCOL_VERSION {
            return Err(confusing(format!(
                "it speaks protocol version {}, this worker version {PROTOCOL_VERSION}; use the \
                 same release of both",
                welcome.protocol_version
            )));
        }
        in_range("the length of welcome.solve_id", welcome.solve_id.chars().count() as u64, 1, 64)?;
        let heartbeat = u64::from(welcome.heartbeat_interval_ms);
        let heartbeat = in_range("welcome.heartbeat_interval_ms", heartbeat, 1, 3_600_000)?;
        if !welcome.build.is_empty() && welcome.build != jlpns_proto::BUILD {
            warn!(
                "this worker is {}, its coordinator {}: use the same build of both",
                jlpns_proto::BUILD,
                welcome.build
            );
        }
        self.is_kept = welcome.kept;
        // Searches of a stream that is lost belong to leases that were taken back.
        self.stop_all();
        if self.solve.as_ref().is_none_or(|solve| solve.id != welcome.solve_id) {
            let spec = self.searching.spec(&welcome.spec, self.config.memory);
            let spec = spec.map_err(|error| confusing(error.to_string()))?;
            self.held.clear();
            self.unacknowledged.clear();
            self.solve = None;
            self.generation += 1;
            let (memory, slots) = (self.config.memory, self.config.slots);
            let searcher = self.searching.searcher(&spec, memory, slots).map_err(confusing)?;
            if welcome.solved_from > 0 {
                searcher.keep_solved_from(welcome.solved_from);
            }
            let (id, generation) = (welcome.solve_id.clone(), self.generation);
            self.solve = Some(Arc::new(JoinedSolve { id, generation, spec, searcher }));
            info!("connected: solving {} with {slots} slots", welcome.spec);
        } else {
            info!("connected again: {} reports were kept", self.unacknowledged.len());
        }
        Ok(Duration::from_millis(heartbeat))
    }

    /// What the searches have solved since the last call, if the coordinator wants to know.
    fn solved(&self) -> Vec<v1::SolvedPosition> {
        let Some(solve) = &self.solve else { return Vec::new() };
        let mut solved = solve.searcher.take_solved();
        solved.sort_unstable_by_key(|solved| Reverse(solved.work));
        solved.iter().take(MAX_BATCH).map(v1::SolvedPosition::from).collect()
    }

    /// Whether leases are taken, and if not, why.
    fn readiness(&self) -> v1::WorkerBatch {
        let draining = self.follows.is_to_drain();
        let reason = self.follows.reason().unwrap_or_default();
        // What people are called is in it.
        let reason = reason.chars().map(|c| if c.is_control() { ' ' } else { c });
        v1::WorkerBatch {
            draining,
            paused: (!draining).then_some(matches!(self.follows, Wanted::Pause(_))),
            idle_reason: reason.take(MAX_LABEL).collect(),
            ..Default::default()
        }
    }

    async fn send_unacknowledged(&self, stream: &mut Stream) -> Result<(), Broken> {
        let (proved, plain): (Vec<_>, Vec<_>) =
            self.unacknowledged.values().partition(|report| report.certificate.is_some());
        for reports in plain.chunks(BATCH) {
            let reports = reports.iter().map(|report| report.report.clone()).collect();
            stream.send(v1::WorkerBatch { reports, ..Default::default() }).await?;
        }
        for report in proved {
            stream.send_proved(report).await?;
        }
        Ok(())
    }

    /// Renews the leases that are worked on; those that are called back are left to end.
    async fn renew(&self, stream: &mut Stream) -> Result<(), Broken> {
        let working: Vec<u64> = self
            .held
            .iter()
            .filter(|(_, held)| !held.stop.load(Ordering::Relaxed))
            .map(|(&lease, _)| lease)
            .collect();
        for renewals in working.chunks(MAX_BATCH) {
            let renewals = renewals.to_vec();
            stream.send(v1::WorkerBatch { renewals, ..Default::default() }).await?;
        }
        Ok(())
    }

    /// Does what the coordinator says; what is returned holds the leases that are declined.
    fn take(&mut self, batch: v1::CoordinatorBatch) -> Result<v1::WorkerBatch, Broken> {
        at_most("batch.leases", &batch.leases, MAX_BATCH)?;
        at_most("batch.cancels", &batch.cancels, MAX_BATCH)?;
        at_most("batch.acknowledged", &batch.acknowledged, MAX_BATCH)?;
        let solved = solved_positions(batch.solved)?;
        if let Some(solve) = &self.solve {
            solve.searcher.learn(&solved);
        }
        for lease in &batch.acknowledged {
            self.unacknowledged.remove(lease);
        }
        for lease in &batch.cancels {
            if let Some(held) = self.held.get(lease) {
                debug!("lease {lease} is called back");
                held.stop.store(true, Ordering::Relaxed);
            }
        }
        let mut declined = v1::WorkerBatch::default();
        for lease in batch.leases {
            let lease_id = lease.lease_id;
            if let Err(reason) = self.start(lease) {
                declined.declines.push(v1::Decline { lease_id, reason });
            }
        }
        if batch.stopped {
            return Err(Broken::PutOff(STOPPED.to_owned()));
        }
        Ok(declined)
    }

    /// Puts a lease before the slots. The error says why it is declined.
    fn start(&mut self, lease: v1::Lease) -> Result<(), String> {
        match &self.follows {
            Wanted::Work => {}
            Wanted::Pause(_) => return Err("the worker pauses".to_owned()),
            Wanted::Drain(_) | Wanted::Abort => {
                return Err("the worker is about to leave".to_owned());
            }
        }
        let solve = self.solve.clone().ok_or("the worker is at no solve")?;
        let sentence = |error: WireError| error.to_string();
        let job = lease.job.ok_or(WireError::Missing("lease.job")).map_err(sentence)?;
        let job = Job::try_from(job).map_err(sentence)?;
        let report_interval =
            in_range("lease.report_interval_ms", lease.report_interval_ms, 1, u64::MAX)
                .map_err(sentence)?;
        in_range("lease.deadline_ms", lease.deadline_ms, 1, u64::MAX).map_err(sentence)?;
        let stop = Arc::new(AtomicBool::new(false));
        match self.held.entry(lease.lease_id) {
            Entry::Occupied(_) => return Err("the worker holds it already".to_owned()),
            Entry::Vacant(entry) => {
                let subject = v1::Subject { seal: lease.seal, ..v1::Subject::from(&job) };
                entry.insert(HeldLease { stop: stop.clone(), subject })
            }
        };
        debug!("lease {} taken: {job:?}", lease.lease_id);
        let report_interval = Duration::from_millis(report_interval);
        self.slots.put(Task { solve, lease: lease.lease_id, job, report_interval, stop });
        Ok(())
    }
}

/// Says Hello and waits for Welcome.
async fn open(
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
        ..Default::default()
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
        FromCoordinator::Welcome(welcome) => Ok((stream, welcome)),
        FromCoordinator::Over(over) => Err(Broken::Over(over.answer)),
        FromCoordinator::Begun(_) => Err(no_queue()),
        FromCoordinator::Batch(_) => {
            let text = "work before the welcome; the welcome must come first".to_owned();
            Err(Broken::Fatal(WorkerError::Confusing(text)))
        }
    }
}

/// A solve of a queue has begun where there is none.
fn no_queue() -> Broken {
    let text = "a solve of a queue; there must be a welcome of a queue before it".to_owned();
    Broken::Fatal(WorkerError::Confusing(text))
}

fn put(batch: &mut v1::WorkerBatch, proved: &mut Vec<FinalReport>, entry: BatchEntry) {
    match entry {
        BatchEntry::Proved(report) => proved.push(report),
        BatchEntry::Progress(progress) => batch.progress.push(progress),
        BatchEntry::Report(report) => batch.reports.push(report),
        BatchEntry::Decline(decline) => batch.declines.push(decline),
    }
}

/// Ends the sending side and lets the coordinator end its own, so that nothing said is cut off.
async fn leave(stream: Stream) {
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
