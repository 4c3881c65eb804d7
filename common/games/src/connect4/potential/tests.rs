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
    opening: OpeningWeights {
        two_of_theirs: 11,
        own_cell: 37,
        their_cell: 101,
        theirs_above: 1_009,
        own_above: 4_001,
    },
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
    let stone = |columns: &[Vec<bool>], (x, y): Cell| columns[x as usize].get(y as usize).copied();
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
    if 3 * columns.iter().map(Vec::len).sum::<usize>() < columns.len() * height as usize {
        promise += counted_in_opening(columns, height, cell);
    }
    promise
}

/// What a move to `cell` promises more in the opening, counted cell by cell.
fn counted_in_opening(columns: &[Vec<bool>], height: i32, cell: Cell) -> i32 {
    let stones = columns.iter().map(Vec::len).sum::<usize>();
    let is_odd_board = (columns.len() * height as usize) % 2 == 1;
    let answers = (stones % 2 == 0) == is_odd_board;
    // Who answers gets every second cell of a column from the top.
    let gets = |(_, y): Cell| ((height - y) % 2 == 1) == answers;
    let stone = |(x, y): Cell| columns[x as usize].get(y as usize).copied();
    let above = (cell.0, cell.1 + 1);
    let weights = WEIGHTS.opening;
    let mut promise = 0;
    for line in lines(columns.len() as i32, height) {
        let number = |owner| line.iter().filter(|&&c| stone(c) == Some(owner)).count() as i32;
        let (own, theirs) = (number(true), number(false));
        let left = line.iter().filter(|&&c| c != cell && stone(c).is_none());
        let (mine, others): (Vec<Cell>, Vec<Cell>) = left.partition(|&&c| gets(c));
        if line.contains(&cell) {
            if theirs == 0 {
                promise += weights.own_cell * (own + 1) * mine.len() as i32;
            }
            if own == 0 {
                promise += weights.their_cell * theirs * others.len() as i32;
                promise += if theirs == 2 { weights.two_of_theirs } else { 0 };
            }
        }
        if line.contains(&above) {
            if own == 0 && !line.contains(&cell) {
                promise += weights.theirs_above * (theirs + 1);
            }
            promise += if theirs == 0 { weights.own_above * (own + 1) } else { 0 };
        }
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
