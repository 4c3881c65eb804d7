//! Reads that are begun before their results are needed: what is read at random is in no cache, and
//! the processor can wait for many places at once as long as it knows them.

/// Begins to load the cache line in which `place` begins. Nothing on processors for which there is
/// no stable way to say so.
#[inline(always)]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch changes nothing that a program can see, whatever the address is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
