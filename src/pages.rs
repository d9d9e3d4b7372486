//! Memory for large tables: in large pages, and given by the system at once.

use std::mem::MaybeUninit;

/// The bytes of a large page.
pub(crate) const LARGE_PAGE: usize = 1 << 21;
/// The system is not asked at once for less than so many bytes.
const LEAST_GIVEN: usize = 1 << 16;

/// Ask the operating system for large pages for memory that is not used yet: random look-ups in a
/// table of many megabytes wait for the translation of addresses nearly as long as for the data.
pub(crate) fn prefer_large_pages<T>(memory: &mut Vec<T>) {
    let spare = memory.spare_capacity_mut();
    if size_of_val(spare) > LARGE_PAGE {
        advise(spare, Advice::LargePages);
    }
}

/// Ask the operating system for the memory of the next items of a vector, which are written soon. Given
/// page by page, each when it is first written to, small pages take more than twice the time.
pub(crate) fn take_at_once<T>(memory: &mut Vec<T>, num_items: usize) {
    let spare = memory.spare_capacity_mut();
    let num_items = num_items.min(spare.len());
    let next = &mut spare[..num_items];
    if size_of_val(next) >= LEAST_GIVEN {
        advise(next, Advice::GiveNow);
    }
}

#[derive(Clone, Copy)]
enum Advice {
    LargePages,
    GiveNow,
}

/// Tell the system something about the whole pages in some memory.
#[allow(unsafe_code, reason = "a hint to the system, which std does not offer")]
fn advise<T>(memory: &mut [MaybeUninit<T>], advice: Advice) {
    // Miri cannot call it.
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE: usize = 4096;
        let (start, size) = (memory.as_ptr() as usize, size_of_val(memory));
        let first = start.next_multiple_of(PAGE);
        let end = (start + size) / PAGE * PAGE;
        let advice = match advice {
            Advice::LargePages => libc::MADV_HUGEPAGE,
            Advice::GiveNow => libc::MADV_POPULATE_WRITE,
        };
        // SAFETY: whole pages inside memory that the caller owns; neither advice changes any of it.
        unsafe {
            libc::madvise(
                std::ptr::with_exposed_provenance_mut(first),
                end.saturating_sub(first),
                advice,
            );
        }
    }
    #[cfg(any(not(target_os = "linux"), miri))]
    let _ = (memory, advice);
}

/// So many equal items in large pages, if the system has them.
pub(crate) fn filled_in_large_pages<T: Clone>(num_items: usize, item: T) -> Vec<T> {
    let mut items = Vec::with_capacity(num_items);
    prefer_large_pages(&mut items);
    take_at_once(&mut items, num_items);
    items.resize(num_items, item);
    items
}

/// A copy of the items in large pages, if the system has them.
pub(crate) fn in_large_pages<T: Copy>(items: &[T]) -> Vec<T> {
    let mut moved = Vec::with_capacity(items.len());
    prefer_large_pages(&mut moved);
    take_at_once(&mut moved, items.len());
    moved.extend_from_slice(items);
    moved
}
