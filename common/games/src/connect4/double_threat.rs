//! Double threats: a move after which two cells complete a line at once. The opponent takes one of them, and the other
//! wins.
//!
//! The second may lie right above the first: it can be played as soon as the opponent has taken that one.

use crate::connect4::lines::cells_from;
use crate::connect4::threats::lowest;
use crate::connect4::{Bitboard, Connect4, Stones};

impl<B: Bitboard> Connect4<B> {
    /// Whether one of `moves` makes a double threat, if that is asked about. After none of them may a playable cell complete a line of the
    /// opponent's: so the opponent has to meet the first threat, and makes no line by it.
    #[inline(always)]
    pub(super) fn has_double_threat(&self, position: Stones<B>, moves: B, up: usize) -> bool {
        let mut left = self.double_threat_candidates(position, moves, up);
        while !left.is_zero() {
            let cell = lowest(left);
            left = left ^ cell;
            let all = position.all | cell;
            let threats = self.completing(position.mover | cell, up);
            let first = threats & self.playable(all);
            if !first.is_zero() && (lowest(first) != first || !(threats & (first << 1)).is_zero()) {
                return true;
            }
        }
        false
    }

    /// Those of `moves` that may make a double threat: none is left out but one with a single line across, and a second threat right
    /// above the other cell of that line that it makes itself.
    #[inline(always)]
    fn double_threat_candidates(&self, position: Stones<B>, moves: B, up: usize) -> B {
        let Stones { mover, all, completed_by_mover: threats, .. } = position;
        // On a board without lines across a move threatens one cell.
        if !self.rules.double_threat || self.width < 4 {
            return B::zero();
        }
        let playable = self.playable(all);
        // The cell above is threatened: by three stones upright, or it is already.
        let upwards = ((mover << 1) & (mover << 2) & (self.full >> 1) | (threats >> 1)) & moves;
        // Lines of which nothing but playable cells is missing, at least two of them.
        let across = self.starts_across(mover | playable, up);
        let [(level, _), (falling, _), (rising, _)] = across;
        let any = level | falling | rising;
        if any.is_zero() {
            return upwards & (threats >> 2);
        }
        let cells = across
            .into_iter()
            .fold(B::zero(), |cells, (starts, step)| cells | cells_from(starts, step));
        let two = any & (any - B::one()) | level & falling | (level | falling) & rising | upwards;
        if two.is_zero() && (cells & playable & (threats >> 1)).is_zero() {
            return B::zero();
        }
        (cells | upwards) & moves
    }
}
