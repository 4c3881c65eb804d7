//! Messages, which may be lost, doubled or late, and the coordinator's end of a connection.

use std::time::Duration;

use jlpns_search::{Findings, Job};
use jlpns_solve::belief::Identity;
use jlpns_solve::{Event, LeaseId, Refusal, WorkerId, WorkerInfo};

use super::{Happening, World};
use crate::worker::{Filed, Worker};

#[derive(Clone)]
pub(super) enum Up {
    Hello,
    Renew(Vec<LeaseId>),
    Progress(LeaseId, Findings),
    Report(Filed),
    Decline(LeaseId),
}

#[derive(Clone)]
pub(super) enum Down {
    Welcome,
    Lease(LeaseId, Job, u64),
    Cancel(LeaseId),
    Acknowledged(LeaseId),
    Closed { refused: bool },
    Over,
}

impl World {
    /// Sends something over the network, which may lose, double or delay it.
    pub(super) fn send(&mut self, happening: Happening) {
        if self.chance(self.faults.lost) {
            self.counts.lost += 1;
            return;
        }
        let mut delay = Duration::from_micros(200) + self.up_to(Duration::from_millis(2));
        if self.chance(self.faults.late) {
            self.counts.late += 1;
            delay += self.up_to(Duration::from_secs(20));
        }
        if self.chance(self.faults.doubled) {
            self.counts.doubled += 1;
            let again = delay + self.up_to(Duration::from_secs(5));
            self.later(again, happening.clone());
        }
        self.later(delay, happening);
    }

    pub(super) fn at_coordinator(&mut self, connection: WorkerId, up: Up) {
        if self.solve.is_none() {
            return;
        }
        if self.now < self.frozen_until {
            let wait = self.frozen_until - self.now;
            return self.later(wait, Happening::ToCoordinator(connection, up));
        }
        if let Up::Hello = up {
            let worker = self.owners[&connection];
            if self.workers[worker].connection != Some(connection)
                || self.open.contains(&connection)
            {
                return;
            }
            let Worker { name, machine, slots, instance, .. } = &self.workers[worker];
            // Processes of one worker differ, and so do those of different workers.
            let instance = instance * 100_000 + worker as u64 + 1;
            let address = format!("address of {machine}");
            let identity = Identity { certificate: None, machine: machine.clone(), address };
            let (name, build) = (name.clone(), String::new());
            let info = WorkerInfo { name, identity, build, slots: *slots, memory: 0, instance };
            let time = self.time();
            let solve = self.solve.as_mut().expect("it runs");
            match solve.handle(Event::Joined { worker: connection, info }, time) {
                Ok(()) => {
                    self.open.insert(connection);
                    self.send(Happening::ToWorker(connection, Down::Welcome));
                }
                Err(Refusal::Quarantined { .. }) => {
                    let down = Down::Closed { refused: true };
                    self.send(Happening::ToWorker(connection, down));
                }
                Err(other) => panic!("a hello is refused: {other}"),
            }
            return;
        }
        if !self.open.contains(&connection) {
            return;
        }
        let worker = connection;
        self.tell(match up {
            Up::Hello => unreachable!("it was taken above"),
            Up::Renew(leases) => Event::Renewed { worker, leases },
            Up::Progress(lease, findings) => Event::Progress { worker, lease, findings },
            Up::Decline(lease) => Event::Declined { worker, lease },
            Up::Report(Filed { lease, subject, findings }) => Event::Reported {
                examined: None,
                worker,
                lease,
                subject: Some(subject),
                elapsed: Duration::from_micros(findings.nodes),
                findings: (*findings).clone(),
            },
        });
    }
}
