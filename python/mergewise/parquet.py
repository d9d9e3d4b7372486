"""Parquet files of counts, by pyarrow: errors that name the file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mergewise.errors import FormatError
from mergewise.optional import import_optional

# A file is read in such pieces: at once, a row group would be as a whole in memory.
BUFFER_BYTES = 1 << 20


@contextmanager
def open_parquet(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A ParquetFile; errors name the file."""
    pa = import_pyarrow()
    try:
        options = {"page_checksum_verification": True, "buffer_size": BUFFER_BYTES}
        with import_parquet().ParquetFile(path, pre_buffer=False, **options) as opened:
            yield opened
    except FormatError as error:
        error.path = os.fspath(path)
        raise
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FormatError(str(error), path=os.fspath(path)) from error


def import_parquet() -> Any:  # noqa: ANN401 - a module
    """The part of pyarrow that reads and writes Parquet."""
    return import_optional("pyarrow.parquet", extra="arrow", package="pyarrow")


def import_pyarrow() -> Any:  # noqa: ANN401 - a module
    """The package pyarrow."""
    return import_optional("pyarrow", extra="arrow", package="pyarrow")


def no_column(found: Iterable[str], expected: str) -> str:
    """The message about a table without a column, or with two of its name.

    >>> no_column(["id", "body"], "text")
    "found the columns 'id', 'body', expected 'text'"
    >>> no_column(["text", "text"], "text")
    "found 2 columns 'text', expected one"
    """
    found = list(found)
    if (number := found.count(expected)) > 1:
        return f"found {number} columns {expected!r}, expected one"
    return f"found the columns {', '.join(map(repr, found))}, expected {expected!r}"
