//! From what work on workers tell what they have solved: positions that took so many nodes that all workers
//! together do not tell too many.
//!
//! What is worth telling is told as long as a coordinator can take it in; what is hardly worth it, only as
//! long as there is little of it, or where several workers have found the same.

use std::time::Duration;

/// Positions that took fewer nodes than this are not told at first, when it is not known yet how fast the searches are.
const FIRST: u32 = 1_000;
/// Positions that a slot solves in less time are told only as long as there are few: to tell them to many workers
/// costs as much as to find them out again.
const WORTH_TELLING: Duration = Duration::from_micros(100);
/// However few there are, positions that took fewer nodes than this are not told.
const LEAST: u32 = 2;
/// However many there are, those that took so many nodes are told.
const MOST: u32 = FIRST << 10;
/// How many positions all workers together should tell in a second: a coordinator can take in so many beside all else.
const MOST_TAKEN: u64 = 1_000_000;
/// How many it may be in any case where positions are among them that are hardly worth telling: it takes a worker and a
/// coordinator next to no time. It may be more where many are told by several workers, who then had use for them.
const FEW_TAKEN: u64 = 20_000;
/// They tell smaller ones again when there are less than this part of it.
const TOO_FEW: u64 = 4;
/// How many times smaller they are then at the most: there may have been few because the workers had hardly begun.
const SMALLER: u32 = 8;
/// How long it is counted how many there are.
const COUNTED_FOR: Duration = Duration::from_millis(20);

/// The work from which on positions are told, and how many are.
#[derive(Debug)]
pub struct SolvedFrom {
    nodes: u32,
    /// How many came since it was counted last.
    taken: u64,
    /// How many of them had been told before.
    again: u64,
    /// When it was counted last.
    since: Duration,
}

/// How many positions there may be of those that took so many nodes or more.
struct Limit {
    nodes: u32,
    most: u64,
}

impl Default for SolvedFrom {
    fn default() -> SolvedFrom {
        SolvedFrom { nodes: FIRST, taken: 0, again: 0, since: Duration::ZERO }
    }
}

impl SolvedFrom {
    /// The work, in nodes.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// A position was told; whether one had been told of it before.
    pub fn note(&mut self, is_known: bool) {
        self.taken += 1;
        self.again += u64::from(is_known);
    }

    /// Has workers tell more or fewer positions, if they have told too few or too many lately: from what work on. A
    /// slot searches so many nodes a second; 0 says that nobody knows yet.
    pub fn adapt(&mut self, now: Duration, rate: u64) -> Option<u32> {
        let counted_for = now.saturating_sub(self.since);
        if counted_for < COUNTED_FOR {
            return None;
        }
        let SolvedFrom { nodes: before, taken, .. } = *self;
        let limits = self.limits(counted_for, worth_telling(rate));
        // There are about twice as many from half the work on.
        let smaller_for = |wanted: u64| {
            let enough = (u64::from(before) * taken).div_ceil(wanted) as u32;
            enough.max(before / SMALLER).max(LEAST).min(before)
        };
        let [worthwhile, small] = &limits;
        let most = if worthwhile.nodes <= before { worthwhile.most } else { small.most };
        let nodes = if taken > most {
            let times = taken / most + 1;
            (u64::from(before) * times).min(u64::from(MOST)) as u32
        } else {
            let with_few = limits.iter().filter(|limit| taken < limit.most / TOO_FEW);
            let smaller = with_few.map(|limit| smaller_for(limit.most / 2).max(limit.nodes));
            smaller.fold(before, u32::min)
        };
        *self = SolvedFrom { nodes, taken: 0, again: 0, since: now };
        (nodes != before).then_some(nodes)
    }

    /// How many positions there may be in this time: of those that are worth telling, and if any are told that are
    /// not.
    fn limits(&self, counted_for: Duration, worth: u32) -> [Limit; 2] {
        let in_time =
            |a_second: u64| (u128::from(a_second) * counted_for.as_micros() / 1_000_000) as u64;
        let most = in_time(MOST_TAKEN);
        let as_others = (most * self.again).checked_div(self.taken).unwrap_or(0);
        let few = as_others.max(in_time(FEW_TAKEN));
        [Limit { nodes: worth, most }, Limit { nodes: LEAST, most: few }]
    }
}

