"""Parquet files, by pyarrow: errors that name the file, and a column of texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from mergewise.errors import FormatError
from mergewise.optional import import_optional
from mergewise.storage import RemoteFile

# A thread reads a batch and works on it; what is made of it takes several times its memory.
BATCH_BYTES = 500_000
BATCH_ROWS = 4096
# Where several threads decode, pyarrow is asked after so many batches for the memory that it keeps.
BATCHES_TO_RELEASE = 8
# A file on disk is read in such pieces: at once, a row group would be as a whole in memory.
BUFFER_BYTES = 1 << 20

InputPath: TypeAlias = Path | RemoteFile


class Texts(NamedTuple):
    """Some rows of a column of texts.

    Attributes:
        array: the rows, a pyarrow.Array of strings.
        place: the file and the rows, for messages.
        extent: the bytes of all inputs that they are, if all rows of the file are equally long.
    """

    array: Any
    place: str
    extent: range

    @property
    def documents(self) -> list[bytes]:
        """The texts as bytes, which need not be UTF-8; nulls are left out."""
        pa = import_pyarrow()
        is_large = pa.types.is_large_string(self.array.type)
        texts = self.array.cast(pa.large_binary() if is_large else pa.binary())
        return [text for text in texts.to_pylist() if text is not None]


class File(NamedTuple):
    """A file of which a column is read.

    Attributes:
        path: where it is.
        field: the name of the column.
        position: how many bytes of all inputs are before it.
        metadata: what it says of itself, a pyarrow.parquet.FileMetaData.
        num_bytes: how large it is.
    """

    path: InputPath
    field: str
    position: int
    metadata: Any
    num_bytes: int

    def byte_of_row(self, row: int) -> int:
        """Where a row begins, if all are equally long."""
        num_rows: int = self.metadata.num_rows
        return self.position + self.num_bytes * row // max(1, num_rows)


class RowGroup(NamedTuple):
    """A column in a row group, which is read when it is iterated.

    Attributes:
        file: the file.
        number: which row group of the file it is.
        first_row: where it begins in the file.
    """

    file: File
    number: int
    first_row: int

    def texts(self, *, is_alone: bool = True) -> Iterator[Texts]:
        """The rows, about half a megabyte at a time; other threads may decode meanwhile."""
        file, row = self.file, self.first_row
        with open_parquet(file.path, file.metadata) as opened:
            batches = opened.iter_batches(
                rows_in_a_batch(file.metadata.row_group(self.number), BATCH_BYTES),
                columns=[file.field],
                row_groups=[self.number],
                use_threads=False,
            )
            for number, batch in enumerate(batches, 1):
                end = row + batch.num_rows
                extent = range(file.byte_of_row(row), file.byte_of_row(end))
                yield Texts(batch.column(0), f"{file.path}: row {row:,} and on", extent)
                row = end
                # One keeps little.
                if not is_alone and number % BATCHES_TO_RELEASE == 0:
                    release_unused()
            # Or the thread keeps what this row group took, though it may decode no other.
            release_unused()


def read_column(path: InputPath, field: str) -> Iterator[Texts]:
    """A column of a file, about half a megabyte at a time."""
    return chain.from_iterable(row_group.texts() for row_group in row_groups(path, field))


def columns_of(
    paths: Iterable[tuple[InputPath, int]], field: str, *, num_threads: int
) -> Iterator[Iterator[Texts]]:
    """A column of files by row groups; beside a file stand the bytes of all inputs before it."""
    for path, position in paths:
        for row_group in row_groups(path, field, position):
            yield row_group.texts(is_alone=num_threads == 1)


def release_unused() -> None:
    """Have pyarrow give back the memory that it keeps for this thread."""
    import_pyarrow().default_memory_pool().release_unused()


def row_groups(
    path: InputPath, field: str, position: int = 0, start: int = 0
) -> Iterator[RowGroup]:
    """A column of a file by row groups; before the file, all inputs have `position` bytes.

    Row groups that end before the byte `start`, if all rows are equally long, are left out.
    """
    with open_parquet(path) as opened:
        check_column(opened.schema_arrow, field)
        metadata = opened.metadata
    file = File(path, field, position, metadata, path.stat().st_size)
    first_row = 0
    for number in range(metadata.num_row_groups):
        end_row = first_row + metadata.row_group(number).num_rows
        if file.byte_of_row(end_row) >= start:
            yield RowGroup(file, number, first_row)
        first_row = end_row


def rows_in_a_batch(row_group: Any, batch_bytes: int) -> int:  # noqa: ANN401 - pyarrow is optional
    """The number of rows that have `batch_bytes` in all columns, on average."""
    # Of one column it would be more exact, but asked for that, pyarrow aborts on damaged metadata.
    num_rows: int = batch_bytes * row_group.num_rows // max(1, row_group.total_byte_size)
    return max(1, min(BATCH_ROWS, num_rows))


def check_column(schema: Any, field: str) -> None:  # noqa: ANN401 - pyarrow is optional
    """Reject a column that is missing or does not hold strings."""
    types = import_pyarrow().types
    if schema.names.count(field) != 1:
        raise FormatError(no_column(schema.names, field), hint="give_field")
    kind = schema.field(field).type
    if not (types.is_string(kind) or types.is_large_string(kind)):
        raise FormatError(f"the column {field!r} holds {kind}, expected strings")


@contextmanager
def open_parquet(path: str | os.PathLike[str], metadata: Any = None) -> Iterator[Any]:  # noqa: ANN401
    """A ParquetFile, with `metadata` if it was read before; errors name the file."""
    pa = import_pyarrow()
    try:
        options = {"metadata": metadata, "page_checksum_verification": True}
        with ExitStack() as stack:
            # pyarrow opens what has a path by itself; what is far away is read in few requests.
            source: Any = path
            if isinstance(path, RemoteFile):
                source = stack.enter_context(path.open())
            else:
                options |= {"pre_buffer": False, "buffer_size": BUFFER_BYTES}
            yield stack.enter_context(import_parquet().ParquetFile(source, **options))
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
    """
    return f"found the columns {', '.join(map(repr, found))}, expected {expected!r}"
