//! Outcomes that tell apart on which move the game ends: a win is better the sooner it comes, a loss the later.
//!
//! Max moves on odd moves and Min on even ones, counted from 1, and the last move of a game that is not drawn is
//! the winner's. So the move on which the game is won says who has won.

use crate::connect4::follow_up::Most;
use crate::connect4::unbroken::LastUnbroken;
use crate::connect4::{
    Bitboard, Connect4, MOVER_DRAWS, MOVER_LOSES, MOVER_WINS, Stones, Tactics, lowest,
};
use crate::outcome::Ending;
use crate::{Bounds, Outcome, OutcomeScale, Player, Survey};

/// The fewest moves of a game that is won.
const SOONEST_WIN: u32 = 7;

/// On which move the game ends, as outcomes: Min's wins from the soonest to the latest, the draw, Max's wins from the
/// latest to the soonest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastMoves {
    /// The number of cells.
    cells: u32,
    /// The soonest win of Min.
    soonest_of_min: u32,
    /// The latest win of Max.
    latest_of_max: u32,
    draw: Outcome,
    best: Outcome,
}

impl LastMoves {
    /// On a board with so many cells.
    pub fn new(cells: u32) -> LastMoves {
        // A scale has two outcomes at least, also where no line fits on the board.
        let soonest = SOONEST_WIN.min(cells);
        let soonest_of_min = soonest.next_multiple_of(2);
        let latest_of_max = if cells % 2 == 1 { cells } else { cells - 1 };
        let of_min = (cells + 2).saturating_sub(soonest_of_min) / 2;
        let of_max = (latest_of_max + 2).saturating_sub(soonest | 1) / 2;
        let (draw, best) = (Outcome(of_min as u8), Outcome((of_min + of_max) as u8));
        LastMoves { cells, soonest_of_min, latest_of_max, draw, best }
    }

    /// The outcome of a drawn game.
    pub fn draw(self) -> Outcome {
        self.draw
    }

    /// The outcomes with their names.
    pub fn scale(self) -> OutcomeScale {
        let ending = |index: u8| {
            let beyond = |from: Outcome| 2 * u32::from(index.abs_diff(from.0));
            if index < self.draw.0 {
                Ending::WonOn(Player::Min, self.soonest_of_min + 2 * u32::from(index))
            } else if index == self.draw.0 {
                Ending::Drawn(Some(self.cells))
            } else {
                Ending::WonOn(Player::Max, self.latest_of_max + 2 - beyond(self.draw))
            }
        };
        OutcomeScale::endings((0..=self.best.0).map(ending))
            .expect("there are no more cells than bits of a board, and at least one")
    }

    /// The outcome of a game that is won on this move, and of one that could only be won on it: a draw if the
    /// board is full before.
    #[inline(always)]
    fn won_on(self, last_move: u32) -> Outcome {
        if last_move > self.cells {
            self.draw
        } else if last_move.is_multiple_of(2) {
            Outcome((last_move.saturating_sub(self.soonest_of_min) / 2) as u8)
        } else {
            let outcome = u32::from(self.draw.0) + 1 + (self.latest_of_max - last_move) / 2;
            Outcome(outcome.min(u32::from(self.best.0)) as u8)
        }
    }

    /// What an outcome is for a player, on a scale of that player's own, without the move.
    #[inline(always)]
    fn result_for(self, outcome: Outcome, is_max: bool) -> Outcome {
        if outcome == self.draw {
            MOVER_DRAWS
        } else if (outcome > self.draw) == is_max {
            MOVER_WINS
        } else {
            MOVER_LOSES
        }
    }
}

impl<B: Bitboard> Connect4<B> {
    /// The same game, in which it counts on which move it is won.
    #[must_use]
    pub fn with_last_moves(self) -> Connect4<B> {
        let last_moves = LastMoves::new(self.full.count_ones());
        Connect4 { scale: last_moves.scale(), last_moves: Some(last_moves), ..self }
    }

    /// The outcome of a game in which this was the last of so many stones.
    pub(super) fn ended(&self, last_moves: LastMoves, all: B, is_won: bool) -> Outcome {
        if is_won { last_moves.won_on(all.count_ones()) } else { last_moves.draw }
    }

