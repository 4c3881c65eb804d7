//! Where a worker stands among all, by its slots.

/// Where the slots of a worker are among all slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// How many there are in all.
    pub slots: u64,
    /// How many come before the worker's.
    pub before: u64,
    /// How many are the worker's.
    pub own: u64,
    /// How many leases it may hold: one for each of its slots, and those that wait for one.
    pub room: u64,
}

impl Place {
    /// How many slots of the worker are among the first so many.
    pub fn among_first(self, slots: u64) -> u64 {
        slots.saturating_sub(self.before).min(self.own)
    }
}
