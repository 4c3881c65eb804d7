//! What a report about a node settles of its children.

use super::*;

/// A report about one parent may settle a child that others have expanded: what is below it goes, and its jobs are moot.
#[test]
fn a_child_that_its_parents_report_settles_frees_what_is_below_it() {
    let game = Connect4::<u64>::new(5, 4).unwrap();
    let at = |moves: &[u16]| {
        let mut position = game.start();
        moves.iter().for_each(|&mv| game.play(&mut position, Move(mv)));
        position
    };
    let question = Question::Threshold(Threshold(2));
    let mut graph = Graph::new(game.clone(), game.start(), question, One, plain(u64::MAX));
    let place = |graph: &Graph<Connect4<u64>, One>, moves: &[u16]| {
        graph.nodes.find(game.key(&at(moves))).expect("it is in the graph")
    };
    let findings = |children| Findings {
        efforts: vec![EffortPair::UNIT],
        children,
        nodes: 0,
        most_proving_move: None,
    };
    // After 1 2 3 and after 3 2 1 the position is the same; its parent by the latter is a frontier node.
    for moves in [&[][..], &[0], &[2], &[0, 1], &[2, 1], &[0, 1, 2]] {
        if moves != [2, 1] {
            let node = place(&graph, moves);
            graph.fold(node, &mut at(moves), 0, &findings(Vec::new()));
        }
    }
    let (child, grandchild) = (place(&graph, &[0, 1, 2]), place(&graph, &[0, 1, 2, 4]));
    graph.lease(grandchild);
    let of_move = |mv| {
        let efforts = vec![if mv == 0 { EffortPair::solved(false) } else { EffortPair::UNIT }];
        crate::ChildFindings { mv: Move(mv), efforts }
    };
    let parent = place(&graph, &[2, 1]);
    graph.fold(parent, &mut at(&[2, 1]), 0, &findings((0..5).map(of_move).collect()));
    graph.tidy_up();
    assert_eq!(place(&graph, &[2, 1, 0]), child);
    assert!(graph.nodes.is_leaf(child), "what is settled needs no children");
    assert_eq!(graph.take_moot(), [grandchild]);
    graph.give_back(grandchild);
    graph.check_invariants();
}
