//! The search tree of proof-number search, for one threshold (PNS, Allis et al.; PDS-PN paper,
//! section 3.1) or several (GPNS paper): one node for each way to a position.
//!
//! A search is a loop of [`Tree::select`], [`Tree::expand`] and [`Tree::backup`]. Consecutive
//! descents start where the last backup ended (the current-node enhancement of Allis's thesis).
//! Subtrees that are solved, or that no open threshold of their ancestors depends on (the
//! relevancy bounds of the GPNS paper, section 4.5), are freed at once.
//!
//! A node takes 8 bytes and 8 for each threshold: children lie side by side, the position is
//! played along the path, and the path stands for parent links.

mod arena;

use std::ops::Range;

pub use arena::NodeIndex;
use arena::{Arena, Block};
use jlpns_games::{Game, Move, MoveList, Player};

use crate::effort::EffortPair;
use crate::efforts::{
    Evaluation, PairOfChildren, Width, attracting_threshold, for_player, most_proving_move,
    still_open,
};
use crate::job::{ChildFindings, Findings, Initialisation, Question};

/// Whether a tree asks the game for what it knows beyond its rules: then thresholds that a node's
/// static bounds settle are settled from the start, and nodes have only their relevant moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KnowledgeUse {
    /// It does not, as in the papers.
    #[default]
    Unused,
    /// It does, but the root has all of its legal moves, for reports.
    BelowRoot,
    /// It does.
    Everywhere,
}

/// A tree grown from one position.
#[derive(Debug)]
pub struct Tree<'g, G: Game, W> {
    game: &'g G,
    evaluation: Evaluation<W>,
    arena: Arena<W>,
    /// From the root to the current node.
    path: Vec<NodeIndex>,
    root_player: Player,
    /// The position at the current node.
    position: G::Position,
    /// The threshold that the descent works on, as an index into the pairs.
    attracting: usize,
    expansions: u64,
    created: u64,
    moves: MoveList,
    knowledge: KnowledgeUse,
}

