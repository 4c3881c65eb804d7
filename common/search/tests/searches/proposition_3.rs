//! Proposition 3 of the GPNS paper: with two outcomes, GPNS and PNS expand the same tree.
//!
//! PNS is written out here once more, with boxes and recursion and nothing of the library's trees,
//! and GPNS is run on games with exactly two outcomes: both must expand the same positions in the
//! same order.

use jlpns_games::connect4::Connect4;
use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Game, Move, MoveList, Outcome, OutcomeScale, Player, Threshold};
use jlpns_minimax::after_choices;
use jlpns_search::efforts::Several;
use jlpns_search::tree::Tree;
use jlpns_search::{Initialisation, Question};
use proptest::prelude::*;

/// A game of which only one question matters: is the value at least `threshold`?
#[derive(Clone, Debug)]
struct TwoOutcomes<G> {
    game: G,
    threshold: Threshold,
    scale: OutcomeScale,
    start: Vec<Move>,
}

impl<G: Game> Game for TwoOutcomes<G> {
    type Position = G::Position;
    type Key = G::Key;
    type Notes = ();

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }
    fn start(&self) -> G::Position {
        let mut position = self.game.start();
        self.start.iter().for_each(|&mv| self.game.play(&mut position, mv));
        position
    }
    fn to_move(&self, position: &G::Position) -> Player {
        self.game.to_move(position)
    }
    fn outcome(&self, position: &G::Position) -> Option<Outcome> {
        let outcome = self.game.outcome(position)?;
        Some(Outcome(u8::from(self.threshold.holds(outcome))))
    }
    fn moves(&self, position: &G::Position, moves: &mut MoveList) {
        self.game.moves(position, moves);
    }
    fn play(&self, position: &mut G::Position, mv: Move) {
        self.game.play(position, mv);
    }
    fn undo(&self, position: &mut G::Position, mv: Move) {
        self.game.undo(position, mv);
    }
    fn key(&self, position: &G::Position) -> G::Key {
        self.game.key(position)
    }
    fn move_name(&self, position: &G::Position, mv: Move) -> String {
        self.game.move_name(position, mv)
    }
    fn show(&self, position: &G::Position) -> String {
        self.game.show(position)
    }
}

/// A node of the reference PNS; `u64::MAX` is infinity.
struct Node {
    proof: u64,
    disproof: u64,
    children: Vec<(Move, Node)>,
}

const INFINITY: u64 = u64::MAX;

fn sum(terms: impl Iterator<Item = u64>) -> u64 {
    terms.fold(0, |a, b| if a == INFINITY || b == INFINITY { INFINITY } else { a + b })
}

fn evaluate<G: Game>(game: &G, position: &G::Position, mobility: bool) -> Node {
    let mut moves = MoveList::new();
    let (proof, disproof) = match game.outcome(position) {
        Some(Outcome(0)) => (INFINITY, 0),
        Some(_) => (0, INFINITY),
        None if !mobility => (1, 1),
        None => {
            game.moves(position, &mut moves);
            match game.to_move(position) {
                Player::Max => (1, moves.len() as u64),
                Player::Min => (moves.len() as u64, 1),
            }
        }
    };
    Node { proof, disproof, children: Vec::new() }
}

/// Expands the most-proving node below `node` and updates the numbers on the way back; returns
/// the moves that lead to it.
fn descend<G: Game>(
    game: &G,
    position: &mut G::Position,
    node: &mut Node,
    mobility: bool,
) -> Vec<Move> {
    let player = game.to_move(position);
    let mut way = Vec::new();
    if node.children.is_empty() {
        let mut moves = MoveList::new();
        game.moves(position, &mut moves);
        for &mv in &moves {
            game.play(position, mv);
            node.children.push((mv, evaluate(game, position, mobility)));
            game.undo(position, mv);
        }
    } else {
        let wanted = |child: &Node| match player {
            Player::Max => child.proof,
            Player::Min => child.disproof,
        };
        let least = node.children.iter().map(|(_, child)| wanted(child)).min().unwrap();
        let (mv, child) =
            node.children.iter_mut().rev().find(|(_, child)| wanted(child) == least).unwrap();
        game.play(position, *mv);
        way = descend(game, position, child, mobility);
        game.undo(position, *mv);
        way.insert(0, *mv);
    }
    let proofs = node.children.iter().map(|(_, child)| child.proof);
    let disproofs = node.children.iter().map(|(_, child)| child.disproof);
    (node.proof, node.disproof) = match player {
        Player::Max => (proofs.min().unwrap(), sum(disproofs)),
        Player::Min => (sum(proofs), disproofs.min().unwrap()),
    };
    way
}

fn check<G: Game>(game: &G, initialisation: Initialisation) {
    let mobility = initialisation == Initialisation::Mobility;
    let all = Question::Value(game.scale().bounds());
    let mut tree = Tree::new(game, game.start(), all, Several(1), initialisation, usize::MAX);
    let mut position = game.start();
    let mut root = evaluate(game, &position, mobility);
    while root.proof != 0 && root.disproof != 0 {
        assert!(!tree.is_solved());
        tree.select();
        let selected = format!("{:?}", tree.position());
        let mut expected = game.start();
        for mv in descend(game, &mut position, &mut root, mobility) {
            game.play(&mut expected, mv);
        }
        assert_eq!(selected, format!("{expected:?}"), "expansion {}", tree.expansions());
        assert!(tree.expand());
        tree.backup();
        let pair = tree.root_efforts()[0];
        let number = |e: jlpns_search::Effort| match e.is_infinite() {
            true => INFINITY,
            false => u64::from(e.to_bits()),
        };
        assert_eq!((number(pair.proof), number(pair.disproof)), (root.proof, root.disproof));
    }
    assert!(tree.is_solved());
}

fn two_outcomes<G: Game>(game: G, threshold: u8, choices: &[usize]) -> TwoOutcomes<G> {
    let (_, start) = after_choices(&game, choices);
    let scale = OutcomeScale::named(["no", "yes"]);
    TwoOutcomes { game, threshold: Threshold(threshold), scale, start }
}

fn initialisation() -> impl Strategy<Value = Initialisation> {
    prop::sample::select(vec![Initialisation::Unit, Initialisation::Mobility])
}

proptest! {
    #[test]
    fn holds_for_connect4(
        initialisation in initialisation(),
        size in prop::sample::select(vec![(3, 4), (4, 3), (4, 4), (5, 3), (3, 5)]),
        threshold in 1u8..=2,
        choices in prop::collection::vec(0usize..5, 0..8),
    ) {
        let game = Connect4::<u64>::new(size.0, size.1).unwrap();
        if size.0 * size.1 > 12 && choices.len() < 4 {
            return Ok(());
        }
        check(&two_outcomes(game, threshold, &choices), initialisation);
    }

    #[test]
    fn holds_for_woodpush(
        initialisation in initialisation(),
        start in prop::sample::select(vec!["L.L.R.R", "L.LR.R", "LL..R.R", "LR..LR", "L.....R"]),
        threshold in 0u8..=4,
        choices in prop::collection::vec(0usize..5, 0..5),
    ) {
        let game = Woodpush::from_text(start).unwrap();
        check(&two_outcomes(game, threshold, &choices), initialisation);
    }
}
