//! The transposition table of the depth-first searches: bounded, shared by threads, lock-free.
//!
//! One entry holds what is known of one position, whichever search found it: between which
//! outcomes its value lies, and the proof and disproof number of the threshold that was searched
//! last. So PDS, PDS-PN, df-pn and alpha-beta share one table, and what is learnt about one
//! threshold helps with the others.
//!
//! **Soundness.** An entry is found by the whole key of its position, never by a hash alone, and
//! [`Game::key`] promises that positions with the same key have the same value: it holds the
//! part of the history that can still matter. So whatever is read here holds on every way to the
//! position; there is no graph-history interaction to care for.
//!
//! **Threads.** An entry is four words that are read and written without a lock. The two words
//! of the key are stored xor-ed with two checksums of the other two words; an entry that is torn
//! between two writers then shows the key of no position and is not found. A lost update costs
//! work, never truth.
//!
//! **Replacement** is TwoBig (Breuker, Uiterwijk and van den Herik, named in section 3.3 of the
//! PDS-PN paper): a bucket has two entries in one cache line. The first keeps the position that
//! cost most work; the second takes what comes.
//!
//! [`Game::key`]: crate::Game::key

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::effort::{Effort, EffortPair};
use crate::outcome::Threshold;

/// The bytes of one entry.
pub const ENTRY_BYTES: u64 = 32;

const ENTRY_WORDS: usize = 4;
const BUCKET_WORDS: usize = 2 * ENTRY_WORDS;
const BUCKET_BYTES: usize = 8 * BUCKET_WORDS;

/// A transposition table of a size that is fixed when it is made.
#[derive(Debug)]
pub struct TranspositionTable {
    words: Box<[AtomicU64]>,
    /// The index of the first word that begins a cache line.
    first: usize,
    buckets: usize,
    occupied: AtomicU64,
}

/// What the table knows of a position and a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The effort numbers.
    pub pair: EffortPair,
    /// The work that was spent on the position, in nodes.
    pub work: u32,
}

/// A table that is too large for the memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for a transposition table of {0} bytes; give it fewer")]
pub struct TableTooLarge(pub u64);

impl TranspositionTable {
    /// A table of at most `bytes` bytes, but of one bucket at the least. The memory is taken from
    /// the system as it is filled, not at once.
    pub fn with_bytes(bytes: u64) -> Result<TranspositionTable, TableTooLarge> {
        let too_large = || TableTooLarge(bytes);
        let buckets = usize::try_from(bytes / BUCKET_BYTES as u64).map_err(|_| too_large())?.max(1);
        // One bucket more, to begin at a cache line.
        let count = buckets.checked_add(1).and_then(|b| b.checked_mul(BUCKET_WORDS));
        let words = count.filter(|&c| c <= isize::MAX as usize / 8).ok_or_else(too_large)?;
        let words = bytemuck::try_zeroed_slice_box::<AtomicU64>(words).map_err(|()| too_large())?;
        let first = words.as_ptr().align_offset(BUCKET_BYTES).min(BUCKET_WORDS);
        Ok(TranspositionTable { words, first, buckets, occupied: AtomicU64::new(0) })
    }

    /// How many positions the table can hold.
    pub fn capacity(&self) -> u64 {
        2 * self.buckets as u64
    }

    /// How many positions it holds. When threads fill the same bucket at the same time, it may
    /// count one too many.
    pub fn len(&self) -> u64 {
        self.occupied.load(Relaxed).min(self.capacity())
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
        self.occupied.store(0, Relaxed);
    }

    /// Begins to load what [`TranspositionTable::get`] will read for this key: a search that knows
    /// a few keys ahead need not wait for the memory.
    #[inline]
    pub fn prefetch(&self, key: u128) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let [bucket, _] = self.bucket(key);
            // SAFETY: a prefetch changes nothing that a program can see, and the address is that
            // of a bucket.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bucket.as_ptr().cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// What is known of `threshold` in the position with this key.
    #[inline]
    pub fn get(&self, key: u128, threshold: Threshold) -> Option<Known> {
        let entry = self.find(key)?;
        let pair = match entry.verdict(threshold) {
            Some(holds) => EffortPair::solved(holds),
            None if entry.threshold == threshold.0 => entry.pair,
            None => return None,
        };
        Some(Known { pair, work: entry.work })
    }

    /// Keeps what was found out about `threshold` in the position with this key, after `work`
    /// nodes in all. Facts that the table has about other thresholds stay.
    #[inline]
    pub fn put(&self, key: u128, threshold: Threshold, pair: EffortPair, work: u32) {
        let [big, recent] = self.bucket(key);
        let mut entry = Entry { pair, work, threshold: threshold.0, lower: 0, above: u8::MAX };
        match pair.verdict() {
            Some(true) => entry.lower = threshold.0,
            Some(false) => entry.above = threshold.0,
            None => {}
        }
        let in_big = read(big);
        let big_is_free = in_big.is_none_or(|(k, _)| k == key);
        let known = if big_is_free { in_big } else { read(recent).filter(|(k, _)| *k == key) };
        if let Some((_, known)) = known {
            entry.lower = entry.lower.max(known.lower);
            entry.above = entry.above.min(known.above);
            entry.work = entry.work.max(known.work);
        }
        if big_is_free {
            self.write(big, key, entry);
        } else if let Some((other_key, other)) = in_big.filter(|(_, e)| entry.work >= e.work) {
            self.write(recent, other_key, other);
            self.write(big, key, entry);
        } else {
            self.write(recent, key, entry);
        }
    }

