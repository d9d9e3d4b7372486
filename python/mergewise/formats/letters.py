"""GPT-2's letters: one printable character for each byte, so that tokens can be text."""

from __future__ import annotations


def byte_letters() -> list[str]:
    """The letter that GPT-2 writes for each byte: itself where Latin-1 prints it.

    >>> byte_letters()[ord(" ")], byte_letters()[ord("a")]
    ('Ġ', 'a')
    """
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


LETTER_OF = dict(enumerate(byte_letters()))
# What Latin-1 has but GPT-2 does not use must not pass for the byte of the same number.
BYTE_OF = {
    **dict.fromkeys(range(256), "\uffff"),
    **{ord(letter): chr(byte) for byte, letter in LETTER_OF.items()},
}


def to_letters(string: bytes) -> str:
    """A token as GPT-2 writes it.

    >>> to_letters(b" the")
    'Ġthe'
    """
    return string.decode("latin-1").translate(LETTER_OF)


def from_letters(written: str) -> bytes | None:
    """The token that GPT-2 writes so, or None if it never does.

    >>> from_letters("Ġthe"), from_letters(" the")
    (b' the', None)
    """
    try:
        return written.translate(BYTE_OF).encode("latin-1")
    except UnicodeEncodeError:
        return None
