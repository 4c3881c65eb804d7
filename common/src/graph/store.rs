//! The memory of a search graph: nodes, the edges between them, and the index by key.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::effort::EffortPair;
use crate::efforts::Width;
use crate::game::{Move, Player};

/// The place of a node in its graph. Places of freed nodes are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// What a node has besides its key and its effort numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The first edge to a child.
    first_edge: u32,
    /// The first edge from a parent. Of a freed node: the next freed node.
    first_parent: u32,
    edges: u16,
    /// Moves from the root, on the way that the node was first reached by.
    pub depth: u16,
    /// Bit i: no job may be taken below this node for the threshold at index i, because its most
    /// proving nodes are all leased.
    pub locked: u32,
    flags: u8,
}

const MAX_TO_MOVE: u8 = 1;
const LEASED: u8 = 2;
const QUEUED: u8 = 4;
const ON_PATH: u8 = 8;
const FREE: u8 = 16;

/// A link from a parent to a child. The edges of a parent lie side by side.
#[derive(Clone, Copy, Debug)]
struct Edge {
    child: u32,
    /// Of a free block's first edge: the next free block.
    parent: u32,
    /// The next edge that leads to the same child.
    next: u32,
    mv: Move,
}

const NONE: u32 = u32::MAX;

/// The marks that a node can carry.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// A job for this node is out.
    Leased,
    /// The node waits for an update.
    Queued,
    /// The node is on the current path.
    OnPath,
}

impl Mark {
    const fn bit(self) -> u8 {
        match self {
            Mark::Leased => LEASED,
            Mark::Queued => QUEUED,
            Mark::OnPath => ON_PATH,
        }
    }
}

/// The nodes and edges of a graph.
#[derive(Debug)]
pub(super) struct Store<K, W> {
    width: W,
    keys: Vec<K>,
    nodes: Vec<Node>,
    pairs: Vec<EffortPair>,
    edges: Vec<Edge>,
    /// The first free block of edges of each size.
    free_edges: Vec<u32>,
    free_nodes: u32,
    index: HashTable<u32>,
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
            keys: Vec::new(),
            nodes: Vec::new(),
            pairs: Vec::new(),
            edges: Vec::new(),
            free_edges: Vec::new(),
            free_nodes: NONE,
            index: HashTable::new(),
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
        let slots = if self.merge { self.index.capacity() * (size_of::<u32>() + 1) } else { 0 };
        (self.live * node + self.live_edges * size_of::<Edge>() + slots) as u64
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

    pub fn is_leaf(&self, id: NodeId) -> bool {
        self.node(id).edges == 0
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

    /// The children, in the order of their moves, each with the move that led to it when its
    /// parent was expanded.
    #[inline]
    pub fn children(
        &self,
        id: NodeId,
    ) -> impl DoubleEndedIterator<Item = (NodeId, Move)> + ExactSizeIterator {
        let node = self.node(id);
        let edges = &self.edges[node.first_edge as usize..][..usize::from(node.edges)];
        edges.iter().map(|edge| (NodeId(edge.child), edge.mv))
    }

    /// The parents.
    pub fn parents(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let edge = |index: u32| (index != NONE).then(|| (index, self.edges[index as usize]));
        std::iter::successors(edge(self.node(id).first_parent), move |(_, e)| edge(e.next))
            .map(|(_, edge)| NodeId(edge.parent))
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
        let node = Node { first_edge: 0, first_parent: NONE, edges: 0, depth, locked: 0, flags };
        let id = if self.free_nodes == NONE {
            self.nodes.push(node);
            self.keys.push(key);
            self.pairs.resize(self.nodes.len() * self.width.get(), EffortPair::UNIT);
            NodeId((self.nodes.len() - 1) as u32)
        } else {
            let id = NodeId(self.free_nodes);
            self.free_nodes = self.node(id).first_parent;
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

    /// Links a node without children to its children.
    pub fn link(&mut self, parent: NodeId, children: &[(NodeId, Move)]) {
        debug_assert!(self.is_leaf(parent));
        let first = self.allocate_edges(children.len());
        self.live_edges += children.len();
        for (index, &(child, mv)) in (first..).zip(children) {
            let next = std::mem::replace(&mut self.node_mut(child).first_parent, index);
            self.edges[index as usize] = Edge { child: child.0, parent: parent.0, next, mv };
        }
        let node = self.node_mut(parent);
        (node.first_edge, node.edges) = (first, children.len() as u16);
    }

    fn allocate_edges(&mut self, count: usize) -> u32 {
        if let Some(head) = self.free_edges.get_mut(count).filter(|head| **head != NONE) {
            let first = *head;
            *head = self.edges[first as usize].parent;
            return first;
        }
        let first = self.edges.len() as u32;
        let edge = Edge { child: 0, parent: 0, next: NONE, mv: Move(0) };
        self.edges.resize(self.edges.len() + count, edge);
        first
    }

    /// Unlinks a node from its children, and frees what has no parent any more; `freed` is told
    /// each node before it goes.
    pub fn unlink(&mut self, id: NodeId, freed: &mut impl FnMut(NodeId, &Self)) {
        let mut pending = vec![id];
        while let Some(parent) = pending.pop() {
            let (first, count) = (self.node(parent).first_edge, self.node(parent).edges);
            for index in first..first + u32::from(count) {
                let child = NodeId(self.edges[index as usize].child);
                self.remove_parent_edge(child, index);
                if self.node(child).first_parent == NONE {
                    freed(child, self);
                    pending.push(child);
                }
            }
            self.node_mut(parent).edges = 0;
            self.free_edges(first, count);
            if parent != id {
                self.free(parent);
            }
        }
    }

    fn free_edges(&mut self, first: u32, count: u16) {
        let size = usize::from(count);
        if size == 0 {
            return;
        }
        if self.free_edges.len() <= size {
            self.free_edges.resize(size + 1, NONE);
        }
        self.edges[first as usize].parent = self.free_edges[size];
        self.free_edges[size] = first;
        self.live_edges -= size;
    }

    fn remove_parent_edge(&mut self, child: NodeId, edge: u32) {
        let next = self.edges[edge as usize].next;
        let mut at = self.node(child).first_parent;
        if at == edge {
            self.node_mut(child).first_parent = next;
            return;
        }
        while self.edges[at as usize].next != edge {
            at = self.edges[at as usize].next;
        }
        self.edges[at as usize].next = next;
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
        (node.first_parent, node.flags) = (next, FREE);
        self.live -= 1;
    }
}
