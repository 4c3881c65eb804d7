//! The children of the nodes on the way of a depth-first search: how they are seen for the first
//! time, and what the table knows of them.

use jlpns_games::{Bounds, Game, Move, MoveList, Player, Survey, Threshold};

use crate::effort::EffortSum;
use crate::efforts::{Evaluation, One};
use crate::table::Known;
use crate::{Effort, EffortPair, Initialisation, Question, TranspositionTable};

/// What stays the same during a search for one threshold.
pub(crate) struct Setting<'a, G: Game> {
    pub game: &'a G,
    pub table: &'a TranspositionTable,
    /// What others say of positions: not to be believed.
    pub hints: Option<&'a TranspositionTable>,
    pub threshold: Threshold,
    pub initialisation: Initialisation,
    /// Whether the end of the game is seen when a node is entered (delayed evaluation), or
    /// already when it is created (immediate; PDS-PN paper, sections 3.1 and 3.3).
    pub delayed: bool,
    /// Whether the game is asked for what it knows beyond its rules. Then static bounds settle new
    /// children at once, delayed or not; nodes below the root have only their relevant moves; and
    /// forced moves are played out on the way to a child.
    pub knowledge: bool,
    /// Whether a child starts with more effort for each sibling that promises more.
    pub ranked: bool,
    /// Whether what the positions below brothers have in common is left out of the effort for all of them.
    pub overlapping: bool,
}

impl<G: Game> Setting<'_, G> {
    /// What the game says of a new position, and notes for the next one.
    #[inline]
    pub fn survey(&self, position: &G::Position, notes: &mut G::Notes) -> Survey {
        if self.knowledge {
            let relevant = self.threshold.relevancy_bounds();
            return self.game.survey_noting(position, relevant, notes);
        }
        let outcome = if self.delayed { None } else { self.game.outcome(position) };
        let bounds = outcome.map_or_else(|| self.game.scale().bounds(), Bounds::exactly);
        let resistance = match self.initialisation {
            Initialisation::Mobility if outcome.is_none() => self.game.mobility(position),
            _ => 0,
        };
        Survey { bounds, resistance, forced: None, promise: -(resistance as i32) }
    }

    /// Appends the moves of which one is best.
    #[inline]
    pub fn relevant_moves(&self, position: &G::Position, moves: &mut MoveList) {
        if self.knowledge {
            self.game.relevant_moves(position, moves);
        } else {
            self.game.moves(position, moves);
        }
    }

    #[inline]
    pub fn key(&self, position: &G::Position) -> u128 {
        self.game.key(position).into()
    }

    /// What the table knows of the position with this key.
    #[inline]
    pub fn look_up(&self, key: u128) -> Option<Known> {
        self.table.get(key, self.threshold)
    }

    /// The effort for all children together, whose numbers were added to `sum`.
    #[inline]
    pub fn for_all(&self, sum: EffortSum) -> Effort {
        if self.overlapping { sum.overlapping() } else { sum.total() }
    }

    /// The numbers that a new position starts with.
    #[inline]
    pub fn frontier(&self, player: Player, resistance: u32) -> EffortPair {
        let question = Question::Threshold(self.threshold);
        Evaluation::new(question, One, self.initialisation).frontier_against(player, resistance)
    }
}

/// What is seen of a child without searching it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Who is to move there.
    pub player: Player,
    /// The answer, if the game can tell it.
    pub verdict: Option<bool>,
    /// The effort number of the other player there.
    pub resistance: u32,
    /// How good the position right after the move looks to the player who made it.
    pub promise: i32,
}

/// What a search holds of a position: first as it is seen, later as it was searched.
pub(crate) trait Estimate: Copy {
    /// Of a position that is only seen.
    fn of<G: Game>(setting: &Setting<'_, G>, seen: Seen) -> Self;

    /// What is held of the position, as effort numbers.
    fn pair(&self) -> EffortPair;

    /// Takes over the numbers that a search found with so many nodes more; returns how much work
    /// the table is to be told.
    fn learn(&mut self, pair: EffortPair, spent: u64) -> u32;
}

/// A child of a node on the way, or the root: the position after a move and the forced moves that
/// follow it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child<E> {
    /// The key of the position, unless the answer there was seen at once.
    pub key: u128,
    pub estimate: E,
    /// The place of the position among the copied ones, if they are copied.
    pub(super) place: u32,
    pub mv: Move,
    /// How many forced moves follow `mv` on the way to the position.
    pub(super) forced: u16,
}
