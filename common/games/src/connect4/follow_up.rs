//! The follow-up rule: what a player gets who always answers in the same column (Allis 1988,
//! section 3.2, and his rule claimeven, section 6.2.1).
//!
//! The player to move is the *leader* here, the other one the *follower*. In a column with an even
//! number of empty cells the follower can answer every stone with one on top of it, and so gets the
//! second, fourth, ... of these cells, whatever the leader does. If all columns are even, and the
//! cells that are left to the leader make no line, the leader cannot win; if moreover the
//! follower's cells make one, the leader loses. That holds on boards of any height, and for
//! either player, wherever the columns are even.
//!
//! Columns with an odd number of empty cells break the rhythm. Two generalisations mend it:
//! - **Pairs of odd columns.** Of the lowest empty cells of two odd columns the follower takes the
//!   one when the leader takes the other; what is left of both columns is even (`pairs`).
//! - **Threats at the leader's cells.** A threat of the follower's at a cell that the rule gives to the leader cuts its
//!   column off, which makes it even if it was odd, and odd if it was even (`led_threats`). Or it is given up, and another column is
//!   followed the other way round (`tempo`).
//!
//! Where neither helps, the follower may answer some columns the other way round (`turned`), or be sure of a draw whoever has the zugzwang (`lines_left`).
//!
//! The follower's threats at cells that the follower gets cut their columns off: the game never
//! goes on above them, and so ends the sooner. More generally, a line of the leader's does not
//! count that can only be completed after one of the follower's (`aftereven`).

use crate::Bounds;
use crate::connect4::aftereven::Follower;
use crate::connect4::shares::Shares;
use crate::connect4::unbroken::{LastUnbroken, Unbroken};
use crate::connect4::{Bitboard, Connect4, MOVER_DRAWS, MOVER_LOSES, Stones};

/// The best that the player to move can still reach, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Most {
    /// Anything.
    Win,
    Draw,
    /// Nothing but a loss, in a game at whose end so many cells are empty at the least.
    Loss {
        left: u32,
    },
}

impl<B: Bitboard> Connect4<B> {
    /// The best that the player to move can still reach, as far as the follow-up rule can tell and
    /// the leader's relevancy bounds ask; there must be no line on the board yet, nor one that the
    /// player to move can make at once. A loss in a game that leaves so many cells empty is of
    /// interest only if `counts`.
    #[inline(always)]
    pub(super) fn most_for_leader(
        &self,
        position: Stones<B>,
        follower_threats: B,
        relevant: Bounds,
        counts: impl Fn(u32) -> bool,
        notes: &LastUnbroken<B>,
        up: usize,
    ) -> Most {
        if !self.rules.follow_up {
            return Most::Win;
        }
        let last = notes.if_leads(self.max_to_move(position.all));
        let shares = self.shares(position, follower_threats, last);
        let Shares { odd, follower, .. } = shares;
        let Follower { gets: followed, empty, .. } = follower;
        let winning = follower_threats & followed;
        let by_led_threats = |unbroken: Unbroken<B>| {
            let threats = self.rules.led_threats;
            threats.then(|| self.loses_to_led_threats(shares, unbroken, &counts, up)).flatten()
        };
        if odd.count_ones().is_multiple_of(2) {
            let left = left_empty(empty, winning);
            let loses = relevant.lower == MOVER_LOSES
                && self.rules.wins_by_follow_up
                && counts(left)
                && (!winning.is_zero() || self.has_four(follower.stones | followed, up));
            let draws = relevant.upper > MOVER_DRAWS;
            let broken = if loses || draws {
                self.pairs_or_turned_break_all(shares, up)
            } else {
                Err(Unbroken::unknown())
            };
            // Cells that are given up may have been some of the follower's line.
            let keeps_line = |given_up: B| {
                given_up.is_zero()
                    || !winning.is_zero()
                    || self.has_four(follower.stones | (followed & !given_up), up)
            };
            match broken {
                Ok(given_up) if loses && keeps_line(given_up) => Most::Loss { left },
                Ok(_) if relevant.lower > MOVER_LOSES => Most::Draw,
                _ => match by_led_threats(broken.err().unwrap_or(Unbroken::unknown())) {
                    Some(left) => Most::Loss { left },
                    None if broken.is_ok() => Most::Draw,
                    None if draws && self.rules.tempo && self.draws_by_tempo(shares, up) => {
                        Most::Draw
                    }
                    None => Most::Win,
                },
            }
        } else if let Some(left) = by_led_threats(Unbroken::unknown()) {
            Most::Loss { left }
        } else if relevant.upper > MOVER_DRAWS
            && self.rules.lines_left
            && (!self.has_line_left(position.mover, empty, up)
                || self.rules.turned_column && self.turned_column_holds(&shares, up))
        {
            Most::Draw
        } else {
            Most::Win
        }
    }
}

/// How many of the `empty` cells the game leaves empty at the least, if the leader makes no line and comes to play below
/// one of the follower's `threats` at the latest when nothing else is left. Of the cells from the one right below such a
/// threat to the top of its column, in all such columns together, two are played then: the one that ends the game, and
/// the one below it.
#[inline(always)]
pub(super) fn left_empty<B: Bitboard>(empty: B, threats: B) -> u32 {
    let below = threats >> 1;
    (from_here_up(empty, below) | below).count_ones().saturating_sub(2)
}

/// The cells of `empty` from each of `cells` up to the top of its column; where a column has
/// several of `cells`, some may be missing.
#[inline(always)]
pub(super) fn from_here_up<B: Bitboard>(empty: B, cells: B) -> B {
    // The sum carries through the empty cells up to the bit above the column.
    empty & !(empty + cells)
}

/// All bits from the first of the board to this cell.
#[inline(always)]
pub(super) fn up_to<B: Bitboard>(cell: B) -> B {
    cell | (cell - B::one())
}

impl<B: Bitboard> Connect4<B> {
    /// All cells of `empty` in the columns of those in `cells`.
    #[inline(always)]
    pub(super) fn columns_of(&self, cells: B, empty: B, up: usize) -> B {
        // Where a column has some of `cells`, the sum carries into the bit above it.
        let ends = (cells + self.full) & (self.bottom_row << (up - 1));
        empty & (ends - (ends >> (up - 1)))
    }
}
