//! Lines that are left to a player: with none but upright ones there is no win any more, whoever has the zugzwang.
//!
//! The player to move is the leader here, as in `follow_up`. The follower makes pairs of the empty cells of each
//! column from below, the first and the second, the third and the fourth, and so on; with an odd number the last one has no
//! partner. Whenever the leader takes the one of a pair, the follower takes the other, if it is still empty: the
//! leader never gets both. What the follower does else makes no difference. An upright line through two empty
//! cells or more has a pair; one through a single empty cell could be made at once. So if all lines that the leader
//! could make with all of the empty cells are upright, the leader makes none.

use crate::connect4::{Bitboard, Connect4};

impl<B: Bitboard> Connect4<B> {
    /// Whether the leader, who cannot make a line at once, could make one that is not upright with all of the empty
    /// cells; without, the leader does not win.
    #[inline(always)]
    pub(super) fn has_line_left(&self, leader: B, empty: B, up: usize) -> bool {
        !self.lines_across(leader | empty, up).is_zero()
    }
}
