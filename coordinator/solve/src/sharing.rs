//! Solved positions that travel: what one worker's searches have solved with much work goes into
//! the tables of the others.
//!
//! It is bounded: workers tell what took them so much work that all of them together do not tell too many, each
//! position goes out once, only those with the most work go out if there are still too many, and never more often
//! than five hundred times a second, or less often to many workers. Each time a worker answers with what it has
//! solved itself since. A worker that joins later is told those of the past that took most work.

mod solved_from;

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use jlpns_games::Threshold;
use jlpns_search::SolvedPosition;
use solved_from::SolvedFrom;

use super::event::Action;
use super::ids::WorkerId;
use super::recent::Recent;
use super::{Notice, Refusal, Solve, SolveSettings};

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
    solved_from: SolvedFrom,
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
            solved_from: SolvedFrom::default(),
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
        let SolvedPosition { key, threshold, holds, work } = solved;
        let known = self.known.get(&(key, threshold));
        self.solved_from.note(known.is_some());
        match known {
            Some(&(known, _)) => known == holds,
            None => {
                self.known.note((key, threshold), (holds, work));
                if anybody {
                    self.waiting.push(solved);
                }
                true
            }
        }
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
        if self.shares() { self.sharing.solved_from.nodes() } else { 0 }
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
        let rate = self.dispatch.scheduler.median_rate();
        let workers = || self.dispatch.scheduler.workers().map(|(id, _)| id);
        if let Some(work) = self.sharing.solved_from.adapt(now, rate) {
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
    fn smaller_positions_are_told_where_several_workers_find_the_same() {
        let at = |tenths: u64| Duration::from_millis(100 * tenths);
        let mut sharing = Sharing::default();
        // So fast that positions of fewer than 60 nodes are hardly worth telling.
        let rate = 600_000;
        assert_eq!([1, 2].map(|n| sharing.solved_from.adapt(at(n), rate)), [Some(125), Some(15)]);
        for key in (1..=2_500).chain(1..=2_500) {
            assert!(sharing.note(solved(key, 41), true));
        }
        assert_eq!(sharing.solved_from.adapt(at(3), rate), Some(3), "half were known");
        assert!((1..=5_000).all(|n| sharing.note(solved(1 << 20 | n, 41), true)));
        assert_eq!(sharing.solved_from.adapt(at(4), rate), Some(9), "and these were not");
    }
}
