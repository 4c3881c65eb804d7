//! Making room in a full graph: the least promising expansions are taken back.
//!
//! What is taken back can be found again: the node keeps the numbers that its children gave it, and
//! is a frontier node once more. So a full graph goes on with what matters most, and whoever runs
//! the jobs must make them larger, or the same nodes would come and go for ever.

use std::cmp::Reverse;

use jlpns_games::Game;

use crate::efforts::Width;
use crate::graph::store::Mark;
use crate::graph::{Graph, NodeId};

/// The share of the memory that is made free at a time, as a divisor: searching for what to shed
/// looks at every node, so it must be rare.
const FREED_SHARE: u64 = 8;

/// What a graph has given up for want of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shed {
    /// How often room was made.
    pub times: u64,
    /// How many nodes were freed in all.
    pub nodes: u64,
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Takes back expansions until an eighth of the memory is free, or none is left that can be.
    /// `needed` stays in the graph. Whether there is room now.
    pub(super) fn shed_all_but(&mut self, needed: NodeId) -> bool {
        let memory = self.settings.memory;
        let wanted = memory - memory / FREED_SHARE;
        let before = self.live();
        let mut taken_back = 0;
        while self.bytes() >= wanted {
            let mut candidates = self.sheddable(needed);
            if candidates.is_empty() {
                break;
            }
            candidates.sort_unstable_by_key(|&(effort, node)| (Reverse(effort), node));
            for (_, node) in candidates {
                if self.bytes() < wanted {
                    break;
                }
                self.take_back(node);
                taken_back += 1;
            }
        }
        if taken_back > 0 {
            self.shed.times += 1;
            self.shed.nodes += (before - self.live()) as u64;
        }
        self.update_all();
        self.bytes() < memory
    }

    /// The nodes all of whose children are frontier nodes that are neither leased nor `needed`,
    /// each with the least effort that settles one of its open thresholds: the more it is, the
    /// later its turn would come.
    fn sheddable(&self, needed: NodeId) -> Vec<(u32, NodeId)> {
        let spare = |child: NodeId| {
            child != needed && self.store.is_leaf(child) && !self.store.has(child, Mark::Leased)
        };
        let interior = self.store.ids().filter(|&node| node != self.root);
        interior
            .filter(|&node| !self.store.is_leaf(node))
            .filter(|&node| self.store.children(node).all(spare))
            .map(|node| {
                let open = self.store.pairs(node).iter().filter(|pair| !pair.is_solved());
                let least = open.map(|pair| pair.proof.min(pair.disproof).to_bits()).min();
                (least.unwrap_or(u32::MAX), node)
            })
            .collect()
    }

    /// Makes a node a frontier node again, with the numbers that it has.
    fn take_back(&mut self, node: NodeId) {
        self.drop_below(node);
        if self.locks.get(node) != 0 {
            self.locks.set(node, 0);
            self.note_change(node);
        }
    }
}
