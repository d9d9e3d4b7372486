"""subword-nmt's codes: a line for each merge, over characters, with `</w>` at the end of a word.

Words are separated by spaces and ends of lines, which are dropped. The file has no ids; they follow
from the merges. In version 0.1 `</w>` is a symbol of its own after the last character, and a token
if a merge uses it; otherwise it is left out. In version 0.2 it is part of the last character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mergewise.errors import ConversionError
from mergewise.formats.gpt2 import is_list_of_pairs
from mergewise.formats.json_values import OBJECT_START
from mergewise.formats.merging import Merge, Symbols, live_merges, pair_of
from mergewise.formats.reading import Reading, decoded, shown
from mergewise.formats.unsupported import named, plain_losses
from mergewise.vocabulary import Vocabulary

END_OF_WORD: Final = "</w>"
WORDS: Final = r"[^ \r\n]+"
VERSION: Final = re.compile(r"#version: *0\.([12])\s*")


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the first lines are pairs, and not the beginning of a JSON object."""
    return is_list_of_pairs(head) and not OBJECT_START.match(head)


def refuse_youtokentome(reading: Reading, lines: list[str]) -> None:
    """Refuse models of YouTokenToMe by name.

    Their first line says how many lines there are of a character and of a merge, which is three
    ids; the last has the ids of the special tokens.
    """
    sizes = lines[0].split()
    if not (len(sizes) == 2 and all(size.isdecimal() for size in sizes)):
        return
    num_lines = sum(map(int, sizes)) + 2
    if len(lines) == num_lines and len(lines[-1].split()) == 4:
        expected = "codes of subword-nmt: YouTokenToMe's models are not read"
        raise reading.wrong("", "a model of YouTokenToMe", expected)


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a file of codes."""
    lines = decoded(reading, reading.read_bytes()).rstrip("\n").split("\n")
    refuse_youtokentome(reading, lines)
    has_version = lines[0].startswith("#version:")
    version = VERSION.fullmatch(lines[0])
    if has_version and not version:
        raise reading.wrong("line 1", shown(lines[0]), "version 0.1 or 0.2")
    end_is_symbol = version is None or version[1] == "1"
    pairs = [
        pair_of(reading, line.strip("\r\n "), number)
        for number, line in enumerate(lines[has_version:], has_version + 1)
    ]
    merges = [(left.encode(), right.encode()) for left, right in pairs]
    end_of_word = END_OF_WORD.encode()
    live = live_merges(reading, merges, Symbols("chars", end_of_word, end_is_symbol))
    if end_is_symbol and not merges_end(live):
        # A symbol that never merges changes nothing.
        end_of_word = b""
    live_pairs = [(left.decode(), right.decode()) for left, right in live]
    return Vocabulary(
        tokens=numbered(live_pairs, end_is_symbol=end_is_symbol),
        merges=live,
        alphabet="chars",
        end_of_word=end_of_word,
        pattern=WORDS,
        drops_gaps=True,
    )


def merges_end(merges: Iterable[Merge]) -> bool:
    """Whether a merge has `</w>` at its end; the other merges cannot meet the end of a word."""
    return any(right.endswith(END_OF_WORD.encode()) for _, right in merges)


def numbered(pairs: list[tuple[str, str]], *, end_is_symbol: bool) -> dict[bytes, int]:
    """Ids for the characters, then for the ends of words, then for the products of merges.

    >>> numbered([("b", "a</w>")], end_is_symbol=False)
    {b'a': 0, b'b': 1, b'a</w>': 2, b'b</w>': 3, b'ba</w>': 4}
    >>> numbered([("b", "</w>")], end_is_symbol=True)
    {b'b': 0, b'</w>': 1, b'b</w>': 2}
    """
    parts = {part for pair in pairs for part in pair}
    has_ends = any(part.endswith(END_OF_WORD) for part in parts)
    bodies = {part.removesuffix(END_OF_WORD) for part in parts}
    characters = sorted({character for body in bodies for character in body})
    if end_is_symbol:
        ends = [END_OF_WORD] if has_ends else []
    else:
        ends = [character + END_OF_WORD for character in characters]
    strings = [*characters, *ends, *(left + right for left, right in pairs)]
    return {string.encode(): index for index, string in enumerate(dict.fromkeys(strings))}


def losses(vocabulary: Vocabulary) -> list[str]:
    """What codes cannot represent of a vocabulary; the missing ids do not count as a loss."""
    fields = ("normalize", "prefix_space", "mark_is_space", "byte_tokens", "unknown_token")
    tokens = ("whole_words", "special_tokens", "added_tokens")
    found = plain_losses(vocabulary, "chars", *fields, *tokens)
    if vocabulary.end_of_word not in {b"", END_OF_WORD.encode()}:
        ending = named(vocabulary.end_of_word)
        found.append(f"it marks the end of a word by {END_OF_WORD}, not {ending}")
    elif vocabulary.end_of_word in vocabulary.tokens and not merges_end(vocabulary.merges or ()):
        found.append(f"it has the token {END_OF_WORD} only if a merge uses it")
    if (vocabulary.pattern, vocabulary.drops_gaps) != (WORDS, True):
        pattern = named(vocabulary.pattern)
        found.append(f"its words lie between spaces, which it drops; the pattern is {pattern}")
    unwritable = [merge for merge in vocabulary.merges or () if not is_writable(merge)]
    if unwritable:
        found.append(f"its merges have no white space ({named(unwritable)})")
    return found


def is_writable(merge: Merge) -> bool:
    """Whether this merge can be written as a line."""
    return not any(space in part for part in merge for space in (b" ", b"\r", b"\n"))


def files_of(vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """The codes; in version 0.1 if `</w>` is a token, or ends of words are not marked."""
    if vocabulary.alphabet == "bytes":
        raise ConversionError(f"{path}: codes of subword-nmt are of characters, found bytes")
    ending = END_OF_WORD.encode()
    is_part = vocabulary.end_of_word == ending and ending not in vocabulary.tokens
    version = "0.2" if is_part else "0.1"
    merges = [merge for merge in vocabulary.merges or () if is_writable(merge)]
    lines = [f"{left.decode()} {right.decode()}\n" for left, right in merges]
    return {path: (f"#version: {version}\n" + "".join(lines)).encode()}
