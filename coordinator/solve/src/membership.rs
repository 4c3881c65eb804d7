//! Workers that come and go, and what becomes of the leases that they lose.

use std::time::Duration;

use jlpns_search::{Findings, Job};

use super::belief::{MachineId, NoResult, Rechecker};
use super::losses::{self, Verdict};
use super::out::Out;
use super::scheduler::{Lease, Purpose, TakenBack, Worker};
use super::{
    Action, LeaseId, Notice, Record, Refusal, Solve, WorkerId, WorkerInfo, findings, slot_time,
};

impl Solve {
    /// A worker has connected. The same process under the same name has only lost touch: its former
    /// connection is ended.
    pub(super) fn joined(
        &mut self,
        worker: WorkerId,
        info: WorkerInfo,
        now: Duration,
    ) -> Result<(), Refusal> {
        let machine = match self.belief.machines().find(&info.identity) {
            Some(known) => known,
            None => {
                let (identity, name) = (info.identity.clone(), info.name.clone());
                self.record(Record::Machine { identity, name });
                self.belief.machines_mut().find_or_add(&info.identity, &info.name)
            }
        };
        if self.belief.is_quarantined(machine) {
            return Err(Refusal::Quarantined { worker: info.name, identity: info.identity });
        }
        if let Some(former) = self.dispatch.scheduler.connection_of(&info.name, info.instance) {
            self.left(former, now)?;
            self.actions.push(Action::Dismiss { worker: former, refused: None });
        }
        self.dispatch.losses.forgive(&info.name, info.instance);
        self.dispatch.scheduler.join(worker, info, machine, now);
        self.share_with(worker);
        if self.over {
            self.actions.push(Action::Over);
        }
        Ok(())
    }

    /// A worker's connection has ended: its jobs go out again.
    pub(super) fn left(&mut self, worker: WorkerId, now: Duration) -> Result<(), Refusal> {
        let (gone, leases) = self.dispatch.scheduler.leave(worker)?;
        self.dispatch.subtrees.note(worker, None);
        self.portfolio.forget(worker);
        self.tally.past_slot_time += slot_time(&gone, now);
        let of = Holder::of(&gone);
        let mut nodes = Vec::new();
        for (id, lease) in leases {
            if let Purpose::Frontier(node) = lease.purpose {
                nodes.push(node.key);
            }
            self.note_loss(id, lease, &of, now);
        }
        self.dispatch.losses.depart(gone.info.name, gone.info.instance, nodes);
        Ok(())
    }

    /// A partial report. It settles nothing.
    pub(super) fn progress(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        found: &Findings,
        now: Duration,
    ) -> Result<(), Refusal> {
        let (lease, held) = self.dispatch.scheduler.find(worker, id)?;
        let Job { moves, question, budget, .. } = &lease.job;
        let (question, purpose) = (*question, lease.purpose);
        // A search that counts nodes far beyond its budget gets no further.
        if held && findings::check_count(found.nodes, *budget).is_err() {
            self.lose(id, TakenBack::Stalled, now);
            return Ok(());
        }
        self.check(moves, question, *budget, found, None)
            .map_err(|error| Refusal::BadFindings(id, error))?;
        if held {
            self.dispatch.scheduler.note_progress(worker, id, found.nodes, now);
            if let Purpose::Frontier(node) = purpose {
                self.tree.refresh(node, question, found);
            }
        }
        Ok(())
    }

    /// A worker cannot work on a lease.
    pub(super) fn declined(&mut self, worker: WorkerId, id: LeaseId, now: Duration) {
        let Some(decliner) = self.dispatch.scheduler.worker(worker).map(Holder::of) else { return };
        let Some(lease) = self.dispatch.scheduler.decline(worker, id, now) else { return };
        self.note_loss(id, lease, &decliner, now);
    }

