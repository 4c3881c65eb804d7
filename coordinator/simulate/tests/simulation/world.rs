//! The clock, and the coordinator in its world.
//!
//! - `faults`: what goes wrong.
//! - `network`: messages, and the coordinator's end of a connection.
//! - `workers`: what the workers do.

mod faults;
mod network;
mod workers;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::time::Duration;

use faults::Fault;
pub use faults::{Counts, Faults};
use jlpns_games::Move;
use jlpns_search::Findings;
use jlpns_solve::{Action, Event, LeaseId, Notice, Refusal, Solve, SolveSettings, WorkerId};
use network::{Down, Up};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::adversary::Nature;
use crate::disk::Disk;
use crate::worker::{Searcher, Worker};

#[derive(Clone)]
enum Happening {
    ToCoordinator(WorkerId, Up),
    ToWorker(WorkerId, Down),
    SearchEnds {
        worker: usize,
        instance: u64,
        lease: LeaseId,
        stopped: bool,
    },
    Heartbeat {
        worker: usize,
        connection: WorkerId,
    },
    Connect {
        worker: usize,
        instance: u64,
    },
    /// The coordinator notices that a connection is gone.
    Noticed(WorkerId),
    Committed {
        life: u64,
    },
    /// A search of the coordinator's own, by its number, with what it found.
    OwnSearchEnds {
        life: u64,
        ends: Box<(u64, Findings)>,
    },
    Tick {
        life: u64,
    },
    Fault(Fault),
    CoordinatorStarts,
    DiskHasRoom,
    WorkerStarts(usize),
    /// Somebody kills a worker that hangs.
    Killed {
        worker: usize,
        instance: u64,
    },
}

/// A cluster, from its seed on.
pub struct World {
    pub settings: SolveSettings,
    pub faults: Faults,
    pub rng: StdRng,
    pub now: Duration,
    pub solve: Option<Solve>,
    pub disk: Disk,
    pub counts: Counts,
    pub over: bool,
    workers: Vec<Worker>,
    under_way: BinaryHeap<Reverse<(Duration, u64)>>,
    happenings: HashMap<u64, Happening>,
    sequence: u64,
    searcher: Searcher,
    /// Which worker each connection that was ever opened belongs to.
    owners: BTreeMap<WorkerId, usize>,
    /// The connections that the coordinator believes to be open.
    open: BTreeSet<WorkerId>,
    /// Counts the lives of the coordinator.
    life: u64,
    began: Duration,
    full: bool,
    frozen_until: Duration,
    next_tick: Option<Duration>,
    granted: BTreeSet<LeaseId>,
    kills: HashMap<Vec<Move>, u32>,
}

impl World {
    pub fn new(
        settings: SolveSettings,
        faults: Faults,
        workers: impl IntoIterator<Item = Worker>,
        rng: StdRng,
    ) -> World {
        let mut world = World {
            searcher: Searcher::new(settings.spec.clone()),
            solve: Some(Solve::new(settings.clone()).expect("legal moves")),
            settings,
            faults,
            rng,
            now: Duration::ZERO,
            disk: Disk::default(),
            counts: Counts::default(),
            over: false,
            workers: workers.into_iter().collect(),
            under_way: BinaryHeap::new(),
            happenings: HashMap::new(),
            sequence: 0,
            owners: BTreeMap::new(),
            open: BTreeSet::new(),
            life: 0,
            began: Duration::ZERO,
            full: false,
            frozen_until: Duration::ZERO,
            next_tick: None,
            granted: BTreeSet::new(),
            kills: HashMap::new(),
        };
        for worker in 0..world.workers.len() {
            let delay = world.up_to(Duration::from_secs(1));
            world.later(delay, Happening::Connect { worker, instance: 1 });
        }
        for (fault, mean) in world.means() {
            world.next_fault(fault, mean);
        }
        world.act();
        world
    }

    fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.rng.random_range(0..=most.as_micros() as u64))
    }

    fn later(&mut self, delay: Duration, happening: Happening) {
        self.sequence += 1;
        self.happenings.insert(self.sequence, happening);
        self.under_way.push(Reverse((self.now + delay, self.sequence)));
    }

    /// The next thing happens. `false` when nothing is left.
    pub fn step(&mut self) -> bool {
        let Some(Reverse((at, number))) = self.under_way.pop() else { return false };
        let happening = self.happenings.remove(&number).expect("it is under way");
        self.now = self.now.max(at);
        self.counts.steps += 1;
        match happening {
            Happening::ToCoordinator(connection, up) => self.at_coordinator(connection, up),
            Happening::ToWorker(connection, down) => self.at_worker(connection, down),
            Happening::SearchEnds { worker, instance, lease, stopped } => {
                if self.workers[worker].instance == instance {
                    self.search_ends(worker, lease, stopped);
                }
            }
            Happening::Heartbeat { worker, connection } => self.heartbeat(worker, connection),
            Happening::Connect { worker, instance } => self.connect(worker, instance),
            Happening::Noticed(connection) => {
                if self.open.remove(&connection) {
                    self.tell(Event::Left { worker: connection });
                }
            }
            Happening::Committed { life } => {
                if life == self.life {
                    self.committed();
                }
            }
            Happening::OwnSearchEnds { life, ends } => {
                if life == self.life {
                    let (number, findings) = *ends;
                    let elapsed = Duration::from_micros(findings.nodes);
                    self.tell(Event::Searched { number, findings, elapsed });
                }
            }
            Happening::Tick { life } => {
                if life == self.life && self.next_tick.is_some_and(|tick| tick <= self.now) {
                    self.next_tick = None;
                    let time = self.time();
                    if let Some(solve) = &mut self.solve {
                        solve.tick(time);
                    }
                }
            }
            Happening::Fault(fault) => self.break_down(fault),
            Happening::CoordinatorStarts => self.start_coordinator(),
            Happening::DiskHasRoom => {
                self.full = false;
                if self.solve.is_some() {
                    self.tell(Event::Parked { reason: None });
                    self.commit();
                }
            }
            Happening::Killed { worker, instance } => {
                if self.workers[worker].alive && self.workers[worker].instance == instance {
                    self.crash_worker(worker);
                }
            }
            Happening::WorkerStarts(worker) => {
                self.workers[worker].alive = true;
                let instance = self.workers[worker].instance;
                self.connect(worker, instance);
            }
        }
        self.act();
        true
    }

    /// The time of the coordinator's present life.
    fn time(&self) -> Duration {
        self.now - self.began
    }

    fn tell(&mut self, event: Event) {
        let time = self.time();
        let Some(solve) = &mut self.solve else { return };
        if let Err(refusal) = solve.handle(event, time) {
            let expected = matches!(
                refusal,
                Refusal::Duplicate(_)
                    | Refusal::UnknownLease(_)
                    | Refusal::UnknownWorker(_)
                    | Refusal::TooManyRefused(_)
                    | Refusal::NotTheHolder(..)
                    | Refusal::Quarantined { .. }
            );
            let honest = self.workers.iter().all(|worker| worker.nature == Nature::Honest);
            let unsound = matches!(refusal, Refusal::BadFindings(..)) && !honest;
            assert!(expected || unsound, "nobody sends what is unsound: {refusal}");
        }
    }

    fn start_coordinator(&mut self) {
        let (snapshots, records) = self.disk.read();
        let first_lease = self.life << 32;
        let solve = Solve::resume(self.settings.clone(), first_lease, snapshots, records);
        self.solve = Some(solve.expect("what is durable can be taken up"));
        self.began = self.now;
        self.next_tick = None;
        if self.full {
            self.tell(Event::Parked { reason: Some("no space".to_owned()) });
        }
    }

    fn commit(&mut self) {
        if !self.full && self.disk.begin() {
            let delay = Duration::from_micros(100) + self.up_to(Duration::from_millis(20));
            self.later(delay, Happening::Committed { life: self.life });
        }
    }

    fn committed(&mut self) {
        let (through, more) = self.disk.end();
        if let Some(through) = through {
            self.tell(Event::Recorded { through });
        }
        if more {
            self.commit();
        }
    }

    /// Does what the solve wants done.
    fn act(&mut self) {
        loop {
            let Some(solve) = &mut self.solve else { return };
            let actions = solve.take_actions();
            if actions.is_empty() {
                break;
            }
            for action in actions {
                self.carry_out(action);
            }
        }
        self.arm();
    }

    /// Sees to it that the solve gets its next tick.
    fn arm(&mut self) {
        let next = self.solve.as_ref().and_then(Solve::next_deadline);
        let Some(next) = next.map(|next| (next + self.began).max(self.frozen_until)) else {
            return;
        };
        let next = next.max(self.now);
        if self.next_tick.is_none_or(|tick| next < tick) {
            self.next_tick = Some(next);
            self.later(next - self.now, Happening::Tick { life: self.life });
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Lease { worker, lease, job, seal, .. } => {
                assert!(!self.over, "no lease after the end");
                assert!(self.open.contains(&worker), "leases go to connected workers");
                assert!(self.granted.insert(lease), "a lease is never used again");
                self.send(Happening::ToWorker(worker, Down::Lease(lease, job, seal)));
            }
            Action::Cancel { worker, lease } => {
                assert!(self.granted.contains(&lease));
                self.send(Happening::ToWorker(worker, Down::Cancel(lease)));
            }
            Action::Acknowledge { worker, lease } => {
                assert!(
                    !self.disk.is_under_way(lease),
                    "nothing is acknowledged before it is durable"
                );
                self.send(Happening::ToWorker(worker, Down::Acknowledged(lease)));
            }
            Action::Tell { .. } => panic!("nothing is shared unless it is asked for"),
            Action::Dismiss { worker, refused } => {
                self.open.remove(&worker);
                let down = Down::Closed { refused: refused.is_some() };
                self.send(Happening::ToWorker(worker, down));
            }
            Action::Record { number, record } => {
                if self.disk.order(number, record) {
                    self.commit();
                }
            }
            Action::Snapshot(snapshot) => self.disk.keep(*snapshot),
            Action::Search { number, job } => {
                let findings = (*self.searcher.run(&job)).clone();
                let delay = Duration::from_micros(200 * findings.nodes);
                let (life, ends) = (self.life, Box::new((number, findings)));
                self.later(delay, Happening::OwnSearchEnds { life, ends });
            }
            Action::Notify(Notice::Regrown { .. }) => self.counts.regrown += 1,
            Action::Notify(_) => {}
            Action::Over => {
                self.over = true;
                for connection in self.open.clone() {
                    self.send(Happening::ToWorker(connection, Down::Over));
                }
            }
        }
    }

    /// What must be true at any moment, and takes a look at everything.
    pub fn check(&self) {
        let Some(solve) = &self.solve else { return };
        let status = solve.status(self.time());
        for worker in &status.workers {
            assert!(worker.running + worker.stuck <= worker.slots, "no slot runs two jobs");
        }
        assert_eq!(status.workers.len(), self.open.len(), "both know who is connected");
        let free = status.workers.iter().any(|w| w.running + w.stuck < w.slots && !w.draining);
        let waits = status.leased > 0
            || solve.waits_for_records()
            || self.full
            || !status.parked_jobs.is_empty()
            || status.unconfirmed > 0
            || status.most_workers < self.settings.await_workers as u64
            || self.next_tick.is_some();
        assert!(
            self.over || !free || waits,
            "an idle slot while nothing is awaited means that the solve is stuck: {status:#?}"
        );
    }

    /// How many records and slots there are, for the end.
    pub fn sum_up(&mut self) -> Counts {
        self.counts.reports_kept = self.disk.reports();
        self.counts.clone()
    }

    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }
}
