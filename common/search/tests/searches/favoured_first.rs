//! Whole searches for a value ask first for the best outcome of the player who is favoured.

use jlpns_games::connect4::Connect4;
use jlpns_games::{Game, Move, Outcome, Threshold};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Algorithm, Question, TranspositionTable};

/// The value that a search gives for a question about the position after these moves, and the nodes that it takes.
fn asked(
    game: &Connect4<u64>,
    moves: &[Move],
    question: Question,
    algorithm: Algorithm,
) -> (Option<Outcome>, u64) {
    let mut position = game.start();
    moves.iter().for_each(|&mv| game.play(&mut position, mv));
    let settings =
        SearchSettings { algorithm, knowledge: true, memory: 1 << 24, ..SearchSettings::default() };
    let table = TranspositionTable::with_bytes(settings.table_bytes()).expect("a small table");
    let end = search(game, &mut position, question, &settings, &table, &mut ());
    (question.bounds(&end.findings.efforts, game.scale()).value(), end.statistics.nodes)
}

#[test]
fn a_loss_on_an_even_board_is_known_by_one_question() {
    let game = Connect4::<u64>::new(6, 4).expect("a size in range");
    let all = game.scale().bounds();
    for algorithm in [Algorithm::AlphaBeta, Algorithm::Pds, Algorithm::DfPn] {
        let (value, nodes) = asked(&game, &[], Question::Value(all), algorithm);
        let (_, for_the_draw) = asked(&game, &[], Question::Threshold(Threshold(1)), algorithm);
        assert_eq!((value, nodes), (Some(all.lower), for_the_draw), "{algorithm}");
    }
}

#[test]
fn a_win_on_a_board_with_an_odd_number_of_rows_is_known_by_one_question() {
    let game = Connect4::<u64>::new(5, 5).expect("a size in range");
    let all = game.scale().bounds();
    let mut most = 0;
    for (first, second, third) in (0..125).map(|n| (n % 5, n / 5 % 5, n / 25)) {
        let moves = [first, second, third, 2].map(Move);
        let (value, nodes) = asked(&game, &moves, Question::Value(all), Algorithm::AlphaBeta);
        if value == Some(all.upper) {
            let win = Question::Threshold(Threshold(2));
            assert_eq!(nodes, asked(&game, &moves, win, Algorithm::AlphaBeta).1, "{moves:?}");
            most = most.max(nodes);
        }
    }
    assert!(most > 100, "none of them is won but at once: {most} nodes");
}

#[test]
fn a_draw_is_known_by_two_questions_whoever_is_favoured() {
    for (columns, rows) in [(4, 4), (4, 5), (5, 4), (5, 5)] {
        let game = Connect4::<u64>::new(columns, rows).expect("a size in range");
        let (value, _) =
            asked(&game, &[], Question::Value(game.scale().bounds()), Algorithm::AlphaBeta);
        assert_eq!(value, Some(Outcome(1)), "{columns}x{rows}");
    }
}
