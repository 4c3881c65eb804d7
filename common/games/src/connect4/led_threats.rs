//! Threats of the follower's at cells that the follow-up rule gives to the leader: the second, fourth, ... empty cell of
//! an odd column, or the third, fifth, ... of an even one.
//!
//! Such a threat cuts its column off, because whoever plays right below it loses: the leader to the threat, and
//! the follower the threat to the leader. What is left up to the threat is an even number of cells where the column was odd, so that
//! it needs no partner any more, and an odd number where it was even, so that its lowest cell needs one. In either
//! case the follower takes the cell of the threat if the game comes there: all that can be answered is
//! filled, and the leader has to play below it in the end. This is the odd threat by which White controls the
//! zugzwang (Allis 1988, section 3.3), and the two of Black's that do the same.
//!
//! Each column that is cut off makes an odd number of columns that need a partner even, or the other way round. So it takes one
//! threat where the number of odd columns is odd, and two in different columns where it is even; more of them, if that does not do.

use crate::connect4::aftereven::Follower;
use crate::connect4::follow_up::{left_empty, up_to};
use crate::connect4::shares::Shares;
use crate::connect4::threats::lowest;
use crate::connect4::{Bitboard, Connect4};

/// Of so many columns at the most it is tried which of them to cut off: the sets of them double with each, and on wide boards
/// there may be many.
const MOST_COLUMNS: u32 = 4;

impl<B: Bitboard> Connect4<B> {
    /// Whether threats of the follower's at cells that the leader gets by these `shares` decide: then how many cells the
    /// game leaves empty at the least, of those numbers that count.
    #[inline(always)]
    pub(super) fn loses_to_led_threats(
        &self,
        shares: Shares<B>,
        counts: &impl Fn(u32) -> bool,
        up: usize,
    ) -> Option<u32> {
        let threats = self.led_threats(shares.follower);
        let enough = if shares.odd.count_ones().is_multiple_of(2) {
            threats.count_ones() > 1
        } else {
            !threats.is_zero()
        };
        if enough { self.cut_off(shares, threats, MOST_COLUMNS, counts, up) } else { None }
    }

    /// The follower's threats at cells that the leader gets, but those that can be played now, and are taken now.
    #[inline(always)]
    pub(super) fn led_threats(&self, follower: Follower<B>) -> B {
        let playable = self.playable(self.full ^ follower.empty);
        follower.threats & !self.follower_cells & !playable
    }

    /// Cuts off columns that have some of `threats`, which are none of the columns that are cut off already, until
    /// the leader loses; so many `columns` are tried at the most.
    fn cut_off(
        &self,
        shares: Shares<B>,
        threats: B,
        columns: u32,
        counts: &impl Fn(u32) -> bool,
        up: usize,
    ) -> Option<u32> {
        if threats.is_zero() || columns == 0 {
            return None;
        }
        let threat = lowest(threats);
        let empty = shares.follower.empty;
        let column = self.columns_of(threat, empty, up);
        let threats = threats & !column;
        let bottom = column & self.playable(self.full ^ empty);
        let cut = self.turned(column, column & up_to(threat), bottom, shares);
        let left = left_empty(empty, cut.follower.threats & cut.follower.gets);
        let loses = cut.odd.count_ones().is_multiple_of(2)
            && counts(left)
            && self.pairs_break_all(cut, up).is_some();
        if loses {
            return Some(left);
        }
        self.cut_off(cut, threats, columns - 1, counts, up)
            .or_else(|| self.cut_off(shares, threats, columns - 1, counts, up))
    }
}
