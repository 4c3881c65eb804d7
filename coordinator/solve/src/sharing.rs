//! Solved positions that travel: what one worker's searches have solved with much work goes into
//! the tables of the others.
//!
//! It is bounded: workers tell what took them so much work that all of them together do not tell too many, each
//! position goes out once, only those with the most work go out if there are still too many, and never more often
//! than five hundred times a second, or less often to many workers. Each time a worker answers with what it has
//! solved itself since. A worker that joins later is told those of the past that took most work.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use jlpns_games::Threshold;
use jlpns_search::SolvedPosition;

use super::event::Action;
use super::ids::WorkerId;
use super::recent::Recent;
use super::{Notice, Refusal, Solve, SolveSettings};

/// Positions that took fewer nodes than this are not told at first, when it is not known yet how fast the searches are.
const FIRST_SOLVED_FROM: u32 = 1_000;
/// Positions that a slot solves in less time are told only as long as there are few: to tell them to many workers
/// costs as much as to find them out again.
const WORTH_TELLING: Duration = Duration::from_micros(100);
/// However few there are, positions that took fewer nodes than this are not told.
const LEAST_SOLVED_FROM: u32 = 2;
/// However many there are, those that took so many nodes are told.
const MOST_SOLVED_FROM: u32 = FIRST_SOLVED_FROM << 10;
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
/// How long positions wait for others to go out with, at the least. Workers search the same positions at the same time,
/// so what comes late has been found out again.
const LEAST_INTERVAL: Duration = Duration::from_millis(2);
/// How many times a second all workers together are told something: each time costs the coordinator some ten
/// microseconds, and as much when a worker answers with what it has solved.
const TIMES_A_SECOND: u32 = 20_000;
/// How many positions may go out in a second, to all workers together: with some nine bytes for each that is half of a
/// gigabit line.
const MOST_SENT: u64 = 7_000_000;
/// How many positions one worker may get in a second.
const MOST_FOR_EACH: u64 = 700_000;
/// How many positions a worker gets when it joins: half a megabyte.
const MOST_FOR_A_NEWCOMER: usize = 50_000;
/// What newcomers are told is good until so many more or fewer positions are known, as a fraction of
/// them: a thousand may join at once.
const ANOTHER: usize = 8;
/// How many positions are remembered, and once more as many: what 64 workers solve in two seconds.
const REMEMBERED: usize = 1 << 20;

/// What waits to go out, and what has.
#[derive(Debug)]
pub struct Sharing {
    /// The work from which on positions are told.
    solved_from: u32,
    /// How many came since it was counted last, and when that was.
    taken: (u64, Duration),
    /// How many of them had been told before.
    again: u64,
    /// What was told, whether it holds, and the work that it took.
    known: Recent<(u128, Threshold), (bool, u32), REMEMBERED>,
    waiting: Vec<SolvedPosition>,
    /// What newcomers are told, and of how many positions that was chosen.
    for_newcomers: (Arc<[SolvedPosition]>, usize),
    /// When the next positions go out at the earliest.
    due: Duration,
    /// How many positions went out, each counted once however many workers got it.
    told: u64,
    /// Whether it has ended, because something that travelled may be wrong.
    has_ended: bool,
}

impl Default for Sharing {
    fn default() -> Sharing {
        Sharing {
            solved_from: FIRST_SOLVED_FROM,
            taken: (0, Duration::ZERO),
            again: 0,
            known: Recent::default(),
            waiting: Vec::new(),
            for_newcomers: (Arc::default(), 0),
            due: Duration::ZERO,
            told: 0,
            has_ended: false,
        }
    }
}

impl Sharing {
    /// Whether what workers have solved travels.
    pub fn is_on(&self, settings: &SolveSettings) -> bool {
        settings.share && !self.has_ended
    }

    /// Nothing travels any more, and what waits to is dropped.
    fn end(&mut self) {
        *self = Sharing { told: self.told, ..Sharing::ended() };
    }

    /// One that has ended, in an earlier life of the solve.
    pub fn ended() -> Sharing {
        Sharing { has_ended: true, ..Sharing::default() }
    }

    /// Whether it has ended, because something that travelled may be wrong.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// When something is to go out.
    pub fn next_due(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then_some(self.due)
    }

    /// How many positions went out.
    pub fn told(&self) -> u64 {
        self.told
    }

    /// Remembers a position; it waits to go out if it is new and there is somebody to tell. Whether it may be true: it
    /// does not contradict what others have told.
    fn note(&mut self, solved: SolvedPosition, anybody: bool) -> bool {
        self.taken.0 += 1;
        let SolvedPosition { key, threshold, holds, work } = solved;
        match self.known.get(&(key, threshold)) {
            Some(&(known, _)) => {
                self.again += 1;
                known == holds
            }
            None => {
                self.known.note((key, threshold), (holds, work));
                if anybody {
                    self.waiting.push(solved);
                }
                true
            }
        }
    }

