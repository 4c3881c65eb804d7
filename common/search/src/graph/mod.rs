//! The search graph of proof-number search, for one threshold (PNS) or several (GPNS): one node
//! for each position, however it was reached, and every parent updated, deepest first.
//!
//! Jobs are taken from it: a frontier node is leased, others are selected meanwhile, and what a
//! sub-search found about it is folded in. A search without jobs is the case where each selected
//! node is expanded at once.
//!
//! Merging is exact because [`Game::key`] holds all of the history that can still matter; the
//! graph has no cycles because games are finite and a key never recurs within one. With merging
//! switched off every way to a position has its own node, and the graph is a tree.
//!
//! - `nodes`: the nodes, with their `edges`, the way up in `parents`, and the `index` by key;
//!   `freeing` gives their places back; `prefetch`: loading them before they are read.
//! - `descent`: from the root to a most-proving frontier node; `brothers`: the same depth first, for one worker or
//!   several, `expected`: who is expected to lose there, and `orders`: the game's order of moves; `fold`: expanding it.
//! - `update`: numbers of parents from their children's, under leases; `change`: from one child's.
//! - `lease`: taking nodes as jobs, and giving them back; `locks`: what is not to be selected then.
//! - `regrow`: growing it anew when verdicts are taken back.
//! - `relevance`: freeing what no open threshold depends on.
//! - `shed`: freeing what can be found again, when memory is full.
//! - `ranks`: effort numbers where reports come from several sub-searches.
//! - `tidy`: the part of that work that is done in slices.
//! - `dump`: the graph as bytes, and back.

mod brothers;
mod change;
mod descent;
mod dump;
mod edges;
mod expected;
mod fold;
mod freeing;
mod index;
mod lease;
mod locks;
mod node_id;
mod nodes;
mod orders;
mod parents;
mod prefetch;
mod ranks;
mod regrow;
mod relevance;
mod shed;
mod tidy;
mod update;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use brothers::{NextInOrder, Subtree};
pub use dump::{DumpError, PartialDump};
use foldhash::fast::FixedState;
use jlpns_games::{Game, Move, MoveList};
pub use lease::Selection;
use locks::Locks;
pub use node_id::NodeId;
use nodes::{Mark, Nodes};
use orders::Orders;
use relevance::Pruning;
use shed::Hand;
pub use shed::Shed;
use smallvec::SmallVec;
use update::{Pairs, Worklist};

use crate::effort::EffortPair;
use crate::efforts::{Evaluation, Width, most_proving_move_for};
use crate::favoured_first::FavouredFirst;
use crate::job::{ChildFindings, Findings, Initialisation, Question};
use crate::late_first::LateFirst;

/// How a graph is built and searched.
#[derive(Clone, Copy, Debug)]
pub struct GraphSettings {
    /// How new frontier nodes start.
    pub initialisation: Initialisation,
    /// Whether positions that are reached in several ways share a node.
    pub merge: bool,
    /// How nodes are selected while others are leased.
    pub selection: Selection,
    /// How many bytes the nodes may take.
    pub memory: u64,
    /// Whether the game is asked for what it knows beyond its rules: thresholds that a node's
    /// static bounds settle are settled from the start, and nodes below the root have only their
    /// relevant moves. Off for the papers' figures.
    pub knowledge: bool,
    /// Whether what the game says of children is added to the effort numbers that a report has of them. It
    /// makes the numbers of several sub-searches comparable.
    pub ranked: bool,
}

