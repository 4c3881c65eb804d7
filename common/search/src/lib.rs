//! The searches of jlpns: pure code, without I/O, clocks or a network.
//!
//! Read it in this order:
//! - [`effort`]: effort numbers, proof and disproof numbers, and their sums.
//! - [`efforts`]: the numbers of a node, for one threshold or several.
//! - [`tree`] and [`graph`]: the search tree and the search graph of PNS and GPNS.
//! - [`job`]: questions, searches by name, jobs and findings.
//! - [`table`]: the transposition table of the depth-first searches.
//! - [`search`]: what every search is given and what it gives back, and the choice among them.
//! - `watch`: limits and observers.
//! - `halving`: values by searches for one threshold; `late_first`, `favoured_first`: for which one first.
//! - `pns`: PNS and GPNS; `pn2` and `gpns2`: the same on two levels; `nested`: the second level,
//!   also of PDS-PN.
//! - `depth_first`: what the depth-first searches share; `dfpn`, `pds` and `alpha_beta` are they.
//! - [`baseline`]: plain alpha-beta of its own, which the searches are measured against.
//! - [`searcher`]: what a slot runs; [`sub_search`] runs the searches of this crate there.
//! - [`strategy`]: the moves that keep what a search has proved; [`answer`]: best moves and lines of them.
//! - [`memory`]: sizes of memory as people write them.

mod algorithm;
mod alpha_beta;
pub mod answer;
pub mod baseline;
mod depth_first;
mod dfpn;
pub mod effort;
pub mod efforts;
mod favoured_first;
mod gpns2;
pub mod graph;
mod growth;
mod halving;
pub mod job;
mod large_pages;
mod late_first;
pub mod memory;
mod nested;
mod pds;
mod pn2;
mod pns;
mod prefetch;
pub mod search;
mod search_end;
pub mod searcher;
pub mod strategy;
pub mod sub_search;
pub mod table;
pub mod tree;
mod watch;

pub use effort::{Effort, EffortPair};
pub use job::{Algorithm, ChildFindings, Findings, Initialisation, Job, Question};
pub use table::{SolvedPosition, TranspositionTable};
