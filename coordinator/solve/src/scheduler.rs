//! Workers, slots and leases: who works on what, and until when.

mod lease;
mod leases;
mod place;
mod rate;
mod readiness;
mod stragglers;
mod worker;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

pub use lease::{Lease, LeaseTerms, Purpose, TakenBack};
pub use place::Place;
pub use readiness::Readiness;
use worker::Turn;
pub use worker::Worker;

use super::ahead::Ahead;
use super::belief::MachineId;
use super::event::{Refusal, WorkerInfo};
use super::ids::{LeaseId, WorkerId};

/// A worker is cut off when so many of its reports were refused.
const REFUSED_TOO_OFTEN: u32 = 5;

/// The workers and leases of a solve.
#[derive(Debug)]
pub struct Scheduler {
    terms: LeaseTerms,
    workers: BTreeMap<WorkerId, Worker>,
    /// The workers that tell their process from others, by its number.
    instances: BTreeSet<(u64, WorkerId)>,
    /// The machines that take leases, with the number of their workers that do.
    machines: BTreeMap<MachineId, usize>,
    /// Workers that can take a lease, in the order in which they are served.
    open: BTreeSet<Turn>,
    /// Workers that get no leases for a while, by the end of it.
    benched: BTreeSet<(Duration, WorkerId)>,
    /// In boxes: the map moves its values when others come and go.
    leases: BTreeMap<LeaseId, Box<Lease>>,
    /// The same leases by who holds them.
    held_by: BTreeSet<(WorkerId, LeaseId)>,
    deadlines: BTreeSet<(Duration, LeaseId)>,
    /// Leases on frontier nodes that nobody else holds, by when each has taken too long.
    overtime: BTreeSet<(Duration, LeaseId)>,
    former: BTreeMap<LeaseId, Box<Lease>>,
    former_order: VecDeque<LeaseId>,
    /// Former leases that still keep a slot busy.
    stuck: BTreeMap<LeaseId, WorkerId>,
    /// The slots of the workers that take leases.
    slots: u64,
    next_lease: u64,
    /// How many leases have ended with a report.
    ended: u64,
    /// The median rate of the workers, and at how many ended leases it is measured again.
    rate: u64,
    rate_due: u64,
    lost: u64,
    stalled: u64,
    cancelled: u64,
    copied: u64,
    most_workers: usize,
}

impl Scheduler {
    /// A scheduler without workers. The numbers of its leases begin at `first_lease`.
    pub fn new(terms: LeaseTerms, first_lease: u64) -> Scheduler {
        Scheduler {
            terms,
            workers: BTreeMap::new(),
            instances: BTreeSet::new(),
            machines: BTreeMap::new(),
            open: BTreeSet::new(),
            benched: BTreeSet::new(),
            leases: BTreeMap::new(),
            held_by: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            overtime: BTreeSet::new(),
            former: BTreeMap::new(),
            former_order: VecDeque::new(),
            stuck: BTreeMap::new(),
            slots: 0,
            next_lease: first_lease,
            ended: 0,
            rate: 0,
            rate_due: 0,
            lost: 0,
            stalled: 0,
            cancelled: 0,
            copied: 0,
            most_workers: 0,
        }
    }

    /// The length of a lease that is not renewed.
    pub fn lease_length(&self) -> Duration {
        self.terms.length
    }

    /// The workers that are connected.
    pub fn workers(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.workers.iter().map(|(&id, worker)| (id, worker))
    }

    /// The machines that are connected and take leases.
    pub fn machines(&self) -> impl Iterator<Item = MachineId> {
        self.machines.keys().copied()
    }

    /// The leases that are held.
    pub fn leases(&self) -> impl Iterator<Item = (LeaseId, &Lease)> {
        self.leases.iter().map(|(&id, lease)| (id, &**lease))
    }

    /// Whether a lease is held.
    pub fn is_held(&self, id: LeaseId) -> bool {
        self.leases.contains_key(&id)
    }

    /// How many leases are held.
    pub fn held(&self) -> u64 {
        self.leases.len() as u64
    }

    /// How many leases ended because their worker was gone, silent or would not; those that a
    /// worker gave back because it drains or pauses are none of them.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many leases ended because their searches got no further.
    pub fn stalled(&self) -> u64 {
        self.stalled
    }

    /// How many jobs became moot while they were out.
    pub fn cancelled(&self) -> u64 {
        self.cancelled
    }

    /// How many jobs went out a second time because their first holder took too long.
    pub fn copied(&self) -> u64 {
        self.copied
    }

    /// The most workers that were connected at one time.
    pub fn most_workers(&self) -> usize {
        self.most_workers
    }

    /// All slots of the workers that take leases.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Where a worker's slots are among those of all workers that take leases, those first that have been here for the
    /// longest time.
    pub fn place(&self, id: WorkerId) -> Place {
        let before = self.workers().take_while(|&(other, _)| other != id);
        let before = before.filter(|(_, worker)| worker.readiness.is_ready());
        let worker = self.workers.get(&id);
        Place {
            slots: self.slots,
            before: before.map(|(_, worker)| u64::from(worker.info.slots)).sum(),
            own: worker.map_or(0, |worker| u64::from(worker.info.slots)),
            room: worker.map_or(0, |worker| u64::from(worker.room())),
        }
    }

    /// A worker that is connected.
    pub fn worker(&self, id: WorkerId) -> Option<&Worker> {
        self.workers.get(&id)
    }

