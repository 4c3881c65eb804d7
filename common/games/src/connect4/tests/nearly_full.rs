//! The follow-up rule where it has most to say: on boards that are full but for a cell or a few in
//! each column, with many odd columns to be paired. Games at random seldom come there.

use std::collections::HashMap;

use super::written_out::{check, tells, value, without_double_threats, written_out};
use super::*;

/// A board as rows from the top, with as many stones of each player: Max is to move.
fn board(rows: &[&str]) -> (Connect4<u64>, Stones<u64>) {
    let (game, position) = written_out(rows);
    assert_eq!(game.to_move(&position), Player::Max);
    (game, position)
}

/// The lowest cells of two odd columns in a line of the leader's are made a pair, which breaks all the
/// lines through both of them.
#[test]
fn lines_through_two_odd_columns_are_broken_by_a_pair() {
    for rows in [
        &["....xx", "oxooox", "xxxooo", "ooxoxx"][..],
        &["...xx", ".xooo", "ooxox", "ooxxx"],
        // Two lines through the same two cells.
        &["x..xx", "oooxo", "xoxxo", "ooxox"],
        &["oxx..x", "xxoxxo", "oxxoxo", "oooxoo"],
    ] {
        let (game, position) = board(rows);
        assert!(check(&game, position), "{rows:?}");
        let rules = Rules { pairs: false, ..without_double_threats() };
        assert!(!tells(&game.clone().with_rules(rules), position), "{rows:?}");
    }
}

/// A line through more than two of the lowest cells of odd columns makes no pair of them, and is
/// broken only if two of its cells are a pair for another line's sake.
#[test]
fn longer_lines_through_odd_columns_must_be_broken_by_the_pairs() {
    for rows in [
        &["....x..", "o.xooox", "o.oxxxo", "xxoxoox"][..],
        &["..x....", "xooox.o", "oxxxo.o", "oxxoxox"],
        &["o...x....", "x.xoxoxo.", "o.oxooxxx", "xxoxoxooo"],
        &[".o...x...", ".o.xooxxo", "oo.xxooox", "xxxooxxxo"],
        &["....x...", "..xoxxox", "o.oxooxx", "xxoxxxoo", "ooxxooxx", "ooxoooxo"],
    ] {
        let (game, position) = board(rows);
        assert_eq!(value(&game, &mut position.clone(), &mut HashMap::default()), WIN);
        assert_eq!(game.static_bounds(&position).upper, WIN, "{rows:?}");
    }
}

/// The third cell of a column with a vertical pair is given up: the follower's line through it may
/// never come, so no line of the leader's comes too late for it.
#[test]
fn cells_that_are_given_up_make_no_line_come_too_late() {
    for rows in [
        &["....", "....", ".o.o", ".o.x", ".x.o", "xoox", "xoxx"][..],
        &["...o", "...x", ".o.o", ".o.x", ".x.o", "xoox", "xoxx"],
    ] {
        let (game, position) = board(rows);
        assert_eq!(value(&game, &mut position.clone(), &mut HashMap::default()), DRAW);
        assert!(game.static_bounds(&position).upper >= DRAW, "{rows:?}");
    }
}

/// With a vertical pair all lines are looked at once more, and some of them come too late for cells
/// that are not given up. Boards drawn at random hardly ever need both.
#[test]
fn lines_come_too_late_beside_a_vertical_pair() {
    for rows in [
        &["....ox", ".x..xo", ".o..oo", "xo..xo", "xoxoox", "oxoxxx"][..],
        &["......", "xx...o", "oo...o", "xo..xo", "oxoxxx"],
        &["o..xx...", "x..ox...", "xx.oo...", "oxoxo..x", "ooxooxox"],
        &[".x....o", ".x....o", ".o..o.x", "xo..oxo", "xoxxooo", "oxxoxxx"],
    ] {
        let (game, position) = board(rows);
        assert!(check(&game, position), "{rows:?}");
        let all = without_double_threats();
        for rules in [Rules { vertical: false, ..all }, Rules { aftereven: false, ..all }] {
            assert!(!tells(&game.clone().with_rules(rules), position), "{rules:?}: {rows:?}");
        }
    }
}

/// The third cells of two columns with vertical pairs may be all that the follower's line needs:
/// both are given up, so the leader does not lose for it.
#[test]
fn a_line_through_cells_that_are_given_up_is_no_loss() {
    for rows in [
        &["...oo.", "oo.xo.", "xx.oo.", "xoxoxx", "oxxxox"][..],
        &["..o.o.", "xoo.x.", "oxx.o.", "xooxxx", "xooxox"],
        &["o..o..", "x..oxo", "x..oxx", "oxxxoo", "xxxooo", "xoooxx"],
    ] {
        let (game, position) = board(rows);
        assert_eq!(value(&game, &mut position.clone(), &mut HashMap::default()), DRAW);
        assert_eq!(game.static_bounds(&position).upper, DRAW, "{rows:?}");
    }
}

/// Two columns with vertical pairs have a partner each: with one between them, its lowest cell and the
/// third of either column would be kept apart, and the leader gets one or the other of these pairs.
#[test]
fn vertical_pairs_do_not_share_a_partner() {
    for rows in [
        &[".xx.o.x.", ".xoxx.oo", ".oxoo.xx", "xoxox.xo", "xooxx.oo", "oxoooxxx", "xoooxxoo"][..],
        &[".xx.o.o.", ".xoxx.oo", ".ooxo.xx", "xoxox.xo", "xooxo.xo", "oxoxoxoo", "oxoxoxxx"],
        &[".xx.o.x.", ".ooxx.ox", ".xxoo.xo", "xooox.xo", "xxooo.xo", "oxxxoxox", "xoooxxoo"],
    ] {
        let (game, position) = board(rows);
        assert_eq!(value(&game, &mut position.clone(), &mut HashMap::default()), WIN);
        assert_eq!(game.static_bounds(&position).upper, WIN, "{rows:?}");
    }
}

