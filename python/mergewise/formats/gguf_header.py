"""The header of a GGUF file: its key-values. The tensors behind them are never read.

Every size is compared with what is left of the file before anything of that size is made. Numbers
in arrays are read when they are asked for, so that a model of any size costs its strings alone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from mergewise.formats.reading import LARGEST_ID, Reading, shown

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)
BOOL, STRING, ARRAY = 7, 8, 9
UINT32, INT32, FLOAT32 = 4, 5, 6
# The numbers by the type that the file names: their letters in the module struct.
NUMBERS: Final = dict(zip((*range(8), 10, 11, 12), "BbHhIif?Qqd", strict=True))
SMALLEST_STRING: Final = 8
BLOCK: Final = 1 << 18
# More than any tokenizer has. A model's tensors could pass for strings that fill the memory.
LONGEST_STRING: Final = 1 << 28
MOST_STRINGS: Final = 1 << 26
DEEPEST: Final = 8


@dataclass(frozen=True)
class Numbers:
    """An array of numbers that has not been read: where it lies in the file."""

    kind: int
    count: int
    start: int


Value: TypeAlias = int | float | bool | bytes | list[bytes] | Numbers | None


class Header:
    """The key-values of a file.

    Only those with a key that `wants` accepts are kept; nested arrays, which no tokenizer has, are
    checked and not kept.
    """

    def __init__(self, reading: Reading, wants: Callable[[str], bool]) -> None:
        self.reading = reading
        self.values: dict[str, Value] = {}
        with reading.open() as file:
            self._file = file
            self._end = file.seek(0, 2)
            file.seek(0)
            # The file is read in blocks; `_at` is the place in the last one, which ends where the
            # file is.
            self._block, self._at = b"", 0
            self._order = self._byte_order()
            self._uint32 = struct.Struct(self._order + "I").unpack
            self._uint64 = struct.Struct(self._order + "Q").unpack
            self._take(8)  # the number of tensors
            keys: set[str] = set()
            for index in range(self._uint64(self._take(8))[0]):
                place = f"key-value {index} at offset {self._place()}"
                key = self._decoded(self._string(), place)
                if key in keys:
                    raise reading.wrong(place, f"the key {shown(key)} again", "keys that differ")
                keys.add(key)
                value = self._value(self._uint32(self._take(4))[0])
                if wants(key):
                    self.values[key] = value

    def _byte_order(self) -> str:
        """The order of bytes, which the version tells: a small number in one of the two."""
        start = self._take(8)
        for order in "<>":
            if start[:4] == MAGIC and struct.unpack(order + "I", start[4:])[0] in VERSIONS:
                return order
        raise self.reading.wrong("offset 0", shown(start), "GGUF of version 2 or 3")

    def _place(self) -> int:
        """The offset of what comes next."""
        return self._file.tell() - len(self._block) + self._at

    def _take(self, size: int) -> bytes:
        start = self._at
        self._at += size
        if self._at > len(self._block):
            self._at = start
            self._check_left(size, LONGEST_STRING)
            self._block = self._block[start:] + self._file.read(max(size, BLOCK))
            start, self._at = 0, size
        return self._block[start : self._at]

    def _check_left(self, size: int, most: int) -> None:
        """Refuse a size that the rest of the file does not have, or above `most`."""
        left = min(self._end - self._place(), most)
        if size > left:
            found = f"{size:,} bytes where at most {left:,} can follow"
            raise self.reading.wrong(f"offset {self._place()}", found, "a header within the file")

    def _skip(self, size: int) -> None:
        self._check_left(size, self._end)
        self._file.seek(self._place() + size)
        self._block, self._at = b"", 0

    def _string(self) -> bytes:
        return self._take(self._uint64(self._take(8))[0])

    def _value(self, kind: int, depth: int = 0) -> Value:
        if kind in NUMBERS:
            number = struct.Struct(self._order + NUMBERS[kind])
            value: int | float | bool = number.unpack(self._take(number.size))[0]
            return value
        if kind == STRING:
            return self._string()
        if kind == ARRAY and depth < DEEPEST:
            return self._array(depth)
        found = f"a value of type {kind}" if kind != ARRAY else f"{depth} arrays in one another"
        place = f"offset {self._place()}"
        raise self.reading.wrong(place, found, "one of GGUF's types from 0 to 12")

    def _array(self, depth: int) -> Value:
        kind = self._uint32(self._take(4))[0]
        count = self._uint64(self._take(8))[0]
        if kind in NUMBERS:
            numbers = Numbers(kind, count, self._place())
            self._skip(count * struct.calcsize(NUMBERS[kind]))
            return numbers
        self._check_left(count * SMALLEST_STRING, MOST_STRINGS * SMALLEST_STRING)
        if kind == STRING:
            return self._strings(count)
        for _ in range(count):
            self._value(kind, depth + 1)
        return None

    def _strings(self, count: int) -> list[bytes]:
        strings: list[bytes] = []
        size_of = struct.Struct(self._order + "Q").unpack_from
        while len(strings) < count:
            # All that are whole in the block; the next one is read with more of the file.
            block, end, last = self._block, self._at, len(self._block) - SMALLEST_STRING
            while len(strings) < count and end <= last:
                start = end + SMALLEST_STRING
                end = start + size_of(block, end)[0]
                if end > len(block):
                    break
                strings.append(block[start:end])
                self._at = end
            if len(strings) < count:
                strings.append(self._string())
        return strings

    def _decoded(self, string: bytes, place: str) -> str:
        try:
            return string.decode("utf-8")
        except UnicodeDecodeError:
            raise self.reading.wrong(place, shown(string), "UTF-8") from None

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def text(self, key: str, default: str | None = None) -> str:
        """The string of a key; without the key `default`, if there is one."""
        value = self.values.get(key, None if default is None else default.encode())
        if not isinstance(value, bytes):
            raise self.wrong(key, "a string")
        return self._decoded(value, key)

    def texts(self, key: str) -> list[str]:
        """The strings of an array."""
        value = self.values.get(key)
        if not isinstance(value, list):
            raise self.wrong(key, "an array of strings")
        try:
            return [string.decode("utf-8") for string in value]
        except UnicodeDecodeError:
            # Once more, to say which.
            return [self._decoded(string, f"{key}[{index}]") for index, string in enumerate(value)]

    def flag(self, key: str, *, default: bool) -> bool:
        """The boolean of a key; without the key `default`."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def id(self, key: str) -> int | None:
        """The id of a key; None without the key."""
        value = self.values.get(key)
        if value is not None and (type(value) is not int or not 0 <= value <= LARGEST_ID):
            raise self.wrong(key, "an id")
        return value if isinstance(value, int) else None

    def numbers(self, key: str, kinds: tuple[int, ...], count: int) -> list[float] | None:
        """The numbers of an array, of one of these types and as many as `count`; None without."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, Numbers) or value.kind not in kinds or value.count != count:
            raise self.wrong(key, f"an array of {count:,} numbers, one for each token")
        letter = NUMBERS[value.kind]
        with self.reading.open() as file:
            file.seek(value.start)
            data = file.read(count * struct.calcsize(letter))
        return list(struct.unpack(f"{self._order}{count}{letter}", data))

    def wrong(self, key: str, expected: str) -> Exception:
        """The error that the value of a key is not what was expected."""
        value = self.values.get(key)
        found = "nothing" if value is None else shown(value)
        return self.reading.wrong(key, found, expected)
