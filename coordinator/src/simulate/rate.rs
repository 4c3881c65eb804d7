//! How fast searches really are on this machine.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jlpns_common::Findings;
use jlpns_worker::search::Observer;
use jlpns_worker::slots::Searching;

use super::coordinator::first_job;
use super::run::{SimulationError, SoFar, Spectator};
use crate::solve::SolveSettings;

/// Runs the sub-search of `settings` on the root, as a worker with `memory` bytes for one search
/// would, again and again for at least `length` of real time. Returns the nodes that it created a
/// second; `None` if there is nothing to search.
pub fn measure_rate(
    settings: &SolveSettings,
    memory: u64,
    length: Duration,
    searching: &dyn Searching,
    spectator: &mut dyn Spectator,
) -> Result<Option<NonZero<u64>>, SimulationError> {
    let Some(mut job) = first_job(settings)? else { return Ok(None) };
    job.budget = u64::MAX;
    let mut stopwatch =
        Stopwatch { left: length, began: Instant::now(), stopped: false, spectator };
    let (mut nodes, mut time) = (0, Duration::ZERO);
    while time < length {
        // Each with an empty table, or there would be nothing left to search.
        let searcher =
            searching.searcher(&settings.spec, memory, 1).map_err(SimulationError::Search)?;
        (stopwatch.left, stopwatch.began) = (length - time, Instant::now());
        let found = searcher.search(&job, &mut stopwatch).map_err(SimulationError::Search)?;
        time += stopwatch.began.elapsed();
        nodes += found.nodes;
        if stopwatch.stopped {
            return Err(SimulationError::Stopped);
        }
    }
    Ok(NonZero::new((nodes as f64 / time.as_secs_f64()) as u64))
}

/// Stops a search when its time is up.
struct Stopwatch<'a> {
    left: Duration,
    began: Instant,
    stopped: bool,
    spectator: &'a mut dyn Spectator,
}

impl Observer for Stopwatch<'_> {
    fn observe(&mut self, nodes: u64, _findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        self.stopped |= self.spectator.look(SoFar { nodes, ..SoFar::default() }).is_break();
        if self.stopped || self.began.elapsed() >= self.left {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
