//! The present position of a search, and how it gets to another one and back.
//!
//! Positions that own no memory are copied rather than played and taken back: the position of each
//! child is kept from the moment that it is first seen. Others, such as Woodpush's with their history,
//! are played and undone.

use std::mem::needs_drop;

use jlpns_games::{Game, Move, MoveList};

use super::children::{Child, Estimate, Seen, Setting};

/// The line of play from the root.
pub(super) struct Line<G: Game> {
    /// The present position: after a return to a node, if positions are copied, still that of the
    /// child that was left.
    pub position: G::Position,
    /// The moves from the root to it, if they are played and taken back.
    played: Vec<Move>,
    /// The positions of the children, if they are copied.
    copies: Vec<G::Position>,
    moves: MoveList,
    /// What the game has noted of the positions that were surveyed.
    notes: G::Notes,
}

/// A point of a line to come back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    played: usize,
    copies: usize,
}

impl<G: Game> Line<G> {
    /// Whether positions are copied.
    const COPIED: bool = !needs_drop::<G::Position>();

    pub fn new(root: G::Position) -> Line<G> {
        let moves = MoveList::new();
        let (played, copies, notes) = (Vec::new(), Vec::new(), G::Notes::default());
        Line { position: root, played, copies, moves, notes }
    }

    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { played: self.played.len(), copies: self.copies.len() }
    }

    /// Takes back what was played, and forgets what was copied, since then.
    #[inline]
    pub fn back_to(&mut self, game: &G, mark: Mark) {
        while self.played.len() > mark.played {
            let mv = self.played.pop().expect("the line is longer");
            game.undo(&mut self.position, mv);
        }
        self.copies.truncate(mark.copies);
    }

    /// Surveys the position after `mv`, and those that follow from it by force: the child is the
    /// next position with a choice, or one whose answer is seen.
    #[inline]
    pub fn survey<E: Estimate>(&mut self, setting: &Setting<'_, G>, mv: Move) -> Child<E> {
        let mark = self.mark();
        if Self::COPIED {
            self.copies.push(self.position.clone());
            let played_out = play_out(
                setting,
                &mut self.copies[mark.copies],
                mark.copies,
                mv,
                &mut self.notes,
                |_| {},
            );
            if played_out.is_settled {
                self.copies.truncate(mark.copies);
            }
            return played_out.child;
        }
        let played = &mut self.played;
        let played_out =
            play_out(setting, &mut self.position, 0, mv, &mut self.notes, |mv| played.push(mv));
        self.back_to(setting.game, mark);
        played_out.child
    }

    /// Goes on to a child of the present node that was not seen to be decided.
    #[inline]
    pub fn go_to<E>(&mut self, setting: &Setting<'_, G>, child: &Child<E>) {
        if Self::COPIED {
            self.position = self.copies[child.place as usize].clone();
            return;
        }
        self.play(setting.game, child.mv);
        for _ in 0..child.forced {
            self.moves.clear();
            setting.relevant_moves(&self.position, &mut self.moves);
            self.play(setting.game, self.moves[0]);
        }
    }

    /// Asks something of the position of such a child.
    #[inline]
    pub fn ask<E, R>(
        &mut self,
        setting: &Setting<'_, G>,
        child: &Child<E>,
        question: impl FnOnce(&G::Position) -> R,
    ) -> R {
        if Self::COPIED {
            return question(&self.copies[child.place as usize]);
        }
        let mark = self.mark();
        self.go_to(setting, child);
        let answer = question(&self.position);
        self.back_to(setting.game, mark);
        answer
    }

    #[inline]
    fn play(&mut self, game: &G, mv: Move) {
        game.play(&mut self.position, mv);
        self.played.push(mv);
    }
}

/// A child, and whether its answer is seen.
struct PlayedOut<E> {
    child: Child<E>,
    is_settled: bool,
}

/// Plays `mv` and the moves that follow by force, each of which `note` is told of. The child's place is
/// `place`.
#[inline(always)]
fn play_out<G: Game, E: Estimate>(
    setting: &Setting<'_, G>,
    position: &mut G::Position,
    place: usize,
    mv: Move,
    notes: &mut G::Notes,
    mut note: impl FnMut(Move),
) -> PlayedOut<E> {
    let (mut next, mut forced) = (mv, 0);
    // How promising the move is shows right after it, not where it leads to by force.
    let mut promise = 0;
    let (verdict, resistance) = loop {
        setting.game.play(position, next);
        note(next);
        let survey = setting.survey(position, notes);
        if forced == 0 {
            promise = survey.promise;
        }
        let verdict = survey.bounds.verdict(setting.threshold);
        match survey.forced {
            Some(only) if verdict.is_none() => next = only,
            _ => break (verdict, survey.resistance),
        }
        forced += 1;
    };
    let player = setting.game.to_move(position);
    let mut key = 0;
    if verdict.is_none() {
        key = setting.key(position);
        setting.table.prefetch(key);
    }
    let seen = Seen { player, verdict, resistance, promise };
    let child = Child { key, estimate: E::of(setting, seen), place: place as u32, mv, forced };
    PlayedOut { child, is_settled: verdict.is_some() }
}
