//! Threats of the follower's at cells that the follow-up rule gives to the leader: the second, fourth, ... empty cell of
//! an odd column, or the third, fifth, ... of an even one.
//!
//! Such a threat cuts its column off, because whoever plays right below it loses: the leader to the threat, and
//! the follower the threat to the leader. What is left up to the threat is an even number of cells where the column was odd, so that
//! it needs no partner any more, and an odd number where it was even, so that its lowest cell needs one. In either
//! case the follower takes the cell of the threat if the game comes there: all that can be answered is
//! filled, and the leader has to play below it in the end. This is the odd threat by which White controls the
//! zugzwang (Allis 1988, section 3.3), and the two of Black's that do the same.
//!
//! Each column that is cut off makes an odd number of columns that need a partner even, or the other way round. So it takes one
//! threat where the number of odd columns is odd, and two in different columns where it is even; more of them, if that does not do.
//! Only columns are tried that have a part in a line which nothing else breaks ([`Unbroken`]).

use crate::connect4::aftereven::Follower;
use crate::connect4::follow_up::{left_empty, up_to};
use crate::connect4::shares::Shares;
use crate::connect4::threats::lowest;
use crate::connect4::unbroken::Unbroken;
use crate::connect4::{Bitboard, Connect4};

/// Of so many columns at the most it is tried which of them to cut off: the sets of them double with each, and on wide boards
/// there may be many.
const MOST_COLUMNS: u32 = 4;

impl<B: Bitboard> Connect4<B> {
    /// Whether threats of the follower's at cells that the leader gets by these `shares` decide: then how many cells the
    /// game leaves empty at the least, of those numbers that count. Without them there is the `unbroken` line.
    #[inline(always)]
    pub(super) fn loses_to_led_threats(
        &self,
        shares: Shares<'_, B>,
        unbroken: Unbroken<B>,
        counts: &impl Fn(u32) -> bool,
        up: usize,
    ) -> Option<u32> {
        let threats = self.led_threats(shares.follower);
        let one_is_enough = !shares.odd.count_ones().is_multiple_of(2);
        if threats.count_ones() < if one_is_enough { 1 } else { 2 } {
            return None;
        }
        let threats = self.of_first_columns(threats, shares.follower.empty, up);
        self.cut_off(&shares, threats, unbroken, one_is_enough, counts, up).err()
    }

    /// Those of these `threats` that are in the first columns, of which so many are tried.
    #[inline(always)]
    fn of_first_columns(&self, threats: B, empty: B, up: usize) -> B {
        if threats.count_ones() <= MOST_COLUMNS {
            return threats;
        }
        let (mut others, mut columns) = (threats, 0);
        while !others.is_zero() && columns < MOST_COLUMNS {
            others = others & !self.columns_of(lowest(others), empty, up);
            columns += 1;
        }
        threats & !others
    }

    /// The follower's threats at cells that the leader gets, but those that can be played now, and are taken now.
    #[inline(always)]
    pub(super) fn led_threats(&self, follower: Follower<B>) -> B {
        let playable = self.playable(self.full ^ follower.empty);
        follower.threats & !self.follower_cells & !playable
    }

    /// Cuts off columns that have some of `threats`, which are none of the columns that are cut off already, until
    /// the leader loses; none is tried that has no part in the line that is
    /// `unbroken` so far. If the leader loses, how many cells are left, and else a line that is unbroken if none of these
    /// columns is cut off. Where `one_is_enough`, a turned pair may help with the first one.
    fn cut_off(
        &self,
        shares: &Shares<'_, B>,
        mut threats: B,
        mut unbroken: Unbroken<B>,
        one_is_enough: bool,
        counts: &impl Fn(u32) -> bool,
        up: usize,
    ) -> Result<Unbroken<B>, u32> {
        let empty = shares.follower.empty;
        // The threats of columns that had no part in the line.
        let mut apart = B::zero();
        while !threats.is_zero() {
            let threat = lowest(threats);
            let column = self.columns_of(threat, empty, up);
            let here = threats & column;
            threats = threats ^ here;
            let has_part = unbroken.has_part_in(column);
            if !has_part {
                apart = apart | here;
                // Only a turned pair could break the line then.
                if !one_is_enough || self.turnable(unbroken, empty).is_none() {
                    continue;
                }
            }
            let cut = self.cut_off_at(threat, column, *shares);
            let left = left_empty(empty, cut.follower.threats & cut.follower.gets);
            let mut still_unbroken = Unbroken::unknown();
            if cut.odd.count_ones().is_multiple_of(2) && counts(left) {
                let by_pairs = if has_part { self.pairs_break_all(cut, up) } else { Err(unbroken) };
                let by_turned = |line| self.turned_pair_breaks_all(&cut, line, up).ok_or(line);
                match if one_is_enough { by_pairs.or_else(by_turned) } else { by_pairs } {
                    Ok(_) => return Err(left),
                    Err(line) => still_unbroken = line,
                }
            }
            if !has_part {
                continue;
            }
            let others = threats | apart;
            if !others.is_zero() {
                still_unbroken = self.cut_off(&cut, others, still_unbroken, false, counts, up)?;
            }
            if !still_unbroken.has_part_in(column) {
                // So it is if this column is not cut off.
                (unbroken, threats, apart) = (still_unbroken, others, B::zero());
            }
        }
        Ok(unbroken)
    }

