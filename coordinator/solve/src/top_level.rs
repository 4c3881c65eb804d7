//! The top-level tree of a solve, behind an interface that does not depend on the game.

use jlpns_games::spec::{GameSpec, MoveError, position_after};
use jlpns_games::{Game, Move, Threshold, with_game};
use jlpns_search::answer::{Proved, known_best_move};
use jlpns_search::efforts::Width;
use jlpns_search::graph::{
    DumpError, Graph, GraphSettings, NextInOrder, NodeId, PartialDump, Shed, Subtree,
};
use jlpns_search::{EffortPair, Findings, Question, SolvedPosition, with_width};

use crate::belief::{Basis, Claims, Confirm, Proofs};
use crate::positions::Positions;

/// What a position of the proof tree counts as work: as much as keeps it in a table.
const WORK_OF_THE_PROOF_TREE: u32 = 1 << 20;

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
    /// Grows the tree anew from what is still claimed; no node may be leased.
    fn regrow(&mut self, claims: &Claims);
    /// The findings about the position at the end of `moves` with what claims settle besides.
    fn completed(
        &self,
        claims: &Claims,
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

/// The top-level tree for a question about the position after `moves`.
pub fn top_level(
    spec: &GameSpec,
    moves: &[Move],
    question: Question,
    settings: GraphSettings,
) -> Result<Box<dyn TopLevel>, MoveError> {
    with_game!(spec.game(), game => {
        let position = position_after(game, moves)?;
        let (game, prefix) = (game.clone(), moves.to_vec());
        Ok(with_width!(question.thresholds().1, width => {
            rooted(Graph::new(game, position, question, width, settings), prefix)
        }))
    })
}

/// The top-level tree that was dumped as `tree`, for the same question.
pub fn restored(
    spec: &GameSpec,
    moves: &[Move],
    question: Question,
    settings: GraphSettings,
    tree: &[u8],
) -> Result<Box<dyn TopLevel>, RestoreError> {
    with_game!(spec.game(), game => {
        let position = position_after(game, moves)?;
        let (game, prefix) = (game.clone(), moves.to_vec());
        Ok(with_width!(question.thresholds().1, width => {
            rooted(Graph::restore(game, position, question, width, settings, tree)?, prefix)
        }))
    })
}

/// Why a tree cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The moves to the root are not legal.
    #[error(transparent)]
    Moves(#[from] MoveError),
    /// The bytes are no tree of this solve.
    #[error(transparent)]
    Dump(#[from] DumpError),
}

fn rooted<G: Game, W: Width>(graph: Graph<G, W>, prefix: Vec<Move>) -> Box<dyn TopLevel> {
    Box::new(Rooted { graph, prefix })
}

/// A graph whose root lies some moves into the game.
struct Rooted<G: Game, W: Width> {
    graph: Graph<G, W>,
    /// The moves to the root.
    prefix: Vec<Move>,
}

impl<G: Game, W: Width> Rooted<G, W> {
    fn holds(&self, node: NodeRef) -> bool {
        // A key is compared as the number that it was handed out as.
        self.graph.is_live(node.id) && self.graph.key(node.id).into() == node.key
    }

    /// The position after moves that this tree has handed out.
    fn position(&self, moves: &[Move]) -> G::Position {
        let game = self.graph.game();
        let mut position = game.start();
        moves.iter().for_each(|&mv| game.play(&mut position, mv));
        position
    }

    /// What claims settle below the root, and the root.
    fn proofs<'a>(&'a self, claims: &'a Claims) -> (Proofs<'a, G>, G::Position) {
        let game = self.graph.game();
        let root = self.position(&self.prefix);
        let key = game.key(&root);
        (Proofs::new(game, claims, self.graph.knowledge(), key), root)
    }

    /// The frontier node at the end of the last descent, which was selected for this one of the graph's thresholds.
    fn selected(&self, id: NodeId, threshold: usize) -> MostProving {
        let first = self.graph.question().thresholds().0;
        let moves = [&self.prefix, self.graph.path_moves()].concat();
        let node = NodeRef { id, key: self.graph.key(id).into() };
        let threshold = Threshold(first.0 + threshold as u8);
        MostProving { node, moves, threshold, whole: None }
    }

    /// Where the thresholds of `question` begin among this graph's.
    fn asked(&self, question: Question) -> usize {
        let first = self.graph.question().thresholds().0;
        usize::from(question.thresholds().0.0 - first.0)
    }
}

impl<G: Game, W: Width> TopLevel for Rooted<G, W> {
    fn root_efforts(&self) -> &[EffortPair] {
        self.graph.root_efforts()
    }

    fn most_proving_move(&self) -> Option<Move> {
        self.graph.findings().most_proving_move
    }

    fn best_move(&self, proved: Proved) -> Option<Move> {
        let (question, children) = (self.graph.question(), self.graph.findings().children);
        let mut root = self.position(&self.prefix);
        known_best_move(self.graph.game(), &mut root, proved, question, &children)
    }

    fn efforts_after(&self, moves: &[Move]) -> Option<&[EffortPair]> {
        let node = self.locate(moves)?;
        Some(self.graph.efforts(node.id))
    }

    fn size(&self) -> TreeSize {
        TreeSize {
            live: self.graph.live(),
            peak: self.graph.peak(),
            created: self.graph.created(),
            bytes: self.graph.bytes(),
            shed: self.graph.shed(),
        }
    }

    fn select(&mut self) -> Option<MostProving> {
        let (node, threshold) = self.graph.select()?;
        Some(self.selected(node, threshold))
    }

    fn select_depth_first(
        &mut self,
        own: Option<&Subtree>,
        others: &[&Subtree],
    ) -> Option<(MostProving, Option<Subtree>)> {
        let NextInOrder { node, threshold, subtree } =
            self.graph.select_depth_first(own, others)?;
        Some((self.selected(node, threshold), subtree))
    }

    fn lease(&mut self, node: NodeRef) {
        self.graph.lease(node.id);
    }

    fn give_back(&mut self, node: NodeRef) {
        if self.holds(node) {
            self.graph.give_back(node.id);
        }
    }

    fn is_open(&self, node: NodeRef) -> bool {
        self.holds(node) && !self.graph.is_settled(node.id)
    }

    fn locate(&self, moves: &[Move]) -> Option<NodeRef> {
        let root = self.position(&self.prefix);
        let id = self.graph.locate(&root, moves.strip_prefix(&self.prefix[..])?)?;
        Some(NodeRef { id, key: self.graph.key(id).into() })
    }

    fn is_way(&self, moves: &[Move]) -> bool {
        moves.starts_with(&self.prefix) && position_after(self.graph.game(), moves).is_ok()
    }

    fn child_keys(&self, node: NodeRef) -> Vec<u128> {
        let children = if self.holds(node) { self.graph.children(node.id) } else { Vec::new() };
        children.into_iter().map(|child| self.graph.key(child).into()).collect()
    }

    fn begin_dump(&self) -> PartialDump {
        self.graph.begin_dump(Vec::new())
    }

    fn dump_slice(&self, dump: &mut PartialDump, places: usize) -> bool {
        self.graph.dump_slice(dump, places)
    }

    fn refresh(&mut self, node: NodeRef, question: Question, findings: &Findings) {
        if self.holds(node) {
            let asked = self.asked(question);
            self.graph.refresh(node.id, asked, &findings.efforts);
        }
    }

    fn fold(
        &mut self,
        node: NodeRef,
        moves: &[Move],
        question: Question,
        findings: &Findings,
    ) -> bool {
        if !self.holds(node) {
            return true;
        }
        let asked = self.asked(question);
        let mut position = self.position(moves);
        self.graph.fold(node.id, &mut position, asked, findings)
    }

    fn note_held_beside(&mut self, bytes: u64) {
        self.graph.note_held_beside(bytes);
    }

    fn tidy(&mut self) -> bool {
        self.graph.tidy()
    }

    fn is_untidy(&self) -> bool {
        self.graph.is_untidy()
    }

    fn take_moot(&mut self) -> Vec<NodeId> {
        self.graph.take_moot()
    }

    fn regrow(&mut self, claims: &Claims) {
        let game = self.graph.game().clone();
        let root = game.key(&self.position(&self.prefix));
        let mut proofs = Proofs::new(&game, claims, self.graph.knowledge(), root);
        self.graph.regrow(&mut |position, threshold| proofs.verdict(position, threshold));
    }

    fn completed(
        &self,
        claims: &Claims,
        moves: &[Move],
        question: Question,
        findings: &Findings,
    ) -> Findings {
        let game = self.graph.game();
        let root = game.key(&self.position(&self.prefix));
        let mut proofs = Proofs::new(game, claims, self.graph.knowledge(), root);
        let mut position = self.position(moves);
        let first = question.thresholds().0;
        let mut complete = |position: &mut G::Position, efforts: &mut [EffortPair]| {
            for (index, pair) in efforts.iter_mut().enumerate() {
                let mut known = || proofs.verdict(position, Threshold(first.0 + index as u8));
                if !pair.is_solved()
                    && let Some(holds) = known()
                {
                    *pair = EffortPair::solved(holds);
                }
            }
        };
        let mut findings = findings.clone();
        complete(&mut position, &mut findings.efforts);
        for child in &mut findings.children {
            game.play(&mut position, child.mv);
            complete(&mut position, &mut child.efforts);
            game.undo(&mut position, child.mv);
        }
        findings
    }

    fn basis(&self, claims: &Claims, answer: &[(Threshold, bool)], needs: Confirm) -> Basis {
        let (proofs, mut root) = self.proofs(claims);
        proofs.for_answer(needs).basis(&mut root, &self.prefix, answer)
    }

    fn proof_tree(
        &self,
        claims: &Claims,
        answer: &[(Threshold, bool)],
        needs: Confirm,
    ) -> Vec<SolvedPosition> {
        let (proofs, mut root) = self.proofs(claims);
        let settled = proofs.for_answer(needs).settled(&mut root, answer).into_iter();
        let solved = |((key, threshold), holds)| {
            let threshold = Threshold(threshold);
            SolvedPosition { key, threshold, holds, work: WORK_OF_THE_PROOF_TREE }
        };
        settled.map(solved).collect()
    }
}
