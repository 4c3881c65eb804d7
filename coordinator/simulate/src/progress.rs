//! How far a run has come, and why there may be none.

use std::time::Duration;

use jlpns_games::spec::MoveError;

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The moves to the root are not legal.
    #[error(transparent)]
    Moves(#[from] MoveError),
    /// A job could not be done.
    #[error("a sub-search cannot be run: {0}")]
    Search(String),
    /// Nothing is left to happen, and there is no answer: a mistake in the scheduler.
    #[error("the solve came to a standstill after {0:?} of virtual time")]
    Standstill(Duration),
    /// The spectator stopped it.
    #[error("the simulation was stopped")]
    Stopped,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar {
    /// The virtual time.
    pub time: Duration,
    /// The nodes that searches have really created.
    pub nodes: u64,
    /// The jobs that were begun.
    pub jobs: u64,
}
