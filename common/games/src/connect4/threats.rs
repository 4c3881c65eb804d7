//! Threats: empty cells that complete a line of four, and what they force (Allis 1988, chapter 3,
//! where the immediate ones are the first thing that VICTOR looks at).
//!
//! From the view of the player to move:
//! - a playable cell that completes a line of one's own wins;
//! - one that completes a line of the opponent's must be taken, and two of them cannot be;
//! - a cell right below one that completes a line of the opponent's must not be taken, because
//!   that makes the upper one playable.

use crate::connect4::follow_up::Most;
use crate::connect4::unbroken::LastUnbroken;
use crate::connect4::{Bitboard, Connect4, MOVER_DRAWS, MOVER_LOSES, MOVER_WINS, Stones};
use crate::{Bounds, Move, Outcome, Survey};

/// What the player to move has to reckon with.
pub(super) enum Tactics<B> {
    /// The last player made a line, or whatever is played now lets the opponent make one.
    Lost,
    /// The board is full.
    Full,
    /// This cell makes a line.
    Wins(B),
    /// Of the playable cells, these do not lose at once; at least one. The opponent's threats are
    /// all the empty cells that would make a line for the opponent.
    Open { moves: B, opponent_threats: B },
}

impl<B: Bitboard> Connect4<B> {
    /// The empty cells that have three of `stones`, which lie on the board, in a line with them. Of
    /// the filled ones some are among them. `up` is the number of bits of a column.
    #[inline(always)]
    pub(super) fn completing(&self, stones: B, up: usize) -> B {
        let mut cells = B::zero();
        if up > 4 {
            // No stone lies above an empty cell.
            cells = (stones << 1) & (stones << 2) & (stones << 3);
        }
        if self.width >= 4 {
            cells = cells | completing_along(stones, up);
            if up > 4 {
                cells = cells | completing_along(stones, up - 1);
                cells = cells | completing_along(stones, up + 1);
            }
        }
        cells & self.full
    }

    /// What the player to move has to reckon with, where there is no line on the board.
    #[inline(always)]
    pub(super) fn tactics(&self, position: Stones<B>) -> Tactics<B> {
        let Stones { all, completed_by_mover, completed_by_opponent, .. } = position;
        let playable = self.playable(all);
        if playable.is_zero() {
            return Tactics::Full;
        }
        let wins = completed_by_mover & playable;
        if !wins.is_zero() {
            return Tactics::Wins(lowest(wins));
        }
        let opponent_threats = completed_by_opponent & !all;
        let safe = playable & !(opponent_threats >> 1);
        let immediate = playable & opponent_threats;
        let moves = if immediate.is_zero() {
            safe
        } else if lowest(immediate) == immediate {
            immediate & safe
        } else {
            B::zero()
        };
        if moves.is_zero() { Tactics::Lost } else { Tactics::Open { moves, opponent_threats } }
    }

    /// The cells of moves of which one is as good as any; none only if the board is full.
    #[inline(always)]
    pub(super) fn relevant_cells(&self, position: Stones<B>) -> B {
        match self.tactics(position) {
            Tactics::Open { moves, .. } => moves,
            Tactics::Wins(cell) => cell,
            // All moves lose alike.
            Tactics::Lost => lowest(self.playable(position.all)),
            Tactics::Full => B::zero(),
        }
    }

    /// All that is known of a position; outcomes beyond the relevancy bounds are not told apart.
    #[inline(always)]
    pub(super) fn judge(
        &self,
        position: Stones<B>,
        relevant: Bounds,
        notes: &LastUnbroken<B>,
        up: usize,
    ) -> Survey {
        let all = position.all;
        let lost = position.is_won();
        let value = match self.tactics(position) {
            Tactics::Open { moves, .. } if !lost && self.has_double_threat(position, moves, up) => {
                MOVER_WINS
            }
            Tactics::Open { moves, opponent_threats } if !lost => {
                let relevant = self.turned_for_min(all, relevant);
                let counts = |_| true;
                let most =
                    self.most_for_leader(position, opponent_threats, relevant, counts, notes, up);
                let upper = match most {
                    Most::Win => MOVER_WINS,
                    Most::Draw => MOVER_DRAWS,
                    Most::Loss { .. } => MOVER_LOSES,
                };
                let bounds = Bounds { lower: MOVER_LOSES, upper };
                let forced = (lowest(moves) == moves).then(|| self.move_at(moves));
                return Survey {
                    bounds: self.turned_for_min(all, bounds),
                    resistance: moves.count_ones(),
                    forced: forced.filter(|_| upper > relevant.lower),
                    promise: opponent_threats.count_ones() as i32,
                };
            }
            Tactics::Open { .. } | Tactics::Lost => MOVER_LOSES,
            Tactics::Full | Tactics::Wins(_) if lost => MOVER_LOSES,
            Tactics::Full => MOVER_DRAWS,
            Tactics::Wins(_) => MOVER_WINS,
        };
        let bounds = self.turned_for_min(all, Bounds::exactly(value));
        Survey { bounds, resistance: 0, forced: None, promise: 0 }
    }

    /// Bounds for the player to move as bounds for Max, and the other way round.
    #[inline(always)]
    fn turned_for_min(&self, all: B, bounds: Bounds) -> Bounds {
        if self.max_to_move(all) {
            bounds
        } else {
            // A threshold beyond the scale has a relevancy bound beyond it.
            let turned = |outcome: Outcome| Outcome(MOVER_WINS.0.saturating_sub(outcome.0));
            Bounds { lower: turned(bounds.upper), upper: turned(bounds.lower) }
        }
    }

    /// The move to a cell.
    #[inline]
    pub(super) fn move_at(&self, cell: B) -> Move {
        Move((cell.trailing_zeros() / (self.height + 1)) as u16)
    }
}

/// The cells with three of `stones` in a line with them, for lines in which neighbours are `step`
/// bits apart.
#[inline(always)]
fn completing_along<B: Bitboard>(stones: B, step: usize) -> B {
    let before = (stones << step) & (stones << (2 * step));
    let after = (stones >> step) & (stones >> (2 * step));
    (before & ((stones << (3 * step)) | (stones >> step)))
        | (after & ((stones >> (3 * step)) | (stones << step)))
}

/// The lowest cell alone, of at least one.
#[inline(always)]
pub(super) fn lowest<B: Bitboard>(cells: B) -> B {
    cells & !(cells - B::one())
}
