//! Woodpush: pieces slide towards the other end and push each other back, on a line of cells.
//!
//! Left is Max. A board is two 32-bit masks. A move may not recreate any earlier board of the
//! game, so a position carries the boards that it may not recreate. Pieces only ever leave the
//! board; a board with more pieces than the present one can never come back, and is not carried.

use crate::game::{Game, Move, MoveList, Player};
use crate::outcome::{Outcome, OutcomeScale};

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
}

/// Where the pieces are; bit i is cell i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Board {
    left: u32,
    right: u32,
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

impl Board {
    fn occupied(self) -> u32 {
        self.left | self.right
    }

    fn pieces(self) -> u32 {
        self.left.count_ones() + self.right.count_ones()
    }

    /// A pseudo-random number of 128 bits for each board (two rounds of a 64-bit finaliser with
    /// different constants).
    fn hash(self) -> u128 {
        let bits = u64::from(self.left) | u64::from(self.right) << 32;
        let mix = |mut z: u64, add: u64| {
            z = z.wrapping_add(add).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        u128::from(mix(bits, 0x2545_f491_4f6c_dd1d)) << 64
            | u128::from(mix(bits, 0xd6e8_feb8_6659_fd93))
    }
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
        let scores = (-right..=left).filter(|&score| score != 0);
        Ok(Woodpush { cells: cells as u32, start: board, scale: OutcomeScale::scores(scores) })
    }

    /// All cells, as a mask.
    #[inline]
    fn line(&self) -> u32 {
        u32::MAX >> (32 - self.cells)
    }

    /// The board after `mv`, whether or not it repeats an earlier one. `mv` is a slide from a
    /// cell of the player's own, or a push that has an enemy piece behind it.
    #[inline]
    fn after(&self, board: Board, to_move: Player, mv: Move) -> Board {
        let (cell, push) = (u32::from(mv.0 >> 1), mv.0 & 1 == 1);
        let piece = 1u32 << cell;
        let occupied = board.occupied();
        if push {
            // The piece and the unbroken string behind it go one cell back.
            let string = if to_move == Player::Max {
                let below = occupied & (piece | (piece - 1));
                let gap = !below & (piece - 1);
                if gap == 0 { below } else { below & (u32::MAX << (32 - gap.leading_zeros())) }
            } else {
                let above = occupied & !(piece - 1);
                let gap = !occupied & !(piece - 1);
                if gap == 0 { above } else { above & ((1 << gap.trailing_zeros()) - 1) }
            };
            let back = |mask: u32| {
                let moved = mask & string;
                let moved = if to_move == Player::Max { moved >> 1 } else { moved << 1 };
                (mask & !string) | (moved & self.line())
            };
            Board { left: back(board.left), right: back(board.right) }
        } else if to_move == Player::Max {
            let ahead = !occupied & self.line() & !(piece | (piece - 1));
            let target = ahead & ahead.wrapping_neg();
            Board { left: (board.left & !piece) | target, right: board.right }
        } else {
            let ahead = !occupied & (piece - 1);
            let target = if ahead == 0 { 0 } else { 1 << (31 - ahead.leading_zeros()) };
            Board { left: board.left, right: (board.right & !piece) | target }
        }
    }

    /// The pieces of the player to move that have an enemy piece directly behind them.
    #[inline]
    fn pushers(&self, position: &Line) -> u32 {
        let Board { left, right } = position.board;
        match position.to_move {
            Player::Max => left & (right << 1),
            Player::Min => right & (left >> 1),
        }
    }

    #[inline]
    fn repeats(&self, position: &Line, next: Board) -> bool {
        next == position.board
            || position.past[position.since as usize..].iter().any(|past| past.board == next)
    }

    /// Calls `visit` with each legal move, ascending by cell and the slide before the push, until
    /// it returns false.
    #[inline]
    fn each_move(&self, position: &Line, mut visit: impl FnMut(Move) -> bool) {
        let mut own = match position.to_move {
            Player::Max => position.board.left,
            Player::Min => position.board.right,
        };
        let pushers = self.pushers(position);
        while own != 0 {
            let cell = own.trailing_zeros() as u16;
            let slide = Move(cell << 1);
            let push = Move(cell << 1 | 1);
            let candidates = if pushers >> cell & 1 == 1 { &[slide, push][..] } else { &[slide] };
            for &mv in candidates {
                let next = self.after(position.board, position.to_move, mv);
                if !self.repeats(position, next) && !visit(mv) {
                    return;
                }
            }
            own &= own - 1;
        }
    }
}

impl Game for Woodpush {
    type Position = Line;
    type Key = u128;

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

    fn outcome(&self, position: &Line) -> Option<Outcome> {
        let Board { left, right } = position.board;
        let score = if left == 0 || right == 0 {
            left.count_ones() as i32 - right.count_ones() as i32
        } else {
            let mut stuck = true;
            self.each_move(position, |_| {
                stuck = false;
                false
            });
            match (stuck, position.to_move) {
                (false, _) => return None,
                (true, Player::Max) => -1,
                (true, Player::Min) => 1,
            }
        };
        self.scale.with_score(score)
    }

    fn moves(&self, position: &Line, moves: &mut MoveList) {
        self.each_move(position, |mv| {
            moves.push(mv);
            true
        });
    }

    fn play(&self, position: &mut Line, mv: Move) {
        let next = self.after(position.board, position.to_move, mv);
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
    /// boards that may not be recreated. Positions with the same board are told apart unless two
    /// different sets agree in all of these bits.
    fn key(&self, position: &Line) -> u128 {
        // Base 3 in two halves: a cell is empty, Left's or Right's; 32 cells fit into 51 bits.
        let Board { left, right } = position.board;
        let board = ternary(left) + 2 * ternary(right);
        let side = u128::from(position.to_move == Player::Min);
        (u128::from(board) << 1 | side) << 76 | (position.past_hash >> 52)
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
            b'p' if self.pushers(position) >> cell & 1 == 0 => {
                Some(format!("there is no enemy piece directly behind cell {cell}"))
            }
            b'p' => Some("the push would recreate an earlier board".to_owned()),
            _ => None,
        }
    }
}

/// The number whose base-3 digits are the bits of `mask`.
#[inline]
fn ternary(mask: u32) -> u64 {
    const DIGITS: [u64; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut bit, mut power) = (0, 1);
            while bit < 8 {
                if byte >> bit & 1 == 1 {
                    table[byte] += power;
                }
                power *= 3;
                bit += 1;
            }
            byte += 1;
        }
        table
    };
    mask.to_be_bytes().iter().fold(0, |number, &byte| number * 6561 + DIGITS[byte as usize])
}

#[cfg(test)]
mod tests;