    /// Has workers tell more or fewer positions, if they have told too few or too many lately: from what work on. Of
    /// those that took less than `worth` there may be few only.
    fn adapt(&mut self, now: Duration, worth: u32) -> Option<u32> {
        let (taken, since) = self.taken;
        let counted_for = now.saturating_sub(since);
        if counted_for < COUNTED_FOR {
            return None;
        }
        self.taken = (0, now);
        let in_time =
            |a_second: u64| (u128::from(a_second) * counted_for.as_micros() / 1_000_000) as u64;
        let most = in_time(MOST_TAKEN);
        let again = std::mem::take(&mut self.again);
        let few = (most * again).checked_div(taken).unwrap_or(0).max(in_time(FEW_TAKEN));
        let before = self.solved_from;
        // There are about twice as many from half the work on.
        let smaller_for = |wanted: u64| {
            let enough = (u64::from(before) * taken).div_ceil(wanted) as u32;
            enough.max(before / SMALLER).max(LEAST_SOLVED_FROM).min(before)
        };
        let may_be = if before < worth { few } else { most };
        self.solved_from = if taken > may_be {
            let times = taken / may_be + 1;
            (u64::from(before) * times).min(u64::from(MOST_SOLVED_FROM)) as u32
        } else if taken < few / TOO_FEW {
            smaller_for(few / 2).min(smaller_for(most / 2).max(worth))
        } else if worth < before && taken < most / TOO_FEW {
            smaller_for(most / 2).max(worth)
        } else {
            before
        };
        (self.solved_from != before).then_some(self.solved_from)
    }

    /// What is to go out now, to so many workers.
    fn take_due(&mut self, now: Duration, workers: u32) -> Arc<[SolvedPosition]> {
        let interval = interval(workers);
        self.due = now + interval;
        let a_second = (MOST_SENT / u64::from(workers.max(1))).min(MOST_FOR_EACH);
        let most = (a_second * interval.as_micros() as u64 / 1_000_000).max(1) as usize;
        let due = most_work(std::mem::take(&mut self.waiting), most);
        self.told += due.len() as u64;
        due.into()
    }

    /// What a worker that has just joined should know.
    fn for_a_newcomer(&mut self) -> Arc<[SolvedPosition]> {
        let (_, chosen_of) = self.for_newcomers;
        let known = self.known.len();
        if known.abs_diff(chosen_of) * ANOTHER >= chosen_of {
            let position = |(&(key, threshold), &(holds, work))| SolvedPosition {
                key,
                threshold,
                holds,
                work,
            };
            let all = self.known.iter().map(position).collect();
            self.for_newcomers = (most_work(all, MOST_FOR_A_NEWCOMER).into(), known);
        }
        self.for_newcomers.0.clone()
    }
}

/// The fewest nodes that a position has to take to be worth telling, where a slot searches so many nodes a second; 0 says
/// that nobody knows yet.
fn worth_telling(rate: u64) -> u32 {
    if rate == 0 {
        return FIRST_SOLVED_FROM;
    }
    let nodes = u128::from(rate) * WORTH_TELLING.as_micros() / 1_000_000;
    nodes.clamp(u128::from(LEAST_SOLVED_FROM), u128::from(FIRST_SOLVED_FROM)) as u32
}

/// How often so many workers are told something.
fn interval(workers: u32) -> Duration {
    (Duration::from_secs(1) * workers / TIMES_A_SECOND).max(LEAST_INTERVAL)
}

/// The positions with the most work, at most `most` of them. Their order depends on nothing else.
fn most_work(mut solved: Vec<SolvedPosition>, most: usize) -> Vec<SolvedPosition> {
    let place = |solved: &SolvedPosition| (Reverse(solved.work), solved.key, solved.threshold);
    // Of all that is known to a large cluster, sorting is by far the larger part.
    if most < solved.len() {
        solved.select_nth_unstable_by_key(most, place);
        solved.truncate(most);
    }
    solved.sort_unstable_by_key(place);
    solved
}

impl Solve {
    /// Whether what one worker's searches have solved goes into the tables of the others.
    pub fn shares(&self) -> bool {
        self.sharing.is_on(&self.problem.settings)
    }

    /// From what work on workers tell what they have solved; 0 if nothing travels.
    pub fn solved_from(&self) -> u32 {
        if self.shares() { self.sharing.solved_from } else { 0 }
    }

