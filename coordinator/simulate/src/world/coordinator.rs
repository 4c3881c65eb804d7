//! The solve with a virtual clock: a queue with one server, as the driver is.
//!
//! It asserts what must hold of any solve, whoever its workers are.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use jlpns_solve::{Action, Event, LeaseId, Notice, ProofId, Solve, Subject, WorkerId};

use super::disk::Disk;
use super::network::ToWorker;
use super::{Behaviour, Happening, Report, World};

/// How much virtual time the coordinator takes for each report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatorCost {
    /// As much as it really takes on this machine; no two runs are the same then.
    Real,
    /// This much.
    Fixed(Duration),
}

/// What certificates are kept as: their files are of no account here.
const A_PROOF: ProofId = ProofId([1; 32]);

/// The coordinator, from one crash to the next, and what outlives it.
pub(super) struct Coordinator {
    pub solve: Option<Solve>,
    cost: CoordinatorCost,
    /// When it is done with all that has reached it so far.
    pub free_at: Duration,
    /// The time that it spent on reports.
    pub busy: Duration,
    pub disk: Disk,
    /// Whether the disk has no room.
    pub full: bool,
    /// Counts its lives.
    pub life: u64,
    began: Duration,
    pub frozen_until: Duration,
    pub next_tick: Option<Duration>,
    /// The connections that it believes to be open.
    pub open: BTreeSet<WorkerId>,
    granted: BTreeSet<LeaseId>,
}

impl Coordinator {
    pub fn new(solve: Solve, cost: CoordinatorCost) -> Coordinator {
        Coordinator {
            solve: Some(solve),
            cost,
            free_at: Duration::ZERO,
            busy: Duration::ZERO,
            disk: Disk::default(),
            full: false,
            life: 0,
            began: Duration::ZERO,
            frozen_until: Duration::ZERO,
            next_tick: None,
            open: BTreeSet::new(),
            granted: BTreeSet::new(),
        }
    }
}

impl<B: Behaviour> World<B> {
    /// The time of the coordinator's present life, once it is done with what has reached it.
    pub(super) fn time(&self) -> Duration {
        self.now.max(self.coordinator.free_at) - self.coordinator.began
    }

    pub(super) fn tell(&mut self, event: Event) {
        let time = self.time();
        let Some(solve) = &mut self.coordinator.solve else { return };
        if let Err(refusal) = solve.handle(event, time) {
            self.behaviour.refused(&refusal);
        }
    }

    /// Takes a report in, which costs time.
    pub(super) fn take(&mut self, worker: WorkerId, report: Report) {
        let begins = self.now.max(self.coordinator.free_at);
        let clock = Instant::now();
        let Report { lease, subject, findings, elapsed, hearsay, solved, certificate } = report;
        if !solved.is_empty() {
            self.tell(Event::Solved { worker, solved });
        }
        let examined =
            certificate.zip(self.coordinator.solve.as_ref()).and_then(|(holds, solve)| {
                let Subject { moves, question, .. } = &subject;
                let examined = solve.examiner().examine(moves, *question, &findings)?;
                Some(match holds {
                    true => examined.with_proof(A_PROOF),
                    false => examined.with_bad_certificate("it is made up".to_owned()),
                })
            });
        self.tell(Event::Reported {
            worker,
            lease,
            subject: Some(subject),
            examined,
            findings,
            elapsed,
            hearsay,
        });
        let cost = match self.coordinator.cost {
            CoordinatorCost::Real => clock.elapsed(),
            CoordinatorCost::Fixed(cost) => cost,
        };
        self.coordinator.free_at = begins + cost;
        self.coordinator.busy += cost;
    }

    pub(super) fn tick(&mut self) {
        if self.coordinator.next_tick.is_some_and(|tick| tick <= self.now) {
            self.coordinator.next_tick = None;
            let time = self.time();
            if let Some(solve) = &mut self.coordinator.solve {
                solve.tick(time);
            }
        }
    }

    pub(super) fn crash_coordinator(&mut self) {
        self.coordinator.solve = None;
        self.coordinator.life += 1;
        self.coordinator.disk.crash();
        self.coordinator.open.clear();
        for index in 0..self.workers.len() {
            self.workers[index].connection = None;
            self.connect_within(index, Duration::from_secs(3));
        }
        let delay = self.draws.up_to(Duration::from_secs(2));
        self.later(delay, Happening::CoordinatorStarts);
    }

    pub(super) fn start_coordinator(&mut self) {
        let (snapshots, records) = self.journal();
        let first_lease = self.coordinator.life << 32;
        let solve = Solve::resume(self.settings.clone(), first_lease, snapshots, records);
        self.coordinator.solve = Some(solve.expect("what is durable can be taken up"));
        self.coordinator.began = self.now;
        self.coordinator.next_tick = None;
        if self.coordinator.full {
            self.tell(Event::Halted { reason: Some("no space".to_owned()) });
        }
    }

