//! Idle stones: those of which the colour cannot matter any more. Positions that differ in nothing
//! else have the same value, and tables keep them under one key.
//!
//! A stone matters to its owner as a part of lines without stones of the opponent, and to the
//! opponent as an obstacle in lines that have no other. So a stone of the player to move is idle if
//! every line through it has a stone of the opponent, and a stone of the player to move that is not
//! idle itself: then no line is any player's who did not have it before, whatever its colour. It
//! is given to the opponent. Positions on the board keep the number of stones of each player; this
//! one has another, so its key is that of no position.

use crate::connect4::{Bitboard, Connect4, Stones};

impl<B: Bitboard> Connect4<B> {
    /// The position with the idle stones of the player to move given to the opponent; to be used
    /// for a key only.
    #[inline(always)]
    pub(super) fn without_idle_stones(&self, position: Stones<B>, up: usize) -> Stones<B> {
        let Stones { mover, all } = position;
        let opponent = mover ^ all;
        // Not in a line that could still become the mover's ...
        let dead = mover & !self.completing(self.full ^ opponent, up);
        // ... nor the only obstacle in one that could become the opponent's. Stones that are taken
        // away themselves are no obstacles to rely on.
        let candidates = dead & !self.completing(self.full ^ mover, up);
        if candidates.is_zero() {
            return position;
        }
        let relied_upon = mover ^ candidates;
        let idle = candidates & !self.completing(self.full ^ relied_upon, up);
        Stones { mover: mover ^ idle, all }
    }
}
