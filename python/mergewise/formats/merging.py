"""Checks of merges and ids that every reader makes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mergewise.errors import InvalidMergesError
from mergewise.formats.reading import Reading, shown

Merge = tuple[bytes, bytes]


def is_symbol(
    string: bytes, *, alphabet: str, end_of_word: bytes, end_is_symbol: bool = False
) -> bool:
    """Can this be one of a word's symbols before any merge? Its end is one, or part of the last.

    >>> is_symbol("é".encode(), alphabet="chars", end_of_word=b"")
    True
    >>> is_symbol(b"w</w>", alphabet="chars", end_of_word=b"</w>")
    True
    """
    has_end = end_of_word and string.endswith(end_of_word) and len(string) > len(end_of_word)
    if has_end and not end_is_symbol:
        string = string[: -len(end_of_word)]
    if len(string) == 1 or (end_is_symbol and string == end_of_word):
        return True
    return alphabet == "chars" and 1 < len(string) <= 4 and len(string.decode("utf-8")) == 1


def live_merges(
    reading: Reading,
    merges: Sequence[Merge],
    *,
    alphabet: str,
    end_of_word: bytes,
    end_is_symbol: bool = False,
    place: str = "merges",
) -> list[Merge]:
    """The merges, each of parts that can come to be; others are refused, or left out if lossy.

    A part may well be made by a later merge: ranks decide what merges first, and Llama 3 has tens
    of thousands of such merges.
    """
    seen: dict[Merge, int] = {}
    for index, merge in enumerate(merges):
        first = seen.setdefault(merge, index)
        if first != index:
            found = f"the merge of {shown(merge[0])} and {shown(merge[1])} again"
            raise reading.wrong(f"{place}[{index}]", found, f"no copy of {place}[{first}]")
    parts = {part for merge in merges for part in merge}
    ends: dict[str, Any] = {"end_of_word": end_of_word, "end_is_symbol": end_is_symbol}
    made = {part for part in parts if is_symbol(part, alphabet=alphabet, **ends)}
    # A part is shorter than what it makes, so it is known by the time that it is asked for.
    for left, right in sorted(merges, key=lambda merge: len(merge[0]) + len(merge[1])):
        if left in made and right in made:
            made.add(left + right)
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


def check_bytes(reading: Reading, tokens: Mapping[bytes, int], *, place: str) -> None:
    """Refuse tokens over bytes that cannot spell every text."""
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    if missing:
        raise reading.wrong(place, f"no token for the byte 0x{missing[0]:02x}", "all 256 bytes")


def check_ids_differ(reading: Reading, ids: Iterable[tuple[str, int]], *, place: str) -> None:
    """Refuse two tokens of one id; `ids` are names of tokens with their ids."""
    names: dict[int, str] = {}
    for name, token_id in ids:
        other = names.setdefault(token_id, name)
        if other != name:
            found = f"the id {token_id} for both {shown(other)} and {shown(name)}"
            raise reading.wrong(place, found, "ids that are all different")
