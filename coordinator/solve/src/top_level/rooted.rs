//! The top-level tree of one question about one position: a search graph.

use jlpns_games::spec::{GameSpec, MoveError, position_after};
use jlpns_games::{Game, Move, Threshold, with_game};
use jlpns_search::answer::{Proved, known_best_move};
use jlpns_search::efforts::Width;
use jlpns_search::graph::{
    DumpError, Graph, GraphSettings, NextInOrder, NodeId, PartialDump, Subtree,
};
use jlpns_search::{EffortPair, Findings, Question, SolvedPosition, with_width};

use super::{MostProving, NodeRef, TopLevel, TreeSize};
use crate::belief::{Basis, Claims, Confirm, Proofs};

/// What a position of the proof tree counts as work: as much as keeps it in a table.
const WORK_OF_THE_PROOF_TREE: u32 = 1 << 20;

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

    fn regrow(&mut self, claims: &Claims, _: Confirm) {
        let game = self.graph.game().clone();
        let root = game.key(&self.position(&self.prefix));
        let mut proofs = Proofs::new(&game, claims, self.graph.knowledge(), root);
        self.graph.regrow(&mut |position, threshold| proofs.verdict(position, threshold));
    }

    fn completed(
        &self,
        claims: &Claims,
        below: bool,
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
            let key = game.key(position);
            for (index, pair) in efforts.iter_mut().enumerate() {
                let threshold = Threshold(first.0 + index as u8);
                let known = match below {
                    true => proofs.verdict(position, threshold),
                    false => proofs.claimed(key, threshold),
                };
                if let Some(holds) = known {
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
