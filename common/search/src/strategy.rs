//! A player's strategy: in each position where a claim holds, a move after which it still holds.
//!
//! What a search proves is spread over its tree, its table and what the game knows of positions. The
//! finder puts a move together from these, the cheapest first: a move without an alternative, a
//! position that the game itself decides, one that the table knows, and at last a search.

use std::cmp::Reverse;

use jlpns_games::{Bounds, Game, Goal, Move, MoveList, Outcome, Player, Survey, Threshold};

use crate::search::{Observer, SearchSettings, search};
use crate::search_end::Stopped;
use crate::{Algorithm, Question, TranspositionTable};

/// What one player can force from a position on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The threshold that it is about, above the worst outcome and not above the best.
    pub threshold: Threshold,
    /// Max reaches it (true), or Min prevents that (false).
    pub holds: bool,
}

impl Claim {
    /// The claim as a goal, which it fulfils.
    pub fn goal(self) -> Goal {
        let Threshold(outcome) = self.threshold;
        if self.holds {
            Goal::AtLeast(Outcome(outcome))
        } else {
            Goal::AtMost(Outcome(outcome - 1))
        }
    }

    /// Who forces it.
    pub fn claimant(self) -> Player {
        if self.holds { Player::Max } else { Player::Min }
    }

    /// Whether an outcome fulfils it.
    pub fn is_fulfilled_by(self, outcome: Outcome) -> bool {
        self.threshold.holds(outcome) == self.holds
    }

    /// The outcomes that must be told apart.
    fn relevant(self) -> Bounds {
        Bounds { lower: Outcome(self.threshold.0 - 1), upper: Outcome(self.threshold.0) }
    }
}

/// Why no move was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMove {
    /// After no move does the claim hold: it is not true of the position.
    #[error("after no move holds what was believed")]
    Refuted,
    /// The observer stopped the search.
    #[error("the search for it was stopped")]
    Stopped,
}

/// The nodes of the first search for a move; each further round may take so many times more.
const FIRST_BUDGET: u64 = 200;
const BUDGET_GROWTH: u64 = 8;
/// From this budget on, a game whose moves have no order is searched by effort numbers: alpha-beta may take it hours.
const BY_EFFORTS_FROM: u64 = 10_000;

/// Finds the moves of one claim's strategy.
pub struct StrategyFinder<'a, G: Game> {
    game: &'a G,
    table: &'a TranspositionTable,
    claim: Claim,
}

/// How little work the strategy has after a move: compared field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ease {
    /// The game decides the position: how many replies have to be met, and how unpromising it looks.
    ByTheGame(usize, Reverse<i32>),
    /// The table knows: the work that it took.
    Remembered(u32, Reverse<i32>),
}

impl<'a, G: Game> StrategyFinder<'a, G> {
    /// For the strategy of one claim. The table holds what searches have found out, and takes what
    /// is found out besides.
    pub fn new(game: &'a G, table: &'a TranspositionTable, claim: Claim) -> Self {
        StrategyFinder { game, table, claim }
    }

    /// A move after which the claim still holds, in a position where it holds, the game is not over,
    /// and the claimant is to move. The position is the same afterwards.
    ///
    /// In a position where the claim does not hold a move may come as well: the strategy then fails
    /// later on.
    pub fn keeping_move(
        &mut self,
        position: &mut G::Position,
        observer: &mut dyn Observer,
    ) -> Result<Move, NoMove> {
        self.cheapest_keeping_move(position, &mut |_, _| 0, observer)
    }

    /// The same; of the moves that are known to hold, one that costs the least, and of these one that is easy to
    /// go on from.
    pub fn cheapest_keeping_move(
        &mut self,
        position: &mut G::Position,
        cost: &mut dyn FnMut(&mut G::Position, Move) -> usize,
        observer: &mut dyn Observer,
    ) -> Result<Move, NoMove> {
        debug_assert_eq!(self.game.to_move(position), self.claim.claimant());
        let mut relevant = MoveList::new();
        self.game.relevant_moves(position, &mut relevant);
        if let [only] = relevant[..] {
            return Ok(only);
        }
        let (known, mut open) = self.survey(position, &relevant);
        let costs = known.into_iter().map(|(ease, mv)| ((cost(position, mv), ease), mv));
        if let Some((_, mv)) = costs.min_by_key(|&(cost, _)| cost) {
            return Ok(mv);
        }
        open.sort_by_key(|&(promise, _)| promise);
        self.search(position, open, observer)
    }

