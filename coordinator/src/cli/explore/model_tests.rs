use jlpns_games::{Outcome, Threshold};

use super::*;
use crate::cli::explore::place::scale;

fn explorer(spec: &str, moves: &str) -> Explorer {
    let spec: GameSpec = spec.parse().expect("a spec");
    let moves = jlpns_games::with_game!(spec.game(), game => {
        jlpns_games::spec::parse_moves(game, moves).expect("legal moves")
    });
    Explorer::new(spec, moves).expect("legal moves")
}

fn type_in(explorer: &mut Explorer, text: &str) {
    text.chars().for_each(|character| explorer.act(Action::Type(character)));
}

fn position(explorer: &Explorer) -> &str {
    &explorer.place().text
}

/// What a search would tell of the move with this name.
fn value(explorer: &Explorer, name: &str, value: &str) -> Found {
    let scale = scale(explorer.spec());
    let outcome = (0..scale.len() as u8).map(Outcome).find(|&it| scale.name(it) == value);
    let bounds = Bounds::exactly(outcome.expect("an outcome"));
    let legal = explorer.place().moves.iter().find(|it| it.name == name).expect("a legal move");
    Found::Position(legal.key, Known { bounds, first: Threshold(1), efforts: Vec::new(), nodes: 7 })
}

fn code(explorer: &Explorer, name: &str) -> Move {
    explorer.place().moves.iter().find(|it| it.name == name).expect("a legal move").mv
}

#[test]
fn moves_are_played_by_name_and_by_arrows_and_are_taken_back() {
    let mut explorer = explorer("connect4:4x4", "2");
    type_in(&mut explorer, "33");
    assert_eq!(position(&explorer), "233");
    explorer.act(Action::Back);
    explorer.act(Action::Erase);
    explorer.act(Action::Back);
    assert_eq!(position(&explorer), "");
    explorer.act(Action::Back);
    assert_eq!((position(&explorer), explorer.note()), ("", "this is the start of the game"));
    explorer.act(Action::Forward);
    explorer.act(Action::Forward);
    assert_eq!(position(&explorer), "23");
    // Another move ends that way.
    type_in(&mut explorer, "4");
    let names: Vec<&str> = explorer.place().moves.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["1", "2", "3", "4"]);
    (0..9).for_each(|_| explorer.act(Action::Up));
    explorer.act(Action::Down);
    explorer.act(Action::Forward);
    assert_eq!(position(&explorer), "2342");
    (0..9).for_each(|_| explorer.act(Action::Down));
    explorer.act(Action::Play);
    assert_eq!(position(&explorer), "23424");
    explorer.act(Action::Home);
    assert_eq!((position(&explorer), explorer.version() > 5), ("2", true));
}

#[test]
fn a_name_that_begins_another_waits_for_enter() {
    let mut walk = explorer("woodpush:.L........L.R.R", "");
    type_in(&mut walk, "s1");
    assert_eq!((position(&walk), walk.typed()), ("", "s1"));
    walk.act(Action::Play);
    assert_eq!((position(&walk), walk.typed()), ("s1", ""));
    walk.act(Action::Back);
    type_in(&mut walk, "s10");
    assert_eq!(position(&walk), "s10");
}

#[test]
fn what_is_no_move_is_said_and_changes_nothing() {
    let mut walk = explorer("connect4:4x4", "2");
    type_in(&mut walk, "9x");
    walk.act(Action::Erase);
    walk.act(Action::Play);
    assert_eq!(walk.note(), "'9' is not legal; legal here: 1 2 3 4");
    assert_eq!((position(&walk), walk.typed(), walk.version()), ("2", "", 0));
    type_in(&mut walk, "7");
    walk.act(Action::Escape);
    assert!(!walk.is_over() && walk.typed().is_empty());
    walk.act(Action::Escape);
    assert!(walk.is_over());
    let mut ended = explorer("connect4:4x4", "1212121");
    ended.act(Action::Play);
    ended.act(Action::Forward);
    ended.act(Action::MoveNow);
    ended.act(Action::Follow);
    assert_eq!((position(&ended), ended.note()), ("1212121", "the game is over"));
}

#[test]
fn values_come_from_what_is_found_and_stay_when_one_comes_back() {
    let mut walk = explorer("connect4:4x4", "");
    assert_eq!((walk.bounds().value(), walk.best()), (None, None));
    for name in ["1", "2"] {
        walk.learn(value(&walk, name, "draw"));
    }
    // The others are the mirror images.
    assert_eq!(walk.bounds().value(), Some(Outcome(1)));
    assert_eq!(walk.best(), Some(0));
    type_in(&mut walk, "2");
    assert_eq!(walk.bounds().value(), Some(Outcome(1)), "what was found of the move");
    walk.act(Action::Back);
    assert_eq!(walk.bounds().value(), Some(Outcome(1)));
}