    /// All that is known of a position; outcomes beyond the relevancy bounds are not told apart.
    #[inline(always)]
    pub(super) fn judge_last_moves(
        &self,
        last_moves: LastMoves,
        position: Stones<B>,
        relevant: Bounds,
        notes: &LastUnbroken<B>,
        up: usize,
    ) -> Survey {
        let all = position.all;
        let played = all.count_ones();
        let exactly = |outcome| {
            let bounds = Bounds::exactly(outcome);
            Survey { bounds, resistance: 0, forced: None, promise: 0 }
        };
        if position.is_won() {
            return exactly(last_moves.won_on(played));
        }
        let (moves, opponent_threats) = match self.tactics(position) {
            Tactics::Open { moves, opponent_threats } => (moves, opponent_threats),
            Tactics::Full => return exactly(last_moves.draw),
            Tactics::Wins(_) => return exactly(last_moves.won_on(played + 1)),
            Tactics::Lost => return exactly(last_moves.won_on(played + 2)),
        };
        // Neither the mover nor the opponent can win with the next stone.
        let (soonest_win, soonest_loss) =
            (last_moves.won_on(played + 3), last_moves.won_on(played + 4));
        if self.has_double_threat(position, moves, up) {
            return exactly(soonest_win);
        }
        let is_max = self.max_to_move(all);
        let result_for_mover = |outcome| last_moves.result_for(outcome, is_max);
        let (worse, better) = (result_for_mover(relevant.lower), result_for_mover(relevant.upper));
        let asked = Bounds { lower: worse.min(better), upper: worse.max(better) };
        let latest_loss = |left: u32| {
            // The last move is the opponent's.
            let last_move = last_moves.cells - left.max((last_moves.cells - played) % 2);
            debug_assert!(last_move % 2 == played % 2, "{left} cells left after {played} moves");
            last_moves.won_on(last_move)
        };
        // Where it is asked when the mover loses, and nothing else, the loss must come soon enough.
        let counts = |left: u32| {
            asked.upper > MOVER_LOSES
                || if is_max {
                    latest_loss(left) <= relevant.lower
                } else {
                    latest_loss(left) >= relevant.upper
                }
        };
        // Whoever does not win does not win in time.
        let asked = Bounds { lower: asked.lower.min(MOVER_DRAWS), upper: asked.upper };
        let most_where = |least_left: u32| {
            let counts = |left| left >= least_left && counts(left);
            self.most_for_leader(position, opponent_threats, asked, counts, notes, up)
        };
        let mut most = most_where(0);
        if relevant.upper.0 > relevant.lower.0 + 1 {
            // Another threat may end the game sooner.
            while let Most::Loss { left } = most
                && let sooner @ Most::Loss { .. } = most_where(left + 1)
            {
                most = sooner;
            }
        }
        let most = match most {
            Most::Loss { left } => latest_loss(left),
            Most::Draw => last_moves.draw,
            Most::Win => soonest_win,
        };
        let bounds = if is_max {
            Bounds { lower: soonest_loss, upper: most }
        } else {
            Bounds { lower: most, upper: soonest_loss }
        };
        let is_settled = bounds.lower == bounds.upper
            || bounds.upper <= relevant.lower
            || bounds.lower >= relevant.upper;
        let forced = (lowest(moves) == moves && !is_settled).then(|| self.move_at(moves));
        Survey {
            bounds,
            resistance: moves.count_ones(),
            forced,
            promise: opponent_threats.count_ones() as i32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_win_of_a_board_is_an_outcome() {
        for cells in 1..=127 {
            let last_moves = LastMoves::new(cells);
            let scale = last_moves.scale();
            assert_eq!(scale.best(), last_moves.best);
            assert_eq!(scale.ending(last_moves.draw), Some(Ending::Drawn(Some(cells))));
            let mut wins: Vec<u32> = Vec::new();
            for outcome in (0..=scale.best().0).map(Outcome) {
                match scale.ending(outcome).expect("it counts") {
                    Ending::WonOn(player, on) => {
                        assert_eq!(player == Player::Max, on % 2 == 1, "{on} of {cells}");
                        assert_eq!(last_moves.won_on(on), outcome, "{on} of {cells}");
                        wins.push(on);
                    }
                    other => assert_eq!(other, Ending::Drawn(Some(cells))),
                }
            }
            wins.sort_unstable();
            assert_eq!(wins, (SOONEST_WIN.min(cells)..=cells).collect::<Vec<_>>());
            assert_eq!(last_moves.won_on(cells + 1), last_moves.draw);
            assert_eq!(last_moves.won_on(cells + 2), last_moves.draw);
        }
    }
}
