//! What the follower keeps from the leader where the number of odd columns is even and the follow-up rule does not do: two columns are
//! turned that are partners (`turned`), and the others followed.

use smallvec::smallvec;

use crate::connect4::aftereven::Follower;
use crate::connect4::shares::Shares;
use crate::connect4::threats::lowest;
use crate::connect4::turned::Apart;
use crate::connect4::unbroken::Unbroken;
use crate::connect4::{Bitboard, Connect4};

impl<B: Bitboard> Connect4<B> {
    /// What [`Connect4::pairs_break_all`] says, or if there is an `unbroken` line, whether two of its columns can be turned so that the leader
    /// makes none; if so, the cells that the follower gives up for it of those that the follow-up rule gives to the follower.
    #[inline(always)]
    pub(in crate::connect4) fn pairs_or_turned_break_all(
        &self,
        shares: Shares<'_, B>,
        up: usize,
    ) -> Result<B, Unbroken<B>> {
        self.pairs_break_all(shares, up)
            .or_else(|unbroken| self.turned_pair_breaks_all(&shares, unbroken, up).ok_or(unbroken))
    }

    /// Whether two columns can be turned so that all lines are broken, of which this one is `unbroken` without; the cells that are given up then.
    #[inline(always)]
    pub(in crate::connect4) fn turned_pair_breaks_all(
        &self,
        shares: &Shares<'_, B>,
        unbroken: Unbroken<B>,
        up: usize,
    ) -> Option<B> {
        let line = self.turnable(unbroken, shares.follower.empty);
        line.and_then(|line| self.pair_of_line_breaks_all(shares, line, up))
    }

    /// The line, if it is known and has two cells or more that the follow-up rule gives to the leader: without, no turned pair breaks it.
    #[inline(always)]
    pub(in crate::connect4) fn turnable(&self, unbroken: Unbroken<B>, empty: B) -> Option<B> {
        let led = |line: B| (line & empty & !self.follower_cells).count_ones();
        unbroken.known().filter(|&line| self.rules.turned_pair && led(line) > 1)
    }

    /// Whether two columns of this line can be turned so that all lines are broken; the cells that are given up then.
    #[inline(never)]
    fn pair_of_line_breaks_all(&self, shares: &Shares<'_, B>, line: B, up: usize) -> Option<B> {
        let Follower { stones, empty, gets, threats } = shares.follower;
        let playable = self.playable(self.full ^ empty);
        let above_two = self.above_two(self.full ^ empty ^ stones, playable);
        let led = empty & !self.follower_cells;
        // A threat that cuts its column off is not given up, and an even column is not turned where the leader could go on upwards.
        let fixed = self.columns_of(threats & gets | above_two & led, empty, up);
        if !(above_two & shares.odd & fixed).is_zero() {
            return None;
        }
        let mut cells = line & led & !fixed;
        while !cells.is_zero() {
            let one = self.columns_of(lowest(cells), empty, up);
            cells = cells & !one;
            let mut others = cells;
            while !others.is_zero() {
                let other = self.columns_of(lowest(others), empty, up);
                others = others & !other;
                // An odd column in which the leader could go on upwards is free.
                let free = self.columns_of(above_two & shares.odd & !(one | other), empty, up);
                let open = one | other | free;
                let partners = [one, other].map(|column| column & led);
                let bottoms = shares.odd & !open | playable & led & (one | other);
                if self.partners_break_all(shares, partners, open, bottoms, up) {
                    return Some(gets & open);
                }
            }
        }
        None
    }

    /// Whether the leader makes no line if the follower answers these cells of two `partners`, but for those among the `bottoms`, which are free
    /// and can be paired; all cells are the leader's that are `open`.
    #[inline(always)]
    fn partners_break_all(
        &self,
        shares: &Shares<'_, B>,
        partners: [B; 2],
        open: B,
        bottoms: B,
        up: usize,
    ) -> bool {
        let &Shares { reachable, odd, follower, .. } = shares;
        let cells = reachable | open;
        let answers = partners.map(|cells| cells & !bottoms);
        let without = |answers: B| self.lines_across(cells & !bottoms & !answers, up);
        if !without(answers[0]).is_zero() || !without(answers[1]).is_zero() {
            return false;
        }
        let mut apart =
            Apart { chosen: smallvec![(answers[0], answers[1])], bottoms, answers: B::zero() };
        self.all_across(cells | bottoms, up, |line| {
            // A line that is unbroken if nothing is turned has cells of both, whichever of these lines is known.
            let was_broken =
                !(line & !(reachable | odd)).is_zero() || (line & odd).count_ones() > 1;
            (was_broken || partners.iter().all(|&cells| !(line & cells).is_zero()))
                && self.is_kept_apart(line, &mut apart, follower.empty, up)
        })
    }
}
