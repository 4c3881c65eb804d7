//! Freeing what no open threshold depends on (GPNS paper, section 4.5).
//!
//! What is settled frees what is below it at once, and with one threshold that is all. With several
//! a node may be open for thresholds only that nothing above it asks for any more. Finding those
//! takes a look at the whole graph, which is taken in slices: first all nodes that matter are
//! marked, from the root down, then what is below the others is freed. The graph goes on changing
//! meanwhile. A node that no longer matters may stay marked until the next time. One that matters
//! again, because it was linked to a new parent, is marked with what is below it when that happens;
//! if it has lost its children by then, it is a frontier node with the numbers that it had, as
//! after any freeing. So the marks decide how much is searched twice, and never what is true.

use std::ops::Range;

use jlpns_games::Game;

use crate::efforts::{ThresholdSet, Width, still_open};
use crate::graph::nodes::Mark;
use crate::graph::{Graph, NodeId};
use crate::large_pages::{LargePages, LargeVec};

/// The thresholds that a node matters for, as indices into its pairs: the first, and the one behind
/// the last.
type Span = [u8; 2];

/// What a node has that nothing depends on.
const NOTHING: Span = [0, 0];

/// How many places are looked at for the price of one node.
const PLACES_A_NODE: usize = 8;

/// The graph's memory need not be full for its background pruning to begin: this share of it may be
/// free, as a divisor.
const EARLY: u64 = 8;

/// When pruning a full graph is worth its while again: after expansions for this share of its nodes,
/// as a divisor; for twice as many after each time that it freed less than one in [`FRUITFUL`].
const PAUSE: u64 = 4;
const FRUITFUL: usize = 64;
const MOST_DOUBLINGS: u32 = 10;

/// How much of a graph that is nearly full is looked at with each fold.
const BACKGROUND: usize = if cfg!(test) { 12 } else { 256 };

/// A look at the whole graph for what no open threshold depends on.
#[derive(Debug)]
pub(super) struct Pruning {
    phase: Phase,
    /// For each place that there was at the beginning, what its node matters for.
    marks: LargeVec<Span>,
    /// Nodes that matter, with what for.
    pending: Vec<(NodeId, Span)>,
    /// Whether the pruning is to be done before long: a threshold of the root was settled.
    is_urgent: bool,
    /// How many nodes have lost what was below them.
    cut: usize,
    /// How often in a row little was freed.
    fruitless: u32,
    /// How many expansions there are before the next time that a full graph is pruned.
    next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Marking,
    /// The places before this one have been looked at.
    Sweeping(usize),
}

impl Default for Pruning {
    fn default() -> Pruning {
        Pruning {
            phase: Phase::Idle,
            marks: LargeVec::new_in(LargePages),
            pending: Vec::new(),
            is_urgent: false,
            cut: 0,
            fruitless: 0,
            next: 0,
        }
    }
}

impl Pruning {
    /// The bytes that it takes, with what it needs for `places`: it is to find them free.
    pub fn bytes(&self, places: usize) -> usize {
        places.max(self.marks.len()) * size_of::<Span>()
            + self.pending.capacity() * size_of::<(NodeId, Span)>()
    }

    pub fn is_urgent(&self) -> bool {
        self.phase != Phase::Idle && self.is_urgent
    }

    /// What a node matters for; those of places that are new matter.
    fn span(&self, node: NodeId) -> Span {
        self.marks.get(node.0 as usize).copied().unwrap_or([0, u8::MAX])
    }

    /// A node was added: it matters.
    pub fn note_new(&mut self, node: NodeId) {
        if self.phase != Phase::Idle
            && let Some(span) = self.marks.get_mut(node.0 as usize)
        {
            *span = [0, u8::MAX];
        }
    }
}

