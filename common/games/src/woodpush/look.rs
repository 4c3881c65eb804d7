//! What the tables and one move's look ahead tell of a position with its history.

use smallvec::SmallVec;

use super::board::Board;
use super::knowledge::{BoundsOfMoves, seen};
use super::{Line, Woodpush};
use crate::{Bounds, Game, Move, MoveList, Player, Survey};

/// The bounds of a position and the moves of one that is not settled.
pub(super) struct Look {
    pub bounds: Bounds,
    /// Moves of which one is as good as the best, with the bounds of the positions after them;
    /// empty if the game is over.
    judged: SmallVec<[(Move, Bounds); 16]>,
}

impl Woodpush {
    /// What the pieces alone tell: they only ever leave the board, and whoever wins has no more of
    /// them at the end than now.
    fn bounds_by_pieces(&self, board: Board) -> Bounds {
        let alone =
            |board: Board| board.outcome(&self.scale).expect("one side's pieces are a score");
        match board.outcome(&self.scale) {
            Some(outcome) => Bounds::exactly(outcome),
            None => Bounds {
                lower: alone(Board { left: 0, ..board }),
                upper: alone(Board { right: 0, ..board }),
            },
        }
    }

    pub(super) fn look(&self, position: &Line) -> Look {
        let mut judged = SmallVec::new();
        if let Some(outcome) = self.outcome(position) {
            return Look { bounds: Bounds::exactly(outcome), judged };
        }
        let player = position.to_move;
        let tables = self.tables();
        // What one of the moves is sure to get.
        let mut floor = i32::MIN;
        let of_board = match tables {
            Some(tables) => tables.bounds(position.board, player),
            None => self.bounds_by_pieces(position.board),
        };
        let mut of_moves = BoundsOfMoves::new(player);
        self.each_move(position, |mv, next| {
            let bounds = match tables {
                Some(known) => known.bounds_after(position.board, next, player.opponent()),
                None => self.bounds_by_pieces(next),
            };
            of_moves.add(bounds, true);
            floor = floor.max(seen(bounds, player).0);
            judged.push((mv, bounds));
            true
        });
        // No other move can be better than the first that is sure of the floor, but those that may
        // get more.
        let mut needs_floor = true;
        judged.retain(|&mut (_, bounds)| {
            let (lower, upper) = seen(bounds, player);
            let is_floor = needs_floor && lower == floor;
            needs_floor &= !is_floor;
            is_floor || upper > floor
        });
        let bounds = of_moves.bounds(self.stuck).intersection(of_board);
        Look { bounds: bounds.expect("both hold"), judged }
    }
}

impl Look {
    /// Appends the moves, those with the best bounds first.
    pub fn relevant(mut self, player: Player, moves: &mut MoveList) {
        self.judged.sort_by_key(|&(_, bounds)| {
            let (lower, upper) = seen(bounds, player);
            (-(lower + upper), -lower)
        });
        moves.extend(self.judged.iter().map(|judged| judged.0));
    }

    /// How many moves there are to meet.
    pub fn resistance(&self) -> u32 {
        self.judged.len() as u32
    }

    /// For the search's inner loop; `player` is to move.
    pub fn survey(&self, player: Player) -> Survey {
        let bounds = self.bounds;
        if bounds.value().is_some() {
            return Survey { bounds, resistance: 0, forced: None, promise: 0 };
        }
        let forced = if self.judged.len() == 1 { Some(self.judged[0].0) } else { None };
        let (lower, upper) = seen(bounds, player.opponent());
        // The bounds count first; among equals, the fewer replies the better.
        let promise = (lower + upper) * 64 - self.judged.len() as i32;
        Survey { bounds, resistance: self.resistance(), forced, promise }
    }
}