    /// Something that workers have told each other is not true, or one of them lies: from now on each searches
    /// alone, and what was told goes out of the tables. Nobody is to blame: whoever was told has told others what
    /// followed from it.
    pub(super) fn end_sharing(&mut self) {
        if self.shares() {
            self.sharing.end();
            let workers = self.dispatch.scheduler.workers();
            self.actions.extend(workers.map(|(worker, _)| Action::EndSharing { worker }));
            self.notify(Notice::SharingEnded);
        }
    }

    /// A worker tells what its searches have solved.
    pub(super) fn solved_elsewhere(
        &mut self,
        worker: WorkerId,
        solved: &[SolvedPosition],
    ) -> Result<(), Refusal> {
        if self.dispatch.scheduler.worker(worker).is_none() {
            return Err(Refusal::UnknownWorker(worker));
        }
        if self.shares() {
            let anybody = self.dispatch.scheduler.workers().nth(1).is_some();
            if !solved.iter().all(|&solved| self.sharing.note(solved, anybody)) {
                self.end_sharing();
            }
        }
        Ok(())
    }

    /// Tells a worker that has joined what others have solved before.
    pub(super) fn share_with(&mut self, worker: WorkerId) {
        let solved = self.sharing.for_a_newcomer();
        if !solved.is_empty() {
            self.actions.push(Action::Tell { worker, solved });
        }
    }

