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
        if self.width < 4 {
            return B::zero();
        }
        let along = |step| line_starts(cells, step);
        let level = along(up);
        if up > 4 { level | along(up - 1) | along(up + 1) } else { level }
    }
}

/// The first cells of the lines in `cells` whose neighbours are `step` bits apart.
#[inline(always)]
pub(super) fn line_starts<B: Bitboard>(cells: B, step: usize) -> B {
    let pairs = cells & (cells >> step);
    pairs & (pairs >> (2 * step))
}

/// The lines with these first cells, whose neighbours are `step` bits apart.
#[inline(always)]
pub(super) fn lines_from<B: Bitboard>(mut starts: B, step: usize) -> impl Iterator<Item = B> {
    std::iter::from_fn(move || {
        let start = (!starts.is_zero()).then(|| lowest(starts))?;
        starts = starts ^ start;
        Some(start | start << step | start << (2 * step) | start << (3 * step))
    })
}
