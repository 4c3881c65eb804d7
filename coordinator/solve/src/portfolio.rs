//! What the next job runs, where a solve has two sub-searches, and whether its node is taken depth first.
//!
//! Jobs of alpha-beta are good depth first ([`jlpns_search::graph::Graph::select_depth_first`]). So where alpha-beta is
//! one of two sub-searches, it has a fixed part of the slots ([`depth_first`]), and the other sub-search, best first, the
//! rest. What they settle does not tell which of the two gets anywhere: alpha-beta settles more where it is lost, too
//! (`docs/tuning.md`).
//!
//! Where neither goes depth first, that decides: a job runs the sub-search that settles more, and now and then the
//! other, so that it is seen when that changes. What counts is how many frontier nodes a sub-search settles for the work
//! of a full job of its kind.
//!
//! Work is counted in nodes, not in time: one slot does the same jobs in every run.

mod depth_first;
#[cfg(test)]
mod tests;

use depth_first::DepthFirst;
use jlpns_search::Algorithm;

use crate::ids::{LeaseId, WorkerId};
use crate::scheduler::Place;
use crate::settings::{Beside, SolveSettings};

/// One best-first job in this number runs the sub-search that settles less.
const TRIAL: u64 = 8;
/// What is left of what a sub-search has done and settled, with each job that is reported after it.
const KEPT: f64 = 0.995;
/// Settled nodes and full jobs that each sub-search begins with, so that its first jobs do not decide.
const PRIOR: Yield = Yield { settled: 1.0, full_jobs: 2.0 };

/// How the next frontier node is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descent {
    /// By effort numbers: the most-proving node.
    BestFirst,
    /// In the game's order, one child after the other.
    DepthFirst,
}

/// What a job runs, and how its node is selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The second sub-search, if the job is to run it.
    pub beside: Option<Beside>,
    /// How its node is selected.
    pub descent: Descent,
}

/// What the jobs of one sub-search have cost and settled, the late ones above all.
#[derive(Clone, Copy, Debug, Default)]
struct Yield {
    settled: f64,
    full_jobs: f64,
}

impl Yield {
    fn of_a_full_job(self) -> f64 {
        (self.settled + PRIOR.settled) / (self.full_jobs + PRIOR.full_jobs)
    }
}

/// The sub-searches of a solve, and what they have settled.
#[derive(Debug)]
pub struct Portfolio {
    /// How nodes are selected that are not for the search that goes depth first.
    descent: Descent,
    /// The second sub-search, if there is one.
    beside: Option<Beside>,
    depth_first: Option<DepthFirst>,
    /// The nodes of a full job of the first.
    job_nodes: u64,
    /// What each has settled, where neither goes depth first.
    first: Yield,
    second: Yield,
    /// Jobs that were given out, where neither goes depth first.
    given: u64,
}

impl Portfolio {
    /// Nothing is settled yet.
    pub fn new(settings: &SolveSettings) -> Portfolio {
        let is_alpha_beta = |sub_search| sub_search == Algorithm::AlphaBeta;
        let is_first = is_alpha_beta(settings.sub_search);
        let is_second = settings.beside.is_some_and(|beside| is_alpha_beta(beside.sub_search));
        let is_alone = settings.beside.is_none();
        Portfolio {
            descent: if is_first && is_alone { Descent::DepthFirst } else { Descent::BestFirst },
            beside: settings.beside,
            depth_first: (!is_alone && (is_first || is_second)).then(|| DepthFirst::new(is_second)),
            job_nodes: settings.job_nodes.max(1),
            first: Yield::default(),
            second: Yield::default(),
            given: 0,
        }
    }

    /// Whether one of two sub-searches goes depth first beside the other.
    pub fn has_depth_first(&self) -> bool {
        self.depth_first.is_some()
    }

    /// Whether it does so, now or in its turn, with a slot of a worker at this place.
    pub fn goes_depth_first(&self, place: Place) -> bool {
        self.has_depth_first() && DepthFirst::may_be_at(place)
    }

    /// A job of the search that goes depth first beside the other, if a worker at this place is to have one next.
    pub fn choose_depth_first(
        &mut self,
        worker: WorkerId,
        place: Place,
        is_out: impl Fn(LeaseId) -> bool,
    ) -> Option<Choice> {
        let depth_first = self.depth_first.as_mut()?;
        let beside = self.beside.filter(|_| depth_first.is_second());
        depth_first
            .is_next(worker, place, is_out)
            .then_some(Choice { beside, descent: Descent::DepthFirst })
    }

    /// Any other job.
    pub fn choose(&self) -> Choice {
        let runs_second = match &self.depth_first {
            Some(depth_first) => !depth_first.is_second(),
            None => {
                let second_is_better = self.second.of_a_full_job() > self.first.of_a_full_job();
                let is_trial = (self.given + 1).is_multiple_of(TRIAL);
                second_is_better != is_trial
            }
        };
        Choice { beside: self.beside.filter(|_| runs_second), descent: self.descent }
    }

    /// Notes the lease of a job as it was chosen, and who holds it.
    pub fn note_granted(&mut self, choice: Choice, worker: WorkerId, lease: LeaseId) {
        match &mut self.depth_first {
            Some(depth_first) if choice.descent == Descent::DepthFirst => {
                depth_first.note_granted(worker, lease);
            }
            Some(_) => {}
            None => self.given += 1,
        }
    }

    /// Forgets a worker that is gone.
    pub fn forget(&mut self, worker: WorkerId) {
        if let Some(depth_first) = &mut self.depth_first {
            depth_first.forget(worker);
        }
    }

    /// Notes a job on a frontier node that has come back: its sub-search, the nodes that it created, and whether it
    /// has settled its node.
    pub fn note_done(
        &mut self,
        (worker, lease): (WorkerId, LeaseId),
        sub_search: Algorithm,
        nodes: u64,
        has_settled: bool,
    ) {
        let Some(beside) = self.beside else { return };
        let is_second = sub_search == beside.sub_search;
        let full = if is_second { beside.nodes(self.job_nodes) } else { self.job_nodes };
        let full_jobs = nodes as f64 / full as f64;
        if let Some(depth_first) = &mut self.depth_first {
            return depth_first.note_done(worker, lease, full_jobs);
        }
        for old in [&mut self.first, &mut self.second] {
            old.settled *= KEPT;
            old.full_jobs *= KEPT;
        }
        let done = if is_second { &mut self.second } else { &mut self.first };
        done.full_jobs += full_jobs;
        done.settled += f64::from(u8::from(has_settled));
    }
}
