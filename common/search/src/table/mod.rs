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
//! of the key are scrambled and xor-ed with the other two words; an entry that is torn between two
//! writers then shows a key that nobody asks for. A lost update costs work, never truth.
//!
//! **Replacement** is TwoBig (Breuker, Uiterwijk and van den Herik, named in section 3.3 of the
//! PDS-PN paper): a bucket has two entries in one cache line. The first keeps the position that
//! cost most work; the second takes what comes.
//!
//! **Growth.** Only as many buckets are in use as the search is worth, up to the size that was asked
//! for (`growth`): a small search stays in the caches and clears no memory that it does not use.
//!
//! [`Game::key`]: jlpns_games::Game::key

mod growth;
mod memory;
mod solved;

#[cfg(test)]
mod tests;

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use jlpns_games::Threshold;
use memory::Memory;
pub use solved::SolvedPosition;

use crate::effort::{Effort, EffortPair};
use crate::prefetch::prefetch;

/// The bytes of one entry.
pub const ENTRY_BYTES: u64 = 32;

const ENTRY_WORDS: usize = 4;
const BUCKET_WORDS: usize = 2 * ENTRY_WORDS;
const BUCKET_BYTES: usize = 8 * BUCKET_WORDS;

/// A transposition table of a bounded size.
#[derive(Debug)]
pub struct TranspositionTable {
    memory: Memory,
    /// How many buckets there may be.
    buckets: usize,
    /// How many buckets are in use: the first ones.
    used: AtomicUsize,
    /// How many were in use before, while their entries move to new places; else 0.
    moving: AtomicUsize,
    occupied: AtomicU64,
    /// How many entries were written, in units of [`growth::SAMPLED`].
    written: AtomicUsize,
    /// Held by the thread that makes the table grow.
    growing: Mutex<()>,
    /// Positions that are solved with so much work are told to others.
    solved_from: AtomicU32,
    /// Those that wait to be told.
    solved: Mutex<Vec<SolvedPosition>>,
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
        Ok(TranspositionTable {
            memory: Memory::zeroed(buckets).ok_or_else(too_large)?,
            buckets,
            used: AtomicUsize::new(buckets.min(growth::FIRST_BUCKETS)),
            moving: AtomicUsize::new(0),
            occupied: AtomicU64::new(0),
            written: AtomicUsize::new(0),
            growing: Mutex::new(()),
            solved_from: AtomicU32::new(u32::MAX),
            solved: Mutex::new(Vec::new()),
        })
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
        let _growing = self.growing.lock();
        let used = self.used.swap(self.buckets.min(growth::FIRST_BUCKETS), Relaxed);
        self.memory.clear(used);
        self.occupied.store(0, Relaxed);
        self.written.store(0, Relaxed);
        self.take_solved();
    }

    /// Begins to load what [`TranspositionTable::get`] will read for this key: a search that knows
    /// a few keys ahead need not wait for the memory.
    #[inline]
    pub fn prefetch(&self, key: u128) {
        let [bucket, _] = self.bucket(Scrambled::new(key), self.used.load(Relaxed));
        prefetch(&bucket[0]);
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
        self.insert(key, threshold, pair, work);
        if work >= self.solved_from.load(Relaxed)
            && let Some(holds) = pair.verdict()
        {
            self.keep(SolvedPosition { key, threshold, holds, work });
        }
    }

    #[inline]
    fn insert(&self, key: u128, threshold: Threshold, pair: EffortPair, work: u32) {
        let key = Scrambled::new(key);
        let [big, recent] = self.bucket(key, self.used.load(Relaxed));
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
        if growth::is_sample(key) {
            self.count_samples();
        }
    }

    #[inline]
    fn find(&self, key: u128) -> Option<Entry> {
        let key = Scrambled::new(key);
        let in_bucket = |buckets| {
            let [big, recent] = self.bucket(key, buckets);
            find_in(big, key).or_else(|| find_in(recent, key))
        };
        let found = in_bucket(self.used.load(Relaxed));
        if found.is_none() {
            let moving = self.moving.load(Relaxed);
            if moving != 0 {
                return in_bucket(moving);
            }
        }
        found
    }

    /// The bucket of a key when `buckets` are in use.
    #[inline]
    fn bucket(&self, key: Scrambled, buckets: usize) -> [&[AtomicU64]; 2] {
        let (big, recent) = self.memory.bucket(key.bucket(buckets)).split_at(ENTRY_WORDS);
        [big, recent]
    }

    #[inline]
    fn write(&self, slot: &[AtomicU64], key: Scrambled, entry: Entry) {
        if slot[3].load(Relaxed) == 0 {
            self.occupied.fetch_add(1, Relaxed);
        }
        store(slot, key, entry);
    }
}

/// A key as it is stored: other bits, but none lost. Keys that are alike, or that differ as two
/// contents of an entry do, are not alike here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scrambled {
    low: u64,
    high: u64,
}

impl Scrambled {
    #[inline]
    fn new(key: u128) -> Scrambled {
        // Odd factors on the diagonal of a triangular matrix: it can be inverted.
        let (low, high) = (key as u64, (key >> 64) as u64);
        let low_part = low.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let high_part = high.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Scrambled { low: low.wrapping_mul(0x9e37_79b9_7f4a_7c15), high: low_part ^ high_part }
    }

    /// The number of its bucket of so many. It does not get smaller with more buckets.
    #[inline]
    fn bucket(self, buckets: usize) -> usize {
        let hash = self.low ^ self.high.rotate_right(1);
        ((u128::from(hash) * buckets as u128) >> 64) as usize
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

/// The content of an entry, if it is that of this key.
#[inline]
fn find_in(slot: &[AtomicU64], key: Scrambled) -> Option<Entry> {
    let [low, high, pair, rest] = [0, 1, 2, 3].map(|word: usize| slot[word].load(Relaxed));
    let found = low ^ pair == key.low && high ^ rest == key.high && rest != 0;
    found.then(|| Entry::unpack(pair, rest))
}

/// The key and the content of an entry, if it is not empty. A torn entry has a key that nobody
/// asks for.
#[inline]
fn read(slot: &[AtomicU64]) -> Option<(Scrambled, Entry)> {
    let [low, high, pair, rest] = [0, 1, 2, 3].map(|word: usize| slot[word].load(Relaxed));
    let key = Scrambled { low: low ^ pair, high: high ^ rest };
    (rest != 0).then(|| (key, Entry::unpack(pair, rest)))
}

#[inline]
fn store(slot: &[AtomicU64], key: Scrambled, entry: Entry) {
    let [pair, rest] = entry.pack();
    slot[0].store(key.low ^ pair, Relaxed);
    slot[1].store(key.high ^ rest, Relaxed);
    slot[2].store(pair, Relaxed);
    slot[3].store(rest, Relaxed);
}
