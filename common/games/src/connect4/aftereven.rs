//! Lines that come too late: the leader could complete them, but only after the follower has
//! completed one (Allis 1988, aftereven, section 6.2.4).
//!
//! Before the last stone of a line of the leader's falls, everything below the line is filled, and
//! each earlier stone of it has been answered. Of the cells below, and of the answers, the follower
//! has those that the follow-up rule gives to the follower. If they complete a line of the
//! follower's, whichever stone of the leader's is the last, the game was over before it.
//!
//! Allis asks for columns in which the follower's line ends below the leader's; here the cells
//! are counted, so that the answers to the leader's own stones help, too.

use crate::connect4::follow_up::from_here_up;
use crate::connect4::threats::lowest;
use crate::connect4::{Bitboard, Connect4};

/// The follower's side of a position in which the leader is to move.
#[derive(Clone, Copy)]
pub(super) struct Follower<B> {
    /// The follower's stones.
    pub stones: B,
    /// The empty cells that the follower gets, each in answer to a stone on the cell below it,
    /// unless the game ends before.
    pub gets: B,
    /// The empty cells that complete a line of the follower's at once.
    pub threats: B,
    /// All empty cells.
    pub empty: B,
}

impl<B: Bitboard> Connect4<B> {
    /// Whether the follower will have completed a line when the board is full, so that lines of
    /// the leader's can come too late.
    #[inline(always)]
    pub(super) fn in_the_race(&self, follower: Follower<B>, up: usize) -> bool {
        self.rules.aftereven && self.has_four(follower.stones | follower.gets, up)
    }

    /// Whether the leader cannot get all of `cells` before the follower completes a line. They are
    /// the empty cells of a line of the leader's, in different columns.
    #[inline(always)]
    pub(super) fn comes_too_late(&self, cells: B, follower: Follower<B>, up: usize) -> bool {
        let Follower { stones, gets, empty, .. } = follower;
        let above = from_here_up(empty, cells);
        let below = self.columns_of(cells, empty, up) & !above;
        let wins = |answered: B| self.has_four(stones | gets & (below | answered << 1), up);
        if !wins(cells) {
            return false;
        }
        if wins(B::zero()) {
            return true;
        }
        let mut rest = cells;
        while !rest.is_zero() {
            let last = lowest(rest);
            rest = rest ^ last;
            if !wins(cells ^ last) {
                return false;
            }
        }
        true
    }
}
