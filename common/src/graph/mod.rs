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
//! - `store`: nodes, edges and index; `parents`: the way up; `large_pages`: their memory.
//! - `update`: numbers of parents from their children's, under leases; `change`: from one child's.
//! - `lease`: taking nodes as jobs, and giving them back; `locks`: what is not to be selected then.
//! - `relevance`: freeing what no open threshold depends on.
//! - `shed`: freeing what can be found again, when memory is full.
//! - `dump`: the graph as bytes, and back.

mod change;
mod dump;
mod large_pages;
mod lease;
mod locks;
mod parents;
mod relevance;
mod shed;
mod store;
mod update;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::effort::{Effort, EffortPair};
use crate::efforts::{Evaluation, Width, best_move, for_player};
use crate::game::{Game, Move, MoveList};
use crate::job::{ChildFindings, Findings, Initialisation, Question};

pub use dump::DumpError;
pub use lease::Selection;
use locks::Locks;
pub use shed::Shed;
pub use store::NodeId;
use store::{MAX_NODES, Mark, Store};
use update::{Pairs, Worklist};

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
}

/// The most thresholds that a graph can have: it marks the locked ones of a node in one word.
pub const MAX_THRESHOLDS: usize = 32;

/// A graph grown from one position.
#[derive(Debug)]
pub struct Graph<G: Game, W> {
    game: G,
    question: Question,
    evaluation: Evaluation<W>,
    settings: GraphSettings,
    store: Store<G::Key, W>,
    locks: Locks,
    root: NodeId,
    /// The nodes from the root to the current one.
    path: Vec<NodeId>,
    /// The moves played along the path.
    path_moves: Vec<Move>,
    /// The position at the end of the path.
    position: G::Position,
    worklist: Worklist,
    /// The numbers that leased nodes had before a virtual outcome replaced them.
    actual: HashMap<NodeId, Pairs>,
    /// Leased nodes that have been freed or solved since they were last asked for.
    moot: Vec<NodeId>,
    leased: usize,
    expansions: u64,
    created: u64,
    /// How often the graph was full and shed nodes, and how many.
    shed: Shed,
}

impl<G: Game, W: Width> Graph<G, W> {
    /// A graph with nothing but its root, at `position`.
    ///
    /// # Panics
    ///
    /// If the question has more than [`MAX_THRESHOLDS`] thresholds.
    pub fn new(
        game: G,
        position: G::Position,
        question: Question,
        width: W,
        settings: GraphSettings,
    ) -> Graph<G, W> {
        assert!(width.get() <= MAX_THRESHOLDS, "a graph has at most {MAX_THRESHOLDS} thresholds");
        let evaluation = Evaluation::new(question, width, settings.initialisation)
            .with_knowledge(settings.knowledge);
        let mut store = Store::new(width, settings.merge);
        let root = store.add(game.key(&position), game.to_move(&position), 0);
        evaluation.new_node(&game, &position, |i, pair| store.pairs_mut(root)[i] = pair);
        store.set(root, Mark::OnPath, true);
        Graph {
            game,
            question,
            evaluation,
            settings,
            store,
            locks: Locks::new(),
            root,
            path: vec![root],
            path_moves: Vec::new(),
            position,
            worklist: Worklist::default(),
            actual: HashMap::new(),
            moot: Vec::new(),
            leased: 0,
            expansions: 0,
            created: 1,
            shed: Shed::default(),
        }
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
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
        self.store.pairs(self.root)
    }

    /// The numbers of a node.
    pub fn efforts(&self, node: NodeId) -> &[EffortPair] {
        self.store.pairs(node)
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
        self.store.live()
    }

    /// The largest number of nodes that were in memory at one time.
    pub fn peak(&self) -> usize {
        self.store.peak()
    }

    /// What the graph gave up because its memory was full.
    pub fn shed(&self) -> Shed {
        self.shed
    }

    /// The bytes that nodes, edges and index take.
    pub fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    /// The position at the end of the last descent.
    pub fn position(&self) -> &G::Position {
        &self.position
    }

    /// The moves of the last descent, from the root.
    pub fn path_moves(&self) -> &[Move] {
        &self.path_moves
    }

    /// Descends to a most-proving frontier node that is not leased, and makes it the current one.
    /// The index is that of the threshold for which it is most proving. `None` if the graph is
    /// solved, or if nothing can be selected before a lease comes back.
    pub fn select(&mut self) -> Option<(NodeId, usize)> {
        let threshold = self.open_threshold()?;
        loop {
            let node = *self.path.last()?;
            if self.store.is_leaf(node) {
                let free = !self.store.has(node, Mark::Leased);
                return free.then_some((node, threshold));
            }
            let (child, index) = self.most_proving_child(node, threshold)?;
            self.descend(node, child, index);
        }
    }

