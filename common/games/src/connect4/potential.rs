//! How much a move promises: the lines of four through its cell, and the threats that it leaves.
//!
//! A threat is useful if it is not directly above one of the opponent's, who would have won by then. It is worth
//! most right above a cell that can be played, because nobody but its owner can play there any more. A line
//! counts that one player may still make; one that has a stone of one's own counts most. In the opening more counts
//! (`opening`). The weights say how well a move keeps alpha-beta from trying others first; they make no difference to
//! what is true.

use crate::Move;
use crate::connect4::lines::{line_starts, lines_from};
use crate::connect4::opening::OpeningWeights;
use crate::connect4::{Bitboard, Connect4, Stones};

/// What counts for a move, and how much. Whatever the weights are, values stay the same; searches take longer or
/// shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// A useful threat.
    pub useful: i32,
    /// What it is worth more right above a cell that can be played.
    pub next: i32,
    /// What it is worth more two cells above one that can be played.
    pub after_next: i32,
    /// A line through the cell: the more there are, the nearer is the cell to the centre.
    pub line: i32,
    /// A line that has no stone of the opponent's.
    pub own: i32,
    /// A line that has none of one's own.
    pub theirs: i32,
    /// A line that has a stone of one's own, and none of the opponent's.
    pub begun: i32,
    /// A reply that does not lose at once.
    pub reply: i32,
    /// What counts beside these in the opening.
    pub opening: OpeningWeights,
}

impl Default for Weights {
    /// Those in use; `common/search/examples/order.rs` looks for better ones.
    fn default() -> Weights {
        Weights {
            useful: 29,
            next: 36,
            after_next: 20,
            line: 3,
            own: 2,
            theirs: 1,
            begun: 7,
            reply: -16,
            opening: OpeningWeights::default(),
        }
    }
}

/// The lines of four through each cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines<B> {
    /// For each bit of a board and each direction, the first cells of the lines through it. Some may be off the board,
    /// or begin lines that leave it: no [`Windows`] has these.
    begin: Box<[[B; 4]]>,
    /// For each bit of a board, the lines through it.
    through: Box<[Box<[B]>]>,
}

/// The first cells of the lines of each direction whose cells are all in some set.
type Windows<B> = [B; 4];

/// How many bits lie between two neighbours of a line, for each direction; `up` is the number of bits of a column.
#[inline(always)]
fn directions(up: usize) -> [usize; 4] {
    [1, up, up - 1, up + 1]
}

impl<B: Bitboard> Lines<B> {
    /// The lines of a board with the cells `full`, in `width` columns of `height` cells.
    pub fn of(full: B, width: u32, height: u32) -> Lines<B> {
        let up = height as usize + 1;
        let bits = size_of::<B>() * 8;
        let begin: Box<[[B; 4]]> = (0..bits)
            .map(|cell| {
                directions(up).map(|step| {
                    let firsts = (0..4).filter_map(|back| cell.checked_sub(back * step));
                    firsts.fold(B::zero(), |begin, first| begin | B::one() << first)
                })
            })
            .collect();
        let starts = windows(full, up, width >= 4);
        let through = begin.iter().map(|begin| {
            let lines = (0..4).flat_map(|i| lines_from(begin[i] & starts[i], directions(up)[i]));
            lines.collect()
        });
        let through = through.collect();
        Lines { begin, through }
    }

    /// The lines through a cell; none without one.
    #[inline]
    pub fn through(&self, cell: B) -> &[B] {
        self.through.get(cell.trailing_zeros() as usize).map_or(&[], |lines| lines)
    }
}

/// The lines in `cells`. A board that is not `wide`, with less than four columns, has none but upright ones; its columns
/// may be too long to be shifted by.
#[inline(always)]
fn windows<B: Bitboard>(cells: B, up: usize, wide: bool) -> Windows<B> {
    let [upright, level, falling, rising] = directions(up);
    let along = |step| if wide { line_starts(cells, step) } else { B::zero() };
    [line_starts(cells, upright), along(level), along(falling), along(rising)]
}

/// How many of the lines that begin in `begin` are among those that `of` has for each direction.
#[inline(always)]
fn count<B: Bitboard>(begin: &[B; 4], of: impl Fn(usize) -> B) -> i32 {
    (0..4).map(|direction| (begin[direction] & of(direction)).count_ones() as i32).sum()
}

impl<B: Bitboard> Connect4<B> {
    /// Sets how much each of these legal moves promises to the player who makes it.
    #[inline(always)]
    pub(super) fn weigh_lines(&self, position: Stones<B>, moves: &mut [(Move, i32)], up: usize) {
        let Stones { mover, all, completed_by_opponent, .. } = position;
        let opponent = mover ^ all;
        let playable = self.playable(all);
        let ones = |cells: B| cells.count_ones() as i32;
        let wide = self.width >= 4;
        let weights = &self.weights;
        let own = windows(self.full ^ opponent, up, wide);
        let theirs = windows(self.full ^ mover, up, wide);
        for (mv, promise) in &mut *moves {
            let cell = playable & self.column(u32::from(mv.0));
            let threats = self.completing(mover | cell, up) & !(all | cell);
            let useful = threats & !((completed_by_opponent & !all) << 1);
            let next = playable ^ cell | (cell << 1) & self.full;
            let above = (next << 1) & self.full;
            let replies = next & !(threats >> 1);
            let begin = &self.lines.begin[cell.trailing_zeros() as usize];
            *promise = weights.useful * ones(useful)
                + weights.next * ones(useful & above)
                + weights.after_next * ones(useful & (above << 1))
                + weights.reply * ones(replies)
                + weights.line * self.lines.through(cell).len() as i32
                + weights.own * count(begin, |i| own[i])
                + weights.theirs * count(begin, |i| theirs[i])
                + weights.begun * count(begin, |i| own[i] & !theirs[i]);
        }
        if self.is_opening(all) {
            self.weigh_opening(position, moves);
        }
    }
}

#[cfg(test)]
mod tests;
