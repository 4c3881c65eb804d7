//! The top-level tree of a solve, behind an interface that does not depend on the game. `rooted` is the graph of one
//! root behind it, `positions` many positions in its place.

mod rooted;

use jlpns_games::{Move, Threshold};
use jlpns_search::answer::Proved;
use jlpns_search::graph::{NodeId, PartialDump, Shed, Subtree};
use jlpns_search::{EffortPair, Findings, Question, SolvedPosition};
pub use rooted::{RestoreError, restored, top_level};

use crate::belief::{Basis, Claims, Confirm};
use crate::positions::Positions;

/// A frontier node that was selected.
#[derive(Clone, Debug)]
pub struct MostProving {
    /// The node, and the key that tells whether its place still holds it.
    pub node: NodeRef,
    /// The moves to it from the start of the game.
    pub moves: Vec<Move>,
    /// The threshold that it is most proving for.
    pub threshold: Threshold,
    /// What its job is to be, where that does not follow from the tree.
    pub whole: Option<Whole>,
}

/// A job that answers all that is asked of a position.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// What is asked.
    pub question: Question,
    /// How many nodes it may create.
    pub budget: u64,
}

/// A node, and the key of its position: the place of a freed node is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeRef {
    /// The place in the graph.
    pub id: NodeId,
    /// The key of the position, as a number.
    pub key: u128,
}

/// How large the tree is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeSize {
    /// Nodes in memory.
    pub live: usize,
    /// The most nodes that were in memory at one time.
    pub peak: usize,
    /// Nodes created.
    pub created: u64,
    /// Bytes of the nodes, edges and index.
    pub bytes: u64,
    /// What was given up because the memory was full.
    pub shed: Shed,
}

/// The search graph of a solve.
pub trait TopLevel: Send {
    /// The root's numbers, one pair for each threshold asked.
    fn root_efforts(&self) -> &[EffortPair];
    /// The move that is most proving at the root, if it has been expanded.
    fn most_proving_move(&self) -> Option<Move>;
    /// A move at the root that keeps what is proved of it, as far as the tree and the game tell.
    fn best_move(&self, proved: Proved) -> Option<Move>;
    /// The numbers of the position after `moves`, one pair for each threshold asked, if it is in the tree.
    fn efforts_after(&self, moves: &[Move]) -> Option<&[EffortPair]>;
    /// The size of the tree.
    fn size(&self) -> TreeSize;
    /// Selects the most-proving frontier node that is not leased.
    fn select(&mut self) -> Option<MostProving>;
    /// Selects the next frontier node of a depth-first search, of which the worker that it is for has the subtree `own`,
    /// and others have theirs; and the subtree that the worker has from now on.
    fn select_depth_first(
        &mut self,
        own: Option<&Subtree>,
        others: &[&Subtree],
    ) -> Option<(MostProving, Option<Subtree>)>;
    /// Marks a selected node as leased.
    fn lease(&mut self, node: NodeRef);
    /// Takes that mark away.
    fn give_back(&mut self, node: NodeRef);
    /// Whether the node is still there and something is left to find out about it.
    fn is_open(&self, node: NodeRef) -> bool;
    /// The node at the end of `moves`, which are legal and begin with the way to the root.
    fn locate(&self, moves: &[Move]) -> Option<NodeRef>;
    /// Whether `moves` are legal and begin with the way to the root.
    fn is_way(&self, moves: &[Move]) -> bool;
    /// The keys of a node's children.
    fn child_keys(&self, node: NodeRef) -> Vec<u128>;
    /// Begins to write the graph as [`restored`] reads it.
    fn begin_dump(&self) -> PartialDump;
    /// Writes a slice of it, of so many places for nodes; whether that was the last. Nothing may be
    /// folded in or tidied between two slices.
    fn dump_slice(&self, dump: &mut PartialDump, places: usize) -> bool;
    /// Takes over a partial report about a leased node.
    fn refresh(&mut self, node: NodeRef, question: Question, findings: &Findings);
    /// Folds a report in, about the node at the end of `moves`. `false` if there was no room for
    /// the node's children.
    fn fold(
        &mut self,
        node: NodeRef,
        moves: &[Move],
        question: Question,
        findings: &Findings,
    ) -> bool;
    /// Notes how many bytes of the tree's memory are taken by what is kept beside it.
    fn note_held_beside(&mut self, bytes: u64);
    /// Does a slice of the freeing that was put off. Whether there is more.
    fn tidy(&mut self) -> bool;
    /// Whether there is any that should not wait for long.
    fn is_untidy(&self) -> bool;
    /// The leased nodes whose jobs have become moot since the last call.
    fn take_moot(&mut self) -> Vec<NodeId>;
    /// Grows the tree anew from what is still claimed, where an answer needs this of claims; no node may be leased.
    fn regrow(&mut self, claims: &Claims, needs: Confirm);
    /// The findings about the position at the end of `moves` with what claims settle besides, or the other way round: those about
    /// the position and its children, or also `below` these, where positions have been expanded.
    fn completed(
        &self,
        claims: &Claims,
        below: bool,
        moves: &[Move],
        question: Question,
        findings: &Findings,
    ) -> Findings;
    /// What it rests on that the root reaches thresholds, or that it does not, if an answer needs this of
    /// claims.
    fn basis(&self, claims: &Claims, answer: &[(Threshold, bool)], needs: Confirm) -> Basis;
    /// The positions of the proof tree of the same, but those that hold by the rules.
    fn proof_tree(
        &self,
        claims: &Claims,
        answer: &[(Threshold, bool)],
        needs: Confirm,
    ) -> Vec<SolvedPosition>;
    /// The positions that are asked for, where there are many instead of one root.
    fn positions(&mut self) -> Option<&mut Positions> {
        None
    }
}
