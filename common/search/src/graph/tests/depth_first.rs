//! Descents as one alpha-beta makes them.

use super::*;
use crate::effort::Effort;
use crate::efforts::Two;
use crate::job::ChildFindings;

/// A goal for Max on 7x6 without mirror images merged, with knowledge and these proof numbers of the root's seven children.
fn expanded(proofs: [u64; 7]) -> Graph<Connect4<u64>, One> {
    expanded_after(&[], (0..7).zip(proofs))
}

/// The same after some moves, with proof numbers of some children.
fn expanded_after(
    moves: &[u16],
    proofs: impl IntoIterator<Item = (u16, u64)>,
) -> Graph<Connect4<u64>, One> {
    expanded_on(Connect4::<u64>::new(7, 6).unwrap(), moves, proofs)
}

/// The same on another board.
fn expanded_on(
    game: Connect4<u64>,
    moves: &[u16],
    proofs: impl IntoIterator<Item = (u16, u64)>,
) -> Graph<Connect4<u64>, One> {
    expanded_with(true, game, moves, proofs)
}

/// The same with the game's knowledge or without.
fn expanded_with(
    knowledge: bool,
    game: Connect4<u64>,
    moves: &[u16],
    proofs: impl IntoIterator<Item = (u16, u64)>,
) -> Graph<Connect4<u64>, One> {
    let question = Question::Threshold(Threshold(2));
    let settings = GraphSettings { merge: false, knowledge, ..plain(1 << 20) };
    let mut position = game.start();
    moves.iter().for_each(|&column| game.play(&mut position, Move(column)));
    let mut graph = Graph::new(game, position, question, One, settings);
    let children = proofs.into_iter().map(|(column, proof)| {
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
    let selected = graph.select_depth_first(None, &[]).map(|next| (next.node, next.threshold));
    column(graph, selected)
}

/// Whether a second worker gets a subtree of its own beside a first one: something is needed that is free.
fn has_a_subtree_for_a_second(graph: &mut Graph<Connect4<u64>, One>) -> bool {
    let first = graph.select_depth_first(None, &[]).expect("a node");
    graph.lease(first.node);
    let others: Vec<&Subtree> = first.subtree.iter().collect();
    let second = graph.select_depth_first(None, &others).expect("a node");
    second.subtree.is_some()
}

/// A worker that searches depth first, and leases what it gets.
#[derive(Default)]
struct Worker {
    subtree: Option<Subtree>,
    /// The columns that lead to what it got last.
    way: Vec<u16>,
}

impl Worker {
    /// Gives it the next node, beside another worker; the columns that lead there.
    fn go_on(&mut self, graph: &mut Graph<Connect4<u64>, One>, other: &Worker) -> &[u16] {
        let others: Vec<&Subtree> = other.subtree.iter().collect();
        let next = graph.select_depth_first(self.subtree.as_ref(), &others).expect("a node");
        self.subtree = next.subtree;
        self.way = graph.path_moves().iter().map(|mv| mv.0).collect();
        graph.lease(next.node);
        &self.way
    }

    /// Has its job come back without an answer: its node is expanded.
    fn report(&self, graph: &mut Graph<Connect4<u64>, One>) {
        self.end(graph, EffortPair::UNIT);
    }

    /// Has its job come back with an answer.
    fn answer(&self, graph: &mut Graph<Connect4<u64>, One>, holds: bool) {
        self.end(graph, EffortPair::solved(holds));
    }

    fn end(&self, graph: &mut Graph<Connect4<u64>, One>, pair: EffortPair) {
        let root = after_two_moves();
        let way: Vec<Move> = self.way.iter().copied().map(Move).collect();
        let node = graph.locate(&root, &way).expect("it is in the graph");
        let mut position = root;
        way.iter().for_each(|&mv| graph.game().play(&mut position, mv));
        graph.give_back(node);
        let (efforts, children) = (vec![pair], Vec::new());
        let found = Findings { efforts, children, nodes: 1, most_proving_move: None };
        assert!(graph.fold(node, &mut position, 0, &found));
    }
}

/// Two moves after which no two columns are mirror images.
const TWO_MOVES: [u16; 2] = [0, 0];

fn after_two_moves() -> <Connect4<u64> as Game>::Position {
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let mut position = game.start();
    TWO_MOVES.iter().for_each(|&column| game.play(&mut position, Move(column)));
    position
}

/// The graph of that position, with these proof numbers of the root's seven children.
fn for_workers(proofs: [u64; 7]) -> Graph<Connect4<u64>, One> {
    expanded_after(&TWO_MOVES, (0..7).zip(proofs))
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
fn among_moves_of_the_root_that_promise_the_same_the_games_order_decides() {
    // As many lines go through each of the three cells in the middle of the lowest row.
    let board = Connect4::<u64>::new(9, 5).unwrap();
    let mut graph = expanded_on(board, &[], (0..9).map(|column| (column, 1)));
    assert_eq!(depth_first(&mut graph), 4);
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
    while let Some(NextInOrder { threshold, .. }) = graph.select_depth_first(None, &[]) {
        assert!(graph.expand(), "there is room");
        if worked_on.last() != Some(&threshold) {
            worked_on.push(threshold);
        }
    }
    assert!(graph.is_solved());
    assert_eq!(worked_on.len(), 2, "each once: {worked_on:?}");
}

#[test]
fn young_brothers_wait_until_one_is_refuted() {
    let mut graph = for_workers([2, 9, 9, 9, 9, 1, 9]);
    let (mut first, mut second) = (Worker::default(), Worker::default());
    assert_eq!(first.go_on(&mut graph, &second), [3]);
    assert_eq!(
        second.go_on(&mut graph, &first),
        [5],
        "nothing is needed for sure: the most proving"
    );
    assert_eq!(second.subtree, None);
    second.report(&mut graph);
    first.answer(&mut graph, false);
    assert_eq!(first.go_on(&mut graph, &second), [2], "the next one");
    assert_eq!(second.go_on(&mut graph, &first), [4], "its brother has to be refuted as well");
    second.answer(&mut graph, false);
    assert_eq!(second.go_on(&mut graph, &first), [1]);
    first.answer(&mut graph, true);
    assert!(graph.is_solved(), "but one that wins is enough");
}

#[test]
fn below_a_first_move_that_is_expected_to_win_no_brother_waits() {
    let mut graph = for_workers([2, 9, 9, 9, 9, 1, 9]);
    let (mut first, mut second) = (Worker::default(), Worker::default());
    assert_eq!(first.go_on(&mut graph, &second), [3]);
    first.report(&mut graph);
    let answer = first.go_on(&mut graph, &second).to_vec();
    assert_eq!((answer.len(), answer[0]), (2, 3));
    let other = second.go_on(&mut graph, &first).to_vec();
    assert_eq!((other.len(), other[0]), (2, 3), "all answers have to be refuted");
    assert_ne!(answer[1], other[1]);
    assert!(second.subtree.is_some());
    // At the nodes that these lead to, one child is expected to be enough again.
    first.report(&mut graph);
    second.report(&mut graph);
    assert_eq!(first.go_on(&mut graph, &second)[..2], answer);
    let third = Worker::default().go_on(&mut graph, &first).to_vec();
    assert_ne!(third[..2], answer);
}

#[test]
fn below_a_later_move_brothers_wait() {
    let mut graph = for_workers([2, 9, 9, 9, 9, 1, 9]);
    refute(&mut graph, 3);
    let (mut first, second) = (Worker::default(), Worker::default());
    assert_eq!(first.go_on(&mut graph, &second), [2]);
    first.report(&mut graph);
    assert_eq!(first.go_on(&mut graph, &second)[0], 2);
    assert_eq!(first.go_on(&mut graph, &second), [4], "no second answer to the other one");
}

#[test]
fn where_nobody_is_favoured_who_needs_more_effort_is_expected_to_lose() {
    // Without knowledge nobody is, and no draw is expected either. One proof number of 8 is more than seven disproof
    // numbers of 1.
    for (rows, proof, is_needed) in [(6, 8, true), (6, 7, false), (7, 8, true), (7, 7, false)] {
        let board = Connect4::<u64>::new(7, rows).unwrap();
        let proofs = (0..7).map(|column| (column, proof));
        let mut graph = expanded_with(false, board, &TWO_MOVES, proofs);
        let (mut first, mut second) = (Worker::default(), Worker::default());
        // The game's order without knowledge.
        assert_eq!(first.go_on(&mut graph, &second), [0]);
        let next = second.go_on(&mut graph, &first).to_vec();
        assert!(!is_needed || next == [1], "{next:?}");
        assert_eq!(second.subtree.is_some(), is_needed, "7x{rows}, proof numbers of {proof}");
    }
}

#[test]
fn where_a_draw_is_expected_the_win_is_expected_to_be_lost_and_the_draw_to_be_reached() {
    let board = Connect4::<u64>::new(7, 7).unwrap();
    let (win, draw) = (Threshold(2), Threshold(1));
    for (asked, moves, is_needed) in
        [(win, &[][..], true), (draw, &[], false), (win, &[0], false), (draw, &[0], true)]
    {
        let settings = GraphSettings { merge: false, knowledge: true, ..plain(1 << 20) };
        let mut position = board.start();
        moves.iter().for_each(|&column| board.play(&mut position, Move(column)));
        let question = Question::Threshold(asked);
        let mut graph = Graph::new(board.clone(), position, question, One, settings);
        assert!(graph.select().is_some() && graph.expand());
        let is_found = has_a_subtree_for_a_second(&mut graph);
        assert_eq!(is_found, is_needed, "{asked:?} after {moves:?}");
    }
}

#[test]
fn below_a_move_of_a_player_who_is_expected_to_lose_brothers_wait() {
    // The second player is favoured.
    let board = Connect4::<u64>::new(8, 6).unwrap();
    let mut graph = expanded_on(board, &[], (0..8).map(|column| (column, 9)));
    let first = graph.select_depth_first(None, &[]).expect("a node");
    assert!(graph.expand(), "there is room");
    let answer = graph.select_depth_first(first.subtree.as_ref(), &[]).expect("a node");
    assert_eq!(graph.path_moves().len(), 2);
    graph.lease(answer.node);
    graph.select_depth_first(answer.subtree.as_ref(), &[]).expect("a node");
    assert_eq!(graph.path_moves().len(), 1, "one answer is expected to be enough");
}

#[test]
fn who_is_favoured_is_expected_to_win_whatever_the_effort() {
    // The first player is favoured on the one board, the second on the other.
    for (rows, proof, is_needed) in [(5, 1000, false), (6, 1, true)] {
        let board = Connect4::<u64>::new(8, rows).unwrap();
        let mut graph = expanded_on(board, &[], (0..8).map(|column| (column, proof)));
        assert_eq!(has_a_subtree_for_a_second(&mut graph), is_needed, "8x{rows}");
    }
}

#[test]
fn what_the_game_sees_to_be_lost_refutes_no_brother() {
    // Whoever plays the fourth column lets the second player win above.
    let moves = [0, 1, 2, 0, 5, 1, 5, 2];
    let mut graph = expanded_after(&moves, [0, 1, 2, 4, 5, 6].map(|column| (column, 3)));
    assert!(graph.efforts(graph.children(graph.root())[3])[0].is_solved());
    let (mut first, mut second) = (Worker::default(), Worker::default());
    first.go_on(&mut graph, &second);
    second.go_on(&mut graph, &first);
    assert!(first.subtree.is_some());
    assert_eq!(second.subtree, None);
}

#[test]
fn each_worker_stays_in_its_subtree_until_that_is_solved() {
    let mut graph = for_workers([9; 7]);
    let (mut first, mut second) = (Worker::default(), Worker::default());
    assert_eq!(first.go_on(&mut graph, &second), [3]);
    first.answer(&mut graph, false);
    assert_eq!(first.go_on(&mut graph, &second), [2]);
    assert_eq!(second.go_on(&mut graph, &first), [4]);
    first.report(&mut graph);
    second.report(&mut graph);
    // Who comes first does not matter.
    assert_eq!(second.go_on(&mut graph, &first)[0], 4);
    assert_eq!(first.go_on(&mut graph, &second)[0], 2);
    second.report(&mut graph);
    assert_eq!(second.go_on(&mut graph, &first).len(), 3);
    assert_eq!(second.way[0], 4);
    first.answer(&mut graph, false);
    assert_eq!(first.go_on(&mut graph, &second), [1], "its own is refuted, the next is not free");
}

#[test]
fn a_second_job_of_a_worker_goes_into_its_subtree_first() {
    let mut graph = for_workers([9; 7]);
    let (mut first, nobody) = (Worker::default(), Worker::default());
    first.go_on(&mut graph, &nobody);
    first.answer(&mut graph, false);
    assert_eq!(first.go_on(&mut graph, &nobody), [2]);
    first.report(&mut graph);
    assert_eq!(first.go_on(&mut graph, &nobody).len(), 2);
    first.answer(&mut graph, true);
    let one = first.go_on(&mut graph, &nobody).to_vec();
    let other = first.go_on(&mut graph, &nobody).to_vec();
    assert_ne!(one, other);
    assert_eq!(
        (one[0], other[0]),
        (2, 2),
        "two answers to a move that one answer was not enough against"
    );
}

#[test]
fn a_subtree_is_for_one_threshold() {
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let question = Question::Value(game.scale().bounds());
    let settings = GraphSettings { merge: false, knowledge: true, ..plain(1 << 20) };
    let root = after_two_moves();
    let mut graph = Graph::new(game.clone(), root, question, Two, settings);
    assert!(graph.select().is_some() && graph.expand());
    let (mut subtree, mut columns) = (None, Vec::new());
    loop {
        let next = graph.select_depth_first(subtree.as_ref(), &[]).expect("the draw is open");
        columns.push(graph.path_moves()[0].0);
        subtree = next.subtree;
        if next.threshold == 0 {
            break;
        }
        // It is no win, whatever the answer.
        let mut position = *graph.position();
        let efforts = vec![EffortPair::UNIT, EffortPair::solved(false)];
        let child = |column| ChildFindings { mv: Move(column), efforts: efforts.clone() };
        let (children, efforts) = ((0..7).map(child).collect(), efforts.clone());
        let found = Findings { efforts, children, nodes: 1, most_proving_move: None };
        assert!(graph.fold(next.node, &mut position, 0, &found));
    }
    assert_eq!(columns[..7], [3, 2, 4, 1, 5, 0, 6]);
    assert_eq!(columns[7..], [3], "from the first one on again, not where the last one was");
}
