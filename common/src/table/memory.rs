//! The memory of a table: zeroed, a cache line at its beginning, in large pages where the system
//! has them. A search reads the table at random, and with small pages nearly every read would wait
//! for the page table first.

use std::sync::atomic::AtomicU64;

use memmap2::MmapMut;

/// Words that are all 0 at first. The system provides a page when it is first written to.
#[derive(Debug)]
pub(super) struct Memory(MmapMut);

impl Memory {
    /// So many words, more than none. `None` if the system refuses.
    pub(super) fn zeroed(words: usize) -> Option<Memory> {
        let map = MmapMut::map_anon(words.checked_mul(size_of::<u64>())?).ok()?;
        // A system without large pages is slower, not wrong.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Memory(map))
    }

    #[inline]
    pub(super) fn words(&self) -> &[AtomicU64] {
        let words = self.0.len() / size_of::<AtomicU64>();
        // SAFETY: the map is as long as `words` says, lives as long as `self`, begins at a page, and
        // nobody else uses it; any bits are an `AtomicU64`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), words) }
    }
}
