"""`mergewise decode`."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from typing import cast

from mergewise.cli.options import Parser
from mergewise.cli.tokenizers import add_tokenizer, read_tokenizer
from mergewise.sources import documents_of, find_sources
from mergewise.token_documents import open_tokens
from mergewise.tokenizer import Tokenizer

READ_BYTES = 1 << 16
LARGEST_ID = 2**32 - 1
MOST_DIGITS = len(str(LARGEST_ID))


def add_decode(parser: Parser) -> None:
    """The arguments of `mergewise decode`.

    The ids come from standard input, with white space between them, and are decoded as they
    come; or from a file that `mergewise encode -o` wrote.

    Examples:
      mergewise decode tokenizer.json < ids.txt
      echo 464 3290 | mergewise decode tokenizer.json
      mergewise encode t.json --lines < a.txt | mergewise decode t.json --lines
      mergewise decode tokenizer.json ids.npy
    """
    add_tokenizer(parser)
    text = "a file of ids: .npy, .bin of Megatron, or a manifest in .json (default standard input)"
    parser.add_argument("file", nargs="?", metavar="FILE", help=text)
    parser.add_flag("--lines", "a line of text for each line of ids, or each document of a file")


def run_decode(parsed: argparse.Namespace) -> None:
    """`mergewise decode`."""
    tokenizer = read_tokenizer(parsed)
    if parsed.file is not None:
        texts = decoded_file(tokenizer, parsed.file, b"\n" if parsed.lines else b"")
    else:
        texts = decoded_lines(tokenizer) if parsed.lines else decoded_stream(tokenizer)
    for text in texts:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def decoded_file(tokenizer: Tokenizer, path: str, behind: bytes) -> Iterator[bytes]:
    """The text of each document of a file of ids."""
    for document in open_tokens(path):
        yield tokenizer.decode_bytes(document.tolist()) + behind


def decoded_lines(tokenizer: Tokenizer) -> Iterator[bytes]:
    """A line of text for each line of ids."""
    (stdin,) = find_sources("-")
    for lines, _ in documents_of(stdin, documents="lines"):
        ids = (ids_of(line.split()) for line in lines)
        yield b"".join(tokenizer.decode_bytes(line) + b"\n" for line in ids)


def decoded_stream(tokenizer: Tokenizer) -> Iterator[bytes]:
    """The text of all ids, as they come, in whole characters."""
    # Bytes that are not UTF-8 pass through unchanged.
    decoder = tokenizer.stream_decoder(errors="surrogateescape")
    for words in words_of_standard_input():
        yield decoder.add(*ids_of(words)).encode(errors="surrogateescape")
    yield decoder.finish().encode(errors="surrogateescape")


def words_of_standard_input() -> Iterator[list[bytes]]:
    """The words of standard input, as they come."""
    stdin = cast("io.BufferedReader", sys.stdin.buffer)
    begun = b""
    while read := stdin.read1(READ_BYTES):
        words = (begun + read).split()
        is_begun = words and not read[-1:].isspace()
        begun = words.pop() if is_begun else b""
        if len(begun) > MOST_DIGITS:
            raise not_an_id(begun)
        yield words
    if begun:
        yield [begun]


def ids_of(words: list[bytes]) -> list[int]:
    """The words of the input as ids.

    >>> ids_of([b"42", b"7"])
    [42, 7]
    """
    # All at once: int() would also take signs and underscores.
    if all(map(bytes.isdigit, words)) and max(map(len, words), default=0) <= MOST_DIGITS:
        ids = list(map(int, words))
        if max(ids, default=0) <= LARGEST_ID:
            return ids
    raise not_an_id(next(word for word in words if not is_id(word)))


def is_id(word: bytes) -> bool:
    """Whether a word is a number that an id can be."""
    return word.isdigit() and len(word) <= MOST_DIGITS and int(word) <= LARGEST_ID


def not_an_id(word: bytes) -> ValueError:
    """The error about a word that is not an id."""
    found = word[:40].decode(errors="backslashreplace")
    return ValueError(f"standard input: found {found!r}, expected an id")
