//! The memory of a search graph: nodes, the edges between them, and the index by key.

use jlpns_games::Player;

use crate::effort::EffortPair;
use crate::efforts::Width;
use crate::graph::edges::Edges;
use crate::graph::index::Index;
use crate::graph::node_id::{NONE, NodeId};
use crate::graph::parents::Parents;
use crate::large_pages::{LargePages, LargeVec};

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

const _: () = assert!(size_of::<Node>() == 12);

const MAX_TO_MOVE: u8 = 1;
const LEASED: u8 = 2;
const QUEUED: u8 = 4;
const ON_PATH: u8 = 8;
pub(super) const FREE: u8 = 16;
pub(super) const SEVERAL_PARENTS: u8 = 32;
const RESCAN: u8 = 64;
pub(super) const ORPHAN: u8 = 128;

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

/// Bytes that are to be added to those of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    pub nodes: usize,
    /// For edges and lists of parents.
    pub lists: usize,
    pub index: usize,
}

/// The nodes and edges of a graph.
#[derive(Debug)]
pub(super) struct Nodes<K, W> {
    pub(super) width: W,
    pub(super) keys: LargeVec<K>,
    pub(super) nodes: LargeVec<Node>,
    pub(super) pairs: LargeVec<EffortPair>,
    pub(super) edges: Edges,
    pub(super) parents: Parents,
    pub(super) free_nodes: u32,
    /// Nodes that had no parent left when they came in here, and are to be freed if that is so
    /// still.
    pub(super) orphans: Vec<NodeId>,
    pub(super) index: Index,
    /// Whether nodes are found by key: without it every way to a position has its own node.
    pub(super) merge: bool,
    pub(super) live: usize,
    peak: usize,
}

impl<K: Copy + Eq + std::hash::Hash, W: Width> Nodes<K, W> {
    pub fn new(width: W, merge: bool) -> Nodes<K, W> {
        Nodes {
            width,
            keys: LargeVec::new_in(LargePages),
            nodes: LargeVec::new_in(LargePages),
            pairs: LargeVec::new_in(LargePages),
            edges: Edges::default(),
            parents: Parents::default(),
            free_nodes: NONE,
            orphans: Vec::new(),
            index: Index::default(),
            merge,
            live: 0,
            peak: 0,
        }
    }

    pub fn live(&self) -> usize {
        self.live
    }

    pub fn peak(&self) -> usize {
        self.peak
    }

    /// The bytes of a node without its edges and its places in lists and index.
    pub fn node_bytes(&self) -> usize {
        size_of::<K>() + size_of::<Node>() + self.width.get() * size_of::<EffortPair>()
    }

    /// The bytes of all nodes, edges, lists and index places, the free ones included: those are
    /// used again before new ones are taken, and stay in memory until then.
    pub fn bytes(&self) -> usize {
        let orphans = self.orphans.capacity() * size_of::<NodeId>();
        let lists = self.edges.bytes() + self.parents.bytes() + self.index.bytes();
        self.nodes.len() * self.node_bytes() + lists + orphans
    }

    /// What is to be added to the memory when a node gets `count` children, new ones at the most.
    pub fn growth_for(&self, count: usize) -> Growth {
        let free = self.nodes.len() - self.live;
        Growth {
            nodes: count.saturating_sub(free) * self.node_bytes(),
            lists: self.edges.growth_for(count) + self.parents.growth_for(count),
            index: if self.merge { self.index.growth_for(count) } else { 0 },
        }
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
            self.index.reserve(nodes);
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

    /// Whether a node has lost its parents and waits to be freed.
    #[cfg(test)]
    pub fn is_orphan(&self, id: NodeId) -> bool {
        self.node(id).flags & (ORPHAN | FREE) == ORPHAN
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
        self.edges.block(self.node(id).first_edge)
    }

    /// The node of a position, if there is one and nodes are merged.
    pub fn find(&self, key: K) -> Option<NodeId> {
        if !self.merge {
            return None;
        }
        self.index.find(key, &self.keys)
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
            self.index.insert(key, id);
        }
        self.live += 1;
        self.peak = self.peak.max(self.live);
        id
    }

    /// Links a node without children to its children, of which there is one at least.
    pub fn link(&mut self, parent: NodeId, children: &[NodeId]) {
        debug_assert!(self.is_leaf(parent) && !children.is_empty());
        let first = self.edges.add(children);
        children.iter().for_each(|&child| self.add_parent(child, parent));
        self.node_mut(parent).first_edge = first;
    }
}
