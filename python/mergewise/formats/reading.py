"""What all readers share: the file, the options, and errors that name the place."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from mergewise.errors import FormatError


class Unset(enum.Enum):
    """The type of UNSET: an option that was not given, where None is a value of its own."""

    UNSET = "UNSET"


UNSET: Final = Unset.UNSET
LARGEST_ID: Final = 2**32 - 1
HEAD_BYTES: Final = 1 << 16
# How a file begins that stands for one that Git LFS keeps elsewhere.
POINTER: Final = b"version https://git-lfs"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A file that is being read, or what would be in it, and the options of the caller.

    Attributes:
        path: the file or the directory; errors name it.
        data: the content, if there is no such file.
        is_live: whether it is what a tokenizer in memory writes of itself.
        pattern: the pattern, instead of the file's.
        special_tokens: the special tokens and their ids, instead of the file's.
        lossy: whether what mergewise does not support is left out, with a warning.
    """

    path: Path
    data: bytes | None = None
    is_live: bool = False
    pattern: str | Unset | None = UNSET
    special_tokens: Mapping[str, int] | Unset = UNSET
    lossy: bool = False

    def open(self) -> BinaryIO:
        """The content as an open file."""
        if self.data is not None:
            return BytesIO(self.data)
        file = self.path.open("rb")
        if file.read(len(POINTER)) == POINTER:
            file.close()
            found = "a pointer that Git LFS left in place of the file"
            raise self.wrong("", found, "the file itself", hint="git lfs pull fetches it")
        file.seek(0)
        return file

    def read_bytes(self) -> bytes:
        """The content."""
        with self.open() as file:
            return file.read()

    def wrong(self, place: str, found: str, expected: str, *, hint: str = "") -> FormatError:
        """The error that something in the file is not as expected."""
        message = f"found {found}, expected {expected}"
        return FormatError(message, path=self.path, place=place or None, hint=hint or None)

    def leave_out(self, place: str, found: str, expected: str) -> None:
        """Refuse what mergewise does not support, or warn and continue without it if `lossy`."""
        if not self.lossy:
            raise self.wrong(place, found, expected, hint="read_lossy")
        warnings.warn(f"{self.path}: {place}: left out {found}, expected {expected}", stacklevel=2)


def shown(value: object) -> str:
    """A value as an error message quotes it: always short.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    if isinstance(value, (list, dict)):
        kind = "a list" if isinstance(value, list) else "an object"
        return f"{kind} of {len(value)}"
    text = repr(value[:60] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= 50 else text[:46] + "..."


def is_id(value: object) -> bool:
    """Whether this is an integer in 0..2^32; True and False are not.

    >>> [is_id(value) for value in (0, 2**32 - 1, 2**32, -1, True, 1.0)]
    [True, True, False, False, False, False]
    """
    return type(value) is int and 0 <= value <= LARGEST_ID


def first_lines(head: bytes) -> list[bytes]:
    """Some lines at the beginning of a file, without the last of `head`, which may be cut off."""
    lines = head.split(b"\n")[:10]
    return lines[:-1] or lines


def decoded(reading: Reading, data: bytes) -> str:
    """The text of a file that must be UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"the byte 0x{data[error.start]:02x}"
        raise reading.wrong(f"offset {error.start}", found, "UTF-8") from None
