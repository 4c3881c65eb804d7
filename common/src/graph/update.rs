//! Numbers of parents from their children's, through all parents, deepest first.

use crate::effort::{Effort, EffortPair, EffortSum};
use crate::efforts::{Width, attracting_threshold, for_player};
use crate::game::{Game, Player};
use crate::graph::store::Mark;
use crate::graph::{Graph, NodeId};

/// The nodes whose children have changed; the deepest comes out first.
#[derive(Debug, Default)]
pub(super) struct Worklist {
    /// The nodes of each depth.
    nodes: Vec<Vec<NodeId>>,
    /// No node is deeper than this.
    deepest: usize,
    /// How much of the current path no update has reached: the index of the highest node on it
    /// that was recomputed.
    reached: Option<usize>,
    /// Whether a threshold of the root was settled, which makes others irrelevant below.
    root_settled: bool,
}

impl Worklist {
    /// Adds a node, which the caller marks as queued.
    pub(super) fn push(&mut self, depth: u16, node: NodeId) {
        let depth = usize::from(depth);
        if self.nodes.len() <= depth {
            self.nodes.resize_with(depth + 1, Vec::new);
        }
        self.nodes[depth].push(node);
        self.deepest = self.deepest.max(depth);
    }

    fn pop(&mut self) -> Option<NodeId> {
        loop {
            match self.nodes.get_mut(self.deepest)?.pop() {
                Some(node) => return Some(node),
                None if self.deepest == 0 => return None,
                None => self.deepest -= 1,
            }
        }
    }

    /// Notes that a threshold of the root was settled.
    pub(super) fn settle_root(&mut self) {
        self.root_settled = true;
    }

    /// Forgets that a threshold of the root was settled.
    pub(super) fn forget_root(&mut self) {
        self.root_settled = false;
    }
}

impl<G: Game, W: Width> Graph<G, W> {
    /// The root's threshold to work on next, of those that are not locked; the attracting one if
    /// possible, else the one with the least effort.
    pub(super) fn open_threshold(&self) -> Option<usize> {
        let locked = self.locks.get(self.root);
        let free = |index: usize| locked >> index & 1 == 0;
        let root = self.root_efforts();
        let attracting = attracting_threshold(self.store.player(self.root), root)?;
        if free(attracting) {
            return Some(attracting);
        }
        (0..root.len())
            .filter(|&index| free(index) && !root[index].is_solved())
            .min_by_key(|&index| root[index].proof.plus(root[index].disproof))
    }

    /// Notes that the numbers of `node` have changed: its parents must be updated.
    pub(super) fn note_change(&mut self, node: NodeId) {
        if self.store.has(node, Mark::Leased)
            && self.actual_efforts(node).iter().all(|pair| pair.is_solved())
        {
            self.moot.push(node);
        }
        let mut at = self.store.first_parent(node);
        while let Some((parent, next)) = self.store.parent_at(at) {
            at = next;
            self.enqueue(parent);
        }
    }

    /// Puts a node on the worklist, unless it is there.
    pub(super) fn enqueue(&mut self, node: NodeId) {
        if !self.store.has(node, Mark::Queued) {
            self.store.set(node, Mark::Queued, true);
            self.worklist.push(self.store.node(node).depth, node);
        }
    }

    /// Updates `node`, whose children or numbers have changed, and all ancestors that change with
    /// it. The path then ends at its last node that no change has reached.
    pub(super) fn update_from(&mut self, node: NodeId) {
        if self.store.is_leaf(node) {
            self.note_change(node);
        } else {
            self.enqueue(node);
        }
        self.update_all();
        if std::mem::take(&mut self.worklist.root_settled) && !self.is_solved() {
            self.prune();
        }
    }

    /// Updates whatever is on the worklist, and shortens the path as far as it was reached.
    pub(super) fn update_all(&mut self) {
        while let Some(node) = self.worklist.pop() {
            // A node may have been freed while it waited.
            if !self.store.is_live(node) || !self.store.has(node, Mark::Queued) {
                continue;
            }
            self.store.set(node, Mark::Queued, false);
            if self.store.has(node, Mark::OnPath)
                && let Some(index) = self.path.iter().position(|&n| n == node)
            {
                let reached = self.worklist.reached.unwrap_or(index);
                self.worklist.reached = Some(reached.min(index));
            }
            if !self.store.is_leaf(node) && self.recompute(node) {
                self.note_change(node);
            }
        }
        if let Some(index) = self.worklist.reached.take() {
            self.ascend_to(index);
        }
        self.forget_freed_path();
    }

    /// Recomputes a node from its children; whether its numbers or locks changed. Thresholds that
    /// are settled stay so.
    fn recompute(&mut self, node: NodeId) -> bool {
        let player = self.store.player(node);
        let (mut changed, mut settled) = (false, false);
        let mut locked = 0;
        for index in 0..self.evaluation.width() {
            let old = self.store.pair(node, index);
            if old.is_solved() {
                continue;
            }
            let (new, is_locked) = self.pair_from_children(node, player, index);
            locked |= u32::from(is_locked) << index;
            if new != old {
                changed = true;
                settled |= new.is_solved();
                self.store.pairs_mut(node)[index] = new;
            }
        }
        if locked != self.locks.get(node) {
            self.locks.set(node, locked);
            changed = true;
        }
        if settled && node == self.root {
            self.worklist.root_settled = true;
        } else if settled {
            self.drop_if_settled(node);
        }
        changed
    }

    /// One pair of a node, and whether it is locked for that threshold: the minimum is over the
    /// children that are not locked, the sum over all; if every child that could be chosen is
    /// locked the node is locked, and its minimum is over those (locking scheme of PNS-PDFPN,
    /// arXiv 2511.10339).
    fn pair_from_children(&self, node: NodeId, player: Player, index: usize) -> (EffortPair, bool) {
        let (mut least_free, mut least_locked) = (Effort::INFINITY, Effort::INFINITY);
        let mut sum = EffortSum::default();
        for child in self.store.children(node) {
            let pair = self.store.pair(child, index);
            let (wanted, feared) = for_player(player, pair);
            if self.locks.get(child) >> index & 1 == 0 || pair.is_solved() {
                least_free = least_free.min(wanted);
            } else {
                least_locked = least_locked.min(wanted);
            }
            sum.add(feared);
        }
        let is_locked = least_free.is_infinite() && !least_locked.is_infinite();
        let least = if is_locked { least_locked } else { least_free };
        let pair = match player {
            Player::Max => EffortPair { proof: least, disproof: sum.total() },
            Player::Min => EffortPair { proof: sum.total(), disproof: least },
        };
        (pair, is_locked)
    }
}
