//! What the solve wants done, and who does it: workers, the recorder, the coordinator's own searches.

use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind;
use jlpns_solve::Action;
use tracing::{debug, info, warn};

use super::Driver;
use super::messages::{denied, millis, post, split};

impl Driver {
    /// Sends what the solve wants done. A worker that cannot be reached leaves, which may bring
    /// new actions; each round has a worker less, so it ends.
    pub(super) fn flush(&mut self) {
        loop {
            for action in self.solve.take_actions() {
                self.sort(action);
            }
            let records = std::mem::take(&mut self.records);
            if let Some(recorder) = self.recorder.as_mut().filter(|_| !records.is_empty()) {
                recorder.record(records, self.solve.mean_search());
            }
            let mut unreachable = Vec::new();
            for (worker, batch) in self.outbox.take(|worker| self.solve.is_working(worker)) {
                let Some((_, connection)) = self.connections.get(&worker) else { continue };
                if !split(batch).into_iter().all(|batch| post(connection, Kind::Batch(batch))) {
                    unreachable.push(worker);
                }
            }
            if unreachable.is_empty() {
                return;
            }
            for worker in unreachable {
                self.leave(worker, "it does not read what it is sent");
            }
        }
    }

    fn sort(&mut self, action: Action) {
        match action {
            Action::Lease { worker, lease, job, deadline, report_interval, seal } => {
                debug!("{lease} to {worker}: {job:?}");
                self.outbox.of(worker).leases.push(v1::Lease {
                    lease_id: lease.0,
                    job: Some(v1::Job::from(&job)),
                    deadline_ms: millis(deadline),
                    report_interval_ms: millis(report_interval),
                    seal,
                });
            }
            Action::Cancel { worker, lease } => {
                debug!("{lease} of {worker} is called back");
                self.outbox.of(worker).cancels.push(lease.0);
            }
            Action::Tell { worker, solved } => {
                self.outbox.tell(worker, solved);
            }
            Action::KeepSolved { worker, work } => {
                self.outbox.of(worker).solved_from = Some(work);
            }
            Action::EndSharing { worker } => {
                let batch = self.outbox.of(worker);
                batch.solved.clear();
                batch.solved_from = None;
                batch.sharing_over = true;
            }
            Action::Acknowledge { worker, lease } => {
                self.outbox.acknowledge(worker, lease);
            }
            Action::Dismiss { worker, refused } => {
                let Some((info, connection)) = self.connections.remove(&worker) else { return };
                self.outbox.forget(worker);
                match refused {
                    Some(refusal) => {
                        let _ = connection.outbound.try_send(Err(denied(&refusal)));
                        info!("{worker} ({}) is dismissed: {refusal}", info.name);
                    }
                    None => info!("{worker} ({}) has connected anew", info.name),
                }
            }
            Action::Record { number, record } => self.records.push((number, record)),
            Action::Snapshot(snapshot) => {
                if let Some(recorder) = &self.recorder {
                    recorder.snapshot(snapshot);
                }
            }
            Action::Search { number, job } => self.own_searches.begin(number, job),
            Action::Notify(notice) => warn!("{notice}"),
            Action::Tidings(news) => {
                if let Some(tidings) = &self.tidings {
                    // Who has asked for a position may have gone.
                    let _ = tidings.send(news);
                }
            }
            // The end is told once the loop has seen the answer.
            Action::Over => {}
        }
    }
}
