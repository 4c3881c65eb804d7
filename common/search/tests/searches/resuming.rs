//! A search that is stopped at its budget and resumed goes on where it was: all of its parts
//! together create hardly more nodes than one search without a budget.

use jlpns_games::connect4::Connect4;
use jlpns_games::{Game, Threshold};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Algorithm, Question, TranspositionTable};

/// Answers a question with searches of at most `budget` nodes, one after the other on one table.
/// How many searches it took, and their nodes.
fn in_parts<G: Game>(game: &G, question: Question, settings: &SearchSettings) -> (u64, u64) {
    let table = TranspositionTable::with_bytes(64 << 20).expect("a table");
    let (mut parts, mut nodes) = (0, 0);
    loop {
        let mut position = game.start();
        let end = search(game, &mut position, question, settings, &table, &mut ());
        parts += 1;
        nodes += end.findings.nodes;
        if question.is_answered(&end.findings.efforts) {
            return (parts, nodes);
        }
    }
}

#[test]
fn a_search_in_many_parts_costs_little_more_than_one() {
    let question = Question::Threshold(Threshold(2));
    for algorithm in [Algorithm::DfPn, Algorithm::Pds, Algorithm::PdsPn, Algorithm::AlphaBeta] {
        // Alpha-beta is soon through with the smaller board: a hundredth of its nodes are a few.
        let width = if algorithm == Algorithm::AlphaBeta { 6 } else { 5 };
        let game = Connect4::<u64>::new(width, 5).expect("a board");
        let whole = SearchSettings { algorithm, memory: 64 << 20, ..SearchSettings::default() };
        let (_, nodes) = in_parts(&game, question, &whole);
        for count in [10, 100] {
            let budget = SearchSettings { max_nodes: Some(nodes / count), ..whole.clone() };
            let (parts, sum) = in_parts(&game, question, &budget);
            let ratio = sum as f64 / nodes as f64;
            println!("{algorithm}: {nodes} nodes; in {parts} parts {ratio:.2} times as many");
            assert!(parts > count / 2, "{algorithm}: {parts} parts");
            assert!(ratio < 1.25, "{algorithm} in {parts} parts: {ratio}");
        }
    }
}