    /// The child that the player to move at `node` has the least effort with, and its place among
    /// the children; among equals the last.
    fn most_proving_child(&self, node: NodeId, threshold: usize) -> Option<(NodeId, usize)> {
        let player = self.store.player(node);
        let mut best = None;
        let mut least = Effort::INFINITY;
        for (index, child) in self.store.children(node).enumerate() {
            let wanted = for_player(player, self.store.pair(child, threshold)).0;
            if wanted <= least
                && !wanted.is_infinite()
                && self.locks.get(child) >> threshold & 1 == 0
            {
                (best, least) = (Some((child, index)), wanted);
            }
        }
        best
    }

    /// Plays the move that leads from the current node to `child`, the one at `index` among its
    /// children. Without merging that is the move at `index` of its expansion. With it, moves that
    /// lead to the same child may come before; and if the current node stands for a mirror image of
    /// the position that it was expanded from, it can be any.
    fn descend(&mut self, node: NodeId, child: NodeId, index: usize) {
        let key = self.store.key(child);
        let mut legal = MoveList::new();
        if self.settings.merge {
            self.game.moves(&self.position, &mut legal);
        } else {
            legal = self.expansion(node, &self.position);
        }
        for at in (index..legal.len()).chain(0..index) {
            let mv = legal[at];
            self.game.play(&mut self.position, mv);
            if self.game.key(&self.position) == key {
                self.path_moves.push(mv);
                self.path.push(child);
                self.store.set(child, Mark::OnPath, true);
                return;
            }
            self.game.undo(&mut self.position, mv);
        }
        unreachable!("a child's position is one move away from its parent's");
    }

    /// Steps back until the current node is the one at `index` of the path.
    fn ascend_to(&mut self, index: usize) {
        while self.path.len() > index + 1 {
            let node = self.path.pop().expect("the path is longer than its root");
            let mv = self.path_moves.pop().expect("every node but the root has a move");
            self.game.undo(&mut self.position, mv);
            if self.store.is_live(node) {
                self.store.set(node, Mark::OnPath, false);
            }
        }
    }

    /// Expands the current node, which is a frontier node, and updates its ancestors. `false`, and
    /// no change, if there is no room.
    pub fn expand(&mut self) -> bool {
        let Some(&node) = self.path.last() else { return false };
        if !self.has_room() {
            return false;
        }
        let mut position = self.position.clone();
        self.add_children(node, &mut position, None);
        self.update_from(node);
        true
    }

    /// Whether there is room for the children of one more node, after freeing what can be freed.
    fn has_room(&mut self) -> bool {
        if self.is_within_memory() {
            return true;
        }
        self.prune();
        self.is_within_memory()
    }

    fn is_within_memory(&self) -> bool {
        self.bytes() < self.settings.memory && self.live() < MAX_NODES - usize::from(u16::MAX)
    }

    /// Folds in what a sub-search found out about a frontier node, leased or not, at `position`:
    /// the numbers of its children unless it is settled. It is leased no more. A full graph makes room by shedding what
    /// can be found again. `asked` is the first threshold of the
    /// findings, as an index into the thresholds of this graph; they must cover no threshold that
    /// this graph does not have.
    ///
    /// `false` if there was no room for the children: the node keeps its own new numbers and stays
    /// a frontier node. Findings about a node that has been expanded meanwhile are used as far as
    /// they settle thresholds.
    pub fn fold(
        &mut self,
        node: NodeId,
        position: &mut G::Position,
        asked: usize,
        findings: &Findings,
    ) -> bool {
        // What its lease pretended, and what it locked, must not mix with what is known now.
        self.release(node);
        let settled = findings.efforts.iter().all(|pair| pair.is_solved());
        let expandable = self.store.is_leaf(node) && !self.is_settled(node) && !settled;
        let expanded = expandable && (self.has_room() || self.shed_all_but(node));
        if !self.store.is_live(node) {
            // Making room has shown that nothing depends on the node any more.
            self.update_all();
            return true;
        }
        if expanded {
            let found = (!findings.children.is_empty()).then_some((asked, &findings.children[..]));
            self.add_children(node, position, found);
        } else if self.learn(node, asked, &findings.efforts) && !self.store.is_leaf(node) {
            // Its numbers come from below, and what is settled is not computed again: so nobody
            // else would tell its parents.
            self.note_change(node);
            if node == self.root {
                self.worklist.settle_root();
            } else {
                self.drop_if_settled(node);
            }
        }
        self.update_from(node);
        expanded || !expandable
    }

    /// Takes over numbers for some thresholds of a node: all of them if it is a frontier node,
    /// else those that are settled.
    fn learn(&mut self, node: NodeId, asked: usize, efforts: &[EffortPair]) -> bool {
        let leaf = self.store.is_leaf(node);
        let actual = self.actual.get_mut(&node);
        let pairs = match actual {
            Some(actual) => &mut actual[..],
            None => self.store.pairs_mut(node),
        };
        let before = Pairs::from_slice(pairs);
        for (index, &found) in (asked..).zip(efforts) {
            if !pairs[index].is_solved() && (leaf || found.is_solved()) {
                pairs[index] = found;
            }
        }
        make_monotone(pairs, asked..asked + efforts.len());
        let changed = before[..] != *pairs;
        if changed && let Some(actual) = self.actual.get(&node) {
            let actual = actual.clone();
            self.pretend(node, &actual);
        }
        changed
    }

