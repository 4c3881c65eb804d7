//! Lines of four.

use crate::connect4::threats::lowest;
use crate::connect4::{Bitboard, Connect4};

impl<B: Bitboard> Connect4<B> {
    /// Whether four stones of `stones` are in a line; `up` is the number of bits of a column.
    #[inline(always)]
    pub(super) fn has_four(&self, stones: B, up: usize) -> bool {
        let upright = if up > 4 { line_starts(stones, 1) } else { B::zero() };
        !(upright | self.lines_across(stones, up)).is_zero()
    }

    /// The first cells of the lines in `cells` that are not upright.
    #[inline(always)]
    pub(super) fn lines_across(&self, cells: B, up: usize) -> B {
        let [level, falling, rising] = self.starts_across(cells, up);
        level.0 | falling.0 | rising.0
    }

    /// The same by their directions, with how many bits apart neighbours are.
    #[inline(always)]
    pub(super) fn starts_across(&self, cells: B, up: usize) -> [(B, usize); 3] {
        // The narrowest and the lowest boards have no lines in some direction.
        let (wide, tall) = (self.width >= 4, up > 4);
        let along = |step, is_possible| {
            (if is_possible { line_starts(cells, step) } else { B::zero() }, step)
        };
        [along(up, wide), along(up - 1, wide && tall), along(up + 1, wide && tall)]
    }

    /// Whether `test` holds for all lines in `cells` that are not upright.
    #[inline(always)]
    pub(super) fn all_across(&self, cells: B, up: usize, mut test: impl FnMut(B) -> bool) -> bool {
        // One call of `test` for all directions, so that it is compiled into the loop.
        for (starts, step) in self.starts_across(cells, up) {
            for line in lines_from(starts, step) {
                if !test(line) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether `test` holds for all lines in `cells`; it is told whether a line is upright.
    #[inline(always)]
    pub(super) fn all_lines(
        &self,
        cells: B,
        up: usize,
        mut test: impl FnMut(B, bool) -> bool,
    ) -> bool {
        let upright = if up > 4 { line_starts(cells, 1) } else { B::zero() };
        lines_from(upright, 1).all(|line| test(line, true))
            && self.all_across(cells, up, |line| test(line, false))
    }
}

/// The first cells of the lines in `cells` whose neighbours are `step` bits apart.
#[inline(always)]
pub(super) fn line_starts<B: Bitboard>(cells: B, step: usize) -> B {
    let pairs = cells & (cells >> step);
    pairs & (pairs >> (2 * step))
}

/// The cells of all lines with these first cells, whose neighbours are `step` bits apart.
#[inline(always)]
pub(super) fn cells_from<B: Bitboard>(starts: B, step: usize) -> B {
    let pairs = starts | (starts << step);
    pairs | (pairs << (2 * step))
}

/// The lines with these first cells, whose neighbours are `step` bits apart.
#[inline(always)]
pub(super) fn lines_from<B: Bitboard>(mut starts: B, step: usize) -> impl Iterator<Item = B> {
    std::iter::from_fn(move || {
        let start = (!starts.is_zero()).then(|| lowest(starts))?;
        starts = starts ^ start;
        Some(cells_from(start, step))
    })
}
