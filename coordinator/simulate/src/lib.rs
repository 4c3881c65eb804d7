//! A solve on virtual workers, in virtual time.
//!
//! The top-level tree and the scheduler are the real ones, and so are the sub-searches: they run
//! here, side by side in small parts. Only the time is made up: a search takes as long as its
//! nodes take at a given rate, a message takes the latency, and the coordinator takes its time for each
//! report. So a solve on a thousand slots can be watched on one, and repeated to the nanosecond.
//!
//! - `run`: the loop, and what it tells of a run.
//! - `coordinator`: the solve with a clock of its own; the only file that knows its events.
//! - `worker`: slots, the leases that wait for them, and the searches on them.
//! - `search`: a search in parts.
//! - `delays`: how long messages and searches take.
//! - `rate`: how fast searches really are here.
//! - `queue`: what will happen, in the order of virtual time.
//!
//! `docs/simulate.md` says what is modelled and what is not.

mod coordinator;
mod delays;
mod queue;
mod rate;
mod run;
mod search;
mod worker;

#[cfg(test)]
mod tests;

pub use coordinator::{CoordinatorCost, first_job};
pub use rate::measure_rate;
pub use run::{Cluster, Run, Simulation, SimulationError, SoFar, Spectator, simulate};
