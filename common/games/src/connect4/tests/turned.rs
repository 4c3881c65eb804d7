//! What columns that are turned must not be used for at the same time: positions that would be told wrong without one of the
//! conditions, found among millions of late ones. Those at random seldom meet these conditions.

use super::written_out::{check, written_out};

/// Checks what is known of each of these boards.
fn check_all(boards: &[&[&str]]) {
    for rows in boards {
        let (game, position) = written_out(rows);
        check(&game, position);
    }
}

/// A threat keeps what is above it as long as nobody plays right below it, so the lowest cell of its column is no answer.
#[test]
fn a_column_with_a_threat_has_no_pair() {
    check_all(&[
        &["..x..o", "..xx.o", "..xo.x", "ooox.o", "xxxo.o", "xoox.x"],
        &["..ox.x", "o.ox.o", "x.ox.o", "x.xo.x", "o.xo.x", "x.oo.x"],
        &[".o..o", ".xx.x", ".oo.x", ".xo.x", ".xo.o", ".xx.o", "ooxxo"],
        &["..xx..", "x.oo..", "o.xx..", "x.ooox", "x.ooxo", "o.xoxo", "xxoxox"],
    ]);
}

/// The lowest cell of an odd column that is turned is answered in its column, and so is none of a pair.
#[test]
fn the_lowest_cell_of_an_odd_column_is_not_paired_and_turned() {
    check_all(&[
        &["...o...", "o..xxo.", "o..oox.", "xoxxxo.", "xxoxoxo"],
        &["..x..x", "..oo.o", "..xx.o", ".xxo.x", ".oxxoo"],
        &["..xo...", ".oxx..o", ".xoo..x", "xoxxoox", "oooxoxx"],
        &["..x...x", "o.oo..o", "o.xx..o", "xxxoxxo", "ooxooxx", "xooxxxo"],
    ]);
}

/// An odd column in which the leader could go on upwards is free beside a turned pair, which a column with a threat that
/// cuts it off cannot be.
#[test]
fn no_pair_is_turned_beside_an_odd_column_that_can_neither_be_followed_nor_free() {
    check_all(&[
        &["...o..", ".oxx..", ".xoo..", "xxxoo.", "xxooxo"],
        &[".x..xo.", ".o..xx.", "oo.xxo.", "xxoxooo", "xxoxxoo"],
        &[".x..xo.", ".o.oxx.", "ooxxxo.", "xxoxooo", "xxoxxoo"],
        &["...ox.", "...xo.", "o.xoo.", "xoooxx", "oxxxox", "xxoxoo", "xoxoox"],
    ]);
}
