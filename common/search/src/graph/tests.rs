use std::collections::HashSet;

use jlpns_games::connect4::Connect4;
use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Bounds, Outcome, Threshold};
use jlpns_minimax::{self, after_choices};
use proptest::prelude::*;

use super::*;
use crate::efforts::{One, PairOfChildren, Several, ThresholdSet};
use crate::tree::Tree;
use crate::with_width;

#[path = "../../tests/searches/many_outcomes/coins.rs"]
#[expect(dead_code, reason = "its specs are for tests of whole solves")]
mod coins;
mod depth_first;
mod dump;
mod full;
mod late_first;
mod ranks;
mod settled_children;

use coins::Coins;

/// The settings of a graph with nothing but its memory to say of it.
fn plain(memory: u64) -> GraphSettings {
    GraphSettings {
        initialisation: Initialisation::Unit,
        merge: true,
        selection: Selection::Locking,
        memory,
        knowledge: false,
        ranked: false,
    }
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Every node's numbers follow from its children's, parents and children know each other, and
    /// locks are where leases are.
    fn check_invariants(&self) {
        // Orphans wait to be freed, with what hangs by them.
        let orphans = self.nodes.ids().filter(|&id| self.nodes.is_orphan(id));
        let mut pending: Vec<NodeId> = std::iter::once(self.root).chain(orphans).collect();
        let mut seen: HashSet<NodeId> = pending.iter().copied().collect();
        let mut leased = 0;
        while let Some(node) = pending.pop() {
            leased += usize::from(self.nodes.has(node, Mark::Leased));
            assert!(self.nodes.is_live(node));
            assert!(!self.nodes.has(node, Mark::Queued), "the worklist is empty between calls");
            for child in self.nodes.children(node) {
                assert!(self.nodes.parents(child).contains(&node));
                if seen.insert(child) {
                    pending.push(child);
                }
            }
            if self.nodes.is_leaf(node) {
                continue;
            }
            for index in 0..self.evaluation.width() {
                let pair = self.nodes.pair(node, index);
                if pair.is_solved() || self.leased > 0 {
                    continue;
                }
                let mut expected = PairOfChildren::new(self.nodes.player(node));
                for child in self.nodes.children(node) {
                    expected.add(self.nodes.pair(child, index));
                }
                assert_eq!(pair, expected.pair());
                assert!(self.locks.get(node).is_empty(), "no lease is out");
            }
        }
        assert_eq!(leased, self.leased);
        if self.settings.merge {
            let found = |&id: &NodeId| self.nodes.find(self.nodes.key(id)) == Some(id);
            assert!(self.nodes.ids().all(|id| found(&id)), "every node is found by its key");
            assert_eq!(self.nodes.index.len(), self.live(), "and no other is");
        }
        assert_eq!(seen.len(), self.live(), "every node in memory can be reached");
    }
}

/// Selects depth first for one of three workers.
fn depth_first_for<G: Game, W: Width>(
    graph: &mut Graph<G, W>,
    subtrees: &mut [Option<Subtree>; 3],
    worker: usize,
) -> Option<NodeId> {
    let others = (0..3).filter(|&other| other != worker);
    let others: Vec<&Subtree> = others.filter_map(|other| subtrees[other].as_ref()).collect();
    let next = graph.select_depth_first(subtrees[worker].as_ref(), &others)?;
    subtrees[worker] = next.subtree;
    Some(next.node)
}

/// Solves with up to `slots` nodes leased at a time, given back in an order that `choices` says,
/// and some of them without having been searched. Some descents are depth first, others best first.
fn solve_with_leases<G: Game, W: Width>(
    game: &G,
    position: &G::Position,
    question: Question,
    width: W,
    settings: GraphSettings,
    slots: usize,
    choices: &[usize],
) -> Bounds {
    let mut graph = Graph::new(game.clone(), position.clone(), question, width, settings);
    let mut out: Vec<(NodeId, G::Position)> = Vec::new();
    let mut subtrees = [None, None, None];
    let mut choices = choices.iter().copied().cycle();
    while !graph.is_solved() {
        while out.len() < slots
            && let Some(node) = match choices.next().unwrap_or(0) % 4 {
                3 => graph.select().map(|(node, _)| node),
                worker => depth_first_for(&mut graph, &mut subtrees, worker),
            }
        {
            let position = graph.position().clone();
            graph.lease(node);
            assert!(out.iter().all(|&(other, _)| other != node), "no node is leased twice");
            out.push((node, position));
        }
        assert!(!out.is_empty(), "without a lease out something can be selected");
        let choice = choices.next().unwrap_or(0);
        let (node, mut below) = out.remove(choice / 4 % out.len());
        graph.give_back(node);
        if choice % 4 != 0 {
            let nothing = Findings {
                efforts: vec![EffortPair::UNIT; graph.efforts(node).len()],
                children: Vec::new(),
                nodes: 0,
                most_proving_move: None,
            };
            graph.fold(node, &mut below, 0, &nothing);
        }
        for moot in graph.take_moot() {
            out.retain(|&(node, _)| node != moot);
            graph.give_back(moot);
        }
        graph.check_invariants();
        if choice % 3 == 0 {
            graph.tidy();
            graph.check_invariants();
        }
        if choice % 16 == 7 {
            graph.tidy_up();
            graph = through_bytes(graph, position);
            out.clear();
        }
    }
    question.bounds(graph.root_efforts(), game.scale())
}

