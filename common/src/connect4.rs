//! Connect Four on any board of width x height with width * (height + 1) <= 128.
//!
//! A board is two bitboards, one bit a cell, column by column from the bottom, with one bit more
//! a column that is always empty: it keeps lines from running over into the next column.

use std::fmt::Debug;
use std::hash::Hash;

use num_traits::PrimInt;

use crate::game::{Game, Move, MoveList, Player};
use crate::outcome::{Outcome, OutcomeScale};

const LOSS: Outcome = Outcome(0);
const DRAW: Outcome = Outcome(1);
const WIN: Outcome = Outcome(2);

/// The names of the columns, from the left.
const COLUMN_NAMES: &[u8; 64] = b"123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-=";

/// A machine word that holds a board: `u64` for boards to 64 bits, `u128` for the others.
pub trait Bitboard:
    PrimInt + Debug + Hash + Send + Sync + Into<u128> + TryFrom<u128> + 'static
{
}
impl Bitboard for u64 {}
impl Bitboard for u128 {}

/// The game on one size of board.
#[derive(Clone, Debug)]
pub struct Connect4<B> {
    width: u32,
    height: u32,
    /// The lowest cell of each column.
    bottom_row: B,
    /// Every cell.
    full: B,
    scale: OutcomeScale,
}

/// A position: the stones of the player to move, and all stones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stones<B> {
    mover: B,
    all: B,
}

/// Why a board size is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A side of length 0.
    #[error("a Connect Four board needs at least one column and one row, not {0}x{1}")]
    Empty(u32, u32),
    /// More cells than a bitboard has.
    #[error(
        "a Connect Four board of {0} columns and {1} rows is too large: columns * (rows + 1) may \
         be at most {2}"
    )]
    TooLarge(u32, u32, u32),
}

impl<B: Bitboard> Connect4<B> {
    /// The number of bits of the word.
    pub const BITS: u32 = (size_of::<B>() * 8) as u32;

    /// The game on `width` columns and `height` rows.
    pub fn new(width: u32, height: u32) -> Result<Connect4<B>, SizeError> {
        if width == 0 || height == 0 {
            return Err(SizeError::Empty(width, height));
        }
        let bits = u64::from(width) * (u64::from(height) + 1);
        if bits > u64::from(Self::BITS) {
            return Err(SizeError::TooLarge(width, height, Self::BITS));
        }
        let mut game = Connect4 {
            width,
            height,
            bottom_row: B::zero(),
            full: B::zero(),
            scale: OutcomeScale::named(["loss", "draw", "win"]),
        };
        for column in 0..width {
            game.bottom_row = game.bottom_row | game.cell(column, 0);
            for row in 0..height {
                game.full = game.full | game.cell(column, row);
            }
        }
        Ok(game)
    }

    #[inline]
    fn cell(&self, column: u32, row: u32) -> B {
        B::one() << (column * (self.height + 1) + row) as usize
    }

    /// The empty cells that can be played: one a column that is not full.
    #[inline]
    fn playable(&self, all: B) -> B {
        // A column's stones are 2^k - 1: adding 1 carries to its lowest empty cell.
        (all + self.bottom_row) & self.full
    }

    /// Whether four stones of `stones` are in a line.
    #[inline]
    fn has_four(&self, stones: B) -> bool {
        let along = |step: u32| {
            let pairs = stones & (stones >> step as usize);
            !(pairs & (pairs >> (2 * step) as usize)).is_zero()
        };
        let up = self.height + 1;
        (self.height >= 4 && along(1))
            || (self.width >= 4
                && (along(up) || (self.height >= 4 && (along(up - 1) || along(up + 1)))))
    }

    fn max_to_move(&self, all: B) -> bool {
        all.count_ones() & 1 == 0
    }
}

impl<B: Bitboard> Connect4<B> {
    /// All cells of a column, without the bit above it.
    #[inline]
    fn column(&self, column: u32) -> B {
        let one_column = (B::one() << self.height as usize) - B::one();
        one_column << (column * (self.height + 1)) as usize
    }

