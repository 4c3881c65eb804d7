//! What belongs to an answer beside the value: a move that keeps what is proved, and a line of such moves.
//!
//! A move is best only if that is proved: where the value is known, it is the same after the move; where a goal of
//! the player to move is proved, it holds after the move. What merely looks promising is no answer.

use jlpns_games::{Bounds, Game, Goal, Move, MoveList, OutcomeScale, Player, Threshold};

use crate::search::Observer;
use crate::strategy::{Claim, NoMove, StrategyFinder};
use crate::{ChildFindings, Question, SolvedPosition, TranspositionTable};

/// What is proved of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proved {
    /// The value lies between these.
    pub bounds: Bounds,
    /// What was asked, if it was not the value.
    pub goal: Option<Goal>,
}

/// What a best move has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Every move keeps it. The threshold is the one that the other player holds.
    ByAnyMove(Threshold),
    /// This claim of the player to move.
    Claim(Claim),
}

impl Proved {
    /// What a best move of this player has to keep. None if no move can be called best: the value is not
    /// known, and no goal of the player's own is proved.
    pub fn kept_by(self, player: Player, scale: &OutcomeScale) -> Option<Kept> {
        let Bounds { lower, upper } = self.bounds;
        let (least, most) = match (self.bounds.value(), self.goal) {
            (Some(value), _) => (value, value),
            (None, Some(Goal::AtLeast(least))) if player == Player::Max && lower >= least => {
                (least, scale.best())
            }
            (None, Some(Goal::AtMost(most))) if player == Player::Min && upper <= most => {
                (scale.worst(), most)
            }
            _ => return None,
        };
        Some(match player {
            Player::Max if least == scale.worst() => Kept::ByAnyMove(Threshold(least.0 + 1)),
            Player::Max => Kept::Claim(Claim { threshold: Threshold(least.0), holds: true }),
            Player::Min if most == scale.best() => Kept::ByAnyMove(Threshold(most.0)),
            Player::Min => Kept::Claim(Claim { threshold: Threshold(most.0 + 1), holds: false }),
        })
    }

    /// What a move of this player in a line has to keep: where only a goal is proved, its opponent may move as
    /// they like.
    fn kept_in_line(self, player: Player, scale: &OutcomeScale) -> Option<Kept> {
        let Bounds { lower, upper } = self.bounds;
        let holds = |goal: &Goal| match *goal {
            Goal::AtLeast(least) => lower >= least,
            Goal::AtMost(most) => upper <= most,
        };
        let free = || self.goal.filter(holds).map(|goal| Kept::ByAnyMove(goal.threshold()));
        self.kept_by(player, scale).or_else(free)
    }
}

/// A best move as far as it can be told without any search: the game itself decides, or the position after the move
/// is solved in what a search has found of each. A move that is not named may be best all the same.
pub fn known_best_move<G: Game>(
    game: &G,
    position: &mut G::Position,
    proved: Proved,
    question: Question,
    children: &[ChildFindings],
) -> Option<Move> {
    if game.outcome(position).is_some() {
        return None;
    }
    let mut moves = MoveList::new();
    let claim = match proved.kept_by(game.to_move(position), game.scale())? {
        Kept::Claim(claim) => claim,
        Kept::ByAnyMove(_) => {
            game.moves(position, &mut moves);
            return moves.first().copied();
        }
    };
    game.relevant_moves(position, &mut moves);
    if let [only] = moves[..] {
        return Some(only);
    }
    let first = question.thresholds().0;
    let solved = |child: &&ChildFindings| {
        let index = usize::from(claim.threshold.0).checked_sub(usize::from(first.0));
        let pair = index.and_then(|index| child.efforts.get(index));
        pair.and_then(|pair| pair.verdict()) == Some(claim.holds)
    };
    let by_game = |&mv: &Move| {
        let mut after = position.clone();
        game.play(&mut after, mv);
        game.static_bounds(&after).verdict(claim.threshold) == Some(claim.holds)
    };
    let solved = children.iter().find(solved).map(|child| child.mv);
    solved.or_else(|| moves.iter().copied().find(by_game))
}

/// Puts into a table what a search has found of the positions after each move.
pub fn learn_children<G: Game>(
    game: &G,
    position: &mut G::Position,
    question: Question,
    children: &[ChildFindings],
    table: &TranspositionTable,
) {
    let (Threshold(first), _) = question.thresholds();
    for child in children {
        game.play(position, child.mv);
        let key = game.key(position).into();
        game.undo(position, child.mv);
        // The last threshold may be the last number that there is.
        for (pair, threshold) in child.efforts.iter().zip((first..=u8::MAX).map(Threshold)) {
            if let Some(holds) = pair.verdict() {
                table.learn(&SolvedPosition { key, threshold, holds, work: 1 });
            }
        }
    }
}

/// A principal variation of at most so many moves: each keeps what is proved, to the end of the game if there is
/// room. Its first move is a best move, if there is one by [`Proved::kept_by`]. Empty if nothing is proved.
///
/// The table holds what searches have found out; what is missing is searched. A player whose moves are all equally
/// good takes the one that took the most work to refute.
pub fn line<G: Game>(
    game: &G,
    position: &mut G::Position,
    proved: Proved,
    most: usize,
    table: &TranspositionTable,
    observer: &mut dyn Observer,
) -> Result<Vec<Move>, NoMove> {
    let mut moves = Vec::new();
    let mut follow = || {
        while moves.len() < most && game.outcome(position).is_none() {
            let player = game.to_move(position);
            let Some(kept) = proved.kept_in_line(player, game.scale()) else { break };
            let mv = match kept {
                Kept::Claim(claim) => {
                    StrategyFinder::new(game, table, claim).keeping_move(position, observer)?
                }
                Kept::ByAnyMove(threshold) => longest_to_refute(game, position, threshold, table),
            };
            game.play(position, mv);
            moves.push(mv);
        }
        Ok(())
    };
    let followed = follow();
    moves.iter().rev().for_each(|&mv| game.undo(position, mv));
    followed.map(|()| moves)
}

/// The move after which the table has spent the most work, in a position in which the game is not over. Those that
/// the game decides come last, and those that end it at the very last.
fn longest_to_refute<G: Game>(
    game: &G,
    position: &mut G::Position,
    threshold: Threshold,
    table: &TranspositionTable,
) -> Move {
    let mut moves = MoveList::new();
    game.moves(position, &mut moves);
    let mut resistance = |mv: Move| {
        game.play(position, mv);
        let work = match game.outcome(position) {
            Some(_) => (0, 0),
            None if game.static_bounds(position).verdict(threshold).is_some() => (1, 0),
            None => {
                let known = table.get(game.key(position).into(), threshold);
                (2, known.map_or(0, |known| known.work))
            }
        };
        game.undo(position, mv);
        work
    };
    let best = moves.iter().rev().max_by_key(|&&mv| resistance(mv));
    *best.expect("a position in which the game is not over has a move")
}