    /// Takes back a lease that was lost, and tells its worker, which may only be cut off or slow.
    pub(super) fn lose(&mut self, id: LeaseId, why: TakenBack, now: Duration) {
        let Some(lease) = self.dispatch.scheduler.take_back(id, why) else { return };
        self.actions.push(Action::Cancel { worker: lease.worker, lease: id });
        let Some(holder) = self.dispatch.scheduler.worker(lease.worker).map(Holder::of) else {
            return;
        };
        if why == TakenBack::Stalled {
            let moves = self.problem.move_names(&lease.job.moves);
            self.notify(Notice::Stalled { worker: holder.name.clone(), moves });
        }
        self.note_loss(id, lease, &holder, now);
    }

    /// Decides what becomes of a job whose lease was lost.
    fn note_loss(&mut self, id: LeaseId, lease: Lease, holder: &Holder, now: Duration) {
        let node = match lease.purpose {
            // Whoever takes no leases has not tried. It is counted still, as whoever pauses over and over may not want to.
            Purpose::Recheck(number) if holder.gives_back => {
                return self.recheck_ended(number, Rechecker::Lease(id), NoResult::Lost);
            }
            Purpose::Recheck(number) => return self.recheck_lost(number, id),
            Purpose::Frontier(node) => node,
        };
        let dispatch = &mut self.dispatch;
        // Who drains or pauses gives back the leases whose searches it has not begun; that is no loss.
        if holder.gives_back || !self.tree.is_open(node) {
            return dispatch.end_without_report(id, node, &mut *self.tree);
        }
        let verdict = dispatch.losses.note(node, &holder.name);
        // Another worker has the same job: its report decides.
        if let Some(other) = dispatch.out.end_lease(node, id) {
            return dispatch.scheduler.watch(other);
        }
        let moves = self.problem.move_names(&lease.job.moves);
        let losses = losses::TOO_OFTEN;
        match verdict {
            Verdict::Retry => dispatch.put_back(node, &mut *self.tree),
            Verdict::Split => {
                dispatch.out.wait(node, Out::Recording);
                self.notify(Notice::Split { moves, losses });
                self.record_about(node, Record::Split { moves: lease.job.moves });
            }
            Verdict::Park => {
                dispatch.out.wait(node, Out::Parked);
                dispatch.losses.park(node, lease.job.moves, now);
                self.notify(Notice::Parked { moves, losses });
            }
        }
    }

    /// Counts a report that cannot be what was found against its connection, which is ended when
    /// there are too many. A lease that is not known any more is nobody's fault.
    pub(super) fn note_refused(&mut self, worker: WorkerId, refusal: Refusal) -> Refusal {
        let scheduler = &mut self.dispatch.scheduler;
        if scheduler.note_refused(worker)
            && let Some(connected) = scheduler.worker(worker)
        {
            let name = connected.info.name.clone();
            self.notify(Notice::CutOff { worker: name.clone() });
            if self.left(worker, self.heard).is_ok() {
                let refused = Some(Refusal::TooManyRefused(name));
                self.actions.push(Action::Dismiss { worker, refused });
            }
        }
        refusal
    }

    /// Lets go all connections of a machine, for good.
    pub(super) fn dismiss(&mut self, machine: MachineId, now: Duration) {
        let same = |(_, worker): &(WorkerId, &Worker)| worker.machine == machine;
        let connected = self.dispatch.scheduler.workers().filter(same);
        let connected: Vec<(WorkerId, String)> =
            connected.map(|(id, worker)| (id, worker.info.name.clone())).collect();
        for (worker, name) in connected {
            if self.left(worker, now).is_ok() {
                let identity = self.belief.machines().of(machine).identity.clone();
                let refused = Some(Refusal::Quarantined { worker: name, identity });
                self.actions.push(Action::Dismiss { worker, refused });
            }
        }
    }
}

/// The worker that has lost a lease.
struct Holder {
    name: String,
    /// Whether it takes no leases, and so may give back what it has.
    gives_back: bool,
}

impl Holder {
    fn of(worker: &Worker) -> Holder {
        Holder { name: worker.info.name.clone(), gives_back: !worker.readiness.is_ready() }
    }
}
