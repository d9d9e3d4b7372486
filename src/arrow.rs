//! Arrow arrays of strings, read in place through Arrow's C data interface.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::error::{Error, Result};

/// `ArrowSchema` of the C data interface, as far as it is read here.
#[repr(C)]
pub(crate) struct Schema {
    format: *const c_char,
}

/// `ArrowArray` of the C data interface, as far as it is read here.
#[repr(C)]
pub(crate) struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    num_buffers: i64,
    num_children: i64,
    buffers: *const *const c_void,
}

/// The strings of an array, nulls left out, where they lie.
///
/// # Safety
/// Both pointers must come from an exporter of the C data interface, must not have been released,
/// and must outlive `'a`.
pub(crate) unsafe fn strings<'a>(
    schema: *const Schema,
    array: *const Array,
) -> Result<Vec<&'a [u8]>> {
    // SAFETY: the caller says that both structures are alive and were filled by an exporter, so
    // `format` is a C string.
    let (format, array) = unsafe { (CStr::from_ptr((*schema).format), &*array) };
    match format.to_bytes() {
        // SAFETY: these formats have three buffers: validity, offsets of this width, and bytes.
        b"u" | b"z" => Ok(unsafe { read::<i32>(array) }),
        // SAFETY: as above.
        b"U" | b"Z" => Ok(unsafe { read::<i64>(array) }),
        other => Err(Error::UnknownArrowFormat {
            format: String::from_utf8_lossy(other).into_owned(),
        }),
    }
}

/// # Safety
/// `array` must hold strings with offsets of the type `O`, and must outlive `'a`.
unsafe fn read<'a, O: Copy + TryInto<usize>>(array: &Array) -> Vec<&'a [u8]> {
    let (first, length) = (
        array.offset.cast_unsigned() as usize,
        array.length.cast_unsigned() as usize,
    );
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: three buffers, by the caller's word; there is one offset more than there are strings
    // in front of and in the array, and one bit of validity for each unless all are valid.
    let (validity, offsets, bytes) = unsafe {
        let buffers = std::slice::from_raw_parts(array.buffers, 3);
        let offsets = buffers[1].cast::<O>().add(first);
        (
            buffers[0].cast::<u8>(),
            std::slice::from_raw_parts(offsets, length + 1),
            buffers[2].cast::<u8>(),
        )
    };
    let is_valid = |index: usize| {
        // SAFETY: the bit of string `index` lies in the bitmap, if there is one.
        validity.is_null() || unsafe { *validity.add(index / 8) } >> (index % 8) & 1 == 1
    };
    let place = |offset: O| offset.try_into().unwrap_or_default();
    let string = |index: usize| {
        let (start, end): (usize, usize) = (place(offsets[index]), place(offsets[index + 1]));
        if start == end {
            return &[][..];
        }
        // SAFETY: the offsets of an array lie in its bytes, in ascending order.
        unsafe { std::slice::from_raw_parts(bytes.add(start), end - start) }
    };
    (0..length)
        .filter(|&index| is_valid(first + index))
        .map(string)
        .collect()
}