/// The fewest nodes that a position has to take to be worth telling, where a slot searches so many nodes a second; 0 says
/// that nobody knows yet.
fn worth_telling(rate: u64) -> u32 {
    if rate == 0 {
        return FIRST;
    }
    let nodes = u128::from(rate) * WORTH_TELLING.as_micros() / 1_000_000;
    nodes.clamp(u128::from(LEAST), u128::from(FIRST)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With this rate positions are worth telling from `FIRST` nodes on.
    const UNKNOWN: u64 = 0;
    /// With this one from 60 nodes on.
    const SLOW: u64 = 600_000;

    fn tenths(tenths: u64) -> Duration {
        Duration::from_millis(100 * tenths)
    }

    #[test]
    fn workers_tell_larger_positions_the_more_there_are() {
        let mut solved_from = SolvedFrom::default();
        let mut adapted = |at, taken| {
            solved_from.taken = taken;
            (solved_from.adapt(tenths(at), UNKNOWN), solved_from.since)
        };
        let (most, few) = (MOST_TAKEN / 10, MOST_TAKEN / 10 / TOO_FEW);
        let as_at_first = FEW_TAKEN / 10 / TOO_FEW;
        assert_eq!(adapted(1, as_at_first), (None, tenths(1)), "smaller ones are hardly worth it");
        assert_eq!(adapted(2, most), (None, tenths(2)));
        assert_eq!(adapted(3, most + 1), (Some(2_000), tenths(3)));
        assert_eq!(adapted(7, 4 * most + 1), (Some(4_000), tenths(7)), "in a longer time");
        assert_eq!(adapted(8, few), (None, tenths(8)), "that is as many as there should be");
        let down: Vec<_> = (9..12).map(|at| adapted(at, few - 1).0).collect();
        assert_eq!(down, [Some(2_000), Some(FIRST), None]);
        let up: Vec<_> = (12..30).filter_map(|at| adapted(at, most + 1).0).collect();
        assert_eq!((up.len(), up.last()), (10, Some(&MOST)));
        let early = tenths(29) + Duration::from_millis(10);
        assert_eq!(solved_from.adapt(early, UNKNOWN), None, "it is too early");
        assert_eq!((solved_from.taken, solved_from.since), (0, tenths(29)));
    }

    #[test]
    fn workers_tell_smaller_positions_the_slower_they_search() {
        assert_eq!(worth_telling(0), FIRST, "nobody knows yet");
        assert_eq!(worth_telling(400_000), 40);
        assert_eq!(worth_telling(SLOW), 60);
        assert_eq!(worth_telling(100_000_000), FIRST);
        assert_eq!(worth_telling(u64::MAX), FIRST);
        assert_eq!(worth_telling(1), LEAST);
        let few = MOST_TAKEN / 10 / TOO_FEW - 1;
        let mut solved_from = SolvedFrom::default();
        let mut adapted = |at, taken| {
            solved_from.taken = taken;
            solved_from.adapt(tenths(at), SLOW)
        };
        assert_eq!(adapted(1, few), Some(500), "half");
        assert_eq!(adapted(2, 10_000), Some(100), "a fifth of half of what there may be");
        assert_eq!(adapted(3, FEW_TAKEN / 10 / TOO_FEW), Some(60), "no smaller ones are worth it");
        assert_eq!(adapted(4, FEW_TAKEN / 10 / TOO_FEW), None);
    }

    #[test]
    fn more_small_positions_are_told_where_several_find_the_same() {
        let mut solved_from = SolvedFrom { nodes: 40, ..SolvedFrom::default() };
        for count in 0..5_000 {
            solved_from.note(count >= 2_500);
        }
        assert_eq!(solved_from.again, 2_500, "a half");
        assert_eq!(
            solved_from.adapt(tenths(1), SLOW),
            Some(8),
            "5,000 of 25,000 that would be half as many as may be"
        );
        solved_from.taken = 5_000;
        assert_eq!(
            solved_from.adapt(tenths(2), SLOW),
            Some(24),
            "and these had not been told before"
        );
    }

    #[test]
    fn workers_tell_hardly_anything_of_what_is_hardly_worth_it() {
        let few = FEW_TAKEN / 10;
        let mut solved_from = SolvedFrom { nodes: 100, ..SolvedFrom::default() };
        let mut adapted = |at, taken| {
            solved_from.taken = taken;
            solved_from.adapt(tenths(at), SLOW)
        };
        assert_eq!(adapted(1, few / TOO_FEW - 1), Some(50), "half as many as there may be");
        assert_eq!(adapted(2, 0), Some(6), "an eighth, however few there were");
        assert_eq!(adapted(3, 0), Some(LEAST));
        assert_eq!(adapted(4, 0), None);
        assert_eq!(adapted(5, few), None);
        assert_eq!(adapted(6, few + 1), Some(2 * LEAST));
        assert_eq!(adapted(7, 20 * few), Some(42 * LEAST), "as many times as too many");
        assert_eq!(adapted(8, 20 * few), None, "but of these there may be more");
    }
}
