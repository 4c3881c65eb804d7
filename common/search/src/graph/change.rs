//! What a parent's numbers become when one child changes, without a look at the others.
//!
//! A sum is told the difference. A minimum that the child goes below is the child's; one that it
//! stays above is what it was. Only if the child held the minimum and rises, or if something is
//! settled, saturated or locked, must the parent look at all of its children.

use jlpns_games::{Game, Player};

use crate::effort::{Effort, EffortPair};
use crate::efforts::{ThresholdSet, Width, for_player, pair_of};
use crate::graph::nodes::Mark;
use crate::graph::update::Pairs;
use crate::graph::{Graph, NodeId};

/// The change of one child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a, S> {
    /// The child's depth.
    pub depth: u16,
    /// The numbers of it that its parents have seen.
    pub seen: &'a [EffortPair],
    /// Its numbers now.
    pub now: &'a [EffortPair],
    /// The locked thresholds that its parents have seen.
    pub locked: S,
    /// Those locked now.
    pub locks_now: S,
}

impl<S: ThresholdSet> Change<'_, S> {
    /// Whether nothing has changed for the threshold at `index`.
    fn is_none(&self, index: usize) -> bool {
        self.seen[index] == self.now[index] && self.locked.has(index) == self.locks_now.has(index)
    }

    /// The pair of a parent with `player` to move that is not locked, for the threshold at
    /// `index`. `None` if only a look at all children tells.
    fn apply(&self, player: Player, parent: EffortPair, index: usize) -> Option<EffortPair> {
        let (least, sum) = for_player(player, parent);
        let (was_wanted, was_feared) = for_player(player, self.seen[index]);
        let (is_wanted, is_feared) = for_player(player, self.now[index]);
        if self.now[index].is_solved() {
            return None;
        }
        // A locked child cannot be chosen.
        let choice = |locked: S, wanted: Effort| {
            if locked.has(index) { Effort::INFINITY } else { wanted }
        };
        let (was, is) = (choice(self.locked, was_wanted), choice(self.locks_now, is_wanted));
        let least = match is < least {
            true => is,
            false if was == least && is != was => return None,
            false => least,
        };
        let sum = if is_feared == was_feared { sum } else { moved(sum, was_feared, is_feared)? };
        Some(pair_of(player, least, sum))
    }
}

/// A sum of which one term has changed; `None` if it has lost count.
fn moved(sum: Effort, was: Effort, is: Effort) -> Option<Effort> {
    let exact = |effort: Effort| (effort < Effort::MAX_FINITE).then(|| u64::from(effort.to_bits()));
    Some(Effort::finite(exact(sum)?.checked_sub(exact(was)?)? + exact(is)?))
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Has a parent take over the change of one child: it is on the worklist afterwards, if it
    /// changes with it or may do so.
    pub(super) fn take_over(&mut self, parent: NodeId, change: &Change<W::Set>) {
        if self.nodes.has(parent, Mark::Rescan) {
            return;
        }
        // A parent whose turn comes before the child's may have seen the change already: that is
        // so where a node is deeper on one way than on another.
        if self.nodes.node(parent).depth >= change.depth {
            return self.enqueue(parent);
        }
        let player = self.nodes.player(parent);
        let locked = self.locks.get(parent);
        let mut pairs = Pairs::from_slice(self.nodes.pairs(parent));
        for (index, pair) in pairs.iter_mut().enumerate() {
            if pair.is_solved() || change.is_none(index) {
                continue;
            }
            let new = if locked.has(index) { None } else { change.apply(player, *pair, index) };
            match new {
                Some(new) => *pair = new,
                None => return self.enqueue(parent),
            }
        }
        // What is to be selected below a node of the path may be another even so.
        if pairs[..] != *self.nodes.pairs(parent) || self.nodes.has(parent, Mark::OnPath) {
            self.queue(parent);
            self.nodes.pairs_mut(parent).copy_from_slice(&pairs);
        }
    }
}
