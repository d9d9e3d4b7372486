"""Arrow arrays that say what they are told to say."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any


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
    """An exporter of an array; whoever holds it may change the fields of what it exports."""

    def __init__(
        self, form: bytes, length: int, buffers: Sequence[bytes | None], *, shift: int = 0
    ) -> None:
        self._memory = [
            None
            if part is None
            else ctypes.create_string_buffer(b"x" * shift + part, len(part) + shift or 1)
            for part in buffers
        ]
        places = [None if part is None else ctypes.addressof(part) + shift for part in self._memory]
        self.buffers = (ctypes.c_void_p * len(places))(*places)
        release = ctypes.cast(RELEASE, ctypes.c_void_p)
        self.schema = Schema(format=form, release=release)
        self.array = Array(
            length=length,
            n_buffers=len(places),
            buffers=ctypes.cast(self.buffers, ctypes.c_void_p),
            release=release,
        )

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        del requested_schema
        return (
            NEW_CAPSULE(ctypes.addressof(self.schema), b"arrow_schema", None),
            NEW_CAPSULE(ctypes.addressof(self.array), b"arrow_array", None),
        )


def forged_strings(
    offsets: Sequence[int], data: bytes, *, width: int = 4, shift: int = 0
) -> Forged:
    """Strings without nulls, with offsets of `width` bytes, in buffers `shift` bytes off."""
    form = {4: b"u", 8: b"U"}[width]
    buffers = [None, integers(offsets, width), data]
    return Forged(form, len(offsets) - 1, buffers, shift=shift)


def integers(numbers: Sequence[int], width: int) -> bytes:
    """Signed integers of `width` bytes, as they lie in memory."""
    return b"".join(number.to_bytes(width, "little", signed=True) for number in numbers)
