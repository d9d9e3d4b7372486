//! Compressed files as texts: gzip with any number of members, zstd with any number of frames.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder;

use crate::watch::Watch;

/// The bytes of a file that are decompressed at once.
const READ_BYTES: usize = 1 << 16;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// .gz: one or more members. Zeros may follow, as they do on tapes.
    Gzip,
    /// .zst: one or more frames, with windows of at most 128 MB.
    Zstd,
}

impl Compression {
    /// The text of a compressed file.
    pub(super) fn decompress<'a>(
        self,
        file: impl Read + Send + 'a,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        if self == Self::None {
            return Ok(Box::new(file));
        }
        let mut file = BufReader::with_capacity(READ_BYTES, file);
        // A file without a member or frame is a text without bytes.
        if file.fill_buf()?.is_empty() {
            return Ok(Box::new(io::empty()));
        }
        Ok(match self {
            Self::Zstd => Box::new(Decoder::with_buffer(file)?),
            _ => Box::new(Members(Some(GzDecoder::new(file)))),
        })
    }
}

/// The members of a gzip file, one after the other; None behind the last.
struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let num_bytes = member.read(buffer)?;
            if num_bytes > 0 || buffer.is_empty() {
                return Ok(num_bytes);
            }
            if skip_zeros(member.get_mut())? {
                self.0 = None;
            } else {
                self.0 = self
                    .0
                    .take()
                    .map(|member| GzDecoder::new(member.into_inner()));
            }
        }
        Ok(0)
    }
}

/// Skip zeros; true if the file ends behind them.
fn skip_zeros(file: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(true);
        }
        let num_zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let has_others = num_zeros < bytes.len();
        file.consume(num_zeros);
        if has_others {
            return Ok(false);
        }
    }
}

/// A reader that counts what is read, and fails once the work is to stop.
pub(super) struct Counted<'w, R> {
    pub(super) reader: R,
    pub(super) num_bytes: Arc<AtomicU64>,
    pub(super) watch: &'w Watch,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.check().map_err(io::Error::other)?;
        let num_bytes = self.reader.read(buffer)?;
        self.num_bytes
            .fetch_add(num_bytes as u64, Ordering::Relaxed);
        Ok(num_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut member = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        member.write_all(text).expect("memory can be written");
        member.finish().expect("memory can be written")
    }

    fn text_of(compression: Compression, file: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        compression.decompress(file)?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn members_and_frames_are_one_text() {
        let parts: [&[u8]; 4] = [b"one", b"", b"two", b"three"];
        let members: Vec<u8> = parts.iter().flat_map(|part| gzip(part)).collect();
        let frame = |part: &&[u8]| zstd::encode_all(*part, 1).expect("memory can be read");
        let frames: Vec<u8> = parts.iter().flat_map(frame).collect();
        for (compression, file) in [(Compression::Gzip, members), (Compression::Zstd, frames)] {
            assert!(text_of(compression, &file).is_ok_and(|text| text == b"onetwothree"));
            assert!(text_of(compression, b"").is_ok_and(|text| text.is_empty()));
            assert!(text_of(compression, &file[..file.len() - 1]).is_err());
            assert!(text_of(compression, &[&file[..], b"x"].concat()).is_err());
        }
    }

    #[test]
    fn zeros_behind_members_are_padding() {
        let padded = [gzip(b"one"), vec![0; 200_000], gzip(b"two"), vec![0; 9]].concat();
        assert!(text_of(Compression::Gzip, &padded).is_ok_and(|text| text == b"onetwo"));
    }
}
