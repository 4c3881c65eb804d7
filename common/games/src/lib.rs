//! The games of jlpns: rules, notation, and what each game knows without a search. Pure code,
//! without I/O, clocks or threads, and without any search.
//!
//! Read it in this order:
//! - [`outcome`]: outcomes, thresholds, bounds and goals.
//! - [`game`]: the [`Game`] trait; [`connect4`] and [`woodpush`] implement it.
//! - [`spec`]: `connect4:7x6` and `44435` as text, the list of games, and the choice of the game
//!   behind a spec; [`dyn_game`] is for games from outside, and [`by_distance`] for outcomes that tell on
//!   which move a game ends.

pub mod by_distance;
pub mod connect4;
pub mod dyn_game;
pub mod game;
pub mod outcome;
pub mod spec;
pub mod woodpush;

pub use game::{Game, Move, MoveList, Player, Survey};
pub use outcome::{Bounds, Goal, Outcome, OutcomeScale, Threshold};