    /// The connection of the process `instance` of the worker `name`.
    pub fn connection_of(&self, name: &str, instance: u64) -> Option<WorkerId> {
        let of_instance = (instance, WorkerId(0))..=(instance, WorkerId(u64::MAX));
        let mut same = self.instances.range(of_instance).map(|&(_, id)| id);
        same.find(|id| self.workers.get(id).is_some_and(|worker| worker.info.name == name))
    }

    /// Adds a worker of a machine.
    pub fn join(&mut self, id: WorkerId, info: WorkerInfo, machine: MachineId, now: Duration) {
        let ahead = self.terms.ahead.unwrap_or(Ahead::at_most(0));
        let worker = Worker::new(info, machine, ahead, now);
        self.serves(machine, worker.info.slots);
        if worker.info.instance != 0 {
            self.instances.insert((worker.info.instance, id));
        }
        self.workers.insert(id, worker);
        self.most_workers = self.most_workers.max(self.workers.len());
        self.change(id, |_| {});
    }

    /// Removes a worker; its leases become former ones and are returned.
    pub fn leave(&mut self, id: WorkerId) -> Result<(Worker, Vec<(LeaseId, Lease)>), Refusal> {
        let held = self.held_by.range((id, LeaseId(0))..=(id, LeaseId(u64::MAX)));
        let held: Vec<LeaseId> = held.map(|&(_, lease)| lease).collect();
        let leases = held
            .into_iter()
            .filter_map(|id| Some((id, self.take_back(id, TakenBack::WorkerLeft)?)))
            .collect();
        let worker = self.workers.remove(&id).ok_or(Refusal::UnknownWorker(id))?;
        self.stuck.retain(|_, of| *of != id);
        self.instances.remove(&(worker.info.instance, id));
        self.open.remove(&worker.turn(id));
        if worker.readiness.is_ready() {
            self.serves_no_more(worker.machine, worker.info.slots);
        }
        if let Some(until) = worker.benched {
            self.benched.remove(&(until, id));
        }
        Ok((worker, leases))
    }

    /// A worker of a machine takes leases from now on, if it has slots for this solve.
    fn serves(&mut self, machine: MachineId, slots: u32) {
        if slots == 0 {
            return;
        }
        *self.machines.entry(machine).or_default() += 1;
        self.slots += u64::from(slots);
    }

    /// One that has taken leases takes none any more.
    fn serves_no_more(&mut self, machine: MachineId, slots: u32) {
        if slots == 0 {
            return;
        }
        if let Some(count) = self.machines.get_mut(&machine) {
            *count -= 1;
            if *count == 0 {
                self.machines.remove(&machine);
            }
        }
        self.slots -= u64::from(slots);
    }

    /// Whether the worker gets leases from now on. Who drains does not come back to work.
    pub fn set_readiness(&mut self, id: WorkerId, readiness: Readiness) -> Result<(), Refusal> {
        let worker = self.workers.get(&id).ok_or(Refusal::UnknownWorker(id))?;
        if worker.readiness.is_draining() {
            return Ok(());
        }
        let (machine, slots) = (worker.machine, worker.info.slots);
        match (worker.readiness.is_ready(), readiness.is_ready()) {
            (true, false) => self.serves_no_more(machine, slots),
            (false, true) => self.serves(machine, slots),
            _ => {}
        }
        self.change(id, |worker| worker.readiness = readiness);
        Ok(())
    }

    /// A worker has so many slots from now on; it may hold more leases than those for a while.
    pub fn allot(&mut self, id: WorkerId, slots: u32, now: Duration) {
        let Some(worker) = self.workers.get(&id) else { return };
        let (machine, before) = (worker.machine, worker.info.slots);
        if worker.readiness.is_ready() {
            self.serves_no_more(machine, before);
            self.serves(machine, slots);
        }
        self.change(id, |worker| worker.allot(slots, now));
    }

    /// The workers that can take a lease, those with a free slot and the least busy first.
    pub fn open_workers(&self) -> impl Iterator<Item = WorkerId> {
        self.open.iter().map(|turn| turn.worker)
    }

    /// The workers that can take a lease for a free slot, the least busy first.
    pub fn idle_workers(&self) -> impl Iterator<Item = WorkerId> {
        self.open.iter().take_while(|turn| !turn.waits).map(|turn| turn.worker)
    }

    /// Notes that something was heard of a worker.
    pub fn note_heard(&mut self, id: WorkerId, now: Duration) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.heard = now;
        }
    }

    /// Counts a recheck that was granted.
    pub fn note_recheck(&mut self, id: WorkerId) {
        self.change(id, |worker| worker.rechecks += 1);
    }

    /// Counts a report of a worker that was refused; whether there were too many.
    pub fn note_refused(&mut self, id: WorkerId) -> bool {
        let mut refused = 0;
        self.change(id, |worker| {
            worker.refused += 1;
            refused = worker.refused;
        });
        refused >= REFUSED_TOO_OFTEN
    }

    /// Lets the workers whose bench time is over take leases again.
    pub fn recall(&mut self, now: Duration) {
        while let Some(&(until, id)) = self.benched.first().filter(|(until, _)| *until <= now) {
            self.benched.remove(&(until, id));
            self.change(id, |worker| worker.benched = None);
        }
    }

    /// Changes a worker, and with it whether it can take leases.
    fn change(&mut self, id: WorkerId, change: impl FnOnce(&mut Worker)) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        self.open.remove(&worker.turn(id));
        change(worker);
        if worker.can_take_a_lease() {
            self.open.insert(worker.turn(id));
        }
    }
}
