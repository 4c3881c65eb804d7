//! Whole searches for a value ask first for the best outcome of the player who is favoured.

use jlpns_games::connect4::Connect4;
use jlpns_games::{Game, Outcome, Threshold};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Algorithm, Question, TranspositionTable};

/// The value that a search gives for a question about a board, and the nodes that it takes.
fn asked(game: &Connect4<u64>, question: Question, algorithm: Algorithm) -> (Option<Outcome>, u64) {
    let settings =
        SearchSettings { algorithm, knowledge: true, memory: 1 << 24, ..SearchSettings::default() };
    let table = TranspositionTable::with_bytes(settings.table_bytes()).expect("a small table");
    let end = search(game, &mut game.start(), question, &settings, &table, &mut ());
    (question.bounds(&end.findings.efforts, game.scale()).value(), end.statistics.nodes)
}

#[test]
fn a_loss_on_an_even_board_is_known_by_one_question() {
    let game = Connect4::<u64>::new(6, 4).expect("a size in range");
    let all = game.scale().bounds();
    for algorithm in [Algorithm::AlphaBeta, Algorithm::Pds, Algorithm::DfPn] {
        let (value, nodes) = asked(&game, Question::Value(all), algorithm);
        let (_, for_the_draw) = asked(&game, Question::Threshold(Threshold(1)), algorithm);
        assert_eq!((value, nodes), (Some(all.lower), for_the_draw), "{algorithm}");
    }
}

#[test]
fn a_draw_is_known_by_two_questions_whoever_is_favoured() {
    for (columns, rows) in [(4, 4), (4, 5), (5, 4), (5, 5)] {
        let game = Connect4::<u64>::new(columns, rows).expect("a size in range");
        let (value, _) = asked(&game, Question::Value(game.scale().bounds()), Algorithm::AlphaBeta);
        assert_eq!(value, Some(Outcome(1)), "{columns}x{rows}");
    }
}
