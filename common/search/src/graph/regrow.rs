//! Growing the graph anew with other verdicts: what was believed of some positions is not any more.
//!
//! Whatever follows from a verdict that is taken back has been freed long ago, or lies in the
//! numbers of nodes above. So the graph is grown anew from its root, along the nodes that had
//! children: frontier nodes keep their effort numbers, but every verdict is asked for again. A
//! node whose verdict has gone is a frontier node, for what lay below it is gone too.

use jlpns_games::{Game, Move, Threshold};
use smallvec::SmallVec;

use crate::effort::EffortPair;
use crate::efforts::Width;
use crate::graph::update::Pairs;
use crate::graph::{Graph, NodeId};
use crate::job::ChildFindings;

/// A node that had children, in both graphs, and the move to it.
struct Below {
    old: NodeId,
    new: NodeId,
    mv: Move,
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Grows the graph anew. `verdict` says of a position one move or more below the root whether
    /// its value reaches a threshold, if that is still held to be known. No node is leased then.
    pub fn regrow(&mut self, verdict: &mut dyn FnMut(&mut G::Position, Threshold) -> Option<bool>) {
        let mut root_position = self.position.clone();
        self.path_moves.iter().rev().for_each(|&mv| self.game.undo(&mut root_position, mv));
        let mut anew = Graph::new(
            self.game.clone(),
            root_position.clone(),
            self.question,
            self.evaluation.width,
            self.settings,
        );
        for index in 0..anew.evaluation.width() {
            let known = verdict(&mut root_position, self.question.threshold(index));
            if let Some(holds) = known {
                anew.nodes.pairs_mut(anew.root)[index] = EffortPair::solved(holds);
            }
        }
        if !anew.is_settled(anew.root) {
            self.regrow_below(self.root, &mut anew, &mut root_position, verdict);
        }
        anew.update_everything();
        anew.tidy_up();
        anew.created = self.created;
        anew.expansions = self.expansions;
        anew.shed = self.shed;
        *self = anew;
    }

    /// Gives the root of `anew`, which stands for `root` here, what lies below it.
    fn regrow_below(
        &self,
        root: NodeId,
        anew: &mut Graph<G, W>,
        position: &mut G::Position,
        verdict: &mut dyn FnMut(&mut G::Position, Threshold) -> Option<bool>,
    ) {
        // What is left to go through below each node of the path.
        let mut left = vec![self.regrow_node(root, anew.root, anew, position, verdict)];
        let mut played = Vec::new();
        while let Some(below) = left.last_mut() {
            let Some(Below { old, new, mv }) = below.pop() else {
                left.pop();
                if let Some(mv) = played.pop() {
                    self.game.undo(position, mv);
                }
                continue;
            };
            // Reached on another way before, or nothing is left to find out about it.
            if !anew.nodes.is_leaf(new) || anew.is_settled(new) {
                continue;
            }
            self.game.play(position, mv);
            played.push(mv);
            left.push(self.regrow_node(old, new, anew, position, verdict));
        }
    }

    /// Links the node `new` of `anew` to children as `old` has them here, if it has any; returns
    /// those that had children here.
    fn regrow_node(
        &self,
        old: NodeId,
        new: NodeId,
        anew: &mut Graph<G, W>,
        position: &mut G::Position,
        verdict: &mut dyn FnMut(&mut G::Position, Threshold) -> Option<bool>,
    ) -> Vec<Below> {
        if self.nodes.is_leaf(old) {
            return Vec::new();
        }
        let moves = self.expansion(old, position);
        let in_order: SmallVec<[NodeId; 64]> = self.nodes.children(old).collect();
        let mut found = Vec::with_capacity(moves.len());
        let mut before = Vec::with_capacity(moves.len());
        for (index, &mv) in moves.iter().enumerate() {
            self.game.play(position, mv);
            let child = if self.settings.merge {
                self.nodes.find(self.game.key(position))
            } else {
                in_order.get(index).copied()
            };
            let mut efforts = Pairs::from_elem(EffortPair::UNIT, self.evaluation.width());
            self.evaluation.new_node(&self.game, position, |i, pair| efforts[i] = pair);
            for (index, pair) in efforts.iter_mut().enumerate() {
                if pair.is_solved() {
                    continue;
                }
                let known = verdict(position, self.question.threshold(index));
                let was = child.map(|child| self.actual_efforts(child)[index]);
                *pair = match (known, was) {
                    (Some(holds), _) => EffortPair::solved(holds),
                    (None, Some(was)) if !was.is_solved() => was,
                    (None, _) => *pair,
                };
            }
            self.game.undo(position, mv);
            found.push(ChildFindings { mv, efforts: efforts.to_vec() });
            before.push(child);
        }
        anew.add_children(new, position, &moves, Some((0, &found)));
        let linked: SmallVec<[NodeId; 64]> = anew.nodes.children(new).collect();
        let mut below = Vec::new();
        for (index, (&mv, child)) in moves.iter().zip(before).enumerate() {
            let Some(child) = child.filter(|&child| !self.nodes.is_leaf(child)) else { continue };
            let new = if self.settings.merge {
                anew.nodes.find(self.nodes.key(child))
            } else {
                linked.get(index).copied()
            };
            below.extend(new.map(|new| Below { old: child, new, mv }));
        }
        below
    }
}
