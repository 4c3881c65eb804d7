//! Memory in large pages, where the system has them. Graphs and tables are read at random, and with
//! small pages nearly every read of a large one would wait for the page table first.

#[cfg(target_os = "linux")]
mod mapping;

use std::alloc::Layout;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global};

/// The size of a large page on most systems. On others nothing is lost but some alignment.
const LARGE_PAGE: usize = 2 << 20;

/// Allocations of a large page at least are mapped, begin at one and grow without being copied; the
/// system provides their pages, all 0, when they are first written to. Others are as always.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LargePages;

/// An array in large pages.
pub(crate) type LargeVec<T> = allocator_api2::vec::Vec<T, LargePages>;

/// Whether an allocation is mapped, and not the global allocator's.
fn is_mapped(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= LARGE_PAGE && layout.align() <= LARGE_PAGE
}

#[cfg(not(target_os = "linux"))]
mod mapping {
    //! Nothing is mapped.
    use std::ptr::NonNull;

    pub fn map(_size: usize) -> Option<NonNull<u8>> {
        None
    }

    pub unsafe fn remap(_old: NonNull<u8>, _size: usize, _wanted: usize) -> Option<NonNull<u8>> {
        None
    }

    pub unsafe fn unmap(_memory: NonNull<u8>, _size: usize) {}
}

fn sized(memory: Option<NonNull<u8>>, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
    let memory = memory.ok_or(AllocError)?;
    Ok(NonNull::slice_from_raw_parts(memory, layout.size()))
}

// SAFETY: what is mapped has the size and the alignment of the layout, is nobody else's, and stays
// where it is until it is given back or grows; the rest is the global allocator's. Which of the two
// it is follows from the layout. Copies of the allocator share everything.
unsafe impl Allocator for LargePages {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if is_mapped(layout) {
            return sized(mapping::map(layout.size()), layout);
        }
        Global.allocate(layout)
    }

    fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if is_mapped(layout) {
            return self.allocate(layout);
        }
        Global.allocate_zeroed(layout)
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: by the caller's promise it was allocated above, for the same layout.
        unsafe {
            if is_mapped(layout) {
                mapping::unmap(memory, layout.size());
            } else {
                Global.deallocate(memory, layout);
            }
        }
    }

    unsafe fn grow(
        &self,
        memory: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: by the caller's promise the memory was allocated above, for the old layout, and
        // the new one is no smaller. A copy goes to memory that is not the old one.
        unsafe {
            match (is_mapped(old), is_mapped(new)) {
                (true, true) => sized(mapping::remap(memory, old.size(), new.size()), new),
                (false, false) => Global.grow(memory, old, new),
                _ => {
                    let grown = self.allocate(new)?;
                    memory.copy_to_nonoverlapping(grown.cast(), old.size());
                    self.deallocate(memory, old);
                    Ok(grown)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_keeps_its_elements_while_it_grows() {
        let mut array: LargeVec<u64> = LargeVec::new_in(LargePages);
        let mut other: LargeVec<u64> = LargeVec::new_in(LargePages);
        // Both grow, so that neither can always stay where it is.
        for number in 0..2_000_000 {
            array.push(number);
            other.push(!number);
        }
        assert!(array.iter().copied().eq(0..2_000_000));
        assert!(other.iter().map(|number| !number).eq(0..2_000_000));
        if cfg!(target_os = "linux") {
            assert_eq!(array.as_ptr().addr() % LARGE_PAGE, 0);
        }
        array.shrink_to(10);
        assert!(array.iter().copied().eq(0..2_000_000));
    }

    #[test]
    fn memory_that_is_asked_for_zeroed_is() {
        for size in [64, LARGE_PAGE - 1, LARGE_PAGE, 3 * LARGE_PAGE + 1] {
            let layout = Layout::from_size_align(size, 64).unwrap();
            let memory = LargePages.allocate_zeroed(layout).unwrap();
            // SAFETY: it was allocated for this layout, is zeroed, and is given back once.
            unsafe {
                assert!(memory.as_ref().iter().all(|&byte| byte == 0));
                LargePages.deallocate(memory.cast(), layout);
            }
        }
    }

    #[test]
    fn what_the_system_has_not_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize - (4 << 20), 64).unwrap();
        assert!(LargePages.allocate(layout).is_err());
    }
}
