//! Who works on what: leases on frontier nodes are granted to idle slots, and called off when they are
//! moot.

use std::time::Duration;

use jlpns_search::Job;

use super::affinity::Affinity;
use super::belief::MachineId;
use super::losses::Losses;
use super::out::{NodesOut, Out};
use super::portfolio::{Choice, Descent, Portfolio};
use super::scheduler::{Lease, LeaseTerms, Purpose, Scheduler, TakenBack, Worker};
use super::seals::Seals;
use super::subtrees::Subtrees;
use super::top_level::{MostProving, NodeRef, TopLevel};
use super::{Action, LeaseId, Solve, WorkerId, job_size};

/// How many of the most-proving nodes are looked at for one that suits an open worker.
const CANDIDATES: usize = 8;

/// Workers and their leases, and the nodes that are out with them.
pub struct Dispatch {
    pub scheduler: Scheduler,
    pub out: NodesOut,
    pub losses: Losses,
    pub affinity: Affinity,
    pub seals: Seals,
    pub subtrees: Subtrees,
    /// How often a worker sends a partial report on a long job.
    report_interval: Duration,
}

impl Dispatch {
    /// Nobody works yet. The numbers of leases begin at `first_lease`.
    pub fn new(terms: LeaseTerms, report_interval: Duration, first_lease: u64) -> Dispatch {
        Dispatch {
            scheduler: Scheduler::new(terms, first_lease),
            out: NodesOut::default(),
            losses: Losses::default(),
            affinity: Affinity::default(),
            seals: Seals::default(),
            subtrees: Subtrees::default(),
            report_interval,
        }
    }

    /// Grants a lease to an open worker.
    pub fn grant(
        &mut self,
        worker: WorkerId,
        purpose: Purpose,
        job: Job,
        now: Duration,
        actions: &mut Vec<Action>,
    ) -> LeaseId {
        let lease = self.scheduler.grant(worker, purpose, job.clone(), now);
        self.send(worker, lease, job, actions);
        lease
    }

    fn send(&self, worker: WorkerId, lease: LeaseId, job: Job, actions: &mut Vec<Action>) {
        let machine = self.scheduler.worker(worker).map_or(MachineId::COORDINATOR, |w| w.machine);
        let seal = self.seals.seal(lease, machine, &job.moves, job.question, job.budget);
        actions.push(Action::Lease {
            worker,
            lease,
            job,
            deadline: self.scheduler.lease_length(),
            seal,
            report_interval: self.report_interval,
        });
    }

