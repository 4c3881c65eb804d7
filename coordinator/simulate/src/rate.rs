//! How fast searches really are on this machine.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jlpns_games::spec::MoveError;
use jlpns_search::search::Observer;
use jlpns_search::searcher::Searching;
use jlpns_search::{Findings, Job};
use jlpns_solve::belief::Identity;
use jlpns_solve::{Action, Event, Solve, SolveSettings, WorkerId, WorkerInfo};

use super::progress::{SimulationError, SoFar};
use super::run::Spectator;

/// The most memory that is measured with, in bytes: a table that is larger would not be touched
/// everywhere in time, and the system would be measured as it hands out fresh memory.
const MOST_MEMORY: u64 = 64 << 20;

/// Runs the sub-search of `settings` on the root, as a worker with `memory` bytes for one search
/// would, again and again for at least `length` of real time. Returns the nodes a second that it
/// created in the median of its parts, so that neither a cold start nor an interruption tells;
/// `None` if there is nothing to search.
pub fn measure_rate(
    settings: &SolveSettings,
    memory: u64,
    length: Duration,
    searching: &dyn Searching,
    spectator: &mut dyn Spectator,
) -> Result<Option<NonZero<u64>>, SimulationError> {
    let Some(mut job) = first_job(settings)? else { return Ok(None) };
    job.budget = u64::MAX;
    let memory = memory.min(MOST_MEMORY);
    let (began, mut nodes, mut rates) = (Instant::now(), 0, Vec::new());
    while began.elapsed() < length {
        // Each with an empty table, or there would be nothing left to search.
        let searcher =
            searching.searcher(&settings.spec, memory, 1).map_err(SimulationError::Search)?;
        let mut stopwatch = Stopwatch {
            ends: began + length,
            last: (Instant::now(), 0),
            rates: &mut rates,
            stopped: false,
            spectator,
        };
        let found = searcher.search(&job, &mut stopwatch).map_err(SimulationError::Search)?;
        if stopwatch.stopped {
            return Err(SimulationError::Stopped);
        }
        nodes += found.nodes;
    }
    // Searches that are too short to have parts are taken as a whole.
    let whole = nodes as f64 / began.elapsed().as_secs_f64();
    Ok(NonZero::new(median(&mut rates).unwrap_or(whole) as u64))
}

/// The first job of a solve, which is about its root; `None` if there is nothing to search.
pub fn first_job(settings: &SolveSettings) -> Result<Option<Job>, MoveError> {
    let mut solve =
        Solve::new(SolveSettings { await_workers: 1, journal: false, ..settings.clone() })?;
    let (name, identity, build) = (String::new(), Identity::default(), String::new());
    let info = WorkerInfo { name, identity, build, slots: 1, memory: 0, instance: 0 };
    // A solve that is new refuses nobody.
    let _ = solve.handle(Event::Joined { worker: WorkerId(1), info }, Duration::ZERO);
    Ok(solve.take_actions().into_iter().find_map(|action| match action {
        Action::Lease { job, .. } => Some(job),
        _ => None,
    }))
}

fn median(rates: &mut [f64]) -> Option<f64> {
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

/// Notes how fast each part of a search is, and stops it when the time is up.
struct Stopwatch<'a> {
    ends: Instant,
    /// When the last part ended, and after how many nodes.
    last: (Instant, u64),
    rates: &'a mut Vec<f64>,
    stopped: bool,
    spectator: &'a mut dyn Spectator,
}

impl Observer for Stopwatch<'_> {
    fn observe(&mut self, nodes: u64, _findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        let now = Instant::now();
        let (last, before) = std::mem::replace(&mut self.last, (now, nodes));
        let seconds = (now - last).as_secs_f64();
        if nodes > before && seconds > 0.0 {
            self.rates.push((nodes - before) as f64 / seconds);
        }
        self.stopped |= self.spectator.look(SoFar { nodes, ..SoFar::default() }).is_break();
        if self.stopped || now >= self.ends {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [5.0, 1.0, 100.0]), Some(5.0));
    }
}
