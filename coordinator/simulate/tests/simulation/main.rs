//! A whole cluster in one thread: the real tree, scheduler and records, with a virtual clock, and a
//! network, disk and workers that fail in every way that a seed says.
//!
//! - `world`: the clock, the network, what the workers do, and the faults.
//! - `worker`: a virtual worker, which does as the real one does.
//! - `adversary`: workers that do not say what they found.
//! - `disk`: the journal, with commits that take time and are lost in a crash.
//! - `runs`: what is run, and what must be true at the end.

mod adversary;
mod disk;
mod runs;
mod worker;
mod world;
