//! Threats that are given up for a tempo.
//!
//! Where the number of odd columns is even, a single threat of the follower's at a cell of the leader's (`led_threats`) does
//! not decide, but it draws where the follow-up rule alone does not. Let C be its column. When the cell right below the threat
//! is next, the follower can play there once: the leader has to take the cell of the threat, and the follower takes the
//! next one. That is the answer to one stone that has none in its own column: so one other column X may be *turned*,
//! which gives the follower those of its cells that the rule gives to the leader, and the other way round. If X is odd, it has no
//! partner then, and is followed from the bottom; if it is even, its lowest cell has a partner. Only its topmost
//! cell has no answer. If C is even, its lowest cell needs a partner, too; so the number of columns that do is even.
//!
//! When the leader plays the topmost cell of X, C may not have come so far:
//! - If C is even and its lowest cell c1 not filled, the follower takes the cell that answers c1, or b1 where the answer is c2 and b1 is of the
//!   column that is made even with C (`pairs`). So the leader does not get what the pair keeps apart, and what is
//!   left of both columns is even, and is followed.
//! - If there are other cells left below the threat, the follower plays the lowest of them; from there on each of the two gets the
//!   cells that were the other's, up to the threat. So of the cells below the threat nothing is known but
//!   that nobody gets two in a row.

use crate::connect4::follow_up::{from_here_up, up_to};
use crate::connect4::shares::Shares;
use crate::connect4::threats::lowest;
use crate::connect4::{Bitboard, Connect4};

impl<B: Bitboard> Connect4<B> {
    /// Whether a tempo keeps the leader from winning; these are the `shares` without one, and the number of odd columns is even.
    #[inline(always)]
    pub(super) fn draws_by_tempo(&self, shares: Shares<'_, B>, up: usize) -> bool {
        let threats = self.led_threats(shares.follower);
        !threats.is_zero() && self.has_tempo(&shares, threats, up)
    }

    /// Whether one of these threats gives a tempo that keeps the leader from winning.
    fn has_tempo(&self, shares: &Shares<'_, B>, mut threats: B, up: usize) -> bool {
        let empty = shares.follower.empty;
        let playable = self.playable(self.full ^ empty);
        while !threats.is_zero() {
            let threat = lowest(threats);
            let column = self.columns_of(threat, empty, up);
            threats = threats & !column;
            let bottom = column & playable;
            let given_up = self.given_up_at(threat, column, bottom, *shares);
            let mut turned = self.columns_of_all_lines(given_up, playable & !bottom, up);
            while !turned.is_zero() {
                let bottom = lowest(turned);
                turned = turned ^ bottom;
                let column = from_here_up(empty, bottom);
                let shares = self.turned(column, column, bottom, given_up);
                if self.pairs_break_all(shares, up).is_ok() {
                    return true;
                }
            }
        }
        false
    }

    /// The shares if the threat in this column, the empty cells of one, is given up for a tempo.
    #[inline(always)]
    fn given_up_at<'a>(
        &self,
        threat: B,
        column: B,
        bottom: B,
        shares: Shares<'a, B>,
    ) -> Shares<'a, B> {
        let right_below = threat >> 1;
        let up_to_threat = column & up_to(threat);
        let answers = column & !up_to_threat & self.follower_cells;
        // In an even column the lowest cell has a partner.
        let alone = column & (!bottom | shares.odd);
        let led = if (up_to_threat & alone & !(threat | right_below)).is_zero() {
            column & !up_to_threat | threat | right_below
        } else {
            alone
        };
        shares.with_column(column, bottom, led & !answers, answers)
    }

    /// Of these lowest empty cells of columns those whose columns have empty cells of all lines that
    /// are reachable without a pair: to turn another leaves one.
    #[inline(always)]
    fn columns_of_all_lines(&self, shares: Shares<'_, B>, mut bottoms: B, up: usize) -> B {
        let empty = shares.follower.empty;
        self.all_lines(shares.reachable, up, |line, _| {
            let mut rest = bottoms;
            while !rest.is_zero() {
                let bottom = lowest(rest);
                rest = rest ^ bottom;
                if (from_here_up(empty, bottom) & line).is_zero() {
                    bottoms = bottoms ^ bottom;
                }
            }
            !bottoms.is_zero()
        });
        bottoms
    }
}
