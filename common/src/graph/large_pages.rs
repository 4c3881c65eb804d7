//! Memory in large pages, where the system has them. A graph is read at random, and with small
//! pages nearly every read of a large one would wait for the page table first.

use std::alloc::Layout;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global};

/// The size of a large page on most systems. On others nothing is lost but some alignment.
const LARGE_PAGE: usize = 2 << 20;

/// Allocations of a large page at least begin at one and are in large pages; others are as always.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LargePages;

/// How an allocation is asked of the global allocator.
fn aligned(layout: Layout) -> Layout {
    if layout.size() < LARGE_PAGE {
        return layout;
    }
    layout.align_to(LARGE_PAGE).unwrap_or(layout)
}

// SAFETY: all memory is the global allocator's, for a layout that follows from the one that is asked
// for, and fits it; so it is given back for the layout that it was taken for. Copies share it.
unsafe impl Allocator for LargePages {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let memory = Global.allocate(aligned(layout))?;
        #[cfg(target_os = "linux")]
        if layout.size() >= LARGE_PAGE {
            use rustix::mm::{Advice, madvise};
            // SAFETY: the range is that of the allocation, and this advice does not change what is
            // in it. A system without large pages is slower, not wrong.
            let _ =
                unsafe { madvise(memory.as_ptr().cast(), layout.size(), Advice::LinuxHugepage) };
        }
        Ok(memory)
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: by the caller's promise it was allocated above, for the same layout.
        unsafe { Global.deallocate(memory, aligned(layout)) }
    }
}

/// An array in large pages.
pub(super) type LargeVec<T> = allocator_api2::vec::Vec<T, LargePages>;
