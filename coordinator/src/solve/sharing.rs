//! Solved positions that travel: what one worker's searches have solved with much work goes into
//! the tables of the others.
//!
//! It is bounded: each position goes out once, only those with the most work go out if there are too
//! many, and never more often than ten times a second.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jlpns_common::{SolvedPosition, Threshold};

use super::event::{Action, WorkerId};
use super::{Refusal, Solve};

/// Positions that took fewer nodes than this stay where they were solved: another worker finds them
/// out as fast as it is told.
pub const SOLVED_FROM: u32 = 1_000;
/// How often positions go out.
const INTERVAL: Duration = Duration::from_millis(100);
/// How many positions may go out at a time, for all workers together: 200,000 of some 25 bytes ten
/// times a second are half of a gigabit line.
const MOST_SENT: usize = 200_000;
/// How many positions one worker may get at a time.
const MOST_FOR_EACH: usize = 2_000;
/// How many positions are remembered as told, twice.
const REMEMBERED: usize = 1 << 18;

/// What waits to go out, and what has.
#[derive(Debug, Default)]
pub struct Sharing {
    waiting: Vec<SolvedPosition>,
    /// When the next positions go out at the earliest.
    due: Duration,
    told: Told,
}

/// What was told lately: two generations, of which the older one is forgotten when the younger one
/// is full.
#[derive(Debug, Default)]
struct Told {
    young: HashSet<(u128, Threshold)>,
    old: HashSet<(u128, Threshold)>,
}

impl Told {
    /// Whether it is new; from now on it is not.
    fn note(&mut self, solved: &SolvedPosition) -> bool {
        let what = (solved.key, solved.threshold);
        if self.old.contains(&what) || !self.young.insert(what) {
            return false;
        }
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        true
    }
}

impl Sharing {
    /// When something is to go out.
    pub fn next_due(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then_some(self.due)
    }

    /// What is to go out now, for so many workers.
    fn take_due(&mut self, now: Duration, workers: usize) -> Option<Arc<[SolvedPosition]>> {
        if self.next_due().is_none_or(|due| now < due) {
            return None;
        }
        self.due = now + INTERVAL;
        let most = (MOST_SENT / workers.max(1)).clamp(1, MOST_FOR_EACH);
        self.waiting.sort_unstable_by_key(|solved| std::cmp::Reverse(solved.work));
        self.waiting.truncate(most);
        Some(std::mem::take(&mut self.waiting).into())
    }
}

impl Solve {
    /// A worker tells what its searches have solved.
    pub(super) fn solved_elsewhere(
        &mut self,
        worker: WorkerId,
        solved: &[SolvedPosition],
    ) -> Result<(), Refusal> {
        if self.scheduler.worker(worker).is_none() {
            return Err(Refusal::UnknownWorker(worker));
        }
        // Alone, there is nobody to tell.
        if self.settings.share && self.scheduler.workers().nth(1).is_some() {
            for solved in solved {
                if self.sharing.told.note(solved) {
                    self.sharing.waiting.push(*solved);
                }
            }
        }
        Ok(())
    }

    /// Tells all workers what waits to be told, when it is time.
    pub(super) fn share(&mut self, now: Duration) {
        let workers: Vec<WorkerId> = match self.sharing.next_due() {
            Some(due) if due <= now => self.scheduler.workers().map(|(id, _)| id).collect(),
            _ => return,
        };
        if let Some(solved) = self.sharing.take_due(now, workers.len()) {
            let tell = |worker| Action::Tell { worker, solved: solved.clone() };
            self.actions.extend(workers.into_iter().map(tell));
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
    fn each_position_is_told_once() {
        let mut told = Told::default();
        assert!(told.note(&solved(1, 5)));
        assert!(!told.note(&solved(1, 7)));
        for key in 2..=REMEMBERED as u128 {
            assert!(told.note(&solved(key, 5)));
        }
        assert!(!told.note(&solved(1, 5)), "the older generation is still known");
    }

    #[test]
    fn the_most_work_goes_first_and_not_too_often() {
        let at = Duration::from_millis;
        let mut sharing = Sharing::default();
        assert_eq!(sharing.take_due(at(0), 4), None);
        sharing.waiting.extend((1..=3000).map(|n| solved(u128::from(n), n)));
        let sent = sharing.take_due(at(0), 4).expect("something waits");
        assert_eq!((sent.len(), sent[0].work), (MOST_FOR_EACH, 3000));
        sharing.waiting.push(solved(1, 5));
        assert_eq!(sharing.next_due(), Some(INTERVAL));
        assert_eq!(sharing.take_due(at(99), 4), None);
        assert_eq!(sharing.take_due(at(100), 4).map(|sent| sent.len()), Some(1));
        sharing.waiting.extend((1..=3000).map(|n| solved(u128::from(n), n)));
        let sent = sharing.take_due(at(200), 1000).expect("something waits");
        assert_eq!(sent.len() * 1000, MOST_SENT);
    }
}
