//! What belongs to an answer beside the value: every move's value, many positions, and a solve that is gone on with.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use jlpns_games::spec::{GameSpec, parse_moves, position_after};
use jlpns_games::{Game, MoveList, with_game};
use jlpns_tests::cluster::path;
use jlpns_tests::{Ended, answered, jlpns, run};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

/// The value of each legal move by brute force.
fn by_brute_force<G: Game>(game: &G, moves: &str) -> BTreeMap<String, String> {
    let played = parse_moves(game, moves).expect("legal moves");
    let mut position = position_after(game, &played).expect("legal moves");
    let mut legal = MoveList::new();
    game.moves(&position, &mut legal);
    let mut values = BTreeMap::new();
    for &mv in &legal {
        let name = game.move_name(&position, mv);
        game.play(&mut position, mv);
        let value = jlpns_minimax::value(game, &mut position, u64::MAX).expect("no limit");
        values.insert(name, game.scale().name(value).to_owned());
        game.undo(&mut position, mv);
    }
    values
}

fn as_map(moves: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or("open").to_owned();
    let moves = moves.as_array().into_iter().flatten();
    moves.map(|known| (text(&known["move"]), text(&known["value"]))).collect()
}

#[test]
fn every_move_has_its_value() {
    for (spec, moves) in [
        ("connect4:4x4", "2"),
        ("connect4:5x3", "3"),
        ("connect4:4x5", "22332233"),
        ("connect4:4x4", "12121"),
        ("woodpush:6", ""),
        ("woodpush:7", "s0"),
        ("woodpush:L.L.R.R", "s0s6"),
    ] {
        let parsed: GameSpec = spec.parse().expect("a spec");
        let expected = with_game!(parsed.game(), game => by_brute_force(game, moves));
        let told = answered(&["moves", spec, "--moves", moves, "--slots", "2"]);
        assert_eq!(as_map(&told["moves"]), expected, "{spec} {moves}: {told}");
        let best = told["best_move"].as_str().expect("a best move");
        assert_eq!(told["value"].as_str(), Some(expected[best].as_str()), "{told}");
        let solved = answered(&["solve", spec, "--moves", moves, "--every-move"]);
        assert_eq!(as_map(&solved["every_move"]), expected, "{spec} {moves}: {solved}");
        assert_eq!(solved["value"], told["value"]);
    }
}

#[test]
fn a_game_that_is_over_has_no_moves() {
    let ended = run(&mut jlpns(["moves", "connect4:4x4", "--moves", "1212121"]), LIMIT);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("the game is over after '1212121'"), "{ended:?}");
}

#[test]
fn a_disproved_goal_names_no_best_move_and_the_value_of_a_drawn_position_does() {
    let args = ["connect4:5x5", "--moves", "5133"];
    for command in ["solve", "search"] {
        let goal = answered(&[&[command], &args[..], &["--goal", ">=win"]].concat());
        assert_eq!((&goal["proved"], &goal["best_move"]), (&false.into(), &Value::Null), "{goal}");
        let exact = answered(&[&[command], &args[..]].concat());
        // 51332 is lost.
        assert_eq!(exact["value"], "draw");
        let best = exact["best_move"].as_str().expect("a best move");
        let after = answered(&["search", "connect4:5x5", "--moves", &format!("5133{best}")]);
        assert_eq!(after["value"], "draw", "{exact}");
    }
}

#[test]
fn an_unsolved_run_names_a_most_proving_move_only() {
    let args = ["search", "connect4:7x6", "--max-nodes", "1000", "--algorithm", "pns"];
    let ended = run(jlpns(args).args(["--output", "json"]), LIMIT);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let told = ended.json();
    assert_eq!((&told["best_move"], &told["line"]), (&Value::Null, &Value::Array(vec![])));
    assert!(told["most_proving_move"].is_string(), "{told}");
}

#[test]
fn a_line_is_as_long_as_it_is_asked_for() {
    let line = |more: &[&str]| {
        let told = answered(&[&["solve", "connect4:4x4"], more].concat());
        assert!(told["best_move"].is_string(), "{told}");
        told["line"].as_array().map(Vec::len)
    };
    assert_eq!(line(&[]), Some(16), "a draw fills the board");
    assert_eq!(line(&["--line", "3"]), Some(3));
    assert_eq!(line(&["--line", "0"]), Some(0));
}

