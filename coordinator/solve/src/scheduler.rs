//! Workers, slots and leases: who works on what, and until when.
//!
//! A lease is in one of three states:
//!
//! ```text
//!            renewed by heartbeats
//!                 ┌────┐
//!   granted ──▶ held ──┴──▶ ended by its report
//!                 │
//!                 └──▶ former: taken back (worker gone or silent, search stuck, job moot)
//! ```
//!
//! A former lease is remembered for a while, so that a late report is still of use.

mod lease;
mod place;
mod rate;
mod readiness;
mod stragglers;
mod worker;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jlpns_search::Job;
pub use lease::{Lease, LeaseTerms, Purpose, TakenBack};
pub use place::Place;
pub use readiness::Readiness;
use stragglers::LONGEST;
use worker::Turn;
pub use worker::Worker;

use super::ahead::Ahead;
use super::belief::MachineId;
use super::event::{Refusal, WorkerInfo};
use super::ids::{LeaseId, WorkerId};

/// How many former leases are remembered.
const FORMER_LEASES: usize = 4096;
/// A worker gets no new leases for a while when it has declined so many in a row.
const DECLINES_IN_A_ROW: u32 = 3;
/// How long that while is, the first time; it doubles with each further decline.
const BENCH: Duration = Duration::from_secs(10);
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
    stuck: BTreeSet<LeaseId>,
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
            stuck: BTreeSet::new(),
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
        Place {
            slots: self.slots,
            before: before.map(|(_, worker)| u64::from(worker.info.slots)).sum(),
            own: self.workers.get(&id).map_or(0, |worker| u64::from(worker.info.slots)),
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

    /// The number of a lease that nobody else gets.
    pub fn reserve(&mut self) -> LeaseId {
        let lease = LeaseId(self.next_lease);
        self.next_lease += 1;
        lease
    }

    /// Leases a job to a worker that can take it.
    pub fn grant(&mut self, id: WorkerId, purpose: Purpose, job: Job, now: Duration) -> LeaseId {
        let lease = self.grant_unwatched(id, purpose, job, now);
        if matches!(purpose, Purpose::Frontier(_)) {
            self.watch(lease);
        }
        lease
    }

    fn grant_unwatched(
        &mut self,
        id: WorkerId,
        purpose: Purpose,
        job: Job,
        now: Duration,
    ) -> LeaseId {
        let lease_id = self.reserve();
        let Some(worker) = self.workers.get(&id) else { return lease_id };
        let (machine, at_once) = (worker.machine, worker.has_free_slot());
        let patience = self.patience(&job, at_once);
        let lease = Lease {
            worker: id,
            machine,
            purpose,
            job,
            granted: now,
            expires: now + self.terms.length,
            stalls: now + self.terms.stall_after,
            ends: now + self.terms.stall_after + patience.saturating_mul(LONGEST),
            patience,
            overtime: None,
            progress: 0,
            at_once,
        };
        self.deadlines.insert((lease.deadline(), lease_id));
        self.held_by.insert((id, lease_id));
        self.leases.insert(lease_id, Box::new(lease));
        self.change(id, |worker| worker.running += 1);
        lease_id
    }

    /// Pushes the deadlines of the leases that `id` holds; others are passed over.
    pub fn renew(&mut self, id: WorkerId, leases: &[LeaseId], now: Duration) {
        let length = self.terms.length;
        for &lease_id in leases {
            self.change_lease(id, lease_id, |lease| lease.expires = now + length);
        }
    }

    /// Notes how far the search of a lease has come: it is alive, and not stuck if that is more
    /// than before.
    pub fn note_progress(&mut self, id: WorkerId, lease_id: LeaseId, nodes: u64, now: Duration) {
        let terms = self.terms;
        self.change_lease(id, lease_id, |lease| {
            lease.expires = now + terms.length;
            if nodes > lease.progress {
                lease.progress = nodes;
                lease.stalls = now + terms.stall_after;
            }
        });
    }

    /// Pushes all deadlines by the time that the coordinator itself stood still.
    pub fn make_up_for(&mut self, pause: Duration) {
        self.deadlines.clear();
        self.overtime.clear();
        for (&id, lease) in &mut self.leases {
            lease.expires += pause;
            lease.stalls += pause;
            lease.ends += pause;
            self.deadlines.insert((lease.deadline(), id));
            lease.overtime = lease.overtime.map(|at| at + pause);
            self.overtime.extend(lease.overtime.map(|at| (at, id)));
        }
    }

    fn change_lease(&mut self, id: WorkerId, lease_id: LeaseId, change: impl FnOnce(&mut Lease)) {
        let Some(lease) = self.leases.get_mut(&lease_id).filter(|l| l.worker == id) else { return };
        self.deadlines.remove(&(lease.deadline(), lease_id));
        change(lease);
        self.deadlines.insert((lease.deadline(), lease_id));
    }

    /// The lease, if `id` holds it or a former lease of that number is remembered. The flag tells
    /// whether it is held.
    pub fn find(&self, id: WorkerId, lease_id: LeaseId) -> Result<(&Lease, bool), Refusal> {
        let worker = self.workers.get(&id).ok_or(Refusal::UnknownWorker(id))?;
        match (self.leases.get(&lease_id), self.former.get(&lease_id)) {
            (Some(lease), _) if lease.worker == id => Ok((lease, true)),
            // A worker that has connected anew is another, on the same machine.
            (None, Some(lease)) if lease.machine == worker.machine => Ok((lease, false)),
            (None, None) => Err(Refusal::UnknownLease(lease_id)),
            (Some(_), _) | (_, Some(_)) => Err(Refusal::NotTheHolder(id, lease_id)),
        }
    }

    /// Ends a lease with its report, which `id` has sent: a search of `elapsed` with so many nodes.
    pub fn end(
        &mut self,
        id: WorkerId,
        lease_id: LeaseId,
        nodes: u64,
        elapsed: Duration,
        now: Duration,
    ) {
        let lease = self.remove(lease_id);
        if lease.is_none() {
            self.former.remove(&lease_id);
            self.unstick(lease_id, id);
        }
        self.ended += 1;
        let terms = self.terms;
        self.change(id, |worker| {
            worker.jobs += 1;
            worker.nodes = worker.nodes.saturating_add(nodes);
            worker.search_time += elapsed;
            worker.declined = 0;
            if let Some(lease) = lease.filter(|_| terms.ahead.is_some()) {
                let held = now.saturating_sub(lease.granted);
                worker.ahead.note(held, elapsed, lease.at_once);
            }
        });
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

    /// Ends a lease whose report is refused.
    pub fn drop_lease(&mut self, lease_id: LeaseId) -> Option<Lease> {
        self.remove(lease_id)
    }

    /// Takes a lease back; it is remembered as a former one.
    pub fn take_back(&mut self, lease_id: LeaseId, why: TakenBack) -> Option<Lease> {
        let lease = self.remove(lease_id)?;
        let worker = self.workers.get(&lease.worker);
        let gives_back = worker.is_some_and(|worker| !worker.readiness.is_ready());
        match why {
            TakenBack::WorkerLeft | TakenBack::Declined if gives_back => {}
            TakenBack::WorkerLeft | TakenBack::Expired | TakenBack::Declined => self.lost += 1,
            TakenBack::Stalled => {
                self.stalled += 1;
                // If all slots are stuck already, it only waited for one.
                if self.workers.get(&lease.worker).is_some_and(|worker| !worker.is_stuck()) {
                    self.stuck.insert(lease_id);
                    self.change(lease.worker, |worker| worker.stuck += 1);
                }
            }
            TakenBack::Moot => self.cancelled += 1,
        }
        self.former.insert(lease_id, Box::new(lease.clone()));
        self.former_order.push_back(lease_id);
        if self.former_order.len() > FORMER_LEASES
            && let Some(oldest) = self.former_order.pop_front()
        {
            self.former.remove(&oldest);
        }
        Some(lease)
    }

    /// A worker has declined a lease: if it declines one after the other it gets none for a while. What it gives
    /// back because it drains or pauses does not count.
    /// `None` if it did not hold the lease.
    pub fn decline(&mut self, id: WorkerId, lease_id: LeaseId, now: Duration) -> Option<Lease> {
        self.unstick(lease_id, id);
        self.leases.get(&lease_id).filter(|lease| lease.worker == id)?;
        let lease = self.take_back(lease_id, TakenBack::Declined);
        let mut until = None;
        self.change(id, |worker| {
            if !worker.readiness.is_ready() {
                return;
            }
            worker.declined += 1;
            if worker.declined >= DECLINES_IN_A_ROW && worker.benched.is_none() {
                let doublings = (worker.declined - DECLINES_IN_A_ROW).min(8);
                worker.benched = Some(now + BENCH * (1 << doublings));
                until = worker.benched;
            }
        });
        if let Some(until) = until {
            self.benched.insert((until, id));
        }
        lease
    }

    /// Lets the workers whose bench time is over take leases again.
    pub fn recall(&mut self, now: Duration) {
        while let Some(&(until, id)) = self.benched.first().filter(|(until, _)| *until <= now) {
            self.benched.remove(&(until, id));
            self.change(id, |worker| worker.benched = None);
        }
    }

    /// The leases whose deadline has passed, and which one.
    pub fn overdue(&self, now: Duration) -> Vec<(LeaseId, TakenBack)> {
        let due = self.deadlines.iter().take_while(|(at, _)| *at <= now);
        due.map(|&(_, id)| {
            let silent = self.leases.get(&id).is_some_and(|lease| lease.expires <= now);
            (id, if silent { TakenBack::Expired } else { TakenBack::Stalled })
        })
        .collect()
    }

    /// The next deadline.
    pub fn next_deadline(&self) -> Option<Duration> {
        let lease = self.deadlines.first().map(|&(at, _)| at);
        let bench = self.benched.first().map(|&(at, _)| at);
        lease.into_iter().chain(bench).min()
    }

    /// The slot of a lease that was stuck has said something.
    fn unstick(&mut self, lease_id: LeaseId, id: WorkerId) {
        if self.stuck.remove(&lease_id) {
            self.change(id, |worker| worker.stuck = worker.stuck.saturating_sub(1));
        }
    }

    fn remove(&mut self, lease_id: LeaseId) -> Option<Lease> {
        let lease = *self.leases.remove(&lease_id)?;
        self.deadlines.remove(&(lease.deadline(), lease_id));
        self.held_by.remove(&(lease.worker, lease_id));
        if let Some(at) = lease.overtime {
            self.overtime.remove(&(at, lease_id));
        }
        self.change(lease.worker, |worker| worker.running = worker.running.saturating_sub(1));
        Some(lease)
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
