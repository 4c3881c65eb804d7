//! What the workers do: connect, search, report.

use std::rc::Rc;
use std::time::Duration;

use jlpns_search::searcher::TELL_INTERVAL;
use jlpns_search::{Algorithm, Findings, Job};
use jlpns_solve::{LeaseId, Subject, WorkerId};

use super::network::{ToCoordinator, ToWorker};
use super::worker::{Running, Used, Worker};
use super::{Behaviour, Fault, Happening, Report, World};
use crate::search::Search;

impl<B: Behaviour> World<B> {
    pub(super) fn at_worker(
        &mut self,
        connection: WorkerId,
        message: ToWorker,
    ) -> Result<(), String> {
        let index = self.owner(connection);
        let worker = &mut self.workers[index];
        if worker.connection != Some(connection) {
            return Ok(());
        }
        match message {
            ToWorker::Welcome => self.welcomed(index, connection)?,
            ToWorker::Lease(lease) => {
                // A doubled message is a lease that is held already.
                if worker.seen.insert(lease.id) {
                    self.take_lease(index, connection, lease);
                    self.begin_searches(index)?;
                }
            }
            ToWorker::Cancel(lease) => {
                self.stop(index, lease);
                self.begin_searches(index)?;
            }
            ToWorker::Learn(solved) => {
                self.behaviour.learn(index, &solved);
                self.tell_solved(index);
            }
            ToWorker::KeepSolved(work) => self.behaviour.keep_solved_from(index, work),
            ToWorker::SharingOver => self.behaviour.end_sharing(index),
            ToWorker::Acknowledged(lease) => {
                worker.unacknowledged.remove(&lease);
            }
            ToWorker::Closed { refused } => {
                worker.refused |= refused;
                worker.connection = None;
                self.connect_within(index, Duration::from_secs(2));
            }
            ToWorker::Over => worker.done = true,
        }
        Ok(())
    }

    fn welcomed(&mut self, index: usize, connection: WorkerId) -> Result<(), String> {
        let worker = &mut self.workers[index];
        if std::mem::replace(&mut worker.welcomed, true) {
            return Ok(());
        }
        for report in worker.unacknowledged.values().cloned().collect::<Vec<_>>() {
            self.send_report(index, report);
        }
        // The leases of the former connection were taken back.
        let worker = &self.workers[index];
        let waiting = worker.waiting.iter().map(|lease| lease.id);
        let held: Vec<LeaseId> = waiting.chain(worker.running.keys().copied()).collect();
        held.into_iter().for_each(|lease| self.stop(index, lease));
        self.heartbeat(connection);
        self.begin_searches(index)
    }

    fn take_lease(&mut self, index: usize, connection: WorkerId, lease: super::Lease) {
        if self.hits(Fault::Declined) {
            return self.send_up(connection, ToCoordinator::Decline(lease.id));
        }
        if self.is_poison(&lease.job) {
            return self.crash_worker(index);
        }
        self.workers[index].waiting.push_back(lease);
    }

    /// Begins searches on the free slots of a worker.
    fn begin_searches(&mut self, index: usize) -> Result<(), String> {
        while self.workers[index].running.len() < self.workers[index].slots as usize {
            let Some(lease) = self.workers[index].waiting.pop_front() else { break };
            let id = lease.id;
            let wait = self.workers[index].free_slots.take(self.now);
            self.waits.end(wait, self.draws.round_trip());
            let search = self.behaviour.begin(index, &lease)?;
            let stuck = self.hits(Fault::Stuck);
            if stuck {
                let killed = Happening::Killed { worker: index, life: self.workers[index].life };
                self.later(3 * self.settings.stall_after, killed);
            }
            let pace = self.draws.pace().times(self.speed(lease.job.sub_search));
            let running = Running::new(lease, search, self.now, pace, stuck);
            self.workers[index].running.insert(id, running);
            self.so_far.jobs += 1;
            self.advance(index, id)?;
        }
        Ok(())
    }

    /// How many nodes a sub-search creates in the time in which the first creates one.
    fn speed(&self, sub_search: Algorithm) -> f64 {
        let beside = self.settings.beside.filter(|beside| beside.sub_search == sub_search);
        beside.map_or(1.0, |beside| beside.speed)
    }

    /// Really runs the next part of a search.
    fn advance(&mut self, index: usize, lease: LeaseId) -> Result<(), String> {
        let running = self.workers[index].running.get_mut(&lease).filter(|running| !running.stuck);
        let Some(running) = running else { return Ok(()) };
        let (ends, nodes) = running.advance()?;
        self.so_far.nodes += nodes;
        self.queue.put(ends, Happening::Searched(index, lease));
        Ok(())
    }