    /// Tells all workers what waits to be told, when it is time.
    pub(super) fn share(&mut self, now: Duration) {
        if !self.shares() {
            return;
        }
        let worth = worth_telling(self.dispatch.scheduler.median_rate());
        let workers = || self.dispatch.scheduler.workers().map(|(id, _)| id);
        if let Some(work) = self.sharing.adapt(now, worth) {
            let keep = |worker| Action::KeepSolved { worker, work };
            self.actions.extend(workers().map(keep));
        }
        if self.sharing.next_due().is_some_and(|due| due <= now) {
            let solved = self.sharing.take_due(now, workers().count() as u32);
            let tell = |worker| Action::Tell { worker, solved: solved.clone() };
            self.actions.extend(workers().map(tell));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(key: u128, work: u32) -> SolvedPosition {
        SolvedPosition { key, threshold: Threshold(1), holds: true, work }
    }

    #[test]
    fn each_position_waits_once() {
        let mut sharing = Sharing::default();
        sharing.note(solved(1, 5), true);
        sharing.note(solved(1, 7), true);
        assert!(!sharing.note(SolvedPosition { holds: false, ..solved(1, 7) }, true));
        for key in 2..=REMEMBERED as u128 {
            sharing.note(solved(key, 5), true);
        }
        sharing.note(solved(1, 5), true);
        assert_eq!(sharing.waiting.len(), REMEMBERED, "the older generation is still known");
    }

    #[test]
    fn what_was_solved_by_a_worker_alone_is_kept_for_those_to_come() {
        let mut sharing = Sharing::default();
        sharing.note(solved(1, 5), false);
        sharing.note(solved(2, 7), false);
        assert_eq!(sharing.next_due(), None);
        assert_eq!(*sharing.for_a_newcomer(), [solved(2, 7), solved(1, 5)]);
        assert!((3..=16).all(|n| sharing.note(solved(n, 9), false)));
        assert_eq!(sharing.for_a_newcomer().len(), 16);
        sharing.note(solved(17, 9), false);
        assert_eq!(sharing.for_a_newcomer().len(), 16, "one more makes no difference");
        sharing.note(solved(18, 9), false);
        assert_eq!(sharing.for_a_newcomer().len(), 18);
    }

    #[test]
    fn the_most_work_goes_first_and_not_too_often() {
        let at = Duration::from_millis;
        let mut sharing = Sharing::default();
        assert_eq!(sharing.next_due(), None);
        assert!((1..=10_000).all(|n| sharing.note(solved(u128::from(n), n), true)));
        let sent = sharing.take_due(at(0), 4);
        assert_eq!((sent.len(), sent[0].work), (1_400, 10_000), "in two milliseconds");
        assert_eq!((sharing.next_due(), sharing.told()), (None, 1_400));
        sharing.note(solved(0, 5), true);
        assert_eq!(sharing.next_due(), Some(LEAST_INTERVAL));
        assert_eq!(*sharing.take_due(at(10), 4), [solved(0, 5)]);
        assert!((10_001..=20_000).all(|n| sharing.note(solved(u128::from(n), n), true)));
        let sent = sharing.take_due(at(20), 1000);
        assert_eq!(sent.len(), 350, "in fifty milliseconds, as a thousand are told less often");
        sharing.note(solved(20_001, 5), true);
        assert_eq!(sharing.next_due(), Some(at(70)));
    }

    #[test]
    fn workers_tell_larger_positions_the_more_there_are() {
        let at = |tenths: u64| Duration::from_millis(100 * tenths);
        let mut sharing = Sharing::default();
        let mut adapted = |tenths, taken| {
            sharing.taken.0 = taken;
            (sharing.adapt(at(tenths), FIRST_SOLVED_FROM), sharing.taken.1)
        };
        let (most, few) = (MOST_TAKEN / 10, MOST_TAKEN / 10 / TOO_FEW);
        let as_at_first = FEW_TAKEN / 10 / TOO_FEW;
        assert_eq!(adapted(1, as_at_first), (None, at(1)), "smaller ones are hardly worth it");
        assert_eq!(adapted(2, most), (None, at(2)));
        assert_eq!(adapted(3, most + 1), (Some(2_000), at(3)));
        assert_eq!(adapted(7, 4 * most + 1), (Some(4_000), at(7)), "in a longer time");
        assert_eq!(adapted(8, few), (None, at(8)), "that is as many as there should be");
        let down: Vec<_> = (9..12).map(|tenths| adapted(tenths, few - 1).0).collect();
        assert_eq!(down, [Some(2_000), Some(FIRST_SOLVED_FROM), None]);
        let up: Vec<_> = (12..30).filter_map(|tenths| adapted(tenths, most + 1).0).collect();
        assert_eq!((up.len(), up.last()), (10, Some(&MOST_SOLVED_FROM)));
        let early = at(29) + Duration::from_millis(10);
        assert_eq!(sharing.adapt(early, FIRST_SOLVED_FROM), None, "it is too early");
        assert_eq!(sharing.taken, (0, at(29)));
    }

    #[test]
    fn workers_tell_smaller_positions_the_slower_they_search() {
        let at = |tenths: u64| Duration::from_millis(100 * tenths);
        assert_eq!(worth_telling(0), FIRST_SOLVED_FROM, "nobody knows yet");
        assert_eq!(worth_telling(400_000), 40);
        assert_eq!(worth_telling(100_000_000), FIRST_SOLVED_FROM);
        assert_eq!(worth_telling(u64::MAX), FIRST_SOLVED_FROM);
        assert_eq!(worth_telling(1), LEAST_SOLVED_FROM);
        let few = MOST_TAKEN / 10 / TOO_FEW - 1;
        let mut sharing = Sharing::default();
        let mut adapted = |tenths, taken| {
            sharing.taken.0 = taken;
            sharing.adapt(at(tenths), 60)
        };
        assert_eq!(adapted(1, few), Some(500), "half");
        assert_eq!(adapted(2, 10_000), Some(100), "a fifth of half of what there may be");
        assert_eq!(adapted(3, FEW_TAKEN / 10 / TOO_FEW), Some(60), "no smaller ones are worth it");
        assert_eq!(adapted(4, FEW_TAKEN / 10 / TOO_FEW), None);
    }

    #[test]
    fn more_small_positions_are_told_where_several_find_the_same() {
        let mut sharing = Sharing { solved_from: 40, ..Sharing::default() };
        for key in (1..=2_500).chain(1..=2_500) {
            assert!(sharing.note(solved(key, 41), true));
        }
        assert_eq!(sharing.again, 2_500, "a half");
        let at = Duration::from_millis(100);
        assert_eq!(
            sharing.adapt(at, 60),
            Some(8),
            "5,000 of 25,000 that would be half as many as may be"
        );
        sharing.taken.0 = 5_000;
        assert_eq!(sharing.adapt(2 * at, 60), Some(24), "and these had not been told before");
    }

    #[test]
    fn workers_tell_hardly_anything_of_what_is_hardly_worth_it() {
        let at = |tenths: u64| Duration::from_millis(100 * tenths);
        let few = FEW_TAKEN / 10;
        let mut sharing = Sharing { solved_from: 100, ..Sharing::default() };
        let mut adapted = |tenths, taken| {
            sharing.taken.0 = taken;
            sharing.adapt(at(tenths), 60)
        };
        assert_eq!(adapted(1, few / TOO_FEW - 1), Some(50), "half as many as there may be");
        assert_eq!(adapted(2, 0), Some(6), "an eighth, however few there were");
        assert_eq!(adapted(3, 0), Some(LEAST_SOLVED_FROM));
        assert_eq!(adapted(4, 0), None);
        assert_eq!(adapted(5, few), None);
        assert_eq!(adapted(6, few + 1), Some(2 * LEAST_SOLVED_FROM));
        assert_eq!(adapted(7, 20 * few), Some(42 * LEAST_SOLVED_FROM), "as many times as too many");
        assert_eq!(adapted(8, 20 * few), None, "but of these there may be more");
    }
}