/// The graph after a dump and its return, without leases.
fn through_bytes<G: Game, W: Width>(graph: Graph<G, W>, position: &G::Position) -> Graph<G, W> {
    let mut bytes = Vec::new();
    graph.dump(&mut bytes);
    let restore = |bytes: &[u8]| {
        let (game, width) = (graph.game.clone(), graph.evaluation.width);
        Graph::restore(game, position.clone(), graph.question, width, graph.settings, bytes)
    };
    let restored = restore(&bytes).expect("what was dumped can be restored");
    restored.check_invariants();
    assert_eq!(restored.live(), graph.live());
    assert_eq!(restored.created(), graph.created());
    let frontier = |graph: &Graph<G, W>| {
        let leaves = graph.nodes.ids().filter(|&id| graph.nodes.is_leaf(id));
        let mut leaves: Vec<_> = leaves
            .map(|id| (graph.nodes.key(id), format!("{:?}", graph.actual_efforts(id))))
            .collect();
        leaves.sort_unstable();
        leaves
    };
    assert_eq!(frontier(&restored), frontier(&graph));
    // A dump that is cut off anywhere is refused.
    let cut = bytes.len() * (graph.live() % 7) / 7;
    assert!(restore(&bytes[..cut]).is_err());
    restored
}

fn check_leases<G: Game>(
    game: &G,
    position: &mut G::Position,
    settings: GraphSettings,
    slots: usize,
    choices: &[usize],
) {
    let value = jlpns_minimax::value(game, position, u64::MAX).expect("there is no limit");
    let all = Question::Value(game.scale().bounds());
    let found = with_width!(all.thresholds().1, width => {
        solve_with_leases(game, position, all, width, settings, slots, choices)
    });
    assert_eq!(found, Bounds::exactly(value));
    for threshold in (0..=game.scale().len() as u8).map(Threshold) {
        let one = Question::Threshold(threshold);
        let found = solve_with_leases(game, position, one, One, settings, slots, choices);
        assert_eq!(found.verdict(threshold), Some(threshold.holds(value)), "{threshold:?}");
    }
}

