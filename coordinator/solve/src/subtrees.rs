//! Who searches which part of the tree depth first ([`jlpns_search::graph::Graph::select_depth_first`]).

use std::collections::BTreeMap;

use jlpns_search::graph::Subtree;

use super::ids::WorkerId;

/// The subtrees of the workers that go depth first.
#[derive(Debug, Default)]
pub struct Subtrees(BTreeMap<WorkerId, Subtree>);

impl Subtrees {
    /// The subtree of a worker, if it has one, and those of the others that take jobs now.
    pub fn of(
        &self,
        worker: WorkerId,
        takes_jobs: impl Fn(WorkerId) -> bool,
    ) -> (Option<&Subtree>, Vec<&Subtree>) {
        let others = self.0.iter().filter(|&(&id, _)| id != worker && takes_jobs(id));
        (self.0.get(&worker), others.map(|(_, other)| other).collect())
    }

    /// Notes which one a worker has from now on.
    pub fn note(&mut self, worker: WorkerId, subtree: Option<Subtree>) {
        match subtree {
            Some(subtree) => self.0.insert(worker, subtree),
            None => self.0.remove(&worker),
        };
    }
}
