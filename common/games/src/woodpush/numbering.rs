//! Every board with no more pieces than the start as a number, so that what is known of boards is
//! found in tables without hashing.

use super::board::Board;

/// Numbers boards by how many pieces there are, where they are, and which of them are Left's.
#[derive(Clone, Debug)]
pub(super) struct Numbering {
    /// `below[i][cell]`: binomial(cell, i + 1), the sets of i + 1 cells that lie below `cell`.
    below: Vec<[u32; 32]>,
    /// The first number of the boards with so many pieces; the last entry is the end.
    first: Vec<u32>,
}

impl Numbering {
    /// The boards of `cells` cells with up to `pieces` pieces, if there are at most `limit`.
    pub fn new(cells: u32, pieces: u32, limit: u64) -> Option<Numbering> {
        let mut below = Vec::new();
        let mut first = vec![0, 1];
        for taken in 1..=u64::from(pieces) {
            let binomial = |from: u64| {
                (0..taken).try_fold(1u64, |product, i| {
                    Some(product.checked_mul(from.saturating_sub(i))? / (i + 1))
                })
            };
            let places = binomial(u64::from(cells))?;
            let boards = places.checked_mul(1u64.checked_shl(taken as u32)?)?;
            let end = u64::from(*first.last()?) + boards;
            if end > limit.min(u64::from(u32::MAX) / 4) {
                return None;
            }
            first.push(end as u32);
            let mut row = [0; 32];
            for (cell, entry) in row.iter_mut().enumerate() {
                *entry = binomial(cell as u64)? as u32;
            }
            below.push(row);
        }
        Some(Numbering { below, first })
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.first[self.first.len() - 1] as usize
    }

    /// The number of a board.
    #[inline]
    pub fn number(&self, board: Board) -> u32 {
        let mut rest = board.occupied();
        let (mut places, mut colours, mut pieces) = (0, 0, 0);
        while rest != 0 {
            let cell = rest.trailing_zeros();
            places += self.below[pieces][cell as usize];
            colours |= (board.left >> cell & 1) << pieces;
            pieces += 1;
            rest &= rest - 1;
        }
        self.first[pieces] + (places << pieces) + colours
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_has_a_number_of_its_own() {
        let numbering = Numbering::new(7, 4, 1 << 20).unwrap();
        let mut seen = vec![false; numbering.len()];
        for left in 0u32..1 << 7 {
            for right in (0u32..1 << 7).filter(|right| left & right == 0) {
                let board = Board { left, right };
                if board.pieces() <= 4 {
                    let number = numbering.number(board) as usize;
                    assert!(!std::mem::replace(&mut seen[number], true), "{board:?}");
                }
            }
        }
        assert!(seen.iter().all(|&seen| seen));
    }

    #[test]
    fn too_many_boards_are_not_numbered() {
        assert!(Numbering::new(32, 4, 1 << 20).is_some());
        assert!(Numbering::new(32, 4, 1 << 19).is_none());
        assert!(Numbering::new(32, 32, u64::MAX).is_none());
    }
}
