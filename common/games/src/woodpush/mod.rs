//! Woodpush: pieces slide towards the other end and push each other back, on a line of cells.
//!
//! Left is Max. A board is two 32-bit masks. A move may not recreate any earlier board of the
//! game, so a position carries the boards that it may not recreate. Pieces only ever leave the
//! board; a board with more pieces than the present one can never come back, and is not carried.
//!
//! | file | what is in it |
//! |---|---|
//! | `board.rs` | a board, and what the moves do to it |
//! | `numbering.rs` | boards as numbers |
//! | `components.rs` | which boards can lead to each other |
//! | `retrograde.rs` | tables of what is known of each board, and how they are filled |
//! | `knowledge.rs` | what the tables say |
//! | `room.rs` | how large they may be |
//! | `look.rs` | what they say of a position with its history; without them, what its pieces say |

mod board;
mod components;
mod knowledge;
mod look;
mod numbering;
mod retrograde;
mod room;

use std::sync::{Arc, OnceLock};

use board::Board;
use knowledge::{BoardTables, TABLE_BYTES};
use numbering::Numbering;
use room::Room;

use crate::{Bounds, Game, Move, MoveList, Outcome, OutcomeScale, Player, Survey};

/// The shortest board.
pub const MIN_CELLS: usize = 6;
/// The longest board.
pub const MAX_CELLS: usize = 32;

/// The game from one start board.
#[derive(Clone, Debug)]
pub struct Woodpush {
    cells: u32,
    start: Board,
    scale: OutcomeScale,
    /// What a player who has no move gets: Left, Right.
    stuck: [Outcome; 2],
    room: Room,
    /// Filled when it is first asked for; nothing if the game has too many boards.
    tables: Arc<OnceLock<Option<BoardTables>>>,
}

/// A position: the board, who is to move, and the boards that may not be recreated.
#[derive(Clone, Debug)]
pub struct Line {
    board: Board,
    to_move: Player,
    /// Every board of the game before the present one, oldest first.
    past: Vec<Past>,
    /// Where in `past` the boards with as many pieces as the present one begin.
    since: u32,
    /// A sum over those boards that does not depend on their order.
    past_hash: u128,
}

/// A board of the past, and what `undo` needs to come back to it.
#[derive(Clone, Copy, Debug)]
struct Past {
    board: Board,
    since: u32,
    past_hash: u128,
}

/// Why a start board is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// A length out of range.
    #[error("a Woodpush board has {MIN_CELLS} to {MAX_CELLS} cells, not {0}")]
    Length(usize),
    /// A character that is no cell.
    #[error("'{0}' in cell {1} is no cell of a Woodpush board; write L, R, or . for an empty cell")]
    Cell(char, usize),
    /// No pieces at all.
    #[error("a Woodpush board without pieces is no game; place at least one L and one R")]
    NoPieces,
    /// Pieces of one side only.
    #[error(
        "a Woodpush board with pieces of one side only is over before it begins; place at least \
         one L and one R"
    )]
    OneSided,
}

impl Woodpush {
    /// The standard start on `cells` cells: Left on 0 and 2, Right on the mirror cells.
    pub fn standard(cells: usize) -> Result<Woodpush, BoardError> {
        if !(MIN_CELLS..=MAX_CELLS).contains(&cells) {
            return Err(BoardError::Length(cells));
        }
        let mirror = |cell: usize| 1 << (cells - 1 - cell);
        Self::from_board(cells, Board { left: 0b101, right: mirror(0) | mirror(2) })
    }

    /// A start board as text: `L`, `R` and `.`, cell 0 first, Left to move.
    pub fn from_text(text: &str) -> Result<Woodpush, BoardError> {
        let mut board = Board { left: 0, right: 0 };
        let cells = text.chars().count();
        if !(MIN_CELLS..=MAX_CELLS).contains(&cells) {
            return Err(BoardError::Length(cells));
        }
        for (cell, piece) in text.chars().enumerate() {
            match piece {
                'L' | 'l' => board.left |= 1 << cell,
                'R' | 'r' => board.right |= 1 << cell,
                '.' => {}
                other => return Err(BoardError::Cell(other, cell)),
            }
        }
        Self::from_board(cells, board)
    }

