//! `--score distance`: on which move the game ends, by every command and on a cluster.

use std::time::Duration;

use jlpns_games::spec::{GameSpec, parse_moves, position_after};
use jlpns_games::{Game, MoveList, Outcome, with_game};
use jlpns_tests::cluster::{path, solved_by_two};
use jlpns_tests::{answered, jlpns, run};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

/// The value and the last move as they are printed.
fn told<G: Game>(game: &G, outcome: Outcome) -> (Value, Value) {
    let last_move = game.scale().last_move(outcome);
    (game.scale().value(outcome).into(), last_move.map_or(Value::Null, Value::from))
}

/// What is printed of a position, and of each of its moves, by brute force.
fn by_brute_force<G: Game>(game: &G, moves: &str) -> ((Value, Value), Vec<(Value, Value)>) {
    let played = parse_moves(game, moves).expect("legal moves");
    let mut position = position_after(game, &played).expect("legal moves");
    let value = |position: &mut G::Position| {
        let value = jlpns_minimax::value(game, position, u64::MAX).expect("no limit");
        told(game, value)
    };
    let mut legal = MoveList::new();
    game.moves(&position, &mut legal);
    let after = legal.iter().map(|&mv| {
        game.play(&mut position, mv);
        let value = value(&mut position);
        game.undo(&mut position, mv);
        value
    });
    let after = after.collect();
    (value(&mut position), after)
}

fn pair(told: &Value) -> (Value, Value) {
    (told["value"].clone(), told["last_move"].clone())
}

#[test]
fn positions_and_moves_end_when_brute_force_says() {
    for (spec, moves) in [
        ("connect4:4x4", "1212"),
        ("connect4:4x4", "12121"),
        ("connect4:5x3", "3"),
        ("connect4:4x5", "22332233"),
        ("woodpush:6", ""),
        ("woodpush:7", "s0"),
        ("woodpush:L.L.R.R", "s0s6"),
    ] {
        let spec: GameSpec = spec.parse().expect("a spec");
        let name = spec.to_string();
        let by_distance = spec.by_distance().expect("it says who wins");
        let (expected, after) = with_game!(by_distance.game(), game => by_brute_force(game, moves));
        let asked = [name.as_str(), "--moves", moves, "--score", "distance"];
        for command in ["search", "solve"] {
            let found = answered(&[&[command], &asked[..]].concat());
            assert_eq!(pair(&found), expected, "{command}: {found}");
            assert_eq!(found["spec"], by_distance.as_str());
            let played = moves.chars().filter(char::is_ascii_digit).count();
            let line = found["line"].as_array().map(|line| (line.len() + played) as u64);
            if expected.1 != Value::Null {
                assert_eq!(line, expected.1.as_u64(), "the line ends on the last move: {found}");
            }
        }
        let found = answered(&[&["moves"], &asked[..]].concat());
        assert_eq!(pair(&found), expected, "{found}");
        let moves: Vec<_> = found["moves"].as_array().expect("moves").iter().map(pair).collect();
        assert_eq!(moves, after, "{found}");
    }
}

#[test]
fn goals_name_the_move_or_any() {
    for (goal, proved) in
        [("<=loss", true), ("<=loss-24", true), ("<=loss-22", false), (">=loss-24", true)]
    {
        let found = answered(&["solve", "connect4:6x4:distance", "--goal", goal]);
        assert_eq!(found["proved"], proved, "{goal}: {found}");
    }
    let args = ["solve", "connect4:6x4:distance", "--goal", ">=win-24"];
    let ended = run(&mut jlpns(args), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("'win-24' is not an outcome"), "{ended:?}");
}

#[test]
fn a_cluster_and_a_journal_know_what_counts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "data");
    let found = solved_by_two(&["connect4:6x4", "--score", "distance", "--data", &data]);
    assert_eq!(pair(&found), ("loss".into(), 24.into()), "{found}");
    let kept = answered(&["status", &data]);
    assert_eq!(pair(&kept), ("loss".into(), 24.into()), "{kept}");
    assert_eq!(kept["spec"], "connect4:6x4:distance");
    let args = ["solve", "connect4:6x4", "--data", &data];
    let ended = run(&mut jlpns(args), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("connect4:6x4:distance"), "{ended:?}");
}

#[test]
fn there_are_no_certificates_of_distances() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = path(folder.path(), "certificate");
    let args = ["solve", "connect4:4x4", "--score", "distance", "--certificate", &file];
    let ended = run(&mut jlpns(args), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("there are no certificates"), "{ended:?}");
}
