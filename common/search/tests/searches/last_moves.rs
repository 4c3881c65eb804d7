//! The move on which Connect Four ends, against what is published, on the boards that take seconds. The benchmark
//! `last_moves` takes the larger ones.

use std::collections::BTreeMap;

use jlpns_games::connect4::Connect4;
use jlpns_games::spec::{parse_moves, position_after};
use jlpns_games::{Game, Player};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Algorithm, Question, TranspositionTable};
use serde::Deserialize;

/// Boards with so few cells take little time, and so do these besides.
const FEW_CELLS: u32 = 32;
const NARROW: [&str; 9] = ["4x9", "4x10", "4x11", "5x7", "5x8", "5x9", "6x6", "7x5", "9x4"];

#[derive(Deserialize)]
struct Published {
    boards: BTreeMap<String, (String, u32)>,
}

#[test]
fn games_end_on_the_published_move() {
    let Published { boards } =
        toml::from_str(include_str!("last_moves.toml")).expect("a table of boards");
    let mut checked = 0;
    for (board, (value, last_move)) in boards {
        let (width, height) = board.split_once('x').expect("a size");
        let (width, height): (u32, u32) =
            (width.parse().expect("columns"), height.parse().expect("rows"));
        if width * height > FEW_CELLS && !NARROW.contains(&board.as_str()) {
            continue;
        }
        let game = Connect4::<u64>::new(width, height).expect("a small board").with_last_moves();
        let table = TranspositionTable::with_bytes(256 << 20).expect("a small table");
        let settings =
            SearchSettings { algorithm: Algorithm::AlphaBeta, ..SearchSettings::default() };
        let question = Question::Value(game.scale().bounds());
        let end = search(&game, &mut game.start(), question, &settings, &table, &mut ());
        let found = question.bounds(&end.findings.efforts, game.scale()).value().expect("solved");
        let told = (game.scale().value(found), game.scale().last_move(found));
        assert_eq!(told, (value.as_str(), Some(last_move)), "{board}");
        let winner = game.scale().winner(found).expect("it is told");
        assert_eq!(winner == Some(Player::Max), value == "win", "{board}");
        checked += 1;
    }
    assert_eq!(checked, 21, "boards");
}

/// Positions of 7x6 with the scores of Pascal Pons' solver (run for this test): how many stones the winner has left at
/// the end, plus one, from the view of the player to move.
#[test]
fn positions_have_the_scores_of_another_solver() {
    let game = Connect4::<u64>::new(7, 6).expect("a size in range").with_last_moves();
    let table = TranspositionTable::with_bytes(256 << 20).expect("a small table");
    let question = Question::Value(game.scale().bounds());
    let settings = SearchSettings { algorithm: Algorithm::AlphaBeta, ..SearchSettings::default() };
    let mut checked = 0;
    for line in include_str!("pons_scores.txt").lines() {
        let (moves, score) = line.split_once(' ').expect("moves and a score");
        let score: i32 = score.parse().expect("a number");
        let played = parse_moves(&game, moves).expect("legal moves");
        let mut position = position_after(&game, &played).expect("legal moves");
        let end = search(&game, &mut position, question, &settings, &table, &mut ());
        let found = question.bounds(&end.findings.efforts, game.scale()).value().expect("solved");
        let winner = game.scale().winner(found).expect("it is told");
        let sign = match winner {
            None => 0,
            Some(winner) if winner == game.to_move(&position) => 1,
            Some(_) => -1,
        };
        let left = game.scale().last_move(found).map_or(0, |last_move| 22 - last_move.div_ceil(2));
        assert_eq!(sign * left as i32, score, "{moves}");
        checked += 1;
    }
    assert_eq!(checked, 60);
}

/// What is found for one threshold holds for the value, too: the search that answers all at once says the same.
#[test]
fn many_outcomes_in_one_search_end_on_the_same_move() {
    for (width, height) in [(4, 4), (4, 5), (5, 4), (6, 4)] {
        let game = Connect4::<u64>::new(width, height).expect("a small board").with_last_moves();
        let question = Question::Value(game.scale().bounds());
        let value = |algorithm| {
            let settings = SearchSettings {
                algorithm,
                store: jlpns_search::search::Store::Graph,
                initialisation: jlpns_search::Initialisation::Mobility,
                ..SearchSettings::default()
            };
            let table = TranspositionTable::with_bytes(256 << 20).expect("a small table");
            let end = search(&game, &mut game.start(), question, &settings, &table, &mut ());
            question.bounds(&end.findings.efforts, game.scale()).value()
        };
        let expected = value(Algorithm::AlphaBeta);
        assert!(expected.is_some());
        for algorithm in [Algorithm::Gpns, Algorithm::Gpns2, Algorithm::Pds, Algorithm::DfPn] {
            assert_eq!(value(algorithm), expected, "{algorithm} on {width}x{height}");
        }
    }
}
