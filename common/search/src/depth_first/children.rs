//! The children of the nodes on the way of a depth-first search: how they are created, and what the
//! table knows of them.

use jlpns_games::{Game, Move, Threshold};

use crate::efforts::{Evaluation, One};
use crate::{EffortPair, Initialisation, Question, TranspositionTable};

/// What stays the same during a search for one threshold.
pub(crate) struct Setting<'a, G: Game> {
    pub game: &'a G,
    pub table: &'a TranspositionTable,
    pub threshold: Threshold,
    pub initialisation: Initialisation,
    /// Whether the end of the game is seen when a node is entered (delayed evaluation), or
    /// already when it is created (immediate; PDS-PN paper, sections 3.1 and 3.3).
    pub delayed: bool,
    /// Whether the game is asked for what it knows beyond its rules. Then static bounds settle new
    /// children at once, delayed or not; nodes below the root have only their relevant moves; and
    /// forced moves are played out on the way to a child.
    pub knowledge: bool,
}

impl<G: Game> Setting<'_, G> {
    /// `position` as a child that was reached by `mv`, as it is without the table.
    #[inline]
    pub(super) fn new_child(&self, position: &G::Position, mv: Move, delayed: bool) -> Child {
        let key = self.game.key(position).into();
        if !delayed && let Some(outcome) = self.game.outcome(position) {
            let pair = EffortPair::solved(self.threshold.holds(outcome));
            return Child { key, pair, work: 1, mv, forced: 0, known: true };
        }
        let pair = self.evaluation().frontier(self.game, position);
        Child { key, pair, work: 0, mv, forced: 0, known: false }
    }

    /// The same with all that the game knows: the child is the next position with a choice, or one
    /// that is settled. `position` is that position afterwards, and `line` the moves to it.
    #[inline]
    pub(super) fn surveyed_child(
        &self,
        position: &mut G::Position,
        mv: Move,
        line: &mut Vec<Move>,
    ) -> Child {
        let before = line.len();
        let mut next = mv;
        loop {
            self.game.play(position, next);
            line.push(next);
            let survey = self.game.survey(position, self.threshold.relevancy_bounds());
            let forced = (line.len() - before - 1) as u16;
            if let Some(holds) = survey.bounds.verdict(self.threshold) {
                let pair = EffortPair::solved(holds);
                return Child { key: 0, pair, work: 1, mv, forced, known: true };
            }
            let Some(only) = survey.forced else {
                let key = self.game.key(position).into();
                self.table.prefetch(key);
                let player = self.game.to_move(position);
                let pair = self.evaluation().frontier_against(player, survey.resistance);
                return Child { key, pair, work: 0, mv, forced, known: false };
            };
            next = only;
        }
    }

    /// How new nodes get their numbers.
    #[inline]
    fn evaluation(&self) -> Evaluation<One> {
        Evaluation::new(Question::Threshold(self.threshold), One, self.initialisation)
    }

    /// Takes over what the table knows of a child; whether it knows anything.
    #[inline]
    pub(super) fn look_up(&self, child: &mut Child) -> bool {
        let known = self.table.get(child.key, self.threshold);
        if let Some(known) = known {
            child.pair = known.pair;
            child.work = known.work;
            child.known = true;
        }
        known.is_some()
    }
}

/// A child of a node on the way, or the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    pub(super) key: u128,
    pub pair: EffortPair,
    /// The nodes spent on it so far, as far as is remembered.
    pub(super) work: u32,
    pub mv: Move,
    /// How many forced moves follow `mv` on the way to it.
    pub(super) forced: u16,
    /// Whether it was ever searched, as far as is remembered.
    pub known: bool,
}
