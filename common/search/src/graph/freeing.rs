//! Freeing nodes, some at a time: what hangs by a node can be most of the graph.
//!
//! A node that loses its last parent is an orphan. It is freed when its turn comes, and then its own
//! children may become orphans. Until then it is a node like any other that nothing leads to: it is
//! found by its key and its numbers are kept up, so it may get a parent again.

use std::hash::Hash;

use crate::efforts::Width;
use crate::graph::NodeId;
use crate::graph::node_id::NONE;
use crate::graph::nodes::{FREE, Nodes, ORPHAN};

impl<K: Copy + Eq + Hash, W: Width> Nodes<K, W> {
    /// Unlinks a node from its children. Those that have no parent any more are orphans; how many
    /// children there were, and how many of them are orphans now.
    pub fn unlink(&mut self, id: NodeId) -> Unlinked {
        let first = std::mem::replace(&mut self.node_mut(id).first_edge, NONE);
        let mut unlinked = Unlinked { children: 0, orphans: 0 };
        if first == NONE {
            return unlinked;
        }
        let block: smallvec::SmallVec<[NodeId; 64]> = self.edges.block(first).collect();
        for &child in &block {
            if !self.remove_parent(child, id) {
                self.node_mut(child).flags |= ORPHAN;
                self.orphans.push(child);
                unlinked.orphans += 1;
            }
        }
        unlinked.children = block.len();
        self.edges.free(first, block.len());
        unlinked
    }

    /// Makes orphans of all nodes without parents but the root.
    pub fn orphan_all_but(&mut self, root: NodeId) {
        for place in 0..self.places() {
            let node = &mut self.nodes[place];
            if node.parent == NONE && node.flags & (FREE | ORPHAN) == 0 && place != root.0 as usize
            {
                node.flags |= ORPHAN;
                self.orphans.push(NodeId(place as u32));
            }
        }
    }

    /// The next orphan, which is to be freed.
    pub fn pop_orphan(&mut self) -> Option<NodeId> {
        while let Some(id) = self.orphans.pop() {
            // It may have got a parent again, or have been freed by another entry.
            if self.node(id).flags & (ORPHAN | FREE) == ORPHAN {
                return Some(id);
            }
        }
        if self.orphans.capacity() > SPARE {
            self.orphans.shrink_to(SPARE);
        }
        None
    }

    /// Frees a node without children and parents.
    pub fn free(&mut self, id: NodeId) {
        debug_assert!(self.is_leaf(id) && self.node(id).flags & ORPHAN != 0);
        if self.merge {
            self.index.remove(self.key(id), id);
        }
        let next = std::mem::replace(&mut self.free_nodes, id.0);
        let node = self.node_mut(id);
        (node.parent, node.flags) = (next, FREE);
        self.live -= 1;
    }
}

/// How long the list of orphans may be when there are none.
const SPARE: usize = 1 << 12;

/// What a node has been unlinked from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unlinked {
    pub children: usize,
    pub orphans: usize,
}
