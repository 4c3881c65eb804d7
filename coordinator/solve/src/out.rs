//! The nodes that are out: not to be selected until something about them has come in.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use jlpns_search::graph::NodeId;

use crate::LeaseId;
use crate::top_level::NodeRef;

/// What a node that is not to be selected waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// The report of its job, which one worker has, or two.
    Leased(LeaseId, Option<LeaseId>),
    /// That a record about it is durable.
    Recording,
    /// That there is nothing else to do: its job kills workers.
    Parked,
}

/// All nodes that are not to be selected, by their places, with their keys: the place of a node that
/// was freed may have been used again.
#[derive(Debug, Default)]
pub struct NodesOut(HashMap<NodeId, (u128, Out), FixedState>);

impl NodesOut {
    /// What a node waits for, if it is out.
    pub fn waits_for(&self, node: NodeRef) -> Option<Out> {
        self.0.get(&node.id).filter(|(key, _)| *key == node.key).map(|&(_, out)| out)
    }

    /// The node that is out from a place, and what it waits for.
    pub fn at(&self, id: NodeId) -> Option<(NodeRef, Out)> {
        self.0.get(&id).map(|&(key, out)| (NodeRef { id, key }, out))
    }

    /// A node waits for something, and for nothing else any more.
    pub fn wait(&mut self, node: NodeRef, out: Out) {
        self.0.insert(node.id, (node.key, out));
    }

    /// A node's job went to a second worker as well.
    pub fn note_copy(&mut self, node: NodeRef, copy: LeaseId) {
        if let Some(Out::Leased(first, None)) = self.waits_for(node) {
            self.wait(node, Out::Leased(first, Some(copy)));
        }
    }

    /// A lease on a node has ended without a report. Gives the lease of another worker that still has
    /// its job.
    pub fn end_lease(&mut self, node: NodeRef, lease: LeaseId) -> Option<LeaseId> {
        match self.waits_for(node) {
            Some(Out::Leased(first, Some(copy))) if first == lease || copy == lease => {
                let other = if first == lease { copy } else { first };
                self.wait(node, Out::Leased(other, None));
                Some(other)
            }
            _ => None,
        }
    }

    /// The lease of the other worker that has the same job.
    pub fn other_lease(&self, node: NodeRef, lease: LeaseId) -> Option<LeaseId> {
        match self.waits_for(node)? {
            Out::Leased(first, Some(copy)) if copy == lease => Some(first),
            Out::Leased(first, Some(copy)) if first == lease => Some(copy),
            _ => None,
        }
    }

    /// A node waits for nothing any more.
    pub fn remove(&mut self, node: NodeRef) {
        if self.waits_for(node).is_some() {
            self.0.remove(&node.id);
        }
    }

    /// No node waits for anything any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_two_workers_have_is_out_until_both_have_lost_it() {
        let mut out = NodesOut::default();
        let node = NodeRef { id: NodeId(3), key: 7 };
        let (first, copy) = (LeaseId(1), LeaseId(2));
        out.wait(node, Out::Leased(first, None));
        assert_eq!(out.end_lease(node, first), None, "nobody else has it");
        out.note_copy(node, copy);
        assert_eq!(out.other_lease(node, copy), Some(first));
        assert_eq!(out.end_lease(node, first), Some(copy));
        assert_eq!(out.waits_for(node), Some(Out::Leased(copy, None)));
        assert_eq!(out.end_lease(node, copy), None);
        out.remove(NodeRef { key: 8, ..node });
        assert!(out.waits_for(node).is_some(), "another node was there before");
        out.remove(node);
        assert_eq!(out.waits_for(node), None);
    }
}
