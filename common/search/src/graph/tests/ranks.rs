//! Effort numbers with what the game says of the moves.

use super::*;
use crate::effort::Effort;
use crate::job::ChildFindings;

#[test]
fn promising_moves_have_less_effort_and_what_is_settled_stays_so() {
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let settings = GraphSettings {
        initialisation: Initialisation::Mobility,
        knowledge: true,
        ranked: true,
        ..plain(1 << 20)
    };
    let mut position = game.start();
    let question = Question::Threshold(Threshold(2));
    let graph = Graph::new(game, position, question, One, settings);
    let moves: Vec<Move> = (0..7).map(Move).collect();
    let settled = EffortPair::solved(false);
    let of = |mv| if mv == Move(0) { settled } else { EffortPair::UNIT };
    let found = moves.iter().map(|&mv| ChildFindings { mv, efforts: vec![of(mv)] });
    let ranked = graph.ranked(&mut position, &moves, &found.collect::<Vec<_>>());
    assert_eq!(ranked[0].efforts, [settled]);
    let proof = |column: usize| ranked[column].efforts[0].proof;
    assert!(proof(3) < proof(2) && proof(2) < proof(1) && proof(1) < proof(6));
    assert!(ranked[1..].iter().all(|child| !child.efforts[0].is_solved()));
    // Its numbers stay beside the game's word: 8 for each of seven answers, and 1.
    assert_eq!(proof(3), Effort::finite(57));
}
