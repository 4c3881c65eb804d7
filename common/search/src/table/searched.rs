//! Which positions searches have left, for whoever counts what several machines search: a sample of all
//! positions, by their keys, so that every visit to one of them is noted and none to another.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use super::TranspositionTable;

impl TranspositionTable {
    /// From now on the keys of the positions of the sample (one in 16) are noted each time that a search leaves
    /// them. Whoever asks for it takes them often: they are kept until then.
    pub fn note_searched(&self) {
        self.notes_searched.store(true, Relaxed);
    }

    /// The keys that were noted since the last call, in the order of the visits.
    pub fn take_searched(&self) -> Vec<u128> {
        std::mem::take(&mut *self.searched.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A search has left a position of the sample.
    #[inline]
    pub(super) fn left(&self, key: u128) {
        if self.notes_searched.load(Relaxed) {
            self.keep_searched(key);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_searched(&self, key: u128) {
        self.searched.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }
}