    /// The moves after which the claim is known to hold, and those of which nothing is known, with their promise.
    #[expect(clippy::type_complexity, reason = "two lists of moves")]
    fn survey(
        &self,
        position: &mut G::Position,
        moves: &[Move],
    ) -> (Vec<(Ease, Move)>, Vec<(Reverse<i32>, Move)>) {
        let (mut known, mut open) = (Vec::new(), Vec::new());
        for &mv in moves {
            self.game.play(position, mv);
            let survey = self.game.survey(position, self.claim.relevant());
            match self.ease(position, survey) {
                Some(Ok(ease)) => known.push((ease, mv)),
                Some(Err(())) => {}
                None => open.push((Reverse(survey.promise), mv)),
            }
            self.game.undo(position, mv);
        }
        (known, open)
    }

    /// How easy the claim is after a move, or that it does not hold there; `None` if that is not known.
    fn ease(&self, position: &G::Position, survey: Survey) -> Option<Result<Ease, ()>> {
        let known =
            |holds: bool, ease: Ease| if holds == self.claim.holds { Ok(ease) } else { Err(()) };
        if let Some(holds) = survey.bounds.verdict(self.claim.threshold) {
            let mut replies = MoveList::new();
            if holds == self.claim.holds && self.game.outcome(position).is_none() {
                self.game.relevant_moves(position, &mut replies);
            }
            return Some(known(holds, Ease::ByTheGame(replies.len(), Reverse(survey.promise))));
        }
        let remembered = self.table.get(self.game.key(position).into(), self.claim.threshold)?;
        let holds = remembered.pair.verdict()?;
        Some(known(holds, Ease::Remembered(remembered.work, Reverse(survey.promise))))
    }

    /// What searches with so many nodes are made with.
    fn algorithm(&self, budget: u64) -> Algorithm {
        let suits_alpha_beta = budget < BY_EFFORTS_FROM || self.game.orders_moves();
        if suits_alpha_beta { Algorithm::AlphaBeta } else { Algorithm::Pds }
    }

    /// Searches the positions after these moves in turns, with growing budgets, until the claim is
    /// known to hold in one of them.
    fn search(
        &mut self,
        position: &mut G::Position,
        mut open: Vec<(Reverse<i32>, Move)>,
        observer: &mut dyn Observer,
    ) -> Result<Move, NoMove> {
        let question = Question::Threshold(self.claim.threshold);
        let mut budget = FIRST_BUDGET;
        while !open.is_empty() {
            let mut still_open = Vec::with_capacity(open.len());
            for (promise, mv) in open {
                let settings = SearchSettings {
                    algorithm: self.algorithm(budget),
                    max_nodes: Some(budget),
                    ..SearchSettings::default()
                };
                self.game.play(position, mv);
                let end = search(self.game, position, question, &settings, self.table, observer);
                self.game.undo(position, mv);
                match end.findings.efforts[0].verdict() {
                    Some(holds) if holds == self.claim.holds => return Ok(mv),
                    Some(_) => {}
                    None if end.stopped == Some(Stopped::Observer) => return Err(NoMove::Stopped),
                    None => still_open.push((promise, mv)),
                }
            }
            open = still_open;
            budget = budget.saturating_mul(BUDGET_GROWTH);
        }
        Err(NoMove::Refuted)
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::spec::GameSpec;
    use jlpns_games::with_game;

    use super::*;

    #[test]
    fn long_searches_suit_the_game() {
        let algorithms = |spec: &str| {
            let spec: GameSpec = spec.parse().unwrap();
            let table = TranspositionTable::with_bytes(0).unwrap();
            let claim = Claim { threshold: Threshold(1), holds: true };
            with_game!(spec.game(), game => {
                let finder = StrategyFinder::new(game, &table, claim);
                [FIRST_BUDGET, 100_000].map(|budget| finder.algorithm(budget))
            })
        };
        assert_eq!(algorithms("woodpush:8"), [Algorithm::AlphaBeta, Algorithm::Pds]);
        assert_eq!(algorithms("connect4:7x6"), [Algorithm::AlphaBeta; 2]);
    }
}
