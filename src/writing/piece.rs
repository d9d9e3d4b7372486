//! What becomes of a block, in memory or in a temporary file until its turn comes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::reading::{io_error, nameless_file};
use crate::watch::Watch;

use super::left_out::LeftOut;
use super::shares::Extent;
use super::{Encoding, Files, Options, Writer};

/// The ids of a block as they are written.
#[derive(Default)]
pub(super) struct Piece {
    /// Of each split.
    pub(super) parts: [Part; 2],
    /// Where the block is in the inputs.
    pub(super) extent: Extent,
    pub(super) left_out: LeftOut,
}

/// The ids of a block in one split.
#[derive(Default)]
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    /// Where documents end among the bytes, and which of the block they are.
    pub(super) ends: Vec<(usize, u64)>,
}

/// The bytes of an end in a file.
const END_BYTES: usize = 16;

impl Piece {
    /// About how many bytes of memory it takes.
    pub(super) fn memory(&self) -> usize {
        let parts = self.parts.iter();
        let parts = parts.map(|part| part.bytes.len() + part.ends.len() * END_BYTES);
        parts.sum::<usize>() + self.left_out.memory()
    }

    /// How many ids there are, each of so many bytes.
    pub(super) fn num_ids(&self, width: usize) -> u64 {
        let num_bytes: usize = self.parts.iter().map(|part| part.bytes.len()).sum();
        (num_bytes / width) as u64
    }
}

impl<F: Files> Writer<F> {
    /// Encode the chosen documents; the first of all may have begun before, and the last may go on.
    pub(super) fn encode(
        &self,
        documents: &[&[u8]],
        chosen: &[(usize, usize)],
        ends: (bool, bool),
        encoding: Encoding<'_>,
        watch: &Watch,
    ) -> Result<Piece> {
        let mut piece = Piece::default();
        // What a thread encodes at once should fit the cache.
        let most_bytes = match encoding.num_threads {
            1 => self.options.block_bytes,
            _ => usize::MAX,
        };
        let mut num_bytes = 0;
        let at_once = chosen.chunk_by(|&(index, _), _| {
            num_bytes += documents[index].len();
            let has_room = num_bytes < most_bytes;
            num_bytes *= usize::from(has_room);
            has_room
        });
        for chosen in at_once {
            self.encode_at_once(documents, chosen, ends, encoding, watch, &mut piece)?;
        }
        Ok(piece)
    }

    /// Append the ids of the chosen documents to a piece.
    fn encode_at_once(
        &self,
        documents: &[&[u8]],
        chosen: &[(usize, usize)],
        (is_start, is_end): (bool, bool),
        encoding: Encoding<'_>,
        watch: &Watch,
        piece: &mut Piece,
    ) -> Result<()> {
        let texts: Vec<&[u8]> = chosen.iter().map(|&(index, _)| documents[index]).collect();
        let Encoding {
            encoder,
            call,
            num_threads,
        } = encoding;
        let made = encoder.encode_batch(&texts, call, num_threads, watch);
        let (ids, offsets) = made.map_err(|error| error.renumbered(|index| chosen[index].0))?;
        let Options {
            numbers,
            before,
            behind,
            ..
        } = &self.options;
        let num_ids = ids.len() + chosen.len() * (before.len() + behind.len());
        // Documents may be short, so their ids become bytes all at once. Nearly all are of the first
        // split.
        let mut framed = [Vec::with_capacity(num_ids), Vec::new()];
        for (&(index, split), range) in chosen.iter().zip(offsets.windows(2)) {
            let (part, framed) = (&mut piece.parts[split], &mut framed[split]);
            if index > 0 || is_start {
                framed.extend_from_slice(before);
            }
            framed.extend_from_slice(&ids[range[0]..range[1]]);
            if index + 1 < documents.len() || is_end {
                framed.extend_from_slice(behind);
                let end = part.bytes.len() + framed.len() * numbers.width();
                part.ends.push((end, index as u64));
            }
        }
        // Each thread has such ids, so none are kept longer than they are needed.
        drop(ids);
        for (part, framed) in piece.parts.iter_mut().zip(framed) {
            numbers.push_all(&framed, &mut part.bytes);
        }
        Ok(())
    }
}

