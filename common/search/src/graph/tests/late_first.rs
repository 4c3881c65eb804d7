//! Which of a root's thresholds is worked on, where the outcomes tell on which move the game is won.

use super::*;

/// The names of the root's thresholds in the order in which they were worked on until all asked within `bounds` were
/// solved, on 4x4.
fn worked_on(knowledge: bool, bounds: impl Fn(Bounds) -> Bounds, depth_first: bool) -> Vec<String> {
    let game = Connect4::<u64>::new(4, 4).unwrap().with_last_moves();
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
        assert_eq!(worked_on(true, |all| all, depth_first), ["win-15", "draw"]);
    }
}

#[test]
fn what_is_not_asked_is_not_worked_on() {
    let from_draw = |all: Bounds| Bounds { upper: Outcome(all.upper.0 / 2), ..all };
    for depth_first in [false, true] {
        assert_eq!(worked_on(true, from_draw, depth_first), ["draw"]);
    }
}

#[test]
fn without_knowledge_the_effort_decides() {
    assert_ne!(worked_on(false, |all| all, false)[0], "win-15");
}
