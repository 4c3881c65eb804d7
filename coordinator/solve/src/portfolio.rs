//! What the next job runs, where a solve has two sub-searches, and whether its node is taken depth first.
//!
//! Jobs of alpha-beta are good depth first ([`jlpns_search::graph::Graph::select_depth_first`]), and that is one
//! search: more than one of its jobs at a time would be beside its way. So where alpha-beta is one of two
//! sub-searches, one job of it is out at a time, depth first, always with the same worker, whose table has what it
//! needs. All other slots select best first. A single slot does the one and the other by turns, which get longer
//! the longer the solve takes: each has half of the work, so neither can cost more than about twice the work that it
//! would take alone, and what one has solved the other has in its table.
//!
//! Which of two sub-searches a best-first job runs is decided by what they settle: the one that settles more, and now
//! and then the other, so that it is seen when that changes. What counts is how many frontier nodes a sub-search
//! settles for the work of a full job of its kind. Depth first that says nothing: alpha-beta settles more where
//! it gets nowhere, too (`docs/tuning.md`).
//!
//! Work is counted in nodes, not in time: one slot does the same jobs in every run.

use jlpns_search::Algorithm;
use jlpns_search::graph::Descent;

use crate::ids::LeaseId;
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

/// The search that goes depth first beside the others.
#[derive(Debug)]
struct DepthFirst {
    /// Whether the second sub-search runs it, and the first all else.
    is_second: bool,
    /// How many of its jobs may be out: one, and one that waits for the slot.
    most_out: usize,
    /// Its jobs that are out.
    out: Vec<LeaseId>,
    /// The full jobs that it has done, and those that were done best first.
    done: f64,
    done_best_first: f64,
    /// Whether it is its turn, with a single slot.
    has_turn: bool,
}

/// The sub-searches of a solve, and what they have settled.
#[derive(Debug)]
pub struct Portfolio {
    /// How nodes are selected that are not for the one search that goes depth first.
    descent: Descent,
    /// The second sub-search, if there is one.
    beside: Option<Beside>,
    depth_first: Option<DepthFirst>,
    /// The nodes of a full job of the first.
    job_nodes: u64,
    first: Yield,
    second: Yield,
    /// Best-first jobs that were given out.
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
            most_out: 1 + usize::from(settings.leases_ahead),
            out: Vec::new(),
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

    /// A job of the search that goes depth first beside the others, if it is to have the next one: with so many slots of
    /// all workers, and for the worker whose table it needs or for another.
    pub fn choose_depth_first(&mut self, slots: u64, is_home: bool) -> Option<Choice> {
        let depth_first = self.depth_first.as_mut()?;
        let beside = self.beside.filter(|_| depth_first.is_second);
        depth_first
            .is_next(slots, is_home)
            .then_some(Choice { beside, descent: Descent::DepthFirst })
    }

    /// Any other job.
    pub fn choose(&self, slots: u64) -> Choice {
        let runs_second = match &self.depth_first {
            // Half of all is depth first; the other half is for the other sub-search.
            Some(depth_first) if slots <= 2 => !depth_first.is_second,
            _ => {
                let second_is_better = self.second.of_a_full_job() > self.first.of_a_full_job();
                let is_trial = (self.given + 1).is_multiple_of(TRIAL);
                second_is_better != is_trial
            }
        };
        Choice { beside: self.beside.filter(|_| runs_second), descent: self.descent }
    }

    /// Notes the lease of a job as it was chosen.
    pub fn note_granted(&mut self, choice: Choice, lease: LeaseId) {
        match &mut self.depth_first {
            Some(depth_first) if choice.descent == Descent::DepthFirst => {
                depth_first.out.push(lease)
            }
            _ => self.given += 1,
        }
    }

    /// Forgets the depth-first jobs that are not out any more.
    pub fn retain_out(&mut self, is_out: impl Fn(LeaseId) -> bool) {
        if let Some(depth_first) = &mut self.depth_first {
            depth_first.out.retain(|&lease| is_out(lease));
        }
    }

