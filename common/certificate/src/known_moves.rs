//! The claimant's moves, from what searches know.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;
use jlpns_games::connect4::{Bitboard, Connect4};
use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Game, Move, MoveList, Player};
use jlpns_search::search::Observer;
use jlpns_search::strategy::{Claim, NoMove, StrategyFinder};
use jlpns_search::{Findings, TranspositionTable};
use jlpns_verify::{Board, Failure};

use crate::make::Strategy;

/// A game whose positions can be had from those of the checker.
pub trait Certified: Game {
    /// The position on a board of this game, with this player to move.
    fn position_on(&self, board: Board<'_>, to_move: Player) -> Option<Self::Position>;
}

impl<B: Bitboard> Certified for Connect4<B> {
    fn position_on(&self, board: Board<'_>, _: Player) -> Option<Self::Position> {
        let Board::Connect4 { claimant, all } = board else { return None };
        Some(self.position(B::try_from(claimant).ok()?, B::try_from(all).ok()?))
    }
}

impl Certified for Woodpush {
    fn position_on(&self, board: Board<'_>, to_move: Player) -> Option<Self::Position> {
        let Board::Woodpush([board, earlier @ ..]) = board else { return None };
        Some(self.position(*board, to_move, earlier))
    }
}

/// Knows the claimant's moves of a solved game.
pub struct KnownMoves<'a, G> {
    game: &'a G,
    /// In the order of the certificate.
    claims: &'a [Claim],
    table: &'a TranspositionTable,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// The keys of positions that moves have led to, if as few as possible are wanted.
    taken: Option<Mutex<HashSet<(bool, u128), FixedState>>>,
}

impl<'a, G: Certified> KnownMoves<'a, G> {
    pub fn new(
        game: &'a G,
        claims: &'a [Claim],
        table: &'a TranspositionTable,
        is_stopped: &'a (dyn Fn() -> bool + Sync),
        is_minimized: bool,
    ) -> KnownMoves<'a, G> {
        let taken = is_minimized.then(Mutex::default);
        KnownMoves { game, claims, table, is_stopped, taken }
    }

    /// The keys of the positions after a move and each reply, without those where the claimant ends the game at once.
    fn next(&self, position: &mut G::Position, mv: Move, claim: Claim) -> Vec<(bool, u128)> {
        let game = self.game;
        let (mut replies, mut answers) = (MoveList::new(), MoveList::new());
        let mut keys = Vec::new();
        game.play(position, mv);
        if game.outcome(position).is_none() {
            game.moves(position, &mut replies);
        }
        for &reply in &replies {
            game.play(position, reply);
            answers.clear();
            if game.outcome(position).is_none() {
                game.moves(position, &mut answers);
            }
            let ends = |&answer: &Move| {
                let mut after = position.clone();
                game.play(&mut after, answer);
                game.outcome(&after).is_some_and(|outcome| claim.is_fulfilled_by(outcome))
            };
            if !answers.is_empty() && !answers.iter().any(ends) {
                keys.push((claim.holds, game.key(position).into()));
            }
            game.undo(position, reply);
        }
        game.undo(position, mv);
        keys
    }

    fn keeping_move(
        &self,
        finder: &mut StrategyFinder<'a, G>,
        position: &mut G::Position,
        claim: Claim,
    ) -> Result<Move, NoMove> {
        let stop = &mut Stop(self.is_stopped);
        let Some(taken) = &self.taken else { return finder.keeping_move(position, stop) };
        let lock = || taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cost = |position: &mut G::Position, mv| {
            let next = self.next(position, mv, claim);
            let taken = lock();
            next.iter().filter(|&key| !taken.contains(key)).count()
        };
        let mv = finder.cheapest_keeping_move(position, &mut cost, stop)?;
        lock().extend(self.next(position, mv, claim));
        Ok(mv)
    }
}

impl<G: Certified> Strategy for KnownMoves<'_, G> {
    fn numbers(
        &self,
        claim: &jlpns_verify::Claim,
        boards: &[Board<'_>],
    ) -> Result<Vec<u8>, Failure> {
        let stopped = || Failure::Trouble("it was stopped".into());
        if (self.is_stopped)() {
            return Err(stopped());
        }
        let fails = |why: String| Failure::Fails(format!("claim {claim} {why}"));
        let known = self.claims.iter().find(|known| known.holds == claim.at_least);
        let known = *known.ok_or_else(|| fails("is none that is known here".into()))?;
        let mut finder = StrategyFinder::new(self.game, self.table, known);
        let mut legal = MoveList::new();
        let number = |&board: &Board<'_>| {
            let position = self.game.position_on(board, known.claimant());
            let mut position =
                position.ok_or_else(|| fails("is about another game than is known here".into()))?;
            let mv = self.keeping_move(&mut finder, &mut position, known);
            let mv = mv.map_err(|no_move| match no_move {
                NoMove::Stopped => stopped(),
                NoMove::Refuted => {
                    fails(format!("does not hold in this position:\n{}", self.game.show(&position)))
                }
            })?;
            legal.clear();
            self.game.moves(&position, &mut legal);
            let number = legal.iter().position(|&other| other == mv);
            let number = number.and_then(|number| u8::try_from(number).ok());
            number.ok_or_else(|| fails("has a position with more than 256 moves".into()))
        };
        boards.iter().map(number).collect()
    }
}

/// Stops a search as soon as somebody says so.
pub(crate) struct Stop<'a>(pub(crate) &'a (dyn Fn() -> bool + Sync));

impl Observer for Stop<'_> {
    fn observe(&mut self, _: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if (self.0)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
