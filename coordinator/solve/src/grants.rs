//! Workers that come and go, leases that are granted and lost.

use std::time::Duration;

use jlpns_games::{Bounds, Threshold};
use jlpns_search::{Findings, Job, Question};

use super::belief::{MachineId, Recheck, Rechecker, Why};
use super::findings;
use super::scheduler::Worker;
use super::top_level::MostProving;
use super::{
    Action, Lease, LeaseId, NodeRef, Notice, Out, Purpose, Record, Refusal, Solve, TakenBack,
    Verdict, WorkerId, WorkerInfo, slot_time,
};

/// The smallest budget of a job, for the beginning of a solve.
const LEAST_JOB_NODES: u64 = 1_000;

/// While a solve is young, all slots together may have work out for a fraction of one in this
/// number of what has been searched: the tree branches before the jobs grow.
const YOUNG_SHARE: u64 = 4;

/// When the tree is full, the budget of jobs doubles with each of this many reports that found no
/// room: what cannot be a node must be searched deeper.
const FULL_TREE_STEP: u64 = 64;

/// It also doubles with each of this many times that the tree shed nodes, an eighth of it each
/// time: by then it has been turned over.
const SHED_STEP: u64 = 8;

/// Of so many leases one may be a sample of what others claim.
const SAMPLE_SHARE: u64 = 4;

