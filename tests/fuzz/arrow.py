"""Arrow arrays: read as a plain reading of their buffers says, or refused.

The C data interface does not say how long buffers are, so the last offset of an array that is
otherwise sound must be true; everything else may be damaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from arrow_arrays import Forged, integers

import mergewise as mw
from fuzz.encoding import Draws
from mergewise._core import counts_of_arrow
from mergewise.errors import FormatError, InputError

BYTE_TOKENS = mw.train(mw.count([], pattern=None), num_merges=0)
MOST_BYTES = 2_000
LETTERS = b"ab c\xc3\xa9\xff\n12'"
FORMATS = [(b"u", 4), (b"z", 4), (b"U", 8), (b"Z", 8)]
# Where strings begin, and how long they are: sound, and not.
STARTS = [[0, 0, 0, 1, 7, 300], [0, 1, -1, 2**31 - 1]]
LENGTHS = [[0, 1, 2, 3, 9, 16, 70, 255], [0, 1, 2, 3, -1, -300, 2**30, -(2**31)]]
NUMBERS = [1, 2, 3, 7, 2**40, 2**62, 2**63 - 1, 0, -1, -(2**63)]
NO_LENGTHS = [-1, -(2**63), 2**59, 2**62, 2**63 - 1]
# Damage that is refused whatever else the array says: where, in which field, and the value.
FATAL: list[tuple[str, str, Any]] = [
    *((part, "release", None) for part in ("schema", "array")),
    *((part, "dictionary", 1) for part in ("schema", "array")),
    *(("schema", "format", form) for form in (None, b"", b"vu", b"+s", b"i", b"u:", b"\xff" * 99)),
    *(("array", field, value) for field in ("length", "offset") for value in NO_LENGTHS),
]
# Damage that is refused if there are rows.
FATAL_IN_ROWS: list[tuple[str, str, Any]] = [
    *(("array", "n_buffers", number) for number in (0, 1, 4, -1, 2**63 - 1)),
    ("array", "buffers", None),
]
# Fields that say nothing about the rows.
HARMLESS: list[tuple[str, str, Any]] = [
    *(("array", "null_count", number) for number in (-1, 3, 2**62)),
    *((part, "n_children", 2**62) for part in ("schema", "array")),
    *((part, field, 1) for part in ("schema", "array") for field in ("children", "private_data")),
    ("schema", "flags", -1),
]


@dataclass
class Drawn:
    """An array, and its rows; None if it must be refused."""

    array: Forged
    rows: list[Any] | None


def check_arrow(data: bytes) -> None:
    """Encode and count an array of strings; add an array of counts to them."""
    draws = Draws(data)
    strings = drawn_strings(draws)
    length = strings.array.array.length if strings.rows is None else len(strings.rows)
    numbers = drawn_numbers(draws, min(max(length, 0), 50))
    check_texts(strings)
    check_rows(strings, numbers)


def check_texts(strings: Drawn) -> None:
    """A null is an empty text."""
    array: Any = strings.array
    try:
        ids = BYTE_TOKENS.encode_batch(array)
        counts = mw.count(array, pattern=None)
    except InputError:
        assert strings.rows is None, f"refused, expected {strings.rows}"
        return
    assert strings.rows is not None, f"read {ids}, expected an error"
    texts = [row or b"" for row in strings.rows]
    assert list(map(BYTE_TOKENS.decode_bytes, ids)) == texts
    assert dict(counts.top(len(texts) + 1)) == Counter(filter(None, texts))


def check_rows(strings: Drawn, numbers: Drawn) -> None:
    """Words with their counts add up; a row without a word counts bytes that were left out."""
    expected = None
    words, counted = strings.rows, numbers.rows
    if words is not None and counted is not None and len(words) == len(counted):
        expected = sums(list(zip(words, counted, strict=True)))
    batches = [(strings.array, numbers.array)]
    try:
        counts = mw.WordCounts(counts_of_arrow(batches, pattern=None, normalize=None))
    except (FormatError, InputError):
        assert expected is None, f"refused, expected {expected}"
        return
    found = dict(counts.top(2**20)), counts.dropped_symbols
    assert found == expected, f"found {found}, expected {expected}"


def sums(rows: list[tuple[bytes | None, int | None]]) -> tuple[dict[bytes, int], int] | None:
    """The counts of words and the bytes that were left out; None if a count cannot be."""
    words: Counter[bytes] = Counter()
    dropped = num_bytes = 0
    for word, number in rows:
        if number is None or number < 1:
            return None
        if word is None:
            dropped += number
        elif word:
            words[word] += number
            num_bytes += number * len(word)
    return (dict(words), dropped) if max(dropped, num_bytes) < 2**64 else None


def drawn_strings(draws: Draws) -> Drawn:
    """An array of strings."""
    form, width = draws.one_of(FORMATS)
    least, most = -(2 ** (8 * width - 1)), 2 ** (8 * width - 1) - 1
    kind = draws.one_of([0, 0, 0, 1])
    offsets = [draws.one_of(STARTS[kind])]
    for _ in range(draws.below(20)):
        offsets.append(max(least, min(most, offsets[-1] + draws.one_of(LENGTHS[kind]))))
    first = draws.below(len(offsets))
    length = draws.below(len(offsets) - first)
    used = offsets[first : first + length + 1]
    is_sound = min(used) >= 0 and used == sorted(used)
    if is_sound:
        # Then these are believed.
        offsets = [min(offset, MOST_BYTES) for offset in offsets]
        used = [min(offset, MOST_BYTES) for offset in used]
    text = (LETTERS * MOST_BYTES)[: used[-1] if is_sound else draws.below(9)]
    validity = drawn_validity(draws, first + length)
    shift = draws.below(9)
    buffers = [validity, integers(offsets, width), text]
    array = Forged(form, length, buffers, shift=shift)
    array.array.offset = first
    rows = with_nulls([text[start:end] for start, end in pairwise(used)], validity, first)
    has_bytes = is_sound and used[0] < used[-1]
    if draws.below(20) == 1:
        array.buffers[2] = None
        is_sound = is_sound and not has_bytes
    return Drawn(array, rows if damaged(array, draws) and (is_sound or not length) else None)


def drawn_numbers(draws: Draws, num_rows: int) -> Drawn:
    """An array of counts."""
    first = draws.below(10)
    numbers = [draws.one_of(NUMBERS) for _ in range(first + num_rows)]
    validity = drawn_validity(draws, first + num_rows)
    array = Forged(b"l", num_rows, [validity, integers(numbers, 8)], shift=draws.below(9))
    array.array.offset = first
    rows = with_nulls(numbers[first:], validity, first)
    return Drawn(array, rows if damaged(array, draws) else None)


def drawn_validity(draws: Draws, num_rows: int) -> bytes | None:
    """A bit for each row; None: all are there."""
    if draws.below(2) == 0:
        return None
    # Often all bits are set.
    return bytes(draws.below(256) | draws.one_of([255, 0]) for _ in range((num_rows + 7) // 8))


def with_nulls(rows: Sequence[Any], validity: bytes | None, first: int) -> list[Any]:
    """None where a bit is not set."""
    if validity is None:
        return list(rows)
    places = range(first, first + len(rows))
    is_there = [validity[place // 8] >> place % 8 & 1 for place in places]
    return [row if there else None for row, there in zip(rows, is_there, strict=True)]


def damaged(array: Forged, draws: Draws) -> bool:
    """Change a field now and then; returns whether the array may still be read."""
    kind = draws.below(12)
    length = array.array.length
    if kind == 1:
        part, field, value = draws.one_of(FATAL)
    elif kind == 2:
        part, field, value = draws.one_of(FATAL_IN_ROWS)
    elif kind == 3:
        array.buffers[1] = None
        return bool(length == 0)
    else:
        part, field, value = draws.one_of(HARMLESS)
    setattr(getattr(array, part), field, value)
    return kind != 1 and (kind != 2 or length == 0)
