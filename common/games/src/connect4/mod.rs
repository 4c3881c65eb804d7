//! Connect Four on any board of width x height with width * (height + 1) <= 128.
//!
//! A board is two bitboards, one bit a cell, column by column from the bottom, with one bit more
//! a column that is always empty: it keeps lines from running over into the next column.
//!
//! Here is the game as it is played, with its positions in `stones`, its lines of four in `lines`, the keys of positions in
//! `keys` and what sizes are refused in `size`. What it knows beyond that has one file an idea, and `rules` says which of
//! these are used:
//! - `threats`: cells that complete a line, and what must be played because of them.
//! - `double_threat`: a move that makes two of them at once.
//! - `potential`: how much a move promises, by the lines through its cell; `opening`: what counts beside these in the
//!   opening.
//! - `follow_up`: what the player gets who always answers in the same column.
//! - `pairs`: how that player makes columns with an odd number of empty cells even; `unbroken`: lines that no pair breaks.
//! - `shares`: who gets which of the empty cells by these two.
//! - `led_threats`: threats of that player's at cells of the opponent's, which decide who has to play below them.
//! - `tempo`: such a threat that is given up so that another column can be followed the other way round.
//! - `lines_left`: players who have none left but upright ones, and so do not win; `turned`: columns that are answered the other way round.
//! - `aftereven`: lines that would be completed only after one of that player's.
//! - `favoured`: who is more likely to win on a board, or whether nobody is.
//! - `last_moves`: outcomes that tell apart on which move the game ends.

/// Calls a method with the number of bits of a column as its last argument, written out for the
/// usual heights: shifts by a number that the compiler knows take a third of the time.
macro_rules! by_height {
    ($game:ident.$method:ident($($argument:expr),*)) => {
        match $game.height {
            4 => $game.$method($($argument,)* 5),
            5 => $game.$method($($argument,)* 6),
            6 => $game.$method($($argument,)* 7),
            7 => $game.$method($($argument,)* 8),
            height => $game.$method($($argument,)* height as usize + 1),
        }
    };
}

mod aftereven;
mod double_threat;
mod favoured;
mod follow_up;
mod keys;
mod last_moves;
mod led_threats;
mod lines;
mod lines_left;
mod opening;
mod pairs;
mod potential;
mod rules;
mod shares;
mod size;
mod stones;
mod tempo;
mod threats;
mod turned;
mod unbroken;

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::hash::Hash;

use last_moves::LastMoves;
use num_traits::PrimInt;
pub use opening::OpeningWeights;
pub use potential::Weights;
pub use rules::Rules;
pub use size::SizeError;
pub use stones::Stones;
use threats::{Tactics, lowest};
use unbroken::LastUnbroken;

use crate::{Bounds, Game, Move, MoveList, Outcome, OutcomeScale, Player, Survey};

/// The outcomes of the scale, from Max's view.
const LOSS: Outcome = Outcome(0);
const DRAW: Outcome = Outcome(1);
const WIN: Outcome = Outcome(2);

/// What the player to move gets, in a scale of that player's own: with Min to move it is the scale
/// upside down (`turned_for_min`).
const MOVER_LOSES: Outcome = Outcome(0);
const MOVER_DRAWS: Outcome = Outcome(1);
const MOVER_WINS: Outcome = Outcome(2);

/// The names of the columns, from the left.
const COLUMN_NAMES: &[u8; 64] = b"123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-=";

/// A machine word that holds a board: `u64` for boards to 64 bits, `u128` for the others.
pub trait Bitboard:
    PrimInt + Debug + Default + Hash + Send + Sync + Into<u128> + TryFrom<u128> + 'static
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
    /// Every cell that has, with itself, an odd number of cells up to the top of its column. They
    /// are the second, fourth, ... of an even number of empty cells, and the first, third, ... of
    /// an odd number.
    follower_cells: B,
    /// The columns from the centre outwards, with their cells.
    from_centre: Box<[(Move, B)]>,
    /// The bits of each column of the left half, and how far it is from its mirror image.
    mirror_columns: Box<[(B, u32)]>,
    /// The bits of the column that is its own mirror image, if there is one.
    middle_column: B,
    /// The lines of four through each cell.
    lines: potential::Lines<B>,
    /// With so many stones the opening is over.
    opening_stones: u32,
    scale: OutcomeScale,
    /// How outcomes are told apart by the move on which the game ends, if they are.
    last_moves: Option<LastMoves>,
    rules: Rules,
    /// What makes a move look good.
    weights: Weights,
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
            follower_cells: B::zero(),
            from_centre: Box::default(),
            mirror_columns: Box::default(),
            middle_column: B::zero(),
            lines: potential::Lines::default(),
            opening_stones: (width * height).div_ceil(3),
            scale: OutcomeScale::named(["loss", "draw", "win"]),
            last_moves: None,
            rules: Rules::default(),
            weights: Weights::default(),
        };
        for column in 0..width {
            game.bottom_row = game.bottom_row | game.cell(column, 0);
            for row in 0..height {
                game.full = game.full | game.cell(column, row);
                if (height - row) % 2 == 1 {
                    game.follower_cells = game.follower_cells | game.cell(column, row);
                }
            }
        }
        let field = |column| game.column(column) | game.cell(column, height);
        let distance = |column| (width - 1 - 2 * column) * (height + 1);
        let mirror_columns = (0..width / 2).map(|c| (field(c), distance(c))).collect();
        let middle_column = if width % 2 == 1 { field(width / 2) } else { B::zero() };
        (game.mirror_columns, game.middle_column) = (mirror_columns, middle_column);
        let mut columns: Vec<u32> = (0..width).collect();
        columns.sort_by_key(|&column| (2 * column + 1).abs_diff(width));
        game.lines = potential::Lines::of(game.full, width, height);
        game.from_centre = columns.iter().map(|&c| (Move(c as u16), game.column(c))).collect();
        Ok(game)
    }

    /// The same game with some of its knowledge left out.
    #[must_use]
    pub fn with_rules(self, rules: Rules) -> Connect4<B> {
        Connect4 { rules, ..self }
    }

    /// The same game with another opinion of which moves look best.
    #[must_use]
    pub fn with_weights(self, weights: Weights) -> Connect4<B> {
        Connect4 { weights, ..self }
    }

    /// The number of columns.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> u32 {
        self.height
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

    fn max_to_move(&self, all: B) -> bool {
        all.count_ones() & 1 == 0
    }

    /// All cells of a column, without the bit above it.
    #[inline]
    fn column(&self, column: u32) -> B {
        let one_column = (B::one() << self.height as usize) - B::one();
        one_column << (column * (self.height + 1)) as usize
    }
}

