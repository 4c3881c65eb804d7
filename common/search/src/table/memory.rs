//! The memory of a table: zeroed, each bucket a cache line, in large pages where the system has them.

use std::alloc::Layout;
use std::sync::atomic::AtomicU64;

use allocator_api2::alloc::Allocator;

use super::bucket::Bucket;
use super::entry::Words;
use crate::large_pages::{LargePages, LargeVec};

/// Buckets whose words are all 0 at first. The system provides a page when it is first written to.
#[derive(Debug)]
pub(super) struct Memory(LargeVec<Bucket<AtomicU64>>);

const _: () = assert!(size_of::<Bucket<AtomicU64>>() == super::BUCKET_BYTES);

impl Memory {
    /// So many buckets, more than none. `None` if the system refuses.
    pub(super) fn zeroed(buckets: usize) -> Option<Memory> {
        let memory =
            LargePages.allocate_zeroed(Layout::array::<Bucket<AtomicU64>>(buckets).ok()?).ok()?;
        let first = memory.cast().as_ptr();
        // SAFETY: it was allocated by this allocator, for so many buckets; words that are 0 are
        // buckets.
        Some(Memory(unsafe { LargeVec::from_raw_parts_in(first, buckets, buckets, LargePages) }))
    }

    /// One bucket.
    #[inline]
    pub(super) fn bucket(&self, index: usize) -> &Bucket<AtomicU64> {
        &self.0[index]
    }

    /// Empties the first `buckets`.
    pub(super) fn clear(&self, buckets: usize) {
        let places = self.0[..buckets].iter().flat_map(|bucket| [&bucket.big, &bucket.recent]);
        places.for_each(|place| Words::EMPTY.write(place));
    }
}
