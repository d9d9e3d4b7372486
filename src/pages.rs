//! Large pages of memory for large tables.

/// Ask the operating system for large pages for memory that is not used yet: random look-ups in a
/// table of many megabytes wait for the translation of addresses nearly as long as for the data.
#[allow(unsafe_code, reason = "a hint to the system, which std does not offer")]
pub(crate) fn prefer_large_pages<T>(memory: &mut Vec<T>) {
    // Miri cannot call it.
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE: usize = 4096;
        const LARGE_PAGE: usize = 1 << 21;
        let spare = memory.spare_capacity_mut();
        let (start, size) = (spare.as_ptr() as usize, size_of_val(spare));
        let first = start.next_multiple_of(PAGE);
        if size > LARGE_PAGE {
            // SAFETY: whole pages inside memory that the vector owns; the advice changes none of it.
            unsafe {
                libc::madvise(
                    std::ptr::with_exposed_provenance_mut(first),
                    (start + size - first) / PAGE * PAGE,
                    libc::MADV_HUGEPAGE,
                );
            }
        }
    }
    #[cfg(any(not(target_os = "linux"), miri))]
    let _ = memory;
}

/// So many equal items in large pages, if the system has them.
pub(crate) fn filled_in_large_pages<T: Clone>(num_items: usize, item: T) -> Vec<T> {
    let mut items = Vec::with_capacity(num_items);
    prefer_large_pages(&mut items);
    items.resize(num_items, item);
    items
}

/// A copy of the items in large pages, if the system has them.
pub(crate) fn in_large_pages<T: Copy>(items: &[T]) -> Vec<T> {
    let mut moved = Vec::with_capacity(items.len());
    prefer_large_pages(&mut moved);
    moved.extend_from_slice(items);
    moved
}
