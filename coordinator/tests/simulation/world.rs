//! The clock, what is under way, and the faults.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::time::Duration;

use jlpns_common::{Findings, Job, Move};
use jlpns_coordinator::solve::{
    Action, Event, LeaseId, Notice, Refusal, Solve, SolveSettings, WorkerId, WorkerInfo,
};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::disk::Disk;
use crate::worker::{Filed, Running, Searcher, Worker, contrary};

/// How often each thing goes wrong: the mean time between two, for the whole cluster.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub worker_crash: Option<Duration>,
    pub coordinator_crash: Option<Duration>,
    pub partition: Option<Duration>,
    pub disk_full: Option<Duration>,
    /// The coordinator stands still, as under SIGSTOP.
    pub freeze: Option<Duration>,
    /// Of a thousand messages, how many are lost, come twice, or come late.
    pub lost: u32,
    pub doubled: u32,
    pub late: u32,
    /// Of a thousand searches, how many never end.
    pub stuck: u32,
    /// Of a thousand jobs, how many are declined.
    pub declined: u32,
    /// One position in so many kills the first workers that search it.
    pub poison: Option<u64>,
    /// From when on nothing goes wrong any more.
    pub until: Duration,
}

/// What was counted, to show that the faults were there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub worker_crashes: u64,
    pub coordinator_crashes: u64,
    pub partitions: u64,
    pub disk_full: u64,
    pub freezes: u64,
    pub lost: u64,
    pub doubled: u64,
    pub late: u64,
    pub stuck: u64,
    pub declined: u64,
    pub poisoned: u64,
    pub lies: u64,
    pub rebuilt: u64,
    pub steps: u64,
    pub reports_kept: usize,
}

#[derive(Clone)]
enum Up {
    Hello,
    Renew(Vec<LeaseId>),
    Progress(LeaseId, Findings),
    Report(Filed),
    Decline(LeaseId),
}

#[derive(Clone)]
enum Down {
    Welcome,
    Lease(LeaseId, Job),
    Cancel(LeaseId),
    Acknowledged(LeaseId),
    Closed { refused: bool },
    Over,
}

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

#[derive(Clone, Copy)]
enum Fault {
    WorkerCrash,
    CoordinatorCrash,
    Partition,
    DiskFull,
    Freeze,
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
    /// How many claims nobody was there to search again, at the end.
    pub unconfirmed: u64,
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
            unconfirmed: 0,
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

    fn means(&self) -> Vec<(Fault, Duration)> {
        let faults = &self.faults;
        [
            (Fault::WorkerCrash, faults.worker_crash),
            (Fault::CoordinatorCrash, faults.coordinator_crash),
            (Fault::Partition, faults.partition),
            (Fault::DiskFull, faults.disk_full),
            (Fault::Freeze, faults.freeze),
        ]
        .into_iter()
        .filter_map(|(fault, mean)| Some((fault, mean?)))
        .collect()
    }

    fn next_fault(&mut self, fault: Fault, mean: Duration) {
        let delay = self.up_to(2 * mean);
        if self.now + delay < self.faults.until {
            self.later(delay, Happening::Fault(fault));
        }
    }

    fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.rng.random_range(0..=most.as_micros() as u64))
    }

    fn chance(&mut self, per_mille: u32) -> bool {
        self.now < self.faults.until && self.rng.random_range(0..1000) < per_mille
    }

    fn later(&mut self, delay: Duration, happening: Happening) {
        self.sequence += 1;
        self.happenings.insert(self.sequence, happening);
        self.under_way.push(Reverse((self.now + delay, self.sequence)));
    }

    /// Sends something over the network, which may lose, double or delay it.
    fn send(&mut self, happening: Happening) {
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
                    | Refusal::NotTheHolder(..)
                    | Refusal::Quarantined(_)
            );
            assert!(expected, "nobody sends what is unsound: {refusal}");
        }
    }

    fn at_coordinator(&mut self, connection: WorkerId, up: Up) {
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
            let Worker { name, slots, instance, .. } = &self.workers[worker];
            // Processes of one worker differ, and so do those of different workers.
            let instance = instance * 100_000 + worker as u64 + 1;
            let info = WorkerInfo { name: name.clone(), slots: *slots, memory: 0, instance };
            let time = self.time();
            let solve = self.solve.as_mut().expect("it runs");
            match solve.handle(Event::Joined { worker: connection, info }, time) {
                Ok(()) => {
                    self.open.insert(connection);
                    self.send(Happening::ToWorker(connection, Down::Welcome));
                }
                Err(Refusal::Quarantined(_)) => {
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
                worker,
                lease,
                subject: Some(subject),
                elapsed: Duration::from_micros(findings.nodes),
                findings: (*findings).clone(),
            },
        });
    }

    fn at_worker(&mut self, connection: WorkerId, down: Down) {
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
            Down::Lease(lease, job) => {
                // A doubled message is a lease that is held already.
                if worker.seen.insert(lease) {
                    self.begin_search(index, connection, lease, job);
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

    fn begin_search(&mut self, index: usize, connection: WorkerId, lease: LeaseId, job: Job) {
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
            let findings = (*self.searcher.run(&half)).clone();
            self.send(Happening::ToCoordinator(connection, Up::Progress(lease, findings)));
        }
        self.workers[index].running.insert(lease, Running { job, stopped: false, stuck });
    }

    /// Whether a job kills whoever takes it: the same position each time, and at most five workers.
    fn is_poison(&mut self, job: &Job) -> bool {
        let Some(rarity) = self.faults.poison else { return false };
        let mixed = job.moves.iter().fold(7u64, |mixed, mv| {
            (mixed ^ u64::from(mv.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
        });
        if !mixed.is_multiple_of(rarity) {
            return false;
        }
        let kills = self.kills.entry(job.moves.clone()).or_default();
        *kills += 1;
        *kills <= 5
    }

    fn call_back(&mut self, index: usize, lease: LeaseId) {
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

    fn search_ends(&mut self, index: usize, lease: LeaseId, stopped: bool) {
        let Some(running) = self.workers[index].running.get(&lease) else { return };
        if running.stopped != stopped {
            return;
        }
        let job = self.workers[index].running.remove(&lease).expect("it runs").job;
        let shortened = Job { budget: if stopped { 2 } else { job.budget }, ..job.clone() };
        let mut findings = self.searcher.run(&shortened);
        let worker = &mut self.workers[index];
        if worker.liar && !self.searcher.is_over(&job.moves) {
            let lie = contrary(&findings);
            if lie != *findings {
                self.counts.lies += 1;
                findings = lie.into();
            }
        }
        let subject =
            jlpns_coordinator::solve::Subject { moves: job.moves, question: job.question };
        let filed = Filed { lease, subject, findings };
        worker.unacknowledged.insert(lease, filed.clone());
        if let Some(connection) = worker.connection {
            self.send(Happening::ToCoordinator(connection, Up::Report(filed)));
        }
    }

    fn heartbeat(&mut self, index: usize, connection: WorkerId) {
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

    fn connect(&mut self, index: usize, instance: u64) {
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

    /// A worker's side of its connection is gone; the coordinator notices later.
    fn cut(&mut self, index: usize) {
        if let Some(connection) = self.workers[index].connection.take() {
            let delay = self.up_to(self.settings.lease_length);
            self.later(delay, Happening::Noticed(connection));
        }
    }

    fn crash_worker(&mut self, index: usize) {
        self.cut(index);
        self.workers[index].die();
        let delay = self.up_to(Duration::from_secs(5));
        self.later(delay, Happening::WorkerStarts(index));
    }

    fn break_down(&mut self, fault: Fault) {
        match fault {
            Fault::WorkerCrash => {
                let index = self.rng.random_range(0..self.workers.len());
                if self.workers[index].alive {
                    self.counts.worker_crashes += 1;
                    self.crash_worker(index);
                }
            }
            Fault::CoordinatorCrash if self.solve.is_some() && self.settings.journal => {
                self.counts.coordinator_crashes += 1;
                self.solve = None;
                self.life += 1;
                self.disk.crash();
                self.open.clear();
                for index in 0..self.workers.len() {
                    self.workers[index].connection = None;
                    let instance = self.workers[index].instance;
                    let delay = self.up_to(Duration::from_secs(3));
                    self.later(delay, Happening::Connect { worker: index, instance });
                }
                let delay = self.up_to(Duration::from_secs(2));
                self.later(delay, Happening::CoordinatorStarts);
            }
            Fault::Partition => {
                self.counts.partitions += 1;
                for index in 0..self.workers.len() {
                    if self.rng.random_range(0..2) == 0 {
                        self.cut(index);
                        let instance = self.workers[index].instance;
                        let delay = self.up_to(Duration::from_secs(10));
                        self.later(delay, Happening::Connect { worker: index, instance });
                    }
                }
            }
            Fault::DiskFull if !self.full && self.settings.journal && self.solve.is_some() => {
                self.counts.disk_full += 1;
                self.full = true;
                self.tell(Event::Parked { reason: Some("no space".to_owned()) });
                let delay = self.up_to(Duration::from_secs(20));
                self.later(delay, Happening::DiskHasRoom);
            }
            Fault::Freeze if self.solve.is_some() => {
                self.counts.freezes += 1;
                self.frozen_until = self.now + self.up_to(Duration::from_secs(60));
            }
            Fault::CoordinatorCrash | Fault::DiskFull | Fault::Freeze => {}
        }
        let mean = self
            .means()
            .into_iter()
            .find(|(other, _)| std::mem::discriminant(other) == std::mem::discriminant(&fault));
        if let Some((fault, mean)) = mean {
            self.next_fault(fault, mean);
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
            Action::Lease { worker, lease, job, .. } => {
                assert!(!self.over, "no lease after the end");
                assert!(self.open.contains(&worker), "leases go to connected workers");
                assert!(self.granted.insert(lease), "a lease is never used again");
                self.send(Happening::ToWorker(worker, Down::Lease(lease, job)));
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
            Action::Settled { through } => self.disk.settle(through),
            Action::Rebuild => {
                self.counts.rebuilt += 1;
                if self.settings.journal {
                    self.disk.flush();
                }
                let (snapshots, records) = self.disk.read();
                let time = self.time();
                let solve = self.solve.as_mut().expect("it runs");
                solve.rebuild(snapshots, records, time).expect("what is durable can be taken up");
            }
            Action::Notify(Notice::Unconfirmed { claims }) => self.unconfirmed = claims,
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
