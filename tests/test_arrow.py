"""Arrow arrays: read right, or refused; never trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_arrays import Forged, forged_strings

import mergewise as mw
from mergewise._core import counts_of_arrow
from mergewise.errors import FormatError, InputError

BYTES = mw.train(mw.count([], pattern=None), num_merges=0)
MISALIGNED = 1


def texts_of(array: Any) -> list[str]:
    """What is encoded of an array."""
    return [BYTES.decode(ids) for ids in BYTES.encode_batch(array)]


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("shift", [0, MISALIGNED])
def test_a_sound_array_is_read(width: int, shift: int) -> None:
    assert texts_of(forged_strings([0, 2, 2, 5], b"abcde", width=width, shift=shift)) == [
        "ab",
        "",
        "cde",
    ]


def test_an_array_may_begin_later() -> None:
    forged = forged_strings([0, 2, 2, 5], b"abcde")
    forged.array.offset, forged.array.length = 1, 2
    assert texts_of(forged) == ["", "cde"]


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("offsets", [[0, 100, 5], [5, 0], [0, -1], [-5, 0], [-3, -1]])
def test_offsets_out_of_order_are_refused(offsets: list[int], width: int) -> None:
    with pytest.raises(InputError, match="offset"):
        texts_of(forged_strings(offsets, b"abcde", width=width))


def _set(part: str, field: str, value: int | None) -> Callable[[Forged], None]:
    return lambda forged: setattr(getattr(forged, part), field, value)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_set("schema", "release", None), "released"),
        (_set("array", "release", None), "released"),
        (_set("schema", "format", None), "format"),
        (_set("schema", "dictionary", 1), "dictionary"),
        (_set("array", "dictionary", 1), "dictionary"),
        (_set("array", "length", -1), "length"),
        (_set("array", "offset", -1), "offset"),
        (_set("array", "offset", 2**62), "offset"),
        (_set("array", "length", 2**63 - 1), "length"),
        (_set("array", "n_buffers", 2), "buffers"),
        (_set("array", "buffers", None), "buffers"),
    ],
)
def test_what_no_exporter_should_say_is_refused(
    damage: Callable[[Forged], None], reason: str
) -> None:
    forged = forged_strings([0, 2], b"ab")
    damage(forged)
    with pytest.raises(InputError, match=reason):
        texts_of(forged)


@pytest.mark.parametrize("index", [1, 2])
def test_missing_buffers_are_refused(index: int) -> None:
    forged = forged_strings([0, 2], b"ab")
    forged.buffers[index] = None
    with pytest.raises(InputError, match="without"):
        texts_of(forged)


def test_offsets_beyond_the_bytes_are_refused() -> None:
    """pyarrow knows where its buffers end."""
    offsets = np.array([0, 3, 5], "<i4")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"abcde")]
    array = pa.Array.from_buffers(pa.string(), 2, buffers)
    assert texts_of(array) == ["abc", "de"]
    offsets[2] = 10**6
    with pytest.raises(InputError, match="1000000"):
        texts_of(array)


def test_an_array_that_was_handed_on_is_refused() -> None:
    schema, array = pa.array(["ab"]).__arrow_c_array__()

    class Lender:
        def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
            del requested_schema
            return schema, array

    assert pa.array(Lender()).to_pylist() == ["ab"]
    with pytest.raises(ValueError, match="released"):
        texts_of(Lender())


def test_dictionary_encoded_columns_are_decoded() -> None:
    table = mw.count(["a a b"], pattern="whitespace").to_arrow()
    numbers = pa.array([500, 700, 500]).dictionary_encode()
    words = pa.array([b"a", b" a", b" b"]).dictionary_encode()
    fields = [pa.field("word", words.type), pa.field("count", numbers.type)]
    schema = pa.schema(fields, metadata=table.schema.metadata)
    counts = mw.WordCounts.from_arrow(pa.Table.from_arrays([words, numbers], schema=schema))
    assert dict(counts.top(9)) == {b"a": 500, b" a": 700, b" b": 500}
    assert texts_of(pa.array(["x", "yz", "x"]).dictionary_encode()) == ["x", "yz", "x"]


@pytest.mark.parametrize(("num_words", "num_counts"), [(2, 1), (1, 2), (0, 1)])
def test_columns_of_different_lengths_are_refused(num_words: int, num_counts: int) -> None:
    columns = pa.array([b"a"] * num_words, pa.binary()), pa.array([1] * num_counts)
    with pytest.raises(FormatError, match=f"{num_words} words and {num_counts} counts"):
        counts_of_arrow([columns], pattern=None, normalize=None)


def test_bytes_that_change_later_are_not_seen() -> None:
    """A counter keeps no reference to the memory of an array."""
    data = np.frombuffer(bytearray(b"abab"), np.uint8)
    offsets = pa.py_buffer(np.array([0, 4], "<i4"))
    array = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(data)])
    counts = mw.count(array, pattern=None)
    data[:] = 0xFF
    assert dict(counts.top(9)) == {b"abab": 1}
