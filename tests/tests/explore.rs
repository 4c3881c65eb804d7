//! `jlpns explore` in a terminal, without one, and over what a solve has left.

use std::fs;
use std::process::Command;
use std::time::Duration;

use jlpns_tests::cluster::{path, serve_at};
use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::terminal::InTerminal;
use jlpns_tests::{command, jlpns, run};

const LIMIT: Duration = Duration::from_secs(120);
const SIZE: (u16, u16) = (100, 30);

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const RIGHT: &str = "\x1b[C";
const LEFT: &str = "\x1b[D";
const HOME: &str = "\x1b[H";
const END: &str = "\x1b[F";
const ENTER: &str = "\r";
const TAB: &str = "\t";

fn explore(args: &[&str]) -> Command {
    jlpns([&["explore"], args].concat())
}

fn shown(args: &[&str]) -> InTerminal {
    InTerminal::start(&explore(args), SIZE, &[])
}

#[test]
fn one_walks_sees_values_goes_back_and_quits() {
    let mut terminal = shown(&["connect4:5x4"]);
    terminal.wait_for(LIMIT, "the value is draw");
    terminal.press("3");
    terminal.wait_for(LIMIT, "connect4:5x4 after 3");
    terminal.press("1");
    // A move that loses: the value of the position shows it.
    terminal.wait_for(LIMIT, "connect4:5x4 after 31");
    terminal.wait_until(LIMIT, |shown| shown.contains("line: "));
    terminal.press(LEFT);
    terminal.wait_until(LIMIT, |shown| shown.contains("after 3\n") || shown.contains("after 3 "));
    terminal.press(RIGHT);
    terminal.wait_for(LIMIT, "after 31");
    terminal.press("r");
    terminal.wait_for(LIMIT, "after 35");
    terminal.press(HOME);
    terminal.wait_until(LIMIT, |shown| !shown.contains(" after "));
    terminal.press(&[UP, UP, UP, UP, UP, DOWN, ENTER].concat());
    terminal.wait_for(LIMIT, "connect4:5x4 after 2");
    terminal.press("8");
    terminal.wait_for(LIMIT, "move: 8_");
    terminal.press(ENTER);
    terminal.wait_for(LIMIT, "'8' is not legal; legal here: 1 2 3 4 5");
    assert!(!terminal.is_as_before(), "a terminal in use looks otherwise");
    terminal.press("q");
    assert_eq!(terminal.end(LIMIT), 0);
    assert!(terminal.is_as_before());
}

#[test]
fn the_line_leads_to_the_end_of_the_game() {
    let mut terminal = shown(&["connect4:5x4", "--moves", "33"]);
    terminal.wait_for(LIMIT, "line: ");
    terminal.press(TAB);
    terminal.wait_until(LIMIT, |shown| shown.contains("second player is to move"));
    terminal.press(END);
    terminal.wait_for(LIMIT, "the game is over: draw");
    // Ctrl-C is a key here.
    terminal.press("\x03");
    assert_eq!(terminal.end(LIMIT), 0);
    assert!(terminal.is_as_before());
}

#[test]
fn the_program_plays_the_other_side() {
    // After 1212 and 1 the game is lost in the next move, but for 1.
    let mut terminal = shown(&["connect4:5x4", "--moves", "3131"]);
    terminal.wait_for(LIMIT, "line: ");
    terminal.press("o");
    terminal.wait_for(LIMIT, "the program plays the other side");
    terminal.press("3");
    terminal.wait_for(LIMIT, "the program played 3");
    let shown = terminal.wait_for(LIMIT, "after 313133");
    assert!(shown.contains("the first player is to move"), "{shown}");
    terminal.press("\x1b");
    assert_eq!(terminal.end(LIMIT), 0);
}

#[test]
fn a_board_that_no_search_can_solve_is_left_at_once() {
    let mut terminal = shown(&["connect4:9x8"]);
    terminal.wait_until(LIMIT, |shown| shown.contains("open") && shown.contains("/"));
    terminal.press("5");
    terminal.wait_for(LIMIT, "connect4:9x8 after 5");
    terminal.press("n");
    terminal.wait_for(LIMIT, "which is not proved to be best");
    terminal.press("q");
    assert_eq!(terminal.end(LIMIT), 0);
}

#[test]
fn a_terminal_that_is_too_small_says_so_until_it_is_larger() {
    let mut terminal = InTerminal::start(&explore(&["connect4:7x6"]), (30, 6), &[]);
    terminal.wait_for(LIMIT, "The terminal is too small");
    terminal.resize(90, 26);
    terminal.wait_for(LIMIT, "1 2 3 4 5 6 7");
    terminal.resize(10, 3);
    terminal.wait_for(LIMIT, "The");
    terminal.resize(44, 30);
    terminal.wait_for(LIMIT, "1 2 3 4 5 6 7");
    terminal.press("q");
    assert_eq!(terminal.end(LIMIT), 0);
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_as_it_was() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut terminal = shown(&["connect4:9x8"]);
        terminal.wait_for(LIMIT, "1 2 3 4 5 6 7 8 9");
        assert!(send(terminal.id(), signal));
        assert_eq!(terminal.end(LIMIT), 3, "{signal:?}");
        assert!(terminal.is_as_before(), "{signal:?}");
    }
}

