//! Taking frontier nodes as jobs, and giving them back.

use jlpns_games::Game;

use crate::effort::{Effort, EffortPair};
use crate::efforts::{ThresholdSet, Width};
use crate::graph::nodes::Mark;
use crate::graph::update::Pairs;
use crate::graph::{Graph, NodeId};

/// How frontier nodes are selected while others are leased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Leased nodes are locked: a minimum is over the unlocked children, a sum over all, and a
    /// node is locked when all children that could be chosen are (PNS-PDFPN, arXiv 2511.10339).
    #[default]
    Locking,
    /// Leased nodes count as almost proved (virtual win of job-level PNS, Wu et al.).
    VirtualWin,
    /// Leased nodes count as almost disproved (virtual loss).
    VirtualLoss,
}

impl Selection {
    /// All of them.
    pub const ALL: [Selection; 3] =
        [Selection::Locking, Selection::VirtualWin, Selection::VirtualLoss];

    /// Its name, as people read and type it.
    pub fn name(self) -> &'static str {
        match self {
            Selection::Locking => "locking",
            Selection::VirtualWin => "virtual-win",
            Selection::VirtualLoss => "virtual-loss",
        }
    }
}

/// Stands for infinity in virtual outcomes: large, but never permanent.
const VIRTUALLY_INFINITE: u64 = 1 << 28;

impl<G: Game, W: Width> Graph<G, W> {
    /// How many nodes are leased.
    pub fn leased(&self) -> usize {
        self.leased
    }

    /// Whether there is a node at this place: it may be another than the one that was there.
    pub fn is_live(&self, node: NodeId) -> bool {
        self.nodes.is_live(node)
    }

    /// The key of a node's position.
    pub fn key(&self, node: NodeId) -> G::Key {
        self.nodes.key(node)
    }

    /// The children of a node; none of a frontier node.
    pub fn children(&self, node: NodeId) -> Vec<NodeId> {
        self.nodes.children(node).collect()
    }

    /// Whether nothing is left to find out about a node.
    pub fn is_settled(&self, node: NodeId) -> bool {
        self.actual_efforts(node).iter().all(|pair| pair.is_solved())
    }

    /// The numbers of a node without any virtual outcome.
    pub(super) fn actual_efforts(&self, node: NodeId) -> &[EffortPair] {
        match self.actual.get(&node) {
            Some(actual) => actual,
            None => self.nodes.pairs(node),
        }
    }

    /// Marks a frontier node as leased, so that others are selected until it is given back.
    pub fn lease(&mut self, node: NodeId) {
        debug_assert!(self.nodes.is_leaf(node) && !self.nodes.has(node, Mark::Leased));
        // The lock is told to all of them.
        self.path.iter().for_each(|&above| self.nodes.load_parents(above));
        let seen = Pairs::from_slice(self.nodes.pairs(node));
        self.nodes.set(node, Mark::Leased, true);
        self.leased += 1;
        if self.settings.selection != Selection::Locking {
            self.pretend(node, &seen);
            self.actual.insert(node, seen.clone());
        }
        self.lock(node);
        self.note_change_from(node, &seen, W::Set::default());
        self.update_noted();
    }

    /// Takes the mark of a lease from a node, and updates its ancestors.
    pub fn give_back(&mut self, node: NodeId) {
        if self.release(node) {
            self.update_noted();
        }
    }

    /// Takes the mark of a lease from a node, and puts its parents on the worklist; whether it was
    /// leased.
    pub(super) fn release(&mut self, node: NodeId) -> bool {
        if !self.nodes.is_live(node) || !self.nodes.has(node, Mark::Leased) {
            return false;
        }
        let (seen, locked) = (Pairs::from_slice(self.nodes.pairs(node)), self.locks.get(node));
        self.nodes.set(node, Mark::Leased, false);
        self.leased -= 1;
        if let Some(actual) = self.actual.remove(&node) {
            self.nodes.pairs_mut(node).copy_from_slice(&actual);
        }
        self.locks.set(node, W::Set::default());
        self.note_change_from(node, &seen, locked);
        true
    }

    /// Takes over new numbers for a leased node, as far as a sub-search has come: `asked` as in
    /// [`Graph::fold`]. It stays leased. A partial report settles nothing: whoever says so has to
    /// stand by it in the report that ends the lease.
    pub fn refresh(&mut self, node: NodeId, asked: usize, efforts: &[EffortPair]) {
        let settles = efforts.iter().zip(&self.actual_efforts(node)[asked..]);
        if settles.into_iter().any(|(found, known)| found.is_solved() && !known.is_solved()) {
            return;
        }
        if self.nodes.is_leaf(node) && self.learn(node, asked, efforts) {
            self.lock(node);
            self.update_from(node);
        }
    }

    /// The leased nodes that have been freed or solved since the last call: jobs for them are
    /// moot. A node that was freed is leased no more, and its place may be used again.
    pub fn take_moot(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.moot)
    }

    fn lock(&mut self, node: NodeId) {
        if self.settings.selection == Selection::Locking {
            let mut locked = W::Set::default();
            let pairs = self.nodes.pairs(node).iter().enumerate();
            pairs.filter(|(_, pair)| !pair.is_solved()).for_each(|(index, _)| locked.insert(index));
            self.locks.set(node, locked);
        }
    }

    /// Gives a leased node its virtual numbers where it is not solved.
    pub(super) fn pretend(&mut self, node: NodeId, actual: &[EffortPair]) {
        let large = Effort::finite(VIRTUALLY_INFINITE);
        let pretended = match self.settings.selection {
            Selection::Locking => return,
            Selection::VirtualWin => EffortPair { proof: Effort::ONE, disproof: large },
            Selection::VirtualLoss => EffortPair { proof: large, disproof: Effort::ONE },
        };
        for (pair, actual) in self.nodes.pairs_mut(node).iter_mut().zip(actual) {
            *pair = if actual.is_solved() { *actual } else { pretended };
        }
    }
}
