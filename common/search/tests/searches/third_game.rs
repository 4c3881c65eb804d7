//! A third game, noughts and crosses, written as a newcomer would: `docs/adding-a-game.md` walks
//! through it, and the tests here show what to test.

pub mod noughts;

use jlpns_games::spec::{Games, format_moves, parse_moves};
use jlpns_games::{Bounds, Game, MoveList, Outcome, Player, with_game};
use jlpns_search::efforts::Several;
use jlpns_search::tree::{KnowledgeUse, Tree};
use jlpns_search::{Initialisation, Question};
use noughts::{NOUGHTS, Noughts};
use proptest::prelude::*;

const DRAW: Outcome = Outcome(1);

/// The value, by trying everything.
fn brute_force<G: Game>(game: &G, position: &mut G::Position) -> Outcome {
    if let Some(outcome) = game.outcome(position) {
        return outcome;
    }
    let mut moves = MoveList::new();
    game.moves(position, &mut moves);
    let player = game.to_move(position);
    let values = moves.iter().map(|&mv| {
        game.play(position, mv);
        let value = brute_force(game, position);
        game.undo(position, mv);
        value
    });
    let best = match player {
        Player::Max => values.max(),
        Player::Min => values.min(),
    };
    best.expect("a game that goes on has a move")
}

/// The value, by GPNS on a tree.
fn search<G: Game>(game: &G, position: &G::Position, knowledge: KnowledgeUse) -> Outcome {
    let all = game.scale().bounds();
    let thresholds = Several(game.scale().len() - 1);
    let question = Question::Value(all);
    let start = position.clone();
    let tree = Tree::new(game, start, question, thresholds, Initialisation::Unit, 1 << 20);
    let mut tree = tree.with_knowledge(knowledge);
    while !tree.is_solved() {
        tree.select();
        assert!(tree.expand(), "the tree has room");
        tree.backup();
    }
    let bounds: Bounds = question.bounds(tree.root_efforts(), game.scale());
    bounds.value().expect("solved means one outcome")
}

#[test]
fn the_search_solves_it() {
    let game = Noughts::new();
    assert_eq!(search(&game, &game.start(), KnowledgeUse::Unused), DRAW);
    assert_eq!(search(&game, &game.start(), KnowledgeUse::Everywhere), DRAW);
}

#[test]
fn it_is_found_by_its_spec() {
    let games = Games::built_in().with(NOUGHTS);
    let spec = games.spec("noughts:3x3").expect("a spec in its standard form");
    let value =
        with_game!(spec.game(), game => search(game, &game.start(), KnowledgeUse::Everywhere));
    assert_eq!(value, DRAW);
    let refused = games.spec("noughts:4x4").expect_err("no such size").to_string();
    assert_eq!(refused, "noughts and crosses is played on 3x3 cells only");
}

#[test]
fn the_document_shows_this_code() {
    let code = include_str!("third_game/noughts.rs");
    let document = include_str!("../../../../docs/adding-a-game.md");
    let blocks: Vec<&str> = document.split("```rust\n").skip(1).collect();
    assert!(blocks.len() >= 4, "only {} blocks of code", blocks.len());
    for block in blocks {
        let block = block.split("```").next().expect("a split has a first part");
        // The document shows methods without the indentation of their impl.
        let unindented: Vec<&str> = code.lines().map(|line| line.trim_start()).collect();
        let shown: Vec<&str> = block.lines().map(|line| line.trim_start()).collect();
        assert!(
            unindented.windows(shown.len()).any(|lines| lines == shown),
            "not in the code: {block}"
        );
    }
}

proptest! {
    /// What the trait asks of every game, along random lines of play.
    #[test]
    fn it_keeps_the_rules_of_the_trait(choices in prop::collection::vec(0usize..9, 0..10)) {
        let game = Noughts::new();
        let mut position = game.start();
        let mut played = Vec::new();
        for choice in choices {
            if game.outcome(&position).is_some() {
                break;
            }
            let mut moves = MoveList::new();
            game.moves(&position, &mut moves);
            prop_assert!(!moves.is_empty());
            prop_assert_eq!(game.mobility(&position) as usize, moves.len());
            prop_assert_eq!(game.key(&position), game.key(&position.mirrored()));
            let (before, mv) = (position, moves[choice % moves.len()]);
            game.play(&mut position, mv);
            prop_assert_eq!(game.to_move(&position), game.to_move(&before).opponent());
            let mut undone = position;
            game.undo(&mut undone, mv);
            prop_assert_eq!(undone, before);
            played.push(mv);
        }
        let text = format_moves(&game, &played);
        prop_assert_eq!(parse_moves(&game, &text), Ok(played));
        if game.outcome(&position).is_none() {
            let expected = brute_force(&game, &mut position.clone());
            for knowledge in [KnowledgeUse::Unused, KnowledgeUse::BelowRoot, KnowledgeUse::Everywhere] {
                let found = search(&game, &position, knowledge);
                prop_assert_eq!(found, expected, "{}", game.show(&position));
            }
            let bounds = game.static_bounds(&position);
            prop_assert!((bounds.lower..=bounds.upper).contains(&expected));
        }
    }
}