/// A graph grown from one position.
///
/// ```
/// use jlpns_games::Game;
/// use jlpns_games::connect4::Connect4;
/// use jlpns_search::efforts::Two;
/// use jlpns_search::graph::{Graph, GraphSettings, Selection};
/// use jlpns_search::{Initialisation, Question};
///
/// let game = Connect4::<u64>::new(4, 4)?;
/// let question = Question::Value(game.scale().bounds());
/// let settings = GraphSettings {
///     initialisation: Initialisation::Unit,
///     merge: true,
///     selection: Selection::Locking,
///     memory: 1 << 20,
///     knowledge: true,
///     ranked: false,
/// };
/// let mut graph = Graph::new(game.clone(), game.start(), question, Two, settings);
/// while graph.select().is_some() {
///     assert!(graph.expand(), "there is room");
/// }
/// let value = question.bounds(graph.root_efforts(), game.scale()).value();
/// assert_eq!(value.map(|value| game.scale().name(value)), Some("draw"));
/// # Ok::<(), jlpns_games::connect4::SizeError>(())
/// ```
#[derive(Debug)]
pub struct Graph<G: Game, W: Width> {
    game: G,
    question: Question,
    evaluation: Evaluation<W>,
    settings: GraphSettings,
    nodes: Nodes<G::Key, W>,
    locks: Locks<W::Set>,
    root: NodeId,
    /// The nodes from the root to the current one.
    path: Vec<NodeId>,
    /// The moves played along the path.
    path_moves: Vec<Move>,
    /// Whether the path is that of a depth-first descent.
    path_is_depth_first: bool,
    orders: Orders<G::Key>,
    /// The order in which the root's thresholds are worked on, if it is not by their effort.
    late_first: Option<LateFirst>,
    /// Which threshold of the root depth-first descents ask for first, if the game tells.
    favoured_first: Option<FavouredFirst>,
    /// The root's threshold that such descents stay with.
    stays_with: Option<usize>,
    /// The position at the end of the path.
    position: G::Position,
    worklist: Worklist,
    /// The numbers that leased nodes had before a virtual outcome replaced them.
    actual: HashMap<NodeId, Pairs, FixedState>,
    /// Leased nodes that have been freed or solved since they were last asked for.
    moot: Vec<NodeId>,
    leased: usize,
    expansions: u64,
    created: u64,
    /// What was shed because the graph was full.
    shed: Shed,
    hand: Hand,
    pruning: Pruning,
    /// The bytes of the memory that are taken by what belongs to the graph and is not in it.
    held_beside: u64,
}

