//! Noughts and crosses: the game of `docs/adding-a-game.md`, written as one from outside is.

use jlpns_games::dyn_game::DynGame;
use jlpns_games::spec::{AnyGame, GameFamily, SpecError};
use jlpns_games::{Bounds, Game, Move, MoveList, Outcome, OutcomeScale, Player};

const LOSS: Outcome = Outcome(0);
const DRAW: Outcome = Outcome(1);
const WIN: Outcome = Outcome(2);

/// Noughts and crosses on 3x3 cells, numbered from 1 like the keys of a telephone. Max plays `x`.
#[derive(Clone, Debug)]
pub struct Noughts {
    scale: OutcomeScale,
}

/// The cells of each player, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    max: u16,
    min: u16,
}

const FULL: u16 = 0o777;
const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl Default for Noughts {
    fn default() -> Noughts {
        Noughts::new()
    }
}

impl Noughts {
    /// The game.
    pub fn new() -> Noughts {
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
    pub fn mirrored(self) -> Cells {
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
    type Notes = ();

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

    fn piece_at(&self, cells: &Cells, line: usize, character: usize) -> Option<Player> {
        let cell = 1 << (3 * line + character);
        match (cells.max & cell, cells.min & cell) {
            (0, 0) => None,
            (_, 0) => Some(Player::Max),
            _ => Some(Player::Min),
        }
    }

    fn mirrored_move(&self, _cells: &Cells, mv: Move) -> Option<Move> {
        Some(Move(mv.0 / 3 * 3 + 2 - mv.0 % 3))
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

/// How specs name it.
pub const NOUGHTS: GameFamily = GameFamily {
    name: "noughts",
    notations: &["3x3"],
    examples: &["noughts:3x3"],
    moves: "159",
    read: |size| match size {
        "3x3" => Ok((size.to_owned(), AnyGame::Dyn(DynGame::new(Noughts::new())))),
        _ => Err(SpecError::Refused("noughts and crosses is played on 3x3 cells only".to_owned())),
    },
};
