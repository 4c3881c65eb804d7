//! The parents of the nodes of a graph: most have one, which their node names itself; the others
//! have a list.

use std::hash::Hash;

use crate::efforts::Width;
use crate::graph::NodeId;
use crate::graph::store::{NONE, Node, SEVERAL_PARENTS, Store};

/// One of several parents of a node.
#[derive(Clone, Copy, Debug)]
struct Cell {
    parent: u32,
    /// The next cell; of a free one, the next free one.
    next: u32,
}

/// The lists of the nodes that have several parents.
#[derive(Debug)]
pub(super) struct Parents {
    cells: Vec<Cell>,
    free: u32,
    live: usize,
}

impl Default for Parents {
    fn default() -> Parents {
        Parents { cells: Vec::new(), free: NONE, live: 0 }
    }
}

impl Parents {
    /// The bytes of the cells in use.
    pub fn bytes(&self) -> usize {
        self.live * size_of::<Cell>()
    }

    fn add(&mut self, parent: u32, next: u32) -> u32 {
        self.live += 1;
        let cell = Cell { parent, next };
        if self.free == NONE {
            self.cells.push(cell);
            return (self.cells.len() - 1) as u32;
        }
        let at = self.free;
        self.free = std::mem::replace(&mut self.cells[at as usize], cell).next;
        at
    }

    fn free(&mut self, at: u32) {
        self.live -= 1;
        self.cells[at as usize].next = std::mem::replace(&mut self.free, at);
    }

    /// Takes `parent` out of the list that begins at `first`; where it begins then.
    fn remove(&mut self, first: u32, parent: u32) -> u32 {
        let (mut before, mut at) = (NONE, first);
        while self.cells[at as usize].parent != parent {
            (before, at) = (at, self.cells[at as usize].next);
        }
        let next = self.cells[at as usize].next;
        self.free(at);
        if before == NONE {
            return next;
        }
        self.cells[before as usize].next = next;
        first
    }
}

/// A place in a walk over the parents of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParentAt {
    /// There are no more.
    End,
    /// The only one.
    Only(u32),
    /// One of several.
    Cell(u32),
}

impl<K: Copy + Eq + Hash, W: Width> Store<K, W> {
    /// The parents.
    #[cfg(test)]
    pub fn parents(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut at = self.first_parent(id);
        std::iter::from_fn(move || {
            let (parent, next) = self.parent_at(at)?;
            at = next;
            Some(parent)
        })
    }

    /// Where the walk over the parents of a node begins, for [`Store::parent_at`].
    #[inline]
    pub fn first_parent(&self, id: NodeId) -> ParentAt {
        let node = self.node(id);
        match (node.parent, node.flags & SEVERAL_PARENTS) {
            (NONE, _) => ParentAt::End,
            (parent, 0) => ParentAt::Only(parent),
            (cell, _) => ParentAt::Cell(cell),
        }
    }

    /// A parent, and where the walk goes on.
    #[inline]
    pub fn parent_at(&self, at: ParentAt) -> Option<(NodeId, ParentAt)> {
        match at {
            ParentAt::End | ParentAt::Cell(NONE) => None,
            ParentAt::Only(parent) => Some((NodeId(parent), ParentAt::End)),
            ParentAt::Cell(cell) => {
                let Cell { parent, next } = self.parents.cells[cell as usize];
                Some((NodeId(parent), ParentAt::Cell(next)))
            }
        }
    }

    /// Adds a parent to a node.
    pub fn add_parent(&mut self, child: NodeId, parent: NodeId) {
        let Node { parent: first, flags, .. } = *self.node(child);
        let first = match (first, flags & SEVERAL_PARENTS) {
            (NONE, _) => {
                self.node_mut(child).parent = parent.0;
                return;
            }
            (only, 0) => self.parents.add(only, NONE),
            (cell, _) => cell,
        };
        let cell = self.parents.add(parent.0, first);
        let node = self.node_mut(child);
        node.parent = cell;
        node.flags |= SEVERAL_PARENTS;
    }

    /// Takes a parent away from a node; whether it has another.
    pub fn remove_parent(&mut self, child: NodeId, parent: NodeId) -> bool {
        let Node { parent: first, flags, .. } = *self.node(child);
        if flags & SEVERAL_PARENTS == 0 {
            debug_assert_eq!(first, parent.0);
            self.node_mut(child).parent = NONE;
            return false;
        }
        let first = self.parents.remove(first, parent.0);
        let Cell { parent: only, next } = self.parents.cells[first as usize];
        let node = self.node_mut(child);
        if next == NONE {
            node.parent = only;
            node.flags &= !SEVERAL_PARENTS;
            self.parents.free(first);
        } else {
            node.parent = first;
        }
        true
    }
}
