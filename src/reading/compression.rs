//! Compressed files as texts: gzip with any number of members, zstd with any number of frames.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::get_error_name;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;

use crate::error::Error;
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
    /// The text of a compressed file. Where it cannot be decompressed, the failure holds an [`Error`].
    pub(super) fn decompress<'a>(
        self,
        file: impl Read + Send + 'a,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        if self == Self::None {
            return Ok(Box::new(file));
        }
        let mut file = Used {
            file: BufReader::with_capacity(READ_BYTES, file),
            num_bytes: 0,
        };
        // A file without a member or frame is a text without bytes.
        if file.fill_buf()?.is_empty() {
            return Ok(Box::new(io::empty()));
        }
        Ok(match self {
            Self::Zstd => Box::new(Frames(Decoder::with_buffer(file)?)),
            _ => Box::new(Members {
                member: Some(GzDecoder::new(file)),
                start: 0,
            }),
        })
    }
}

/// A file of which it is known how many bytes were used, and not only read ahead.
struct Used<R> {
    file: BufReader<R>,
    num_bytes: u64,
}

impl<R: Read> Read for Used<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_bytes = self.file.read(buffer)?;
        self.num_bytes += num_bytes as u64;
        Ok(num_bytes)
    }
}

impl<R: Read> BufRead for Used<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, num_bytes: usize) {
        self.num_bytes += num_bytes as u64;
        self.file.consume(num_bytes);
    }
}

/// The frames of a zstd file, one after the other.
struct Frames<R: Read>(Decoder<'static, Used<R>>);

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer);
        read.map_err(|error| undecompressed(error, self.0.get_ref().num_bytes))
    }
}

/// The members of a gzip file, one after the other.
struct Members<R> {
    /// None behind the last.
    member: Option<GzDecoder<Used<R>>>,
    /// Where in the file it begins.
    start: u64,
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let num_bytes = member.read(buffer).map_err(|error| {
                let is_no_member =
                    error.kind() == ErrorKind::InvalidInput && member.header().is_none();
                let num_used = member.get_ref().num_bytes;
                undecompressed(error, if is_no_member { self.start } else { num_used })
            })?;
            if num_bytes > 0 || buffer.is_empty() {
                return Ok(num_bytes);
            }
            let is_end = skip_zeros(member.get_mut())?;
            let file = self.member.take().map(GzDecoder::into_inner);
            if let Some(file) = file.filter(|_| !is_end) {
                self.start = file.num_bytes;
                self.member = Some(GzDecoder::new(file));
            }
        }
        Ok(0)
    }
}

/// Why a file could not be decompressed from a byte on; of a file that could not be read, the same.
fn undecompressed(error: io::Error, offset: u64) -> io::Error {
    // What the system refuses has a number; a decompressor has words alone.
    let is_unread = error.raw_os_error().is_some() || error.kind() == ErrorKind::WouldBlock;
    if is_unread {
        return error;
    }
    let message = error.to_string();
    io::Error::other(if message == words_of_large_window() {
        Error::WindowTooLarge { offset }
    } else {
        Error::DamagedFile { message, offset }
    })
}

/// What zstd says of a window that is larger than it allows; the crate passes on its words alone.
fn words_of_large_window() -> &'static str {
    let code = ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge as usize;
    get_error_name(code.wrapping_neg())
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

    /// Why a file is not decompressed.
    fn failure_of(compression: Compression, file: &[u8]) -> String {
        let failure = text_of(compression, file).expect_err("it cannot be decompressed");
        failure.to_string()
    }

    #[test]
    fn what_is_no_member_or_frame_is_found_where_it_begins() {
        let frame = zstd::encode_all(&b"one"[..], 1).expect("memory can be read");
        for (compression, whole, words) in [
            (Compression::Gzip, gzip(b"one"), "invalid gzip header"),
            (Compression::Zstd, frame, "Unknown frame descriptor"),
        ] {
            for before in [&b""[..], &whole] {
                let offset = before.len();
                let others = b"something else ".repeat(10_000);
                let file = [before, &others].concat();
                let expected = format!("{words} at byte {offset} of the compressed file");
                assert_eq!(failure_of(compression, &file), expected);
            }
            let cut = whole.len() - 1;
            let place = format!(" at byte {cut} of the compressed file");
            assert!(failure_of(compression, &whole[..cut]).ends_with(&place));
        }
    }

    #[test]
    fn a_window_that_is_too_large_is_no_damage() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("the level is right");
        encoder.window_log(28).expect("zstd writes such windows");
        encoder.write_all(b"one").expect("memory can be written");
        let file = encoder.finish().expect("memory can be written");
        let message = failure_of(Compression::Zstd, &file);
        assert!(
            message.contains("a window of more than 128 MB at byte 0 "),
            "{message}"
        );
    }

    #[test]
    fn zeros_behind_members_are_padding() {
        let padded = [gzip(b"one"), vec![0; 200_000], gzip(b"two"), vec![0; 9]].concat();
        assert!(text_of(Compression::Gzip, &padded).is_ok_and(|text| text == b"onetwo"));
    }
}
