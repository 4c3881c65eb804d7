//! Whether what the checker accepts is true, by brute force.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZero;

use jlpns_verify::{Failure, Header, Proved, Settings, check};

use crate::naive::{Bound, Connect4, Naive, Values, Woodpush};

/// More empty cells of Connect Four, or cells of Woodpush with two pieces each, take brute force too long.
const EMPTY: usize = 12;
const CELLS: usize = 7;
/// So many values are kept at most: fuzzers are short of memory.
const MOST: usize = 200_000;

thread_local! {
    /// Values that are known, for each spec.
    static VALUES: RefCell<HashMap<String, Values>> = RefCell::default();
}

/// Checks a file with little memory, so that positions go to disk too. A claim that is accepted and false panics.
pub fn accepted_only_if_true(file: &[u8]) -> Result<Proved, Failure> {
    let settings =
        Settings { threads: NonZero::<usize>::MIN, memory: 8 << 20, ..Settings::default() };
    let result = check(file, &settings, &mut ());
    if let Ok(proved) = &result {
        assert_true(&proved.header);
    }
    result
}

fn assert_true(header: &Header) {
    if let Some(board) = header.spec.strip_prefix("connect4:") {
        let (columns, rows) = board.split_once('x').expect("an accepted spec has both");
        let (columns, rows): (usize, usize) =
            (columns.parse().expect("a number"), rows.parse().expect("a number"));
        if columns * rows - header.moves.len() <= EMPTY {
            let names = header
                .moves
                .char_indices()
                .map(|(at, name)| &header.moves[at..][..name.len_utf8()]);
            of(header, names.fold(Connect4::new(columns, rows), |game, name| game.play(name)));
        }
    } else if let Some(board) = header.spec.strip_prefix("woodpush:") {
        let cells = board.parse().unwrap_or(board.len());
        let pieces = board.bytes().filter(|cell| b"LR".contains(cell)).count();
        if cells <= CELLS && pieces <= 4 {
            let moves = header.moves.split_inclusive(|c: char| c.is_ascii_digit());
            of(header, moves.fold(Woodpush::new(board), |game, name| game.play(name)));
        }
    }
}

fn of<G: Naive>(header: &Header, game: G) {
    let value = value(&game);
    for claim in &header.claims {
        let outcome = game.outcomes().into_iter().find(|&end| G::name(end) == claim.outcome);
        let bound = Bound(claim.at_least, outcome.expect("an accepted claim names an outcome"));
        assert!(bound.admits(value), "{claim} of {game:?} was accepted; its value is {value}");
    }
}

/// The value of a position that is small enough.
pub fn value<G: Naive>(game: &G) -> i32 {
    VALUES.with_borrow_mut(|values| {
        if values.values().map(|values| values.table.len()).sum::<usize>() > MOST {
            values.clear();
        }
        values.entry(game.spec()).or_insert_with(Values::new).of(game)
    })
}
