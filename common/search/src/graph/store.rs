//! The memory of a search graph: nodes, the edges between them, and the index by key.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use jlpns_games::Player;

use crate::effort::EffortPair;
use crate::efforts::Width;
use crate::graph::parents::Parents;
use crate::large_pages::{LargePages, LargeVec};

/// The place of a node in its graph. Places of freed nodes are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// What a node has besides its key and its effort numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The first edge; [`NONE`] of a frontier node.
    pub(super) first_edge: u32,
    /// The parent, if there is one only; with several, the first of their cells. Of a freed node:
    /// the next freed node.
    pub(super) parent: u32,
    /// Moves from the root, on the way that the node was first reached by.
    pub depth: u16,
    pub(super) flags: u8,
}

const MAX_TO_MOVE: u8 = 1;
const LEASED: u8 = 2;
const QUEUED: u8 = 4;
const ON_PATH: u8 = 8;
const FREE: u8 = 16;
pub(super) const SEVERAL_PARENTS: u8 = 32;
const RESCAN: u8 = 64;

/// The last edge of its node: the edges of a node lie side by side, and each is the number of a
/// child.
const LAST: u32 = 1 << 31;

/// The most nodes that a graph can have.
pub(super) const MAX_NODES: usize = LAST as usize;

pub(super) const NONE: u32 = u32::MAX;

/// The marks that a node can carry.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// A job for this node is out.
    Leased,
    /// The node waits for an update.
    Queued,
    /// The node waits for an update that must look at all of its children.
    Rescan,
    /// The node is on the current path.
    OnPath,
}

impl Mark {
    const fn bit(self) -> u8 {
        match self {
            Mark::Leased => LEASED,
            Mark::Queued => QUEUED,
            Mark::Rescan => RESCAN,
            Mark::OnPath => ON_PATH,
        }
    }
}

/// The nodes and edges of a graph.
#[derive(Debug)]
pub(super) struct Store<K, W> {
    pub(super) width: W,
    pub(super) keys: LargeVec<K>,
    pub(super) nodes: LargeVec<Node>,
    pub(super) pairs: LargeVec<EffortPair>,
    pub(super) edges: LargeVec<u32>,
    /// The first free block of edges of each size; the first edge of a free block is the number of
    /// the next.
    free_edges: Vec<u32>,
    pub(super) parents: Parents,
    free_nodes: u32,
    index: HashTable<u32, LargePages>,
    /// Always the same, so that [`Store::bytes`] is the same in every run: when the memory is full
    /// depends on it.
    hasher: FixedState,
    /// Whether nodes are found by key: without it every way to a position has its own node.
    merge: bool,
    live: usize,
    peak: usize,
    live_edges: usize,
}

impl<K: Copy + Eq + std::hash::Hash, W: Width> Store<K, W> {
    pub fn new(width: W, merge: bool) -> Store<K, W> {
        Store {
            width,
            keys: LargeVec::new_in(LargePages),
            nodes: LargeVec::new_in(LargePages),
            pairs: LargeVec::new_in(LargePages),
            edges: LargeVec::new_in(LargePages),
            free_edges: Vec::new(),
            parents: Parents::default(),
            free_nodes: NONE,
            index: HashTable::new_in(LargePages),
            hasher: FixedState::default(),
            merge,
            live: 0,
            peak: 0,
            live_edges: 0,
        }
    }

    pub fn live(&self) -> usize {
        self.live
    }

    pub fn peak(&self) -> usize {
        self.peak
    }

    /// The bytes of the nodes and edges in use and of all index slots. The places of freed nodes
    /// and edges are used again before new ones are taken.
    pub fn bytes(&self) -> u64 {
        let node = size_of::<K>() + size_of::<Node>() + self.width.get() * size_of::<EffortPair>();
        let slots = if self.merge { self.index.allocation_size() } else { 0 };
        let edges = self.live_edges * size_of::<u32>() + self.parents.bytes();
        (self.live * node + edges + slots) as u64
    }

    #[inline]
    pub fn key(&self, id: NodeId) -> K {
        self.keys[id.0 as usize]
    }

    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    #[inline]
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    /// Makes room for so many nodes and edges more.
    pub fn reserve(&mut self, nodes: usize, edges: usize) {
        self.nodes.reserve(nodes);
        self.keys.reserve(nodes);
        self.pairs.reserve(nodes * self.width.get());
        self.edges.reserve(edges);
        if self.merge {
            let (keys, hasher) = (&self.keys, &self.hasher);
            self.index.reserve(nodes, |&id| hasher.hash_one(keys[id as usize]));
        }
    }

