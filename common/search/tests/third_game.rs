//! A third game, noughts and crosses, written as a newcomer would: `docs/adding-a-game.md` walks
//! through it, and the tests here show what to test.

use jlpns_games::spec::{format_moves, parse_moves};
use jlpns_games::{Bounds, Game, Move, MoveList, Outcome, OutcomeScale, Player};
use jlpns_search::efforts::Several;
use jlpns_search::tree::{Knowledge, Tree};
use jlpns_search::{Initialisation, Question};
use proptest::prelude::*;

const LOSS: Outcome = Outcome(0);
const DRAW: Outcome = Outcome(1);
const WIN: Outcome = Outcome(2);

/// Noughts and crosses on 3x3 cells, numbered from 1 like the keys of a telephone. Max plays `x`.
#[derive(Clone, Debug)]
struct Noughts {
    scale: OutcomeScale,
}

/// The cells of each player, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cells {
    max: u16,
    min: u16,
}

const FULL: u16 = 0o777;
const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl Noughts {
    fn new() -> Noughts {
        Noughts { scale: OutcomeScale::named(["loss", "draw", "win"]) }
    }
}

impl Cells {
    fn own(&mut self, player: Player) -> &mut u16 {
        match player {
            Player::Max => &mut self.max,
            Player::Min => &mut self.min,
        }
    }

    /// The mirror image, left to right.
    fn mirrored(self) -> Cells {
        let mirror = |cells: u16| (cells & 0o111) << 2 | cells & 0o222 | (cells & 0o444) >> 2;
        Cells { max: mirror(self.max), min: mirror(self.min) }
    }

    fn bits(self) -> u32 {
        u32::from(self.max) << 9 | u32::from(self.min)
    }
}

impl Game for Noughts {
    type Position = Cells;
    type Key = u32;

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }

    fn start(&self) -> Cells {
        Cells { max: 0, min: 0 }
    }

    fn to_move(&self, cells: &Cells) -> Player {
        if cells.max.count_ones() == cells.min.count_ones() { Player::Max } else { Player::Min }
    }

    fn outcome(&self, cells: &Cells) -> Option<Outcome> {
        let has_line = |own: u16| LINES.iter().any(|line| own & line == *line);
        if has_line(cells.max) {
            Some(WIN)
        } else if has_line(cells.min) {
            Some(LOSS)
        } else {
            (cells.max | cells.min == FULL).then_some(DRAW)
        }
    }

    fn moves(&self, cells: &Cells, moves: &mut MoveList) {
        let empty = !(cells.max | cells.min);
        moves.extend((0..9).filter(|cell| empty >> cell & 1 == 1).map(Move));
    }

    fn play(&self, cells: &mut Cells, mv: Move) {
        *cells.own(self.to_move(cells)) |= 1 << mv.0;
    }

    fn undo(&self, cells: &mut Cells, mv: Move) {
        *cells.own(self.to_move(cells).opponent()) &= !(1 << mv.0);
    }

    fn key(&self, cells: &Cells) -> u32 {
        cells.bits().min(cells.mirrored().bits())
    }

    fn move_name(&self, _cells: &Cells, mv: Move) -> String {
        (mv.0 + 1).to_string()
    }

    fn show(&self, cells: &Cells) -> String {
        let mut text = String::new();
        for cell in 0..9 {
            text.push(match (cells.max >> cell & 1, cells.min >> cell & 1) {
                (1, _) => 'x',
                (_, 1) => 'o',
                _ => '.',
            });
            if cell == 2 || cell == 5 {
                text.push('\n');
            }
        }
        text
    }

    // A player whose lines are all blocked cannot win any more.
    fn static_bounds(&self, cells: &Cells) -> Bounds {
        let is_open_against = |other: u16| LINES.iter().any(|line| other & line == 0);
        match self.outcome(cells) {
            Some(outcome) => Bounds::exactly(outcome),
            None => Bounds {
                lower: if is_open_against(cells.max) { LOSS } else { DRAW },
                upper: if is_open_against(cells.min) { WIN } else { DRAW },
            },
        }
    }

    // A line that can be completed wins, and one that the opponent could complete must be blocked.
    fn relevant_moves(&self, cells: &Cells, moves: &mut MoveList) {
        let empty = FULL & !(cells.max | cells.min);
        let completes = |own: u16| {
            let gap = |line: &u16| (line & !own).count_ones() == 1 && line & !own & empty != 0;
            LINES.iter().find(|line| gap(line)).map(|line| line & !own)
        };
        let (own, other) = match self.to_move(cells) {
            Player::Max => (cells.max, cells.min),
            Player::Min => (cells.min, cells.max),
        };
        match completes(own).or_else(|| completes(other)) {
            Some(cell) => moves.push(Move(cell.trailing_zeros() as u16)),
            None => self.moves(cells, moves),
        }
    }
}

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
fn search<G: Game>(game: &G, position: &G::Position, knowledge: Knowledge) -> Outcome {
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
    assert_eq!(search(&game, &game.start(), Knowledge::Unused), DRAW);
    assert_eq!(search(&game, &game.start(), Knowledge::Everywhere), DRAW);
}

#[test]
fn the_document_shows_this_code() {
    let code = include_str!("third_game.rs");
    let document = include_str!("../../../docs/adding-a-game.md");
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
            for knowledge in [Knowledge::Unused, Knowledge::BelowRoot, Knowledge::Everywhere] {
                let found = search(&game, &position, knowledge);
                prop_assert_eq!(found, expected, "{}", game.show(&position));
            }
            let bounds = game.static_bounds(&position);
            prop_assert!((bounds.lower..=bounds.upper).contains(&expected));
        }
    }
}
