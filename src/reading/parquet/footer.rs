//! The footer of a file, and whether it can be parsed without harm: the library makes room for as many
//! children as a column says that it has, and many of them do not fit any memory.

use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};

use super::chunks::Chunks;

/// What a file ends with, behind the length of the footer in four bytes.
const MAGIC: &[u8] = b"PAR1";
const TAIL_BYTES: usize = 8;
/// Structures hold structures, and columns columns, but no footer so many.
const MOST_DEPTH: usize = 32;

/// The metadata of a file.
pub(super) fn read(chunks: &Chunks) -> Result<ParquetMetaData> {
    let num_bytes = chunks.len();
    let Some(end) = num_bytes.checked_sub(TAIL_BYTES as u64) else {
        return Err(damaged("found a file that is too short"));
    };
    let tail = chunks.get_bytes(end, TAIL_BYTES)?;
    let (length, magic) = tail.split_first_chunk().expect("as many as asked for");
    if magic != MAGIC {
        return Err(damaged("found a file with another end"));
    }
    let length = u32::from_le_bytes(*length);
    let Some(start) = end.checked_sub(length.into()) else {
        return Err(damaged("found a footer that is longer than the file"));
    };
    let footer = chunks.get_bytes(start, length as usize)?;
    if !is_harmless(&footer) {
        return Err(damaged("found a damaged footer"));
    }
    ParquetMetaDataReader::decode_metadata(&footer)
}

fn damaged(found: &str) -> ParquetError {
    ParquetError::General(format!("{found}, expected Parquet"))
}

/// Whether columns have no more children than there are columns. What is behind the schema is not looked at:
/// the library compares the lengths of its lists with the bytes that are left.
fn is_harmless(footer: &[u8]) -> bool {
    let mut walk = Walk {
        bytes: footer,
        num_children: Vec::new(),
    };
    walk.skip_schema().is_some() && is_tree(&walk.num_children)
}

/// Whether these are the numbers of children of the nodes of a tree, each before its children.
fn is_tree(num_children: &[u64]) -> bool {
    let mut open: Vec<u64> = Vec::new();
    for (index, &number) in num_children.iter().enumerate() {
        while open.pop_if(|left| *left == 0).is_some() {}
        match open.last_mut() {
            Some(left) => *left -= 1,
            None if index > 0 => return false,
            None => {}
        }
        let num_behind = (num_children.len() - index - 1) as u64;
        if number > num_behind || open.len() == MOST_DEPTH {
            return false;
        }
        open.push(number);
    }
    open.iter().all(|&left| left == 0)
}

/// What is behind the last field of a structure, and values of these types, in Thrift's compact protocol.
const END: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const NUMBER_OF_8_BITS: u8 = 3;
const NUMBER_OF_16_BITS: u8 = 4;
const NUMBER_OF_32_BITS: u8 = 5;
const NUMBER_OF_64_BITS: u8 = 6;
const FLOAT: u8 = 7;
const BYTES: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCTURE: u8 = 12;

/// The number of the schema among the fields of the footer, and that of children among those of an element.
const SCHEMA: u64 = 2;
const NUM_CHILDREN: u64 = 5;

/// The structures up to the end of the schema, by the names that the format has for them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Structure {
    FileMetaData,
    KeyValue,
    ColumnOrder,
    SchemaElement,
    LogicalType,
    DecimalType,
    TimeType,
    TimeUnit,
    IntType,
    VariantType,
    GeometryType,
    GeographyType,
    Empty,
    /// One that no version of the format has had so far, which is skipped here and there.
    Unknown,
}

impl Structure {
    /// The type of a field, and the structures that are in it; None if the format does not have it. The
    /// library reads a field as what it should be, whatever type the file gives it.
    fn field(self, id: u64) -> Option<(u8, Self)> {
        let (kind, inner) = match (self, id) {
            (Self::FileMetaData, 1)
            | (Self::SchemaElement, 1..=3 | NUM_CHILDREN..=9)
            | (Self::DecimalType, 1 | 2)
            | (Self::GeographyType, 2) => (NUMBER_OF_32_BITS, Self::Unknown),
            (Self::FileMetaData, 3) => (NUMBER_OF_64_BITS, Self::Unknown),
            (Self::IntType | Self::VariantType, 1) => (NUMBER_OF_8_BITS, Self::Unknown),
            (Self::TimeType, 1) | (Self::IntType, 2) => (TRUE, Self::Unknown),
            (Self::FileMetaData, 6)
            | (Self::SchemaElement, 4)
            | (Self::KeyValue, 1 | 2)
            | (Self::GeometryType | Self::GeographyType, 1) => (BYTES, Self::Unknown),
            (Self::FileMetaData, SCHEMA) => (LIST, Self::SchemaElement),
            (Self::FileMetaData, 5) => (LIST, Self::KeyValue),
            (Self::FileMetaData, 7) => (LIST, Self::ColumnOrder),
            (Self::SchemaElement, 10) => (STRUCTURE, Self::LogicalType),
            (Self::LogicalType, 5) => (STRUCTURE, Self::DecimalType),
            (Self::LogicalType, 7 | 8) => (STRUCTURE, Self::TimeType),
            (Self::LogicalType, 10) => (STRUCTURE, Self::IntType),
            (Self::LogicalType, 16) => (STRUCTURE, Self::VariantType),
            (Self::LogicalType, 17) => (STRUCTURE, Self::GeometryType),
            (Self::LogicalType, 18) => (STRUCTURE, Self::GeographyType),
            (Self::TimeType, 2) => (STRUCTURE, Self::TimeUnit),
            (Self::LogicalType, 1..=19) | (Self::ColumnOrder | Self::TimeUnit, _) => {
                (STRUCTURE, Self::Empty)
            }
            _ => return None,
        };
        Some((kind, inner))
    }
}