    pub(super) fn fill_disk(&mut self) {
        self.coordinator.full = true;
        self.tell(Event::Halted { reason: Some("no space".to_owned()) });
        let delay = self.draws.up_to(Duration::from_secs(20));
        self.later(delay, Happening::DiskHasRoom);
    }

    pub(super) fn make_room(&mut self) {
        self.coordinator.full = false;
        if self.coordinator.solve.is_some() {
            self.tell(Event::Halted { reason: None });
            self.commit();
        }
    }

    fn commit(&mut self) {
        if !self.coordinator.full && self.coordinator.disk.begin() {
            let delay = Duration::from_micros(100) + self.draws.up_to(Duration::from_millis(20));
            self.later(delay, Happening::Committed { life: self.coordinator.life });
        }
    }

    pub(super) fn committed(&mut self) {
        let (through, more) = self.coordinator.disk.end();
        if let Some(through) = through {
            self.tell(Event::Recorded { through });
        }
        if more {
            self.commit();
        }
    }

    /// Does what the solve wants done. The error says why its own search cannot be done at all.
    pub(super) fn act(&mut self) -> Result<(), String> {
        loop {
            let Some(solve) = &mut self.coordinator.solve else { return Ok(()) };
            let actions = solve.take_actions();
            if actions.is_empty() {
                break;
            }
            for action in actions {
                self.carry_out(action)?;
            }
        }
        if self.faults.is_some() {
            self.arm();
        }
        Ok(())
    }

    /// Sees to it that the solve gets its next tick.
    fn arm(&mut self) {
        let Coordinator { solve, began, frozen_until, next_tick, life, .. } = &mut self.coordinator;
        let next = solve.as_ref().and_then(Solve::next_deadline);
        let Some(next) = next.map(|next| (next + *began).max(*frozen_until).max(self.now)) else {
            return;
        };
        if next_tick.is_none_or(|tick| next < tick) {
            *next_tick = Some(next);
            self.queue.put(next, Happening::Tick { life: *life });
        }
    }

    fn carry_out(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Lease { worker, lease, job, seal, .. } => {
                assert!(!self.over, "no lease after the end");
                assert!(self.coordinator.open.contains(&worker), "leases go to connected workers");
                assert!(self.coordinator.granted.insert(lease), "a lease is never used again");
                self.send_down(worker, ToWorker::Lease(super::Lease { id: lease, job, seal }));
            }
            Action::Cancel { worker, lease } => {
                assert!(self.coordinator.granted.contains(&lease));
                self.send_down(worker, ToWorker::Cancel(lease));
            }
            Action::Acknowledge { worker, lease } => {
                assert!(
                    !self.coordinator.disk.is_under_way(lease),
                    "nothing is acknowledged before it is durable"
                );
                if self.faults.is_some() {
                    self.send_down(worker, ToWorker::Acknowledged(lease));
                }
            }
            Action::Tell { worker, solved } => {
                assert!(self.settings.share, "nothing is shared unless it is asked for");
                self.send_down(worker, ToWorker::Learn(solved));
            }
            Action::KeepSolved { worker, work } => {
                self.send_down(worker, ToWorker::KeepSolved(work));
            }
            Action::EndSharing { worker } => self.send_down(worker, ToWorker::SharingOver),
            Action::Dismiss { worker, refused } => {
                self.coordinator.open.remove(&worker);
                self.send_down(worker, ToWorker::Closed { refused: refused.is_some() });
            }
            Action::Record { number, record } => {
                if self.coordinator.disk.order(number, record) {
                    self.commit();
                }
            }
            Action::Snapshot(snapshot) => self.coordinator.disk.keep(*snapshot),
            Action::Search { number, job } => {
                let findings = Box::new(self.behaviour.search_here(&job)?);
                let (life, elapsed) =
                    (self.coordinator.life, self.draws.pace().time(findings.nodes));
                let solved = findings.efforts.iter().any(|pair| pair.is_solved());
                let proof = (job.prove && solved).then_some(A_PROOF);
                let ends = Happening::OwnSearchEnds { life, number, findings, elapsed, proof };
                self.later(elapsed, ends);
            }
            Action::Notify(Notice::Regrown { .. }) => self.counts.regrown += 1,
            Action::Notify(_) => {}
            // The world has one solve.
            Action::Tidings(_) => {}
            Action::Over => {
                self.over = true;
                if self.faults.is_some() {
                    for connection in self.coordinator.open.clone() {
                        self.send_down(connection, ToWorker::Over);
                    }
                }
            }
        }
        Ok(())
    }
}
