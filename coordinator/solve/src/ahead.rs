//! How many leases a worker holds beyond its slots.
//!
//! Between two jobs a slot waits for its report to go and for the next lease to come. Where jobs are
//! short, that way is a good part of the time; a lease that is there already makes up for it. But
//! each lease ahead is a frontier node that was selected before its time, so there are no more of
//! them than the way takes.

use std::time::Duration;

/// One lease in so many may find its slot waiting: a smaller loss is left as it is.
const WORTH_IT: f64 = 0.02;
/// How many ways are measured for each slot before a lease is granted ahead. Once leases wait at a
/// worker hardly any way is measured, so what was measured first stays; and the first ways of workers that
/// join together are long.
const WAYS_A_SLOT: u32 = 4;
/// How fast what was measured follows a greater measure. What takes longer once has mostly waited
/// for something else.
const RISE: f64 = 1.0 / 64.0;

/// The mean times of a worker's jobs, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// The time from the grant of a lease to its report, without the search.
    way: Option<f64>,
    /// How often that was measured.
    ways: u32,
    /// The time of a search.
    search: Option<f64>,
}

impl Ahead {
    /// Notes a job that took a worker `held` from the grant to the report, and `search` of that in
    /// its search. `at_once` says that a slot was free for it.
    pub fn note(&mut self, held: Duration, search: Duration, at_once: bool) {
        let (held, search) = (held.as_secs_f64(), search.as_secs_f64());
        follow(&mut self.search, search, RISE);
        if at_once {
            follow(&mut self.way, (held - search).max(0.0), 1.0);
            self.ways = self.ways.saturating_add(1);
        }
    }

    /// How many leases a worker with so many slots holds ahead.
    pub fn leases(self, slots: u32) -> u32 {
        let (Some(way), Some(search)) = (self.way, self.search) else { return 0 };
        if way <= WORTH_IT * search || self.ways < slots.saturating_mul(WAYS_A_SLOT) {
            return 0;
        }
        // A worker that says that its searches take no time has at most a lease ahead for each slot.
        (way / search * f64::from(slots)).ceil().min(f64::from(slots)) as u32
    }
}

/// Moves a mean towards what was measured: by a fraction if that is more, and by `fall` of it if it
/// is less.
fn follow(mean: &mut Option<f64>, measured: f64, fall: f64) {
    let before = *mean.get_or_insert(measured);
    let share = if measured < before { fall } else { RISE };
    *mean = Some(before + share * (measured - before));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead(held_us: u64, search_us: u64, slots: u32) -> u32 {
        let (held, search) = (Duration::from_micros(held_us), Duration::from_micros(search_us));
        measured(held, search, slots).leases(slots)
    }

    /// After as many jobs of that length as must be measured.
    fn measured(held: Duration, search: Duration, slots: u32) -> Ahead {
        let mut ahead = Ahead::default();
        (0..slots * WAYS_A_SLOT).for_each(|_| ahead.note(held, search, true));
        ahead
    }

    #[test]
    fn there_are_as_many_as_the_way_takes() {
        assert_eq!(Ahead::default().leases(8), 0, "nothing is known");
        assert_eq!(ahead(1_000_500, 1_000_000, 64), 0, "half a millisecond in a second");
        assert_eq!(ahead(8_000, 7_000, 1), 1);
        assert_eq!(ahead(8_000, 7_000, 64), 10);
        assert_eq!(ahead(8_000, 0, 64), 64, "no more than slots");
        assert_eq!(ahead(7_000, 8_000, 64), 0, "what cannot be");
    }

    #[test]
    fn one_long_way_is_no_reason() {
        let (search, mut ahead) = (Duration::from_millis(100), Ahead::default());
        ahead.note(search + Duration::from_millis(50), search, true);
        assert_eq!(ahead.leases(1), 0, "nobody knows what it waited for");
        (0..3).for_each(|_| ahead.note(search + Duration::from_millis(1), search, true));
        assert_eq!(ahead.leases(1), 0, "the others did not wait");
    }

    #[test]
    fn the_way_of_a_lease_that_waited_for_a_slot_does_not_count() {
        let (way_and_search, search) = (Duration::from_millis(8), Duration::from_millis(7));
        let mut ahead = Ahead::default();
        (0..1_000).for_each(|_| ahead.note(2 * search, search, false));
        assert_eq!(ahead.leases(64), 0);
        let mut ahead = measured(way_and_search, search, 64);
        (0..20).for_each(|_| ahead.note(2 * search, search, true));
        let after_some_waits = ahead.leases(64);
        assert!((11..30).contains(&after_some_waits), "{after_some_waits}");
        ahead.note(way_and_search, search, true);
        assert_eq!(ahead.leases(64), 10);
    }
}
