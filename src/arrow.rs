//! Arrow arrays of strings and of integers, through Arrow's C data interface.
//!
//! Rows are copied: the memory of an array may belong to others, who can change it at any time, and
//! a text must stay what it was when it was checked. The interface does not tell how long buffers
//! are, so offsets are checked against each other, and the last one is the exporter's word.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::error::{Error, Result};
use crate::reading::Strings;

/// `ArrowSchema` of the C data interface, up to the last field that is read here.
#[repr(C)]
pub(crate) struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    num_children: i64,
    children: *const *const Schema,
    dictionary: *const Schema,
    release: *const c_void,
}

/// `ArrowArray` of the C data interface, up to the last field that is read here.
#[repr(C)]
pub(crate) struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    num_buffers: i64,
    num_children: i64,
    buffers: *const *const c_void,
    children: *const *const Array,
    dictionary: *const Array,
    release: *const c_void,
}

/// The strings of an array.
///
/// # Safety
/// Both pointers must come from an exporter of the C data interface and outlive the call.
pub(crate) unsafe fn strings(schema: *const Schema, array: *const Array) -> Result<Strings> {
    // SAFETY: guaranteed by the caller.
    let format = unsafe { format_of(schema, array) }?;
    // SAFETY: these formats have three buffers: validity, offsets of this width, and bytes.
    match format {
        b"u" | b"z" => unsafe { read_strings::<i32>(&*array) },
        b"U" | b"Z" => unsafe { read_strings::<i64>(&*array) },
        // SAFETY: guaranteed by the caller.
        b"n" => read_nulls(unsafe { &*array }),
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
    // SAFETY: guaranteed by the caller.
    let format = unsafe { format_of(schema, array) }?;
    if format != b"l" {
        return Err(Error::UnknownArrowFormat {
            format: String::from_utf8_lossy(format).into_owned(),
            expected: "int64",
        });
    }
    // SAFETY: this format has two buffers: validity, and a number for each row.
    let Some(rows) = (unsafe { Rows::<2>::of(&*array) })? else {
        return Ok(Vec::new());
    };
    let numbers = rows.buffers[1].cast::<i64>();
    // SAFETY: the number and the bit of each row lie in their buffers.
    let number = |row| unsafe {
        rows.is_valid(row)
            .then(|| numbers.add(row).read_unaligned())
    };
    Ok((rows.first..rows.end).map(number).collect())
}

/// The format of an array that is not released and not dictionary-encoded.
///
/// # Safety
/// As for [`strings`].
unsafe fn format_of<'a>(schema: *const Schema, array: *const Array) -> Result<&'a [u8]> {
    // SAFETY: the structures are there; an exporter filled them.
    let (schema, array) = unsafe { (&*schema, &*array) };
    if schema.release.is_null() || array.release.is_null() {
        return Err(damaged("released memory"));
    }
    if !schema.dictionary.is_null() || !array.dictionary.is_null() {
        return Err(damaged("dictionary-encoded rows; hint: decode them first"));
    }
    if schema.format.is_null() {
        return Err(damaged("no format"));
    }
    // SAFETY: the format of a schema that is not released is a C string.
    Ok(unsafe { CStr::from_ptr(schema.format) }.to_bytes())
}

fn damaged(found: &str) -> Error {
    Error::DamagedArrow {
        found: found.to_owned(),
    }
}

/// The rows of an array with `N` buffers, of which the first has the bits of validity.
struct Rows<const N: usize> {
    buffers: [*const c_void; N],
    first: usize,
    end: usize,
}

impl<const N: usize> Rows<N> {
    /// None if there are none: then the buffers may be missing.
    ///
    /// # Safety
    /// `array` must be filled by an exporter and not be released.
    unsafe fn of(array: &Array) -> Result<Option<Self>> {
        let first = usize::try_from(array.offset).ok();
        let length = usize::try_from(array.length).ok();
        let end = first.zip(length).and_then(|(f, l)| f.checked_add(l));
        // Twice the largest width of an offset, so that no product below overflows.
        let end = end.filter(|&end| end < isize::MAX as usize / 16);
        let Some(((first, length), end)) = first.zip(length).zip(end) else {
            return Err(damaged("a negative length or offset, or one beyond memory"));
        };
        if length == 0 {
            return Ok(None);
        }
        if usize::try_from(array.num_buffers) != Ok(N) || array.buffers.is_null() {
            return Err(damaged("another number of buffers than the format has"));
        }
        // SAFETY: an array has as many buffers as it says.
        let buffers = unsafe { *array.buffers.cast::<[*const c_void; N]>() };
        if buffers[1].is_null() {
            return Err(damaged("rows without a buffer"));
        }
        Ok(Some(Self {
            buffers,
            first,
            end,
        }))
    }

    /// # Safety
    /// The bitmap, if there is one, must have a bit for `row`.
    unsafe fn is_valid(&self, row: usize) -> bool {
        let validity = self.buffers[0].cast::<u8>();
        // SAFETY: guaranteed by the caller.
        validity.is_null() || unsafe { *validity.add(row / 8) } >> (row % 8) & 1 == 1
    }
}

/// As many nulls as there are rows; the format of nulls has no buffers.
fn read_nulls(array: &Array) -> Result<Strings> {
    let length = usize::try_from(array.length);
    let length = length.map_err(|_| damaged("a negative length"))?;
    let mut ends = Vec::new();
    let room = ends.try_reserve_exact(length);
    room.map_err(|_| damaged("more rows than memory has room for"))?;
    ends.resize(length, (0, false));
    Ok(Strings {
        bytes: Vec::new(),
        ends,
    })
}

/// # Safety
/// `array` must hold strings with offsets of the type `O`, filled by an exporter and not released.
unsafe fn read_strings<O: Copy + TryInto<usize>>(array: &Array) -> Result<Strings> {
    let mut strings = Strings {
        bytes: Vec::new(),
        ends: Vec::new(),
    };
    // SAFETY: guaranteed by the caller.
    let Some(rows) = (unsafe { Rows::<3>::of(array) })? else {
        return Ok(strings);
    };
    let offset = |row: usize| {
        // SAFETY: there is one offset more than there are rows; it may be misaligned.
        let offset = unsafe { rows.buffers[1].cast::<O>().add(row).read_unaligned() };
        let wrong = |_| damaged("a negative offset");
        offset.try_into().map_err(wrong)
    };
    let begin = offset(rows.first)?;
    let mut last = begin;
    strings.ends.reserve(rows.end - rows.first);
    for row in rows.first..rows.end {
        let end = offset(row + 1)?;
        if end < last {
            return Err(damaged("offsets that are not in order"));
        }
        // SAFETY: the bit of each row lies in the bitmap.
        strings
            .ends
            .push((end - begin, unsafe { rows.is_valid(row) }));
        last = end;
    }
    let length = last - begin;
    if length == 0 {
        return Ok(strings);
    }
    if rows.buffers[2].is_null() {
        return Err(damaged("strings without bytes"));
    }
    let room = strings.bytes.try_reserve_exact(length);
    room.map_err(|_| damaged("offsets beyond memory"))?;
    // SAFETY: all bytes up to the last offset lie in the buffer, and there is room for as many. Should
    // somebody write to them now, any bytes are copied, and only the copy is looked at.
    unsafe {
        let bytes = rows.buffers[2].cast::<u8>().add(begin);
        strings
            .bytes
            .as_mut_ptr()
            .copy_from_nonoverlapping(bytes, length);
        strings.bytes.set_len(length);
    }
    Ok(strings)
}

#[cfg(test)]
mod tests;
