//! The parents of the nodes of a graph: most have one, which their node names itself; the others
//! have a list.

use std::hash::Hash;

use smallvec::SmallVec;

use crate::efforts::Width;
use crate::graph::NodeId;
use crate::graph::node_id::NONE;
use crate::graph::nodes::{Node, Nodes, ORPHAN, SEVERAL_PARENTS};
use crate::large_pages::{LargePages, LargeVec};
use crate::prefetch::prefetch;

/// How many parents a cell holds: with the number of the next one it fills a quarter of a cache line.
const PLACES: usize = 3;

/// Some of the parents of a node that has several.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The last one first, after [`NONE`]s; only the first cell of a list is not full.
    parents: [u32; PLACES],
    /// The next cell; of a free one, the next free one.
    next: u32,
}

/// The lists of the nodes that have several parents.
#[derive(Debug)]
pub(super) struct Parents {
    cells: LargeVec<Cell>,
    free: u32,
    live: usize,
}

impl Default for Parents {
    fn default() -> Parents {
        Parents { cells: LargeVec::new_in(LargePages), free: NONE, live: 0 }
    }
}

impl Parents {
    /// The bytes of all cells, the free ones included.
    pub fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>()
    }

    /// How many bytes more there are when this many nodes have got one more parent.
    pub fn growth_for(&self, nodes: usize) -> usize {
        // For each one cell at the most; its second parent and the first share that.
        nodes.saturating_sub(self.cells.len() - self.live) * size_of::<Cell>()
    }

    /// A list of one.
    fn list(&mut self, parent: u32) -> u32 {
        self.cell(Cell { parents: [NONE, NONE, parent], next: NONE })
    }

    /// Begins to load the list that begins at `first`.
    #[inline]
    pub fn load_list(&self, first: u32) {
        prefetch(&self.cells[first as usize]);
    }

    fn cell(&mut self, cell: Cell) -> u32 {
        self.live += 1;
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

    /// Puts `parent` before the list that begins at `first`; where it begins then.
    fn add(&mut self, parent: u32, first: u32) -> u32 {
        let parents = &mut self.cells[first as usize].parents;
        match parents.iter().rposition(|&place| place == NONE) {
            Some(free) => {
                parents[free] = parent;
                first
            }
            None => self.cell(Cell { parents: [NONE, NONE, parent], next: first }),
        }
    }

    /// Takes `parent` out of the list that begins at `first`; where it begins then.
    fn remove(&mut self, first: u32, parent: u32) -> u32 {
        // Those before it move on by one place.
        let (mut at, mut before) = (first, NONE);
        'list: loop {
            let cell = &mut self.cells[at as usize];
            for place in &mut cell.parents {
                before = std::mem::replace(place, before);
                if before == parent {
                    break 'list;
                }
            }
            at = cell.next;
        }
        let Cell { parents, next } = self.cells[first as usize];
        if parents[PLACES - 1] != NONE {
            return first;
        }
        self.free(first);
        next
    }

    /// The only parent in the list that begins at `first`, if there is one only.
    fn only(&self, first: u32) -> Option<u32> {
        match self.cells[first as usize] {
            Cell { parents: [NONE, NONE, only], next: NONE } => Some(only),
            _ => None,
        }
    }
}

impl<K: Copy + Eq + Hash, W: Width> Nodes<K, W> {
    /// The parents, the last one first.
    #[inline]
    pub fn parents(&self, id: NodeId) -> SmallVec<[NodeId; 12]> {
        let mut parents = SmallVec::new();
        self.for_each_parent(id, |parent| parents.push(parent));
        parents
    }

    /// Calls `visit` with each parent, the last one first.
    #[inline]
    pub fn for_each_parent(&self, id: NodeId, mut visit: impl FnMut(NodeId)) {
        let node = self.node(id);
        if node.flags & SEVERAL_PARENTS == 0 {
            if node.parent != NONE {
                visit(NodeId(node.parent));
            }
            return;
        }
        let mut at = node.parent;
        while at != NONE {
            let Cell { parents, next } = self.parents.cells[at as usize];
            parents.into_iter().filter(|&place| place != NONE).for_each(|p| visit(NodeId(p)));
            at = next;
        }
    }

    /// Adds a parent to a node.
    pub fn add_parent(&mut self, child: NodeId, parent: NodeId) {
        let Node { parent: first, flags, .. } = *self.node(child);
        let first = match (first, flags & SEVERAL_PARENTS) {
            (NONE, _) => {
                let node = self.node_mut(child);
                node.parent = parent.0;
                node.flags &= !ORPHAN;
                return;
            }
            (only, 0) => self.parents.list(only),
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
        let only = self.parents.only(first);
        let node = self.node_mut(child);
        node.parent = only.unwrap_or(first);
        if only.is_some() {
            node.flags &= !SEVERAL_PARENTS;
            self.parents.free(first);
        }
        true
    }
}
