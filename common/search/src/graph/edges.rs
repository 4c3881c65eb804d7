//! The edges of a graph: those of a node lie side by side, and each is the number of a child.

use crate::graph::NodeId;
use crate::graph::node_id::NONE;
use crate::large_pages::{LargePages, LargeVec};

/// The last edge of its node.
const LAST: u32 = 1 << 31;

/// More places for edges have no numbers.
pub(super) const MOST_EDGES: usize = NONE as usize;

/// The children of all nodes, in blocks.
#[derive(Debug)]
pub(super) struct Edges {
    edges: LargeVec<u32>,
    /// The first free block of each size; the first edge of a free block is the number of the next.
    free: Vec<u32>,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges { edges: LargeVec::new_in(LargePages), free: Vec::new() }
    }
}

impl Edges {
    /// The bytes of all edges, the free ones included.
    pub fn bytes(&self) -> usize {
        self.edges.len() * size_of::<u32>()
    }

    /// How many bytes more there are when a block of `count` edges has been added.
    pub fn growth_for(&self, count: usize) -> usize {
        let is_free = self.free.get(count).is_some_and(|&head| head != NONE);
        if is_free { 0 } else { count * size_of::<u32>() }
    }

    pub fn reserve(&mut self, edges: usize) {
        self.edges.reserve(edges);
    }

    /// The edges of the block that begins at `first`; none at [`NONE`].
    #[inline]
    pub fn block(
        &self,
        first: u32,
    ) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone {
        self.edges_from(first).iter().map(|&edge| NodeId(edge & !LAST))
    }

    #[inline]
    fn edges_from(&self, first: u32) -> &[u32] {
        if first == NONE {
            return &[];
        }
        let edges = &self.edges[first as usize..];
        let count = edges.iter().position(|edge| edge & LAST != 0).map_or(0, |last| last + 1);
        &edges[..count]
    }

    /// Begins to load the block that begins at `first`.
    #[inline]
    pub fn load(&self, first: u32) {
        crate::prefetch::prefetch(&self.edges[first as usize]);
    }

    /// Adds a block, of one edge at least; where it begins.
    pub fn add(&mut self, children: &[NodeId]) -> u32 {
        let first = self.allocate(children.len());
        let block = &mut self.edges[first as usize..][..children.len()];
        for (edge, &child) in block.iter_mut().zip(children) {
            *edge = child.0;
        }
        block[children.len() - 1] |= LAST;
        first
    }

    /// Frees the block of `count` edges that begins at `first`.
    pub fn free(&mut self, first: u32, count: usize) {
        if self.free.len() <= count {
            self.free.resize(count + 1, NONE);
        }
        self.edges[first as usize] = std::mem::replace(&mut self.free[count], first);
    }

    /// How many places there are, used or free.
    pub fn places(&self) -> usize {
        self.edges.len()
    }

    fn allocate(&mut self, count: usize) -> u32 {
        if let Some(head) = self.free.get_mut(count).filter(|head| **head != NONE) {
            let first = *head;
            *head = self.edges[first as usize];
            return first;
        }
        let first = self.edges.len();
        self.edges.resize(first + count, 0);
        first as u32
    }
}
