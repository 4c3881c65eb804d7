//! A whole cluster in one thread: the world of `jlpns simulate`, with a network, a disk and workers that
//! fail in every way that a seed says.
//!
//! - `behaviour`: what the workers do.
//! - `adversary`: workers that do not say what they found.
//! - `runs`: what is run, and what must be true at the end.

mod adversary;
mod behaviour;
mod runs;
