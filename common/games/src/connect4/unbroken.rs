//! Lines that no pair breaks, and how one of them helps with the next position.
//!
//! Of the positions that are asked about pairs nearly all are not decided by them, and a single line is enough to see it. A
//! search surveys positions one after the other that have most of their stones in common, so the line that was unbroken last
//! mostly is so again: it is looked at before all others.

use std::cell::Cell;

use crate::connect4::shares::Shares;
use crate::connect4::{Bitboard, Connect4};

/// A line that no pair breaks and that does not come too late, or all cells where none is known. So it stays however columns
/// are answered that it has no cell in: a pair breaks lines through both of its columns, and whether a line comes too late is a
/// matter of its own columns.
#[derive(Clone, Copy)]
pub(super) struct Unbroken<B>(B);

impl<B: Bitboard> Unbroken<B> {
    /// This line.
    #[inline(always)]
    pub fn line(line: B) -> Unbroken<B> {
        Unbroken(line)
    }

    /// One of which nothing is known.
    #[inline(always)]
    pub fn unknown() -> Unbroken<B> {
        Unbroken(!B::zero())
    }

    /// The line, if it is known.
    #[inline(always)]
    pub fn known(self) -> Option<B> {
        (self.0 != !B::zero()).then_some(self.0)
    }

    /// Whether it may be broken if the `column`, empty cells of one, is answered in another way.
    #[inline(always)]
    pub fn has_part_in(self, column: B) -> bool {
        !(self.0 & column).is_zero()
    }

    /// Notes the line as the `last` one, if it is known and not upright: upright ones can be broken by vertical pairs.
    #[inline(always)]
    pub fn note(self, last: &Cell<B>) {
        if (self.0 & self.0 << 1).is_zero() {
            last.set(self.0);
        }
    }
}

/// The lines that were unbroken last, if either player leads; no cells where there was none yet.
#[derive(Debug, Default)]
pub struct LastUnbroken<B: Copy> {
    max_leads: Cell<B>,
    min_leads: Cell<B>,
}

impl<B: Bitboard> LastUnbroken<B> {
    /// That of the leader.
    #[inline(always)]
    pub(super) fn if_leads(&self, is_max: bool) -> &Cell<B> {
        if is_max { &self.max_leads } else { &self.min_leads }
    }
}

impl<B: Bitboard> Connect4<B> {
    /// The line that was unbroken last, if it is unbroken with these `shares`: the leader gets all of it, or all but the
    /// lowest cell of one odd column, and it does not come too late.
    #[inline(always)]
    pub(super) fn still_unbroken(&self, shares: Shares<'_, B>, up: usize) -> Option<Unbroken<B>> {
        let Shares { reachable, odd, follower, last } = shares;
        let line = last.get();
        let is_unbroken = !line.is_zero()
            && (line & !(reachable | odd)).is_zero()
            && (line & odd).count_ones() < 2
            && !(self.rules.aftereven && self.comes_too_late(line & follower.empty, follower, up));
        is_unbroken.then_some(Unbroken(line))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::{Game, Threshold};

    #[test]
    fn what_is_noted_changes_nothing_of_what_is_found() {
        let (mut decided, mut open, mut by_last) = (0, 0, 0);
        let mut runner = TestRunner::deterministic();
        for (width, height) in [(5, 5), (7, 6), (6, 7), (9, 5), (8, 4)] {
            let game = Connect4::<u64>::new(width, height).unwrap();
            let moves = prop::collection::vec(0..width as u16, 200);
            // A search asks one question all the time.
            let one_threshold = [1, 2].map(|threshold| Threshold(threshold).relevancy_bounds());
            let questions = [one_threshold[0], one_threshold[1], game.scale().bounds()];
            for asked in questions.repeat(1_000) {
                let mut notes = LastUnbroken::default();
                let mut position = game.start();
                for column in moves.new_tree(&mut runner).unwrap().current() {
                    let cell = game.playable(position.all) & game.column(u32::from(column));
                    if cell == 0 {
                        continue;
                    }
                    game.play(&mut position, game.move_at(cell));
                    if game.outcome(&position).is_some() {
                        break;
                    }
                    let noted = notes.if_leads(game.max_to_move(position.all)).get();
                    let found = game.survey_noting(&position, asked, &mut notes);
                    assert_eq!(
                        found,
                        game.survey(&position, asked),
                        "{position:?} after {noted:#x}"
                    );
                    let is_decided = found.bounds != game.scale().bounds();
                    *(if is_decided { &mut decided } else { &mut open }) += 1;
                    let last = notes.if_leads(game.max_to_move(position.all)).get();
                    by_last += u32::from(last != 0 && last == noted && !is_decided);
                }
            }
        }
        assert!(
            decided > 10_000 && open > 10_000 && by_last > 10_000,
            "{decided} decided, {open} open, {by_last} of them with the line of the last one"
        );
    }
}