impl<'g, G: Game, W: Width> Tree<'g, G, W> {
    /// A tree with nothing but its root, at `position`. It may grow to `capacity` nodes at a time.
    pub fn new(
        game: &'g G,
        position: G::Position,
        question: Question,
        width: W,
        initialisation: Initialisation,
        capacity: usize,
    ) -> Tree<'g, G, W> {
        let evaluation = Evaluation::new(question, width, initialisation);
        let mut arena = Arena::new(width, capacity);
        let root = arena.root();
        evaluation.new_node(game, &position, |index, pair| arena.pairs_mut(root)[index] = pair);
        let mut tree = Tree {
            game,
            evaluation,
            arena,
            path: vec![root],
            root_player: game.to_move(&position),
            position,
            attracting: 0,
            expansions: 0,
            created: 1,
            moves: MoveList::new(),
            knowledge: KnowledgeUse::Unused,
        };
        tree.choose_threshold();
        tree
    }

    /// The same tree, which is still nothing but its root, with or without knowledge.
    #[must_use]
    pub fn with_knowledge(mut self, knowledge: KnowledgeUse) -> Self {
        debug_assert_eq!(self.expansions, 0);
        self.evaluation = self.evaluation.with_knowledge(knowledge != KnowledgeUse::Unused);
        self.knowledge = knowledge;
        let (arena, root) = (&mut self.arena, self.path[0]);
        let write = |index, pair| arena.pairs_mut(root)[index] = pair;
        self.evaluation.new_node(self.game, &self.position, write);
        self.choose_threshold();
        self
    }

    /// The bytes of a node with numbers for `thresholds` thresholds.
    pub const fn node_bytes(thresholds: usize) -> usize {
        Arena::<W>::node_bytes(thresholds)
    }

    /// Whether every threshold asked is solved at the root.
    pub fn is_solved(&self) -> bool {
        self.root_efforts().iter().all(|pair| pair.is_solved())
    }

    /// The root's numbers.
    pub fn root_efforts(&self) -> &[EffortPair] {
        self.arena.pairs(self.arena.root())
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
        self.arena.live()
    }

    /// The largest number of nodes that were in memory at one time.
    pub fn peak(&self) -> usize {
        self.arena.peak()
    }

    /// The position of the current node: after [`Tree::select`], of the most-proving node.
    pub fn position(&self) -> &G::Position {
        &self.position
    }

    /// The numbers of the current node.
    pub fn current_efforts(&self) -> &[EffortPair] {
        self.arena.pairs(self.current())
    }

    /// The threshold that the descents work on, as an index into the thresholds asked.
    pub fn attracting(&self) -> usize {
        self.attracting
    }

    fn current(&self) -> NodeIndex {
        self.path[self.path.len() - 1]
    }

    /// Descends from the current node to a most-proving node, which becomes the current one
    /// (section 4.4, algorithm 1). Among equal numbers the last child is taken. The tree must not
    /// be solved.
    pub fn select(&mut self) {
        loop {
            let children = self.arena.children(self.current());
            if children.is_empty() {
                return;
            }
            let player = self.game.to_move(&self.position);
            let mut best = children.first();
            let mut least = u32::MAX;
            for (child, pair) in self.arena.pairs_of(children, self.attracting) {
                let wanted = for_player(player, pair).0.to_bits();
                if wanted <= least {
                    (best, least) = (child, wanted);
                }
            }
            self.game.play(&mut self.position, self.arena.move_to(best));
            self.path.push(best);
        }
    }

    /// The thresholds, as indices, that are open at the current node and all of its ancestors: they
    /// lie within its relevancy bounds (section 4.5).
    pub fn relevant(&self) -> Range<usize> {
        let all = 0..self.evaluation.width();
        self.path.iter().fold(all, |open, &node| still_open(self.arena.pairs(node), open))
    }

    /// The knowledge of a tree whose root is the current node, for a nested search that finds out
    /// about its children.
    pub fn nested_knowledge(&self) -> KnowledgeUse {
        match self.knowledge {
            KnowledgeUse::BelowRoot if self.path.len() > 1 => KnowledgeUse::Everywhere,
            knowledge => knowledge,
        }
    }

    /// The knowledge of a tree whose root is a child of the current node.
    pub fn knowledge_below(&self) -> KnowledgeUse {
        match self.knowledge {
            KnowledgeUse::Unused => KnowledgeUse::Unused,
            _ => KnowledgeUse::Everywhere,
        }
    }

    /// Adds the children of the current node, a frontier node, with the numbers that new nodes
    /// start with. `false`, and no change, if there is no room for them.
    pub fn expand(&mut self) -> bool {
        self.moves.clear();
        if self.nested_knowledge() == KnowledgeUse::Everywhere {
            self.game.relevant_moves(&self.position, &mut self.moves);
        } else {
            self.game.moves(&self.position, &mut self.moves);
        }
        let count = self.moves.len();
        let Some(children) = self.add_children(count) else { return false };
        for (child, &mv) in children.nodes().zip(&self.moves) {
            self.game.play(&mut self.position, mv);
            let pairs = self.arena.pairs_mut(child);
            self.evaluation.new_node(self.game, &self.position, |i, pair| pairs[i] = pair);
            self.game.undo(&mut self.position, mv);
            self.arena.set_move(child, mv);
        }
        true
    }

    /// Adds the children of the current node, a frontier node, with the numbers that a nested
    /// search found for them. `false`, and no change, if there is no room for them.
    pub fn expand_with(&mut self, children: &[ChildFindings]) -> bool {
        let Some(block) = self.add_children(children.len()) else { return false };
        for (node, child) in block.nodes().zip(children) {
            self.arena.pairs_mut(node).copy_from_slice(&child.efforts);
            self.arena.set_move(node, child.mv);
        }
        true
    }

    fn add_children(&mut self, count: usize) -> Option<Block> {
        let children = match self.arena.allocate(count) {
            Some(children) => children,
            None => {
                self.prune();
                self.arena.allocate(count)?
            }
        };
        self.arena.set_children(self.current(), children);
        self.expansions += 1;
        self.created += count as u64;
        Some(children)
    }

    /// The number of children of the current node.
    pub fn child_count(&self) -> usize {
        self.arena.children(self.current()).nodes().count()
    }

    /// The move to a child of the current node, and its numbers.
    pub fn child(&self, index: usize) -> (Move, &[EffortPair]) {
        let child = self.nth_child(index);
        (self.arena.move_to(child), self.arena.pairs(child))
    }

    /// Sets the numbers of a child of the current node, a frontier node, to what a nested search
    /// found.
    pub fn set_child(&mut self, index: usize, efforts: &[EffortPair]) {
        let child = self.nth_child(index);
        self.arena.pairs_mut(child).copy_from_slice(efforts);
    }

    fn nth_child(&self, index: usize) -> NodeIndex {
        let mut children = self.arena.children(self.current()).nodes();
        children.nth(index).expect("the current node has so many children")
    }

    /// Updates the numbers of the current node from its children's, then its ancestors', up to
    /// the first one that does not change: it becomes the current node.
    pub fn backup(&mut self) {
        loop {
            let node = self.current();
            let children = self.arena.children(node);
            let player = self.game.to_move(&self.position);
            let (mut changed, mut settled) = (false, false);
            for index in 0..self.evaluation.width() {
                // Numbers from a nested search may be ahead of the children's: facts stay.
                if self.arena.pairs(node)[index].is_solved() {
                    continue;
                }
                let mut pair = PairOfChildren::new(player);
                for (_, child) in self.arena.pairs_of(children, index) {
                    pair.add(child);
                }
                let (new, old) = (pair.pair(), &mut self.arena.pairs_mut(node)[index]);
                changed |= new != *old;
                settled |= new.is_solved();
                *old = new;
            }
            if settled {
                self.free_irrelevant();
            }
            if !changed {
                return;
            }
            if !self.ascend() {
                return self.choose_threshold();
            }
        }
    }

    /// Steps to the parent; `false` at the root.
    fn ascend(&mut self) -> bool {
        let node = self.current();
        if self.path.len() == 1 {
            return false;
        }
        self.game.undo(&mut self.position, self.arena.move_to(node));
        self.path.pop();
        true
    }

    /// Frees what no open threshold depends on any more, after a threshold was settled at the
    /// current node: all below it, or all below some of its children.
    fn free_irrelevant(&mut self) {
        let node = self.current();
        let open = self.relevant();
        if open.is_empty() && self.path.len() > 1 {
            return self.arena.free_below(node);
        }
        for child in self.arena.children(node).nodes() {
            if still_open(self.arena.pairs(child), open.clone()).is_empty() {
                self.arena.free_below(child);
            }
        }
    }

    /// Frees all that no open threshold depends on, anywhere in the tree (Proposition 4). Backups
    /// free most of it on their way; this finds what is left where they did not pass.
    fn prune(&mut self) {
        let mut pending = vec![(self.arena.root(), 0..self.evaluation.width())];
        while let Some((node, open)) = pending.pop() {
            let open = still_open(self.arena.pairs(node), open);
            if open.is_empty() {
                self.arena.free_below(node);
            } else {
                let children = self.arena.children(node);
                pending.extend(children.nodes().map(|child| (child, open.clone())));
            }
        }
    }

    /// What the search knows of the root and its children.
    pub fn findings(&self) -> Findings {
        let root = self.arena.root();
        let child = |node| ChildFindings {
            mv: self.arena.move_to(node),
            efforts: self.arena.pairs(node).to_vec(),
        };
        let children: Vec<_> = self.arena.children(root).nodes().map(child).collect();
        Findings {
            efforts: self.root_efforts().to_vec(),
            most_proving_move: most_proving_move(self.root_player, self.root_efforts(), &children),
            children,
            nodes: self.created,
        }
    }

    fn choose_threshold(&mut self) {
        if let Some(index) = attracting_threshold(self.root_player, self.root_efforts()) {
            self.attracting = index;
        }
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::connect4::Connect4;

    use super::*;
    use crate::efforts::{One, Several};

    #[test]
    fn nodes_are_small() {
        assert_eq!(Tree::<Connect4<u64>, One>::node_bytes(1), 16);
        for thresholds in 1..40 {
            let bytes = Tree::<Connect4<u64>, Several>::node_bytes(thresholds);
            assert!(bytes <= 24 + 8 * thresholds, "{bytes} bytes for {thresholds} thresholds");
        }
    }
}
