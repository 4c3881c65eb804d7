//! What the next job runs, where a solve has two sub-searches, and whether its node is taken depth first.
//!
//! Jobs of alpha-beta are good depth first ([`jlpns_search::graph::Graph::select_depth_first`]). So where alpha-beta is
//! one of two sub-searches, half of all slots run it depth first: those of the workers that have been here for the
//! longest time, as each has a subtree of its own, and a table that knows it. The other half runs the other sub-search,
//! best first. A single slot does the one and the other by turns, which get longer the longer the solve takes: each has
//! half of the work, so neither can cost more than about twice the work that it would take alone, and what one has
//! solved the other has in its table. What they settle does not tell which of the two gets anywhere: alpha-beta settles
//! more where it is lost, too (`docs/tuning.md`).
//!
//! Where neither goes depth first, that decides: a job runs the sub-search that settles more, and now and then the
//! other, so that it is seen when that changes. What counts is how many frontier nodes a sub-search settles for the work
//! of a full job of its kind.
//!
//! Work is counted in nodes, not in time: one slot does the same jobs in every run.

use std::collections::BTreeMap;

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
/// Of a single slot, how many full jobs one way of selection may be ahead of the other before it is the other's turn:
/// so many, and this part of all that was done.
const TURN: (f64, f64) = (20.0, 0.1);

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

/// The search that goes depth first beside the other.
#[derive(Debug)]
struct DepthFirst {
    /// Whether the second sub-search runs it, and the first all else.
    is_second: bool,
    /// How many of its jobs a worker may hold for each slot, if all of its slots are for them: one, and one that waits
    /// for the slot.
    most_a_slot: u64,
    /// Its jobs that are out with each worker; also some that are not any more, until that is asked.
    out: BTreeMap<WorkerId, Vec<LeaseId>>,
    /// The full jobs that it has done, and those that were done best first.
    done: f64,
    done_best_first: f64,
    /// Whether it is its turn, with a single slot.
    has_turn: bool,
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
        let depth_first = DepthFirst {
            is_second,
            most_a_slot: 1 + u64::from(settings.leases_ahead),
            out: BTreeMap::new(),
            done: 0.0,
            done_best_first: 0.0,
            has_turn: true,
        };
        let is_alone = settings.beside.is_none();
        Portfolio {
            descent: if is_first && is_alone { Descent::DepthFirst } else { Descent::BestFirst },
            beside: settings.beside,
            depth_first: (!is_alone && (is_first || is_second)).then_some(depth_first),
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

    /// A job of the search that goes depth first beside the other, if a worker at this place is to have one next.
    pub fn choose_depth_first(
        &mut self,
        worker: WorkerId,
        place: Place,
        is_out: impl Fn(LeaseId) -> bool,
    ) -> Option<Choice> {
        let depth_first = self.depth_first.as_mut()?;
        let beside = self.beside.filter(|_| depth_first.is_second);
        depth_first
            .is_next(worker, place, is_out)
            .then_some(Choice { beside, descent: Descent::DepthFirst })
    }

    /// Any other job.
    pub fn choose(&self) -> Choice {
        let runs_second = match &self.depth_first {
            Some(depth_first) => !depth_first.is_second,
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
                depth_first.out.entry(worker).or_default().push(lease);
            }
            Some(_) => {}
            None => self.given += 1,
        }
    }

