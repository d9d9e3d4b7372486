//! Arrow arrays of strings and of integers, read in place through Arrow's C data interface.

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

/// The strings of an array, in place; None for a null.
///
/// # Safety
/// Both pointers must come from an exporter of the C data interface, must not have been released,
/// and must outlive `'a`.
pub(crate) unsafe fn strings<'a>(
    schema: *const Schema,
    array: *const Array,
) -> Result<Vec<Option<&'a [u8]>>> {
    // SAFETY: the caller guarantees that both structures are alive and were filled by an exporter,
    // so `format` is a C string.
    let (format, array) = unsafe { (CStr::from_ptr((*schema).format), &*array) };
    match format.to_bytes() {
        // SAFETY: these formats have three buffers: validity, offsets of this width, and bytes.
        b"u" | b"z" => Ok(unsafe { read_strings::<i32>(array) }),
        // SAFETY: as above.
        b"U" | b"Z" => Ok(unsafe { read_strings::<i64>(array) }),
        other => Err(Error::UnknownArrowFormat {
            format: String::from_utf8_lossy(other).into_owned(),
            expected: "strings or binary; hint: cast it to string or large_string",
        }),
    }
}

/// The numbers of an array of 64-bit integers; None for a null.
///
/// # Safety
/// As for [`strings`].
pub(crate) unsafe fn numbers(
    schema: *const Schema,
    array: *const Array,
) -> Result<Vec<Option<i64>>> {
    // SAFETY: as in `strings`.
    let (format, array) = unsafe { (CStr::from_ptr((*schema).format), &*array) };
    if format.to_bytes() != b"l" {
        return Err(Error::UnknownArrowFormat {
            format: String::from_utf8_lossy(format.to_bytes()).into_owned(),
            expected: "int64",
        });
    }
    let (first, length) = array.range();
    if length == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: this format has two buffers: validity, and a number for each row in front of and in
    // the array.
    let (validity, numbers) = unsafe {
        let buffers = std::slice::from_raw_parts(array.buffers, 2);
        let numbers = buffers[1].cast::<i64>().add(first);
        (
            buffers[0].cast::<u8>(),
            std::slice::from_raw_parts(numbers, length),
        )
    };
    // SAFETY: the bit of each row lies in the bitmap, if there is one.
    let number =
        |index: usize| unsafe { is_valid(validity, first + index) }.then(|| numbers[index]);
    Ok((0..length).map(number).collect())
}

impl Array {
    /// The row of the buffers that is the first of the array, and the number of rows.
    fn range(&self) -> (usize, usize) {
        (
            self.offset.cast_unsigned() as usize,
            self.length.cast_unsigned() as usize,
        )
    }
}

/// # Safety
/// `validity` must be null, or a bitmap with a bit for `row`.
unsafe fn is_valid(validity: *const u8, row: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    validity.is_null() || unsafe { *validity.add(row / 8) } >> (row % 8) & 1 == 1
}

/// # Safety
/// `array` must hold strings with offsets of the type `O`, and must outlive `'a`.
unsafe fn read_strings<'a, O: Copy + TryInto<usize>>(array: &Array) -> Vec<Option<&'a [u8]>> {
    let (first, length) = array.range();
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: three buffers, as the caller guarantees; there is one offset more than there are strings
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
    let place = |offset: O| offset.try_into().unwrap_or_default();
    let string = |index: usize| {
        let (start, end): (usize, usize) = (place(offsets[index]), place(offsets[index + 1]));
        if start == end {
            return &[][..];
        }
        // SAFETY: the offsets of an array lie in its bytes, in ascending order.
        unsafe { std::slice::from_raw_parts(bytes.add(start), end - start) }
    };
    // SAFETY: the bit of each string lies in the bitmap, if there is one.
    let row = |index| unsafe { is_valid(validity, first + index) }.then(|| string(index));
    (0..length).map(row).collect()
}
