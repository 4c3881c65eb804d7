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
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// How many leases there may be ahead for each slot.
    most: u32,
    /// How long a slot should have work, at the least, without a word from the coordinator, in seconds.
    supply: f64,
    /// The time from the grant of a lease to its report, without the search.
    way: Option<f64>,
    /// How often that was measured.
    ways: u32,
    /// The time of a search.
    search: Option<f64>,
}

impl Ahead {
    /// Nothing is measured; so many leases ahead there may be for each slot.
    pub fn at_most(most: u32) -> Ahead {
        Ahead { most, supply: 0.0, way: None, ways: 0, search: None }
    }

    /// The same, where no lease hangs on what the others find: so many that each slot has work for so long.
    pub fn supplied(most: u32, supply: Duration) -> Ahead {
        Ahead { supply: supply.as_secs_f64(), ..Ahead::at_most(most) }
    }

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
        // A worker that says that its searches take no time has no more for that.
        let most = f64::from(slots) * f64::from(self.most);
        (way.max(self.supply) / search * f64::from(slots)).ceil().min(most) as u32
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
        let mut ahead = Ahead::at_most(1);
        (0..slots * WAYS_A_SLOT).for_each(|_| ahead.note(held, search, true));
        ahead
    }

    #[test]
    fn there_are_as_many_as_the_way_takes() {
        assert_eq!(Ahead::at_most(1).leases(8), 0, "nothing is known");
        assert_eq!(ahead(1_000_500, 1_000_000, 64), 0, "half a millisecond in a second");
        assert_eq!(ahead(8_000, 7_000, 1), 1);
        assert_eq!(ahead(8_000, 7_000, 64), 10);
        assert_eq!(ahead(8_000, 0, 64), 64, "no more than slots");
        assert_eq!(ahead(7_000, 8_000, 64), 0, "what cannot be");
    }

    #[test]
    fn leases_that_hang_on_nothing_wait_in_supply() {
        let ahead = |search_us: u64| {
            let search = Duration::from_micros(search_us);
            let way = Duration::from_micros(500);
            let mut ahead = Ahead::supplied(256, Duration::from_millis(20));
            (0..2 * WAYS_A_SLOT).for_each(|_| ahead.note(search + way, search, true));
            ahead.leases(2)
        };
        assert_eq!(ahead(1_000), 40, "20 milliseconds' work for two slots");
        assert_eq!(ahead(10), 512, "no more than there may be");
        assert_eq!(ahead(1_000_000), 0, "the way is nothing");
    }

    #[test]
    fn one_long_way_is_no_reason() {
        let (search, mut ahead) = (Duration::from_millis(100), Ahead::at_most(1));
        ahead.note(search + Duration::from_millis(50), search, true);
        assert_eq!(ahead.leases(1), 0, "nobody knows what it waited for");
        (0..3).for_each(|_| ahead.note(search + Duration::from_millis(1), search, true));
        assert_eq!(ahead.leases(1), 0, "the others did not wait");
    }

    #[test]
    fn the_way_of_a_lease_that_waited_for_a_slot_does_not_count() {
        let (way_and_search, search) = (Duration::from_millis(8), Duration::from_millis(7));
        let mut ahead = Ahead::at_most(1);
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
