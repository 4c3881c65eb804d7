//! A board as two masks, and what the moves do to it.

use crate::{Move, Outcome, OutcomeScale, Player};

/// Where the pieces are; bit i is cell i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Board {
    pub left: u32,
    pub right: u32,
}

impl Board {
    #[inline]
    pub fn occupied(self) -> u32 {
        self.left | self.right
    }

    #[inline]
    pub fn pieces(self) -> u32 {
        self.left.count_ones() + self.right.count_ones()
    }

    #[inline]
    pub fn own(self, player: Player) -> u32 {
        match player {
            Player::Max => self.left,
            Player::Min => self.right,
        }
    }

    /// Whether one side has no pieces: the game is over.
    #[inline]
    pub fn is_over(self) -> bool {
        self.left == 0 || self.right == 0
    }

    /// The outcome on the scale of the game, if one side has no pieces: what Left has more than
    /// Right.
    #[inline]
    pub fn outcome(self, scale: &OutcomeScale) -> Option<Outcome> {
        if !self.is_over() {
            return None;
        }
        scale.with_score(self.left.count_ones() as i32 - self.right.count_ones() as i32)
    }

    /// A pseudo-random number of 128 bits for each board (two rounds of a 64-bit finaliser with
    /// different constants).
    pub fn hash(self) -> u128 {
        let bits = u64::from(self.left) | u64::from(self.right) << 32;
        let mix = |mut z: u64, add: u64| {
            z = z.wrapping_add(add).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        u128::from(mix(bits, 0x2545_f491_4f6c_dd1d)) << 64
            | u128::from(mix(bits, 0xd6e8_feb8_6659_fd93))
    }

    /// The board as a number below 3^32, which fits into 51 bits: a cell is empty, Left's or
    /// Right's.
    #[inline]
    pub fn ternary(self) -> u64 {
        ternary(self.left) + 2 * ternary(self.right)
    }

    /// The pieces of `player` that have an enemy piece directly behind them.
    #[inline]
    pub fn pushers(self, player: Player) -> u32 {
        match player {
            Player::Max => self.left & (self.right << 1),
            Player::Min => self.right & (self.left >> 1),
        }
    }

    /// The board on `line` (all cells, as a mask) after `mv`, whether or not it repeats an earlier
    /// one. `mv` is a slide from a cell of the player's own, or a push that has an enemy piece
    /// behind it.
    #[inline]
    pub fn after(self, line: u32, player: Player, mv: Move) -> Board {
        let (cell, push) = (u32::from(mv.0 >> 1), mv.0 & 1 == 1);
        let piece = 1u32 << cell;
        let occupied = self.occupied();
        if push {
            // The piece and the unbroken string behind it go one cell back.
            let string = if player == Player::Max {
                let below = occupied & (piece | (piece - 1));
                let gap = !below & (piece - 1);
                if gap == 0 { below } else { below & (u32::MAX << (32 - gap.leading_zeros())) }
            } else {
                let above = occupied & !(piece - 1);
                let gap = !occupied & !(piece - 1);
                if gap == 0 { above } else { above & ((1 << gap.trailing_zeros()) - 1) }
            };
            let back = |mask: u32| {
                let moved = mask & string;
                let moved = if player == Player::Max { moved >> 1 } else { moved << 1 };
                (mask & !string) | (moved & line)
            };
            Board { left: back(self.left), right: back(self.right) }
        } else if player == Player::Max {
            let ahead = !occupied & line & !(piece | (piece - 1));
            let target = ahead & ahead.wrapping_neg();
            Board { left: (self.left & !piece) | target, right: self.right }
        } else {
            let ahead = !occupied & (piece - 1);
            let target = if ahead == 0 { 0 } else { 1 << (31 - ahead.leading_zeros()) };
            Board { left: self.left, right: (self.right & !piece) | target }
        }
    }

    /// Calls `visit` with each move that is legal but for repetition and the board after it,
    /// ascending by cell and the slide before the push, until it returns false.
    #[inline]
    pub fn each_candidate(
        self,
        line: u32,
        player: Player,
        mut visit: impl FnMut(Move, Board) -> bool,
    ) {
        let mut own = self.own(player);
        let pushers = self.pushers(player);
        while own != 0 {
            let cell = own.trailing_zeros() as u16;
            let slide = Move(cell << 1);
            let push = Move(cell << 1 | 1);
            let candidates = if pushers >> cell & 1 == 1 { &[slide, push][..] } else { &[slide] };
            for &mv in candidates {
                if !visit(mv, self.after(line, player, mv)) {
                    return;
                }
            }
            own &= own - 1;
        }
    }
}

/// The number whose base-3 digits are the bits of `mask`.
#[inline]
fn ternary(mask: u32) -> u64 {
    const DIGITS: [u64; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut bit, mut power) = (0, 1);
            while bit < 8 {
                if byte >> bit & 1 == 1 {
                    table[byte] += power;
                }
                power *= 3;
                bit += 1;
            }
            byte += 1;
        }
        table
    };
    mask.to_be_bytes().iter().fold(0, |number, &byte| number * 6561 + DIGITS[byte as usize])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Keys hold this number, so each cell of the longest boards must have a digit of its own.
        #[test]
        fn boards_are_numbers_of_a_digit_a_cell(cells in prop::collection::vec(0u32..3, 32)) {
            let mut board = Board { left: 0, right: 0 };
            let mut number = 0;
            for (cell, &digit) in cells.iter().enumerate().rev() {
                board.left |= u32::from(digit == 1) << cell;
                board.right |= u32::from(digit == 2) << cell;
                number = 3 * number + u64::from(digit);
            }
            prop_assert_eq!(board.ternary(), number);
        }
    }

    /// The boards of so many cells.
    fn boards(cells: u32) -> impl Iterator<Item = Board> {
        (0..3u32.pow(cells)).map(move |mut number| {
            let mut board = Board { left: 0, right: 0 };
            for cell in 0..cells {
                match number % 3 {
                    1 => board.left |= 1 << cell,
                    2 => board.right |= 1 << cell,
                    _ => {}
                }
                number /= 3;
            }
            board
        })
    }

    /// Keys hold a part of the sum of these numbers, so no part of them may be empty, and either half
    /// alone tells boards apart.
    #[test]
    fn hashes_are_spread_over_all_bits() {
        const CELLS: u32 = 11;
        let (mut low, mut high, mut ones) = (BTreeSet::new(), BTreeSet::new(), [0u32; 128]);
        let mut count = 0;
        for board in boards(CELLS) {
            let hash = board.hash();
            assert!(low.insert(hash as u64) && high.insert((hash >> 64) as u64), "{board:?}");
            for (bit, ones) in ones.iter_mut().enumerate() {
                *ones += (hash >> bit & 1) as u32;
            }
            count += 1;
        }
        for (bit, ones) in ones.into_iter().enumerate() {
            assert!(ones.abs_diff(count / 2) < count / 50, "bit {bit}: {ones} of {count}");
        }
    }
}
