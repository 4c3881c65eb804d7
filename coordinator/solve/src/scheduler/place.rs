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
}

impl Place {
    /// How many slots of the worker are in the first half of all.
    pub fn in_first_half(self) -> u64 {
        self.slots.div_ceil(2).saturating_sub(self.before).min(self.own)
    }
}
