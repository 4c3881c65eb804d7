//! Which sub-search the next job runs, where a solve has two: the one that settles more, and now and then the
//! other, so that it is seen when that changes.
//!
//! What counts is how many frontier nodes a sub-search settles for the work of a full job of its kind. Work is
//! counted in nodes, not in time: one slot does the same jobs in every run.

use jlpns_search::Algorithm;

use crate::settings::Beside;

/// One job in this number runs the sub-search that settles less.
const TRIAL: u64 = 8;
/// What is left of what a sub-search has done and settled, with each job that is reported after it.
const KEPT: f64 = 0.995;
/// Settled nodes and full jobs that each sub-search begins with, so that its first jobs do not decide.
const PRIOR: Yield = Yield { settled: 1.0, full_jobs: 2.0 };

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
    /// The second one, if there is one.
    beside: Option<Beside>,
    /// The nodes of a full job of the first.
    job_nodes: u64,
    first: Yield,
    second: Yield,
    /// Jobs that were asked for.
    asked: u64,
}

impl Portfolio {
    /// Nothing is settled yet.
    pub fn new(beside: Option<Beside>, job_nodes: u64) -> Portfolio {
        let (first, second) = (Yield::default(), Yield::default());
        Portfolio { beside, job_nodes: job_nodes.max(1), first, second, asked: 0 }
    }

    /// The second sub-search, if the next job is to run it.
    pub fn next(&mut self) -> Option<Beside> {
        let beside = self.beside?;
        self.asked += 1;
        let second_is_better = self.second.of_a_full_job() > self.first.of_a_full_job();
        let is_trial = self.asked.is_multiple_of(TRIAL);
        (second_is_better != is_trial).then_some(beside)
    }

    /// Notes a job on a frontier node: its sub-search, the nodes that it created, and whether it has settled its node.
    pub fn note(&mut self, sub_search: Algorithm, nodes: u64, has_settled: bool) {
        let Some(beside) = self.beside else { return };
        for old in [&mut self.first, &mut self.second] {
            old.settled *= KEPT;
            old.full_jobs *= KEPT;
        }
        let (done, job_nodes) = if sub_search == beside.sub_search {
            (&mut self.second, beside.nodes(self.job_nodes))
        } else {
            (&mut self.first, self.job_nodes)
        };
        done.full_jobs += nodes as f64 / job_nodes as f64;
        done.settled += f64::from(u8::from(has_settled));
    }
}

#[cfg(test)]
mod tests {
    use jlpns_search::search::Growth;

    use super::*;

    const FIRST: Algorithm = Algorithm::Pds;
    const SECOND: Algorithm = Algorithm::AlphaBeta;

    fn portfolio() -> Portfolio {
        Portfolio::new(Some(beside()), 100)
    }

    fn beside() -> Beside {
        Beside { sub_search: SECOND, growth: Growth::of(SECOND), speed: 5.0 }
    }

    /// How many of the next jobs run the second sub-search, if each ends as told.
    fn seconds(portfolio: &mut Portfolio, jobs: u32, settles: impl Fn(Algorithm) -> bool) -> u32 {
        let mut seconds = 0;
        for _ in 0..jobs {
            let second = portfolio.next();
            let sub_search = second.map_or(FIRST, |beside| beside.sub_search);
            let nodes = second.map_or(100, |beside| beside.nodes(100));
            portfolio.note(sub_search, nodes, settles(sub_search));
            seconds += u32::from(second.is_some());
        }
        seconds
    }

    #[test]
    fn most_jobs_run_what_settles_more_and_some_the_other() {
        let mut portfolio = portfolio();
        let seconds_when_better = seconds(&mut portfolio, 800, |which| which == SECOND);
        assert!((690..=710).contains(&seconds_when_better), "{seconds_when_better}");
        seconds(&mut portfolio, 800, |which| which == FIRST);
        let after_a_change = seconds(&mut portfolio, 800, |which| which == FIRST);
        assert_eq!(after_a_change, 100);
    }

    #[test]
    fn a_job_that_costs_less_settles_more() {
        let mut portfolio = portfolio();
        for _ in 0..100 {
            portfolio.note(FIRST, 100, true);
            portfolio.note(SECOND, 250, true);
        }
        assert!(portfolio.next().is_some(), "half of a full job each");
    }

    #[test]
    fn budgets_are_as_the_full_jobs() {
        assert_eq!(beside().nodes(40), 200);
        assert_eq!(beside().nodes(u64::MAX), u64::MAX);
        assert_eq!(Beside { speed: 0.2, ..beside() }.nodes(4), 1, "a job may do something");
    }

    #[test]
    fn one_sub_search_alone_does_all_jobs() {
        let mut alone = Portfolio::new(None, 100);
        assert!((0..100).all(|_| alone.next().is_none()));
    }
}
