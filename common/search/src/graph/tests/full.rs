//! Graphs that are full nearly all the time, and what is freed of them in slices.

use std::collections::HashMap;
use std::ops::Range;

use super::*;
use crate::efforts::still_open;

impl<G: Game, W: Width> Graph<G, W> {
    /// What each node matters for by the definition: all ways from the root to it.
    fn relevance(&self) -> HashMap<NodeId, Range<usize>> {
        let open = still_open(self.root_efforts(), 0..self.evaluation.width());
        let mut relevance: HashMap<NodeId, Range<usize>> = HashMap::default();
        let mut pending = vec![(self.root, open)];
        while let Some((node, open)) = pending.pop() {
            let known = relevance.get(&node).cloned().unwrap_or(open.clone());
            let wider = known.start.min(open.start)..known.end.max(open.end);
            if open.is_empty() || relevance.get(&node) == Some(&wider) {
                continue;
            }
            relevance.insert(node, wider.clone());
            let children = self.nodes.children(node);
            pending.extend(children.map(|n| (n, still_open(self.nodes.pairs(n), wider.clone()))));
        }
        relevance
    }

    /// The nodes that pruning leaves: those that matter, and their children.
    fn left_by_pruning(&self) -> HashSet<NodeId> {
        let relevance = self.relevance();
        let children = relevance.keys().flat_map(|&node| self.nodes.children(node));
        children.chain(relevance.keys().copied()).chain([self.root]).collect()
    }
}

/// What a search finds out about a position that it solves.
fn solved<G: Game>(game: &G, position: &mut G::Position, question: Question) -> Findings {
    let value = jlpns_minimax::value(game, position, u64::MAX).expect("there is no limit");
    let (first, count) = question.thresholds();
    let efforts = (0..count as u8)
        .map(|index| EffortPair::solved(Threshold(first.0 + index).holds(value)))
        .collect();
    Findings { efforts, children: Vec::new(), nodes: 1, most_proving_move: None }
}

/// Solves in `memory` bytes, with jobs some of which solve their node: else the same nodes would be
/// shed and found again for ever.
fn solve_in<G: Game, W: Width>(
    game: &G,
    root: &G::Position,
    width: W,
    settings: GraphSettings,
    choices: &[usize],
) -> (Bounds, Shed) {
    let question = Question::Value(game.scale().bounds());
    let mut graph = Graph::new(game.clone(), root.clone(), question, width, settings);
    let nothing = Findings {
        efforts: vec![EffortPair::UNIT; width.get()],
        children: Vec::new(),
        nodes: 0,
        most_proving_move: None,
    };
    let mut out: Vec<(NodeId, G::Position)> = Vec::new();
    let mut choices = choices.iter().copied().cycle().enumerate();
    while !graph.is_solved() {
        let (step, choice) = choices.next().expect("it never ends");
        while out.len() <= choice % 3
            && let Some((node, _)) = graph.select()
        {
            out.push((node, graph.position().clone()));
            graph.lease(node);
        }
        assert!(!out.is_empty(), "without a lease out something can be selected");
        let (node, mut position) = out.remove(choice / 4 % out.len());
        if choice % 5 == 0 || step > 400 {
            let found = solved(game, &mut position, question);
            graph.fold(node, &mut position, 0, &found);
        } else {
            graph.fold(node, &mut position, 0, &nothing);
        }
        if choice % 7 == 0 {
            graph.begin_pruning(choice % 2 == 0);
        }
        if choice % 3 == 0 {
            graph.tidy();
        }
        for moot in graph.take_moot() {
            out.retain(|&(node, _)| node != moot);
            graph.give_back(moot);
        }
        graph.check_invariants();
    }
    (question.bounds(graph.root_efforts(), game.scale()), graph.shed())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn full_connect4_has_the_minimax_value(
        settings in settings(),
        memory in 1_000u64..20_000,
        size in prop::sample::select(vec![(4, 4), (3, 5), (5, 3)]),
        walked in prop::collection::vec(0usize..5, 5..8),
        choices in prop::collection::vec(any::<usize>(), 64),
    ) {
        let game = Connect4::<u64>::new(size.0, size.1).unwrap();
        let (mut root, _) = after_choices(&game, &walked);
        let value = jlpns_minimax::value(&game, &mut root, u64::MAX).expect("there is no limit");
        let settings = GraphSettings { memory, ..settings };
        let (found, _) = solve_in(&game, &root, Several(2), settings, &choices);
        prop_assert_eq!(found, Bounds::exactly(value));
    }

    #[test]
    fn full_woodpush_has_the_minimax_value(
        settings in settings(),
        memory in 1_000u64..20_000,
        start in prop::sample::select(vec!["L.L.RR", "LR..L.", "RL..RL", "LL..R.R"]),
        walked in prop::collection::vec(0usize..5, 1..4),
        choices in prop::collection::vec(any::<usize>(), 64),
    ) {
        let game = Woodpush::from_text(start).unwrap();
        let (mut root, _) = after_choices(&game, &walked);
        let value = jlpns_minimax::value(&game, &mut root, u64::MAX).expect("there is no limit");
        let width = Several(Question::Value(game.scale().bounds()).thresholds().1);
        let settings = GraphSettings { memory, ..settings };
        let (found, _) = solve_in(&game, &root, width, settings, &choices);
        prop_assert_eq!(found, Bounds::exactly(value));
    }

    #[test]
    fn full_coins_of_many_outcomes_have_the_minimax_value(
        settings in settings(),
        memory in 1_000u64..200_000,
        row in prop::sample::select(vec![&[5, 9, 3, 8, 8, 0][..], &[60, 21, 54, 3, 77, 39]]),
        walked in prop::collection::vec(0usize..2, 0..2),
        choices in prop::collection::vec(any::<usize>(), 64),
    ) {
        let game = Coins::new(row).unwrap();
        let (mut root, _) = after_choices(&game, &walked);
        let value = jlpns_minimax::value(&game, &mut root, u64::MAX).expect("there is no limit");
        let settings = GraphSettings { memory, ..settings };
        let (found, _) = with_width!(game.scale().len() - 1, width => {
            solve_in(&game, &root, width, settings, &choices)
        });
        prop_assert_eq!(found, Bounds::exactly(value));
    }

    #[test]
    fn pruning_leaves_what_matters_and_its_children(
        settings in settings(),
        steps in 1usize..300,
        solves in prop::collection::vec(any::<usize>(), 16),
        one in any::<bool>(),
    ) {
        let game = Connect4::<u64>::new(4, 4).unwrap();
        let (root, _) = after_choices(&game, &[0, 1, 2, 3]);
        if one {
            let question = Question::Threshold(Threshold(1));
            let graph = Graph::new(game, root, question, One, settings);
            check_pruning(graph, steps, &solves)?;
        } else {
            let question = Question::Value(game.scale().bounds());
            let graph = Graph::new(game, root, question, Several(2), settings);
            check_pruning(graph, steps, &solves)?;
        }
    }
}

