//! Numbers of parents from their children's, through all parents, deepest first.
//!
//! A parent takes over a child's change at once if its numbers tell what follows (`change`);
//! otherwise it looks at all of its children when its turn comes.

use jlpns_games::{Bounds, Game, Player, Threshold};
use smallvec::SmallVec;

use crate::Question;
use crate::effort::{Effort, EffortPair};
use crate::efforts::{PairOfChildren, ThresholdSet, Width, attracting_threshold};
use crate::graph::change::Change;
use crate::graph::nodes::Mark;
use crate::graph::{Graph, NodeId};

/// The effort numbers of one node, kept aside.
pub(super) type Pairs = SmallVec<[EffortPair; 4]>;

/// A depth-first descent leaves the root's threshold when it takes so many times the effort of another: of many outcomes
/// one may be much harder to decide than those that say as much.
const STAY: f64 = 9.0;

/// How many nodes of one depth may have room kept for them: what is counted as the graph's memory
/// is without it.
const SPARE: usize = 1 << 10;

/// The nodes of one depth whose children have changed.
#[derive(Debug, Default)]
struct Level {
    nodes: Vec<NodeId>,
    /// The numbers that their parents have seen, the same number of pairs for each.
    seen: Vec<EffortPair>,
}

/// The nodes whose children have changed; the deepest comes out first.
#[derive(Debug, Default)]
pub(super) struct Worklist {
    /// The nodes of each depth.
    levels: Vec<Level>,
    /// No node is deeper than this.
    deepest: usize,
    /// How much of the current path no update has reached: the index of the highest node on it
    /// that was recomputed.
    reached: Option<usize>,
    /// Whether a threshold of the root was settled, which makes others irrelevant below.
    root_settled: bool,
}

impl Worklist {
    /// Adds a node, which the caller marks as queued, with the numbers that its parents have seen.
    fn push(&mut self, depth: u16, node: NodeId, seen: &[EffortPair]) {
        let depth = usize::from(depth);
        if self.levels.len() <= depth {
            self.levels.resize_with(depth + 1, Level::default);
        }
        self.levels[depth].nodes.push(node);
        self.levels[depth].seen.extend_from_slice(seen);
        self.deepest = self.deepest.max(depth);
    }

    /// Takes a node out; the numbers that its parents have seen are copied to `seen`.
    fn pop(&mut self, seen: &mut [EffortPair]) -> Option<NodeId> {
        loop {
            let level = self.levels.get_mut(self.deepest)?;
            if let Some(node) = level.nodes.pop() {
                let first = level.seen.len() - seen.len();
                seen.copy_from_slice(&level.seen[first..]);
                level.seen.truncate(first);
                return Some(node);
            }
            if level.nodes.capacity() > SPARE {
                *level = Level::default();
            }
            self.deepest = self.deepest.checked_sub(1)?;
        }
    }