/// Runs a command over these lines.
fn over_lines(args: &[&str], lines: &str) -> (Ended, Vec<Value>) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(lines.as_bytes()).expect("it is written");
    let file = file.path().display().to_string();
    let ended = run(jlpns(args).args(["--positions", &file, "--output", "json"]), LIMIT);
    let told = ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let told = told.collect();
    (ended, told)
}

#[test]
fn positions_are_answered_in_their_order() {
    let parsed: GameSpec = "connect4:4x4".parse().expect("a spec");
    let mut lines = String::from("# every second move of the second player\n\n");
    let mut expected = Vec::new();
    for first in 1..=4 {
        for second in 1..=4 {
            let moves = format!("{first}{second}");
            lines += &format!("  {moves} # a position\n");
            let value = with_game!(parsed.game(), game => {
                let played = parse_moves(game, &moves).expect("legal moves");
                let mut position = position_after(game, &played).expect("legal moves");
                let value = jlpns_minimax::value(game, &mut position, u64::MAX).expect("no limit");
                game.scale().name(value).to_owned()
            });
            expected.push((moves, value));
        }
    }
    for args in [
        &["solve", "connect4:4x4", "--slots", "2"][..],
        &["search", "connect4:4x4"],
        &["search", "connect4:4x4", "--algorithm", "gpns"],
    ] {
        let (ended, told) = over_lines(args, &lines);
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
        let found: Vec<(String, String)> =
            told.iter().map(|told| (text(&told["moves"]), text(&told["value"]))).collect();
        assert_eq!(found, expected, "{args:?}");
        let numbers = told.iter().map(|told| told["number"].as_u64());
        assert!(numbers.eq((3..).map(Some).take(16)), "{args:?}: {told:?}");
        assert!(told.iter().all(|told| told["best_move"] == told["line"][0]), "{told:?}");
    }
}

#[test]
fn a_bad_line_is_named_and_does_not_end_the_run() {
    let (ended, told) = over_lines(&["solve", "connect4:4x4"], "12\n19\n\nx\n21\n12121212\n");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let moves: Vec<&Value> = told.iter().map(|told| &told["moves"]).collect();
    assert_eq!(moves, ["12", "21"]);
    for words in ["line 2 of", "'9', is not legal", "line 4 of", "line 6 of", "after the end"] {
        assert!(ended.stderr.contains(words), "'{words}' is not in {}", ended.stderr);
    }
}

#[test]
fn a_kept_solve_is_looked_at_and_gone_on_with_by_its_directory_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "data");
    let asked = ["solve", "connect4:5x4", "--moves", "3", "--goal", ">=draw", "--data", &data];
    let first = answered(&[&asked[..], &["--job-nodes", "500"]].concat());
    let status = answered(&["status", &data]);
    for key in ["spec", "moves", "goal", "proved", "best_move"] {
        assert_eq!(status[key], first[key], "{key} of {status}");
    }
    let resumed = answered(&["resume", &data, "--slots", "1"]);
    for key in ["spec", "moves", "goal", "proved", "value", "lower", "upper"] {
        assert_eq!(resumed[key], first[key], "{key} of {resumed}");
    }
    assert_eq!(resumed["earlier_nodes"], first["nodes"]);
    // What the journal holds the solve to comes before what the user usually wants.
    let mut usual = jlpns(["resume", &data, "--output", "json"]);
    let usual = usual.envs([("JLPNS_SCORE", "distance"), ("JLPNS_GOAL", ">=win")]);
    let usual = run(usual.env("JLPNS_POSITIONS", "none"), LIMIT);
    assert_eq!(usual.code, Some(0), "{usual:?}");
    assert_eq!(usual.json()["goal"], first["goal"]);
    let ended = run(&mut jlpns(["resume", &path(folder.path(), "nothing")]), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("there is no journal in"), "{ended:?}");
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let help = run(&mut jlpns(["--help"]), LIMIT).stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split(' ').next())
        .filter(|&name| name != "help")
        .collect();
    assert!(commands.len() > 10, "{help}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&mut jlpns(["completions", shell]), LIMIT);
        assert_eq!(script.code, Some(0), "{script:?}");
        assert!(commands.iter().all(|name| script.stdout.contains(name)), "{shell}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let man = path(folder.path(), "man");
    let written = run(&mut jlpns(["man", &man]), LIMIT);
    assert_eq!(written.code, Some(0), "{written:?}");
    for name in commands {
        let page = std::fs::read_to_string(path(folder.path(), &format!("man/jlpns-{name}.1")));
        assert!(page.is_ok_and(|page| page.starts_with(".ie") || page.starts_with('.')), "{name}");
    }
}
