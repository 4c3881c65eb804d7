//! The follow-up rule: what a player gets who always answers in the same column (Allis 1988,
//! section 3.2, and his rules claimeven, section 6.2.1, and baseinverse, 6.2.2).
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
//!   one when the leader takes the other (baseinverse); what is left of both columns is even. An
//!   even number of odd columns can be paired so, if pairs can be found that break every line
//!   through these cells.
//! - **A threat in an odd column.** One odd column may stay without a partner if the follower has a
//!   threat in it at the second, fourth, ... empty cell: the leader has to play below it in the
//!   end, because all other columns are filled in pairs, and the follower's answer wins. This is
//!   the odd threat by which White controls the zugzwang (Allis 1988, section 3.3).
//!
//! The follower's threats at cells that the follower gets cut their columns off: the game never
//! goes on above them.

use crate::connect4::threats::lowest;
use crate::connect4::{Bitboard, Connect4, Stones};
use crate::outcome::{Bounds, Outcome};

const LOSS: Outcome = Outcome(0);
const DRAW: Outcome = Outcome(1);
const WIN: Outcome = Outcome(2);

impl<B: Bitboard> Connect4<B> {
    /// The best that the player to move can still reach, as far as the follow-up rule can tell and
    /// the leader's relevancy bounds ask; there must be no line on the board yet, nor one that the
    /// player to move can make at once.
    #[inline(always)]
    pub(super) fn most_for_leader(
        &self,
        position: Stones<B>,
        follower_threats: B,
        relevant: Bounds,
        up: usize,
    ) -> Outcome {
        if !self.rules.follow_up {
            return WIN;
        }
        let Stones { mover: leader, all } = position;
        let empty = self.full ^ all;
        // The lowest empty cells of the odd columns.
        let odd = self.playable(all) & self.follower_cells;
        // What the leader gets in even columns, and in odd ones above their lowest empty cell.
        let led = empty & !self.follower_cells;
        let followed = empty & self.follower_cells & !odd;
        let winning = follower_threats & followed;
        let reachable = led & !from_here_up(empty, winning);
        if odd.count_ones().is_multiple_of(2) {
            let loses = relevant.lower == LOSS
                && self.rules.wins_by_follow_up
                && (!winning.is_zero() || self.has_four((leader ^ all) | followed, up));
            if !(loses || relevant.upper > DRAW)
                || !self.pairs_break_all(leader | reachable, odd, up)
            {
                WIN
            } else if loses {
                LOSS
            } else {
                DRAW
            }
        } else if !self.rules.odd_threat {
            WIN
        } else {
            self.with_threat_in_odd_column(leader, empty, odd, follower_threats, reachable, up)
        }
    }

    /// The same where the number of odd columns is odd.
    #[inline(always)]
    fn with_threat_in_odd_column(
        &self,
        leader: B,
        empty: B,
        odd: B,
        follower_threats: B,
        reachable: B,
        up: usize,
    ) -> Outcome {
        if (follower_threats & !self.follower_cells).is_zero() {
            return WIN;
        }
        let mut bottoms = odd;
        while !bottoms.is_zero() {
            let bottom = lowest(bottoms);
            bottoms = bottoms ^ bottom;
            let column = from_here_up(empty, bottom);
            let threats = follower_threats & column & !self.follower_cells;
            if threats.is_zero() {
                continue;
            }
            let below = column & (lowest(threats) - B::one()) & self.follower_cells;
            if self.pairs_break_all(leader | (reachable & !column) | below, odd ^ bottom, up) {
                return LOSS;
            }
        }
        WIN
    }

    /// Whether the cells of `lowest_odd`, an even number, can be paired so that no line is left in
    /// `reachable` and one cell of each pair.
    #[inline(always)]
    fn pairs_break_all(&self, reachable: B, lowest_odd: B, up: usize) -> bool {
        if !self.rules.pairs && !lowest_odd.is_zero() {
            return false;
        }
        !self.has_four(reachable | lowest_odd, up)
            || (!lowest_odd.is_zero() && self.find_pairs(reachable, lowest_odd, up))
    }

    /// The same, known that there are lines in `reachable` and `lowest_odd` together: each line
    /// through two of the odd cells makes them a pair, and these pairs must break the rest.
    #[inline(never)]
    fn find_pairs(&self, reachable: B, lowest_odd: B, up: usize) -> bool {
        let cells = reachable | lowest_odd;
        let mut paired = B::zero();
        let mut pairs = [B::zero(); 32];
        let mut count = 0;
        // Lines through more than two of the cells wait until all pairs are known.
        let mut longer = [B::zero(); 16];
        let mut waiting = 0;
        // There are odd columns, two at least, with lines through their cells: only the narrowest and
        // the lowest boards have no lines in some direction.
        let (tall, wide) = (up > 4, self.width >= 4);
        let steps = [(tall, 1), (wide, up), (tall && wide, up - 1), (tall && wide, up + 1)];
        for (_, step) in steps.into_iter().filter(|&(fits, _)| fits) {
            let mut starts = line_starts(cells, step);
            while !starts.is_zero() {
                let start = lowest(starts);
                starts = starts ^ start;
                let line = start | start << step | start << (2 * step) | start << (3 * step);
                let through = line & lowest_odd;
                match through.count_ones() {
                    0 | 1 => return false,
                    2 if pairs[..count].contains(&through) => {}
                    2 if !(paired & through).is_zero() => return false,
                    2 => {
                        paired = paired | through;
                        pairs[count] = through;
                        count += 1;
                    }
                    _ if waiting == longer.len() => return false,
                    _ => {
                        longer[waiting] = through;
                        waiting += 1;
                    }
                }
            }
        }
        longer[..waiting].iter().all(|&line| pairs[..count].iter().any(|&pair| pair & line == pair))
    }
}

/// The cells of `empty` from each of `cells` up to the top of its column; where a column has
/// several of `cells`, some may be missing.
#[inline(always)]
fn from_here_up<B: Bitboard>(empty: B, cells: B) -> B {
    // The sum carries through the empty cells up to the bit above the column.
    empty & !(empty + cells)
}

/// Where lines of four in `cells` start whose neighbours are `step` bits apart.
#[inline(always)]
fn line_starts<B: Bitboard>(cells: B, step: usize) -> B {
    let pairs = cells & (cells >> step);
    pairs & (pairs >> (2 * step))
}
