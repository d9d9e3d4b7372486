"""Tokens and their trees, drawn for a terminal."""

from __future__ import annotations

import os
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import NamedTuple, TextIO

from mergewise.trees import Tree

SPACE_MARK = "\u2581"
ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": "\\\\", " ": SPACE_MARK}
GAP = "  "
# Light backgrounds of the 256 colours, read with black letters.
BACKGROUNDS = (153, 157, 222, 217)
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def is_coloured(out: TextIO) -> bool:
    """Whether to write colours to `out`: see no-color.org."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return out.isatty() and not is_plain


def shown(string: bytes) -> str:
    r"""A token's string without white space, different for any two tokens.

    >>> shown(b" low"), shown("é\n".encode()), shown(b"\xc3"), shown("\u2581\\".encode())
    ('▁low', 'é\\n', '\\xc3', '\\u2581\\\\')
    """
    return "".join(map(shown_character, string.decode("utf-8", "surrogateescape")))


def shown_character(character: str) -> str:
    """A character, or the escape of one that cannot be seen."""
    code = ord(character)
    if character in ESCAPES:
        return ESCAPES[character]
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if character.isprintable() and character != SPACE_MARK:
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def columns(text: str) -> int:
    """The columns of a terminal that a text takes, at least one.

    >>> columns("low"), columns("語"), columns("e\u0301")
    (3, 2, 1)
    """
    return max(1, sum(map(columns_of_character, text)))


def columns_of_character(character: str) -> int:
    """0 for marks that stand on the character before, 2 for wide ones."""
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int) -> str:
    """The text with spaces behind it."""
    return text + " " * (width - columns(text))


def clipped(text: str, width: int) -> str:
    """The text, or as much of its beginning as fits.

    >>> clipped("unreachable", 6)
    'unrea…'
    """
    if columns(text) <= width:
        return text
    while columns(text) >= width > 1:
        text = text[:-1]
    return text + "…"


def fold(text: str, width: int) -> list[str]:
    """A text in lines that end at spaces."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


class Block(NamedTuple):
    """The drawing of a tree.

    Attributes:
        rows: from top to bottom, all as wide.
        width: the columns of each row.
        root: the column of the root, in the first row.
    """

    rows: list[str]
    width: int
    root: int

    def grown(self, height: int) -> list[str]:
        """The rows, with a line from the root up to `height`."""
        line = (" " * self.root + "│").ljust(self.width)
        return [line] * (height - len(self.rows)) + self.rows

    def titled(self, title: str, *, is_bold: bool) -> Block:
        """The drawing with a title above the root."""
        start = min(max(0, self.root - (columns(title) - 1) // 2), self.width - columns(title))
        after = " " * (self.width - start - columns(title))
        written = f"{BOLD}{title}{PLAIN}" if is_bold else title
        return Block([" " * start + written + after, *self.rows], self.width, self.root)


def drawn(tree: Tree) -> Block:
    r"""A tree with the root on top and all leaves in the last row.

    >>> print("\n".join(drawn(((b"a", b"b"), b"a")).rows))
     ┌┴─┐
    ┌┴┐ │
    a b a
    """
    if isinstance(tree, bytes):
        text = shown(tree)
        return Block([padded(text, columns(text))], columns(text), (columns(text) - 1) // 2)
    left, right = drawn(tree[0]), drawn(tree[1])
    height = max(len(left.rows), len(right.rows))
    pairs = zip(left.grown(height), right.grown(height), strict=True)
    width = left.width + 1 + right.width
    first, last = left.root, left.width + 1 + right.root
    root = (first + last) // 2
    fork = "┌" + "─" * (root - first - 1) + "┴" + "─" * (last - root - 1) + "┐"
    top = (" " * first + fork).ljust(width)
    return Block([top, *(f"{one} {other}" for one, other in pairs)], width, root)


def string_of(tree: Tree) -> bytes:
    """The leaves of a tree, joined: the yield."""
    return tree if isinstance(tree, bytes) else string_of(tree[0]) + string_of(tree[1])


def draw_forest(trees: Iterable[Tree], *, width: int, is_coloured: bool = False) -> str:
    """Trees side by side, each under its token, in as many bands as `width` asks for.

    >>> print(draw_forest([((b"a", b"b"), b"a"), b"c", (b"c", b"b")], width=20))
     aba
     ┌┴─┐      cb
    ┌┴┐ │     ┌┴┐
    a b a  c  c b
    """
    bands: list[list[Block]] = []
    room = 0
    for tree in trees:
        block = drawn(tree)
        if not isinstance(tree, bytes):
            block = block.titled(shown(string_of(tree)), is_bold=is_coloured)
        room -= len(GAP) + block.width
        if not bands or room < 0:
            bands.append([])
            room = width - block.width
        bands[-1].append(block)
    return "\n\n".join(map(side_by_side, bands))


def side_by_side(blocks: list[Block]) -> str:
    """Drawings that stand on one line."""
    height = max(len(block.rows) for block in blocks)
    stacks = [[" " * b.width] * (height - len(b.rows)) + b.rows for b in blocks]
    return "\n".join(GAP.join(rows).rstrip() for rows in zip(*stacks, strict=True))


def draw_segmentation(tokens: Iterable[bytes], *, is_coloured: bool) -> str:
    """A text in tokens: on changing backgrounds, or with `|` between them.

    >>> draw_segmentation([b"low", b"est", b" of"], is_coloured=False)
    'low|est| of'
    """
    texts = [token.decode(errors="backslashreplace") for token in tokens]
    return "".join(painted(texts)) if is_coloured else "|".join(texts)


def painted(texts: Iterable[str]) -> Iterator[str]:
    """Texts on backgrounds that do not run on to the end of a line."""
    for text, background in zip(texts, cycle(BACKGROUNDS), strict=False):
        on = f"\x1b[38;5;16;48;5;{background}m"
        yield "\n".join(f"{on}{line}{PLAIN}" if line else "" for line in text.split("\n"))
