//! The limits of a search and its observer, as one thing that the searches ask now and then.

use std::ops::ControlFlow;

use crate::Findings;
use crate::search_end::{Observer, Stopped};

/// How many nodes a search creates between two calls of its observer.
const INTERVAL: u64 = 4096;

/// Tells a search when to stop.
pub(crate) struct Watch<'o> {
    observer: &'o mut dyn Observer,
    max_nodes: u64,
    next_observation: u64,
    stopped: Option<Stopped>,
}

impl<'o> Watch<'o> {
    /// A watch for a search that may create `max_nodes` nodes.
    pub fn new(max_nodes: Option<u64>, observer: &'o mut dyn Observer) -> Watch<'o> {
        let max_nodes = max_nodes.unwrap_or(u64::MAX);
        Watch { observer, max_nodes, next_observation: INTERVAL, stopped: None }
    }

    /// The number of nodes from which on [`Watch::check`] is to be called.
    #[inline]
    pub fn due(&self) -> u64 {
        self.next_observation.min(self.max_nodes)
    }

    /// Calls the observer if it is time to, and says whether to go on after `nodes` nodes. The
    /// limit on nodes counts only once the search got anywhere (`has_progressed`).
    pub fn check(
        &mut self,
        nodes: u64,
        has_progressed: bool,
        findings: &dyn Fn() -> Findings,
    ) -> ControlFlow<()> {
        if self.stopped.is_none() && nodes >= self.next_observation {
            self.next_observation = nodes.saturating_add(INTERVAL);
            if self.observer.observe(nodes, findings).is_break() {
                self.stop(Stopped::Observer);
            }
        }
        if self.stopped.is_none() && nodes >= self.max_nodes && has_progressed {
            self.stop(Stopped::MaxNodes);
        }
        if self.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Why the search was stopped, if it was.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    fn stop(&mut self, why: Stopped) {
        self.stopped = Some(why);
        // From now on every check is to say so.
        self.max_nodes = 0;
    }
}