fn settings() -> impl Strategy<Value = GraphSettings> {
    (
        prop::sample::select(vec![Initialisation::Unit, Initialisation::Mobility]),
        any::<bool>(),
        prop::sample::select(vec![
            Selection::Locking,
            Selection::VirtualWin,
            Selection::VirtualLoss,
        ]),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(initialisation, merge, selection, knowledge, ranked)| GraphSettings {
            initialisation,
            merge,
            selection,
            memory: u64::MAX,
            knowledge,
            ranked,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn leased_connect4_has_the_minimax_value(
        settings in settings(),
        size in prop::sample::select(vec![(3, 4), (4, 3), (4, 4), (3, 5), (5, 3)]),
        walked in prop::collection::vec(0usize..5, 6..10),
        slots in 1usize..6,
        choices in prop::collection::vec(any::<usize>(), 16),
    ) {
        let game = Connect4::<u64>::new(size.0, size.1).unwrap();
        check_leases(&game, &mut after_choices(&game, &walked).0, settings, slots, &choices);
    }

    #[test]
    fn leased_woodpush_has_the_minimax_value(
        settings in settings(),
        start in prop::sample::select(vec!["L....R", "L.L.RR", "LR..L.", "RL..RL", "LL..R.R"]),
        walked in prop::collection::vec(0usize..5, 2..6),
        slots in 1usize..6,
        choices in prop::collection::vec(any::<usize>(), 16),
    ) {
        let game = Woodpush::from_text(start).unwrap();
        check_leases(&game, &mut after_choices(&game, &walked).0, settings, slots, &choices);
    }

    #[test]
    fn leased_coins_of_many_outcomes_have_the_minimax_value(
        settings in settings(),
        row in prop::sample::select(vec![
            &[5, 9, 3, 8, 8][..], &[13, 1, 22, 9, 17, 8], &[60, 21, 54, 3, 77, 39]]),
        walked in prop::collection::vec(0usize..2, 0..3),
        slots in 1usize..6,
        choices in prop::collection::vec(any::<usize>(), 16),
    ) {
        let game = Coins::new(row).unwrap();
        check_leases(&game, &mut after_choices(&game, &walked).0, settings, slots, &choices);
    }
}

#[test]
fn without_merging_the_graph_is_the_tree() {
    let game = Woodpush::standard(8).unwrap();
    for initialisation in [Initialisation::Unit, Initialisation::Mobility] {
        for threshold in 0..=4 {
            let question = Question::Threshold(Threshold(threshold));
            let settings = GraphSettings { initialisation, merge: false, ..plain(u64::MAX) };
            let mut graph = Graph::new(game.clone(), game.start(), question, One, settings);
            while graph.select().is_some() {
                assert!(graph.expand());
            }
            let mut tree =
                Tree::new(&game, game.start(), question, One, initialisation, usize::MAX);
            while !tree.is_solved() {
                tree.select();
                assert!(tree.expand());
                tree.backup();
            }
            assert_eq!(
                (graph.descents(), graph.created(), graph.root_efforts()),
                (tree.descents(), tree.created(), tree.root_efforts())
            );
        }
    }
}

#[test]
fn a_full_graph_refuses_to_expand_and_stays_as_it_was() {
    let game = Connect4::<u64>::new(5, 4).unwrap();
    let settings = plain(20_000);
    let question = Question::Value(game.scale().bounds());
    let mut graph = Graph::new(game.clone(), game.start(), question, Several(2), settings);
    while graph.select().is_some() && graph.expand() {}
    assert!(!graph.is_solved());
    assert!(graph.bytes() >= 20_000);
    let before = graph.root_efforts().to_vec();
    graph.select().expect("a frontier node is left");
    assert!(!graph.expand());
    assert_eq!(graph.root_efforts(), before);
    graph.check_invariants();
}

proptest! {
    #[test]
    fn findings_name_every_legal_move_even_where_mirror_images_share_a_node(
        settings in settings(), choices in prop::collection::vec(0usize..64, 0..6),
        descents in 1usize..200) {
        let game = Connect4::<u64>::new(5, 4).unwrap();
        let (root, _) = after_choices(&game, &choices);
        let question = Question::Value(game.scale().bounds());
        let mut graph = Graph::new(game.clone(), root, question, Several(2), settings);
        let mut legal = MoveList::new();
        game.moves(&root, &mut legal);
        for _ in 0..descents {
            if graph.select().is_none() || !graph.expand() {
                break;
            }
            let found: Vec<Move> = graph.findings().children.iter().map(|c| c.mv).collect();
            prop_assert!(found == legal.to_vec() || graph.is_solved() && found.is_empty());
        }
    }
}

#[test]
fn a_full_graph_sheds_what_can_be_found_again_when_findings_come_in() {
    let game = Connect4::<u64>::new(5, 4).unwrap();
    let memory = 20_000;
    let settings = GraphSettings { initialisation: Initialisation::Mobility, ..plain(memory) };
    let question = Question::Value(game.scale().bounds());
    let mut graph = Graph::new(game.clone(), game.start(), question, Several(2), settings);
    let nothing = Findings {
        efforts: vec![EffortPair::UNIT; 2],
        children: Vec::new(),
        nodes: 0,
        most_proving_move: None,
    };
    let mut out = Vec::new();
    for step in 0..2_000 {
        if out.len() < 3
            && let Some((node, _)) = graph.select()
        {
            out.push((node, *graph.position()));
            graph.lease(node);
        } else {
            let (node, mut position) = out.remove(step % out.len());
            graph.give_back(node);
            assert!(graph.fold(node, &mut position, 0, &nothing), "room is made");
        }
        for moot in graph.take_moot() {
            out.retain(|&(node, _)| node != moot);
            graph.give_back(moot);
        }
        graph.check_invariants();
        // A check comes before each expansion, which adds at most five nodes and a larger index.
        assert!(graph.bytes() < memory + 5 * 64 + 4_096, "{}", graph.bytes());
    }
    assert!(graph.shed().times > 10, "{:?}", graph.shed());
    assert!(graph.shed().nodes > graph.peak() as u64);
}
