//! The [`Game`] trait: all that the searches know of a game.

use std::fmt::Debug;
use std::hash::Hash;

use smallvec::SmallVec;

use crate::outcome::{Outcome, OutcomeScale};

/// The two players. Max moves first in the position that the game's spec describes, and every
/// value is from Max's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Player {
    /// Wants the best outcome of the scale: an OR node of proof-number search.
    Max,
    /// Wants the worst outcome of the scale: an AND node.
    Min,
}

impl Player {
    /// The other player.
    #[inline]
    pub const fn opponent(self) -> Player {
        match self {
            Player::Max => Player::Min,
            Player::Min => Player::Max,
        }
    }
}

/// A move, in a code of the game's own choice; [`Game::move_name`] is its name for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Move(pub u16);

/// The moves of a position. More than 64 are possible, and go to the heap.
pub type MoveList = SmallVec<[Move; 64]>;

/// A finite two-player zero-sum game with perfect information.
///
/// A newcomer implements the required methods in about a hundred lines; what follows them has
/// sound defaults. `docs/adding-a-game.md` walks through an example.
///
/// Positions are played and undone in place, so that searches neither copy nor allocate. A method
/// that takes a position is only called with one that was reached from [`Game::start`] through
/// [`Game::play`] and [`Game::undo`].
pub trait Game: Clone + Debug + Send + Sync + 'static {
    /// A position, with all of its history that the rules look at.
    type Position: Clone + Debug + Send + Sync;

    /// The identity of a position; see [`Game::key`]. As a number it takes no more bytes than
    /// itself, and snapshots keep it so.
    type Key: Copy + Debug + Eq + Ord + Hash + Send + Sync + Into<u128> + TryFrom<u128>;

    /// The possible outcomes, worst for Max first. Constant over the life of the game.
    fn scale(&self) -> &OutcomeScale;

    /// The position that the spec describes, with Max to move and at least one legal move.
    fn start(&self) -> Self::Position;

    /// Who is to move.
    fn to_move(&self, position: &Self::Position) -> Player;

    /// The outcome, if the game is over in `position`.
    fn outcome(&self, position: &Self::Position) -> Option<Outcome>;

    /// Appends the legal moves to `moves`, in an order that depends on nothing but the position.
    /// There is at least one as long as [`Game::outcome`] is `None`.
    fn moves(&self, position: &Self::Position, moves: &mut MoveList);

    /// Plays a legal move.
    fn play(&self, position: &mut Self::Position, mv: Move);

    /// Takes back `mv`, the last move played.
    fn undo(&self, position: &mut Self::Position, mv: Move);

    /// The key under which searches merge positions and look them up. Two positions may share a
    /// key only if the same player is to move and their values are equal: so it holds whatever of
    /// the history can still matter, and it may be shared by mirror images.
    fn key(&self, position: &Self::Position) -> Self::Key;

    /// The name of a legal move, as people read and type it: letters, digits, `+`, `-`, `=`.
    /// No legal move's name begins with the name of another.
    fn move_name(&self, position: &Self::Position, mv: Move) -> String;

    /// The position as text, for people; one line or several.
    fn show(&self, position: &Self::Position) -> String;

    /// The number of legal moves, for mobility initialisation.
    fn mobility(&self, position: &Self::Position) -> u32 {
        let mut moves = MoveList::new();
        self.moves(position, &mut moves);
        moves.len() as u32
    }

    /// Why `text` is no legal move here, if the game can tell more than that it is not in the
    /// list of legal moves (Connect Four: the column is full).
    fn why_illegal(&self, _position: &Self::Position, _text: &str) -> Option<String> {
        None
    }
}