/// After some expansions, and some nodes that were found solved by a search.
fn check_pruning<G: Game, W: Width>(
    mut graph: Graph<G, W>,
    steps: usize,
    solves: &[usize],
) -> Result<(), TestCaseError> {
    let question = graph.question();
    let (width, game) = (graph.evaluation.width(), graph.game.clone());
    let nothing = Findings {
        efforts: vec![EffortPair::UNIT; width],
        children: Vec::new(),
        nodes: 0,
        most_proving_move: None,
    };
    for (step, choice) in solves.iter().cycle().take(steps).enumerate() {
        let Some((node, _)) = graph.select() else { break };
        let mut position = graph.position().clone();
        let solves = step > 8 && choice % 8 == 0;
        let found = if solves { solved(&game, &mut position, question) } else { nothing.clone() };
        graph.fold(node, &mut position, 0, &found);
    }
    graph.tidy_up();
    // What is below a root that is solved is kept: it may be asked for its best move.
    if graph.is_solved() {
        return Ok(());
    }
    let left = graph.left_by_pruning();
    graph.begin_pruning(true);
    graph.tidy_up();
    prop_assert_eq!(graph.nodes.ids().collect::<HashSet<_>>(), left);
    graph.check_invariants();
    Ok(())
}

/// The bytes of a graph that was grown until it gave nodes up, with so many held beside it.
fn full_size(memory: u64, beside: u64) -> u64 {
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let question = Question::Value(game.scale().bounds());
    let settings = plain(memory);
    let mut graph = Graph::new(game.clone(), game.start(), question, Several(2), settings);
    graph.note_held_beside(beside);
    let nothing = Findings {
        efforts: vec![EffortPair::UNIT; 2],
        children: Vec::new(),
        nodes: 0,
        most_proving_move: None,
    };
    while graph.shed().nodes == 0 {
        let (node, _) = graph.select().expect("a frontier node");
        let mut position = *graph.position();
        graph.fold(node, &mut position, 0, &nothing);
    }
    graph.bytes()
}

#[test]
fn what_is_held_beside_a_graph_is_of_its_memory() {
    let memory = 1 << 20;
    let (alone, shared) = (full_size(memory, 0), full_size(memory, memory / 4));
    let kept_to = |size: u64, limit: u64| size <= limit + limit / 16 && size >= limit / 2;
    assert!(kept_to(alone, memory) && kept_to(shared, memory / 4 * 3), "{alone} {shared}");
    let crowded = full_size(memory, u64::MAX);
    assert!(kept_to(crowded, memory / 2), "half of it stays: {crowded}");
}
