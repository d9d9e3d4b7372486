"""Symbols, and the checks of merges and ids that all readers share."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from mergewise.errors import InvalidMergesError
from mergewise.formats.reading import Reading, shown
from mergewise.vocabulary import Vocabulary

Merge = tuple[bytes, bytes]


@dataclass(frozen=True)
class Symbols:
    """The strings that can be symbols of a word before any merge.

    The end of a word is a symbol of its own if `end_is_symbol`, or else part of the last symbol.

    >>> "é".encode() in Symbols("chars"), b"w</w>" in Symbols("chars", b"</w>")
    (True, True)
    """

    alphabet: str
    end_of_word: bytes = b""
    end_is_symbol: bool = False
    start_of_word: bytes = b""

    def __contains__(self, string: bytes) -> bool:
        string = string.removeprefix(self.start_of_word)
        if self.end_is_symbol and string == self.end_of_word:
            return True
        if not self.end_is_symbol and string != self.end_of_word:
            string = string.removesuffix(self.end_of_word)
        is_short = self.alphabet == "chars" and 1 < len(string) <= 4
        return len(string) == 1 or (is_short and len(string.decode("utf-8")) == 1)


def symbols_of(vocabulary: Vocabulary) -> Symbols:
    """The symbols of a vocabulary."""
    ending = vocabulary.end_of_word
    return Symbols(
        vocabulary.alphabet,
        ending,
        end_is_symbol=ending in vocabulary.tokens,
        start_of_word=vocabulary.start_of_word,
    )


def live_merges(
    reading: Reading, merges: Sequence[Merge], symbols: Symbols, *, place: str = "merges"
) -> list[Merge]:
    """The merges whose parts can be made; others are refused, or left out if lossy.

    A part may be made by a later merge: Llama 3 has tens of thousands of such merges.
    """
    seen: dict[Merge, int] = {}
    for index, merge in enumerate(merges):
        first = seen.setdefault(merge, index)
        if first != index:
            found = f"the merge of {shown(merge[0])} and {shown(merge[1])} again"
            raise reading.wrong(f"{place}[{index}]", found, f"no copy of {place}[{first}]")
    parts = set(chain.from_iterable(merges))
    made = {part for part in parts if part in symbols}
    add_products(made, merges)
    if parts <= made:
        return list(merges)
    # With shorter products first, the parts of a merge are decided before the merge.
    add_products(made, sorted(merges, key=lambda merge: len(merge[0]) + len(merge[1])))
    dead = [merge for merge in merges if not made.issuperset(merge)]
    if dead and not reading.lossy:
        part = next(part for part in dead[0] if part not in made)
        raise InvalidMergesError(
            f"found the token {shown(part)}, which no merge makes, expected symbols or tokens that "
            "merges make",
            path=reading.path,
            place=f"{place}[{seen[dead[0]]}]",
            hint="read_lossy",
        )
    if dead:
        warnings.warn(
            f"{reading.path}: left out {len(dead):,} merges of tokens that no merge makes",
            stacklevel=2,
        )
    return [merge for merge in merges if made.issuperset(merge)]


def add_products(made: set[bytes], merges: Iterable[Merge]) -> None:
    """Add the product of each merge whose parts have been made."""
    for left, right in merges:
        if left in made and right in made:
            made.add(left + right)


def pair_of(reading: Reading, line: str, number: int) -> tuple[str, str]:
    """The two tokens of a line."""
    pair = line.split(" ")
    if len(pair) != 2 or not all(pair):
        raise reading.wrong(f"line {number}", shown(line), "two tokens and a space between")
    return pair[0], pair[1]


def strings_of(merges: Iterable[tuple[str, str]]) -> set[str]:
    """The parts and the products of the merges."""
    return {string for left, right in merges for string in (left, right, left + right)}


def first_use(merges: Iterable[tuple[str, str]], strings: Container[str]) -> tuple[int, str]:
    """The index of the first merge that has one of the strings, and the string."""
    return next(
        (index, string)
        for index, (left, right) in enumerate(merges)
        for string in (left, right, left + right)
        if string in strings
    )


def check_bytes(reading: Reading, tokens: Container[bytes], *, place: str) -> None:
    """Refuse tokens over bytes that lack one of the 256 bytes."""
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    if missing:
        raise reading.wrong(place, f"no token for the byte 0x{missing[0]:02x}", "all 256 bytes")


def check_special_ids(
    reading: Reading, special_tokens: Mapping[str, int], ids: Iterable[int]
) -> None:
    """Refuse a special token without text, or with one of these ids, which other tokens have.

    Two special tokens may have one id, as in tiktoken's o200k_harmony.
    """
    if "" in special_tokens:
        raise reading.wrong("special_tokens", "a special token without text", "its text")
    taken = set(special_tokens.values()).intersection(ids)
    for text, token_id in special_tokens.items():
        if token_id in taken:
            found = f"the special token {shown(text)} with the id {token_id} of another token"
            raise reading.wrong("special_tokens", found, "an id of its own")


def check_ids_differ(reading: Reading, ids: Mapping[str, int], *, place: str) -> None:
    """Refuse two tokens with one id."""
    if len(set(ids.values())) == len(ids):
        return
    names: dict[int, str] = {}
    for name, token_id in ids.items():
        other = names.setdefault(token_id, name)
        if other != name:
            found = f"the id {token_id} for both {shown(other)} and {shown(name)}"
            raise reading.wrong(place, found, "ids that are all different")