    /// The most-proving frontier node, marked as leased, and an open worker for it: of several nodes the first whose
    /// parent an open worker has searched, and the first of all if there is none. `None` if there is no node to be
    /// selected.
    fn pair_off(&mut self, tree: &mut dyn TopLevel) -> Option<(MostProving, WorkerId)> {
        // One worker has searched everything.
        let has_choice = self.scheduler.workers().nth(1).is_some();
        let most = if has_choice { CANDIDATES } else { 1 };
        let mut others: Vec<MostProving> = Vec::new();
        let mut chosen = None;
        while chosen.is_none() && others.len() < most {
            let Some(selected) = tree.select() else { break };
            tree.lease(selected.node);
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
        others.iter().rev().for_each(|other| tree.give_back(other.node));
        let (selected, worker) = chosen?;
        let worker = self.not_the_last_loser(selected.node).unwrap_or(worker);
        Some((selected, worker))
    }

    /// The next frontier node of what an open worker searches depth first, marked as leased, and who gets it: the same
    /// one, unless it has lost that before.
    fn go_on_depth_first(
        &mut self,
        tree: &mut dyn TopLevel,
        worker: WorkerId,
    ) -> Option<(MostProving, WorkerId)> {
        let scheduler = &self.scheduler;
        let takes_jobs = |id| scheduler.worker(id).is_some_and(Worker::is_served);
        let (own, others) = self.subtrees.of(worker, takes_jobs);
        let (selected, subtree) = tree.select_depth_first(own, &others)?;
        tree.lease(selected.node);
        let other = self.not_the_last_loser(selected.node).filter(|&other| other != worker);
        if let Some(other) = other {
            return Some((selected, other));
        }
        self.subtrees.note(worker, subtree);
        Some((selected, worker))
    }

    /// What an open worker is to do next: a frontier node, marked as leased, who gets it, and what is to be run there.
    fn next_job(
        &mut self,
        tree: &mut dyn TopLevel,
        portfolio: &mut Portfolio,
    ) -> Option<(MostProving, WorkerId, Choice)> {
        let next = self.scheduler.open_workers().next()?;
        if portfolio.has_depth_first() {
            let place = self.scheduler.place(next);
            if !portfolio.goes_depth_first(place) {
                self.subtrees.note(next, None);
            }
            let is_out = |lease| self.scheduler.is_held(lease);
            if let Some(choice) = portfolio.choose_depth_first(next, place, is_out)
                && let Some((selected, worker)) = self.go_on_depth_first(tree, next)
            {
                return Some((selected, worker, choice));
            }
        }
        let choice = portfolio.choose();
        let (selected, worker) = match choice.descent {
            Descent::BestFirst => self.pair_off(tree)?,
            Descent::DepthFirst => self.go_on_depth_first(tree, next)?,
        };
        Some((selected, worker, choice))
    }

    /// An open worker of another name than the one that lost the node's last lease.
    fn not_the_last_loser(&self, node: NodeRef) -> Option<WorkerId> {
        let loser = self.losses.last_loser(node)?;
        self.scheduler
            .open_workers()
            .find(|&id| self.scheduler.worker(id).is_some_and(|worker| worker.info.name != loser))
    }

    /// Gives a slot that has nothing else to do the job of a straggler as well. `false` if there is
    /// none.
    fn grant_copy(&mut self, now: Duration, actions: &mut Vec<Action>) -> bool {
        // A job that was lost over and over may be what kills its workers.
        let may = |lease: &Lease| match lease.purpose {
            Purpose::Frontier(node) => !self.losses.may_kill(node),
            Purpose::Recheck(_) => false,
        };
        let of_others = |id| {
            let (first, lease) = self.scheduler.straggler(id, now, may)?;
            Some((id, first, lease))
        };
        let found = self.scheduler.idle_workers().find_map(of_others);
        let Some((id, first, lease)) = found else { return false };
        let (purpose, job) = (lease.purpose, lease.job.clone());
        let Some(copy) = self.scheduler.grant_copy(id, first, now) else { return false };
        if let Purpose::Frontier(node) = purpose {
            self.out.note_copy(node, copy);
        }
        self.send(id, copy, job, actions);
        true
    }

    /// When an idle slot is to look for a straggler again, after `now`.
    pub fn next_copy(&self, now: Duration) -> Option<Duration> {
        self.scheduler.idle_workers().next()?;
        self.scheduler.next_straggler(now)
    }

    /// The node can be selected again.
    pub fn put_back(&mut self, node: NodeRef, tree: &mut dyn TopLevel) {
        self.out.remove(node);
        tree.give_back(node);
    }

    /// A lease on a node has ended without a report that counts: the node can be selected again,
    /// unless another worker has its job as well.
    pub fn end_without_report(&mut self, id: LeaseId, node: NodeRef, tree: &mut dyn TopLevel) {
        match self.out.end_lease(node, id) {
            Some(other) => self.scheduler.watch(other),
            None => self.put_back(node, tree),
        }
    }

    /// The report about a node has come, and waits to be durable. A second worker that has the same
    /// job is called off.
    pub fn await_record(&mut self, id: LeaseId, node: NodeRef, actions: &mut Vec<Action>) {
        if let Some(other) = self.out.other_lease(node, id)
            && let Some(lease) = self.scheduler.take_back(other, TakenBack::Moot)
        {
            actions.push(Action::Cancel { worker: lease.worker, lease: other });
        }
        self.out.wait(node, Out::Recording);
    }

    /// Takes back a lease on a node whose report is not needed any more, and tells its worker.
    fn call_off(&mut self, id: LeaseId, tree: &mut dyn TopLevel, actions: &mut Vec<Action>) {
        if let Some(lease) = self.scheduler.take_back(id, TakenBack::Moot) {
            actions.push(Action::Cancel { worker: lease.worker, lease: id });
            if let Purpose::Frontier(node) = lease.purpose {
                self.end_without_report(id, node, tree);
            }
        }
    }

    /// Ends the wait for a node about which something came in from elsewhere.
    pub fn release(&mut self, node: NodeRef, tree: &mut dyn TopLevel, actions: &mut Vec<Action>) {
        match self.out.waits_for(node) {
            Some(Out::Leased(first, copy)) => {
                [Some(first), copy].into_iter().flatten().for_each(|lease| {
                    self.call_off(lease, tree, actions);
                });
            }
            Some(Out::Parked) => self.unpark(node, tree),
            Some(Out::Recording) | None => {}
        }
    }

    fn unpark(&mut self, node: NodeRef, tree: &mut dyn TopLevel) {
        self.losses.unpark(node);
        self.put_back(node, tree);
    }

    /// Calls off the jobs of nodes that have been solved or freed.
    pub fn call_off_moot(&mut self, tree: &mut dyn TopLevel, actions: &mut Vec<Action>) {
        while let Some(moot) = Some(tree.take_moot()).filter(|moot| !moot.is_empty()) {
            for place in moot {
                if let Some((node, _)) = self.out.at(place) {
                    self.release(node, tree, actions);
                }
            }
        }
    }

    /// Takes back all leases on nodes: the tree that they are about is gone.
    pub fn call_off_everything(&mut self, tree: &mut dyn TopLevel, actions: &mut Vec<Action>) {
        let of_tree = |lease: &Lease| matches!(lease.purpose, Purpose::Frontier(_));
        let leases = self.scheduler.leases().filter(|(_, lease)| of_tree(lease));
        let all: Vec<LeaseId> = leases.map(|(id, _)| id).collect();
        all.into_iter().for_each(|id| self.call_off(id, tree, actions));
        self.out.clear();
        self.losses.forget();
    }

    /// Lets a parked job go out again, if its time has come and there is nothing else to do.
    fn take_up_parked(&mut self, now: Duration, tree: &mut dyn TopLevel) -> bool {
        let due = self.losses.due(now).map(|parked| parked.node);
        match due.filter(|_| self.scheduler.held() == 0) {
            Some(node) => {
                self.unpark(node, tree);
                true
            }
            None => false,
        }
    }
}

impl Solve {
    /// Gives work to idle slots: first what is to be searched again, then the most-proving nodes.
    pub(super) fn grant_leases(&mut self, now: Duration) {
        let settings = &self.problem.settings;
        let awaits =
            self.tally.jobs == 0 && self.dispatch.scheduler.most_workers() < settings.await_workers;
        if awaits || self.ledger.is_halted() {
            return;
        }
        if self.belief.rechecks().has_open() {
            self.grant_rechecks(now);
            self.search_again_here();
        }
        let (dispatch, tree, portfolio) =
            (&mut self.dispatch, &mut *self.tree, &mut self.portfolio);
        while dispatch.scheduler.open_workers().next().is_some() {
            if let Some((selected, worker, choice)) = dispatch.next_job(tree, portfolio) {
                let node = selected.node;
                let cut = dispatch.losses.cut(node);
                let beside = if selected.whole.is_none() { choice.beside } else { None };
                let (question, budget) = match selected.whole {
                    Some(whole) => (whole.question, (whole.budget >> cut).max(1)),
                    None => {
                        let (problem, scheduler) = (&self.problem, &mut dispatch.scheduler);
                        let (settings, size) = (&problem.settings, tree.size());
                        let efforts = tree.root_efforts();
                        let question = problem.question_of_job(selected.threshold, efforts, beside);
                        let budget = job_size::budget(settings, &self.tally, scheduler, size, cut);
                        let budget = beside.map_or(budget, |beside| beside.nodes(budget));
                        (question, budget)
                    }
                };
                let alone = !self.sharing.is_on(&self.problem.settings);
                let job = self.problem.job(selected.moves, question, budget, beside);
                let job = Job { alone, ..job };
                let purpose = Purpose::Frontier(node);
                let lease = dispatch.grant(worker, purpose, job, now, &mut self.actions);
                portfolio.note_granted(choice, worker, lease);
                dispatch.out.wait(node, Out::Leased(lease, None));
            } else if !dispatch.take_up_parked(now, tree)
                && !dispatch.grant_copy(now, &mut self.actions)
            {
                return;
            }
        }
    }
}
