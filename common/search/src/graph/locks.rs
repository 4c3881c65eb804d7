//! Which nodes are locked, and for which thresholds: few at any time, the leased nodes and some
//! above them.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::efforts::ThresholdSet;
use crate::graph::NodeId;

/// How many nodes share a count, at the least: see [`Locks::get`].
const COUNTS: usize = 1 << 13;

/// For each locked node a set of thresholds: no job may be taken below the node for these, because
/// its most-proving nodes for them are all leased.
#[derive(Debug)]
pub(super) struct Locks<S> {
    sets: HashMap<NodeId, S, FixedState>,
    /// How many locked nodes have an id with the same low bits: most nodes are seen not to be
    /// locked without a look at the map.
    counts: Box<[u32; COUNTS]>,
}

impl<S: ThresholdSet> Locks<S> {
    pub fn new() -> Locks<S> {
        Locks { sets: HashMap::default(), counts: Box::new([0; COUNTS]) }
    }

    /// The bytes that the locked nodes take.
    pub fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<(NodeId, S)>()
    }

    /// The locked thresholds of a node.
    #[inline]
    pub fn get(&self, node: NodeId) -> S {
        if self.counts[node.0 as usize % COUNTS] == 0 {
            return S::default();
        }
        self.sets.get(&node).copied().unwrap_or_default()
    }

    /// Sets the locked thresholds of a node; with none it is not locked any more.
    pub fn set(&mut self, node: NodeId, locked: S) {
        let count = &mut self.counts[node.0 as usize % COUNTS];
        if locked.is_empty() {
            if *count > 0 && self.sets.remove(&node).is_some() {
                *count -= 1;
            }
        } else if self.sets.insert(node, locked).is_none() {
            *count += 1;
        }
    }
}