    /// The key of a position as it stands: each column holds its stones as a number between
    /// 2^k - 1 and 2^(k+1) - 2 for k stones, so no two positions share one.
    #[inline]
    fn plain_key(&self, stones: Stones<B>) -> B {
        stones.mover + stones.all
    }

    /// The key of the mirror image: the columns' fields in opposite order.
    #[inline]
    fn mirrored(&self, key: B) -> B {
        let bits = (self.height + 1) as usize;
        let field =
            if bits as u32 == Self::BITS { B::max_value() } else { (B::one() << bits) - B::one() };
        let (mut rest, mut mirror) = (key, B::zero());
        for column in 0..self.width {
            if column > 0 {
                mirror = mirror << bits;
                rest = rest >> bits;
            }
            mirror = mirror | (rest & field);
        }
        mirror
    }
}

impl<B: Bitboard> Game for Connect4<B> {
    type Position = Stones<B>;
    type Key = B;

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }

    fn start(&self) -> Stones<B> {
        Stones { mover: B::zero(), all: B::zero() }
    }

    #[inline]
    fn to_move(&self, position: &Stones<B>) -> Player {
        if self.max_to_move(position.all) { Player::Max } else { Player::Min }
    }

    #[inline]
    fn outcome(&self, position: &Stones<B>) -> Option<Outcome> {
        if self.has_four(position.mover ^ position.all) {
            // The player who is not to move made the line.
            Some(if self.max_to_move(position.all) { LOSS } else { WIN })
        } else if position.all == self.full {
            Some(DRAW)
        } else {
            None
        }
    }

    #[inline]
    fn moves(&self, position: &Stones<B>, moves: &mut MoveList) {
        let playable = self.playable(position.all);
        for column in 0..self.width {
            if !(playable & self.column(column)).is_zero() {
                moves.push(Move(column as u16));
            }
        }
    }

    #[inline]
    fn play(&self, position: &mut Stones<B>, mv: Move) {
        let stone = self.playable(position.all) & self.column(u32::from(mv.0));
        position.mover = position.mover ^ position.all;
        position.all = position.all | stone;
    }

    #[inline]
    fn undo(&self, position: &mut Stones<B>, mv: Move) {
        let column = self.column(u32::from(mv.0));
        let stones = position.all & column;
        let remaining = stones & (stones >> 1) & column;
        position.all = (position.all ^ stones) | remaining;
        position.mover = position.mover ^ position.all;
    }

    #[inline]
    fn key(&self, position: &Stones<B>) -> B {
        let key = self.plain_key(*position);
        key.min(self.mirrored(key))
    }

    fn move_name(&self, _position: &Stones<B>, mv: Move) -> String {
        char::from(COLUMN_NAMES[usize::from(mv.0)]).to_string()
    }

    fn show(&self, position: &Stones<B>) -> String {
        let (first, second) = if self.max_to_move(position.all) {
            (position.mover, position.mover ^ position.all)
        } else {
            (position.mover ^ position.all, position.mover)
        };
        let mut text = String::new();
        for row in (0..self.height).rev() {
            for column in 0..self.width {
                let cell = self.cell(column, row);
                text.push(match ((first & cell).is_zero(), (second & cell).is_zero()) {
                    (false, _) => 'x',
                    (_, false) => 'o',
                    _ => '.',
                });
            }
            text.push('\n');
        }
        text.extend((0..self.width as usize).map(|c| char::from(COLUMN_NAMES[c])));
        text
    }

    #[inline]
    fn mobility(&self, position: &Stones<B>) -> u32 {
        self.playable(position.all).count_ones()
    }

    fn why_illegal(&self, position: &Stones<B>, text: &str) -> Option<String> {
        let name = text.bytes().next()?;
        let column = COLUMN_NAMES.iter().position(|&n| n == name)? as u32;
        if column >= self.width {
            Some(format!("the board has {} columns", self.width))
        } else if (self.playable(position.all) & self.column(column)).is_zero() {
            Some(format!("column {} is full", char::from(name)))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A board as rows of cells, with the rules written out: the bitboards are checked against it.
    #[derive(Clone)]
    struct Cells {
        width: usize,
        height: usize,
        columns: Vec<Vec<Player>>,
        to_move: Player,
    }

    impl Cells {
        fn at(&self, column: i32, row: i32) -> Option<Player> {
            let column = self.columns.get(usize::try_from(column).ok()?)?;
            column.get(usize::try_from(row).ok()?).copied()
        }

        fn outcome(&self) -> Option<Outcome> {
            for column in 0..self.width as i32 {
                for row in 0..self.height as i32 {
                    for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                        let line: Vec<_> =
                            (0..4).map(|i| self.at(column + i * dc, row + i * dr)).collect();
                        if let Some(owner) = line[0]
                            && line.iter().all(|&c| c == Some(owner))
                        {
                            return Some(if owner == Player::Max { WIN } else { LOSS });
                        }
                    }
                }
            }
            self.columns.iter().all(|c| c.len() == self.height).then_some(DRAW)
        }
    }

    fn follow<B: Bitboard>(width: u32, height: u32, choices: &[usize]) {
        let game = Connect4::<B>::new(width, height).unwrap();
        let mut position = game.start();
        let mut cells = Cells {
            width: width as usize,
            height: height as usize,
            columns: vec![Vec::new(); width as usize],
            to_move: Player::Max,
        };
        let mut mirror = game.start();
        let mut played = Vec::new();
        for &choice in choices {
            assert_eq!(game.outcome(&position), cells.outcome());
            assert_eq!(game.key(&position), game.key(&mirror));
            if cells.outcome().is_some() {
                break;
            }
            let mut moves = MoveList::new();
            game.moves(&position, &mut moves);
            let expected: Vec<Move> = (0..width)
                .filter(|&c| cells.columns[c as usize].len() < height as usize)
                .map(|c| Move(c as u16))
                .collect();
            assert_eq!(moves.to_vec(), expected);
            assert_eq!(game.mobility(&position) as usize, expected.len());
            assert_eq!(game.to_move(&position), cells.to_move);
            let mv = moves[choice % moves.len()];
            played.push((position, mv));
            game.play(&mut position, mv);
            game.play(&mut mirror, Move(width as u16 - 1 - mv.0));
            cells.columns[usize::from(mv.0)].push(cells.to_move);
            cells.to_move = cells.to_move.opponent();
        }
        for (before, mv) in played.into_iter().rev() {
            game.undo(&mut position, mv);
            assert_eq!(position, before);
        }
    }

    proptest! {
        #[test]
        fn bitboards_follow_the_rules(width in 1u32..=11, height in 1u32..=10,
                                      choices in prop::collection::vec(0usize..64, 0..121)) {
            if width * (height + 1) <= 64 {
                follow::<u64>(width, height, &choices);
            }
            if width * (height + 1) <= 128 {
                follow::<u128>(width, height, &choices);
            }
        }

        #[test]
        fn extreme_shapes_follow_the_rules(shape in prop::sample::select(vec![
            (1, 127), (2, 63), (64, 1), (42, 2), (32, 3), (25, 4), (4, 31), (3, 41), (1, 1)]),
                                           choices in prop::collection::vec(0usize..64, 0..130)) {
            follow::<u128>(shape.0, shape.1, &choices);
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert_eq!(Connect4::<u64>::new(0, 4).unwrap_err(), SizeError::Empty(0, 4));
        assert_eq!(Connect4::<u64>::new(8, 8).unwrap_err(), SizeError::TooLarge(8, 8, 64));
        assert!(Connect4::<u128>::new(8, 15).is_ok());
        assert!(Connect4::<u128>::new(u32::MAX, u32::MAX).is_err());
    }
}
