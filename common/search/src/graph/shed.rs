//! Making room in a full graph: the least promising expansions are taken back.
//!
//! What is taken back can be found again: the node keeps the numbers that its children gave it, and
//! is a frontier node once more. So a full graph goes on with what matters most, and whoever runs
//! the jobs must make them larger, or the same nodes would come and go for ever.
//!
//! A hand goes round all places, as in the clock algorithm for pages, and each time only until there
//! is room for what is to be added. It takes back what is among the least promising quarter of what
//! it has seen lately.

use jlpns_games::Game;

use crate::efforts::{ThresholdSet, Width};
use crate::graph::edges::MOST_EDGES;
use crate::graph::node_id::MAX_NODES;
use crate::graph::nodes::Mark;
use crate::graph::{Graph, NodeId};

/// What a graph has given up for want of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shed {
    /// How often an eighth of the nodes was shed.
    pub times: u64,
    /// How many nodes were freed in all.
    pub nodes: u64,
}

/// The share of the nodes that counts once in [`Shed::times`], as a divisor.
const SHARE: u64 = 8;

/// How many places the hand passes at the most before it gives up for this time.
const MOST_PLACES: usize = 1 << 18;

/// The memory that lists of edges and parents may take beyond the limit, as a divisor: the free
/// places in them may not be of the size that is needed. Beyond that they grow only while an eighth
/// of the nodes' places is free.
const BEYOND: u64 = 32;

/// How many kinds of efforts are told apart.
const KINDS: usize = 128;

/// After how many candidates what was seen of them counts for half.
const REMEMBERED: u32 = 1 << 13;

/// What share of the candidates is taken back, as a divisor.
const TAKEN_BACK: u32 = 4;

/// Where the hand is, and what it has seen lately.
#[derive(Debug)]
pub(super) struct Hand {
    at: usize,
    /// How many candidates of each kind there were.
    seen: [u32; KINDS],
    all: u32,
    /// The kind from which on they are taken back.
    least: usize,
    /// How many nodes were shed since they last came to a share of the graph.
    shed: u64,
}

impl Default for Hand {
    fn default() -> Hand {
        Hand { at: 0, seen: [0; KINDS], all: 0, least: KINDS, shed: 0 }
    }
}

impl Hand {
    /// A candidate was seen.
    fn note(&mut self, kind: usize) {
        self.seen[kind] += 1;
        self.all += 1;
        // Now and then it is looked at what they were.
        if self.all.is_multiple_of(REMEMBERED / 8) {
            self.least = self.quantile();
        }
        if self.all >= REMEMBERED {
            self.seen.iter_mut().for_each(|count| *count /= 2);
            self.all = self.seen.iter().sum();
        }
    }

    /// The kind from which on there is the share of candidates that is taken back.
    fn quantile(&self) -> usize {
        let mut above = 0;
        let reached = self.seen.iter().rposition(|&count| {
            above += count;
            above >= self.all / TAKEN_BACK
        });
        reached.unwrap_or(0)
    }
}

/// Efforts of about the same size are of one kind: a quarter of each doubling, small ones apart.
fn kind(effort: u32) -> usize {
    match effort.checked_ilog2() {
        Some(log @ 3..) => ((log - 1) * 4 + (effort >> (log - 2) & 3)) as usize,
        _ => effort as usize,
    }
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Whether there is room for a node's `count` children: either within the memory, or in places
    /// that have been freed.
    pub(super) fn has_room(&self, count: usize) -> bool {
        let most_moves = usize::from(u16::MAX);
        if self.live() >= MAX_NODES - most_moves
            || self.nodes.edges.places() >= MOST_EDGES - most_moves
                && self.nodes.edges.growth_for(count) > 0
        {
            return false;
        }
        let (memory, bytes) = (self.memory(), self.bytes());
        let growth = self.nodes.growth_for(count);
        // The last expansion may go beyond the limit, but not with a larger index.
        if bytes < memory && growth.index as u64 <= memory - bytes {
            return true;
        }
        let free = (self.nodes.places() - self.live()) as u64;
        let lists_may_grow = bytes < memory.saturating_add(memory / BEYOND)
            || free * SHARE >= self.nodes.places() as u64;
        growth.nodes == 0 && growth.index == 0 && (growth.lists == 0 || lists_may_grow)
    }

    /// Takes back expansions until there is room for `count` nodes. `needed` stays in the graph.
    /// Whether there is.
    pub(super) fn make_room(&mut self, count: usize, needed: NodeId) -> bool {
        let places = self.nodes.places();
        let mut passed = 0;
        while !self.has_room(count) {
            if self.free_orphans(1) {
                continue;
            }
            if passed >= MOST_PLACES.min(3 * places) {
                break;
            }
            if passed == places {
                // Nothing is as unpromising as what there was.
                self.hand.least = 0;
            }
            passed += 1;
            self.hand.at = (self.hand.at + 1) % places;
            self.shed_at(NodeId(self.hand.at as u32), needed);
        }
        self.update_all();
        self.has_room(count)
    }

    /// Takes back the expansion of a node, if it is one of those that are least promising.
    fn shed_at(&mut self, node: NodeId, needed: NodeId) {
        if !self.nodes.is_live(node) || self.nodes.is_leaf(node) || node == self.root {
            return;
        }
        let spare = |child: NodeId| {
            child != needed && self.nodes.is_leaf(child) && !self.nodes.has(child, Mark::Leased)
        };
        if !self.nodes.children(node).all(spare) {
            return;
        }
        // The more effort settles one of its open thresholds, the later its turn would come.
        let open = self.nodes.pairs(node).iter().filter(|pair| !pair.is_solved());
        let least = open.map(|pair| pair.proof.min(pair.disproof).to_bits()).min();
        let kind = kind(least.unwrap_or(u32::MAX));
        self.hand.note(kind);
        if kind >= self.hand.least {
            self.take_back(node);
        }
    }

    /// Makes a node a frontier node again, with the numbers that it has.
    fn take_back(&mut self, node: NodeId) {
        let orphans = self.nodes.unlink(node).orphans as u64;
        self.shed.nodes += orphans;
        self.hand.shed += orphans;
        if self.hand.shed * SHARE >= self.live() as u64 {
            self.hand.shed = 0;
            self.shed.times += 1;
        }
        if !self.locks.get(node).is_empty() {
            self.locks.set(node, W::Set::default());
            self.note_change(node);
        }
    }
}
