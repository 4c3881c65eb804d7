//! How long slots wait for jobs.

use std::collections::VecDeque;
use std::time::Duration;

/// The time that slots were free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// While a message and its answer were on their way: of each wait that a job has ended, as much as these take.
    pub way: Duration,
    /// The rest of these waits: there was no job, or the coordinator was not that far yet.
    pub idle: Duration,
    /// The waits that no job has ended: what was open at the end was searched by others.
    pub tail: Duration,
}

/// The free slots of a worker: since when each of them is free, in this order.
#[derive(Debug)]
pub(super) struct FreeSlots(VecDeque<Duration>);

impl FreeSlots {
    /// All of them, from the start of the clock.
    pub fn all(slots: u32) -> FreeSlots {
        FreeSlots(vec![Duration::ZERO; slots as usize].into())
    }

    /// All of them, from `now` on.
    pub fn free_all(&mut self, slots: u32, now: Duration) {
        self.0 = vec![now; slots as usize].into();
    }

    /// A slot becomes free.
    pub fn free(&mut self, now: Duration) {
        self.0.push_back(now);
    }

    /// The slot that is free for longest gets a job; how long it has waited.
    pub fn take(&mut self, now: Duration) -> Duration {
        self.0.pop_front().map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// How long those that are free have waited by `now`, together.
    pub fn waited(&self, now: Duration) -> Duration {
        self.0.iter().map(|&since| now.saturating_sub(since)).sum()
    }
}

impl Waits {
    /// A wait has ended with a job.
    pub(super) fn end(&mut self, wait: Duration, round_trip: Duration) {
        let way = wait.min(round_trip);
        self.way += way;
        self.idle += wait - way;
    }
}
