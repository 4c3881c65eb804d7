//! Boards that are written out, and what is known of a position beside its value by the rules alone.

use std::collections::HashMap;

use super::*;

/// All rules but that of double threats, which settle some boards before anything else of them is asked.
pub(super) fn without_double_threats() -> Rules {
    Rules { double_threat: false, ..Rules::default() }
}

/// A board as rows from the top, with these rules: Max, who begins, has as many stones as Min or one more.
pub(super) fn written_out(rows: &[&str]) -> (Connect4<u64>, Stones<u64>) {
    let (width, height) = (rows[0].len() as u32, rows.len() as u32);
    let game = Connect4::new(width, height).unwrap().with_rules(without_double_threats());
    let (mut max, mut all) = (0u64, 0u64);
    for (row, text) in (0..height).rev().zip(rows) {
        for (column, stone) in (0..width).zip(text.chars()) {
            let cell = if stone == '.' { 0 } else { game.cell(column, row) };
            all |= cell;
            max |= if stone == 'x' { cell } else { 0 };
        }
    }
    let more = max.count_ones() - (all ^ max).count_ones();
    assert!(more < 2, "{more} stones more");
    let position = game.position(if more == 0 { max } else { all ^ max }, all);
    (game, position)
}

/// The value, by the rules alone.
pub(super) fn value(
    game: &Connect4<u64>,
    position: &mut Stones<u64>,
    known: &mut HashMap<u64, Outcome>,
) -> Outcome {
    if let Some(outcome) = game.outcome(position) {
        return outcome;
    }
    let key = game.plain_key(*position);
    if let Some(&value) = known.get(&key) {
        return value;
    }
    let mut moves = MoveList::new();
    game.moves(position, &mut moves);
    let values = moves.iter().map(|&mv| {
        game.play(position, mv);
        let value = value(game, position, known);
        game.undo(position, mv);
        value
    });
    let values: Vec<Outcome> = values.collect();
    let best = match game.to_move(position) {
        Player::Max => values.into_iter().max(),
        Player::Min => values.into_iter().min(),
    };
    let best = best.expect("a game that goes on has a move");
    known.insert(key, best);
    best
}

/// Whether the bounds say anything.
pub(super) fn tells(game: &Connect4<u64>, position: Stones<u64>) -> bool {
    game.static_bounds(&position) != game.scale().bounds()
}

/// Checks that the bounds hold; whether they say anything.
pub(super) fn check(game: &Connect4<u64>, position: Stones<u64>) -> bool {
    let bounds = game.static_bounds(&position);
    let value = value(game, &mut position.clone(), &mut HashMap::default());
    let holds = (bounds.lower..=bounds.upper).contains(&value);
    assert!(holds, "{bounds:?}, but {value:?}:\n{}", game.show(&position));
    tells(game, position)
}