/// A walk through a footer; whoever finds damage returns None.
struct Walk<'f> {
    /// What is left of it.
    bytes: &'f [u8],
    /// Of each element of the schema.
    num_children: Vec<u64>,
}

impl Walk<'_> {
    /// Go to the end of the schema.
    fn skip_schema(&mut self) -> Option<()> {
        let mut id = 0;
        loop {
            let (kind, inner) = self.field(Structure::FileMetaData, &mut id)?;
            self.skip(kind, inner, 0)?;
            if id == SCHEMA {
                return Some(());
            }
        }
    }

    fn skip_fields(&mut self, structure: Structure, depth: usize) -> Option<()> {
        let mut id = 0;
        loop {
            match self.field(structure, &mut id)? {
                (END, _) => return Some(()),
                // The type says which.
                (TRUE | FALSE, _) => {}
                _ if (structure, id) == (Structure::SchemaElement, NUM_CHILDREN) => {
                    *self.num_children.last_mut()? = self.natural_number()?;
                }
                (kind, inner) => self.skip(kind, inner, depth)?,
            }
        }
    }

    /// The type of the next field and the structures in it, after that of number `id`, which becomes its own.
    fn field(&mut self, of: Structure, id: &mut u64) -> Option<(u8, Structure)> {
        let head = self.byte()?;
        if head == END {
            return Some((END, Structure::Unknown));
        }
        *id = match head >> 4 {
            0 => self.natural_number()?,
            step => *id + u64::from(step),
        };
        // The library cuts numbers to 16 bits.
        if *id > i16::MAX as u64 {
            return None;
        }
        let kind = head & 0xF;
        match of.field(*id) {
            Some((expected, _)) if expected != kind && (expected, kind) != (TRUE, FALSE) => None,
            Some((_, inner)) => Some((kind, inner)),
            None => Some((kind, Structure::Unknown)),
        }
    }

    fn skip(&mut self, kind: u8, inner: Structure, depth: usize) -> Option<()> {
        match kind {
            // In lists, truths have a byte.
            TRUE..=NUMBER_OF_8_BITS => self.byte().map(drop),
            NUMBER_OF_16_BITS..=NUMBER_OF_64_BITS => self.number().map(drop),
            FLOAT => self.skip_bytes(8),
            BYTES => {
                let length = self.number()?;
                self.skip_bytes(length)
            }
            LIST | SET => self.skip_items(inner, depth),
            STRUCTURE if depth < MOST_DEPTH => self.skip_fields(inner, depth + 1),
            // Footers have no others.
            _ => None,
        }
    }

    fn skip_items(&mut self, inner: Structure, depth: usize) -> Option<()> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.number()?,
            length => length.into(),
        };
        // Each item has a byte or more.
        if length > self.bytes.len() as u64 || depth == MOST_DEPTH {
            return None;
        }
        (0..length).try_for_each(|_| {
            if inner == Structure::SchemaElement {
                self.num_children.push(0);
            }
            self.skip(head & 0xF, inner, depth + 1)
        })
    }

    fn skip_bytes(&mut self, length: u64) -> Option<()> {
        let length = usize::try_from(length).ok()?;
        self.bytes = self.bytes.get(length..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes.split_off_first().copied()
    }

    /// A number with a sign, which has none here: it is stored twice as large, and the lowest bit is the sign.
    fn natural_number(&mut self) -> Option<u64> {
        let number = self.number()?;
        (number & 1 == 0).then_some(number >> 1)
    }

    /// A number, seven bits a byte from the lowest on.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let next = self.byte()?;
            number |= u64::from(next & 0x7F) << shift;
            if next < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with a schema alone, whose elements have these fields, and before it others.
    fn footer(fields_before: &[u8], elements: &[&[u8]]) -> Vec<u8> {
        let mut footer = fields_before.to_vec();
        footer.extend([0x09, 2 * SCHEMA as u8, 0xFC, elements.len() as u8]);
        for element in elements {
            footer.extend(*element);
            footer.push(0);
        }
        footer
    }

    /// One whose elements say that they have so many children.
    fn schema(num_children: &[u8]) -> Vec<u8> {
        let elements: Vec<_> = num_children.iter().map(|&n| [0x55, 2 * n]).collect();
        let elements: Vec<_> = elements.iter().map(|element| &element[..]).collect();
        footer(&[], &elements)
    }

    #[test]
    fn children_are_elements_of_the_schema() {
        assert!(is_harmless(&schema(&[0])));
        assert!(is_harmless(&schema(&[2, 0, 0])));
        assert!(is_harmless(&schema(&[2, 2, 0, 0, 1, 0])));
        assert!(!is_harmless(&schema(&[3, 0, 0])));
        assert!(!is_harmless(&schema(&[1, 0, 0])), "two trees");
        let line = |length| [vec![1; length], vec![0]].concat();
        assert!(is_harmless(&schema(&line(MOST_DEPTH - 1))));
        assert!(!is_harmless(&schema(&line(MOST_DEPTH))));
    }

    #[test]
    fn there_is_a_schema_with_as_many_elements_as_it_says() {
        assert!(!is_harmless(&[]));
        assert!(!is_harmless(&[0]));
        let whole = schema(&[1, 0]);
        for end in 0..whole.len() {
            assert!(!is_harmless(&whole[..end]), "{end}");
        }
        // Nothing behind it is looked at.
        assert!(is_harmless(&[&whole[..], &[0x19, 0xFC, 0x7F]].concat()));
        // It says that it has 2^28.
        assert!(!is_harmless(&[
            0x29, 0xFC, 0x80, 0x80, 0x80, 0x80, 0x01, 0, 0, 0
        ]));
    }

    #[test]
    fn fields_have_the_types_of_the_format() {
        // A version, a number of rows, pairs of texts, and who wrote the file.
        let before = [
            0x15, 2, 0x26, 8, 0x29, 0x1C, 0x18, 1, b'a', 0x18, 1, b'b', 0, 0x18, 1, b'c',
        ];
        assert!(is_harmless(&footer(&before, &[&[]])));
        for (index, kind) in [(0, 6), (2, 5), (6, 6), (9, 12), (13, 9)] {
            let mut other = before;
            other[index] = other[index] & 0xF0 | kind;
            assert!(!is_harmless(&footer(&other, &[&[]])), "{index}");
        }
        // A time with its unit, a number of bits with a sign, and the numbers of a decimal.
        let time = [0xAC, 0x8C, 0x12, 0x1C, 0x2C, 0, 0, 0, 0];
        let integer = [0xAC, 0xAC, 0x13, 64, 0x11, 0, 0];
        let decimal = [0xAC, 0x5C, 0x15, 4, 0x15, 8, 0, 0];
        assert!(is_harmless(&footer(&[], &[&time])));
        assert!(is_harmless(&footer(&[], &[&integer])));
        assert!(is_harmless(&footer(&[], &[&decimal])));
        assert!(!is_harmless(&footer(
            &[],
            &[&[&[0xA8, 7], &time[1..8]].concat()]
        )));
        assert!(!is_harmless(&footer(&[], &[&[0xAC, 0xAC, 0x15, 2, 0, 0]])));
        assert!(!is_harmless(&footer(&[], &[&[0xAC, 0x5C, 0x18, 0, 0, 0]])));
        assert!(!is_harmless(&footer(&[], &[&[0x56, 0]])), "64 bits");
    }

    #[test]
    fn other_fields_are_skipped_by_their_types() {
        let fields = [
            vec![0xF1, 0x12, 0x13, 7, 0x14, 0x80, 1, 0x15, 1, 0x16, 1],
            vec![
                0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x18, 2, b'a', b'b', 0x08, 0x80, 1, 1, b'a',
            ],
            vec![0x19, 0x11, 1, 0x1C, 0x15, 4, 0],
        ]
        .concat();
        assert!(is_harmless(&footer(&[], &[&fields])));
        assert!(!is_harmless(&footer(&[], &[&[0xFB, 0]])), "a map");
        // Numbers that the library would cut to 16 bits, and negative ones.
        assert!(is_harmless(&footer(&[], &[&[0x08, 0x80, 0x80, 1, 0]])));
        assert!(!is_harmless(&footer(&[], &[&[0x08, 0x80, 0x80, 4, 0]])));
        assert!(!is_harmless(&footer(&[], &[&[0x08, 41, 0]])));
    }

    #[test]
    fn structures_are_not_followed_for_ever() {
        // An element is in the list of the schema.
        let most = MOST_DEPTH - 2;
        for depth in [1, most, most + 1, 1 << 20] {
            let mut nested = vec![0xFC; depth];
            nested.extend(vec![0; depth]);
            let is_followed = is_harmless(&footer(&[], &[&nested]));
            assert_eq!(is_followed, depth <= most, "{depth}");
        }
    }
}
