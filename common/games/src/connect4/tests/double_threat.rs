//! Double threats against what they are by the rules: whatever the other player answers, the next stone makes a line.

use std::cell::Cell;

use proptest::test_runner::TestRunner;

use super::*;

fn legal<B: Bitboard>(game: &Connect4<B>, position: &Stones<B>) -> MoveList {
    let mut moves = MoveList::new();
    game.moves(position, &mut moves);
    moves
}

fn after<B: Bitboard>(game: &Connect4<B>, position: &Stones<B>, mv: Move) -> Stones<B> {
    let mut next = *position;
    game.play(&mut next, mv);
    next
}

/// Whether the player to move makes a line at once.
fn completes<B: Bitboard>(game: &Connect4<B>, position: &Stones<B>) -> bool {
    legal(game, position).iter().any(|&mv| after(game, position, mv).is_won())
}

/// Whether this move is a double threat, where nobody can make a line before it: it threatens to make one, and does so after every reply.
fn is_double_threat<B: Bitboard>(game: &Connect4<B>, position: &Stones<B>, mv: Move) -> bool {
    let next = after(game, position, mv);
    let threatens = completes(game, &game.position(next.mover ^ next.all, next.all));
    let replies = legal(game, &next);
    let falls_short = |&reply: &Move| {
        let next = after(game, &next, reply);
        next.is_won() || !completes(game, &next)
    };
    threatens && !replies.is_empty() && !replies.iter().any(falls_short)
}

/// Whether the only line that this move makes ready at once is to a cell below another one that it makes ready itself.
fn stacks<B: Bitboard>(game: &Connect4<B>, position: &Stones<B>, mv: Move) -> bool {
    let next = after(game, position, mv);
    let threats = next.completed_by_opponent & !next.all;
    let first = threats & game.playable(next.all);
    lowest(first) == first && !(threats & !position.completed_by_mover & (first << 1)).is_zero()
}

/// Plays on, by moves that do not lose at once as long as there are any, and compares what is said with the rules; how many double threats
/// there were.
fn follow<B: Bitboard>(width: u32, height: u32, choices: &[usize]) -> usize {
    let game = Connect4::<B>::new(width, height).expect("a size in range");
    let mut position = game.start();
    let mut found = 0;
    for &choice in choices {
        let Tactics::Open { moves, .. } = game.tactics(position) else { break };
        let said = by_height!(game.has_double_threat(position, moves));
        let mut relevant = MoveList::new();
        game.relevant_moves(&position, &mut relevant);
        let double = |&mv: &Move| is_double_threat(&game, &position, mv);
        let doubles: Vec<Move> = relevant.iter().copied().filter(double).collect();
        let shown = || format!("{doubles:?}:\n{}", game.show(&position));
        if said {
            assert!(!doubles.is_empty(), "{}", shown());
            found += 1;
        } else {
            assert!(doubles.iter().all(|&mv| stacks(&game, &position, mv)), "{}", shown());
        }
        game.play(&mut position, relevant[choice % relevant.len()]);
    }
    found
}

#[test]
fn double_threats_are_those_of_the_rules() {
    const SIZES: &[(u32, u32)] =
        &[(7, 6), (6, 5), (5, 8), (4, 4), (4, 11), (8, 7), (7, 4), (9, 3), (12, 2), (3, 9), (9, 5)];
    let mut runner = TestRunner::new(ProptestConfig { cases: 3000, ..ProptestConfig::default() });
    let found = Cell::new(0);
    let cases = (prop::sample::select(SIZES), prop::collection::vec(0usize..64, 60));
    let outcome = runner.run(&cases, |((width, height), choices)| {
        let wide = follow::<u128>(width, height, &choices);
        assert_eq!(follow::<u64>(width, height, &choices), wide);
        found.set(found.get() + wide);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(found.get() > 1000, "{} of them", found.get());
}
