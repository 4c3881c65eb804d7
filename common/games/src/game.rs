//! The [`Game`] trait: all that the searches know of a game.

use std::fmt::Debug;
use std::hash::Hash;

use smallvec::SmallVec;

use crate::{Bounds, Outcome, OutcomeScale};

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

/// What a game knows of a position without searching it; see [`Game::survey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The value lies between these.
    pub bounds: Bounds,
    /// [`Game::resistance`], unless the bounds settle what is relevant.
    pub resistance: u32,
    /// The relevant move, if there is only one and the bounds do not settle what is relevant.
    pub forced: Option<Move>,
    /// How good the position looks to the player who made the last move: of several moves, the one
    /// that leads to the most promising position is tried first. Only comparisons count.
    pub promise: i32,
}

/// A finite two-player zero-sum game with perfect information.
///
/// A newcomer implements the required methods in about a hundred lines; what follows them has
/// sound defaults. `docs/adding-a-game.md` walks through an example.
///
/// What the game knows beyond its rules comes last: [`Game::static_bounds`],
/// [`Game::relevant_moves`], [`Game::resistance`], [`Game::survey`] and [`Game::promises`]. Searches that are told to use
/// knowledge ask for these, all others never call them.
///
/// Positions are played and undone in place, so that searches neither copy nor allocate. A method
/// that takes a position is only called with one that was reached from [`Game::start`] through
/// [`Game::play`] and [`Game::undo`].
///
/// ```
/// use jlpns_games::connect4::Connect4;
/// use jlpns_games::{Game, MoveList, Player};
///
/// let game = Connect4::<u64>::new(7, 6)?;
/// let mut position = game.start();
/// let mut moves = MoveList::new();
/// game.moves(&position, &mut moves);
/// assert_eq!(game.move_name(&position, moves[3]), "4");
///
/// game.play(&mut position, moves[3]);
/// assert_eq!((game.to_move(&position), game.outcome(&position)), (Player::Min, None));
/// game.undo(&mut position, moves[3]);
/// assert_eq!(game.key(&position), game.key(&game.start()));
/// # Ok::<(), jlpns_games::connect4::SizeError>(())
/// ```
pub trait Game: Clone + Debug + Send + Sync + 'static {
    /// A position, with all of its history that the rules look at.
    type Position: Clone + Debug + Send + Sync;

    /// The identity of a position; see [`Game::key`]. As a number it takes no more bytes than
    /// itself, and snapshots keep it so.
    type Key: Copy + Debug + Eq + Ord + Hash + Send + Sync + Into<u128> + TryFrom<u128>;

    /// What surveys note for those after them ([`Game::survey_noting`]); `()` where that is nothing.
    type Notes: Debug + Default + Send;

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
    /// key only if the same player is to move and the same games can follow, but for the names of moves:
    /// so it holds whatever of the history can still matter, and it may be shared by mirror images. No
    /// line of play comes back to a key: the graphs that merge positions by it have no cycles.
    fn key(&self, position: &Self::Position) -> Self::Key;

    /// The name of a legal move, as people read and type it: letters, digits, `+`, `-`, `=`. The
    /// legal moves of a position have different names. One may begin with another (`s1` and `s10`):
    /// where names follow each other without a comma, the longest that fits is read.
    fn move_name(&self, position: &Self::Position, mv: Move) -> String;

    /// The position as text, for people; one line or several.
    fn show(&self, position: &Self::Position) -> String;

    /// Whose piece [`Game::show`] has in this line at this character, both counted from 0, for programs
    /// that show positions in colour. None where there is no piece; by default, nowhere.
    fn piece_at(
        &self,
        _position: &Self::Position,
        _line: usize,
        _character: usize,
    ) -> Option<Player> {
        None
    }

    /// The mirror image of a legal move, if the game has one: who mirrors all moves from the start of the
    /// game on comes to the mirror image of the position, of which all is the same but how it looks.
    fn mirrored_move(&self, _position: &Self::Position, _mv: Move) -> Option<Move> {
        None
    }

    /// The same game, which may take up to so many bytes for tables that it makes of its rules. A game
    /// that would need more for them goes without, and knows less.
    #[must_use]
    fn with_memory(self, _bytes: u64) -> Self {
        self
    }

    /// How many bytes such tables hold once they are made.
    fn memory(&self) -> u64 {
        0
    }

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

    /// Bounds on the value that the game can tell without search, as tight as it can cheaply make
    /// them: the outcome where the game is over, else all of the scale.
    #[inline]
    fn static_bounds(&self, position: &Self::Position) -> Bounds {
        self.outcome(position).map_or_else(|| self.scale().bounds(), Bounds::exactly)
    }

    /// Appends moves of which the best is as good as the best of all legal moves, most promising
    /// first: by default, all legal moves. A single one is forced, and searches play it without
    /// branching. There is at least one as long as [`Game::outcome`] is `None`.
    #[inline]
    fn relevant_moves(&self, position: &Self::Position, moves: &mut MoveList) {
        self.moves(position, moves);
    }

    /// The effort number that a new frontier node starts with for the player who is not to move:
    /// how many replies have to be met (mobility initialisation, GPNS paper, section 4.6).
    #[inline]
    fn resistance(&self, position: &Self::Position) -> u32 {
        self.mobility(position)
    }

    /// [`Game::static_bounds`] and what can be said of [`Game::relevant_moves`] without listing
    /// them, in one call: the searches' inner loop. Games that compute the same things for both
    /// save work here.
    ///
    /// Outcomes up to `relevant.lower` need not be told apart, nor those from `relevant.upper` on
    /// (relevancy bounds, GPNS paper, section 4.5): the bounds are true, and as tight as the static
    /// bounds in between.
    #[inline]
    fn survey(&self, position: &Self::Position, _relevant: Bounds) -> Survey {
        let bounds = self.static_bounds(position);
        if bounds.value().is_some() {
            return Survey { bounds, resistance: 0, forced: None, promise: 0 };
        }
        let mut moves = MoveList::new();
        self.relevant_moves(position, &mut moves);
        let forced = if moves.len() == 1 { Some(moves[0]) } else { None };
        // The fewer replies there are, the better.
        let promise = -(moves.len() as i32);
        Survey { bounds, resistance: self.resistance(position), forced, promise }
    }

    /// [`Game::survey`] for a search that surveys many positions, of which each has most in common with those just before it.
    /// `notes` are what earlier surveys of this game have left, or the default: they decide how long it takes, and
    /// nothing of what is found.
    #[inline]
    fn survey_noting(
        &self,
        position: &Self::Position,
        relevant: Bounds,
        _notes: &mut Self::Notes,
    ) -> Survey {
        self.survey(position, relevant)
    }

    /// Looks closer at how good legal moves look to the player who makes them; the most promising one is tried
    /// first. Beside each move is the promise that the [`Survey`] of the position after it has, and stays
    /// there by default. It is asked only where one of several moves has to be chosen, so it may take
    /// longer than a survey.
    #[inline]
    fn promises(&self, _position: &Self::Position, _moves: &mut [(Move, i32)]) {}

    /// Who is more likely to win than the other, as far as the start of the game tells: then searches with knowledge ask
    /// first whether that player does, where they ask for one threshold after the other. It decides no result.
    fn favoured(&self) -> Option<Player> {
        None
    }

    /// The value that the start most likely has, where that is not the best outcome of who is favoured. Several workers
    /// that search depth first, with knowledge, go into several children of a node at once where the player to move is
    /// expected to lose. It decides no result.
    fn expected_value(&self) -> Option<Outcome> {
        None
    }

    /// Whether promises tell good moves from bad ones well enough to search depth first. It decides what is done where
    /// nobody says which search to use, and no result.
    fn orders_moves(&self) -> bool {
        false
    }
}
