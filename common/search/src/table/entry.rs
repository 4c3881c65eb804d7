//! An entry: what is known of one position, and the four words that keep it with the whole key.
//!
//! The words are read and written without a lock, each by itself and in no order, so that a reader
//! may see words of several writes, or of a write and of a place that is being emptied. It believes
//! them only if they fit together: a checksum of the two words of content is xor-ed into both words
//! of the key. For two writes of the same position this is certain, because a content of which one
//! word is changed has another checksum always. Else it takes two contents, or a content and a key,
//! that agree in 64 bits by chance. `docs/soundness.md` has the argument.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use jlpns_games::Threshold;

use crate::effort::{Effort, EffortPair};

/// The words of an entry.
const ENTRY_WORDS: usize = 4;

/// A word of the table's memory: read and written as a whole, in no order with other words.
pub(super) trait Word {
    fn read(&self) -> u64;
    fn write(&self, value: u64);
}

impl Word for AtomicU64 {
    #[inline]
    fn read(&self) -> u64 {
        self.load(Relaxed)
    }

    #[inline]
    fn write(&self, value: u64) {
        self.store(value, Relaxed);
    }
}

/// Where an entry is kept.
pub(super) type Place<W> = [W; ENTRY_WORDS];

/// Whether a place holds no entry.
#[inline]
pub(super) fn is_vacant<W: Word>(place: &Place<W>) -> bool {
    let [.., rest] = place;
    rest.read() == 0
}

/// A key as it is stored: other bits, but none lost. Keys that are alike, or that differ as two
/// contents of an entry do, are not alike here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scrambled {
    pub low: u64,
    pub high: u64,
}

impl Scrambled {
    #[inline]
    pub fn new(key: u128) -> Scrambled {
        // Odd factors on the diagonal of a triangular matrix: it can be inverted.
        let (low, high) = (key as u64, (key >> 64) as u64);
        let low_part = low.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let high_part = high.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Scrambled { low: low.wrapping_mul(0x9e37_79b9_7f4a_7c15), high: low_part ^ high_part }
    }

    /// The number of its bucket of so many. It does not get smaller with more buckets.
    #[inline]
    pub fn bucket(self, buckets: usize) -> usize {
        let hash = self.low ^ self.high.rotate_right(1);
        ((u128::from(hash) * buckets as u128) >> 64) as usize
    }
}

/// An entry without its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub pair: EffortPair,
    pub work: u32,
    /// The threshold that `pair` speaks of.
    pub threshold: u8,
    /// Thresholds up to this one are proved; 0 holds anyway.
    pub lower: u8,
    /// Thresholds from this one on are disproved; 255 never holds on a scale of at most 255.
    pub above: u8,
}

impl Entry {
    /// What was found out about one threshold.
    #[inline]
    pub fn new(threshold: Threshold, pair: EffortPair, work: u32) -> Entry {
        let mut entry = Entry { pair, work, threshold: threshold.0, lower: 0, above: u8::MAX };
        match pair.verdict() {
            Some(true) => entry.lower = threshold.0,
            Some(false) => entry.above = threshold.0,
            None => {}
        }
        entry
    }

    /// Adds what was known of the position before.
    #[inline]
    pub fn add(&mut self, known: Entry) {
        self.lower = self.lower.max(known.lower);
        self.above = self.above.min(known.above);
        self.work = self.work.max(known.work);
    }

    /// Whether a threshold is both proved and disproved.
    #[inline]
    pub fn is_contradictory(self) -> bool {
        self.lower >= self.above
    }

    /// Forgets all that is proved and disproved. A pair that says otherwise is not believed.
    #[inline]
    pub fn forget_verdicts(&mut self) {
        (self.lower, self.above) = (0, u8::MAX);
    }

    /// What the bounds say of a threshold.
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

    /// The effort numbers of a threshold, if it is the one that was searched last or the bounds
    /// decide it. Only they do: a pair that is solved and beyond them is not believed.
    #[inline]
    pub fn pair_of(self, threshold: Threshold) -> Option<EffortPair> {
        match self.verdict(threshold) {
            Some(holds) => Some(EffortPair::solved(holds)),
            None if self.threshold == threshold.0 && !self.pair.is_solved() => Some(self.pair),
            None => None,
        }
    }

    /// The two words of an entry; the second is never 0, which marks an empty place.
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

/// What ties the words together. With one of the two words given it is one-to-one in the other, and
/// each of its bits depends on all of `pair`.
#[inline]
fn checksum(pair: u64, rest: u64) -> u64 {
    let mixed = pair.wrapping_mul(0xa076_1d64_78bd_642f).swap_bytes();
    mixed.wrapping_mul(0xe703_7ed1_a0b4_28db) ^ rest
}

/// The words of a place as one reader saw them, or as they are to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The halves of the key, each xor-ed with the checksum of the content.
    pub low: u64,
    pub high: u64,
    /// The content.
    pub pair: u64,
    pub rest: u64,
}

impl Words {
    /// The words of an empty place.
    pub const EMPTY: Words = Words { low: 0, high: 0, pair: 0, rest: 0 };

    #[inline]
    pub fn new(key: Scrambled, entry: Entry) -> Words {
        let [pair, rest] = entry.pack();
        let tie = checksum(pair, rest);
        Words { low: key.low ^ tie, high: key.high ^ tie, pair, rest }
    }

    #[inline]
    pub fn read<W: Word>(place: &Place<W>) -> Words {
        // Word by word: `map` over the array is a loop of calls, at a fifth of a search's time.
        let [low, high, pair, rest] = place;
        Words { low: low.read(), high: high.read(), pair: pair.read(), rest: rest.read() }
    }

    #[inline]
    pub fn write<W: Word>(self, place: &Place<W>) {
        let Words { low, high, pair, rest } = self;
        for (word, value) in place.iter().zip([low, high, pair, rest]) {
            word.write(value);
        }
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.rest == 0
    }

    /// The entry, if it is that of this key.
    #[inline]
    pub fn entry_of(self, key: Scrambled) -> Option<Entry> {
        // Most entries of other keys are told by this alone, without the checksum.
        let found = self.low ^ self.high == key.low ^ key.high
            && self.low ^ checksum(self.pair, self.rest) == key.low
            && !self.is_empty();
        found.then(|| Entry::unpack(self.pair, self.rest))
    }

    /// The key of an entry. Words of several writes have a key that no position has.
    #[inline]
    pub fn key(self) -> Scrambled {
        let tie = checksum(self.pair, self.rest);
        Scrambled { low: self.low ^ tie, high: self.high ^ tie }
    }

    /// The work of an entry.
    #[inline]
    pub fn work(self) -> u32 {
        Entry::unpack(self.pair, self.rest).work
    }
}
