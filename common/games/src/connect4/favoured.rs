//! Who is more likely to win on an empty board, by the zugzwang (Allis 1988, section 3.3).
//!
//! With an even number of rows the second player can answer every stone in its own column, and gets the cells of every
//! second row. With an odd number nobody can do so for long. Of the boards whose values are known (John Tromp;
//! Christophe Steininger's c4) those with an odd number of rows are 10 wins and 14 draws; those with even numbers of rows
//! and of columns 10 losses, 1 win and 5 draws, the draws all on four columns; and those with an even number of rows
//! and an odd one of columns 3 wins, 3 losses and 6 draws.

use crate::Player;

/// Who is favoured on a board of this size, if either is.
pub(super) fn favoured(width: u32, height: u32) -> Option<Player> {
    match (width.is_multiple_of(2), height.is_multiple_of(2)) {
        (_, false) => Some(Player::Max),
        (true, true) => Some(Player::Min),
        (false, true) => None,
    }
}
