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
        if std::mem::take(&mut self.path_stays) {
            self.ascend_to(0);
        }
        self.descend_to_leaf(threshold, |graph, node| graph.most_proving_child(node, threshold))
    }

    /// As [`Graph::select`], but stays at each node with the child that the last such descent took while its effort is
    /// within 1 + `epsilon` of the least, and with the root's threshold likewise: df-pn's 1 + epsilon rule (Pawlewicz
    /// and Lew 2007) for a best-first search. With a large epsilon the graph is searched depth first, as a sub-search
    /// wants it that leaves nothing for the next job of what it has not solved.
    pub fn select_staying(&mut self, epsilon: f64) -> Option<(NodeId, usize)> {
        let most = 1.0 + epsilon;
        let threshold = self.threshold_to_stay_with(most)?;
        // The way from the root is that of another rule, or of what was locked then.
        self.ascend_to(0);
        self.path_stays = true;
        // Of thresholds that are worked on for want of anything else the next descent need not know.
        let stays = self.stays_with == Some(threshold);
        self.descend_to_leaf(threshold, |graph, node| {
            if stays {
                graph.child_to_stay_with(node, threshold, most)
            } else {
                graph.most_proving_child(node, threshold)
            }
        })
    }

    /// Goes on from the current node to the children that are chosen, to a frontier node that is not leased.
    fn descend_to_leaf(
        &mut self,
        threshold: usize,
        choose: impl Fn(&mut Self, NodeId) -> Option<(NodeId, usize)>,
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
    fn most_proving_child(&self, node: NodeId, threshold: usize) -> Option<(NodeId, usize)> {
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

    /// The child that the last descent took while its effort is at most `most` times the least, else the most-proving
    /// one, which the next descents stay with. One that is locked is come back to when it is not.
    fn child_to_stay_with(
        &mut self,
        node: NodeId,
        threshold: usize,
        most: f64,
    ) -> Option<(NodeId, usize)> {
        let best @ (child, index) = self.most_proving_child(node, threshold)?;
        let player = self.nodes.player(node);
        let wanted = |child| for_player(player, self.nodes.pair(child, threshold)).0;
        let least = wanted(child);
        let taken = self.nodes.taken(node);
        let taken = taken.and_then(|place| Some((self.nodes.children(node).nth(place)?, place)));
        let stays = |&(child, _): &(NodeId, usize)| wanted(child).is_within(most, least);
        match taken.filter(stays) {
            Some((child, _)) if self.locks.get(child).has(threshold) => Some(best),
            Some(taken) => Some(taken),
            None => {
                self.nodes.take(node, index);
                Some(best)
            }
        }
    }

    /// Plays the move that leads from the current node to `child`, the one at `index` among its
    /// children. Without merging that is the move at `index` of its expansion. With it, moves that
    /// lead to the same child may come before; and if the current node stands for a mirror image of
    /// the position that it was expanded from, it can be any.
    fn descend(&mut self, node: NodeId, child: NodeId, index: usize) {
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
