//! What coordinator and workers of jlpns share: pure code, without I/O, clocks or threads.
//!
//! Read it in this order:
//! - [`effort`]: effort numbers, proof and disproof numbers, and their sums.
//! - [`outcome`]: outcomes, thresholds, bounds and goals.
//! - [`game`]: the [`Game`] trait; [`connect4`] and [`woodpush`] implement it.
//! - [`spec`]: `connect4:7x6` and `44435` as text, and the choice of the game behind a spec.
//! - [`efforts`]: the numbers of a node, for one threshold or several.
//! - [`tree`] and [`graph`]: the search tree and the search graph of PNS and GPNS.
//! - [`job`]: questions, searches by name, jobs and findings.
//! - [`table`]: the transposition table of the depth-first searches.
//! - [`brute_force`]: the solver without any cleverness that tests compare the others with.

pub mod brute_force;
pub mod connect4;
pub mod effort;
pub mod efforts;
pub mod game;
pub mod graph;
pub mod job;
mod large_pages;
pub mod outcome;
mod prefetch;
pub mod spec;
pub mod table;
pub mod tree;
pub mod woodpush;

pub use effort::{Effort, EffortPair};
pub use game::{Game, Move, MoveList, Player, Survey};
pub use job::{Algorithm, ChildFindings, Findings, Initialisation, Job, Question};
pub use outcome::{Bounds, Goal, Outcome, OutcomeScale, Threshold};
pub use table::{SolvedPosition, TranspositionTable};