/// How many of the most-proving nodes are looked at for one that suits an open worker.
const CANDIDATES: usize = 8;

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
                self.record(Record::Machine { identity, name }, None, None);
                self.belief.machines_mut().find_or_add(&info.identity, &info.name)
            }
        };
        if self.belief.is_quarantined(machine) {
            return Err(Refusal::Quarantined { worker: info.name, identity: info.identity });
        }
        if let Some(former) = self.scheduler.connection_of(&info.name, info.instance) {
            self.left(former, now)?;
            self.actions.push(Action::Dismiss { worker: former, refused: None });
        }
        self.losses.forgive(&info.name, info.instance);
        self.scheduler.join(worker, info, machine, now);
        self.share_with(worker);
        if self.over {
            self.actions.push(Action::Over);
        }
        Ok(())
    }

    /// A worker's connection has ended: its jobs go out again.
    pub(super) fn left(&mut self, worker: WorkerId, now: Duration) -> Result<(), Refusal> {
        let (gone, leases) = self.scheduler.leave(worker)?;
        self.past_slot_time += slot_time(&gone, now);
        let mut nodes = Vec::new();
        for (id, lease) in leases {
            if let Purpose::Frontier(node) = lease.purpose {
                nodes.push(node.key);
            }
            self.note_loss(id, lease, &gone, now);
        }
        self.losses.depart(gone.info.name, gone.info.instance, nodes);
        Ok(())
    }

    /// A partial report.
    pub(super) fn progress(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        found: &Findings,
        now: Duration,
    ) -> Result<(), Refusal> {
        let (lease, held) = self.scheduler.find(worker, id)?;
        let lease = lease.clone();
        let Job { moves, question, budget, .. } = &lease.job;
        // Whoever counts on and on is found out by its count: its search gets no further.
        if held && findings::check_count(found.nodes, *budget).is_err() {
            self.lose(id, TakenBack::Stalled, now);
            return Ok(());
        }
        self.check(id, moves, *question, *budget, found)?;
        if held {
            self.scheduler.note_progress(worker, id, found.nodes, now);
            if let Purpose::Frontier(node) = lease.purpose {
                self.tree.refresh(node, lease.job.question, found);
            }
        }
        Ok(())
    }

    /// A worker cannot work on a lease.
    pub(super) fn declined(&mut self, worker: WorkerId, id: LeaseId, now: Duration) {
        let Some(decliner) = self.scheduler.worker(worker).cloned() else { return };
        let Some(lease) = self.scheduler.decline(worker, id, now) else { return };
        self.note_loss(id, lease, &decliner, now);
    }

    /// Takes back a lease that was lost, and tells its worker, which may only be cut off or slow.
    pub(super) fn lose(&mut self, id: LeaseId, why: TakenBack, now: Duration) {
        let Some(lease) = self.scheduler.take_back(id, why) else { return };
        self.actions.push(Action::Cancel { worker: lease.worker, lease: id });
        let Some(worker) = self.scheduler.worker(lease.worker).cloned() else { return };
        if why == TakenBack::Stalled {
            let moves = self.move_names(&lease.job.moves);
            self.notify(Notice::Stalled { worker: worker.info.name.clone(), moves });
        }
        self.note_loss(id, lease, &worker, now);
    }

    /// Decides what becomes of a job whose lease was lost.
    fn note_loss(&mut self, id: LeaseId, lease: Lease, worker: &Worker, now: Duration) {
        let node = match lease.purpose {
            Purpose::Recheck(number) => return self.recheck_lost(number, id),
            Purpose::Frontier(node) => node,
        };
        // Whoever drains gives back what it has not begun.
        if worker.draining || !self.tree.is_open(node) {
            return self.put_back(node);
        }
        match self.losses.note(node, &worker.info.name) {
            Verdict::Retry => self.put_back(node),
            Verdict::Split => {
                let (moves, losses) = (lease.job.moves, super::losses::TOO_OFTEN);
                self.notify(Notice::Split { moves: self.move_names(&moves), losses });
                self.out.insert(node.id, (node.key, Out::Recording));
                self.record(Record::Split { moves }, None, Some(node));
            }
            Verdict::Park => {
                let losses = super::losses::TOO_OFTEN;
                self.notify(Notice::Parked { moves: self.move_names(&lease.job.moves), losses });
                self.out.insert(node.id, (node.key, Out::Parked));
                self.losses.park(node, lease.job.moves, now);
            }
        }
    }

    /// The node can be selected again.
    pub(super) fn put_back(&mut self, node: NodeRef) {
        // A node that was freed while it was out may have left its place to another.
        if self.out.get(&node.id).is_some_and(|(key, _)| *key == node.key) {
            self.out.remove(&node.id);
        }
        self.tree.give_back(node);
    }

    /// What a node waits for, if it is not to be selected.
    pub(super) fn waits_for(&self, node: NodeRef) -> Option<Out> {
        self.out.get(&node.id).filter(|(key, _)| *key == node.key).map(|&(_, out)| out)
    }

    /// Takes a lease back because nobody needs its report any more, and tells its worker.
    fn call_off(&mut self, id: LeaseId) {
        if let Some(lease) = self.scheduler.take_back(id, TakenBack::Moot) {
            self.actions.push(Action::Cancel { worker: lease.worker, lease: id });
            match lease.purpose {
                Purpose::Frontier(node) => self.put_back(node),
                Purpose::Recheck(number) => self.recheck_lost(number, id),
            }
        }
    }

    /// Ends the wait for a node about which something came in from elsewhere.
    pub(super) fn release(&mut self, node: NodeRef) {
        match self.waits_for(node) {
            Some(Out::Leased(lease)) => self.call_off(lease),
            Some(Out::Parked) => self.unpark(node),
            Some(Out::Recording) | None => {}
        }
    }

    fn unpark(&mut self, node: NodeRef) {
        self.losses.unpark(node);
        self.put_back(node);
    }

    /// Calls off the jobs of nodes that have been solved or freed.
    pub(super) fn call_off_moot(&mut self) {
        while let Some(moot) = Some(self.tree.take_moot()).filter(|moot| !moot.is_empty()) {
            for node in moot {
                match self.out.get(&node) {
                    Some(&(_, Out::Leased(lease))) => self.call_off(lease),
                    Some(&(key, Out::Parked)) => self.unpark(NodeRef { id: node, key }),
                    Some((_, Out::Recording)) | None => {}
                }
            }
        }
    }

    /// Takes back all leases: the tree that they are about is gone.
    pub(super) fn call_off_everything(&mut self) {
        let of_tree = |lease: &Lease| matches!(lease.purpose, Purpose::Frontier(_));
        let leases = self.scheduler.leases().filter(|(_, lease)| of_tree(lease));
        let all: Vec<LeaseId> = leases.map(|(id, _)| id).collect();
        all.into_iter().for_each(|id| self.call_off(id));
        self.out.clear();
        self.losses.forget();
        self.ledger.forget_nodes();
    }

    pub(super) fn grant_leases(&mut self, now: Duration) {
        if self.parked.is_some()
            || (self.jobs == 0 && self.scheduler.most_workers() < self.settings.await_workers)
        {
            return;
        }
        if self.belief.rechecks().has_open() {
            self.grant_rechecks(now);
            self.search_again_here();
        }
        loop {
            if self.scheduler.open_workers().next().is_none() {
                return;
            }
            let Some((selected, worker)) = self.pair_off() else {
                let parked = self.losses.due(now).map(|parked| parked.node);
                // A parked job goes out when there is nothing else to do.
                if let Some(node) = parked.filter(|_| self.scheduler.leases().next().is_none()) {
                    self.unpark(node);
                    continue;
                }
                return;
            };
            let node = selected.node;
            let job = self.job(selected);
            let lease = self.grant(worker, Purpose::Frontier(node), job, now);
            self.out.insert(node.id, (node.key, Out::Leased(lease)));
        }
    }

    /// A frontier node, marked as leased, and an open worker for it: of the most-proving nodes the
    /// first whose parent an open worker has searched, else the first of all. `None` if there is no
    /// node to be selected.
    fn pair_off(&mut self) -> Option<(MostProving, WorkerId)> {
        // One worker has searched everything.
        let most = if self.scheduler.workers().nth(1).is_some() { CANDIDATES } else { 1 };
        let mut others: Vec<MostProving> = Vec::new();
        let mut chosen = None;
        while chosen.is_none() && others.len() < most {
            let Some(selected) = self.tree.select() else { break };
            self.tree.lease(selected.node);
            let former = self.affinity.parents_worker(&selected.moves);
            let open =
                |id: &WorkerId| self.scheduler.worker(*id).is_some_and(Worker::can_take_a_lease);
            match former.filter(open) {
                Some(worker) => chosen = Some((selected, worker)),
                None => others.push(selected),
            }
        }
        if chosen.is_none() && !others.is_empty() {
            let first = others.remove(0);
            chosen = self.scheduler.open_workers().next().map(|worker| (first, worker));
        }
        // The last one first, as they were selected one after the other.
        others.iter().rev().for_each(|other| self.tree.give_back(other.node));
        let (selected, worker) = chosen?;
        let worker = self.not_the_last_loser(selected.node).unwrap_or(worker);
        Some((selected, worker))
    }

    /// An open worker of another name than the one that lost the node's last lease.
    fn not_the_last_loser(&self, node: NodeRef) -> Option<WorkerId> {
        let loser = self.losses.last_loser(node)?;
        self.scheduler
            .open_workers()
            .find(|&id| self.scheduler.worker(id).is_some_and(|worker| worker.info.name != loser))
    }

    /// Lets open workers search again what others claim.
    fn grant_rechecks(&mut self, now: Duration) {
        let mut open: Vec<WorkerId> = self.scheduler.open_workers().collect();
        if let Some(places) = u64::try_from(open.len()).ok().filter(|&places| places > 1) {
            // Nobody can know whose claims it gets.
            let turn = self.next_turn();
            open.rotate_left((turn % places) as usize);
        }
        let answered = self.is_answered();
        for id in open {
            while let Some(worker) = self.scheduler.worker(id).filter(|w| w.can_take_a_lease()) {
                // Samples are for finding bad machines early: most of its time is for the search.
                let may_sample = answered || worker.rechecks * SAMPLE_SHARE <= worker.jobs;
                let least = if may_sample { Why::Sample } else { Why::Answer };
                let Some((number, recheck)) = self.belief.next_for(worker.machine, least) else {
                    break;
                };
                let job = self.recheck_job(recheck);
                let lease = self.grant(id, Purpose::Recheck(number), job, now);
                self.belief.recheck_taken(number, Rechecker::Lease(lease));
                self.scheduler.note_recheck(id);
            }
        }
    }

    /// Searches in this process what no other machine that is connected may search again: one claim
    /// while workers have the tree to search, and as many as there are cores for an answer.
    fn search_again_here(&mut self) {
        let machines: Vec<MachineId> = self.scheduler.machines().collect();
        let most = if self.is_answered() { self.settings.own_searches } else { 1 };
        while self.own_searches.len() < most
            && let Some((recheck, wanted)) = self.belief.next_for_coordinator(&machines)
        {
            let job = self.recheck_job(wanted);
            self.next_search += 1;
            let number = self.next_search;
            self.own_searches.insert(number, recheck);
            self.belief.recheck_taken(recheck, Rechecker::Coordinator);
            self.actions.push(Action::Search { number, job });
            if self.is_answered() && !self.alone_told {
                self.alone_told = true;
                self.notify(Notice::Alone { claims: self.awaited.len() as u64 });
            }
        }
    }

    fn recheck_job(&self, recheck: &Recheck) -> Job {
        Job {
            moves: recheck.moves.clone(),
            question: Question::Threshold(Threshold(recheck.place.1)),
            sub_search: self.settings.sub_search,
            initialisation: self.settings.initialisation,
            knowledge: self.settings.knowledge,
            budget: recheck.budget,
        }
    }

    /// A number that nobody else knows.
    fn next_turn(&self) -> u64 {
        let made = LeaseId(self.ledger.written());
        self.seal(made, MachineId::COORDINATOR, &[], self.tree.question(), 0)
    }

    fn grant(&mut self, worker: WorkerId, purpose: Purpose, job: Job, now: Duration) -> LeaseId {
        let lease = self.scheduler.grant(worker, purpose, job.clone(), now);
        let machine = self.scheduler.worker(worker).map_or(MachineId::COORDINATOR, |w| w.machine);
        let seal = self.seal(lease, machine, &job.moves, job.question, job.budget);
        self.actions.push(Action::Lease {
            worker,
            lease,
            job,
            deadline: self.scheduler.lease_length(),
            seal,
            report_interval: self.settings.report_interval,
        });
        lease
    }

    fn job(&mut self, selected: MostProving) -> Job {
        let question = match self.tree.question() {
            Question::Value(bounds) if !self.settings.sub_search.is_binary() => {
                Question::Value(self.open_bounds(bounds))
            }
            _ => Question::Threshold(selected.threshold),
        };
        let young = self.nodes / (YOUNG_SHARE * self.scheduler.slots().max(1));
        let least = LEAST_JOB_NODES.min(self.settings.job_nodes);
        let budget = young.min(self.settings.job_nodes).max(self.nodes_of_rare_jobs()).max(least);
        let doublings =
            self.without_room / FULL_TREE_STEP + self.tree.size().shed.times / SHED_STEP;
        let budget = budget.saturating_mul(1 << doublings.min(40));
        Job {
            moves: selected.moves,
            question,
            sub_search: self.settings.sub_search,
            initialisation: self.settings.initialisation,
            knowledge: self.settings.knowledge,
            budget: (budget >> self.losses.cut(selected.node)).max(least),
        }
    }

    /// The nodes of a job, if all searches that are out together finish as many jobs a second as
    /// they may.
    fn nodes_of_rare_jobs(&mut self) -> u64 {
        let Some(most) = self.settings.most_jobs_a_second else { return 0 };
        let a_second = u128::from(self.scheduler.median_rate());
        // While the tree is too small for all slots, this leaves its first jobs small.
        let searches = self.scheduler.slots().min(self.scheduler.held() + 1);
        u64::try_from(a_second * u128::from(searches) / u128::from(most.max(1))).unwrap_or(u64::MAX)
    }

    /// The relevancy bounds of the root: what is asked of a job that can answer for several
    /// outcomes at once.
    fn open_bounds(&self, asked: Bounds) -> Bounds {
        let known = self.tree.question().bounds(self.tree.root_efforts(), &self.scale);
        known.intersection(asked).unwrap_or(asked)
    }

    /// Lets go all connections of a machine, for good.
    pub(super) fn dismiss(&mut self, machine: MachineId, now: Duration) {
        let same = |(_, worker): &(WorkerId, &Worker)| worker.machine == machine;
        let connections: Vec<WorkerId> =
            self.scheduler.workers().filter(same).map(|(id, _)| id).collect();
        for worker in connections {
            let name = self.scheduler.worker(worker).map(|worker| worker.info.name.clone());
            let name = name.unwrap_or_default();
            if self.left(worker, now).is_ok() {
                let identity = self.belief.machines().of(machine).identity.clone();
                let refused = Some(Refusal::Quarantined { worker: name, identity });
                self.actions.push(Action::Dismiss { worker, refused });
            }
        }
    }

    pub(super) fn notify(&mut self, notice: Notice) {
        self.actions.push(Action::Notify(notice));
    }
}
