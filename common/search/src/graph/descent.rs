//! The way from the root to a most-proving frontier node, and back.

use jlpns_games::{Game, MoveList};

use crate::effort::Effort;
use crate::efforts::{ThresholdSet, Width, for_player};
use crate::graph::nodes::Mark;
use crate::graph::{Graph, NodeId};

impl<G: Game, W: Width> Graph<G, W> {
    /// Descends to a most-proving frontier node that is not leased, and makes it the current one.
    /// The index is that of the threshold for which it is most proving. `None` if the graph is
    /// solved, or if nothing can be selected before a lease comes back.
    pub fn select(&mut self) -> Option<(NodeId, usize)> {
        let threshold = self.open_threshold()?;
        if std::mem::take(&mut self.path_is_depth_first) {
            self.ascend_to(0);
        }
        self.descend_to_leaf(threshold, |graph, node| graph.most_proving_child(node, threshold))
    }

    /// Goes on from the current node to the children that are chosen, to a frontier node that is not leased.
    pub(super) fn descend_to_leaf(
        &mut self,
        threshold: usize,
        mut choose: impl FnMut(&mut Self, NodeId) -> Option<(NodeId, usize)>,
    ) -> Option<(NodeId, usize)> {
        loop {
            let node = *self.path.last()?;
            if self.nodes.is_leaf(node) {
                let free = !self.nodes.has(node, Mark::Leased);
                return free.then_some((node, threshold));
            }
            let (child, index) = choose(self, node)?;
            self.descend(node, child, index);
        }
    }

    /// The child that the player to move at `node` has the least effort with, and its place among
    /// the children; among equals the last.
    pub(super) fn most_proving_child(
        &self,
        node: NodeId,
        threshold: usize,
    ) -> Option<(NodeId, usize)> {
        let player = self.nodes.player(node);
        // All of them at once; of one of them the list of children is read next.
        self.nodes.children(node).for_each(|child| self.nodes.load_node(child));
        let mut best = None;
        let mut least = Effort::INFINITY;
        for (index, child) in self.nodes.children(node).enumerate() {
            let wanted = for_player(player, self.nodes.pair(child, threshold)).0;
            if wanted <= least && !wanted.is_infinite() && !self.locks.get(child).has(threshold) {
                (best, least) = (Some((child, index)), wanted);
                self.nodes.load_key(child);
            }
        }
        best
    }

    /// Plays the move that leads from the current node to `child`, the one at `index` among its
    /// children. Without merging that is the move at `index` of its expansion. With it, moves that
    /// lead to the same child may come before; and if the current node stands for a mirror image of
    /// the position that it was expanded from, it can be any.
    pub(super) fn descend(&mut self, node: NodeId, child: NodeId, index: usize) {
        let key = self.nodes.key(child);
        self.nodes.set(child, Mark::OnPath, true);
        // The next step reads the one, the update after the descent the other.
        self.nodes.load_child_list(child);
        self.nodes.load_parent_list(child);
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
                return;
            }
            self.game.undo(&mut self.position, mv);
        }
        unreachable!("a child's position is one move away from its parent's");
    }

    /// Steps back until the current node is the one at `index` of the path.
    pub(super) fn ascend_to(&mut self, index: usize) {
        while self.path.len() > index + 1 {
            let node = self.path.pop().expect("the path is longer than its root");
            let mv = self.path_moves.pop().expect("every node but the root has a move");
            self.game.undo(&mut self.position, mv);
            if self.nodes.is_live(node) {
                self.nodes.set(node, Mark::OnPath, false);
            }
        }
    }
}
