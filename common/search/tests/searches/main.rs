//! Whole searches against minimax and the papers: one program, because each of several would compile
//! the searches anew.

mod budgets;
mod favoured_first;
mod last_moves;
mod many_outcomes;
mod mirror_images;
mod overlapping;
mod proposition_3;
mod resuming;
mod strategies;
mod third_game;
mod values;
