//! Arrays that are built here, valid and damaged: Miri checks every access to their memory.

use std::ptr::null;

use super::*;

/// An array with its memory, as an exporter would hand it over.
struct Exported {
    schema: Schema,
    array: Array,
    buffers: Vec<*const c_void>,
    /// What the buffers point into, behind a few bytes of each.
    memory: Vec<Vec<u8>>,
    shift: usize,
}

impl Exported {
    fn new(format: &'static CStr, length: i64) -> Self {
        let release = format.as_ptr().cast();
        Self {
            schema: Schema {
                format: format.as_ptr(),
                name: null(),
                metadata: null(),
                flags: 0,
                num_children: 0,
                children: null(),
                dictionary: null(),
                release,
            },
            array: Array {
                length,
                null_count: -1,
                offset: 0,
                num_buffers: 0,
                num_children: 0,
                buffers: null(),
                children: null(),
                dictionary: null(),
                release,
            },
            buffers: Vec::new(),
            memory: Vec::new(),
            shift: 0,
        }
    }

    /// The next buffer; None is a null pointer.
    fn buffer(mut self, bytes: Option<Vec<u8>>) -> Self {
        let buffer = bytes.map_or(null(), |bytes| {
            let memory = [&vec![0; self.shift][..], &bytes].concat();
            let start = memory[self.shift..].as_ptr().cast();
            self.memory.push(memory);
            start
        });
        self.buffers.push(buffer);
        self.array.num_buffers = self.buffers.len().try_into().expect("few");
        self.array.buffers = self.buffers.as_ptr();
        self
    }

    /// The rows, if the array holds strings.
    fn strings(&self) -> Result<Vec<Option<Vec<u8>>>> {
        // SAFETY: the structures and their buffers are as long as they say, or visibly damaged.
        let strings = unsafe { strings(&raw const self.schema, &raw const self.array) }?;
        let rows: Vec<_> = strings.iter().map(|row| row.map(<[u8]>::to_vec)).collect();
        assert_eq!(rows.len(), strings.ends.len());
        Ok(rows)
    }

    /// The rows, if the array holds numbers.
    fn numbers(&self) -> Result<Vec<Option<i64>>> {
        // SAFETY: as for the strings.
        unsafe { numbers(&raw const self.schema, &raw const self.array) }
    }
}

fn bytes_of<const N: usize, T: Copy>(numbers: &[T], bytes_of: fn(T) -> [u8; N]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|&number| bytes_of(number))
        .collect()
}

/// An array of strings without nulls.
fn array(offsets: &[i32], bytes: &[u8]) -> Exported {
    let length = i64::try_from(offsets.len()).expect("few") - 1;
    Exported::new(c"u", length)
        .buffer(None)
        .buffer(Some(bytes_of(offsets, i32::to_ne_bytes)))
        .buffer(Some(bytes.to_vec()))
}

/// Rows as they are read.
fn rows<const N: usize>(texts: [Option<&str>; N]) -> Vec<Option<Vec<u8>>> {
    texts.map(|text| text.map(Into::into)).into()
}

/// What is wrong with an array.
fn flaw<T: std::fmt::Debug>(rows: Result<T>) -> String {
    rows.expect_err("damaged").to_string()
}

#[test]
fn strings_are_read_at_any_alignment() {
    for shift in 0..9 {
        for format in [c"U", c"Z"] {
            let mut exported = Exported::new(format, 4);
            exported.shift = shift;
            let exported = exported
                .buffer(Some(vec![0b1101]))
                .buffer(Some(bytes_of(&[1, 3, 4, 4, 6], i64::to_ne_bytes)))
                .buffer(Some(b"-abcde".to_vec()));
            let expected = rows([Some("ab"), None, Some(""), Some("de")]);
            assert_eq!(exported.strings(), Ok(expected));
        }
        let mut exported = Exported::new(c"z", 3);
        exported.shift = shift;
        let exported = exported
            .buffer(None)
            .buffer(Some(bytes_of(&[0, 1, 3, 3], i32::to_ne_bytes)))
            .buffer(Some(b"abc".to_vec()));
        let expected = rows([Some("a"), Some("bc"), Some("")]);
        assert_eq!(exported.strings(), Ok(expected), "{shift}");
    }
}

