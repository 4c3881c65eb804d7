//! The memory of a table: zeroed, each bucket a cache line, in large pages where the system has them.

use std::alloc::Layout;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use allocator_api2::alloc::Allocator;

use super::BUCKET_WORDS;
use crate::large_pages::{LargePages, LargeVec};

/// The words of a bucket.
#[derive(Debug)]
#[repr(C, align(64))]
struct Bucket([AtomicU64; BUCKET_WORDS]);

/// Buckets whose words are all 0 at first. The system provides a page when it is first written to.
#[derive(Debug)]
pub(super) struct Memory(LargeVec<Bucket>);

impl Memory {
    /// So many buckets, more than none. `None` if the system refuses.
    pub(super) fn zeroed(buckets: usize) -> Option<Memory> {
        let memory = LargePages.allocate_zeroed(Layout::array::<Bucket>(buckets).ok()?).ok()?;
        let first = memory.cast().as_ptr();
        // SAFETY: it was allocated by this allocator, for so many buckets; words that are 0 are
        // buckets.
        Some(Memory(unsafe { LargeVec::from_raw_parts_in(first, buckets, buckets, LargePages) }))
    }

    /// The words of one bucket.
    #[inline]
    pub(super) fn bucket(&self, index: usize) -> &[AtomicU64; BUCKET_WORDS] {
        &self.0[index].0
    }

    /// Sets the words of the first `buckets` to 0.
    pub(super) fn clear(&self, buckets: usize) {
        let words = self.0[..buckets].iter().flat_map(|bucket| &bucket.0);
        words.for_each(|word| word.store(0, Relaxed));
    }
}