    #[inline]
    fn find(&self, key: u128) -> Option<Entry> {
        let found = |slot| read(slot).filter(|(k, _)| *k == key).map(|(_, entry)| entry);
        let [big, recent] = self.bucket(key);
        found(big).or_else(|| found(recent))
    }

    #[inline]
    fn bucket(&self, key: u128) -> [&[AtomicU64]; 2] {
        let product = u128::from(key as u64 ^ 0xa076_1d64_78bd_642f)
            * u128::from((key >> 64) as u64 ^ 0xe703_7ed1_a0b4_28db);
        let hash = (product as u64 ^ (product >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let index = ((u128::from(hash) * self.buckets as u128) >> 64) as usize;
        let begin = self.first + index * BUCKET_WORDS;
        let (big, recent) = self.words[begin..begin + BUCKET_WORDS].split_at(ENTRY_WORDS);
        [big, recent]
    }

    #[inline]
    fn write(&self, slot: &[AtomicU64], key: u128, entry: Entry) {
        let [pair, rest] = entry.pack();
        let [low, high] = checksums(pair, rest);
        if slot[3].load(Relaxed) == 0 {
            self.occupied.fetch_add(1, Relaxed);
        }
        slot[0].store(key as u64 ^ low, Relaxed);
        slot[1].store((key >> 64) as u64 ^ high, Relaxed);
        slot[2].store(pair, Relaxed);
        slot[3].store(rest, Relaxed);
    }
}

/// An entry without its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    pair: EffortPair,
    work: u32,
    /// The threshold that `pair` speaks of.
    threshold: u8,
    /// Thresholds up to this one are proved; 0 holds anyway.
    lower: u8,
    /// Thresholds from this one on are disproved; 255 never holds on a scale of at most 255.
    above: u8,
}

impl Entry {
    #[inline]
    fn verdict(self, threshold: Threshold) -> Option<bool> {
        if threshold.0 <= self.lower {
            Some(true)
        } else if threshold.0 >= self.above {
            Some(false)
        } else {
            None
        }
    }

    /// The two words of an entry; the second is never 0, which marks an empty one.
    #[inline]
    fn pack(self) -> [u64; 2] {
        let pair =
            u64::from(self.pair.proof.to_bits()) << 32 | u64::from(self.pair.disproof.to_bits());
        let rest = [1, self.threshold, self.lower, self.above];
        [pair, u64::from(self.work) << 32 | u64::from(u32::from_le_bytes(rest))]
    }

