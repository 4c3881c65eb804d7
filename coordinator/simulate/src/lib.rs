//! A solve in a world of its own: virtual time, a virtual network, virtual workers.
//!
//! The top-level tree, the scheduler and the records are the real ones. Around them is a [`World`]: its
//! clock, what will happen in it, messages on their way, workers with slots, a disk. A search takes as long
//! as its nodes take at a given rate, a message takes the latency, and the coordinator takes its time for
//! each report; so a solve on a thousand slots can be watched on one, and repeated to the nanosecond. The
//! same world has two uses:
//!
//! - [`simulate`] is `jlpns simulate`. Nothing fails in it, and the sub-searches are really run, side by side
//!   in small parts.
//! - The tests in `tests/simulation` have [`Faults`] in it, and workers that do not say what they found.
//!
//! - `run`: `simulate`, and what it tells of a run.
//! - `search`: a search in parts.
//! - `searched_first`: what is searched that another worker has searched before.
//! - `rate`: how fast searches really are here.
//! - `draws`: all that is drawn at random, above all how long messages and searches take.
//! - `queue`: what will happen, in the order of virtual time.
//! - `world`: the clock; `world/` has the coordinator, its disk, the network, the workers, and what fails.
//!
//! `docs/simulate.md` says what is modelled and what is not.

mod draws;
mod progress;
mod queue;
mod rate;
mod run;
mod search;
mod searched_first;
mod world;

#[cfg(test)]
mod tests;

pub use draws::Draws;
pub use progress::{SimulationError, SoFar};
pub use rate::measure_rate;
pub use run::{Cluster, Run, Simulation, Spectator, Split, simulate};
pub use search::{Part, Search};
pub use world::{
    Behaviour, CoordinatorCost, Counts, Fault, Faults, Lease, Report, Waits, Worker, World,
};
