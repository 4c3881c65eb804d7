//! What an update or a descent will read, loaded ahead: nodes lie anywhere in memory, and their lists
//! of children and parents elsewhere. Each step needs what the one before it has loaded: a node, its
//! list, the nodes of the list.

use std::hash::Hash;

use crate::efforts::Width;
use crate::graph::NodeId;
use crate::graph::node_id::NONE;
use crate::graph::nodes::{Nodes, SEVERAL_PARENTS};
use crate::prefetch::prefetch;

impl<K: Copy + Eq + Hash, W: Width> Nodes<K, W> {
    /// Begins to load a node and its numbers.
    #[inline]
    pub fn load_node(&self, id: NodeId) {
        prefetch(&self.nodes[id.0 as usize]);
        prefetch(&self.pairs[id.0 as usize * self.width.get()]);
    }

    /// Begins to load where the index has a key.
    #[inline]
    pub fn load_place(&self, key: K) {
        if self.merge {
            self.index.load(key);
        }
    }

    /// Begins to load a node's key.
    #[inline]
    pub fn load_key(&self, id: NodeId) {
        prefetch(&self.keys[id.0 as usize]);
    }

    /// Begins to load where a node's children are listed.
    #[inline]
    pub fn load_child_list(&self, id: NodeId) {
        let first = self.node(id).first_edge;
        if first != NONE {
            self.edges.load(first);
        }
    }

    /// Begins to load the numbers of a node's children.
    #[inline]
    pub fn load_children(&self, id: NodeId) {
        for child in self.children(id) {
            prefetch(&self.pairs[child.0 as usize * self.width.get()]);
        }
    }

    /// Begins to load where a node's parents are listed; an only parent itself.
    #[inline]
    pub fn load_parent_list(&self, id: NodeId) {
        let node = self.node(id);
        if node.flags & SEVERAL_PARENTS != 0 {
            self.parents.load_list(node.parent);
        } else if node.parent != NONE {
            self.load_node(NodeId(node.parent));
        }
    }

    /// Begins to load a node's parents and their numbers.
    #[inline]
    pub fn load_parents(&self, id: NodeId) {
        self.for_each_parent(id, |parent| self.load_node(parent));
    }
}
