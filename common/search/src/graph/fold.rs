//! Expanding frontier nodes, with what a sub-search found about them or without.

use jlpns_games::{Game, Move, MoveList};
use smallvec::SmallVec;

use crate::effort::EffortPair;
use crate::efforts::{Width, carry_over};
use crate::graph::update::Pairs;
use crate::graph::{Graph, NodeId};
use crate::job::{ChildFindings, Findings};

impl<G: Game, W: Width> Graph<G, W> {
    /// Expands the current node, which is a frontier node, and updates its ancestors. `false`, and
    /// no change, if there is no room.
    pub fn expand(&mut self) -> bool {
        let Some(&node) = self.path.last() else { return false };
        let mut position = self.position.clone();
        let moves = self.expansion(node, &position);
        if !self.has_room(moves.len()) {
            // A search without jobs frees in one go; nothing else waits for its thread.
            self.begin_pruning(true);
            self.tidy_up();
            if !self.has_room(moves.len()) {
                return false;
            }
        }
        self.add_children(node, &mut position, &moves, None);
        self.update_from(node);
        self.tidy_up();
        true
    }

    /// Folds in what a sub-search found out about a frontier node, leased or not, at `position`:
    /// the numbers of its children unless it is settled. It is leased no more. A full graph makes
    /// room by shedding what can be found again. `asked` is the first threshold of the findings, as
    /// an index into the thresholds of this graph; they must cover no threshold that this graph does
    /// not have.
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
        let expandable = self.nodes.is_leaf(node) && !self.is_settled(node) && !settled;
        let moves = if expandable { self.expansion(node, position) } else { MoveList::new() };
        self.begin_pruning_if_nearly_full();
        self.tidy_a_little();
        let expanded =
            expandable && (self.has_room(moves.len()) || self.make_room(moves.len(), node));
        if !self.nodes.is_live(node) {
            // Making room has shown that nothing depends on the node any more.
            self.update_all();
            return true;
        }
        if expanded {
            let ranked;
            let children = if self.settings.ranked {
                ranked = self.ranked(position, &moves, &findings.children);
                &ranked[..]
            } else {
                &findings.children[..]
            };
            let found = (!children.is_empty()).then_some((asked, children));
            self.add_children(node, position, &moves, found);
        } else if self.learn(node, asked, &findings.efforts) && !self.nodes.is_leaf(node) {
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
    pub(super) fn learn(&mut self, node: NodeId, asked: usize, efforts: &[EffortPair]) -> bool {
        let leaf = self.nodes.is_leaf(node);
        let actual = self.actual.get_mut(&node);
        let pairs = match actual {
            Some(actual) => &mut actual[..],
            None => self.nodes.pairs_mut(node),
        };
        let before = Pairs::from_slice(pairs);
        for (index, &found) in (asked..).zip(efforts) {
            if !pairs[index].is_solved() && (leaf || found.is_solved()) {
                pairs[index] = found;
            }
        }
        carry_over(pairs, asked..asked + efforts.len());
        let changed = before[..] != *pairs;
        if changed && let Some(actual) = self.actual.get(&node) {
            let actual = actual.clone();
            self.pretend(node, &actual);
        }
        changed
    }

    /// The moves with which a node is expanded at `position`.
    pub(super) fn expansion(&self, node: NodeId, position: &G::Position) -> MoveList {
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
    pub(super) fn add_children(
        &mut self,
        node: NodeId,
        position: &mut G::Position,
        moves: &[Move],
        found: Option<(usize, &[ChildFindings])>,
    ) {
        let depth = self.nodes.node(node).depth.saturating_add(1);
        let mut keys: SmallVec<[G::Key; 64]> = SmallVec::new();
        for &mv in moves {
            self.game.play(position, mv);
            let key = self.game.key(position);
            self.game.undo(position, mv);
            self.nodes.load_place(key);
            keys.push(key);
        }
        // All at once, so that the processor waits for the memory of all at once.
        let known: SmallVec<[_; 64]> = keys.iter().map(|&key| self.nodes.find(key)).collect();
        // Then what follows from it, step by step.
        known.iter().flatten().for_each(|&known| self.nodes.load_node(known));
        known.iter().flatten().for_each(|&known| self.nodes.load_parent_list(known));
        known.iter().flatten().for_each(|&known| self.nodes.load_parents(known));
        let mut children: SmallVec<[NodeId; 64]> = SmallVec::new();
        for (at, (&mv, &known)) in moves.iter().zip(&known).enumerate() {
            let key = keys[at];
            let known = match known {
                // It is the mirror image of one that has just been added.
                None if keys[..at].contains(&key) => self.nodes.find(key),
                known => known,
            };
            let child = match known {
                Some(known) => known,
                None => {
                    self.game.play(position, mv);
                    let child = self.nodes.add(key, self.game.to_move(position), depth);
                    self.created += 1;
                    self.pruning.note_new(child);
                    let (game, nodes) = (&self.game, &mut self.nodes);
                    self.evaluation
                        .new_node(game, position, |i, pair| nodes.pairs_mut(child)[i] = pair);
                    self.game.undo(position, mv);
                    child
                }
            };
            if let Some((asked, found)) = found
                && let Some(found) = found.iter().find(|found| found.mv == mv)
                && self.learn(child, asked, &found.efforts)
                && known.is_some()
            {
                // A new one has no parents yet.
                self.note_change(child);
                if !self.nodes.is_leaf(child) {
                    // What is not settled follows from its own children; all that is settled needs none.
                    self.enqueue(child);
                    self.drop_if_settled(child);
                }
            }
            // Mirror images are one child, and its effort counts once.
            if !self.settings.merge || !children.contains(&child) {
                children.push(child);
            }
        }
        self.nodes.link(node, &children);
        self.note_linked(node);
        self.expansions += 1;
    }
}
