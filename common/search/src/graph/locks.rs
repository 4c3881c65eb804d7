//! Which nodes are locked, and for which thresholds: few at any time, the leased nodes and some
//! above them.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::graph::NodeId;

/// How many nodes share a count, at the least: see [`Locks::get`].
const COUNTS: usize = 1 << 13;

/// For each locked node a word, bit i for the threshold at index i: no job may be taken below the
/// node for that threshold, because its most proving nodes are all leased.
#[derive(Debug)]
pub(super) struct Locks {
    words: HashMap<NodeId, u32, FixedState>,
    /// How many locked nodes have an id with the same low bits: most nodes are seen not to be
    /// locked without a look at the map.
    counts: Box<[u32; COUNTS]>,
}

impl Locks {
    pub fn new() -> Locks {
        Locks { words: HashMap::default(), counts: Box::new([0; COUNTS]) }
    }

    /// The bytes that the locked nodes take.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<(NodeId, u32)>()
    }

    /// The locked thresholds of a node.
    #[inline]
    pub fn get(&self, node: NodeId) -> u32 {
        if self.counts[node.0 as usize % COUNTS] == 0 {
            return 0;
        }
        self.words.get(&node).copied().unwrap_or(0)
    }

    /// Sets them.
    pub fn set(&mut self, node: NodeId, locked: u32) {
        let count = &mut self.counts[node.0 as usize % COUNTS];
        if locked == 0 {
            if *count > 0 && self.words.remove(&node).is_some() {
                *count -= 1;
            }
        } else if self.words.insert(node, locked).is_none() {
            *count += 1;
        }
    }
}
