"""The wire format of protocol buffers, as far as SentencePiece's models need it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from mergewise.formats.reading import Reading

# The types of fields.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
SIZES: Final = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """A field of a message: the range of its bytes, or its value if it is a varint."""

    number: int
    wire: int
    start: int
    end: int
    value: int = 0


def fields(reading: Reading, data: bytes, message: Field | None = None) -> Iterator[Field]:
    """The fields of a message within the data, or of all the data."""
    start, end = (message.start, message.end) if message else (0, len(data))
    while start < end:
        place = start
        tag, start = varint(reading, data, start, end)
        number, wire = tag >> 3, tag & 7
        value, size = 0, SIZES.get(wire, -1)
        if wire in {VARINT, BYTES}:
            value, start = varint(reading, data, start, end)
            size = value if wire == BYTES else 0
        if number == 0 or size < 0:
            found = f"field {number} of wire type {wire}"
            raise reading.wrong(f"offset {place}", found, "a field of a protocol buffer")
        if size > end - start:
            found = f"a field of {size} bytes where {end - start} are left"
            raise reading.wrong(f"offset {place}", found, "a field within the message")
        yield Field(number, wire, start, start + size, value)
        start += size


def varint(reading: Reading, data: bytes, start: int, end: int) -> tuple[int, int]:
    """A varint, with seven bits in each byte, and its end."""
    value = 0
    for index in range(10):
        place = start + index
        if place >= end:
            raise reading.wrong(f"offset {start}", "a number that is cut off", "its last byte")
        value |= (data[place] & 0x7F) << (7 * index)
        if data[place] < 0x80:
            return value, place + 1
    raise reading.wrong(f"offset {start}", "a number of more than 10 bytes", "at most 64 bits")


def written_varint(value: int) -> bytes:
    """A number as a varint (LEB128); negative ones as 64 bits.

    >>> list(written_varint(300))
    [172, 2]
    """
    value %= 1 << 64
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def number_field(number: int, value: int) -> bytes:
    """A field that holds a number or a boolean."""
    return written_varint(number << 3 | VARINT) + written_varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """A field that holds a string or a message."""
    return written_varint(number << 3 | BYTES) + written_varint(len(value)) + value