    /// Goes on after a part of a search that has come to its end, or reports what it found.
    pub(super) fn go_on(&mut self, index: usize, lease: LeaseId) -> Result<(), String> {
        let worker = &mut self.workers[index];
        let Some(running) = worker.running.get_mut(&lease) else { return Ok(()) };
        if let Some(partial) = running.partial.take() {
            let said = self.behaviour.progress(index, partial);
            if let Some(connection) = self.workers[index].connection {
                self.send_up(connection, ToCoordinator::Progress(lease, said));
            }
        }
        let Some(running) = self.workers[index].running.get_mut(&lease) else { return Ok(()) };
        match running.findings.take() {
            None => {
                if self.workers[index].tells_by <= self.now {
                    self.tell_solved(index);
                }
                self.advance(index, lease)?;
            }
            Some(findings) => {
                let used = running.used(Duration::MAX);
                self.end_search(index, lease, used, |_| Some(findings));
            }
        }
        self.begin_searches(index)
    }

    /// Tells what a worker's searches have solved so far.
    fn tell_solved(&mut self, index: usize) {
        let worker = &mut self.workers[index];
        let Some(connection) = worker.connection else { return };
        worker.tells_by = self.now + TELL_INTERVAL;
        let solved = self.behaviour.take_solved(index);
        if !solved.is_empty() {
            self.send_up(connection, ToCoordinator::Solved(solved));
        }
    }

    /// Calls a lease back.
    fn stop(&mut self, index: usize, lease: LeaseId) {
        let worker = &mut self.workers[index];
        worker.waiting.retain(|waiting| waiting.id != lease);
        // A search that is stuck does not hear.
        if let Some(running) = worker.running.get(&lease).filter(|running| !running.stuck) {
            let used = running.used(self.now);
            self.end_search(index, lease, used, |search| search.stop());
        }
    }

    /// Frees the slot of a search, and reports what is to be reported of it.
    fn end_search(
        &mut self,
        index: usize,
        lease: LeaseId,
        used: Used,
        found: impl FnOnce(Box<dyn Search>) -> Option<Findings>,
    ) {
        let Some(Running { lease, search, .. }) = self.workers[index].running.remove(&lease) else {
            return;
        };
        self.workers[index].free_slots.free(self.now);
        self.used = self.used + used;
        let hearsay = search.rests_on_hearsay();
        let Some(findings) = found(search) else { return };
        let solved = self.behaviour.take_solved(index);
        let (id, Job { moves, question, budget, prove, .. }) = (lease.id, lease.job);
        let is_solved = findings.efforts.iter().any(|pair| pair.is_solved());
        let certificate = (prove && is_solved).then_some(true);
        let subject = Subject { moves, question, budget, seal: lease.seal };
        let elapsed = used.time;
        let lease = id;
        let report = Report { lease, subject, findings, elapsed, hearsay, solved, certificate };
        let report = Rc::new(report);
        if self.faults.is_some() {
            self.workers[index].unacknowledged.insert(id, report.clone());
        }
        self.send_report(index, report);
    }

    fn send_report(&mut self, index: usize, report: Rc<Report>) {
        let Worker { connection: Some(connection), life, .. } = self.workers[index] else { return };
        let said = self.behaviour.report(index, life, report);
        self.send_up(connection, ToCoordinator::Report(said));
    }

    /// A worker renews its leases, as long as its connection stands.
    pub(super) fn heartbeat(&mut self, connection: WorkerId) {
        let index = self.owner(connection);
        let worker = &mut self.workers[index];
        if worker.connection != Some(connection) || worker.done {
            return;
        }
        if !self.coordinator.open.contains(&connection) {
            worker.connection = None;
            return self.connect_within(index, Duration::from_secs(2));
        }
        let waiting = worker.waiting.iter().map(|lease| lease.id);
        let leases = waiting.chain(worker.running.keys().copied()).collect();
        self.send_up(connection, ToCoordinator::Renew(leases));
        let interval = self.settings.lease_length / 6;
        self.later(interval, Happening::Heartbeat(connection));
    }

    /// A worker will try to connect.
    pub(super) fn connect_within(&mut self, index: usize, most: Duration) {
        let delay = self.draws.up_to(most);
        self.later(delay, Happening::Connect { worker: index, life: self.workers[index].life });
    }

    pub(super) fn connect(&mut self, index: usize, life: u64) {
        let Worker { alive, refused, done, connection, welcomed, .. } = self.workers[index];
        let is_there = connection.is_some() && welcomed;
        if !alive || self.workers[index].life != life || refused || done || is_there {
            return;
        }
        // A hello or its answer may be lost; it is noticed, and tried again.
        if self.coordinator.solve.is_some() && (connection.is_none() || self.draws.below(3) == 0) {
            self.cut(index);
            let connection = self.open_connection(index);
            self.send_up(connection, ToCoordinator::Hello);
        }
        let delay = Duration::from_millis(500) + self.draws.up_to(Duration::from_secs(2));
        self.later(delay, Happening::Connect { worker: index, life });
    }

    /// A new connection of a worker, of which the coordinator does not know yet.
    pub(super) fn open_connection(&mut self, index: usize) -> WorkerId {
        self.owners.push(index);
        let connection = WorkerId(self.owners.len() as u64);
        self.workers[index].connection = Some(connection);
        self.workers[index].welcomed = false;
        connection
    }

    /// Which worker a connection belongs to.
    pub(super) fn owner(&self, connection: WorkerId) -> usize {
        self.owners[connection.0 as usize - 1]
    }
}