    /// How many places there are, those of freed nodes included.
    pub fn places(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes in use, in the order of their places.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len() as u32).map(NodeId).filter(|&id| self.is_live(id))
    }

    /// Whether `id` is a node, and not a place that was freed.
    pub fn is_live(&self, id: NodeId) -> bool {
        self.nodes.get(id.0 as usize).is_some_and(|node| node.flags & FREE == 0)
    }

    #[inline]
    pub fn is_leaf(&self, id: NodeId) -> bool {
        self.node(id).first_edge == NONE
    }

    #[inline]
    pub fn player(&self, id: NodeId) -> Player {
        if self.node(id).flags & MAX_TO_MOVE != 0 { Player::Max } else { Player::Min }
    }

    #[inline]
    pub fn has(&self, id: NodeId, mark: Mark) -> bool {
        self.node(id).flags & mark.bit() != 0
    }

    #[inline]
    pub fn set(&mut self, id: NodeId, mark: Mark, on: bool) {
        let flags = &mut self.node_mut(id).flags;
        if on { *flags |= mark.bit() } else { *flags &= !mark.bit() }
    }

    #[inline]
    pub fn pairs(&self, id: NodeId) -> &[EffortPair] {
        let first = id.0 as usize * self.width.get();
        &self.pairs[first..first + self.width.get()]
    }

    #[inline]
    pub fn pairs_mut(&mut self, id: NodeId) -> &mut [EffortPair] {
        let first = id.0 as usize * self.width.get();
        &mut self.pairs[first..first + self.width.get()]
    }

    #[inline]
    pub fn pair(&self, id: NodeId, index: usize) -> EffortPair {
        self.pairs[id.0 as usize * self.width.get() + index]
    }

    /// The children, in the order of the moves that lead to them. Where nodes are merged, each is
    /// here once.
    #[inline]
    pub fn children(
        &self,
        id: NodeId,
    ) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone {
        self.block(id).iter().map(|&edge| NodeId(edge & !LAST))
    }

    #[inline]
    fn block(&self, id: NodeId) -> &[u32] {
        let first = self.node(id).first_edge;
        if first == NONE {
            return &[];
        }
        let edges = &self.edges[first as usize..];
        let count = edges.iter().position(|edge| edge & LAST != 0).map_or(0, |last| last + 1);
        &edges[..count]
    }

    /// The node of a position, if there is one and nodes are merged.
    pub fn find(&self, key: K) -> Option<NodeId> {
        if !self.merge {
            return None;
        }
        let hash = self.hasher.hash_one(key);
        self.index.find(hash, |&id| self.keys[id as usize] == key).map(|&id| NodeId(id))
    }

    /// Adds a node without edges; its numbers are still to be set.
    pub fn add(&mut self, key: K, player: Player, depth: u16) -> NodeId {
        let flags = if player == Player::Max { MAX_TO_MOVE } else { 0 };
        let node = Node { first_edge: NONE, parent: NONE, depth, flags };
        let id = if self.free_nodes == NONE {
            self.nodes.push(node);
            self.keys.push(key);
            self.pairs.resize(self.nodes.len() * self.width.get(), EffortPair::UNIT);
            NodeId((self.nodes.len() - 1) as u32)
        } else {
            let id = NodeId(self.free_nodes);
            self.free_nodes = self.node(id).parent;
            self.nodes[id.0 as usize] = node;
            self.keys[id.0 as usize] = key;
            id
        };
        if self.merge {
            let keys = &self.keys;
            let hasher = &self.hasher;
            self.index.insert_unique(hasher.hash_one(key), id.0, |&other| {
                hasher.hash_one(keys[other as usize])
            });
        }
        self.live += 1;
        self.peak = self.peak.max(self.live);
        id
    }

    /// Links a node without children to its children, of which there is one at least.
    pub fn link(&mut self, parent: NodeId, children: &[NodeId]) {
        debug_assert!(self.is_leaf(parent) && !children.is_empty());
        let first = self.allocate_edges(children.len());
        self.live_edges += children.len();
        for (edge, &child) in self.edges[first..].iter_mut().zip(children) {
            *edge = child.0;
        }
        self.edges[first + children.len() - 1] |= LAST;
        children.iter().for_each(|&child| self.add_parent(child, parent));
        self.node_mut(parent).first_edge = first as u32;
    }

    fn allocate_edges(&mut self, count: usize) -> usize {
        if let Some(head) = self.free_edges.get_mut(count).filter(|head| **head != NONE) {
            let first = *head as usize;
            *head = self.edges[first];
            return first;
        }
        let first = self.edges.len();
        self.edges.resize(first + count, 0);
        first
    }

    /// Unlinks a node from its children, and frees what has no parent any more; `freed` is told
    /// each node before it goes.
    pub fn unlink(&mut self, id: NodeId, freed: &mut impl FnMut(NodeId, &Self)) {
        let mut pending = vec![id];
        while let Some(parent) = pending.pop() {
            let first = std::mem::replace(&mut self.node_mut(parent).first_edge, NONE);
            if first != NONE {
                let mut end = first as usize;
                loop {
                    let edge = self.edges[end];
                    end += 1;
                    let child = NodeId(edge & !LAST);
                    if !self.remove_parent(child, parent) {
                        freed(child, self);
                        pending.push(child);
                    }
                    if edge & LAST != 0 {
                        break;
                    }
                }
                self.free_block(first, end - first as usize);
            }
            if parent != id {
                self.free(parent);
            }
        }
    }

    fn free_block(&mut self, first: u32, size: usize) {
        if self.free_edges.len() <= size {
            self.free_edges.resize(size + 1, NONE);
        }
        self.edges[first as usize] = std::mem::replace(&mut self.free_edges[size], first);
        self.live_edges -= size;
    }

    fn free(&mut self, id: NodeId) {
        if self.merge {
            let hash = self.hasher.hash_one(self.key(id));
            if let Ok(entry) = self.index.find_entry(hash, |&other| other == id.0) {
                entry.remove();
            }
        }
        let next = std::mem::replace(&mut self.free_nodes, id.0);
        let node = self.node_mut(id);
        (node.parent, node.flags) = (next, FREE);
        self.live -= 1;
    }
}