    /// Forgets a worker that is gone.
    pub fn forget(&mut self, worker: WorkerId) {
        if let Some(depth_first) = &mut self.depth_first {
            depth_first.out.remove(&worker);
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
            let out = depth_first.out.get_mut(&worker);
            let place = out.as_ref().and_then(|out| out.iter().position(|&out| out == lease));
            if let (Some(out), Some(place)) = (out, place) {
                out.swap_remove(place);
                depth_first.done += full_jobs;
            } else {
                depth_first.done_best_first += full_jobs;
            }
            return;
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

impl DepthFirst {
    /// Whether the next job of a worker is to be one of its own.
    fn is_next(
        &mut self,
        worker: WorkerId,
        place: Place,
        is_out: impl Fn(LeaseId) -> bool,
    ) -> bool {
        let out = self.out.entry(worker).or_default();
        out.retain(|&lease| is_out(lease));
        if place.slots <= 1 {
            let ahead = self.done - self.done_best_first;
            let most = TURN.0 + TURN.1 * (self.done + self.done_best_first);
            self.has_turn = if self.has_turn { ahead <= most } else { -ahead > most };
            return self.has_turn;
        }
        // Where some slots are for other jobs, leases that wait for a slot are as well.
        let slots = place.in_first_half();
        let most = if slots == place.own { slots * self.most_a_slot } else { slots };
        (out.len() as u64) < most
    }
}

#[cfg(test)]
mod tests {
    use jlpns_search::search::Growth;

    use super::*;

    const FIRST: Algorithm = Algorithm::Pds;

    fn beside(sub_search: Algorithm) -> Beside {
        Beside { sub_search, growth: Growth::of(sub_search), speed: 5.0 }
    }

    fn settings(second: Option<Algorithm>) -> SolveSettings {
        SolveSettings {
            sub_search: FIRST,
            beside: second.map(beside),
            job_nodes: 100,
            ..SolveSettings::new("connect4:4x4".parse().expect("a spec"))
        }
    }

    fn portfolio(second: Algorithm) -> Portfolio {
        Portfolio::new(&settings(Some(second)))
    }

    const WORKER: WorkerId = WorkerId(1);

    /// A worker with one slot, of so many in all, the first or the last of them.
    fn place(slots: u64, is_first: bool) -> Place {
        Place { slots, before: if is_first { 0 } else { slots - 1 }, own: 1 }
    }

    /// What the next job is to be for the worker there, all of whose jobs are out that have not been noted as done.
    fn chosen(portfolio: &mut Portfolio, place: Place) -> Choice {
        let depth_first = portfolio.choose_depth_first(WORKER, place, |_| true);
        depth_first.unwrap_or_else(|| portfolio.choose())
    }

    /// Gives out a job and has it come back at once; what it ran, and whether it went depth first.
    fn done(
        portfolio: &mut Portfolio,
        place: Place,
        settles: impl Fn(Algorithm) -> bool,
    ) -> (Algorithm, bool) {
        let choice = chosen(portfolio, place);
        let sub_search = choice.beside.map_or(FIRST, |beside| beside.sub_search);
        let nodes = choice.beside.map_or(100, |beside| beside.nodes(100));
        portfolio.note_granted(choice, WORKER, LeaseId(7));
        let has_settled = settles(sub_search);
        portfolio.note_done((WORKER, LeaseId(7)), sub_search, nodes, has_settled);
        (sub_search, choice.descent == Descent::DepthFirst)
    }

    /// How many of the next jobs of a solve without alpha-beta run the second sub-search, if each ends as told.
    fn seconds(portfolio: &mut Portfolio, jobs: u32, settles: impl Fn(Algorithm) -> bool) -> u32 {
        (0..jobs).map(|_| u32::from(done(portfolio, place(1, true), &settles).0 != FIRST)).sum()
    }

    #[test]
    fn most_jobs_run_what_settles_more_and_some_the_other() {
        let second = Algorithm::DfPn;
        let mut portfolio = portfolio(second);
        let seconds_when_better = seconds(&mut portfolio, 800, |which| which == second);
        assert!((690..=710).contains(&seconds_when_better), "{seconds_when_better}");
        seconds(&mut portfolio, 800, |which| which == FIRST);
        let after_a_change = seconds(&mut portfolio, 800, |which| which == FIRST);
        assert_eq!(after_a_change, 100);
    }

    #[test]
    fn a_job_that_costs_less_settles_more() {
        let second = Algorithm::DfPn;
        let mut portfolio = portfolio(second);
        for _ in 0..100 {
            portfolio.note_done((WORKER, LeaseId(1)), FIRST, 100, true);
            portfolio.note_done((WORKER, LeaseId(1)), second, 250, true);
        }
        let choice = chosen(&mut portfolio, place(1, true));
        assert!(choice.beside.is_some(), "half of a full job each");
        assert_eq!(choice.descent, Descent::BestFirst);
    }

    #[test]
    fn budgets_are_as_the_full_jobs() {
        let beside = beside(Algorithm::AlphaBeta);
        assert_eq!(beside.nodes(40), 200);
        assert_eq!(beside.nodes(u64::MAX), u64::MAX);
        assert_eq!(Beside { speed: 0.2, ..beside }.nodes(4), 1, "a job may do something");
    }

    #[test]
    fn one_sub_search_alone_does_all_jobs() {
        let mut alone = Portfolio::new(&settings(None));
        let best_first = Choice { beside: None, descent: Descent::BestFirst };
        assert!((0..100).all(|_| chosen(&mut alone, place(3, true)) == best_first));
        let alpha_beta = SolveSettings { sub_search: Algorithm::AlphaBeta, ..settings(None) };
        let depth_first = Choice { beside: None, descent: Descent::DepthFirst };
        assert_eq!(chosen(&mut Portfolio::new(&alpha_beta), place(1, true)), depth_first);
        assert_eq!(Portfolio::new(&alpha_beta).choose(), depth_first);
    }

    #[test]
    fn a_single_slot_does_half_of_its_work_depth_first_in_turns_that_get_longer() {
        let mut portfolio = portfolio(Algorithm::AlphaBeta);
        let mut turns: Vec<(bool, u32)> = Vec::new();
        for _ in 0..3_000 {
            // That alpha-beta settles more is no reason to run more of it.
            let (sub_search, stays) =
                done(&mut portfolio, place(1, true), |which| which == Algorithm::AlphaBeta);
            assert_eq!(stays, sub_search == Algorithm::AlphaBeta);
            match turns.last_mut() {
                Some((last, jobs)) if *last == stays => *jobs += 1,
                _ => turns.push((stays, 1)),
            }
        }
        turns.pop();
        let (first, last) = (turns[0].1, turns[turns.len() - 1].1);
        assert!(turns[0].0 && (20..30).contains(&first), "depth first begins: {turns:?}");
        assert!(last > 4 * first, "{turns:?}");
        let depth_first: u32 = turns.iter().filter(|turn| turn.0).map(|turn| turn.1).sum();
        let all: u32 = turns.iter().map(|turn| turn.1).sum();
        assert!((0.35..0.65).contains(&(f64::from(depth_first) / f64::from(all))), "{turns:?}");
    }

    #[test]
    fn half_of_all_slots_go_depth_first() {
        let in_first_half = |slots, before, own| Place { slots, before, own }.in_first_half();
        assert_eq!([0, 1, 2, 3].map(|before| in_first_half(4, before, 1)), [1, 1, 0, 0]);
        assert_eq!([0, 1, 2].map(|before| in_first_half(3, before, 1)), [1, 1, 0]);
        assert_eq!([0, 16, 32].map(|before| in_first_half(48, before, 16)), [16, 8, 0]);
        assert_eq!(in_first_half(64, 0, 64), 32);
    }

    #[test]
    fn a_worker_has_no_more_depth_first_jobs_than_its_slots_in_that_half() {
        let mut portfolio = portfolio(Algorithm::AlphaBeta);
        let best_first = Choice { beside: None, descent: Descent::BestFirst };
        assert_eq!(chosen(&mut portfolio, place(2, false)), best_first);
        let depth_first = chosen(&mut portfolio, place(2, true));
        assert_eq!(
            (depth_first.descent, depth_first.beside.is_some()),
            (Descent::DepthFirst, true)
        );
        portfolio.note_granted(depth_first, WORKER, LeaseId(1));
        assert_eq!(chosen(&mut portfolio, place(2, true)), best_first, "one of them is out");
        let of_another = |portfolio: &mut Portfolio| {
            portfolio.choose_depth_first(WorkerId(2), place(2, true), |_| true)
        };
        assert_eq!(of_another(&mut portfolio), Some(depth_first));
        let wide = Place { slots: 8, before: 0, own: 8 };
        portfolio.depth_first.as_mut().expect("it goes depth first").most_a_slot = 2;
        for lease in 2..=4 {
            assert_eq!(chosen(&mut portfolio, wide), depth_first);
            portfolio.note_granted(depth_first, WORKER, LeaseId(lease));
        }
        assert_eq!(chosen(&mut portfolio, wide).descent, Descent::BestFirst, "four of eight");
        let lost = portfolio.choose_depth_first(WORKER, wide, |lease| lease != LeaseId(3));
        assert_eq!(lost, Some(depth_first), "the lease of one was lost");
        portfolio.note_granted(depth_first, WORKER, LeaseId(5));
        portfolio.note_done((WORKER, LeaseId(5)), Algorithm::AlphaBeta, 500, false);
        assert_eq!(chosen(&mut portfolio, wide), depth_first, "it is back");
        portfolio.forget(WORKER);
        assert_eq!(chosen(&mut portfolio, place(2, true)), depth_first, "it has left");
    }

    #[test]
    fn best_first_the_other_sub_search_runs_whatever_alpha_beta_settles() {
        let mut portfolio = portfolio(Algorithm::AlphaBeta);
        let runs: Vec<_> = (0..100)
            .map(|_| done(&mut portfolio, place(64, false), |which| which == Algorithm::AlphaBeta))
            .collect();
        assert!(runs.iter().all(|&run| run == (FIRST, false)), "{runs:?}");
    }

    #[test]
    fn alpha_beta_goes_depth_first_as_the_first_sub_search_too() {
        let mut settings = settings(Some(FIRST));
        settings.sub_search = Algorithm::AlphaBeta;
        let mut portfolio = Portfolio::new(&settings);
        assert_eq!(
            chosen(&mut portfolio, place(1, true)),
            Choice { beside: None, descent: Descent::DepthFirst }
        );
        assert!(portfolio.choose().beside.is_some());
        settings.leases_ahead = true;
        let mut portfolio = Portfolio::new(&settings);
        for lease in 1..=2 {
            let choice = chosen(&mut portfolio, place(4, true));
            assert_eq!(choice.descent, Descent::DepthFirst, "one waits for the slot of the other");
            portfolio.note_granted(choice, WORKER, LeaseId(lease));
        }
        assert_eq!(chosen(&mut portfolio, place(4, true)).descent, Descent::BestFirst);
    }
}
