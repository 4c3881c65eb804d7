//! The reference that searches are tested against: minimax by the definition, with no table, no
//! bounds, no order and no pruning. It shares nothing with the searches but the game's rules.
//! And the positions of random games, to test them on.

use jlpns_games::{Game, Move, MoveList, Outcome, Player};

/// The value of `position`, unless that takes more than `limit` positions to find out. The
/// position is the same afterwards.
pub fn value<G: Game>(game: &G, position: &mut G::Position, limit: u64) -> Option<Outcome> {
    let mut left = limit;
    minimax(game, position, &mut left)
}

/// The position after a game's first moves, and the moves: each number chooses one of those that are
/// legal. A game that they would end is left one move before its end.
pub fn after_choices<G: Game>(game: &G, choices: &[usize]) -> (G::Position, Vec<Move>) {
    let mut position = game.start();
    let mut played = Vec::new();
    for &choice in choices {
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        let mv = moves[choice % moves.len()];
        game.play(&mut position, mv);
        if game.outcome(&position).is_some() {
            game.undo(&mut position, mv);
            break;
        }
        played.push(mv);
    }
    (position, played)
}

fn minimax<G: Game>(game: &G, position: &mut G::Position, left: &mut u64) -> Option<Outcome> {
    *left = left.checked_sub(1)?;
    if let Some(outcome) = game.outcome(position) {
        return Some(outcome);
    }
    let mut moves = MoveList::new();
    game.moves(position, &mut moves);
    let mut best = None;
    let mut in_time = true;
    for mv in moves {
        game.play(position, mv);
        let value = minimax(game, position, left);
        game.undo(position, mv);
        in_time &= value.is_some();
        if !in_time {
            break;
        }
        best = match game.to_move(position) {
            Player::Max => best.max(value),
            Player::Min => best.map_or(value, |best: Outcome| value.map(|v| v.min(best))),
        };
    }
    best.filter(|_| in_time)
}

#[cfg(test)]
mod tests {
    use jlpns_games::connect4::Connect4;
    use jlpns_games::woodpush::Woodpush;

    use super::*;

    #[test]
    fn small_starts_have_the_values_of_the_tables() {
        let connect4 = Connect4::<u64>::new(3, 4).unwrap();
        assert_eq!(value(&connect4, &mut connect4.start(), 1_000_000), Some(Outcome(1)));
        let woodpush = Woodpush::standard(6).unwrap();
        let minus_one = woodpush.scale().with_score(-1);
        assert_eq!(value(&woodpush, &mut woodpush.start(), 1_000_000), minus_one);
    }

    #[test]
    fn what_takes_too_long_has_no_value() {
        let connect4 = Connect4::<u64>::new(7, 6).unwrap();
        let mut position = connect4.start();
        assert_eq!(value(&connect4, &mut position, 1000), None);
        assert_eq!(position, connect4.start());
    }
}
