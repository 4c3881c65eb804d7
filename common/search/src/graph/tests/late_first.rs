//! Which of a root's thresholds is worked on, where the outcomes tell on which move the game is won or the game tells who
//! is favoured.

use jlpns_games::connect4::Rules;

use super::*;
use crate::effort::Effort;
use crate::job::ChildFindings;

/// A small board of which no threshold is settled at the root, as it were with turned columns.
fn board(columns: u32, rows: u32) -> Connect4<u64> {
    let rules = Rules { turned_column: false, turned_pair: false, ..Rules::default() };
    Connect4::new(columns, rows).unwrap().with_rules(rules)
}

/// The names of the root's thresholds in the order in which they were worked on until all asked within `bounds` were
/// solved, on a board of 4 rows.
fn worked_on(
    columns: u32,
    knowledge: bool,
    bounds: impl Fn(Bounds) -> Bounds,
    depth_first: bool,
) -> Vec<String> {
    let game = board(columns, 4).with_last_moves();
    let scale = game.scale().clone();
    let question = Question::Value(bounds(scale.bounds()));
    let settings = GraphSettings { knowledge, ..plain(1 << 24) };
    let (first, count) = question.thresholds();
    let mut graph = Graph::new(game.clone(), game.start(), question, Several(count), settings);
    let mut names: Vec<String> = Vec::new();
    loop {
        let selected = if depth_first {
            graph.select_depth_first(None, &[]).map(|next| (next.node, next.threshold))
        } else {
            graph.select()
        };
        let Some((_, threshold)) = selected else { break };
        let name = scale.threshold_name(Threshold(first.0 + threshold as u8));
        if names.last() != Some(&name) {
            names.push(name);
        }
        assert!(graph.expand(), "there is room");
    }
    assert!(graph.is_solved());
    names
}

#[test]
fn the_win_comes_first_and_then_the_draw() {
    for depth_first in [false, true] {
        assert_eq!(worked_on(5, true, |all| all, depth_first), ["win-19", "draw"]);
    }
}

#[test]
fn the_draw_comes_first_and_then_the_win_if_the_second_player_is_favoured() {
    for depth_first in [false, true] {
        assert_eq!(worked_on(4, true, |all| all, depth_first), ["draw", "win-15"]);
    }
}

#[test]
fn depth_first_the_best_of_who_is_favoured_comes_first_where_last_moves_are_not_told() {
    for (columns, rows, first) in [(4, 4, "draw"), (4, 5, "win")] {
        let game = board(columns, rows);
        let name = |index: usize| game.scale().threshold_name(Threshold(1 + index as u8));
        let question = Question::Value(game.scale().bounds());
        let settings = GraphSettings { knowledge: true, ..plain(1 << 20) };
        let mut graph = Graph::new(game.clone(), game.start(), question, Several(2), settings);
        // Whatever it takes.
        let efforts = |cheap: usize| {
            let pair = |index| EffortPair {
                proof: Effort::finite(if index == cheap { 1 } else { 1000 }),
                disproof: Effort::finite(if index == cheap { 1 } else { 1000 }),
            };
            [0, 1].map(pair).to_vec()
        };
        for cheap in [0, 1] {
            let children = (0..columns as u16)
                .map(|column| ChildFindings { mv: Move(column), efforts: efforts(cheap) })
                .collect();
            let found =
                Findings { efforts: efforts(cheap), children, nodes: 1, most_proving_move: None };
            let root = graph.root();
            assert!(graph.fold(root, &mut game.start(), 0, &found));
            let next = graph.select_depth_first(None, &[]).expect("it is open");
            assert_eq!(name(next.threshold), first, "{columns}x{rows}");
        }
    }
}

#[test]
fn what_is_not_asked_is_not_worked_on() {
    let from_draw = |all: Bounds| Bounds { upper: Outcome(all.upper.0 / 2), ..all };
    for depth_first in [false, true] {
        assert_eq!(worked_on(4, true, from_draw, depth_first), ["draw"]);
    }
}

#[test]
fn without_knowledge_the_effort_decides() {
    let first = &worked_on(4, false, |all| all, false)[0];
    assert!(!["win-15", "draw"].contains(&first.as_str()), "{first}");
}

#[test]
fn the_most_proving_move_is_that_of_the_threshold_that_is_worked_on() {
    for (knowledge, expected) in [(true, Move(2)), (false, Move(1))] {
        let game = board(5, 4).with_last_moves();
        let question = Question::Value(game.scale().bounds());
        let (first, count) = question.thresholds();
        let latest_win = game.scale().parse_goal(">=win-19").unwrap().threshold();
        let latest_win = usize::from(latest_win.0 - first.0);
        let settings = GraphSettings { knowledge, merge: false, ..plain(1 << 20) };
        let mut position = game.start();
        let mut graph = Graph::new(game, position, question, Several(count), settings);
        // Move 1 is the best for the lowest threshold, which takes least effort, move 2 for the latest win.
        let children = (0..5).map(|column| {
            let mut efforts = vec![EffortPair::UNIT; count];
            for (index, pair) in efforts.iter_mut().enumerate() {
                let easy = (index == 0 && column == 1) || (index == latest_win && column == 2);
                pair.proof = Effort::finite(if easy { 1 + 10 * index as u64 } else { 1000 });
            }
            ChildFindings { mv: Move(column), efforts }
        });
        let children = children.collect();
        let efforts = vec![EffortPair::UNIT; count];
        let found = Findings { efforts, children, nodes: 1, most_proving_move: None };
        assert!(graph.fold(graph.root(), &mut position, 0, &found));
        assert_eq!(graph.findings().most_proving_move, Some(expected), "{knowledge}");
    }
}