    fn from_board(cells: usize, board: Board) -> Result<Woodpush, BoardError> {
        match (board.left, board.right) {
            (0, 0) => return Err(BoardError::NoPieces),
            (0, _) | (_, 0) => return Err(BoardError::OneSided),
            _ => {}
        }
        let (left, right) = (board.left.count_ones() as i32, board.right.count_ones() as i32);
        let scale = OutcomeScale::scores((-right..=left).filter(|&score| score != 0))
            .expect("-1 and 1 are scores, and there are no more than cells");
        let outcome = |score| scale.with_score(score).expect("both sides have pieces");
        Ok(Woodpush {
            cells: cells as u32,
            start: board,
            stuck: [outcome(-1), outcome(1)],
            scale,
            room: Room::default(),
            tables: Arc::default(),
        })
    }

    /// The position with a board, a player to move, and earlier boards that have as many pieces as it,
    /// in any order. In a board, bit `i` is Left's piece on cell `i`, and bit `32 + i` is Right's. It
    /// must be one that a game can come to; nothing can be taken back before it.
    pub fn position(&self, board: u64, to_move: Player, earlier: &[u64]) -> Line {
        let board_of = |bits: u64| Board { left: bits as u32, right: (bits >> 32) as u32 };
        let mut past_hash = 0u128;
        let past = earlier.iter().map(|&bits| {
            let past = Past { board: board_of(bits), since: 0, past_hash };
            past_hash = past_hash.wrapping_add(past.board.hash());
            past
        });
        let past = past.collect();
        Line { board: board_of(board), to_move, past, since: 0, past_hash }
    }

    /// All cells, as a mask.
    #[inline]
    fn line(&self) -> u32 {
        u32::MAX >> (32 - self.cells)
    }

    /// What is known of the boards, if they are few enough.
    #[inline]
    fn tables(&self) -> Option<&BoardTables> {
        let make = || BoardTables::new(self.line(), self.start, &self.scale, self.stuck, self.room);
        self.tables.get_or_init(make).as_ref()
    }

    #[inline]
    fn repeats(&self, position: &Line, next: Board) -> bool {
        next == position.board
            || position.past[position.since as usize..].iter().any(|past| past.board == next)
    }

    /// Calls `visit` with each legal move and the board after it, ascending by cell and the slide
    /// before the push, until it returns false.
    #[inline]
    fn each_move(&self, position: &Line, mut visit: impl FnMut(Move, Board) -> bool) {
        position.board.each_candidate(self.line(), position.to_move, |mv, next| {
            self.repeats(position, next) || visit(mv, next)
        });
    }
}

