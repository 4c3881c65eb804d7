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
//! **Threads.** An entry is four words that are read and written without a lock (`entry`). Each is
//! tied to all the others, so that an entry that is torn between two writers is not found. A lost
//! update costs work, never truth.
//!
//! **Contradictions.** Two facts of one position that exclude each other are an error of this
//! program, and a debug build stops at them. It does not once the table was told something from
//! elsewhere ([`TranspositionTable::learn`]), for then one of them may be a lie, or follow from
//! one. In any build neither of the two is believed: the position is searched again.
//!
//! **Replacement** is TwoBig (Breuker, Uiterwijk and van den Herik, named in section 3.3 of the
//! PDS-PN paper): a bucket has two entries in one cache line. The first keeps the position that
//! cost most work; the second takes what comes.
//!
//! **Growth.** Only as many buckets are in use as the search is worth, up to the size that was asked
//! for (`growth`): a small search stays in the caches and clears no memory that it does not use.
//!
//! [`Game::key`]: jlpns_games::Game::key

mod bucket;
mod entry;
mod growth;
mod memory;
mod searched;
mod solved;

#[cfg(test)]
mod tests;

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

use bucket::{Bucket, Inserted};
use entry::{Entry, Scrambled};
use jlpns_games::Threshold;
use memory::Memory;
pub use solved::SolvedPosition;

use crate::effort::EffortPair;
use crate::prefetch::prefetch;

/// The bytes of one entry.
pub const ENTRY_BYTES: u64 = 32;

const BUCKET_BYTES: usize = 2 * ENTRY_BYTES as usize;

/// A transposition table of a bounded size.
///
/// ```
/// use jlpns_games::Threshold;
/// use jlpns_search::{EffortPair, TranspositionTable};
///
/// let table = TranspositionTable::with_bytes(1 << 20)?;
/// table.put(7, Threshold(2), EffortPair::PROVED, 1);
/// // Who reaches threshold 2 reaches 1.
/// let known = table.get(7, Threshold(1)).expect("it has just been put in");
/// assert_eq!(known.pair, EffortPair::PROVED);
/// assert!(table.get(7, Threshold(3)).is_none());
/// # Ok::<(), jlpns_search::table::TableTooLarge>(())
/// ```
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
    /// Whether it is noted which positions searches leave.
    notes_searched: AtomicBool,
    /// Those that were left and not taken yet.
    searched: Mutex<Vec<u128>>,
    /// Whether anything in it may come from elsewhere.
    hearsay: AtomicBool,
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
            notes_searched: AtomicBool::new(false),
            searched: Mutex::new(Vec::new()),
            hearsay: AtomicBool::new(false),
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

    /// Whether the table holds no position.
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
        prefetch(self.bucket(Scrambled::new(key), self.used.load(Relaxed)));
    }

    /// What is known of `threshold` in the position with this key.
    #[inline]
    pub fn get(&self, key: u128, threshold: Threshold) -> Option<Known> {
        let entry = self.find(key)?;
        Some(Known { pair: entry.pair_of(threshold)?, work: entry.work })
    }

    /// Keeps what was found out about `threshold` in the position with this key, after `work`
    /// nodes in all. Facts that the table has about other thresholds stay.
    #[inline]
    pub fn put(&self, key: u128, threshold: Threshold, pair: EffortPair, work: u32) {
        let believed = self.insert(key, threshold, pair, work);
        if growth::is_sample(Scrambled::new(key)) {
            self.left(key);
        }
        if work >= self.solved_from.load(Relaxed)
            && believed
            && let Some(holds) = pair.verdict()
        {
            self.keep(SolvedPosition { key, threshold, holds, work });
        }
    }

    /// Keeps what was found out; whether it is believed, because it does not contradict what was
    /// known of the position.
    #[inline]
    fn insert(&self, key: u128, threshold: Threshold, pair: EffortPair, work: u32) -> bool {
        let scrambled = Scrambled::new(key);
        let bucket = self.bucket(scrambled, self.used.load(Relaxed));
        let Inserted { filled, contradicts } =
            bucket.insert(scrambled, Entry::new(threshold, pair, work));
        if filled > 0 {
            self.occupied.fetch_add(filled, Relaxed);
        }
        if let Some(known) = contradicts {
            self.contradicted(key, threshold, pair, known);
        }
        if growth::is_sample(scrambled) {
            self.count_samples();
        }
        contradicts.is_none()
    }

    /// What was found out about `threshold` excludes what was known of the position.
    #[cold]
    #[inline(never)]
    fn contradicted(&self, key: u128, threshold: Threshold, pair: EffortPair, known: Entry) {
        debug_assert!(
            self.has_hearsay(),
            "a wrong fact: in the position with key {key:#x} thresholds up to {} were proved and from \
             {} on disproved, and now threshold {} is {}",
            known.lower,
            known.above,
            threshold.0,
            if pair == EffortPair::PROVED { "proved" } else { "disproved" },
        );
    }

    #[inline]
    fn find(&self, key: u128) -> Option<Entry> {
        let key = Scrambled::new(key);
        let in_bucket = |buckets| self.bucket(key, buckets).find(key);
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
    fn bucket(&self, key: Scrambled, buckets: usize) -> &Bucket<AtomicU64> {
        self.memory.bucket(key.bucket(buckets))
    }
}
