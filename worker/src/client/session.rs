//! One stream to the coordinator, from Hello to its end.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use jlpns_link::connect::TokenChannel;
use jlpns_proto::convert::{at_most, packed, unpacked_parts};
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::{MAX_BATCH, MAX_LABEL, v1};
use jlpns_search::searcher::TELL_INTERVAL;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tracing::{info, warn};

use super::joined::{BatchEntry, FinalReport, JoinedSolve};
use super::stream::{BATCH, Broken, STOPPED, Stream, confusing, leave, not_open, open};
use super::{Client, SessionEnd, Wanted, WorkerEnd, WorkerError, changed};
use crate::slots::SlotEvent;

/// How long the coordinator may take to answer Hello.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a worker that drains waits for the solves of a queue to begin on its stream, to tell what it has of
/// them.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(10);

/// What is to be told of one solve.
#[derive(Default)]
struct News {
    batch: v1::WorkerBatch,
    /// Reports that come after their certificates.
    proved: Vec<FinalReport>,
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
                    if self.follows.is_to_drain() && self.solves.have_nothing_to_tell() {
                        return Ok(WorkerEnd::Drained);
                    }
                }
            }
        };
        let heartbeat = self.take_up(&welcome)?;
        *welcomed = true;
        let mut heartbeat = interval(heartbeat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut telling = interval(TELL_INTERVAL);
        telling.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut begin_by = Instant::now() + BEGIN_TIMEOUT;

        if let Some(solve) = self.solves.numbered(0) {
            stream.send_reports(0, solve.unacknowledged()).await?;
        }
        if self.follows != Wanted::Work {
            stream.send(0, self.readiness()).await?;
        }
        loop {
            let drains = self.follows.is_to_drain();
            if drains && self.solves.have_nothing_to_tell() {
                leave(stream).await;
                return Ok(WorkerEnd::Drained);
            }
            tokio::select! {
                wanted = changed(&mut self.wanted, |wanted| *wanted != self.follows) => {
                    self.follow(wanted);
                    begin_by = Instant::now() + BEGIN_TIMEOUT;
                    stream.send(0, self.readiness()).await?;
                }
                message = stream.next() => {
                    let (number, message) = message?;
                    self.hear(&mut stream, number, message).await?;
                }
                Some(said) = self.said.recv() => self.pass_on(&mut stream, said).await?,
                _ = heartbeat.tick() => self.renew(&mut stream).await?,
                _ = telling.tick(), if self.has_to_tell_solved() => {
                    self.tell_solved(&mut stream).await?;
                }
                () = sleep_until(begin_by),
                    if drains && self.solves.begun_have_nothing_to_tell() =>
                {
                    let lost = self.solves.unreported();
                    warn!(
                        "leaving with {lost} leases unreported: their solves have not begun again"
                    );
                    leave(stream).await;
                    return Ok(WorkerEnd::Drained);
                }
            }
        }
    }

    /// Does what the coordinator says.
    async fn hear(
        &mut self,
        stream: &mut Stream,
        number: u64,
        message: FromCoordinator,
    ) -> Result<(), Broken> {
        match message {
            FromCoordinator::Welcome(_) => {
                Err(confusing("a second welcome on one stream; there must be one"))
            }
            FromCoordinator::Batch(batch) => {
                let was_told = !batch.solved.is_empty();
                let mut answer = self.take(number, batch)?;
                if was_told {
                    answer.solved = self.solved();
                }
                if answer == v1::WorkerBatch::default() {
                    return Ok(());
                }
                stream.send(number, answer).await
            }
            FromCoordinator::Over(over) if number == 0 => Err(Broken::Over(over.answer)),
            FromCoordinator::Over(over) => self.end(number, &over),
            FromCoordinator::Begun(begun) => {
                let solve = self.begin(number, &begun)?;
                stream.send_reports(number, solve.unacknowledged()).await
            }
        }
    }

    /// Tells the coordinator what the slots say, this and what waits behind it.
    async fn pass_on(&mut self, stream: &mut Stream, said: SlotEvent) -> Result<(), Broken> {
        let mut news = BTreeMap::<u64, News>::new();
        let mut next = Some(said);
        let mut entries = 0;
        while let Some(said) = next {
            if let Some((number, entry)) = self.note(said) {
                news.entry(number).or_default().put(entry);
                entries += 1;
            }
            next = if entries < BATCH { self.said.try_recv().ok() } else { None };
        }
        if let Some(solved) = self.solved() {
            news.entry(0).or_default().batch.solved = Some(solved);
        }
        for (number, News { batch, proved }) in news {
            if batch != v1::WorkerBatch::default() {
                stream.send(number, batch).await?;
            }
            for report in &proved {
                stream.send_proved(number, report).await?;
            }
        }
        Ok(())
    }

    /// Whether what searches solve while they go on is to be told.
    fn has_to_tell_solved(&self) -> bool {
        self.solved_from > 0 && self.solves.all().any(JoinedSolve::is_worked_on)
    }

    /// Tells what searches that go on have solved since the last time.
    async fn tell_solved(&self, stream: &mut Stream) -> Result<(), Broken> {
        match self.solved() {
            Some(solved) => {
                let batch = v1::WorkerBatch { solved: Some(solved), ..Default::default() };
                stream.send(0, batch).await
            }
            None => Ok(()),
        }
    }

    /// What the searches of a coordinator with one solve have solved since the last call, if it wants to know.
    fn solved(&self) -> Option<v1::SolvedPositions> {
        let mut solved = self.only.as_ref()?.searcher.take_solved();
        solved.sort_unstable_by_key(|solved| Reverse(solved.work));
        solved.truncate(MAX_BATCH);
        (!solved.is_empty()).then(|| packed(&solved))
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

    /// Renews the leases that are worked on.
    async fn renew(&self, stream: &mut Stream) -> Result<(), Broken> {
        for solve in self.solves.all() {
            let Some(number) = solve.number else { continue };
            for renewals in solve.working().chunks(MAX_BATCH) {
                let renewals = renewals.to_vec();
                stream.send(number, v1::WorkerBatch { renewals, ..Default::default() }).await?;
            }
        }
        Ok(())
    }

    /// Does what the coordinator says of a solve; what is returned holds the leases that are declined.
    fn take(
        &mut self,
        number: u64,
        batch: v1::CoordinatorBatch,
    ) -> Result<v1::WorkerBatch, Broken> {
        at_most("batch.leases", &batch.leases, MAX_BATCH)?;
        at_most("batch.cancels", &batch.cancels, MAX_BATCH)?;
        at_most("batch.acknowledged", &batch.acknowledged, MAX_BATCH)?;
        let solved = unpacked_parts(&batch.solved)?;
        if batch.sharing_over {
            self.search_alone()?;
        }
        if let Some(work) = batch.solved_from {
            self.keep_solved_from(work);
        }
        if let Some(only) = &self.only {
            only.searcher.learn(&solved);
        }
        let mut declined = v1::WorkerBatch::default();
        match self.solves.numbered(number) {
            Some(solve) => {
                batch.acknowledged.iter().for_each(|&lease| solve.acknowledge(lease));
                batch.cancels.iter().for_each(|&lease| solve.cancel(lease));
                for lease in batch.leases {
                    let lease_id = lease.lease_id;
                    let held = match self.follows.why_none_is_taken() {
                        None => solve.hold(lease, &mut self.games),
                        Some(reason) => Err(reason.to_owned()),
                    };
                    match held {
                        Ok(task) => self.slots.put(task),
                        Err(reason) => {
                            declined.declines.push(v1::Decline { lease_id, reason });
                        }
                    }
                }
            }
            // It is about the stream.
            None if batch.stopped => {}
            None => return Err(not_open("work on", number)),
        }
        if batch.stopped {
            return Err(Broken::PutOff(STOPPED.to_owned()));
        }
        Ok(declined)
    }
}

impl News {
    fn put(&mut self, entry: BatchEntry) {
        match entry {
            BatchEntry::Proved(report) => self.proved.push(report),
            BatchEntry::Progress(progress) => self.batch.progress.push(progress),
            BatchEntry::Report(report) => self.batch.reports.push(report),
            BatchEntry::Decline(decline) => self.batch.declines.push(decline),
        }
    }
}
