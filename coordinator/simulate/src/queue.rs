//! What will happen, in the order of virtual time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Happenings by their time; those of the same time in the order in which they were put in.
#[derive(Debug)]
pub struct TimeQueue<T> {
    heap: BinaryHeap<Entry<T>>,
    put: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Duration,
    number: u64,
    what: T,
}

impl<T> TimeQueue<T> {
    /// An empty queue.
    pub fn new() -> TimeQueue<T> {
        TimeQueue { heap: BinaryHeap::new(), put: 0 }
    }

    /// Adds what happens at a time.
    pub fn put(&mut self, at: Duration, what: T) {
        self.put += 1;
        self.heap.push(Entry { at, number: self.put, what });
    }

    /// When something happens next.
    pub fn next_at(&self) -> Option<Duration> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Takes out what happens next, and when.
    pub fn next(&mut self) -> Option<(Duration, T)> {
        self.heap.pop().map(|entry| (entry.at, entry.what))
    }
}

/// The heap gives out its greatest entry first: that is the earliest.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Entry<T>) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Entry<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Entry<T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn comes_out_as_a_stable_sort_would_have_it(times in prop::collection::vec(0..8u64, 0..50)) {
            let mut queue = TimeQueue::new();
            let mut sorted = Vec::new();
            for (index, seconds) in times.into_iter().enumerate() {
                let at = Duration::from_secs(seconds);
                queue.put(at, index);
                sorted.push((at, index));
            }
            sorted.sort_by_key(|(at, _)| *at);
            let taken: Vec<_> = std::iter::from_fn(|| queue.next()).collect();
            prop_assert_eq!(taken, sorted);
        }
    }
}
