//! What the follower keeps from the leader where the number of odd columns is odd: a column is turned, others with partners, and the rest
//! is free (`turned`).
//!
//! A threat of the follower's at a cell that the follow-up rule gives to the follower keeps more. Nobody wants to play right below it, and from there on up its column has an even number of
//! cells, so these are left out of the free ones. The follower plays there when there is no free cell left and no column to
//! open; the leader has to take the cell of the threat, and the follower takes the next one. What is left is
//! like a column that is turned. So the leader gets none of the cells above the threat that the rule gives to the leader.

use smallvec::SmallVec;

use crate::connect4::aftereven::Follower;
use crate::connect4::follow_up::from_here_up;
use crate::connect4::shares::Shares;
use crate::connect4::threats::lowest;
use crate::connect4::turned::Apart;
use crate::connect4::{Bitboard, Connect4};

/// What the follower has to choose from.
struct Choices<B> {
    /// All empty cells.
    empty: B,
    /// What the follower answers in each column if it is turned.
    answers: B,
    /// The lowest empty cells that can be paired, if their columns are free.
    bottoms: B,
    /// Columns with a threat, which have no partner.
    threatened: B,
}

impl<B: Bitboard> Choices<B> {
    /// Whether the leader gets all of `line`, whatever is chosen.
    #[inline(always)]
    fn leave(&self, line: B) -> bool {
        (line & self.answers).is_zero() && (line & self.bottoms).count_ones() < 2
    }
}

impl<B: Bitboard> Connect4<B> {
    /// Whether the leader, to move with an odd number of odd columns and no line to make at once, makes none if columns are turned.
    #[inline(never)]
    pub(in crate::connect4) fn turned_column_holds(
        &self,
        shares: &Shares<'_, B>,
        up: usize,
    ) -> bool {
        let Follower { stones, empty, threats, .. } = shares.follower;
        let leader = self.full ^ empty ^ stones;
        let playable = self.playable(self.full ^ empty);
        let above_two = self.above_two(leader, playable);
        let top_row = self.bottom_row << (up - 2);
        let threats = threats
            & self.follower_cells
            & !playable
            & !top_row
            & !self.columns_of(above_two, empty, up);
        let kept = from_here_up(empty, threats) & !self.follower_cells;
        let threatened = self.columns_of(threats, empty, up);
        let answers = empty
            & !self.follower_cells
            & !playable
            & !self.columns_of(above_two & !self.follower_cells, empty, up);
        let bottoms = playable & !above_two & !threatened;
        let choices = Choices { empty, answers, bottoms, threatened };
        self.can_break(&choices, (leader | empty) & !kept, shares, up)
    }

    /// Whether the lines in `cells` can be broken by some of these choices; one that cannot be is noted.
    #[inline(always)]
    fn can_break(&self, choices: &Choices<B>, cells: B, shares: &Shares<'_, B>, up: usize) -> bool {
        let &Choices { empty, answers, bottoms, .. } = choices;
        let last = shares.last.get();
        if !last.is_zero() && (last & !cells).is_zero() && choices.leave(last) {
            return false;
        }
        let mut lines = SmallVec::<[B; 16]>::new();
        let mut keep = |line| {
            if choices.leave(line) {
                shares.last.set(line);
                return false;
            }
            lines.push(line);
            true
        };
        // Most positions have a line without any cell that could help, which is seen at once.
        let without = cells & !answers;
        if !self.all_across(without & !bottoms, up, &mut keep)
            || !self.all_across(without, up, &mut keep)
        {
            return false;
        }
        // The column that some line can only be broken by, and all that could be of use.
        let (mut only, mut useful) = (B::zero(), B::zero());
        let agree = self.all_across(cells, up, |line| {
            let here = line & answers;
            if here.is_zero() {
                return true;
            }
            lines.push(line);
            useful = useful | here;
            if here != lowest(here) || (line & bottoms).count_ones() > 1 {
                return true;
            }
            if only.is_zero() {
                only = self.columns_of(here, empty, up);
            }
            !(only & here).is_zero()
        });
        if !agree {
            return false;
        }
        if !only.is_zero() {
            return self.column_breaks(only, &lines, choices, up);
        }
        while !useful.is_zero() {
            let column = self.columns_of(lowest(useful), empty, up);
            useful = useful & !column;
            if self.column_breaks(column, &lines, choices, up) {
                return true;
            }
        }
        self.column_breaks(B::zero(), &lines, choices, up)
    }

    /// Whether all `lines` are broken if this column is turned, and never opened.
    fn column_breaks(&self, column: B, lines: &[B], choices: &Choices<B>, up: usize) -> bool {
        let &Choices { empty, answers, bottoms, threatened } = choices;
        let mut apart = Apart {
            chosen: SmallVec::new(),
            bottoms: bottoms & !(column & self.follower_cells),
            answers: answers & !column & !threatened,
        };
        let gets = answers & column;
        lines.iter().all(|&line| {
            !(line & gets).is_zero() || self.is_kept_apart(line, &mut apart, empty, up)
        })
    }
}
