//! What it is worth that Connect Four's key is shared by mirror images: graph GPNS with a key that
//! tells them apart, beside that with the game's own key in docs/results.md.

use std::fmt::Debug;

use jlpns_games::connect4::Connect4;
use jlpns_games::{Game, Move, MoveList, Outcome, OutcomeScale, Player};
use jlpns_search::efforts::Several;
use jlpns_search::graph::{Graph, GraphSettings, Selection};
use jlpns_search::{Initialisation, Question};

/// Connect Four with a key for each position.
#[derive(Clone, Debug)]
struct WithMirrorImages(Connect4<u64>);

impl Game for WithMirrorImages {
    type Position = <Connect4<u64> as Game>::Position;
    type Key = u128;
    type Notes = ();

    fn scale(&self) -> &OutcomeScale {
        self.0.scale()
    }
    fn start(&self) -> Self::Position {
        self.0.start()
    }
    fn to_move(&self, position: &Self::Position) -> Player {
        self.0.to_move(position)
    }
    fn outcome(&self, position: &Self::Position) -> Option<Outcome> {
        self.0.outcome(position)
    }
    fn moves(&self, position: &Self::Position, moves: &mut MoveList) {
        self.0.moves(position, moves);
    }
    fn play(&self, position: &mut Self::Position, mv: Move) {
        self.0.play(position, mv);
    }
    fn undo(&self, position: &mut Self::Position, mv: Move) {
        self.0.undo(position, mv);
    }
    /// The picture of the board, read as a number.
    fn key(&self, position: &Self::Position) -> u128 {
        let cells = self.0.show(position);
        cells.chars().fold(0, |number, cell| match cell {
            '.' => number * 3,
            'x' => number * 3 + 1,
            'o' => number * 3 + 2,
            _ => number,
        })
    }
    fn move_name(&self, position: &Self::Position, mv: Move) -> String {
        self.0.move_name(position, mv)
    }
    fn show(&self, position: &Self::Position) -> String {
        self.0.show(position)
    }
}

/// The value, and the descents of graph GPNS to it.
fn gpns<G: Game>(game: &G, initialisation: Initialisation) -> (String, u64) {
    let question = Question::Value(game.scale().bounds());
    let width = Several(question.thresholds().1);
    let settings = GraphSettings {
        initialisation,
        merge: true,
        selection: Selection::Locking,
        memory: u64::MAX,
        knowledge: false,
        ranked: false,
    };
    let mut graph = Graph::new(game.clone(), game.start(), question, width, settings);
    while graph.select().is_some() {
        assert!(graph.expand());
    }
    let value = question.bounds(graph.root_efforts(), game.scale()).value();
    (game.scale().name(value.expect("solved")).to_owned(), graph.descents())
}

/// The tables of Connect Four in docs/results.md: size, and the last column.
fn page() -> Vec<((u32, u32), u64)> {
    let sizes = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let (width, height) = cells[0].split_once('x')?;
        let size = (width.parse().ok()?, height.parse().ok()?);
        Some((size, cells.last()?.replace(',', "").parse().ok()?))
    };
    include_str!("../../../../docs/results.md").lines().filter_map(sizes).collect()
}

fn check(rows: &[((u32, u32), u64)], initialisation: Initialisation) {
    assert_eq!(rows.len(), 11);
    for &((width, height), descents) in rows {
        let game = Connect4::<u64>::new(width, height).expect("a size in range");
        let found = gpns(&WithMirrorImages(game), initialisation);
        assert_eq!(found, ("draw".to_owned(), descents), "{width}x{height} {initialisation:?}");
    }
}

#[test]
fn table_1_with_mirror_images_apart() {
    check(&page()[..11], Initialisation::Unit);
}

#[test]
fn table_2_with_mirror_images_apart() {
    check(&page()[11..], Initialisation::Mobility);
}
