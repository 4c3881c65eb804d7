//! Positions: whose stones are where.

use crate::connect4::{Bitboard, Connect4};

/// A position: the stones of the player to move, and all stones. The cells that complete lines are kept
/// with them, because those of the player who did not move last stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stones<B> {
    pub(super) mover: B,
    pub(super) all: B,
    /// The cells that have three stones of the player to move in a line with them, empty or filled.
    pub(super) completed_by_mover: B,
    /// The same for the opponent.
    pub(super) completed_by_opponent: B,
}

impl<B: Bitboard> Stones<B> {
    /// Whether the player who moved last has a line: then each of its cells has three others in a line with it.
    #[inline]
    pub(super) fn is_won(&self) -> bool {
        !(self.completed_by_opponent & (self.mover ^ self.all)).is_zero()
    }
}

impl<B: Bitboard> Connect4<B> {
    /// The position with these stones: those of the player to move, and all of them. Cell `r` of column
    /// `c`, both counted from 0, is bit `c * (rows + 1) + r`. They must be stones that a game can
    /// come to.
    pub fn position(&self, mover: B, all: B) -> Stones<B> {
        Stones {
            mover,
            all,
            completed_by_mover: by_height!(self.completing(mover)),
            completed_by_opponent: by_height!(self.completing(mover ^ all)),
        }
    }

    /// The stones of Max and of Min.
    pub(super) fn stones_of_each(&self, position: &Stones<B>) -> (B, B) {
        let other = position.mover ^ position.all;
        if self.max_to_move(position.all) {
            (position.mover, other)
        } else {
            (other, position.mover)
        }
    }
}
