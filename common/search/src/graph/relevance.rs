//! Freeing what no open threshold depends on (GPNS paper, section 4.5).

use std::collections::HashMap;
use std::ops::Range;

use jlpns_games::Game;

use crate::efforts::{Width, still_open};
use crate::graph::store::Mark;
use crate::graph::{Graph, NodeId};

impl<G: Game, W: Width> Graph<G, W> {
    /// Frees all that is below a node, if nothing is left to find out about it.
    pub(super) fn drop_if_settled(&mut self, node: NodeId) {
        if self.store.pairs(node).iter().all(|pair| pair.is_solved()) {
            self.drop_below(node);
        }
    }

    /// Frees all that is below a node and has no other parent.
    pub(super) fn drop_below(&mut self, node: NodeId) {
        let mut leased = Vec::new();
        let locks = &mut self.locks;
        self.store.unlink(node, &mut |freed, store| {
            locks.set(freed, 0);
            if store.has(freed, Mark::Leased) {
                leased.push(freed);
            }
        });
        for node in leased {
            self.note_freed(node);
        }
    }

    /// Frees what is below nodes that no open threshold of the root depends on, through any of
    /// their parents. Such a node keeps its numbers; should it become relevant again through a
    /// new parent it is a frontier node again.
    pub(super) fn prune(&mut self) {
        let open = still_open(self.root_efforts(), 0..self.evaluation.width());
        let mut relevance: HashMap<NodeId, Range<usize>> = HashMap::new();
        let mut pending = vec![(self.root, open)];
        while let Some((node, open)) = pending.pop() {
            let known = relevance.get(&node).cloned().unwrap_or(0..0);
            let wider = if known.is_empty() {
                open
            } else {
                known.start.min(open.start)..known.end.max(open.end)
            };
            if wider == known {
                continue;
            }
            relevance.insert(node, wider.clone());
            for child in self.store.children(node) {
                let open = still_open(self.store.pairs(child), wider.clone());
                if !open.is_empty() {
                    pending.push((child, open));
                }
            }
        }
        self.drop_all_but(&relevance);
    }

    fn drop_all_but(&mut self, relevant: &HashMap<NodeId, Range<usize>>) {
        let mut irrelevant: Vec<NodeId> = Vec::new();
        for node in relevant.keys() {
            let children = self.store.children(*node);
            irrelevant.extend(children.filter(|child| !relevant.contains_key(child)));
        }
        // Freed places are used again in the order in which they were freed, which is not to depend
        // on the map's.
        irrelevant.sort_unstable();
        for node in irrelevant {
            if !self.store.is_live(node) {
                continue;
            }
            if self.store.has(node, Mark::Leased) {
                self.moot.push(node);
            }
            self.drop_below(node);
            // Leases below it are gone: it must not stay locked, should it become relevant again.
            if !self.store.has(node, Mark::Leased) && self.locks.get(node) != 0 {
                self.locks.set(node, 0);
                self.note_change(node);
            }
        }
        self.update_all();
    }

    /// Ends the path before its first node that has been freed, or that is no child of the node
    /// before it any more.
    pub(super) fn forget_freed_path(&mut self) {
        let gone = (1..self.path.len()).find(|&index| {
            !self.store.is_live(self.path[index]) || self.store.is_leaf(self.path[index - 1])
        });
        if let Some(index) = gone {
            self.ascend_to(index - 1);
        }
    }
}
