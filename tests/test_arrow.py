"""Arrow arrays: read right, or refused; never trusted."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import mergewise as mw
from mergewise.errors import InputError

BYTES = mw.train(mw.count([], pattern=None), num_merges=0)
MISALIGNED = 1


class Schema(ctypes.Structure):
    """`ArrowSchema` of the C data interface."""

    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


class Array(ctypes.Structure):
    """`ArrowArray` of the C data interface."""

    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


NEW_CAPSULE = ctypes.pythonapi.PyCapsule_New
NEW_CAPSULE.restype = ctypes.py_object
NEW_CAPSULE.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)


class Forged:
    """An exporter of strings that says what it is told to say."""

    def __init__(
        self, offsets: Sequence[int], data: bytes, *, width: str = "<i4", shift: int = 0
    ) -> None:
        raw = b"x" * shift + np.array(offsets, width).tobytes()
        self._offsets = ctypes.create_string_buffer(raw, len(raw))
        self._data = ctypes.create_string_buffer(data, max(len(data), 1))
        places = [None, ctypes.addressof(self._offsets) + shift, ctypes.addressof(self._data)]
        self.buffers = (ctypes.c_void_p * 3)(*places)
        release = ctypes.cast(RELEASE, ctypes.c_void_p)
        self.schema = Schema(format=b"u" if width == "<i4" else b"U", release=release)
        self.array = Array(
            length=len(offsets) - 1,
            n_buffers=3,
            buffers=ctypes.cast(self.buffers, ctypes.c_void_p),
            release=release,
        )

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        del requested_schema
        return (
            NEW_CAPSULE(ctypes.addressof(self.schema), b"arrow_schema", None),
            NEW_CAPSULE(ctypes.addressof(self.array), b"arrow_array", None),
        )


def texts_of(array: Any) -> list[str]:
    """What is encoded of an array."""
    return [BYTES.decode(ids) for ids in BYTES.encode_batch(array)]


@pytest.mark.parametrize("width", ["<i4", "<i8"])
@pytest.mark.parametrize("shift", [0, MISALIGNED])
def test_a_sound_array_is_read(width: str, shift: int) -> None:
    assert texts_of(Forged([0, 2, 2, 5], b"abcde", width=width, shift=shift)) == ["ab", "", "cde"]


def test_an_array_may_begin_later() -> None:
    forged = Forged([0, 2, 2, 5], b"abcde")
    forged.array.offset, forged.array.length = 1, 2
    assert texts_of(forged) == ["", "cde"]


@pytest.mark.parametrize("width", ["<i4", "<i8"])
@pytest.mark.parametrize("offsets", [[0, 100, 5], [5, 0], [0, -1], [-5, 0], [-3, -1]])
def test_offsets_out_of_order_are_refused(offsets: list[int], width: str) -> None:
    with pytest.raises(InputError, match="offset"):
        texts_of(Forged(offsets, b"abcde", width=width))


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
    forged = Forged([0, 2], b"ab")
    damage(forged)
    with pytest.raises(InputError, match=reason):
        texts_of(forged)


@pytest.mark.parametrize("index", [1, 2])
def test_missing_buffers_are_refused(index: int) -> None:
    forged = Forged([0, 2], b"ab")
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


def test_bytes_that_change_later_are_not_seen() -> None:
    """A counter keeps no reference to the memory of an array."""
    data = np.frombuffer(bytearray(b"abab"), np.uint8)
    offsets = pa.py_buffer(np.array([0, 4], "<i4"))
    array = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(data)])
    counts = mw.count(array, pattern=None)
    data[:] = 0xFF
    assert dict(counts.top(9)) == {b"abab": 1}
