//! Descents as one alpha-beta makes them.

use super::*;
use crate::effort::Effort;
use crate::efforts::Two;
use crate::job::ChildFindings;

/// A goal for Max on 7x6 without mirror images merged, with knowledge and these proof numbers of the root's seven children.
fn expanded(proofs: [u64; 7]) -> Graph<Connect4<u64>, One> {
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let question = Question::Threshold(Threshold(2));
    let settings = GraphSettings { merge: false, knowledge: true, ..plain(1 << 20) };
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
fn column(graph: &Graph<Connect4<u64>, One>, selected: Option<(NodeId, usize)>) -> usize {
    let (node, _) = selected.expect("a frontier node");
    graph.children(graph.root()).iter().position(|&child| child == node).expect("a child")
}

fn depth_first(graph: &mut Graph<Connect4<u64>, One>) -> usize {
    let selected = graph.select_depth_first();
    column(graph, selected)
}

/// Has a child of the root take another proof number, as a job that is given up would.
fn set(graph: &mut Graph<Connect4<u64>, One>, column: usize, proof: u64) {
    let child = graph.children(graph.root())[column];
    graph.lease(child);
    let pair = EffortPair { proof: Effort::finite(proof), disproof: Effort::ONE };
    graph.refresh(child, 0, &[pair]);
    graph.give_back(child);
}

/// Has a child of the root be refuted.
fn refute(graph: &mut Graph<Connect4<u64>, One>, column: usize) {
    let child = graph.children(graph.root())[column];
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let mut position = game.start();
    game.play(&mut position, Move(column as u16));
    let efforts = vec![EffortPair::solved(false)];
    let found = Findings { efforts, children: Vec::new(), nodes: 1, most_proving_move: None };
    assert!(graph.fold(child, &mut position, 0, &found));
}

#[test]
fn a_descent_goes_in_the_games_order_and_stays_until_its_child_is_solved() {
    let mut graph = expanded([2, 9, 9, 9, 9, 1, 9]);
    assert_eq!(depth_first(&mut graph), 3, "most lines cross the centre");
    set(&mut graph, 3, 1_000_000);
    assert_eq!(depth_first(&mut graph), 3, "whatever effort it takes");
    let best_first = graph.select();
    assert_eq!(column(&graph, best_first), 5);
    assert_eq!(depth_first(&mut graph), 3, "which the others do not follow");
    let mut order = Vec::new();
    while !graph.is_solved() {
        let next = depth_first(&mut graph);
        assert_eq!(depth_first(&mut graph), next);
        order.push(next);
        refute(&mut graph, next);
    }
    assert_eq!(order, [3, 2, 4, 1, 5, 0, 6]);
}

#[test]
fn a_child_whose_job_is_out_is_come_back_to() {
    let mut graph = expanded([9, 9, 9, 2, 3, 1, 9]);
    assert_eq!(depth_first(&mut graph), 3);
    let child = graph.children(graph.root())[3];
    graph.lease(child);
    assert_eq!(depth_first(&mut graph), 5, "what takes the least effort");
    graph.give_back(child);
    assert_eq!(depth_first(&mut graph), 3, "not the one that was a way out");
    graph.lease(child);
    set(&mut graph, 5, 20);
    assert_eq!(depth_first(&mut graph), 4);
    graph.give_back(child);
    refute(&mut graph, 3);
    assert_eq!(depth_first(&mut graph), 2);
}

#[test]
fn a_value_is_asked_for_one_threshold_after_the_other() {
    let game = Connect4::<u64>::new(4, 4).unwrap();
    let question = Question::Value(game.scale().bounds());
    let mut graph = Graph::new(game.clone(), game.start(), question, Two, plain(1 << 24));
    let mut worked_on: Vec<usize> = Vec::new();
    while let Some((_, threshold)) = graph.select_depth_first() {
        assert!(graph.expand(), "there is room");
        if worked_on.last() != Some(&threshold) {
            worked_on.push(threshold);
        }
    }
    assert!(graph.is_solved());
    assert_eq!(worked_on.len(), 2, "each once: {worked_on:?}");
}
