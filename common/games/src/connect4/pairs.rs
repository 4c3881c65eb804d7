//! Pairs of odd columns: which columns the follower makes even together, and how (Allis 1988,
//! baseinverse and vertical, sections 6.2.2 and 6.2.3).
//!
//! Columns are written A and B here, their empty cells from below a1, a2, ... and b1, b2, ...
//! - A **pair**: the follower answers a1 with b1 and b1 with a1, then what is left of both is even.
//!   The leader does not get both a1 and b1.
//! - A **vertical pair**: the follower answers a1 with a2, and makes a pair of a3 and b1 after that;
//!   if b1 is played before a1, the answer is a1. The leader gets neither both a1 and a2 nor
//!   both b1 and a3, but the follower is not sure of a3 any more. It is needed where the leader
//!   threatens to make a line upwards with a1 and a2.

use smallvec::SmallVec;

use crate::connect4::aftereven::Follower;
use crate::connect4::shares::Shares;
use crate::connect4::threats::lowest;
use crate::connect4::unbroken::Unbroken;
use crate::connect4::{Bitboard, Connect4};

/// The pairs that the follower has to make.
struct Pairing<B> {
    /// Two cells each that the leader does not get both: one for each two columns, and two where these
    /// are a vertical pair.
    apart: SmallVec<[B; 16]>,
    /// The lowest cells of the columns that have a partner.
    paired: B,
    /// The lowest cells of the columns that need a vertical pair.
    vertical: B,
    /// Whether there are lines through more than two of the cells, which wait until all pairs are
    /// known.
    longer: bool,
}

impl<B: Bitboard> Connect4<B> {
    /// Whether the lowest cells of odd columns, an even number, can be paired so that every line of reachable cells
    /// and one cell of each pair comes too late. If so, the cells that the follower
    /// gives up for that of those that the follow-up rule gives to the follower, and else a line that is unbroken.
    #[inline(always)]
    pub(super) fn pairs_break_all(
        &self,
        shares: Shares<'_, B>,
        up: usize,
    ) -> Result<B, Unbroken<B>> {
        let Shares { reachable, odd: lowest_odd, last, .. } = shares;
        if !self.rules.pairs && !lowest_odd.is_zero() {
            Err(Unbroken::unknown())
        } else if let Some(line) = self.still_unbroken(shares, up) {
            Err(line)
        } else if !self.has_four(reachable | lowest_odd, up) {
            Ok(B::zero())
        } else {
            self.find_pairs(&shares, up).inspect_err(|unbroken| unbroken.note(last))
        }
    }

    /// Pairs the cells as [`Connect4::pairs_break_all`] says, known that there are lines in
    /// the reachable cells and the lowest ones of odd columns together: each line through two of the odd cells makes them a
    /// pair, and these pairs must break the other lines, those included that the cells given up
    /// make possible.
    #[inline(never)]
    fn find_pairs(&self, shares: &Shares<'_, B>, up: usize) -> Result<B, Unbroken<B>> {
        let &Shares { reachable, odd: lowest_odd, follower, .. } = shares;
        let race = self.in_the_race(follower, up);
        if !race && let Some(line) = self.a_line(reachable, up) {
            return Err(Unbroken::line(line));
        }
        let cells = reachable | lowest_odd;
        let mut pairing = Pairing {
            apart: SmallVec::new(),
            paired: B::zero(),
            vertical: B::zero(),
            longer: false,
        };
        let mut unbroken = B::zero();
        let met = self.all_lines(cells, up, |line, upright| {
            race && !upright && self.comes_too_late(line & follower.empty, follower, up)
                || pairing.meet(line, lowest_odd, upright && self.rules.vertical)
                || {
                    unbroken = line;
                    false
                }
        });
        if !met {
            // One that no pair breaks is told wherever there is one, whichever line was found first.
            let is_alone = |line: B| (line & lowest_odd).count_ones() < 2;
            if !is_alone(unbroken) {
                self.all_across(cells, up, |line| {
                    let stays = is_alone(line)
                        && !(race && self.comes_too_late(line & follower.empty, follower, up));
                    if stays {
                        unbroken = line;
                    }
                    !stays
                });
            }
            let is_known = is_alone(unbroken);
            return Err(if is_known { Unbroken::line(unbroken) } else { Unbroken::unknown() });
        }
        let Some(given_up) = pairing.make_vertical_pairs(lowest_odd) else {
            return Err(Unbroken::unknown());
        };
        if given_up.is_zero() && !pairing.longer {
            return Ok(given_up);
        }
        if !(given_up & follower.threats).is_zero() {
            // The cells above these do not stay out of reach.
            return Err(Unbroken::unknown());
        }
        let follower = Follower { gets: follower.gets & !given_up, ..follower };
        let race = race && self.in_the_race(follower, up);
        let broken = self.all_lines(cells | given_up, up, |line, upright| {
            pairing.breaks(line)
                || race && !upright && self.comes_too_late(line & follower.empty, follower, up)
        });
        if broken { Ok(given_up) } else { Err(Unbroken::unknown()) }
    }

