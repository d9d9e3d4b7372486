//! How the library `SentencePiece` decodes. It calls a token a piece.

use rustc_hash::FxHashSet;
use serde::Deserialize;

use super::characters::{Invalid, byte_named, complete};
use super::memory::Memory;

/// What stands for a space in a piece.
const MARK: char = '\u{2581}';

/// What its model says; the names of the fields are those of the model.
#[derive(Debug, Deserialize)]
pub(super) struct SentencePiece {
    /// The piece for unknown characters, and what is written for it.
    unk_piece: String,
    unk_surface: String,
    /// The pieces for which nothing is written.
    control: FxHashSet<String>,
    /// Whether names of bytes stand for these.
    byte_fallback: bool,
    /// Whether the mark at the start of a text is left out.
    add_dummy_prefix: bool,
    /// Whether the marks of all pieces at the start are.
    remove_extra_whitespaces: bool,
}

impl SentencePiece {
    /// The byte of a piece for one.
    pub(super) fn byte(&self, piece: &str) -> Option<u8> {
        byte_named(piece).filter(|byte| self.byte_fallback && piece == format!("<0x{byte:02X}>"))
    }

    /// What a piece that is no byte becomes; `is_begun`: whether marks at the start matter no more.
    pub(super) fn surface(&self, mut piece: &str, is_begun: &mut bool) -> String {
        if self.control.contains(piece) {
            return String::new();
        }
        if piece == self.unk_piece {
            *is_begun |= !self.unk_surface.is_empty();
            return self.unk_surface.clone();
        }
        if !*is_begun
            && (self.add_dummy_prefix || self.remove_extra_whitespaces)
            && let Some(rest) = piece.strip_prefix(MARK)
        {
            *is_begun = !self.remove_extra_whitespaces;
            piece = rest;
        }
        *is_begun |= !piece.is_empty();
        piece.replace(MARK, " ")
    }

    /// The text of some pieces.
    pub(super) fn text(
        &self,
        memory: &mut Memory,
        pieces: impl Iterator<Item = String>,
        is_end: bool,
    ) -> String {
        let mut text = String::new();
        for piece in pieces {
            if let Some(byte) = self.byte(&piece) {
                memory.bytes.push(byte);
                memory.is_begun = true;
            } else {
                text += &complete(&mut memory.bytes, Invalid::Bytes, true);
                text += &self.surface(&piece, &mut memory.is_begun);
            }
        }
        text + &complete(&mut memory.bytes, Invalid::Bytes, is_end)
    }
}
