//! Work that can wait, and that would take too long at once: freeing what was cut off, and pruning.
//! A solve with jobs out frees in slices between them; a search without jobs frees at once.

use jlpns_games::Game;

use crate::efforts::Width;
use crate::graph::nodes::Mark;
use crate::graph::{Graph, NodeId};

/// How many nodes are looked at or freed in a slice: some milliseconds. In tests the graphs are
/// small, and the slices with them.
const SLICE: usize = if cfg!(test) { 5 } else { 1 << 14 };

/// How many nodes that were cut off are freed with each fold: more than it adds.
const FREED_A_FOLD: usize = if cfg!(test) { 2 } else { 256 };

impl<G: Game, W: Width> Graph<G, W> {
    /// Does a slice of what can wait. Whether there is more that should not wait for long.
    pub fn tidy(&mut self) -> bool {
        self.free_orphans(SLICE);
        if self.pruning.is_urgent() {
            self.prune_a_slice(SLICE);
        }
        self.is_untidy()
    }

    /// Whether memory waits to be freed, and the jobs of nodes that nothing depends on to be called
    /// off.
    pub fn is_untidy(&self) -> bool {
        !self.nodes.orphans.is_empty() || self.pruning.is_urgent()
    }

    /// Frees and prunes the little that each fold makes up for.
    pub(super) fn tidy_a_little(&mut self) {
        self.free_orphans(FREED_A_FOLD);
        self.prune_in_the_background();
    }

    /// Frees and prunes until nothing waits for it.
    pub(super) fn tidy_up(&mut self) {
        while self.tidy() {}
    }

    /// Frees nodes that nothing leads to, about so many. Whether one was freed.
    pub(super) fn free_orphans(&mut self, nodes: usize) -> bool {
        let mut freed = 0;
        while freed < nodes
            && let Some(orphan) = self.nodes.pop_orphan()
        {
            freed += 1 + self.nodes.unlink(orphan).children;
            self.locks.set(orphan, W::Set::default());
            if self.nodes.has(orphan, Mark::Leased) {
                self.note_freed(orphan);
            }
            self.nodes.free(orphan);
        }
        if freed > 0 {
            self.forget_freed_path();
        }
        freed > 0
    }

    /// A leased node is about to be freed: its job is moot.
    fn note_freed(&mut self, node: NodeId) {
        self.leased -= 1;
        self.actual.remove(&node);
        self.moot.push(node);
    }
}