    /// One of the lines in `cells`.
    #[inline(always)]
    fn a_line(&self, cells: B, up: usize) -> Option<B> {
        let mut found = None;
        self.all_lines(cells, up, |line, _| {
            found = Some(line);
            false
        });
        found
    }
}

impl<B: Bitboard> Pairing<B> {
    /// Makes the pair that breaks `line`, or notes that it needs a vertical pair, which it can only
    /// have if it is `upright`; whether that is possible.
    #[inline(always)]
    fn meet(&mut self, line: B, lowest_odd: B, upright: bool) -> bool {
        let through = line & lowest_odd;
        match through.count_ones() {
            0 => false,
            1 if upright && !(line & (through << 1)).is_zero() => {
                self.vertical = self.vertical | through;
                true
            }
            1 => false,
            2 if self.apart.contains(&through) => true,
            2 if !(self.paired & through).is_zero() => false,
            2 => {
                self.paired = self.paired | through;
                self.keep_apart(through);
                true
            }
            _ => {
                self.longer = true;
                true
            }
        }
    }

    /// Finds partners for the columns that need a vertical pair, among the columns that have none;
    /// returns the cells that the follower gives up for it, or nothing if there are too few.
    #[inline(always)]
    fn make_vertical_pairs(&mut self, lowest_odd: B) -> Option<B> {
        let mut given_up = B::zero();
        if !(self.vertical & self.paired).is_zero() {
            return None;
        }
        let mut free = lowest_odd & !self.paired & !self.vertical;
        while !self.vertical.is_zero() {
            if free.is_zero() {
                return None;
            }
            let (a1, b1) = (lowest(self.vertical), lowest(free));
            self.vertical = self.vertical ^ a1;
            free = free ^ b1;
            self.keep_apart(a1 | a1 << 1);
            self.keep_apart(b1 | a1 << 2);
            given_up = given_up | a1 << 2;
        }
        Some(given_up)
    }

    #[inline(always)]
    fn keep_apart(&mut self, cells: B) {
        self.apart.push(cells);
    }

    /// Whether the leader does not get all of `line`.
    #[inline(always)]
    fn breaks(&self, line: B) -> bool {
        self.apart.iter().any(|&apart| apart & line == apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a column with a vertical pair the leader does not get both of the two lowest cells, nor the
    /// third and its partner's lowest; of what else is in these columns nothing is said.
    #[test]
    fn a_vertical_pair_keeps_its_own_cells_apart() {
        // The bits of two columns, both with stones on their two lowest cells.
        let (a1, b1) = (1u64 << 2, 1u64 << 9);
        let mut pairing =
            Pairing { apart: SmallVec::new(), paired: 0, vertical: a1, longer: false };
        assert_eq!(pairing.make_vertical_pairs(a1 | b1), Some(a1 << 2));
        for broken in [a1 >> 2 | a1 >> 1 | a1 | a1 << 1, b1 | a1 << 2] {
            assert!(pairing.breaks(broken), "{broken:b}");
        }
        for open in [a1 | a1 >> 1 | a1 >> 2, b1 | a1 >> 2, b1 | a1, b1 | a1 << 1, a1 | a1 << 2] {
            assert!(!pairing.breaks(open), "{open:b}");
        }
    }
}