#[test]
fn pieces_are_coloured_unless_no_colour_is_wanted() {
    // The colours of yellow and red pieces, in the ways to write them.
    let colours = |text: &str| text.contains("\x1b[33m") || text.contains("38;5;3");
    for (no_color, wanted) in [("", true), ("1", false)] {
        let args = explore(&["connect4:5x4", "--moves", "33"]);
        let mut terminal = InTerminal::start(&args, SIZE, &[("NO_COLOR", no_color)]);
        terminal.wait_for(LIMIT, "line: ");
        terminal.press("q");
        assert_eq!(terminal.end(LIMIT), 0);
        assert_eq!(colours(&terminal.written()), wanted, "NO_COLOR={no_color}");
    }
}

#[test]
fn a_game_from_outside_is_explored_as_well() {
    let mut terminal =
        InTerminal::start(&command("noughts", ["explore", "noughts:3x3"]), SIZE, &[]);
    terminal.wait_for(LIMIT, "the value is draw");
    terminal.press("1");
    terminal.wait_for(LIMIT, "noughts:3x3 after 1");
    terminal.press("2");
    terminal.wait_for(LIMIT, "the value is win");
    terminal.press("q");
    assert_eq!(terminal.end(LIMIT), 0);
}

#[test]
fn without_a_terminal_it_answers_once() {
    let ended = run(&mut explore(&["connect4:5x4", "--moves", "33"]), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("connect4:5x4 after 33: the value is draw"), "{ended:?}");
    assert!(ended.stdout.contains("\nline: "), "{ended:?}");
    let ended = run(&mut explore(&["connect4:5x4", "--moves", "33", "--output", "json"]), LIMIT);
    let told = ended.json();
    let moves =
        run(&mut jlpns(["moves", "connect4:5x4", "--moves", "33", "--output", "json"]), LIMIT);
    let moves = moves.json();
    assert_eq!((&told["value"], &told["position"]), (&moves["value"], &moves["position"]));
    let values = |told: &serde_json::Value| -> Vec<(String, String)> {
        let moves = told["moves"].as_array().expect("a list of moves").iter();
        moves.map(|known| (known["move"].to_string(), known["value"].to_string())).collect()
    };
    assert_eq!(values(&told), values(&moves));
    assert_eq!(told["line"].as_array().map(|line| line.len()), Some(18), "{told}");
    assert_eq!(told["board"][3], "..x..");
}

#[test]
fn limits_end_it_with_what_is_known() {
    for limit in [["--max-nodes", "20000"], ["--max-time", "300ms"]] {
        let args = [&["connect4:9x8", "--output", "json"], &limit[..]].concat();
        let ended = run(&mut explore(&args), LIMIT);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        let told = ended.json();
        assert!(told["value"].is_null() && told["best_move"].is_null(), "{told}");
        assert!(told["most_proving_move"].is_string(), "{told}");
        assert_eq!((&told["lower"], &told["upper"]), (&"loss".into(), &"win".into()));
        assert_eq!(told["moves"].as_array().map(|moves| moves.len()), Some(9));
    }
}

#[test]
fn what_a_solve_has_left_is_explored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "solve");
    let ended = run(&mut jlpns(["solve", "connect4:5x4", "--moves", "3", "--data", &data]), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let records = |data: &str| {
        let files = fs::read_dir(data).expect("a folder").map(|entry| {
            let entry = entry.expect("an entry");
            (entry.file_name(), entry.metadata().expect("its size").len())
        });
        files.collect::<std::collections::BTreeMap<_, _>>()
    };
    let before = records(&data);
    let ended = run(&mut explore(&[&data, "--max-nodes", "1", "--output", "json"]), LIMIT);
    let told = ended.json();
    assert_eq!((&told["spec"], &told["position"]), (&"connect4:5x4".into(), &"3".into()), "{told}");
    // One node would not be enough to find it out.
    assert_eq!(told["value"], "draw", "{told}");
    let mut terminal = shown(&[&data, "--moves", "3"]);
    terminal.wait_for(LIMIT, "connect4:5x4 after 33");
    terminal.wait_for(LIMIT, "the value is draw");
    terminal.press(LEFT);
    terminal.press("1");
    terminal.wait_for(LIMIT, "connect4:5x4 after 31");
    terminal.press("q");
    assert_eq!(terminal.end(LIMIT), 0);
    assert_eq!(records(&data), before, "nothing is written");
}

#[test]
fn a_solve_that_is_running_is_not_explored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "solve");
    let (_serving, _) = serve_at("127.0.0.1:0", &["connect4:7x6", "--data", &data]);
    for output in ["text", "json"] {
        let ended = run(&mut explore(&[&data, "--output", output]), LIMIT);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(ended.stderr.contains("in use by another process"), "{ended:?}");
    }
    // In a terminal as well, before the screen is taken.
    let mut terminal = shown(&[&data]);
    assert_eq!(terminal.end(LIMIT), 2);
    assert!(terminal.is_as_before());
    assert!(terminal.written().contains("in use by another process"));
}

#[test]
fn bad_input_is_one_sentence() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let empty = folder.path().display().to_string();
    for (args, said) in [
        (&["chess"][..], "unknown game 'chess'"),
        (&["connect4:7x6", "--moves", "9"], "the board has 7 columns"),
        (&[empty.as_str()], "there is no journal in"),
        (&["connect4:7x6", "--max-nodes", "0"], "write a whole number from 1"),
    ] {
        let ended = run(&mut explore(args), LIMIT);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(said), "{ended:?}");
    }
}