    /// Notes a job on a frontier node that has come back: its sub-search, the nodes that it created, and whether it
    /// has settled its node.
    pub fn note_done(
        &mut self,
        lease: LeaseId,
        sub_search: Algorithm,
        nodes: u64,
        has_settled: bool,
    ) {
        let Some(beside) = self.beside else { return };
        let is_second = sub_search == beside.sub_search;
        let full = if is_second { beside.nodes(self.job_nodes) } else { self.job_nodes };
        let full_jobs = nodes as f64 / full as f64;
        if let Some(depth_first) = &mut self.depth_first {
            if let Some(place) = depth_first.out.iter().position(|&out| out == lease) {
                depth_first.out.swap_remove(place);
                depth_first.done += full_jobs;
                return;
            }
            depth_first.done_best_first += full_jobs;
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
    /// Whether the next job is to be one of its own.
    fn is_next(&mut self, slots: u64, is_home: bool) -> bool {
        if slots <= 1 {
            let ahead = self.done - self.done_best_first;
            let most = TURN.0 + TURN.1 * (self.done + self.done_best_first);
            self.has_turn = if self.has_turn { ahead <= most } else { -ahead > most };
            return self.has_turn;
        }
        is_home && self.out.len() < self.most_out
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

    /// What the next job is to be for the worker that searches depth first, if it is `at_home`, or for another.
    fn chosen(portfolio: &mut Portfolio, slots: u64, at_home: bool) -> Choice {
        let depth_first = portfolio.choose_depth_first(slots, at_home);
        depth_first.unwrap_or_else(|| portfolio.choose(slots))
    }

    /// Gives out a job and has it come back at once; what it ran, and whether it went depth first.
    fn done(
        portfolio: &mut Portfolio,
        (slots, at_home): (u64, bool),
        settles: impl Fn(Algorithm) -> bool,
    ) -> (Algorithm, bool) {
        let choice = chosen(portfolio, slots, at_home);
        let sub_search = choice.beside.map_or(FIRST, |beside| beside.sub_search);
        let nodes = choice.beside.map_or(100, |beside| beside.nodes(100));
        portfolio.note_granted(choice, LeaseId(7));
        portfolio.note_done(LeaseId(7), sub_search, nodes, settles(sub_search));
        (sub_search, choice.descent == Descent::DepthFirst)
    }

    /// How many of the next jobs of a solve without alpha-beta run the second sub-search, if each ends as told.
    fn seconds(portfolio: &mut Portfolio, jobs: u32, settles: impl Fn(Algorithm) -> bool) -> u32 {
        (0..jobs).map(|_| u32::from(done(portfolio, (1, true), &settles).0 != FIRST)).sum()
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
            portfolio.note_done(LeaseId(1), FIRST, 100, true);
            portfolio.note_done(LeaseId(1), second, 250, true);
        }
        let choice = chosen(&mut portfolio, 1, true);
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
        assert!((0..100).all(|_| chosen(&mut alone, 3, true) == best_first));
        let alpha_beta = SolveSettings { sub_search: Algorithm::AlphaBeta, ..settings(None) };
        let depth_first = Choice { beside: None, descent: Descent::DepthFirst };
        assert_eq!(chosen(&mut Portfolio::new(&alpha_beta), 1, true), depth_first);
        assert_eq!(Portfolio::new(&alpha_beta).choose(4), depth_first);
    }

    #[test]
    fn a_single_slot_does_half_of_its_work_depth_first_in_turns_that_get_longer() {
        let mut portfolio = portfolio(Algorithm::AlphaBeta);
        let mut turns: Vec<(bool, u32)> = Vec::new();
        for _ in 0..3_000 {
            // That alpha-beta settles more is no reason to run more of it.
            let (sub_search, stays) =
                done(&mut portfolio, (1, true), |which| which == Algorithm::AlphaBeta);
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
    fn of_several_slots_one_goes_depth_first() {
        let mut portfolio = portfolio(Algorithm::AlphaBeta);
        assert_eq!(
            chosen(&mut portfolio, 2, false),
            Choice { beside: None, descent: Descent::BestFirst }
        );
        let depth_first = chosen(&mut portfolio, 2, true);
        assert_eq!(
            (depth_first.descent, depth_first.beside.is_some()),
            (Descent::DepthFirst, true)
        );
        portfolio.note_granted(depth_first, LeaseId(1));
        assert_eq!(
            chosen(&mut portfolio, 2, true).descent,
            Descent::BestFirst,
            "one of them is out"
        );
        portfolio.retain_out(|lease| lease == LeaseId(1));
        assert_eq!(chosen(&mut portfolio, 2, true).descent, Descent::BestFirst);
        portfolio.retain_out(|_| false);
        assert_eq!(chosen(&mut portfolio, 2, true), depth_first, "its lease was lost");
        portfolio.note_granted(depth_first, LeaseId(2));
        portfolio.note_done(LeaseId(2), Algorithm::AlphaBeta, 500, false);
        assert_eq!(chosen(&mut portfolio, 2, true), depth_first, "it is back");
        assert_eq!(portfolio.choose(2).beside, None);
    }

    #[test]
    fn many_slots_run_what_settles_more_best_first() {
        let mut portfolio = portfolio(Algorithm::AlphaBeta);
        let runs: Vec<_> = (0..800)
            .map(|_| done(&mut portfolio, (64, false), |which| which == Algorithm::AlphaBeta))
            .collect();
        let of_alpha_beta = runs.iter().filter(|run| run.0 == Algorithm::AlphaBeta).count();
        assert!((690..=710).contains(&of_alpha_beta), "{of_alpha_beta}");
        assert!(runs.iter().all(|run| !run.1));
    }

    #[test]
    fn alpha_beta_goes_depth_first_as_the_first_sub_search_too() {
        let mut settings = settings(Some(FIRST));
        settings.sub_search = Algorithm::AlphaBeta;
        let mut portfolio = Portfolio::new(&settings);
        assert_eq!(
            chosen(&mut portfolio, 1, true),
            Choice { beside: None, descent: Descent::DepthFirst }
        );
        assert!(portfolio.choose(1).beside.is_some());
        settings.leases_ahead = true;
        let mut portfolio = Portfolio::new(&settings);
        for lease in 1..=2 {
            let choice = chosen(&mut portfolio, 4, true);
            assert_eq!(choice.descent, Descent::DepthFirst, "one waits for the slot of the other");
            portfolio.note_granted(choice, LeaseId(lease));
        }
        assert_eq!(chosen(&mut portfolio, 4, true).descent, Descent::BestFirst);
    }
}
