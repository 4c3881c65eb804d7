//! How much a move promises: the lines of four through its cell, and the threats that it leaves.
//!
//! A threat is useful if it is not directly above one of the opponent's, who would have won by then. It is worth
//! most right above a cell that can be played, because nobody but its owner can play there any more. A line
//! counts that one player may still make; one that has a stone of one's own counts most. The weights say how
//! well a move keeps alpha-beta from trying others first; they make no difference to what is true.

use crate::Move;
use crate::connect4::{Bitboard, Connect4, Stones};

/// A useful threat.
const USEFUL: i32 = 21;
/// What it is worth more right above a cell that can be played, and two cells above one.
const NEXT: i32 = 63;
const AFTER_NEXT: i32 = 14;
/// A line through the cell: the more there are, the nearer is the cell to the centre.
const LINE: i32 = 3;
/// A line that has no stone of the opponent's, or none of one's own.
const OPEN: i32 = 3;
/// An open line in which there is a stone of one's own.
const BEGUN: i32 = 8;
/// A reply that does not lose at once.
const REPLY: i32 = -5;

/// The lines of four through each cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines<B> {
    /// The other three cells of each line, those of one cell beside each other.
    others: Box<[B]>,
    /// Where the lines of each bit of a board begin; they end where the next one's begin.
    begin: Box<[u32]>,
}

impl<B: Bitboard> Lines<B> {
    /// The lines of a board with the cells `full`, in columns of `height` cells.
    pub fn of(full: B, height: u32) -> Lines<B> {
        let bits = (size_of::<B>() * 8) as i32;
        let up = height as i32 + 1;
        let bit = |index: i32| B::one() << index as usize;
        let on_board = |index: &i32| (0..bits).contains(index) && !(full & bit(*index)).is_zero();
        let (mut others, mut begin) = (Vec::new(), vec![0]);
        for cell in 0..bits {
            let firsts = [1, up, up - 1, up + 1].into_iter().flat_map(|step| {
                (0..4).map(move |back| [0, 1, 2, 3].map(|along| cell + (along - back) * step))
            });
            for line in firsts.filter(|line| line.iter().all(on_board)) {
                let rest = line.into_iter().filter(|&other| other != cell);
                others.push(rest.fold(B::zero(), |rest, other| rest | bit(other)));
            }
            begin.push(others.len() as u32);
        }
        Lines { others: others.into(), begin: begin.into() }
    }

    /// The other three cells of each line through the cell with this bit.
    #[inline]
    fn through(&self, bit: u32) -> &[B] {
        let bit = bit as usize;
        &self.others[self.begin[bit] as usize..self.begin[bit + 1] as usize]
    }
}

impl<B: Bitboard> Connect4<B> {
    /// Sets how much each of these legal moves promises to the player who makes it.
    #[inline(always)]
    pub(super) fn weigh_lines(&self, position: Stones<B>, moves: &mut [(Move, i32)], up: usize) {
        let Stones { mover, all, completed_by_opponent, .. } = position;
        let opponent = mover ^ all;
        let playable = self.playable(all);
        let count = |cells: B| cells.count_ones() as i32;
        for (mv, promise) in moves {
            let cell = playable & self.column(u32::from(mv.0));
            let threats = self.completing(mover | cell, up) & !(all | cell);
            let useful = threats & !((completed_by_opponent & !all) << 1);
            let next = playable ^ cell | (cell << 1) & self.full;
            let above = (next << 1) & self.full;
            let replies = next & !(threats >> 1);
            let lines = self.lines.through(cell.trailing_zeros());
            let mut sum = USEFUL * count(useful)
                + NEXT * count(useful & above)
                + AFTER_NEXT * count(useful & (above << 1))
                + REPLY * count(replies)
                + LINE * lines.len() as i32;
            for &line in lines {
                let may_be_theirs = i32::from((line & mover).is_zero());
                let may_be_own = i32::from((line & opponent).is_zero());
                sum +=
                    OPEN * (may_be_theirs + may_be_own) + BEGUN * may_be_own * (1 - may_be_theirs);
            }
            *promise = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Game, MoveList};

    type Cell = (i32, i32);

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
                    promise += USEFUL;
                    promise += if y == filled + 1 { NEXT } else { 0 };
                    promise += if y == filled + 2 { AFTER_NEXT } else { 0 };
                }
            }
            if filled < height && !threatens(&after, (x as i32, filled + 1), true) {
                promise += REPLY;
            }
        }
        for line in all_lines.iter().filter(|line| line.contains(&cell)) {
            let has = |owner| line.iter().any(|&c| stone(columns, c) == Some(owner));
            promise += LINE;
            promise += if has(false) { 0 } else { OPEN };
            promise += if has(true) { 0 } else { OPEN };
            promise += if has(true) && !has(false) { BEGUN } else { 0 };
        }
        promise
    }

    /// Plays the moves chosen by these numbers, and compares all promises on the way; those of mirror images
    /// too.
    fn agrees<B: Bitboard>(width: u32, height: u32, choices: &[usize]) {
        let game = Connect4::<B>::new(width, height).expect("a board that fits");
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
        }
    }
}