#[test]
fn an_array_may_begin_later() {
    let mut exported = array(&[0, 2, 2, 5], b"abcde");
    (exported.array.offset, exported.array.length) = (1, 2);
    assert_eq!(exported.strings(), Ok(rows([Some(""), Some("cde")])));
    // What lies before the first row is not looked at.
    let mut exported = array(&[-7, 2, 5], b"abcde");
    (exported.array.offset, exported.array.length) = (1, 1);
    assert_eq!(exported.strings(), Ok(rows([Some("cde")])));
}

#[test]
fn numbers_are_read_at_any_alignment() {
    for shift in 0..9 {
        let mut exported = Exported::new(c"l", 2);
        (exported.shift, exported.array.offset) = (shift, 8);
        let numbers: Vec<i64> = (0..10).map(|number| -number).collect();
        let exported = exported
            .buffer(Some(vec![0xFF, 0b01]))
            .buffer(Some(bytes_of(&numbers, i64::to_ne_bytes)));
        assert_eq!(exported.numbers(), Ok(vec![Some(-8), None]));
    }
    assert!(flaw(array(&[0], b"").numbers()).contains("int64"));
}

#[test]
fn an_array_without_rows_needs_no_buffers() {
    assert_eq!(Exported::new(c"u", 0).strings(), Ok(vec![]));
    assert_eq!(Exported::new(c"l", 0).numbers(), Ok(vec![]));
    assert_eq!(Exported::new(c"n", 0).strings(), Ok(vec![]));
    let empty = array(&[3, 3, 3], b"");
    assert_eq!(empty.strings(), Ok(rows([Some(""), Some("")])));
}

#[test]
fn nulls_have_no_buffers() {
    let nulls = |length| Exported::new(c"n", length).strings();
    assert_eq!(nulls(3), Ok(rows([None::<&str>; 3])));
    assert!(flaw(nulls(-1)).contains("negative"));
    assert!(flaw(nulls(i64::MAX)).contains("memory"));
}

#[test]
fn offsets_out_of_order_are_refused() {
    for offsets in [&[0, 100, 5][..], &[5, 0], &[0, i32::MAX, 0]] {
        assert!(flaw(array(offsets, b"abcde").strings()).contains("order"));
    }
    for offsets in [&[0, -1][..], &[-5, 0], &[i32::MIN, 3]] {
        assert!(flaw(array(offsets, b"abcde").strings()).contains("negative"));
    }
}

type Damage = fn(&mut Exported);

#[test]
fn what_no_exporter_should_say_is_refused() {
    let damages: [(Damage, &str); 14] = [
        (|e| e.schema.release = null(), "released"),
        (|e| e.array.release = null(), "released"),
        (|e| e.schema.dictionary = &raw const e.schema, "dictionary"),
        (|e| e.array.dictionary = &raw const e.array, "dictionary"),
        (|e| e.schema.format = null(), "format"),
        (|e| e.schema.format = c"vu".as_ptr(), "vu"),
        (|e| e.schema.format = c"".as_ptr(), "expected strings"),
        (|e| e.array.length = -1, "length"),
        (|e| e.array.length = i64::MAX, "length"),
        (|e| e.array.offset = i64::MAX / 16, "offset"),
        (|e| e.array.num_buffers = 2, "buffers"),
        (|e| e.array.buffers = null(), "buffers"),
        (|e| e.buffers[1] = null(), "without a buffer"),
        (|e| e.buffers[2] = null(), "without bytes"),
    ];
    for (damage, expected) in damages {
        let mut exported = array(&[0, 2], b"ab");
        damage(&mut exported);
        let found = flaw(exported.strings());
        assert!(found.contains(expected), "{found}, expected {expected}");
    }
}
