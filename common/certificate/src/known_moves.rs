//! The claimant's moves, from what searches know.

use std::ops::ControlFlow;

use jlpns_games::connect4::{Bitboard, Connect4};
use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Game, MoveList, Player};
use jlpns_search::search::Observer;
use jlpns_search::strategy::{Claim, NoMove, StrategyFinder};
use jlpns_search::{Findings, TranspositionTable};
use jlpns_verify::{Board, Failure, Strategy};

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
    pub game: &'a G,
    /// In the order of the certificate.
    pub claims: &'a [Claim],
    pub table: &'a TranspositionTable,
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
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
            let mv = finder.keeping_move(&mut position, &mut Stop(self.is_stopped));
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
struct Stop<'a>(&'a (dyn Fn() -> bool + Sync));

impl Observer for Stop<'_> {
    fn observe(&mut self, _: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if (self.0)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