    /// The moves with which a node is expanded at `position`.
    fn expansion(&self, node: NodeId, position: &G::Position) -> MoveList {
        let mut moves = MoveList::new();
        if self.settings.knowledge && node != self.root {
            self.game.relevant_moves(position, &mut moves);
        } else {
            self.game.moves(position, &mut moves);
        }
        moves
    }

    /// Links `node` to its children, new and old; with what a sub-search found about them, if it
    /// did.
    fn add_children(
        &mut self,
        node: NodeId,
        position: &mut G::Position,
        found: Option<(usize, &[ChildFindings])>,
    ) {
        let moves = self.expansion(node, position);
        let depth = self.store.node(node).depth.saturating_add(1);
        let mut keys: SmallVec<[G::Key; 64]> = SmallVec::new();
        for &mv in &moves {
            self.game.play(position, mv);
            keys.push(self.game.key(position));
            self.game.undo(position, mv);
        }
        // All at once, so that the processor waits for the memory of all at once.
        let known: SmallVec<[_; 64]> = keys.iter().map(|&key| self.store.find(key)).collect();
        let mut children: SmallVec<[NodeId; 64]> = SmallVec::new();
        for (&mv, (&key, &known)) in moves.iter().zip(keys.iter().zip(&known)) {
            // It may be the mirror image of one that has just been added.
            let child = match known.or_else(|| self.store.find(key)) {
                Some(known) => known,
                None => {
                    self.game.play(position, mv);
                    let child = self.store.add(key, self.game.to_move(position), depth);
                    self.created += 1;
                    let (game, store) = (&self.game, &mut self.store);
                    self.evaluation
                        .new_node(game, position, |i, pair| store.pairs_mut(child)[i] = pair);
                    self.game.undo(position, mv);
                    child
                }
            };
            if let Some((asked, found)) = found
                && let Some(found) = found.iter().find(|found| found.mv == mv)
                && self.learn(child, asked, &found.efforts)
            {
                self.note_change(child);
                if !self.store.is_leaf(child) {
                    // What is not settled follows from its own children.
                    self.enqueue(child);
                }
            }
            // Mirror images are one child, and its effort counts once.
            if !self.settings.merge || !children.contains(&child) {
                children.push(child);
            }
        }
        self.store.link(node, &children);
        self.expansions += 1;
    }

    /// What the graph knows of its root and the root's children.
    pub fn findings(&self) -> Findings {
        let children = self.root_children();
        let player = self.store.player(self.root);
        Findings {
            efforts: self.root_efforts().to_vec(),
            best_move: best_move(player, self.root_efforts(), &children),
            children,
            nodes: self.created,
        }
    }

    /// The legal moves at the root with the numbers of the nodes that they lead to; none if the
    /// root has no children. Moves that lead to mirror images share a node.
    fn root_children(&self) -> Vec<ChildFindings> {
        let nodes: SmallVec<[NodeId; 64]> = self.store.children(self.root).collect();
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
                nodes.iter().find(|&&node| self.store.key(node) == key)
            } else {
                nodes.get(index)
            };
            Some(ChildFindings { mv, efforts: self.store.pairs(*node?).to_vec() })
        };
        moves.iter().copied().enumerate().filter_map(child).collect()
    }
}

/// Carries what is known of the thresholds in `known` over to the others of a node: reaching more
/// takes at least as much effort, and reaching less at most as much (GPNS paper, section 4.3).
fn make_monotone(pairs: &mut [EffortPair], known: std::ops::Range<usize>) {
    for index in (0..known.start).rev() {
        let above = pairs[index + 1];
        let pair = &mut pairs[index];
        if !pair.is_solved() {
            pair.proof = pair.proof.min(above.proof);
            pair.disproof = pair.disproof.max(above.disproof);
            *pair = agreeing(*pair);
        }
    }
    for index in known.end..pairs.len() {
        let below = pairs[index - 1];
        let pair = &mut pairs[index];
        if !pair.is_solved() {
            pair.proof = pair.proof.max(below.proof);
            pair.disproof = pair.disproof.min(below.disproof);
            *pair = agreeing(*pair);
        }
    }
}

/// A pair of which one side was taken over: the other follows if that is permanent.
fn agreeing(pair: EffortPair) -> EffortPair {
    if pair.proof == Effort::ZERO || pair.disproof == Effort::INFINITY {
        EffortPair::PROVED
    } else if pair.disproof == Effort::ZERO || pair.proof == Effort::INFINITY {
        EffortPair::DISPROVED
    } else {
        pair
    }
}
