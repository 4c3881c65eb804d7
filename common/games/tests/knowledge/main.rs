//! What the games know besides their rules, against minimax by the rules alone.

mod connect4;
mod woodpush;
