//! What is known of each board whatever the game before it was: tables over all boards that the
//! start can lead to, filled in one walk when they are first asked for. `docs/woodpush.md` says
//! why all of it is sound.

use std::fmt;

use super::board::Board;
use super::numbering::Numbering;
use crate::{Bounds, Outcome, OutcomeScale, Player};

/// The bytes of a board in the tables.
pub(super) const TABLE_BYTES: u64 =
    (2 * size_of::<u32>() + 2 * (size_of::<Bounds>() + size_of::<u32>())) as u64;
/// No component.
pub(super) const NONE: u32 = u32::MAX;

/// The tables. A state is a board and who is to move: the number of the board twice, and 1 more if
/// Right is to move.
#[derive(Clone)]
pub(super) struct BoardTables {
    pub(super) line: u32,
    pub(super) scale: OutcomeScale,
    /// What a player who has no move gets: Left, Right.
    pub(super) stuck: [Outcome; 2],
    pub(super) numbering: Numbering,
    /// For each board, which set of boards that lead to each other it is in.
    pub(super) component: Vec<u32>,
    /// For each board, which of that set it is.
    pub(super) place: Vec<u32>,
    /// For each state, bounds that hold after any game that led to it.
    pub(super) bounds: Vec<Bounds>,
    /// For each state, which of its moves (in the order of `each_candidate`) may lead to a board
    /// that there can have been before.
    pub(super) may_repeat: Vec<u32>,
}

/// Folds the bounds of a player's moves into bounds of the state, from the player's own view.
pub(super) struct BoundsOfMoves {
    player: Player,
    /// Among the moves that are legal for certain.
    sure: Option<i32>,
    worst: i32,
    best: i32,
}

impl BoundsOfMoves {
    pub fn new(player: Player) -> BoundsOfMoves {
        BoundsOfMoves { player, sure: None, worst: i32::MAX, best: i32::MIN }
    }

    /// Takes in a move to a state with these bounds.
    #[inline]
    pub fn add(&mut self, bounds: Bounds, is_sure: bool) {
        let (lower, upper) = seen(bounds, self.player);
        if is_sure {
            self.sure = Some(self.sure.map_or(lower, |sure| sure.max(lower)));
        }
        self.worst = self.worst.min(lower);
        self.best = self.best.max(upper);
    }

    /// The bounds, where a player without a move gets `stuck`. One who may be without a move, or
    /// may have but the worst of them, can count on no more than that.
    #[inline]
    pub fn bounds(&self, stuck: [Outcome; 2]) -> Bounds {
        let stuck = seen(Bounds::exactly(stuck[self.player as usize]), self.player).0;
        let (lower, upper) = match self.sure {
            Some(sure) => (sure, self.best),
            None => (self.worst.min(stuck), self.best.max(stuck)),
        };
        let outcome = |value: i32| Outcome(value.unsigned_abs() as u8);
        match self.player {
            Player::Max => Bounds { lower: outcome(lower), upper: outcome(upper) },
            Player::Min => Bounds { lower: outcome(upper), upper: outcome(lower) },
        }
    }
}

/// Lower and upper bound as numbers of which `player` wants the larger.
#[inline]
pub(super) fn seen(bounds: Bounds, player: Player) -> (i32, i32) {
    let (lower, upper) = (i32::from(bounds.lower.0), i32::from(bounds.upper.0));
    match player {
        Player::Max => (lower, upper),
        Player::Min => (-upper, -lower),
    }
}

impl BoardTables {
    #[inline]
    pub fn state(&self, board: Board, player: Player) -> usize {
        self.numbering.number(board) as usize * 2 + player as usize
    }

    /// Bounds that hold whatever came before `board`.
    #[inline]
    pub fn bounds(&self, board: Board, player: Player) -> Bounds {
        self.bounds[self.state(board, player)]
    }

    /// Bounds that hold if the last move led from `before` to `board`: it cannot be taken back.
    #[inline]
    pub fn bounds_after(&self, before: Board, board: Board, player: Player) -> Bounds {
        let state = self.state(board, player);
        if self.bounds[state].value().is_some() {
            return self.bounds[state];
        }
        self.narrowed(state, before, board, player)
    }

    /// The bounds after a move from `before` to `board`, also while the tables are being filled.
    #[inline]
    fn narrowed(&self, state: usize, before: Board, board: Board, player: Player) -> Bounds {
        let bounds = self.bounds[state];
        // Only pushes are ever taken back, by pushes.
        if board.pushers(player) == 0 || board.pieces() != before.pieces() {
            return bounds;
        }
        match self.bounds_of_moves(state, board, player, Some(before)) {
            None => bounds,
            Some(narrower) => Bounds {
                lower: bounds.lower.max(narrower.lower),
                upper: bounds.upper.min(narrower.upper),
            },
        }
    }

    /// The bounds of a state from those of the states after its moves. With `before`, the board
    /// that may not be recreated at once; nothing if no move does that.
    #[inline]
    pub(super) fn bounds_of_moves(
        &self,
        state: usize,
        board: Board,
        player: Player,
        before: Option<Board>,
    ) -> Option<Bounds> {
        let mut of_moves = BoundsOfMoves::new(player);
        let mut taken_back = before.is_none();
        let mut may_repeat = self.may_repeat[state];
        board.each_candidate(self.line, player, |_, next| {
            let is_sure = may_repeat & 1 == 0;
            may_repeat >>= 1;
            if before == Some(next) {
                taken_back = true;
            } else if next != board {
                let bounds = match before {
                    None => {
                        let state = self.state(next, player.opponent());
                        self.narrowed(state, board, next, player.opponent())
                    }
                    // Two moves ahead of the one that is asked for: far enough.
                    Some(_) => self.bounds(next, player.opponent()),
                };
                of_moves.add(bounds, is_sure);
            }
            true
        });
        taken_back.then(|| of_moves.bounds(self.stuck))
    }

    /// The sum of the hashes of the boards of the past, newest first, that could come back but for
    /// the rule. None before a board that cannot come back can.
    #[inline]
    pub fn hash_of_past(&self, board: Board, past: impl Iterator<Item = Board>) -> u128 {
        let component = |board| self.component[self.numbering.number(board) as usize];
        let here = component(board);
        past.take_while(|&earlier| component(earlier) == here)
            .fold(0, |sum, earlier| sum.wrapping_add(earlier.hash()))
    }
}

impl fmt::Debug for BoardTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoardTables").field("boards", &self.numbering.len()).finish_non_exhaustive()
    }
}