    /// The node that comes out next, if it is as deep as the last one.
    fn next(&self) -> Option<NodeId> {
        self.levels.get(self.deepest)?.nodes.last().copied()
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
    /// The root's threshold to work on next, of those that are not locked: the wanted one if possible, else the one
    /// with the least effort.
    pub(super) fn open_threshold(&self) -> Option<usize> {
        self.unlocked_threshold(self.wanted_threshold()?)
    }

    /// The root's threshold to work on, if any is open: the one that comes next where late wins come first, the
    /// attracting one otherwise.
    pub(super) fn wanted_threshold(&self) -> Option<usize> {
        self.latest_threshold().or_else(|| self.attracting_threshold())
    }

    fn attracting_threshold(&self) -> Option<usize> {
        attracting_threshold(self.nodes.player(self.root), self.root_efforts())
    }

    /// The root's threshold that comes next where late wins come first.
    fn latest_threshold(&self) -> Option<usize> {
        let order = self.late_first?;
        self.next_threshold(|_, open| order.next(open))
    }

    /// The root's threshold that comes next where the game tells who is favoured.
    fn favoured_threshold(&self) -> Option<usize> {
        let order = self.favoured_first?;
        self.next_threshold(|asked, open| order.next(asked, open))
    }

    /// The root's threshold that an order of thresholds has next, if a value is asked for that is not known yet.
    fn next_threshold(&self, order: impl FnOnce(Bounds, Bounds) -> Threshold) -> Option<usize> {
        let Question::Value(asked) = self.question else { return None };
        let known = self.question.bounds(self.root_efforts(), self.game.scale());
        let open = known.intersection(asked).filter(|open| open.value().is_none())?;
        let (first, _) = self.question.thresholds();
        Some(usize::from(order(asked, open).0 - first.0))
    }

    /// As [`Graph::open_threshold`]; but the best outcome of who is favoured is asked for first, and where nobody is, the one
    /// that was attracting stays so while it is open and takes at most [`STAY`] times the effort.
    pub(super) fn threshold_to_stay_with(&mut self) -> Option<usize> {
        if let Some(wanted) = self.latest_threshold().or_else(|| self.favoured_threshold()) {
            return self.unlocked_threshold(wanted);
        }
        let attracting = self.attracting_threshold()?;
        let root = self.root_efforts();
        let effort = |index: usize| root[index].proof.plus(root[index].disproof);
        let stays = |&before: &usize| effort(before).is_within(STAY, effort(attracting));
        let attracting = self.stays_with.filter(stays).unwrap_or(attracting);
        self.stays_with = Some(attracting);
        self.unlocked_threshold(attracting)
    }

    /// A threshold of the root unless it is locked, else the open one with the least effort that is not.
    fn unlocked_threshold(&self, wanted: usize) -> Option<usize> {
        let (locked, root) = (self.locks.get(self.root), self.root_efforts());
        let free = |index: usize| !locked.has(index);
        if free(wanted) {
            return Some(wanted);
        }
        (0..root.len())
            .filter(|&index| free(index) && !root[index].is_solved())
            .min_by_key(|&index| root[index].proof.plus(root[index].disproof))
    }

    /// Notes that the numbers of `node` have changed: its parents must look at their children.
    pub(super) fn note_change(&mut self, node: NodeId) {
        self.note_moot(node);
        let parents = self.nodes.parents(node);
        for &parent in &parents {
            self.enqueue(parent);
        }
    }

    /// Notes that `node` has changed, for callers who know what its parents have seen of it, its
    /// numbers (`seen`) and locks (`locked`): parents that need not look at all children do not.
    pub(super) fn note_change_from(&mut self, node: NodeId, seen: &[EffortPair], locked: W::Set) {
        self.note_moot(node);
        let depth = self.nodes.node(node).depth;
        let now = Pairs::from_slice(self.nodes.pairs(node));
        let change = Change { depth, seen, now: &now, locked, locks_now: self.locks.get(node) };
        let parents = self.nodes.parents(node);
        if parents.len() > 1 {
            parents.iter().for_each(|&parent| self.nodes.load_node(parent));
        }
        for &parent in &parents {
            self.take_over(parent, &change);
        }
    }

    /// If the job for `node` is out and has nothing left to find, it is moot.
    fn note_moot(&mut self, node: NodeId) {
        if self.nodes.has(node, Mark::Leased)
            && self.actual_efforts(node).iter().all(|pair| pair.is_solved())
        {
            self.moot.push(node);
        }
    }

    /// Puts a node on the worklist, unless it is there, to look at all of its children.
    pub(super) fn enqueue(&mut self, node: NodeId) {
        self.queue(node);
        self.nodes.set(node, Mark::Rescan, true);
        self.nodes.load_child_list(node);
    }

    /// Puts a node on the worklist, unless it is there: before its numbers change.
    pub(super) fn queue(&mut self, node: NodeId) {
        if !self.nodes.has(node, Mark::Queued) {
            self.nodes.set(node, Mark::Queued, true);
            self.nodes.load_parent_list(node);
            self.worklist.push(self.nodes.node(node).depth, node, self.nodes.pairs(node));
        }
    }

    /// Updates `node`, whose children or numbers have changed, and all ancestors that change with
    /// it. The path then ends at its last node that no change has reached.
    pub(super) fn update_from(&mut self, node: NodeId) {
        if self.nodes.is_leaf(node) {
            self.note_change(node);
        } else {
            self.enqueue(node);
        }
        self.update_noted();
    }

    /// Updates all nodes above the changes that have been noted.
    pub(super) fn update_noted(&mut self) {
        self.update_all();
        if std::mem::take(&mut self.worklist.root_settled) && !self.is_solved() {
            self.begin_pruning(true);
        }
    }

    /// Updates whatever is on the worklist, and shortens the path as far as it was reached.
    pub(super) fn update_all(&mut self) {
        let mut seen = Pairs::from_elem(EffortPair::UNIT, self.evaluation.width());
        while let Some(node) = self.worklist.pop(&mut seen) {
            if let Some(next) = self.worklist.next() {
                self.load_for_update(next);
            }
            // A node may have been freed while it waited.
            if !self.nodes.is_live(node) || !self.nodes.has(node, Mark::Queued) {
                continue;
            }
            self.nodes.set(node, Mark::Queued, false);
            if self.nodes.has(node, Mark::OnPath)
                && let Some(index) = self.path.iter().position(|&n| n == node)
            {
                let reached = self.worklist.reached.unwrap_or(index);
                self.worklist.reached = Some(reached.min(index));
            }
            let locked = self.locks.get(node);
            if self.nodes.has(node, Mark::Rescan) {
                self.nodes.set(node, Mark::Rescan, false);
                if !self.nodes.is_leaf(node) {
                    self.recompute(node);
                }
            }
            if seen[..] != *self.nodes.pairs(node) || locked != self.locks.get(node) {
                self.note_change_from(node, &seen, locked);
            }
        }
        if let Some(index) = self.worklist.reached.take() {
            self.ascend_to(index);
        }
        self.forget_freed_path();
    }

    /// Begins to load what the update of a node on the worklist will read.
    fn load_for_update(&self, node: NodeId) {
        if self.nodes.is_live(node) {
            self.nodes.load_parents(node);
            if self.nodes.has(node, Mark::Rescan) {
                self.nodes.load_children(node);
            }
        }
    }

    /// Recomputes a node from its children. Thresholds that are settled stay so.
    pub(super) fn recompute(&mut self, node: NodeId) {
        let player = self.nodes.player(node);
        let children: SmallVec<[NodeId; 64]> = self.nodes.children(node).collect();
        let mut settled = false;
        let mut locked = W::Set::default();
        for index in 0..self.evaluation.width() {
            if self.nodes.pair(node, index).is_solved() {
                continue;
            }
            let (new, is_locked) = self.pair_from_children(&children, player, index);
            if is_locked {
                locked.insert(index);
            }
            settled |= new.is_solved();
            self.nodes.pairs_mut(node)[index] = new;
        }
        self.locks.set(node, locked);
        if settled && node == self.root {
            self.worklist.root_settled = true;
        } else if settled {
            self.drop_if_settled(node);
        }
    }

    /// One pair of a node from its children, and whether it is locked for that threshold: the
    /// minimum is over the children that are not locked, the sum over all; if every child that
    /// could be chosen is locked the node is locked, and its minimum is over those (locking scheme
    /// of PNS-PDFPN, arXiv 2511.10339).
    fn pair_from_children(
        &self,
        children: &[NodeId],
        player: Player,
        index: usize,
    ) -> (EffortPair, bool) {
        let mut of_children = PairOfChildren::new(player);
        let mut least_locked = Effort::INFINITY;
        for &child in children {
            let pair = self.nodes.pair(child, index);
            if !self.locks.get(child).has(index) || pair.is_solved() {
                of_children.add(pair);
            } else {
                least_locked = least_locked.min(of_children.add_feared(pair));
            }
        }
        let is_locked = of_children.is_without_choice() && !least_locked.is_infinite();
        if is_locked {
            of_children.choose(least_locked);
        }
        (of_children.pair(), is_locked)
    }
}