fn thresholds(span: Span) -> Range<usize> {
    usize::from(span[0])..usize::from(span[1])
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Frees all that is below a node, if nothing is left to find out about it.
    pub(super) fn drop_if_settled(&mut self, node: NodeId) {
        if self.nodes.pairs(node).iter().all(|pair| pair.is_solved()) {
            self.nodes.unlink(node);
        }
    }

    /// Begins to look for what no open threshold of the root depends on, anew if that is under way.
    pub(super) fn begin_pruning(&mut self, is_urgent: bool) {
        // With one threshold whatever is left has a parent that is open for it.
        if self.evaluation.width() == 1 {
            return;
        }
        let pruning = &mut self.pruning;
        pruning.marks.clear();
        pruning.marks.resize(self.nodes.places(), NOTHING);
        pruning.pending.clear();
        (pruning.phase, pruning.is_urgent, pruning.cut) = (Phase::Marking, is_urgent, 0);
        let open = still_open(self.nodes.pairs(self.root), 0..self.evaluation.width());
        self.ask_for(self.root, open);
    }

    /// Begins to prune in the background, if the graph is nearly full and pruning seems worth it.
    pub(super) fn begin_pruning_if_nearly_full(&mut self) {
        let memory = self.memory();
        if self.pruning.phase == Phase::Idle
            && self.expansions >= self.pruning.next
            && self.bytes() >= memory - memory / EARLY
        {
            self.begin_pruning(false);
        }
    }

    /// Notes that a node matters for some thresholds.
    fn ask_for(&mut self, node: NodeId, open: Range<usize>) {
        if !open.is_empty() {
            self.pruning.pending.push((node, [open.start as u8, open.end as u8]));
        }
    }

    /// The children of a node that was linked to them matter for whatever it does.
    pub(super) fn note_linked(&mut self, parent: NodeId) {
        if self.pruning.phase != Phase::Idle {
            self.ask_for_children(parent, self.pruning.span(parent));
        }
    }

    fn ask_for_children(&mut self, parent: NodeId, span: Span) -> usize {
        let asked = thresholds(span);
        let asked = asked.start..asked.end.min(self.evaluation.width());
        let children: smallvec::SmallVec<[NodeId; 64]> = self.nodes.children(parent).collect();
        for &child in &children {
            let open = still_open(self.nodes.pairs(child), asked.clone());
            self.ask_for(child, open);
        }
        children.len()
    }

    /// Looks at about so many nodes.
    pub(super) fn prune_a_slice(&mut self, nodes: usize) {
        let mut left = nodes;
        while left > 0 && self.pruning.phase != Phase::Idle {
            let looked_at = match (self.pruning.pending.pop(), self.pruning.phase) {
                (Some((node, span)), _) => self.mark(node, span),
                (None, Phase::Sweeping(from)) => self.sweep(from),
                (None, Phase::Marking | Phase::Idle) => {
                    self.pruning.phase = Phase::Sweeping(0);
                    1
                }
            };
            left = left.saturating_sub(looked_at);
        }
        self.update_all();
    }

    /// The slice that comes with a fold.
    pub(super) fn prune_in_the_background(&mut self) {
        if self.pruning.phase != Phase::Idle {
            self.prune_a_slice(BACKGROUND);
        }
    }

    /// Marks a node, and asks for its children. How many nodes were looked at.
    fn mark(&mut self, node: NodeId, span: Span) -> usize {
        // It may have been freed while it waited. If another has its place, that matters anyway.
        let Some(known) = self.pruning.marks.get_mut(node.0 as usize) else { return 1 };
        if !self.nodes.is_live(node) {
            return 1;
        }
        let wider = match *known {
            NOTHING => span,
            [start, end] => [start.min(span[0]), end.max(span[1])],
        };
        if wider == *known {
            return 1;
        }
        *known = wider;
        1 + self.ask_for_children(node, wider)
    }

    /// Frees what is below nodes that do not matter, of some places. What that cost, as a number of
    /// nodes.
    fn sweep(&mut self, from: usize) -> usize {
        let end = self.pruning.marks.len().min(from + 8 * PLACES_A_NODE);
        let mut cost = 8;
        for place in from..end {
            let node = NodeId(place as u32);
            if self.pruning.marks[place] == NOTHING && self.nodes.is_live(node) {
                cost += self.cut(node);
            }
        }
        self.pruning.phase = Phase::Sweeping(end);
        if end == self.pruning.marks.len() {
            self.end_pruning();
        }
        cost
    }

    /// Frees what is below a node that does not matter: it is a frontier node, should it become
    /// relevant again. If a job for it is out, that is moot.
    fn cut(&mut self, node: NodeId) -> usize {
        if self.nodes.has(node, Mark::Leased) {
            let parents = self.nodes.parents(node);
            // Without such a parent it is freed, and its job is moot then.
            if parents.iter().any(|&parent| self.pruning.span(parent) != NOTHING) {
                self.moot.push(node);
            }
            return parents.len();
        }
        let unlinked = self.nodes.unlink(node);
        self.pruning.cut += usize::from(unlinked.children > 0);
        // Leases below it are gone: it must not stay locked, should it become relevant again.
        if !self.locks.get(node).is_empty() {
            self.locks.set(node, W::Set::default());
            self.note_change(node);
        }
        2 * unlinked.children
    }

    fn end_pruning(&mut self) {
        let live = self.live();
        let pruning = &mut self.pruning;
        let fruitful = pruning.cut >= live / FRUITFUL;
        pruning.fruitless = if fruitful { 0 } else { MOST_DOUBLINGS.min(pruning.fruitless + 1) };
        pruning.next = self.expansions + ((live as u64 / PAUSE) << pruning.fruitless);
        pruning.phase = Phase::Idle;
        pruning.marks = LargeVec::new_in(LargePages);
        pruning.pending = Vec::new();
    }

    /// Ends the path before its first node that has been freed, or that is no child of the node
    /// before it any more.
    pub(super) fn forget_freed_path(&mut self) {
        let gone = (1..self.path.len()).find(|&index| {
            !self.nodes.is_live(self.path[index]) || self.nodes.is_leaf(self.path[index - 1])
        });
        if let Some(index) = gone {
            self.ascend_to(index - 1);
        }
    }
}
