//! What the workers do: connect, search, report.

use std::time::Duration;

use jlpns_search::Job;
use jlpns_solve::{LeaseId, Subject, WorkerId};
use rand::RngExt;

use super::{Down, Happening, Up, World};
use crate::worker::{Filed, Running};

impl World {
    pub(super) fn at_worker(&mut self, connection: WorkerId, down: Down) {
        let index = self.owners[&connection];
        let worker = &mut self.workers[index];
        if !worker.alive || worker.connection != Some(connection) {
            return;
        }
        let instance = worker.instance;
        match down {
            Down::Welcome => {
                for filed in worker.unacknowledged.values().cloned().collect::<Vec<_>>() {
                    self.send(Happening::ToCoordinator(connection, Up::Report(filed)));
                }
                // The leases of the former connection were taken back.
                let running: Vec<LeaseId> = self.workers[index].running.keys().copied().collect();
                running.into_iter().for_each(|lease| self.call_back(index, lease));
                self.heartbeat(index, connection);
            }
            Down::Lease(lease, job, seal) => {
                // A doubled message is a lease that is held already.
                if worker.seen.insert(lease) {
                    self.begin_search(index, connection, (lease, seal), job);
                }
            }
            Down::Cancel(lease) => self.call_back(index, lease),
            Down::Acknowledged(lease) => {
                worker.unacknowledged.remove(&lease);
            }
            Down::Closed { refused } => {
                worker.refused |= refused;
                worker.connection = None;
                let delay = self.up_to(Duration::from_secs(2));
                self.later(delay, Happening::Connect { worker: index, instance });
            }
            Down::Over => worker.done = true,
        }
    }

    pub(super) fn begin_search(
        &mut self,
        index: usize,
        connection: WorkerId,
        (lease, seal): (LeaseId, u64),
        job: Job,
    ) {
        if self.chance(self.faults.declined) {
            self.counts.declined += 1;
            return self.send(Happening::ToCoordinator(connection, Up::Decline(lease)));
        }
        if self.is_poison(&job) {
            self.counts.poisoned += 1;
            return self.crash_worker(index);
        }
        let findings = self.searcher.run(&job);
        let stuck = self.chance(self.faults.stuck);
        self.counts.stuck += u64::from(stuck);
        let instance = self.workers[index].instance;
        if stuck {
            let patience = 3 * self.settings.stall_after;
            self.later(patience, Happening::Killed { worker: index, instance });
        } else {
            let time = Duration::from_micros(200 * findings.nodes + self.rng.random_range(0..500));
            let ends = Happening::SearchEnds { worker: index, instance, lease, stopped: false };
            self.later(time, ends);
        }
        if self.rng.random_range(0..4) == 0 {
            let half = Job { budget: 1 + job.budget / 2, ..job.clone() };
            let found = self.searcher.run(&half);
            let findings = self.workers[index].nature.progress(&found, &mut self.rng);
            self.send(Happening::ToCoordinator(connection, Up::Progress(lease, findings)));
        }
        self.workers[index].running.insert(lease, Running { job, stopped: false, stuck, seal });
    }

    pub(super) fn call_back(&mut self, index: usize, lease: LeaseId) {
        let worker = &mut self.workers[index];
        let instance = worker.instance;
        let Some(running) = worker.running.get_mut(&lease) else { return };
        // A search that is stuck does not hear.
        if !running.stopped && !running.stuck {
            running.stopped = true;
            let ends = Happening::SearchEnds { worker: index, instance, lease, stopped: true };
            self.later(Duration::from_micros(100), ends);
        }
    }

    pub(super) fn search_ends(&mut self, index: usize, lease: LeaseId, stopped: bool) {
        let Some(running) = self.workers[index].running.get(&lease) else { return };
        if running.stopped != stopped {
            return;
        }
        let Running { job, seal, .. } =
            self.workers[index].running.remove(&lease).expect("it runs");
        let shortened = Job { budget: if stopped { 2 } else { job.budget }, ..job.clone() };
        let mut findings = self.searcher.run(&shortened);
        let worker = &mut self.workers[index];
        worker.reports += 1;
        if !self.searcher.is_over(&job.moves) {
            let (nature, reports) = (worker.nature, worker.reports);
            let said =
                nature.report(&findings, reports, worker.instance, worker.lies, &mut self.rng);
            if said != *findings {
                worker.lies += 1;
                self.counts.lies += 1;
                findings = said.into();
            }
        }
        let (moves, question) = (job.moves, job.question);
        let subject = Subject { moves, question, budget: job.budget, seal };
        let filed = Filed { lease, subject, findings };
        worker.unacknowledged.insert(lease, filed.clone());
        if let Some(connection) = worker.connection {
            self.send(Happening::ToCoordinator(connection, Up::Report(filed)));
        }
    }

    pub(super) fn heartbeat(&mut self, index: usize, connection: WorkerId) {
        let worker = &self.workers[index];
        if worker.connection != Some(connection) || worker.done {
            return;
        }
        let running = worker.running.iter().filter(|(_, running)| !running.stopped);
        let leases: Vec<LeaseId> = running.map(|(&lease, _)| lease).collect();
        self.send(Happening::ToCoordinator(connection, Up::Renew(leases)));
        let interval = self.settings.lease_length / 6;
        self.later(interval, Happening::Heartbeat { worker: index, connection });
    }

    pub(super) fn connect(&mut self, index: usize, instance: u64) {
        let worker = &self.workers[index];
        if !worker.alive || worker.instance != instance || worker.refused || worker.done {
            return;
        }
        if worker.connection.is_none() && self.solve.is_some() {
            let connection = WorkerId(self.owners.len() as u64 + 1);
            self.owners.insert(connection, index);
            self.workers[index].connection = Some(connection);
            self.send(Happening::ToCoordinator(connection, Up::Hello));
        }
        // A hello or its answer may be lost; it is noticed, and tried again.
        let delay = Duration::from_millis(500) + self.up_to(Duration::from_secs(2));
        self.later(delay, Happening::Connect { worker: index, instance });
        if let Some(connection) = self.workers[index].connection
            && !self.open.contains(&connection)
            && self.rng.random_range(0..3) == 0
        {
            self.workers[index].connection = None;
        }
    }
}