impl<G: Game, W: Width> Graph<G, W> {
    /// A graph with nothing but its root, at `position`. [`with_width!`](crate::with_width) chooses
    /// the width for the thresholds of `question`.
    pub fn new(
        game: G,
        position: G::Position,
        question: Question,
        width: W,
        settings: GraphSettings,
    ) -> Graph<G, W> {
        let evaluation = Evaluation::new(question, width, settings.initialisation)
            .with_knowledge(settings.knowledge);
        let mut nodes = Nodes::new(width, settings.merge);
        let root = nodes.add(game.key(&position), game.to_move(&position), 0);
        evaluation.new_node(&game, &position, |i, pair| nodes.pairs_mut(root)[i] = pair);
        nodes.set(root, Mark::OnPath, true);
        let late_first = LateFirst::on(&game, settings.knowledge);
        let favoured_first = FavouredFirst::on(&game, settings.knowledge);
        Graph {
            game,
            question,
            evaluation,
            settings,
            nodes,
            locks: Locks::new(),
            root,
            path: vec![root],
            path_moves: Vec::new(),
            path_is_depth_first: false,
            orders: Orders::new(),
            late_first,
            favoured_first,
            stays_with: None,
            position,
            worklist: Worklist::default(),
            actual: HashMap::default(),
            moot: Vec::new(),
            leased: 0,
            expansions: 0,
            created: 1,
            shed: Shed::default(),
            hand: Hand::default(),
            pruning: Pruning::default(),
            held_beside: 0,
        }
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Whether the game is asked for what it knows beyond its rules.
    pub fn knowledge(&self) -> bool {
        self.settings.knowledge
    }

    /// What the graph is asked about its root.
    pub fn question(&self) -> Question {
        self.question
    }

    /// The root.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Whether every threshold asked is solved at the root.
    pub fn is_solved(&self) -> bool {
        self.root_efforts().iter().all(|pair| pair.is_solved())
    }

    /// The root's numbers, one pair for each threshold asked.
    pub fn root_efforts(&self) -> &[EffortPair] {
        self.nodes.pairs(self.root)
    }

    /// The numbers of a node.
    pub fn efforts(&self, node: NodeId) -> &[EffortPair] {
        self.nodes.pairs(node)
    }

    /// How often a node has been expanded, the root included.
    pub fn expansions(&self) -> u64 {
        self.expansions
    }

    /// Descents as the papers count them: the root's own expansion is none.
    pub fn descents(&self) -> u64 {
        self.expansions.saturating_sub(1)
    }

    /// The number of nodes created.
    pub fn created(&self) -> u64 {
        self.created
    }

    /// The number of nodes in memory.
    pub fn live(&self) -> usize {
        self.nodes.live()
    }

    /// The largest number of nodes that were in memory at one time.
    pub fn peak(&self) -> usize {
        self.nodes.peak()
    }

    /// What the graph gave up because its memory was full.
    pub fn shed(&self) -> Shed {
        self.shed
    }

    /// The bytes that the graph takes: nodes, edges and index with their free places, what is
    /// noted of leased and locked nodes, and, where there are several thresholds, what pruning
    /// needs.
    pub fn bytes(&self) -> u64 {
        let leased = self.actual.capacity() * size_of::<(NodeId, Pairs)>();
        let several = self.evaluation.width() > 1;
        let pruning = if several { self.pruning.bytes(self.nodes.places()) } else { 0 };
        let aside = self.locks.bytes() + self.orders.bytes() + leased + pruning;
        (self.nodes.bytes() + aside) as u64
    }

    /// Notes how many bytes of the graph's memory are taken by what its owner keeps beside it.
    pub fn note_held_beside(&mut self, bytes: u64) {
        self.held_beside = bytes;
    }

    /// The bytes that the graph itself may take. What is beside it leaves it at least half of the
    /// memory.
    fn memory(&self) -> u64 {
        let memory = self.settings.memory;
        memory - self.held_beside.min(memory / 2)
    }

    /// The position at the end of the last descent.
    pub fn position(&self) -> &G::Position {
        &self.position
    }

    /// The moves of the last descent, from the root.
    pub fn path_moves(&self) -> &[Move] {
        &self.path_moves
    }

    /// What the graph knows of its root and the root's children.
    pub fn findings(&self) -> Findings {
        let children = self.root_children();
        let (root, player) = (self.root_efforts(), self.nodes.player(self.root));
        Findings {
            efforts: root.to_vec(),
            most_proving_move: most_proving_move_for(
                self.wanted_threshold(),
                player,
                root,
                &children,
            ),
            children,
            nodes: self.created,
        }
    }

    /// The legal moves at the root with the numbers of the nodes that they lead to; none if the
    /// root has no children. Moves that lead to mirror images share a node.
    fn root_children(&self) -> Vec<ChildFindings> {
        let nodes: SmallVec<[NodeId; 64]> = self.nodes.children(self.root).collect();
        if nodes.is_empty() {
            return Vec::new();
        }
        let mut position = self.position.clone();
        self.path_moves.iter().rev().for_each(|&mv| self.game.undo(&mut position, mv));
        let mut moves = MoveList::new();
        self.game.moves(&position, &mut moves);
        let child = |(index, mv): (usize, Move)| {
            let node = if self.settings.merge {
                self.game.play(&mut position, mv);
                let key = self.game.key(&position);
                self.game.undo(&mut position, mv);
                nodes.iter().find(|&&node| self.nodes.key(node) == key)
            } else {
                nodes.get(index)
            };
            Some(ChildFindings { mv, efforts: self.nodes.pairs(*node?).to_vec() })
        };
        moves.iter().copied().enumerate().filter_map(child).collect()
    }
}
