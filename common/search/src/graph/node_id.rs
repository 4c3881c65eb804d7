//! The places of nodes.

/// The place of a node in its graph. Places of freed nodes are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// The most nodes that a graph can have: a bit of each edge says more than the number of a child.
pub(super) const MAX_NODES: usize = 1 << 31;

pub(super) const NONE: u32 = u32::MAX;
