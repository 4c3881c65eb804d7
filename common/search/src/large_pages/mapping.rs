//! Ranges of whole large pages, straight from the system: only there can memory grow without being
//! copied, its pages moving to another place in the page table.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{
    Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, mremap_fixed, munmap,
};

use super::LARGE_PAGE;

/// A range that holds `size` bytes and begins at a large page. `None` if the system refuses.
pub fn map(size: usize) -> Option<NonNull<u8>> {
    let size = size.checked_next_multiple_of(LARGE_PAGE)?;
    // With a page more there is a boundary to begin at; what is before it and after the end goes
    // back.
    let larger = size.checked_add(LARGE_PAGE)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the system chooses a place where nothing is, and only pages of it that nobody knows of
    // yet are given back. The advice does not change what is in it; a system without large pages is
    // slower, not wrong.
    unsafe {
        let start: *mut c_void =
            mmap_anonymous(null_mut(), larger, access, MapFlags::PRIVATE).ok()?;
        let before = start.addr().next_multiple_of(LARGE_PAGE) - start.addr();
        let begin = start.byte_add(before);
        if before > 0 {
            let _ = munmap(start, before);
        }
        if before < LARGE_PAGE {
            let _ = munmap(begin.byte_add(size), LARGE_PAGE - before);
        }
        let _ = madvise(begin, size, Advice::LinuxHugepage);
        NonNull::new(begin.cast())
    }
}

/// Makes a range larger, and moves it if there is no room behind it. `None`, and the range is as it
/// was, if the system refuses.
///
/// # Safety
///
/// The range comes from here, for `size` bytes, and nobody uses it meanwhile.
pub unsafe fn remap(old: NonNull<u8>, size: usize, wanted: usize) -> Option<NonNull<u8>> {
    let (size, rounded) =
        (size.next_multiple_of(LARGE_PAGE), wanted.checked_next_multiple_of(LARGE_PAGE)?);
    let from: *mut c_void = old.as_ptr().cast();
    // SAFETY: the range is the caller's. It grows where it is only if nothing is behind it, or moves
    // to a range that has just been mapped, that nothing is in, and that is as large.
    unsafe {
        if mremap(from, size, rounded, MremapFlags::empty()).is_ok() {
            return Some(old);
        }
        let new = map(rounded)?;
        match mremap_fixed(from, size, rounded, MremapFlags::MAYMOVE, new.as_ptr().cast()) {
            Ok(_) => Some(new),
            Err(_) => {
                unmap(new, rounded);
                None
            }
        }
    }
}

/// Gives a range back.
///
/// # Safety
///
/// The range comes from here, for `size` bytes, and nobody uses it any more.
pub unsafe fn unmap(memory: NonNull<u8>, size: usize) {
    // SAFETY: by the caller's promise. The system can refuse only if it has no memory for its own
    // list of ranges; then the range is lost.
    let _ = unsafe { munmap(memory.as_ptr().cast(), size.next_multiple_of(LARGE_PAGE)) };
}
