//! The life of a lease: granted, renewed, and ended by its report or taken back.
//!
//! It is in one of three states:
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

use std::time::Duration;

use jlpns_search::Job;

use super::stragglers::LONGEST;
use super::{Lease, LeaseId, Purpose, Refusal, Scheduler, TakenBack, WorkerId};

/// How many former leases are remembered.
const FORMER_LEASES: usize = 4096;
/// A worker gets no new leases for a while when it has declined so many in a row.
const DECLINES_IN_A_ROW: u32 = 3;
/// How long that while is, the first time; it doubles with each further decline.
const BENCH: Duration = Duration::from_secs(10);

impl Scheduler {
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

    pub(super) fn grant_unwatched(
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
                    self.stuck.insert(lease_id, lease.worker);
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

    /// The slot of a lease that was stuck has said something, whatever that is worth: it is free again.
    pub fn unstick(&mut self, lease_id: LeaseId, id: WorkerId) {
        if self.stuck.get(&lease_id) == Some(&id) {
            self.stuck.remove(&lease_id);
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
}
