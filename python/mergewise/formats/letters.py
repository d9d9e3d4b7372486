"""How formats write tokens as text: GPT-2's letters for bytes, names of bytes, marks for spaces."""

from __future__ import annotations

import codecs
from typing import Final

# What SentencePiece and tokenizers write for a space.
MARK: Final = "\u2581"
# Their tokens for the bytes of unknown characters, with the bytes.
BYTE_NAMES: Final = {f"<0x{byte:02X}>": byte for byte in range(256)}


def byte_letters() -> list[str]:
    """The letter that GPT-2 writes for each byte: the same if it is printable in Latin-1.

    >>> byte_letters()[ord(" ")], byte_letters()[ord("a")]
    ('Ġ', 'a')
    """
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


LETTERS = "".join(byte_letters())
BYTES = codecs.charmap_build(LETTERS)


def to_letters(string: bytes) -> str:
    """A token as GPT-2 writes it.

    >>> to_letters(b" the")
    'Ġthe'
    """
    return codecs.charmap_decode(string, "strict", LETTERS)[0]


def from_letters(written: str) -> bytes | None:
    """The token that GPT-2 writes like this; None if there is none.

    >>> from_letters("Ġthe"), from_letters(" the")
    (b' the', None)
    """
    try:
        return codecs.charmap_encode(written, "strict", BYTES)[0]
    except UnicodeEncodeError:
        return None
