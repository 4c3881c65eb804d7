//! The end of a driver: who is told what, and what is written before it goes.

use std::time::Duration;

use jlpns_solve::Solve;
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use super::handle::ToldEnd;
use super::messages::post;
use super::{Driver, DriverCommand, DriverError, answer, over, stopped, written};

/// How long the last reports may take to become durable when the driver stops.
const LAST_RECORDS: Duration = Duration::from_secs(10);

impl Driver {
    /// Tells all workers the answer.
    pub(super) fn say_answer(&mut self) {
        let answer = answer(&self.solve.status(self.now()));
        info!("the solve is over: {answer}");
        self.say_over(answer);
    }

    /// Tells all workers that the solve is over, those too that are just about to join.
    pub(super) fn say_over(&mut self, answer: String) {
        // Those that are here hear it before anything else that the end brings.
        for (worker, (info, connection)) in &self.connections {
            if !post(connection, over(answer.clone())) {
                warn!("{worker} ({}) could not be told of the end", info.name);
            }
        }
        let status = self.solve.status(self.now());
        // Before the way is closed, so that each that finds it closed finds this.
        self.handle.set_told_end(ToldEnd { answer: answer.clone(), status });
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            match command {
                DriverCommand::Join { connection, .. } => {
                    // One that does not read it has gone.
                    let _ = post(&connection, over(answer.clone()));
                }
                status @ DriverCommand::Status { .. } => self.obey(status),
                // Nothing that anybody still says or wants changes the end.
                _ => {}
            }
        }
    }

    /// Sees to it that all that was reported is durable.
    pub(super) async fn stop(mut self) -> Result<Solve, DriverError> {
        self.own_searches.stop();
        let end = Instant::now() + LAST_RECORDS;
        loop {
            // The last snapshot stands for all.
            self.solve.abandon_snapshot();
            self.flush();
            // Or workers would send those reports to the next coordinator again.
            self.outbox.release_all();
            self.flush();
            if self.recorder.is_none() || !self.solve.waits_for_records() {
                break;
            }
            tokio::select! {
                () = sleep_until(end) => break,
                event = written(&mut self.recorder) => self.hear(event)?,
            }
        }
        // The last record may have brought the answer.
        if self.solve.end().is_some() && !self.commands.is_closed() {
            self.say_answer();
        }
        if let Some(recorder) = self.recorder.take() {
            if self.solve.end().is_none() {
                for (_, connection) in self.connections.values() {
                    // One that does not read it waits all the same: it is only less well informed.
                    let _ = post(connection, stopped());
                }
            }
            recorder.snapshot(Box::new(self.solve.snapshot()));
            recorder.finish().await?;
        }
        Ok(self.solve)
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use jlpns_games::spec::{GameSpec, parse_moves};
    use jlpns_games::{Goal, Outcome, with_game};
    use jlpns_proto::v1::coordinator_message::Kind;
    use jlpns_search::search::{SearchSettings, search_any};
    use jlpns_search::{Algorithm, Job, TranspositionTable};
    use jlpns_solve::belief::{Confirm, Identity};
    use jlpns_solve::{Event, LeaseId, SolveSettings, WorkerInfo};
    use tokio::sync::{mpsc, oneshot};

    use super::*;
    use crate::driver::{DriverConfig, WorkerStream};
    use crate::recorder::{OtherProcess, take_up};

    /// A signal comes while the record is on its way to the disk that answers all.
    #[tokio::test]
    async fn an_answer_that_comes_with_the_last_records_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let spec: GameSpec = "connect4:4x4".parse().expect("a spec");
        let moves = with_game!(spec.game(), game => parse_moves(game, "12212112")).expect("legal");
        let mut settings = SolveSettings::new(spec.clone());
        (settings.journal, settings.moves, settings.job_nodes) = (true, moves, 1_000_000);
        (settings.goal, settings.knowledge) = (Some(Goal::AtLeast(Outcome(1))), false);
        (settings.sub_search, settings.belief.confirm) = (Algorithm::AlphaBeta, Confirm::None);
        let config = DriverConfig::of(&settings);
        let taken = take_up(folder.path(), OtherProcess::Keeps, "s".to_owned(), settings);
        let taken = taken.expect("a new journal");
        let mut driver = Driver::new(taken.solve, Some(taken.recorder), config);
        let (outbound, mut messages) = mpsc::channel(64);
        let (open, _closed) = oneshot::channel();
        let worker = driver.handle().new_worker();
        let info = WorkerInfo {
            name: "w".to_owned(),
            identity: Identity::default(),
            build: String::new(),
            slots: 1,
            memory: 0,
            instance: 0,
        };
        let connection = WorkerStream { outbound, _open: open };
        driver.obey(DriverCommand::Join { worker, info, connection });
        driver.flush();
        let lease = loop {
            let message = messages.recv().await.expect("a message").expect("no status");
            if let Some(Kind::Batch(batch)) = message.kind
                && let Some(lease) = batch.leases.into_iter().next()
            {
                break lease;
            }
        };
        let job = Job::try_from(lease.job.expect("a job")).expect("a sound job");
        let table = TranspositionTable::with_bytes(1 << 20).expect("a table");
        let searched = SearchSettings::of_job(&job);
        let found =
            search_any(spec.game(), &job.moves, job.question, &searched, (&table).into(), &mut ());
        let event = Event::Reported {
            worker,
            lease: LeaseId(lease.lease_id),
            subject: None,
            examined: None,
            findings: found.expect("legal moves").findings,
            elapsed: Duration::from_millis(1),
            hearsay: false,
        };
        driver.obey(DriverCommand::Batch { worker, events: vec![event], declines: Vec::new() });
        assert!(!driver.is_over(), "it is not durable yet");
        let solve = driver.run(ready(())).await.expect("the journal is written");
        assert!(solve.end().is_some());
        let mut is_told = false;
        while let Some(Ok(message)) = messages.recv().await {
            is_told |= matches!(message.kind, Some(Kind::Over(_)));
        }
        assert!(is_told, "its worker would wait for another coordinator");
    }
}