impl Game for Woodpush {
    type Position = Line;
    type Key = u128;
    type Notes = ();

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }

    fn start(&self) -> Line {
        Line { board: self.start, to_move: Player::Max, past: Vec::new(), since: 0, past_hash: 0 }
    }

    #[inline]
    fn to_move(&self, position: &Line) -> Player {
        position.to_move
    }

    fn with_memory(self, bytes: u64) -> Woodpush {
        let room = Room::of(bytes);
        if room == self.room { self } else { Woodpush { room, tables: Arc::default(), ..self } }
    }

    fn memory(&self) -> u64 {
        let numbering = Numbering::new(self.cells, self.start.pieces(), self.room.boards);
        numbering.map_or(0, |numbering| numbering.len() as u64 * TABLE_BYTES)
    }

    fn outcome(&self, position: &Line) -> Option<Outcome> {
        if position.board.is_over() {
            return position.board.outcome(&self.scale);
        }
        let mut stuck = true;
        self.each_move(position, |_, _| {
            stuck = false;
            false
        });
        stuck.then_some(self.stuck[position.to_move as usize])
    }

    fn moves(&self, position: &Line, moves: &mut MoveList) {
        self.each_move(position, |mv, _| {
            moves.push(mv);
            true
        });
    }

    fn play(&self, position: &mut Line, mv: Move) {
        let next = position.board.after(self.line(), position.to_move, mv);
        position.past.push(Past {
            board: position.board,
            since: position.since,
            past_hash: position.past_hash,
        });
        if next.pieces() < position.board.pieces() {
            position.since = position.past.len() as u32;
            position.past_hash = 0;
        } else {
            position.past_hash = position.past_hash.wrapping_add(position.board.hash());
        }
        position.board = next;
        position.to_move = position.to_move.opponent();
    }

    fn undo(&self, position: &mut Line, _mv: Move) {
        let past = position.past.pop().expect("a move was played");
        position.board = past.board;
        position.since = past.since;
        position.past_hash = past.past_hash;
        position.to_move = position.to_move.opponent();
    }

    /// The board and the player to move exactly (52 bits), with 76 bits of a hash over the set of
    /// boards that could be recreated but for the rule. Positions with the same board are told
    /// apart unless two different sets agree in all of these bits.
    ///
    /// A board is in that set as soon as any moves of either player lead back to it, though what
    /// can matter for the value is less: so the set grows with each move that can be undone, and
    /// no position shares a key with one that it leads to. Searches on graphs need that.
    fn key(&self, position: &Line) -> u128 {
        let past = match self.tables() {
            Some(tables) => {
                let past = position.past[position.since as usize..].iter().rev();
                tables.hash_of_past(position.board, past.map(|past| past.board))
            }
            None => position.past_hash,
        };
        let side = u128::from(position.to_move == Player::Min);
        (u128::from(position.board.ternary()) << 1 | side) << 76 | (past >> 52)
    }

    fn move_name(&self, _position: &Line, mv: Move) -> String {
        format!("{}{}", if mv.0 & 1 == 1 { 'p' } else { 's' }, mv.0 >> 1)
    }

    fn show(&self, position: &Line) -> String {
        let Board { left, right } = position.board;
        (0..self.cells)
            .map(|cell| match (left >> cell & 1, right >> cell & 1) {
                (1, _) => 'L',
                (_, 1) => 'R',
                _ => '.',
            })
            .collect()
    }

    fn piece_at(&self, position: &Line, line: usize, character: usize) -> Option<Player> {
        let Board { left, right } = position.board;
        let cell = u32::try_from(character).ok().filter(|&cell| line == 0 && cell < self.cells)?;
        match (left >> cell & 1, right >> cell & 1) {
            (1, _) => Some(Player::Max),
            (_, 1) => Some(Player::Min),
            _ => None,
        }
    }

    fn static_bounds(&self, position: &Line) -> Bounds {
        self.look(position).bounds
    }

    fn relevant_moves(&self, position: &Line, moves: &mut MoveList) {
        self.look(position).relevant(position.to_move, moves);
    }

    fn resistance(&self, position: &Line) -> u32 {
        self.look(position).resistance()
    }

    fn survey(&self, position: &Line, _relevant: Bounds) -> Survey {
        self.look(position).survey(position.to_move)
    }

    fn why_illegal(&self, position: &Line, text: &str) -> Option<String> {
        let digits = text.get(1..)?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let cell: u32 = digits[..end].parse().ok()?;
        let (own, side) = match position.to_move {
            Player::Max => (position.board.left, "Left"),
            Player::Min => (position.board.right, "Right"),
        };
        if cell >= self.cells {
            return Some(format!("the board has cells 0 to {}", self.cells - 1));
        }
        if own >> cell & 1 == 0 {
            return Some(format!("{side} has no piece on cell {cell}"));
        }
        match text.as_bytes()[0] {
            b's' => Some("the slide would recreate an earlier board".to_owned()),
            b'p' if position.board.pushers(position.to_move) >> cell & 1 == 0 => {
                Some(format!("there is no enemy piece directly behind cell {cell}"))
            }
            b'p' => Some("the push would recreate an earlier board".to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
