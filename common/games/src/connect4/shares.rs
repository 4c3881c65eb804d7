//! Who gets which of the empty cells, if every stone of the leader's is answered (`follow_up`), and how that changes where a
//! column is answered otherwise (`led_threats`, `tempo`).

use std::cell::Cell;

use crate::connect4::aftereven::Follower;
use crate::connect4::follow_up::from_here_up;
use crate::connect4::{Bitboard, Connect4, Stones};

/// Who gets which of the empty cells.
#[derive(Clone, Copy)]
pub(super) struct Shares<'a, B> {
    /// The leader's stones and the cells that the leader gets, if nothing is answered in another column.
    pub reachable: B,
    /// The lowest empty cells of the columns that need a partner.
    pub odd: B,
    /// What the follower has and gets.
    pub follower: Follower<B>,
    /// The line that was unbroken last where the same player led.
    pub last: &'a Cell<B>,
}

impl<'a, B: Bitboard> Shares<'a, B> {
    /// The same, but that of `column`, the empty cells of one, the leader gets those in `led` and the follower those in
    /// `answers`, and that it needs a partner, by its cell `bottom`, if it needed none, and none if it needed one.
    #[inline(always)]
    pub fn with_column(self, column: B, bottom: B, led: B, answers: B) -> Shares<'a, B> {
        let Shares { reachable, odd, follower, .. } = self;
        Shares {
            reachable: (reachable & !column) | led,
            odd: odd ^ bottom,
            follower: Follower { gets: (follower.gets & !column) | answers, ..follower },
            ..self
        }
    }
}

impl<B: Bitboard> Connect4<B> {
    /// Who gets what by the follow-up rule, if the player to move leads; this line was unbroken `last`.
    #[inline(always)]
    pub(super) fn shares<'a>(
        &self,
        position: Stones<B>,
        follower_threats: B,
        last: &'a Cell<B>,
    ) -> Shares<'a, B> {
        let Stones { mover: leader, all, .. } = position;
        let empty = self.full ^ all;
        // The lowest empty cells of the odd columns.
        let odd = self.playable(all) & self.follower_cells;
        // What the leader gets in even columns, and in odd ones above their lowest empty cell.
        let led = empty & !self.follower_cells;
        let followed = empty & self.follower_cells & !odd;
        let reachable = led & !from_here_up(empty, follower_threats & followed);
        let follower =
            Follower { stones: leader ^ all, gets: followed, threats: follower_threats, empty };
        Shares { reachable: leader | reachable, odd, follower, last }
    }

    /// The shares if in `column`, the empty cells of one, the game goes on in `cells` alone, from the lowest one of the
    /// column up, and of these each player gets what the follow-up rule gives to the other. If the column is even, its lowest cell,
    /// which needs a partner then, is neither's.
    #[inline(always)]
    pub(super) fn turned<'a>(
        &self,
        column: B,
        cells: B,
        bottom: B,
        shares: Shares<'a, B>,
    ) -> Shares<'a, B> {
        let led = cells & self.follower_cells;
        let answers = cells & !self.follower_cells & !bottom;
        shares.with_column(column, bottom, led, answers)
    }
}
