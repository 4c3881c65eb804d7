//! Dumps in slices: what may happen to the graph between two of them.

use super::*;

/// A graph of some thousand nodes.
fn grown() -> Graph<Connect4<u64>, Several> {
    let game = Connect4::new(5, 5).expect("a size that fits 64 bits");
    let question = Question::Value(game.scale().bounds());
    let settings = plain(u64::MAX);
    let width = Several(question.thresholds().1);
    let mut graph = Graph::new(game.clone(), game.start(), question, width, settings);
    grow(&mut graph, 3_000);
    graph
}

fn grow(graph: &mut Graph<Connect4<u64>, Several>, nodes: u64) {
    let before = graph.created();
    while graph.created() < before + nodes && graph.select().is_some() {
        graph.expand();
    }
}

fn dumped(graph: &Graph<Connect4<u64>, Several>) -> Vec<u8> {
    let mut bytes = Vec::new();
    graph.dump(&mut bytes);
    bytes
}

fn restored(of: &Graph<Connect4<u64>, Several>, bytes: &[u8]) -> Graph<Connect4<u64>, Several> {
    let (game, start) = (of.game.clone(), of.game.start());
    let width = of.evaluation.width;
    Graph::restore(game, start, of.question, width, of.settings, bytes).expect("whole")
}

#[test]
fn slices_of_any_size_give_the_same_bytes() {
    let graph = grown();
    let mut whole = b"before".to_vec();
    graph.dump(&mut whole);
    for places in [1, 7, 1_000, usize::MAX] {
        let mut dump = graph.begin_dump(b"before".to_vec());
        let mut slices = 1;
        while !graph.dump_slice(&mut dump, places) {
            slices += 1;
        }
        assert!(slices >= graph.live() / places, "{slices} of {places}");
        assert_eq!(dump.into_bytes(), whole);
    }
}

#[test]
fn leases_that_come_and_go_between_slices_change_nothing_that_is_restored() {
    let mut graph = grown();
    let before = restored(&graph, &dumped(&graph));
    let mut dump = graph.begin_dump(Vec::new());
    let mut out = Vec::new();
    while !graph.dump_slice(&mut dump, 50) {
        for _ in 0..3 {
            let (node, _) = graph.select().expect("something is open");
            graph.lease(node);
            out.push(node);
        }
        if out.len() > 12 {
            graph.give_back(out.remove(out.len() / 2));
        }
    }
    assert!(out.len() > 12, "leases are out");
    assert_eq!(dumped(&restored(&graph, &dump.into_bytes())), dumped(&before));
}

#[test]
fn a_dump_begins_anew_when_nodes_have_come() {
    let mut graph = grown();
    let mut dump = graph.begin_dump(b"before".to_vec());
    assert!(!graph.dump_slice(&mut dump, 2_000));
    grow(&mut graph, 100);
    while !graph.dump_slice(&mut dump, 2_000) {}
    let mut whole = b"before".to_vec();
    graph.dump(&mut whole);
    assert_eq!(dump.into_bytes(), whole);
}