#[test]
fn the_line_is_played_a_move_at_a_time_or_to_its_end() {
    let mut walk = explorer("connect4:4x4", "");
    walk.act(Action::Follow);
    assert_eq!((position(&walk), walk.note()), ("", "no line is known yet"));
    let line = ["2", "3", "3"].map(|name| code(&walk, name));
    let line = ProvedLine { moves: line.to_vec(), keeps_value: true };
    walk.learn(Found::Line(Vec::new(), line));
    assert_eq!(walk.line(), Some(["2", "3", "3"].map(str::to_owned).to_vec()));
    walk.act(Action::Follow);
    assert_eq!((position(&walk), walk.line()), ("2", Some(vec!["3".to_owned(), "3".to_owned()])));
    walk.act(Action::End);
    assert_eq!(position(&walk), "233");
    walk.act(Action::Home);
    type_in(&mut walk, "1");
    assert_eq!(walk.line(), None, "off the line");
}

#[test]
fn the_mirror_image_has_the_same_value() {
    let mut walk = explorer("connect4:5x4", "1124");
    let key = walk.place().key;
    walk.act(Action::Mirror);
    assert_eq!((position(&walk), walk.place().key), ("5542", key));
    for moves in ["", "s0"] {
        let mut without = explorer("woodpush:8", moves);
        without.act(Action::Mirror);
        assert_eq!((position(&without), without.note()), (moves, "this game has no mirror images"));
    }
}

#[test]
fn the_program_answers_with_its_best_move_once_it_is_proved() {
    // After 3 1 3 1 3 the column must be closed.
    let mut walk = explorer("connect4:5x4", "3131");
    walk.act(Action::Opponent);
    assert_eq!(walk.program(), Some(Player::Min));
    type_in(&mut walk, "3");
    assert_eq!(position(&walk), "31313", "nothing is known yet");
    for name in ["1", "2", "4", "5"] {
        walk.learn(value(&walk, name, "win"));
    }
    walk.learn(value(&walk, "3", "draw"));
    assert_eq!(position(&walk), "31313", "the line is not known yet");
    // It fulfils some goal, and loses.
    let of_goal = ProvedLine { moves: vec![code(&walk, "1")], keeps_value: false };
    walk.learn(Found::Line(walk.played().to_vec(), of_goal));
    assert_eq!(position(&walk), "31313", "that line keeps no value");
    assert_eq!(walk.best().map(|at| walk.place().moves[at].name.as_str()), Some("3"));
    let line = ProvedLine { moves: vec![code(&walk, "3")], keeps_value: true };
    walk.learn(Found::Line(walk.played().to_vec(), line));
    assert_eq!((position(&walk), walk.note()), ("313133", "the program played 3"));
    // A step back is to the user's own move: the program knows its answer.
    walk.act(Action::Back);
    assert_eq!(position(&walk), "3131");
    type_in(&mut walk, "3");
    assert_eq!(position(&walk), "313133");
    walk.act(Action::Opponent);
    assert_eq!(walk.program(), None);
    type_in(&mut walk, "2");
    assert_eq!(position(&walk), "3131332");
}

#[test]
fn the_program_says_when_its_move_is_not_proved() {
    let mut walk = explorer("connect4:7x6", "");
    walk.act(Action::MoveNow);
    assert_eq!(walk.played().len(), 1);
    assert!(walk.note().ends_with("which is not proved to be best"), "{}", walk.note());
    // When it has thought long enough it moves by itself.
    walk.act(Action::Back);
    walk.act(Action::Opponent);
    type_in(&mut walk, "4");
    let (legal, bounds) = (walk.place().moves[0].clone(), scale(walk.spec()).bounds());
    let known = |nodes| Known { bounds, first: Threshold(1), efforts: Vec::new(), nodes };
    walk.learn(Found::Position(legal.key, known(THINKING - 1)));
    assert_eq!(position(&walk), "4");
    walk.learn(Found::Position(legal.key, known(THINKING)));
    assert_eq!(walk.played().len(), 2);
}

#[test]
fn letters_of_columns_are_no_commands() {
    assert!(explorer("connect4:28x3", "").is_of_move('q'));
    assert!(!explorer("connect4:7x6", "").is_of_move('q'));
}
