//! How large the tables may be: it follows from the memory that the game is given.

/// The bytes that a board takes while the tables are filled, at the most; [`TABLE_BYTES`] of them are
/// kept.
///
/// [`TABLE_BYTES`]: super::knowledge::TABLE_BYTES
const BOARD_BYTES: u64 = 64;
/// More boards take minutes to judge, in which no search goes on.
const MOST_BOARDS: u64 = 1 << 24;
/// The memory for tables if none is given.
const USUAL_BYTES: u64 = 256 << 20;

/// What there is room for. One half of the memory is for the boards, the other for the ways between
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// The most boards that tables are made for.
    pub boards: u64,
    /// The most states of a component of which it is worked out which lead to which: a bit for each
    /// pair.
    pub reach: usize,
}

impl Room {
    /// The room in so many bytes.
    pub fn of(bytes: u64) -> Room {
        let half = bytes / 2;
        let reach = half.saturating_mul(8).isqrt();
        Room { boards: (half / BOARD_BYTES).min(MOST_BOARDS), reach: reach as usize }
    }
}

impl Default for Room {
    fn default() -> Room {
        Room::of(USUAL_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_follows_from_the_memory() {
        assert_eq!(Room::default(), Room { boards: 1 << 21, reach: 1 << 15 });
        assert_eq!(Room::of(0), Room { boards: 0, reach: 0 });
        assert_eq!(Room::of(1 << 20), Room { boards: 1 << 13, reach: 1 << 11 });
        assert_eq!(Room::of(u64::MAX).boards, MOST_BOARDS);
    }
}
