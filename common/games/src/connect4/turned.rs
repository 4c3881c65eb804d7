//! Columns that are turned without a threat for it, and what the leader does not get by that (Allis 1988 has a part of it: lowinverse,
//! section 6.2.5).
//!
//! The follower *turns* a column (`tempo`) by answering in it the other way round: that gives the follower the cells that the follow-up
//! rule gives to the leader, but for the lowest one where the column is even, which is *free* then, and leaves the leader the
//! topmost cell, which has no answer. A whole column is free if nothing is answered in it. In a turned column the follower answers; to a stone on
//! a free cell, and to one on top of a turned column, the follower plays on any free cell. If there is none left, the follower
//! *opens* a turned column: plays on its next cell, and all that is left of it is free from there on.
//!
//! Whenever the leader is to move, the number of free cells and turned columns, but those that are full or opened, is odd or even
//! as the number of odd columns is, because all else is answered. So when the follower has to open a column, the number of
//! turned ones is the other way round.
//! - **Where the number of odd columns is odd**, it is even then. So one column C need not be opened ever, and of others, of which any two are *partners*, the
//!   follower opens the one whose partner is full; or, where there is none such, one of any two, and the other takes the place of C. All columns
//!   that are not turned are free (`column`).
//! - **Where it is even**, it is odd then, so if all turned columns have partners, there is one whose partner is full, and the follower
//!   opens that. All other columns are followed as ever, and none of these is opened (`pair`).
//!
//! So the leader gets no cell that the follower answers in C, and of two partners none in both.
//!
//! Besides, the lowest empty cells of two columns are a *pair* if they are free: the follower answers the one with the other. All other free
//! cells of a column are pairs from below, the one on top of the other, as in `lines_left`. So the leader makes no upright lines either, if
//! two stones of the leader's do not stand right below a lowest cell that is answered elsewhere, or not at all.

mod column;
mod pair;

use smallvec::SmallVec;

use crate::connect4::threats::lowest;
use crate::connect4::{Bitboard, Connect4};

/// Which cells the leader does not get together, chosen line by line.
struct Apart<B> {
    /// The leader does not get cells of both.
    chosen: SmallVec<[(B, B); 8]>,
    /// The lowest empty cells that can still be paired.
    bottoms: B,
    /// What the follower answers in columns that can still be turned with a partner.
    answers: B,
}

impl<B: Bitboard> Connect4<B> {
    /// Whether the leader does not get all of `line`, or can be kept from it by another pair or other partners, which are chosen then.
    #[inline(always)]
    fn is_kept_apart(&self, line: B, apart: &mut Apart<B>, empty: B, up: usize) -> bool {
        let meets = |cells: B| !(line & cells).is_zero();
        if apart.chosen.iter().any(|&(one, other)| meets(one) && meets(other)) {
            return true;
        }
        let bottoms = line & apart.bottoms;
        if bottoms.count_ones() > 1 {
            let one = lowest(bottoms);
            let other = lowest(bottoms ^ one);
            apart.chosen.push((one, other));
            apart.bottoms = apart.bottoms & !(one | other);
            // The lowest cell of an odd column is answered in it if it is turned.
            let odd = (one | other) & self.follower_cells;
            apart.answers = apart.answers & !self.columns_of(odd, empty, up);
            return true;
        }
        let answers = line & apart.answers;
        if answers.count_ones() < 2 {
            return false;
        }
        let one = self.columns_of(lowest(answers), empty, up);
        let other = self.columns_of(lowest(answers & !one), empty, up);
        apart.chosen.push((apart.answers & one, apart.answers & other));
        apart.answers = apart.answers & !(one | other);
        apart.bottoms = apart.bottoms & !((one | other) & self.follower_cells);
        true
    }

    /// The lowest empty cells of columns in which two stones of the leader's are right below.
    #[inline(always)]
    fn above_two(&self, leader: B, playable: B) -> B {
        playable & leader << 1 & leader << 2
    }
}