    #[inline]
    fn unpack(pair: u64, rest: u64) -> Entry {
        let [_, threshold, lower, above] = (rest as u32).to_le_bytes();
        let pair = EffortPair {
            proof: Effort::from_bits((pair >> 32) as u32),
            disproof: Effort::from_bits(pair as u32),
        };
        Entry { pair, work: (rest >> 32) as u32, threshold, lower, above }
    }
}

/// The key and the content of an entry, if it is not empty. A torn entry has a key that nobody
/// asks for.
#[inline]
fn read(slot: &[AtomicU64]) -> Option<(u128, Entry)> {
    let [low, high, pair, rest] = [0, 1, 2, 3].map(|word: usize| slot[word].load(Relaxed));
    if rest == 0 {
        return None;
    }
    let sums = checksums(pair, rest);
    let key = u128::from(high ^ sums[1]) << 64 | u128::from(low ^ sums[0]);
    Some((key, Entry::unpack(pair, rest)))
}

/// Two checksums of two words. The four factors make a matrix with an odd determinant, so no two
/// contents have both checksums in common.
#[inline]
fn checksums(pair: u64, rest: u64) -> [u64; 2] {
    let sum = |p: u64, r: u64| pair.wrapping_mul(p).wrapping_add(rest.wrapping_mul(r));
    [
        sum(0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5ba),
        sum(0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use proptest::prelude::*;

    fn pair(proof: u64, disproof: u64) -> EffortPair {
        EffortPair { proof: Effort::finite(proof), disproof: Effort::finite(disproof) }
    }

    #[test]
    fn the_checksums_tell_all_contents_apart() {
        let [a, c] = checksums(1, 0);
        let [b, d] = checksums(0, 1);
        assert_eq!(a.wrapping_mul(d).wrapping_sub(b.wrapping_mul(c)) & 1, 1);
    }

    #[test]
    fn a_table_is_at_least_one_bucket_and_at_most_the_memory() {
        assert_eq!(TranspositionTable::with_bytes(0).map(|t| t.capacity()), Ok(2));
        assert_eq!(TranspositionTable::with_bytes(640).map(|t| t.capacity()), Ok(20));
        let error = TranspositionTable::with_bytes(u64::MAX).map(|t| t.capacity());
        assert_eq!(error, Err(TableTooLarge(u64::MAX)));
    }

    #[test]
    fn facts_about_one_threshold_answer_others() {
        let table = TranspositionTable::with_bytes(1 << 10).unwrap();
        table.put(7, Threshold(3), EffortPair::PROVED, 5);
        table.put(7, Threshold(6), EffortPair::DISPROVED, 4);
        table.put(7, Threshold(5), pair(2, 9), 3);
        let known = |t| table.get(7, Threshold(t)).map(|k| k.pair);
        assert_eq!(known(2), Some(EffortPair::PROVED));
        assert_eq!(known(3), Some(EffortPair::PROVED));
        assert_eq!(known(4), None);
        assert_eq!(known(5), Some(pair(2, 9)));
        assert_eq!(known(6), Some(EffortPair::DISPROVED));
        assert_eq!(table.get(7, Threshold(5)).map(|k| k.work), Some(5));
        assert_eq!((table.len(), table.get(8, Threshold(5))), (1, None));
        table.clear();
        assert_eq!((table.len(), table.get(7, Threshold(5))), (0, None));
    }

    #[test]
    fn the_position_that_cost_most_survives_a_flood() {
        let table = TranspositionTable::with_bytes(0).unwrap();
        table.put(1, Threshold(1), pair(3, 4), 1000);
        for key in 2..50 {
            table.put(key, Threshold(1), pair(1, 1), 10);
            assert!(table.get(key, Threshold(1)).is_some(), "the newest is always kept");
        }
        assert_eq!(table.get(1, Threshold(1)).map(|k| k.pair), Some(pair(3, 4)));
        table.put(50, Threshold(1), pair(5, 6), 1000);
        assert_eq!(table.get(50, Threshold(1)).map(|k| k.pair), Some(pair(5, 6)));
        assert_eq!(table.get(1, Threshold(1)).map(|k| k.pair), Some(pair(3, 4)));
        assert_eq!((table.len(), table.capacity()), (2, 2));
    }

    proptest! {
        /// A small table forgets, but what it tells is the last that it was told or follows from
        /// a fact that it was told.
        #[test]
        fn a_table_tells_nothing_but_what_it_was_told(
            puts in prop::collection::vec((0u128..40, 1u8..4, 1u64..9, 1u32..100), 1..200),
            keys_far_apart: bool, buckets in 1u64..12,
        ) {
            let table = TranspositionTable::with_bytes(buckets * 64).unwrap();
            let mut told = HashMap::new();
            for (key, threshold, number, work) in puts {
                // Keys that differ in their high half only, or in their low half only.
                let key = if keys_far_apart { key << 64 } else { key };
                // Values 2 throughout: 1 and 2 can be proved, 3 disproved.
                let pair = if number == 8 { EffortPair::solved(threshold < 3) } else { pair(number, 9) };
                table.put(key, Threshold(threshold), pair, work);
                told.insert((key, threshold), pair);
                for other in 1..4 {
                    let Some(known) = table.get(key, Threshold(other)) else {
                        prop_assert_ne!(other, threshold, "the newest entry is there");
                        continue;
                    };
                    match known.pair.verdict() {
                        Some(holds) => prop_assert_eq!(holds, other < 3),
                        None => prop_assert_eq!(Some(&known.pair), told.get(&(key, other))),
                    }
                }
            }
            prop_assert!(table.len() <= table.capacity());
        }
    }

    /// Threads write to a few buckets as fast as they can; every number that is read must be one
    /// that some thread wrote for that very position.
    #[test]
    fn torn_entries_are_not_found() {
        let table = TranspositionTable::with_bytes(2 * 64).unwrap();
        let numbers = |key: u128, round: u32| {
            let secret = (key as u32).wrapping_mul(0x9e37_79b9) >> 8;
            pair(u64::from(round) + 1, u64::from(round ^ secret) + 1)
        };
        let found: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4u128)
                .map(|thread| {
                    let table = &table;
                    scope.spawn(move || {
                        let mut found = 0;
                        for round in 0..200_000u32 {
                            let key = u128::from(round % 5) + 1;
                            let work = round.wrapping_mul(2_654_435_761 + thread as u32);
                            table.put(key, Threshold(1), numbers(key, round), work);
                            let other = u128::from(round.wrapping_mul(7) % 5) + 1;
                            if let Some(known) = table.get(other, Threshold(1)) {
                                let round = known.pair.proof.to_bits() - 1;
                                assert_eq!(known.pair, numbers(other, round));
                                found += 1;
                            }
                        }
                        found
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert!(found > 1000, "{found} of 800000 look-ups found something");
    }
}
