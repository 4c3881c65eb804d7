//! Messages, which may be lost, doubled or late, and the coordinator's end of a connection.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use jlpns_search::{Findings, SolvedPosition};
use jlpns_solve::{Event, LeaseId, Refusal, WorkerId};

use super::{Behaviour, Fault, Happening, Lease, Report, World};

#[derive(Clone)]
pub(super) enum ToCoordinator {
    Hello,
    Renew(Vec<LeaseId>),
    Progress(LeaseId, Findings),
    Solved(Vec<SolvedPosition>),
    Report(Rc<Report>),
    Decline(LeaseId),
}

#[derive(Clone)]
pub(super) enum ToWorker {
    Welcome,
    Lease(Lease),
    Cancel(LeaseId),
    Learn(Arc<[SolvedPosition]>),
    KeepSolved(u32),
    SharingOver,
    Acknowledged(LeaseId),
    Closed { refused: bool },
    Over,
}

const UP: usize = 0;
const DOWN: usize = 1;

impl<B: Behaviour> World<B> {
    pub(super) fn send_up(&mut self, connection: WorkerId, message: ToCoordinator) {
        self.send(self.now, connection, UP, Happening::ToCoordinator(connection, message));
    }

    /// Sends something to a worker when the coordinator is done with what has reached it.
    pub(super) fn send_down(&mut self, connection: WorkerId, message: ToWorker) {
        let leaves = self.now.max(self.coordinator.free_at);
        self.send(leaves, connection, DOWN, Happening::ToWorker(connection, message));
    }

    /// Sends something over a network that keeps the order of each stream; one that fails may lose,
    /// double or delay messages, and keeps no order.
    fn send(&mut self, leaves: Duration, on: WorkerId, direction: usize, happening: Happening) {
        if self.hits(Fault::Lost) {
            return;
        }
        let mut arrives = leaves.saturating_add(self.draws.message());
        if self.faults.is_none() {
            let owner = self.owner(on);
            let last = &mut self.workers[owner].last_arrivals[direction];
            *last = arrives.max(*last);
            arrives = *last;
        }
        if self.hits(Fault::Late) {
            arrives += self.draws.up_to(Duration::from_secs(20));
        }
        if self.hits(Fault::Doubled) {
            let again = arrives + self.draws.up_to(Duration::from_secs(5));
            self.queue.put(again, happening.clone());
        }
        self.queue.put(arrives, happening);
    }

    pub(super) fn at_coordinator(&mut self, worker: WorkerId, message: ToCoordinator) {
        if self.coordinator.solve.is_none() {
            return;
        }
        if self.now < self.coordinator.frozen_until {
            let happening = Happening::ToCoordinator(worker, message);
            return self.queue.put(self.coordinator.frozen_until, happening);
        }
        if let ToCoordinator::Hello = message {
            return self.join(worker);
        }
        if !self.coordinator.open.contains(&worker) {
            return;
        }
        match message {
            ToCoordinator::Hello => {}
            ToCoordinator::Renew(leases) => self.tell(Event::Renewed { worker, leases }),
            ToCoordinator::Progress(lease, findings) => {
                self.tell(Event::Progress { worker, lease, findings });
            }
            ToCoordinator::Decline(lease) => self.tell(Event::Declined { worker, lease }),
            ToCoordinator::Solved(solved) => self.tell(Event::Solved { worker, solved }),
            ToCoordinator::Report(report) => self.take(worker, Rc::unwrap_or_clone(report)),
        }
    }

    /// A worker joins, unless it has given up this connection or has joined.
    pub(super) fn join(&mut self, connection: WorkerId) {
        let worker = self.owner(connection);
        let given_up = self.workers[worker].connection != Some(connection);
        if given_up || self.coordinator.open.contains(&connection) {
            return;
        }
        // Processes of one worker differ, and so do those of different workers.
        let instance = self.workers[worker].life * self.workers.len() as u64 + worker as u64;
        let event = Event::Joined { worker: connection, info: self.workers[worker].info(instance) };
        let time = self.time();
        let Some(solve) = &mut self.coordinator.solve else { return };
        match solve.handle(event, time) {
            Ok(()) => {
                self.coordinator.open.insert(connection);
                if solve.shares() {
                    self.behaviour.keep_solved_from(worker, solve.solved_from());
                }
                if self.faults.is_some() {
                    self.send_down(connection, ToWorker::Welcome);
                }
            }
            Err(Refusal::Quarantined { .. }) => {
                self.send_down(connection, ToWorker::Closed { refused: true });
            }
            Err(other) => panic!("a hello is refused: {other}"),
        }
    }
}
