//! Claims that are searched again: by workers of other machines, or by the coordinator itself.

use std::time::Duration;

use jlpns_games::Threshold;
use jlpns_search::{Algorithm, Findings, Job, Question};

use super::belief::{MachineId, NoResult, Recheck, Rechecker, Why};
use super::scheduler::Purpose;
use super::{Action, Beside, LeaseId, Notice, ProofId, Record, Report, Solve, WorkerId};

/// Of so many leases one may be a sample of what others claim.
const SAMPLE_SHARE: u64 = 4;

impl Solve {
    /// Grants rechecks of claims to open workers of other machines.
    pub(super) fn grant_rechecks(&mut self, now: Duration) {
        let shares = self.shares();
        let dispatch = &mut self.dispatch;
        let only = dispatch.scheduler.machines().nth(1).is_none();
        let mut open: Vec<WorkerId> = dispatch.scheduler.open_workers().collect();
        if let Some(places) = u64::try_from(open.len()).ok().filter(|&places| places > 1) {
            // Nobody can know whose claims it gets.
            let turn = dispatch.seals.draw(self.ledger.written().wrapping_add(self.tally.jobs));
            open.rotate_left((turn % places) as usize);
        }
        let answered = self.problem.question.is_answered(self.tree.root_efforts());
        for id in open {
            while let Some(worker) =
                dispatch.scheduler.worker(id).filter(|worker| worker.can_take_a_lease())
            {
                // Samples are for finding bad machines early: most of its time is for the search.
                let may_sample = answered || worker.rechecks * SAMPLE_SHARE <= worker.jobs;
                let least = if may_sample { Why::Sample } else { Why::Answer };
                let Some((number, recheck)) = self.belief.next_for(worker.machine, least, only)
                else {
                    break;
                };
                let prove = self.belief.needs_proof(number);
                // A certificate shows what it shows, whatever it was found with.
                let hinted = shares && !prove;
                let again = self.problem.job_again(recheck, hinted);
                let job = Job { prove, alone: !prove, ..again };
                let purpose = Purpose::Recheck(number);
                let lease = dispatch.grant(id, purpose, job, now, &mut self.actions);
                self.belief.recheck_taken(number, Rechecker::Lease(lease));
                dispatch.scheduler.note_recheck(id);
            }
        }
    }

    /// Has the coordinator search those claims again that no machine may confirm that is connected and takes leases: one at a
    /// time while workers have the tree to search, and as many as there are cores for an answer.
    pub(super) fn search_again_here(&mut self) {
        let machines: Vec<MachineId> = self.dispatch.scheduler.machines().collect();
        let answered = self.is_answered() || self.tree.positions().is_some();
        let most = if answered { self.problem.settings.own_searches } else { 1 };
        while self.belief.rechecks().own_searches() < most
            && let Some((number, recheck)) = self.belief.next_for_coordinator(&machines)
        {
            let prove = self.belief.needs_proof(number);
            let job = Job { prove, ..self.problem.job_again(recheck, false) };
            self.belief.recheck_taken(number, Rechecker::Coordinator);
            self.actions.push(Action::Search { number, job });
            if answered && let Some(claims) = self.belief.tell_once_that_alone() {
                let claims = claims.max(self.belief.rechecks().count(Why::Answer) as u64);
                self.notify(Notice::Alone { claims });
            }
        }
    }

    /// The coordinator's own search has ended.
    pub(super) fn searched(
        &mut self,
        number: u64,
        found: Findings,
        elapsed: Duration,
        proof: Option<ProofId>,
    ) {
        let needs_proof = self.belief.needs_proof(number);
        let Some(wanted) = self.belief.own_search_ended(number) else { return };
        if !found.efforts.iter().any(|pair| pair.is_solved()) {
            return self.recheck_ended(number, Rechecker::Coordinator, NoResult::UsedUp);
        }
        if needs_proof && proof.is_none() {
            // It was begun as a second opinion, before the answer rested on it.
            return self.recheck_ended(number, Rechecker::Coordinator, NoResult::NoAttempt);
        }
        let report = Report {
            machine: MachineId::COORDINATOR,
            lease: self.dispatch.scheduler.reserve(),
            moves: wanted.moves.clone(),
            question: Question::Threshold(Threshold(wanted.place.1)),
            findings: found,
            hearsay: false,
            elapsed,
            at: self.tally.earlier_time + self.heard,
            proof,
        };
        self.belief.recheck_taken(number, Rechecker::Lease(report.lease));
        self.record(Record::Report(report));
    }

    /// A lease on a recheck has ended without a result of its own.
    pub(super) fn recheck_lost(&mut self, number: u64, lease: LeaseId) {
        // Whoever is to prove something may be unable to.
        let failed = self.belief.needs_proof(number);
        let end = if failed { NoResult::Failed } else { NoResult::Lost };
        self.recheck_ended(number, Rechecker::Lease(lease), end);
    }

    /// A recheck has ended without a result.
    pub(super) fn recheck_ended(&mut self, number: u64, by: Rechecker, end: NoResult) {
        if let Some((at, moves)) = self.belief.recheck_given_back(number, by, end) {
            self.record(Record::TakenBack { at, moves });
        }
    }
}

impl super::problem::Problem {
    /// The job of a recheck; `hinted` if its worker has been told by others which moves win: alpha-beta can try these
    /// first.
    fn job_again(&self, recheck: &Recheck, hinted: bool) -> Job {
        let question = Question::Threshold(Threshold(recheck.place.1));
        let can_follow = |beside: &Beside| beside.sub_search == Algorithm::AlphaBeta;
        let beside = self.settings.beside.filter(|beside| hinted && can_follow(beside));
        let budget = beside.map_or(recheck.budget, |beside| beside.nodes(recheck.budget));
        self.job(recheck.moves.clone(), question, budget, beside)
    }
}
