"""`mergewise decode`."""

from __future__ import annotations

import argparse
import io
import json
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from mergewise.cli.corpora import tell_awaited
from mergewise.cli.options import Parser
from mergewise.cli.tokenizers import add_tokenizer, read_tokenizer
from mergewise.drawing import shown
from mergewise.sources import documents_of, find_sources
from mergewise.token_documents import open_tokens
from mergewise.tokenizer import Tokenizer

READ_BYTES = 1 << 16
LARGEST_ID = 2**32 - 1
MOST_DIGITS = len(str(LARGEST_ID))
MARKS = bytes.maketrans(b"[],", b"   ")


def add_decode(parser: Parser) -> None:
    """The arguments of `mergewise decode`.

    The ids come from standard input, as `mergewise encode` writes them: with white space between
    them, or as lists of JSON. They are decoded as they come; or from a file that `mergewise
    encode -o` wrote.

    Examples:
      mergewise decode tokenizer.json < ids.txt
      echo 464 3290 | mergewise decode tokenizer.json
      mergewise encode t.json --lines < a.txt | mergewise decode t.json --lines
      mergewise decode tokenizer.json ids.npy
      mergewise encode t.json --json < a.txt | mergewise decode t.json
      mergewise encode t.json a.txt -o - --dtype uint32 | mergewise decode t.json --dtype uint32
    """
    add_tokenizer(parser)
    text = "a file of ids: .npy, Megatron's .bin, a manifest in .json, or, with --dtype, the bare "
    text += "numbers (default standard input, also as -)"
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help=text)
    parser.add_flag("--lines", "a line of text for each line of ids, or each document of a file")
    parser.add_flag("--pieces", "the input is tokens, as `mergewise encode --pieces` writes them")
    parser.add_flag("--skip-special-tokens", "write the text without special tokens")
    text = "the type of bare numbers in FILE, or in standard input"
    parser.add_choice("--dtype", ["uint16", "uint32"], text)
    text = "which documents of a manifest (default train)"
    parser.add_choice("--split", ["train", "validation"], text)


def run_decode(parsed: argparse.Namespace) -> None:
    """`mergewise decode`."""
    tokenizer = read_tokenizer(parsed)
    is_piped = parsed.file == "-"
    if parsed.pieces and not is_piped:
        parsed.refuse("--pieces is for standard input")
    if parsed.split and is_piped:
        parsed.refuse("--split is for a manifest")
    if parsed.dtype and is_piped and (parsed.lines or parsed.pieces):
        parsed.refuse("bare numbers of standard input (--dtype) have no lines")
    tell_awaited([parsed.file], "tokens" if parsed.pieces else "ids")
    if not is_piped:
        texts = decoded_file(tokenizer, parsed)
    elif parsed.lines or parsed.pieces:
        texts = decoded_lines(tokenizer, parsed)
    else:
        batches = bare_numbers(parsed.dtype) if parsed.dtype else written_numbers()
        texts = decoded_stream(tokenizer, batches, skips_special=parsed.skip_special_tokens)
    for text in texts:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def decoded_file(tokenizer: Tokenizer, parsed: argparse.Namespace) -> Iterator[bytes]:
    """The text of each document of a file of ids."""
    behind = b"\n" if parsed.lines else b""
    split = parsed.split or "train"
    for document in open_tokens(parsed.file, dtype=parsed.dtype, split=split):
        yield decoded(tokenizer, document.tolist(), parsed) + behind


def decoded_lines(tokenizer: Tokenizer, parsed: argparse.Namespace) -> Iterator[bytes]:
    """The text of each line of ids, or of tokens."""
    read = reader_of_pieces(tokenizer) if parsed.pieces else ids_of_line
    behind = b"\n" if parsed.lines else b""
    (stdin,) = find_sources("-")
    for lines, _ in documents_of(stdin, documents="lines"):
        ids = map(read, lines)
        yield b"".join(decoded(tokenizer, line, parsed) + behind for line in ids)


def decoded(tokenizer: Tokenizer, ids: list[int], parsed: argparse.Namespace) -> bytes:
    """The text of ids, with or without special tokens."""
    kept = without_specials(tokenizer, ids) if parsed.skip_special_tokens else ids
    return tokenizer.decode_bytes(kept)


def without_specials(tokenizer: Tokenizer, ids: Iterable[int]) -> list[int]:
    """The ids that are not those of special tokens."""
    special = set(tokenizer.special_tokens.values())
    return [token_id for token_id in ids if token_id not in special]


def decoded_stream(
    tokenizer: Tokenizer, batches: Iterable[list[int]], *, skips_special: bool = False
) -> Iterator[bytes]:
    """The text of all ids, as they come, in whole characters."""
    # Bytes that are not UTF-8 pass through unchanged.
    decoder = tokenizer.stream_decoder(errors="surrogateescape")
    for ids in batches:
        kept = without_specials(tokenizer, ids) if skips_special else ids
        yield decoder.add(*kept).encode(errors="surrogateescape")
    yield decoder.finish().encode(errors="surrogateescape")


def reader_of_pieces(tokenizer: Tokenizer) -> Callable[[bytes], list[int]]:
    """What reads a line of tokens as `mergewise encode --pieces` writes it, with --json or not."""
    strings = {tokenizer.token_bytes(i): i for i in tokenizer.get_vocab().values()}
    pieces = {shown(string): i for string, i in strings.items()}

    def read(line: bytes) -> list[int]:
        try:
            if line.startswith(b"["):
                found = json.loads(line)
                return [strings[piece.encode(errors="surrogateescape")] for piece in found]
            return [pieces[word] for word in line.decode().split()]
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            what = repr(error.args[0])[:40] if isinstance(error, KeyError) else repr(line[:40])
            raise ValueError(f"standard input: found {what}, expected tokens") from None

    return read


def ids_of_line(line: bytes) -> list[int]:
    """The ids of a line, with spaces between them or as a list of JSON.

    >>> ids_of_line(b"1 2"), ids_of_line(b"[1, 2]")
    ([1, 2], [1, 2])
    """
    return ids_of((line.translate(MARKS) if line.startswith(b"[") else line).split())


def bare_numbers(dtype: str) -> Iterator[list[int]]:
    """The ids of standard input as `mergewise encode -o -` writes them, as they come."""
    stdin = cast("io.BufferedReader", sys.stdin.buffer)
    letter, size = {"uint16": ("H", 2), "uint32": ("I", 4)}[dtype]
    begun = b""
    while read := stdin.read1(READ_BYTES):
        numbers = begun + read
        whole = len(numbers) // size
        begun = numbers[whole * size :]
        yield list(struct.unpack(f"<{whole}{letter}", numbers[: whole * size]))
    if begun:
        found = f"{len(begun)} bytes behind the last number"
        raise ValueError(f"standard input: found {found}, expected numbers of {size} bytes")


def written_numbers() -> Iterator[list[int]]:
    """The ids of standard input as `mergewise encode` writes them, with --json or not."""
    return map(ids_of, words_of_standard_input())


def words_of_standard_input() -> Iterator[list[bytes]]:
    """The words of standard input, as they come, without the marks of lists of JSON."""
    stdin = cast("io.BufferedReader", sys.stdin.buffer)
    begun = b""
    is_json: bool | None = None
    while read := stdin.read1(READ_BYTES):
        if is_json is None and read.strip():
            is_json = read.lstrip()[:1] == b"["
        # The marks of lists end a number as spaces do.
        words = (begun + (read.translate(MARKS) if is_json else read)).split()
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