/// Below a threat in an odd column the follower gets the second, fourth, ... empty cell and not the
/// third, fifth, ...: the leader's lines through the others do not come too late.
#[test]
fn an_odd_column_is_followed_from_its_lowest_cell_up_to_a_threat() {
    for rows in [
        &["o.oxo", "x.xxo", "o.oxx", "x.xoo", "x.oxx", "o.oxx", "x.xox", "ooxoo", "xooox"][..],
        &["x.xxo", "x.xxo", "o.oox", "o.xoo", "o.oxo", "x.oxx", "x.xoo"],
        &["o.oxx", "x.ooo", "x.xxx", "o.oxx", "x.xoo", "x.oxo", "x.ooo"],
        &["xox.oxx", "ooo.ooo", "xxx.xxx", "xxo.oxo", "ooo.xoo", "oxo.xxx", "oox.xox"],
    ] {
        let (game, position) = board(rows);
        assert_eq!(value(&game, &mut position.clone(), &mut HashMap::default()), WIN);
        assert_eq!(game.static_bounds(&position).upper, WIN, "{rows:?}");
    }
}

/// A line upwards and one to the right may begin with the same cell: that the leader could make both
/// is not that there is none.
#[test]
fn two_lines_from_one_cell_are_lines() {
    for (rows, wanted) in [
        (&["....oo", "..x.ox", "..x.oo", "x.o.xo", "x.x.ox"][..], WIN),
        (&["....oo", "..o.oo", "..x.xx", "x.o.xo", "x.x.ox"], WIN),
        (&["....oo", "..x.ox", "..x.oo", "x.o.xx", "x.x.oo"], DRAW),
        (&[".....o", "....ox", "..x.oo", "x.o.xo", "x.x.ox"], DRAW),
    ] {
        let (game, position) = board(rows);
        check(&game, position);
        assert_eq!(value(&game, &mut position.clone(), &mut HashMap::default()), wanted);
    }
}

/// A linear congruential generator: the same boards in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A board with so many empty cells in each column, Max to move, without a line; nothing if the
/// stones drawn before leave none but a line.
fn drawn(game: &Connect4<u64>, empty: &[u32], numbers: &mut Numbers) -> Option<Stones<u64>> {
    let columns = (0..game.width).zip(empty);
    let cells = columns.flat_map(|(column, &empty)| {
        (0..game.height - empty.min(game.height)).map(move |row| game.cell(column, row))
    });
    let mut cells: Vec<u64> = cells.collect();
    let mut left = [cells.len() / 2; 2];
    let mut stones = [0; 2];
    while !cells.is_empty() {
        let cell = cells.swap_remove(numbers.below(cells.len()));
        let first = usize::from(numbers.below(left[0] + left[1]) >= left[0]);
        let fits = |side: usize| {
            left[side] > 0 && !game.has_four(stones[side] | cell, game.height as usize + 1)
        };
        let side = [first, 1 - first].into_iter().find(|&side| fits(side))?;
        stones[side] |= cell;
        left[side] -= 1;
    }
    Some(game.position(stones[0], stones[0] | stones[1]))
}

/// Checks what is told of a board drawn with so many empty cells in each column; whether anything
/// is. Boards that are too large, or that it is not Max's turn on, are passed over.
fn check_drawn(height: u32, empty: &[u32], numbers: &mut Numbers) -> bool {
    let width = empty.len() as u32;
    let stones: u32 = empty.iter().map(|empty| height - empty.min(&height)).sum();
    if width * (height + 1) > 64 || width * height - stones > 13 || stones % 2 == 1 {
        return false;
    }
    let game = Connect4::new(width, height).unwrap();
    drawn(&game, empty, numbers).is_some_and(|position| check(&game, position))
}

#[test]
fn boards_that_are_nearly_full_are_told_right() {
    const EMPTY: [&[u32]; 5] = [
        &[1, 1, 1, 1, 1, 0, 2, 3],
        &[1, 1, 1, 0],
        &[1, 1, 3],
        &[3, 3, 3, 1, 2],
        &[1, 1, 5, 3, 2, 0],
    ];
    let mut numbers = Numbers(20_260_601);
    let mut told = 0;
    for _ in 0..40_000 {
        let (width, height) = (4 + numbers.below(9) as u32, 4 + numbers.below(4) as u32);
        let kinds = EMPTY[numbers.below(EMPTY.len())];
        let empty: Vec<u32> = (0..width).map(|_| kinds[numbers.below(kinds.len())]).collect();
        told += u32::from(check_drawn(height, &empty, &mut numbers));
    }
    assert!(told > 1000, "{told}");
}

/// A threat in an odd column makes most of a difference where the column is high, and there are few
/// others.
#[test]
fn boards_with_one_column_to_fill_are_told_right() {
    let mut numbers = Numbers(20_260_602);
    let mut told = 0;
    for _ in 0..20_000 {
        let mut empty = vec![0; 4 + numbers.below(4)];
        let column = numbers.below(empty.len());
        let tall = [5, 7, 9][numbers.below(3)];
        empty[column] = tall;
        if numbers.below(2) == 0 {
            let other = numbers.below(empty.len());
            empty[other] = empty[other].max(2);
        }
        let height = tall + numbers.below(3) as u32;
        told += u32::from(check_drawn(height, &empty, &mut numbers));
    }
    assert!(told > 1000, "{told}");
}