impl<B: Bitboard> Game for Connect4<B> {
    type Position = Stones<B>;
    type Key = B;
    type Notes = LastUnbroken<B>;

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }

    fn start(&self) -> Stones<B> {
        self.position(B::zero(), B::zero())
    }

    #[inline]
    fn to_move(&self, position: &Stones<B>) -> Player {
        if self.max_to_move(position.all) { Player::Max } else { Player::Min }
    }

    #[inline]
    fn outcome(&self, position: &Stones<B>) -> Option<Outcome> {
        let is_won = position.is_won();
        if !is_won && position.all != self.full {
            return None;
        }
        Some(match self.last_moves {
            Some(last_moves) => self.ended(last_moves, position.all, is_won),
            None if !is_won => DRAW,
            // The player who is not to move made the line.
            None if self.max_to_move(position.all) => LOSS,
            None => WIN,
        })
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
        let completed = by_height!(self.completing(position.mover | stone));
        position.completed_by_mover =
            std::mem::replace(&mut position.completed_by_opponent, completed);
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
        position.completed_by_opponent = position.completed_by_mover;
        position.completed_by_mover = by_height!(self.completing(position.mover));
    }

    #[inline]
    fn key(&self, position: &Stones<B>) -> B {
        self.key_of_both(*position)
    }

    fn move_name(&self, _position: &Stones<B>, mv: Move) -> String {
        char::from(COLUMN_NAMES[usize::from(mv.0)]).to_string()
    }

    fn show(&self, position: &Stones<B>) -> String {
        let (first, second) = self.stones_of_each(position);
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

    fn piece_at(&self, position: &Stones<B>, line: usize, character: usize) -> Option<Player> {
        let row = (self.height as usize).checked_sub(line + 1)?;
        let column = u32::try_from(character).ok().filter(|&column| column < self.width)?;
        let (cell, (first, second)) =
            (self.cell(column, row as u32), self.stones_of_each(position));
        match ((first & cell).is_zero(), (second & cell).is_zero()) {
            (false, _) => Some(Player::Max),
            (_, false) => Some(Player::Min),
            _ => None,
        }
    }

    fn mirrored_move(&self, _position: &Stones<B>, mv: Move) -> Option<Move> {
        Some(Move(self.width as u16 - 1 - mv.0))
    }

    #[inline]
    fn mobility(&self, position: &Stones<B>) -> u32 {
        self.playable(position.all).count_ones()
    }

    #[inline]
    fn static_bounds(&self, position: &Stones<B>) -> Bounds {
        self.survey(position, self.scale.bounds()).bounds
    }

    #[inline]
    fn relevant_moves(&self, position: &Stones<B>, moves: &mut MoveList) {
        let cells = self.relevant_cells(*position);
        // Most lines cross the centre.
        for &(mv, column) in &self.from_centre {
            if !(cells & column).is_zero() {
                moves.push(mv);
            }
        }
    }

    #[inline]
    fn resistance(&self, position: &Stones<B>) -> u32 {
        self.relevant_cells(*position).count_ones()
    }

    #[inline]
    fn survey(&self, position: &Stones<B>, relevant: Bounds) -> Survey {
        self.survey_noting(position, relevant, &mut LastUnbroken::default())
    }

    #[inline]
    fn survey_noting(
        &self,
        position: &Stones<B>,
        relevant: Bounds,
        notes: &mut LastUnbroken<B>,
    ) -> Survey {
        match self.last_moves {
            None => by_height!(self.judge(*position, relevant, notes)),
            Some(last_moves) => {
                by_height!(self.judge_last_moves(last_moves, *position, relevant, notes))
            }
        }
    }

    #[inline]
    fn promises(&self, position: &Stones<B>, moves: &mut [(Move, i32)]) {
        by_height!(self.weigh_lines(*position, moves));
    }

    fn orders_moves(&self) -> bool {
        true
    }

    fn favoured(&self) -> Option<Player> {
        favoured::favoured(self.width, self.height)
    }

    fn expected_value(&self) -> Option<Outcome> {
        let draw = self.last_moves.map_or(DRAW, LastMoves::draw);
        favoured::is_drawish(self.width, self.height).then_some(draw)
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
