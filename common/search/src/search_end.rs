//! What a search gives back, and how it is watched.

use std::ops::ControlFlow;

use crate::job::Findings;

/// Why a search ended before it had the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The limit on created nodes was reached.
    MaxNodes,
    /// The memory was full.
    Memory,
    /// The observer said so.
    Observer,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchEnd {
    /// The effort numbers, solved or not.
    pub findings: Findings,
    /// Why it stopped, if the question is not answered.
    pub stopped: Option<Stopped>,
    /// What it took.
    pub statistics: Statistics,
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Selections of a most-proving node with its expansion; the root's own expansion is not
    /// counted. Depth-first searches count the nodes that they expand.
    pub descents: u64,
    /// Nodes created.
    pub nodes: u64,
    /// The most nodes that were in memory at one time.
    pub peak_nodes: u64,
}

/// Watches a search from outside. Searches call it every few thousand nodes.
pub trait Observer {
    /// `nodes` is the number of nodes created so far; `findings` tells, when called, what the
    /// search knows at this point. `Break` stops the search.
    fn observe(&mut self, nodes: u64, findings: &dyn Fn() -> Findings) -> ControlFlow<()>;
}

/// An observer that never stops a search.
impl Observer for () {
    fn observe(&mut self, _nodes: u64, _findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
