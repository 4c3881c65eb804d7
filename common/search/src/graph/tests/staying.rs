//! Descents that stay with what was selected before.

use super::*;
use crate::effort::Effort;
use crate::efforts::Two;
use crate::job::ChildFindings;

/// A goal for Max on 7x6 without mirror images merged, with these proof numbers of the root's seven children.
fn expanded(proofs: [u64; 7]) -> Graph<Connect4<u64>, One> {
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let question = Question::Threshold(Threshold(2));
    let settings = GraphSettings { merge: false, ..plain(1 << 20) };
    let mut position = game.start();
    let mut graph = Graph::new(game, position, question, One, settings);
    let children = (0..7).zip(proofs).map(|(column, proof)| {
        let pair = EffortPair { proof: Effort::finite(proof), disproof: Effort::ONE };
        ChildFindings { mv: Move(column), efforts: vec![pair] }
    });
    let (efforts, children) = (vec![EffortPair::UNIT], children.collect());
    let found = Findings { efforts, children, nodes: 1, most_proving_move: None };
    assert!(graph.fold(graph.root(), &mut position, 0, &found));
    graph
}

/// Which column leads to the node that is selected.
fn selected(graph: &mut Graph<Connect4<u64>, One>, epsilon: Option<f64>) -> usize {
    let selected = match epsilon {
        Some(epsilon) => graph.select_staying(epsilon),
        None => graph.select(),
    };
    let (node, _) = selected.expect("a frontier node");
    graph.children(graph.root()).iter().position(|&child| child == node).expect("a child")
}

/// Has a child of the root take other numbers, as a job that is given up would.
fn set(graph: &mut Graph<Connect4<u64>, One>, column: usize, proof: u64) {
    let child = graph.children(graph.root())[column];
    graph.lease(child);
    let pair = EffortPair { proof: Effort::finite(proof), disproof: Effort::ONE };
    graph.refresh(child, 0, &[pair]);
    graph.give_back(child);
}

#[test]
fn a_descent_stays_until_its_child_takes_more_than_1_plus_epsilon_times_the_least() {
    let mut graph = expanded([9, 9, 9, 2, 3, 9, 9]);
    assert_eq!(selected(&mut graph, Some(1.0)), 3);
    set(&mut graph, 3, 6);
    assert_eq!(selected(&mut graph, Some(1.0)), 3, "twice the least is within");
    assert_eq!(selected(&mut graph, None), 4, "who does not stay goes to the least");
    assert_eq!(selected(&mut graph, Some(1.0)), 3, "which the others do not follow");
    set(&mut graph, 3, 7);
    assert_eq!(selected(&mut graph, Some(1.0)), 4);
    set(&mut graph, 3, 2);
    assert_eq!(selected(&mut graph, Some(1.0)), 4, "from now on they stay here");
    assert_eq!(selected(&mut graph, Some(0.0)), 3);
}

#[test]
fn a_child_whose_job_is_out_is_come_back_to() {
    let mut graph = expanded([9, 9, 9, 2, 3, 4, 9]);
    assert_eq!(selected(&mut graph, Some(8.0)), 3);
    let child = graph.children(graph.root())[3];
    graph.lease(child);
    assert_eq!(selected(&mut graph, Some(8.0)), 4);
    assert_eq!(selected(&mut graph, Some(8.0)), 4);
    graph.give_back(child);
    set(&mut graph, 3, 10);
    assert_eq!(selected(&mut graph, Some(8.0)), 3, "not the one that was a way out");
}

#[test]
fn a_value_is_asked_for_one_threshold_after_the_other() {
    let game = Connect4::<u64>::new(4, 4).unwrap();
    let question = Question::Value(game.scale().bounds());
    let mut graph = Graph::new(game.clone(), game.start(), question, Two, plain(1 << 24));
    let mut worked_on: Vec<usize> = Vec::new();
    while let Some((_, threshold)) = graph.select_staying(1e9) {
        assert!(graph.expand(), "there is room");
        if worked_on.last() != Some(&threshold) {
            worked_on.push(threshold);
        }
    }
    assert!(graph.is_solved());
    assert_eq!(worked_on.len(), 2, "each once: {worked_on:?}");
}
