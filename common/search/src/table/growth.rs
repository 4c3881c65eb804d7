//! How a table grows: when many entries have been written for each place, there are twice as many
//! places, and every entry moves to its new one.
//!
//! A table in the caches is read several times as fast as one in memory, and to forget positions
//! that cost little costs little: Connect Four's 7x6 takes 5 % more nodes with a twelfth of the
//! places than with one for each position, and two thirds of the time.
//!
//! The number of a key's bucket is its hash as a fraction of the buckets, so it does not get smaller
//! when there are more of them. From the last bucket down, entries move up into places that have
//! been vacated already. The others may go on with their searches meanwhile: they write to new
//! places, and read from the new one first and then from the old one. What is lost when they meet
//! costs work, never truth.

use std::sync::atomic::Ordering::Relaxed;

use super::TranspositionTable;
use super::entry::{Scrambled, Words};

/// How many buckets a table begins with, if it may have so many: 2 MiB, one large page.
pub(super) const FIRST_BUCKETS: usize = 1 << 15;

/// How many times as many buckets there are after each step.
const STEP: usize = 2;

/// One in so many entries is counted when it is written: counting all of them in one place would
/// make threads wait for each other. With two places a bucket, the table grows when each was written
/// half as many times.
const SAMPLED: u64 = 16;

/// Whether the writing of this key's entry is counted.
#[inline]
pub(super) fn is_sample(key: Scrambled) -> bool {
    key.low < u64::MAX / SAMPLED
}

impl TranspositionTable {
    /// Counts [`SAMPLED`] entries that were written.
    #[inline]
    pub(super) fn count_samples(&self) {
        let written = self.written.fetch_add(1, Relaxed);
        let used = self.used.load(Relaxed);
        // The same entries written again and again need no more places.
        if written >= used && used < self.buckets && self.occupied.load(Relaxed) >= used as u64 {
            self.grow();
        }
    }

    /// Takes more buckets into use, unless another thread is at it.
    #[cold]
    #[inline(never)]
    fn grow(&self) {
        let Ok(_growing) = self.growing.try_lock() else { return };
        let before = self.used.load(Relaxed);
        let after = before.saturating_mul(STEP).min(self.buckets);
        if self.written.load(Relaxed) < before || before == after {
            return;
        }
        self.moving.store(before, Relaxed);
        self.used.store(after, Relaxed);
        for index in (0..before).rev() {
            self.move_bucket(index, after);
        }
        self.moving.store(0, Relaxed);
    }

    /// Moves the entries of a bucket to where they belong when `buckets` are in use.
    fn move_bucket(&self, index: usize, buckets: usize) {
        let bucket = self.memory.bucket(index);
        for place in [&bucket.big, &bucket.recent] {
            let words = Words::read(place);
            let key = words.key();
            if words.is_empty() || key.bucket(buckets) == index {
                continue;
            }
            Words::EMPTY.write(place);
            self.memory.bucket(key.bucket(buckets)).take_over(key, words);
        }
    }
}
