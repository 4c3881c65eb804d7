//! Threats: empty cells that complete a line of four, and what they force (Allis 1988, chapter 3,
//! where the immediate ones are the first thing that VICTOR looks at).
//!
//! From the view of the player to move:
//! - a playable cell that completes a line of one's own wins;
//! - one that completes a line of the opponent's must be taken, and two of them cannot be;
//! - a cell right below one that completes a line of the opponent's must not be taken, because
//!   that makes the upper one playable.

use crate::connect4::{Bitboard, Connect4, Stones};
use crate::game::{Move, MoveList};
use crate::outcome::{Bounds, Outcome};

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
    /// The cells of the board, filled or empty, that have three of `stones` in a line with them.
    #[inline]
    pub(super) fn completing(&self, stones: B) -> B {
        let upright =
            if self.height >= 4 { completing_along(stones, 1) & self.full } else { B::zero() };
        upright | self.completing_empty(stones)
    }

    /// The empty ones of these cells, where `stones` lie on the board: none of them lies above an
    /// empty cell. Of the filled ones some are missing.
    #[inline]
    pub(super) fn completing_empty(&self, stones: B) -> B {
        let mut cells = B::zero();
        if self.height >= 4 {
            cells = (stones << 1) & (stones << 2) & (stones << 3);
        }
        if self.width >= 4 {
            let up = self.height as usize + 1;
            cells = cells | completing_along(stones, up);
            if self.height >= 4 {
                cells = cells | completing_along(stones, up - 1);
                cells = cells | completing_along(stones, up + 1);
            }
        }
        cells & self.full
    }

    /// What the player to move has to reckon with.
    #[inline]
    pub(super) fn tactics(&self, position: Stones<B>) -> Tactics<B> {
        let Stones { mover, all } = position;
        let opponent = mover ^ all;
        if self.has_four(opponent) {
            return Tactics::Lost;
        }
        let playable = self.playable(all);
        if playable.is_zero() {
            return Tactics::Full;
        }
        let wins = self.completing_empty(mover) & playable;
        if !wins.is_zero() {
            return Tactics::Wins(lowest(wins));
        }
        let opponent_threats = self.completing_empty(opponent) & !all;
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

    /// The cells of moves of which one is as good as any; none only if the game is over.
    #[inline]
    pub(super) fn relevant_cells(&self, position: Stones<B>) -> B {
        match self.tactics(position) {
            Tactics::Open { moves, .. } => moves,
            Tactics::Wins(cell) => cell,
            // All moves lose alike.
            Tactics::Lost => lowest(self.playable(position.all)),
            Tactics::Full => B::zero(),
        }
    }

    /// Between which outcomes the value lies for the player to move, as if that were Max; the
    /// cells of the relevant moves; and how many threats the other player has.
    #[inline]
    pub(super) fn judge(&self, position: Stones<B>) -> (Bounds, B, i32) {
        let exactly = |outcome| Bounds::exactly(Outcome(outcome));
        match self.tactics(position) {
            Tactics::Lost => (exactly(0), B::zero(), 0),
            Tactics::Full => (exactly(1), B::zero(), 0),
            Tactics::Wins(_) => (exactly(2), B::zero(), 0),
            Tactics::Open { moves, opponent_threats } => {
                let upper = self.most_for_leader(position, opponent_threats);
                let bounds = Bounds { lower: Outcome(0), upper };
                (bounds, moves, opponent_threats.count_ones() as i32)
            }
        }
    }

    /// Bounds for the player to move as bounds for Max.
    #[inline]
    pub(super) fn bounds_for_max(&self, all: B, bounds: Bounds) -> Bounds {
        if self.max_to_move(all) {
            bounds
        } else {
            let turned = |outcome: Outcome| Outcome(2 - outcome.0);
            Bounds { lower: turned(bounds.upper), upper: turned(bounds.lower) }
        }
    }

    /// Appends the columns of `cells`, those nearest to the centre first: most lines cross there.
    #[inline]
    pub(super) fn list_from_centre(&self, cells: B, moves: &mut MoveList) {
        if cells.is_zero() {
            return;
        }
        let has_cell = |&&(_, column): &&(Move, B)| !(cells & column).is_zero();
        moves.extend(self.from_centre.iter().filter(has_cell).map(|&(mv, _)| mv));
    }
}

/// The cells with three of `stones` in a line with them, for lines in which neighbours are `step`
/// bits apart.
#[inline]
fn completing_along<B: Bitboard>(stones: B, step: usize) -> B {
    let before = (stones << step) & (stones << (2 * step));
    let after = (stones >> step) & (stones >> (2 * step));
    (before & ((stones << (3 * step)) | (stones >> step)))
        | (after & ((stones >> (3 * step)) | (stones << step)))
}

/// The lowest cell alone, of at least one.
#[inline]
pub(super) fn lowest<B: Bitboard>(cells: B) -> B {
    cells & !(cells - B::one())
}