/// A piece of which most is in a file.
pub(super) struct Stored {
    piece: Piece,
    offset: u64,
    /// How many bytes, ends and numbers of what was left out each split has.
    sizes: [(usize, usize, usize); 2],
}

/// A file without a name, for pieces whose turn has not come.
pub(super) struct Store {
    file: File,
    folder: PathBuf,
    length: u64,
}

impl Store {
    /// An empty store in a folder, or in that of the system where the folder is not one for files.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        Ok(Self {
            file: nameless_file(folder)?,
            folder: folder.to_owned(),
            length: 0,
        })
    }

    pub(super) fn put(&mut self, mut piece: Piece) -> Result<Stored> {
        let parts = std::mem::take(&mut piece.parts);
        let left_out = std::mem::take(&mut piece.left_out.numbers);
        let mut sizes = [(0, 0, 0); 2];
        let offset = self.length;
        for ((part, left_out), sizes) in parts.iter().zip(&left_out).zip(&mut sizes) {
            *sizes = (part.bytes.len(), part.ends.len(), left_out.len());
            let ends = part
                .ends
                .iter()
                .map(|&(end, document)| (end as u64, document));
            let pairs = ends.chain(left_out.iter().copied());
            let pairs: Vec<u8> = pairs
                .flat_map(|(first, second)| [first, second])
                .flat_map(u64::to_le_bytes)
                .collect();
            let written = self.file.seek(SeekFrom::Start(self.length));
            let written = written.and_then(|_| self.file.write_all(&part.bytes));
            let written = written.and_then(|()| self.file.write_all(&pairs));
            written.map_err(|error| io_error(&self.folder, &error))?;
            self.length += (part.bytes.len() + pairs.len()) as u64;
        }
        Ok(Stored {
            piece,
            offset,
            sizes,
        })
    }

    pub(super) fn take(&mut self, stored: Stored) -> Result<Piece> {
        let Stored {
            mut piece,
            offset,
            sizes,
        } = stored;
        let failed = |error: std::io::Error| io_error(&self.folder, &error);
        self.file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let splits = piece.parts.iter_mut().zip(&mut piece.left_out.numbers);
        for ((part, left_out), (num_bytes, num_ends, num_left_out)) in splits.zip(sizes) {
            part.bytes.resize(num_bytes, 0);
            self.file.read_exact(&mut part.bytes).map_err(failed)?;
            let mut pairs = vec![0; (num_ends + num_left_out) * END_BYTES];
            self.file.read_exact(&mut pairs).map_err(failed)?;
            let numbers = pairs.as_chunks().0.iter();
            let numbers: Vec<u64> = numbers.map(|number| u64::from_le_bytes(*number)).collect();
            let pairs = numbers
                .as_chunks()
                .0
                .iter()
                .map(|&[first, second]| (first, second));
            let ends = pairs.clone().take(num_ends);
            part.ends
                .extend(ends.map(|(end, document)| (end as usize, document)));
            left_out.extend(pairs.skip(num_ends));
        }
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_taken_back_in_any_order() {
        let piece = |number: u8| Piece {
            parts: [
                Part {
                    bytes: vec![number; 3 * number as usize],
                    ends: (0..number).map(|n| (3 * n as usize, n.into())).collect(),
                },
                Part {
                    bytes: vec![255; (7 * number % 5) as usize],
                    ends: vec![],
                },
            ],
            extent: Extent {
                position: number.into(),
                ..Extent::default()
            },
            left_out: LeftOut {
                numbers: [
                    vec![],
                    (0..number % 4).map(|n| (n.into(), number.into())).collect(),
                ],
                told: vec![],
            },
        };
        let mut store = Store::create(Path::new("/no/such/folder")).expect("the system has one");
        let stored: Vec<_> = (0..20).map(|number| store.put(piece(number))).collect();
        for (stored, number) in stored.into_iter().zip(0..20).rev() {
            let found = stored
                .and_then(|stored| store.take(stored))
                .expect("it is there");
            let expected = piece(number);
            assert_eq!(found.extent.position, expected.extent.position);
            assert_eq!(found.left_out.numbers, expected.left_out.numbers);
            for (found, expected) in found.parts.iter().zip(&expected.parts) {
                assert_eq!(found.bytes, expected.bytes);
                assert_eq!(found.ends, expected.ends);
            }
        }
    }
}
