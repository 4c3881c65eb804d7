//! A bucket: two places for entries in one cache line. The first keeps the position that cost most
//! work; the second takes what comes.

use super::entry::{Entry, Place, Scrambled, Word, Words, is_vacant};

/// The two places.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Bucket<W> {
    pub big: Place<W>,
    pub recent: Place<W>,
}

/// What came of an entry that was inserted.
pub(super) struct Inserted {
    /// How many places were empty before.
    pub filled: u64,
    /// What was known of the position before, if it contradicts the new entry. Then neither is
    /// believed any more.
    pub contradicts: Option<Entry>,
}

impl<W: Word> Bucket<W> {
    /// The entry of a key, if it is here.
    #[inline]
    pub fn find(&self, key: Scrambled) -> Option<Entry> {
        let in_big = Words::read(&self.big).entry_of(key);
        in_big.or_else(|| Words::read(&self.recent).entry_of(key))
    }

    /// Keeps what was found out about a position, together with what is proved and disproved of it
    /// here.
    #[inline]
    pub fn insert(&self, key: Scrambled, found: Entry) -> Inserted {
        let mut entry = found;
        let in_big = Words::read(&self.big);
        let known_big = in_big.entry_of(key);
        let big_is_free = in_big.is_empty() || known_big.is_some();
        let known = if big_is_free { known_big } else { Words::read(&self.recent).entry_of(key) };
        if let Some(known) = known {
            entry.add(known);
        }
        let contradicts = entry.is_contradictory().then(|| {
            entry.forget_verdicts();
            known.unwrap_or(Entry { lower: 0, above: u8::MAX, ..found })
        });
        let words = Words::new(key, entry);
        let mut filled = 0;
        let mut write = |place: &Place<W>, words: Words| {
            filled += u64::from(is_vacant(place));
            words.write(place);
        };
        if big_is_free {
            write(&self.big, words);
        } else if entry.work >= in_big.work() {
            write(&self.recent, in_big);
            write(&self.big, words);
        } else {
            write(&self.recent, words);
        }
        Inserted { filled, contradicts }
    }

    /// Takes the entry of `key` over from another bucket, unless there is a newer one.
    pub fn take_over(&self, key: Scrambled, words: Words) {
        let in_big = Words::read(&self.big);
        let place = if in_big.is_empty() {
            &self.big
        } else if in_big.entry_of(key).is_some() {
            return;
        } else if is_vacant(&self.recent) || in_big.work() >= words.work() {
            &self.recent
        } else {
            &self.big
        };
        words.write(place);
    }
}