    /// The shares if this column, the empty cells of one, is cut off by its threat.
    #[inline(always)]
    fn cut_off_at<'a>(&self, threat: B, column: B, shares: Shares<'a, B>) -> Shares<'a, B> {
        let bottom = column & self.playable(self.full ^ shares.follower.empty);
        self.turned(column, column & up_to(threat), bottom, shares)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::Game;
    use crate::connect4::threats::Tactics;

    /// Whether some set of columns decides if they are cut off, by trying all; and how many columns there are.
    fn by_all_sets(game: &Connect4<u64>, shares: Shares<'_, u64>, up: usize) -> (bool, u32) {
        let empty = shares.follower.empty;
        let (mut rest, mut sets, mut columns) =
            (game.led_threats(shares.follower), vec![shares], 0);
        let mut decides = false;
        while rest != 0 {
            let threat = lowest(rest);
            let column = game.columns_of(threat, empty, up);
            rest &= !column;
            columns += 1;
            let cut: Vec<_> =
                sets.iter().map(|&set| game.cut_off_at(threat, column, set)).collect();
            // A turned pair may help where this column alone is cut off.
            decides |= cut[0].odd.count_ones().is_multiple_of(2)
                && game.pairs_or_turned_break_all(cut[0], up).is_ok();
            decides |= cut.iter().any(|&set| {
                set.odd.count_ones().is_multiple_of(2) && game.pairs_break_all(set, up).is_ok()
            });
            sets.extend(cut);
        }
        (decides, columns)
    }

    /// Columns that have no part in the line that is unbroken are left out, and nothing is lost by it.
    #[test]
    fn as_many_positions_are_decided_as_by_all_sets_of_columns() {
        let (mut decided, mut open) = (0, 0);
        let mut runner = TestRunner::deterministic();
        for (width, height) in [(9, 5), (8, 6), (7, 7), (10, 4), (8, 7), (9, 6)] {
            let game = Connect4::<u64>::new(width, height).unwrap();
            let up = height as usize + 1;
            let moves = prop::collection::vec(0..width as u16, 300);
            for _ in 0..20_000 {
                let mut position = game.start();
                for column in moves.new_tree(&mut runner).unwrap().current() {
                    let cell = game.playable(position.all) & game.column(u32::from(column));
                    let Tactics::Open { moves, opponent_threats } = game.tactics(position) else {
                        break;
                    };
                    if cell & moves == 0 {
                        continue;
                    }
                    let last = Cell::default();
                    let shares = game.shares(position, opponent_threats, &last);
                    let unbroken = if shares.odd.count_ones().is_multiple_of(2) {
                        game.pairs_break_all(shares, up).err()
                    } else {
                        Some(Unbroken::unknown())
                    };
                    let (decides, columns) = by_all_sets(&game, shares, up);
                    if let Some(unbroken) = unbroken
                        && (2..=MOST_COLUMNS).contains(&columns)
                    {
                        let found = game.loses_to_led_threats(shares, unbroken, &|_| true, up);
                        assert_eq!(found.is_some(), decides, "{position:?}");
                        *(if decides { &mut decided } else { &mut open }) += 1;
                    }
                    game.play(&mut position, game.move_at(cell));
                }
            }
        }
        assert!(decided > 10_000 && open > 30_000, "{decided} decided, {open} open");
    }
}
