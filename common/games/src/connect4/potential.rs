//! How much a move promises: the lines of four through its cell, and the threats that it leaves.
//!
//! A threat is useful if it is not directly above one of the opponent's, who would have won by then. It is worth
//! most right above a cell that can be played, because nobody but its owner can play there any more. A line
//! counts that one player may still make; one that has a stone of one's own counts most. The weights say how
//! well a move keeps alpha-beta from trying others first; they make no difference to what is true.

use crate::Move;
use crate::connect4::{Bitboard, Connect4, Stones, line_starts};

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
        }
    }
}

/// Where the lines of four through each cell begin.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines<B> {
    /// For each bit of a board and each direction, the first cells of the lines through it. Some may be off the board,
    /// or begin lines that leave it: no [`Windows`] has these.
    begin: Box<[[B; 4]]>,
    /// How many lines there are through each cell.
    number: Box<[i32]>,
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
        let lines = windows(full, up, width >= 4);
        let number = begin.iter().map(|begin| count(begin, |i| lines[i])).collect();
        Lines { begin, number }
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
        for (mv, promise) in moves {
            let cell = playable & self.column(u32::from(mv.0));
            let threats = self.completing(mover | cell, up) & !(all | cell);
            let useful = threats & !((completed_by_opponent & !all) << 1);
            let next = playable ^ cell | (cell << 1) & self.full;
            let above = (next << 1) & self.full;
            let replies = next & !(threats >> 1);
            let bit = cell.trailing_zeros() as usize;
            let begin = &self.lines.begin[bit];
            *promise = weights.useful * ones(useful)
                + weights.next * ones(useful & above)
                + weights.after_next * ones(useful & (above << 1))
                + weights.reply * ones(replies)
                + weights.line * self.lines.number[bit]
                + weights.own * count(begin, |i| own[i])
                + weights.theirs * count(begin, |i| theirs[i])
                + weights.begun * count(begin, |i| own[i] & !theirs[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Game, MoveList};

    type Cell = (i32, i32);

    /// Weights of which none stands for another.
    const WEIGHTS: Weights = Weights {
        useful: 1,
        next: 100,
        after_next: 10_000,
        line: 7,
        own: 3_000,
        theirs: 500_000,
        begun: 20_000_000,
        reply: -31,
    };

    /// The lines of four of a board, each as its cells.
    fn lines(width: i32, height: i32) -> Vec<[Cell; 4]> {
        let mut lines = Vec::new();
        for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
            for (dx, dy) in [(0, 1), (1, 0), (1, -1), (1, 1)] {
                let line = [0, 1, 2, 3].map(|along| (x + along * dx, y + along * dy));
                let on_board = |&(x, y): &Cell| (0..width).contains(&x) && (0..height).contains(&y);
                if line.iter().all(on_board) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// The promise of a move, counted cell by cell. `columns` hold the stones from the bottom, true for those of
    /// the player who moves.
    fn counted(columns: &[Vec<bool>], height: i32, column: usize) -> i32 {
        let all_lines = lines(columns.len() as i32, height);
        let stone =
            |columns: &[Vec<bool>], (x, y): Cell| columns[x as usize].get(y as usize).copied();
        let cell = (column as i32, columns[column].len() as i32);
        let mut after = columns.to_vec();
        after[column].push(true);
        let threatens = |columns: &[Vec<bool>], cell: Cell, owner: bool| {
            stone(columns, cell).is_none()
                && all_lines.iter().any(|line| {
                    line.contains(&cell)
                        && line.iter().all(|&c| c == cell || stone(columns, c) == Some(owner))
                })
        };
        let mut promise = 0;
        for (x, column) in after.iter().enumerate() {
            let filled = column.len() as i32;
            for y in filled..height {
                let at = (x as i32, y);
                if threatens(&after, at, true) && !threatens(columns, (at.0, y - 1), false) {
                    promise += WEIGHTS.useful;
                    promise += if y == filled + 1 { WEIGHTS.next } else { 0 };
                    promise += if y == filled + 2 { WEIGHTS.after_next } else { 0 };
                }
            }
            if filled < height && !threatens(&after, (x as i32, filled + 1), true) {
                promise += WEIGHTS.reply;
            }
        }
        for line in all_lines.iter().filter(|line| line.contains(&cell)) {
            let has = |owner| line.iter().any(|&c| stone(columns, c) == Some(owner));
            promise += WEIGHTS.line;
            promise += if has(false) { 0 } else { WEIGHTS.own };
            promise += if has(true) { 0 } else { WEIGHTS.theirs };
            promise += if has(true) && !has(false) { WEIGHTS.begun } else { 0 };
        }
        promise
    }

    /// Plays the moves chosen by these numbers, and compares all promises on the way; those of mirror images
    /// too.
    fn agrees<B: Bitboard>(width: u32, height: u32, choices: &[usize]) {
        let game = Connect4::<B>::new(width, height).expect("a board that fits");
        let game = game.with_weights(WEIGHTS);
        let (mut position, mut image) = (game.start(), game.start());
        let mut columns = vec![Vec::new(); width as usize];
        for &choice in choices {
            if game.outcome(&position).is_some() {
                return;
            }
            let mut moves = MoveList::new();
            game.moves(&position, &mut moves);
            let mut promises: Vec<(Move, i32)> = moves.iter().map(|&mv| (mv, 7)).collect();
            game.promises(&position, &mut promises);
            for &(mv, promise) in &promises {
                assert_eq!(
                    promise,
                    counted(&columns, height as i32, usize::from(mv.0)),
                    "{columns:?} {mv:?}"
                );
                let mirrored = game.mirrored_move(&position, mv).expect("there is one");
                let mut mirrored = [(mirrored, 7)];
                game.promises(&image, &mut mirrored);
                assert_eq!(mirrored[0].1, promise);
            }
            let mv = moves[choice % moves.len()];
            let mirrored = game.mirrored_move(&position, mv).expect("there is one");
            game.play(&mut position, mv);
            game.play(&mut image, mirrored);
            columns[usize::from(mv.0)].push(true);
            columns.iter_mut().flatten().for_each(|owner| *owner = !*owner);
        }
    }

    proptest! {
        #[test]
        fn promises_are_what_is_counted_cell_by_cell(choices in prop::collection::vec(0usize..64, 0..60)) {
            agrees::<u64>(7, 6, &choices);
            agrees::<u64>(5, 8, &choices);
            agrees::<u64>(3, 5, &choices);
            agrees::<u64>(6, 3, &choices);
            agrees::<u128>(9, 7, &choices);
            agrees::<u64>(1, 63, &choices);
            agrees::<u128>(2, 40, &choices);
            agrees::<u64>(30, 1, &choices);
        }
    }
}
