//! How much more a move promises in the opening, while less than a third of the board is filled: a wrong choice costs
//! most there, and there are few such positions, so the lines through the move's cell and the one above it are looked
//! at one by one.
//!
//! Whoever has the zugzwang decides which of the empty cells of a line its owner will get (`follow_up`). On a board with an
//! even number of cells the second player answers, and gets the second, fourth, ... cell of each column; on one with an
//! odd number the first player comes to answer, after one move of their own.

use crate::Move;
use crate::connect4::{Bitboard, Connect4, Stones};

/// What counts for a move in the opening, and how much, beside what counts for any move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningWeights {
    /// A line through the cell that has two stones of the opponent's and none of one's own.
    pub two_of_theirs: i32,
    /// A cell that is left in a line through the move's and that its owner, the player who moves, gets by the zugzwang; for
    /// each stone of the line, the new one among them.
    pub own_cell: i32,
    /// A cell that is left in a line of the opponent's and that the opponent gets; for each stone of the line.
    pub their_cell: i32,
    /// A line through the cell above, but not upright, that has no stone of one's own; once, and once more for each of its
    /// stones.
    pub theirs_above: i32,
    /// A line through the cell above that has no stone of the opponent's; once, and once more for each of its stones.
    pub own_above: i32,
}

impl Default for OpeningWeights {
    /// Those in use; `common/search/examples/order.rs` looks for better ones.
    fn default() -> OpeningWeights {
        OpeningWeights {
            two_of_theirs: 6,
            own_cell: 1,
            their_cell: 2,
            theirs_above: 2,
            own_above: 2,
        }
    }
}

impl<B: Bitboard> Connect4<B> {
    /// Whether so few cells are filled.
    #[inline(always)]
    pub(super) fn is_opening(&self, all: B) -> bool {
        all.count_ones() < self.opening_stones
    }

    /// Adds to each of these legal moves what it promises more in the opening.
    #[inline(never)]
    pub(super) fn weigh_opening(&self, position: Stones<B>, moves: &mut [(Move, i32)]) {
        let Stones { mover, all, .. } = position;
        let opponent = mover ^ all;
        let weights = &self.weights.opening;
        let ones = |cells: B| cells.count_ones() as i32;
        // On a board with an odd number of cells it is the first player who comes to answer.
        let max_answers = self.full.count_ones() % 2 == 1;
        let followed = self.follower_cells;
        let answers = self.max_to_move(all) == max_answers;
        let own_cells = if answers { followed } else { self.full ^ followed };
        for (mv, promise) in moves {
            let cell = self.playable(all) & self.column(u32::from(mv.0));
            for &line in self.lines.through(cell) {
                let (own, theirs) = (ones(line & mover), ones(line & opponent));
                let left = line & !(all | cell);
                if theirs == 0 {
                    *promise += weights.own_cell * (own + 1) * ones(left & own_cells);
                }
                if own == 0 {
                    *promise += weights.their_cell * theirs * ones(left & !own_cells);
                    if theirs == 2 {
                        *promise += weights.two_of_theirs;
                    }
                }
            }
            for &line in self.lines.through((cell << 1) & self.full) {
                let (own, theirs) = (ones(line & mover), ones(line & opponent));
                if own == 0 && (line & cell).is_zero() {
                    *promise += weights.theirs_above * (theirs + 1);
                }
                if theirs == 0 {
                    *promise += weights.own_above * (own + 1);
                }
            }
        }
    }
}
