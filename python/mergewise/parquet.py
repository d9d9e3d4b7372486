"""Parquet files, by pyarrow: errors that name the file, and a column of texts, read ahead."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from mergewise.errors import FormatError
from mergewise.optional import import_optional
from mergewise.storage import RemoteFile

if TYPE_CHECKING:
    from concurrent.futures import Future

# What is made of a batch that is encoded takes several times its memory.
BATCH_BYTES = 1_000_000
COUNTED_BYTES = 8_000_000
BATCH_ROWS = 4096
# How many batches wait for those before them: 32 MB.
MOST_AHEAD = 32

InputPath: TypeAlias = Path | RemoteFile
Batch = TypeVar("Batch")


class Texts(NamedTuple):
    """Some rows of a column of texts.

    Attributes:
        array: the rows, a pyarrow.Array of strings.
        path: the file.
        row_group: which row group of the file they are in.
        first_row: where they begin in the file.
        num_rows: how many rows the file has.
    """

    array: Any
    path: InputPath
    row_group: int
    first_row: int
    num_rows: int

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.path}: row {self.first_row:,} and on"

    @property
    def extent(self) -> range:
        """The bytes of the file that they are, if all rows are equally long."""
        size = self.path.stat().st_size
        rows = (self.first_row, self.first_row + len(self.array))
        return range(*(byte_of_row(row, self.num_rows, size) for row in rows))

    @property
    def documents(self) -> list[bytes]:
        """The texts as bytes, which need not be UTF-8; nulls are left out."""
        pa = import_pyarrow()
        is_large = pa.types.is_large_string(self.array.type)
        texts = self.array.cast(pa.large_binary() if is_large else pa.binary())
        return [text for text in texts.to_pylist() if text is not None]


def read_column(path: InputPath, field: str) -> Iterator[Texts]:
    """A column of a file, a few megabytes at a time."""
    return chain.from_iterable(row_groups(path, field))


def read_in_order(row_groups: Iterator[Iterator[Batch]], num_threads: int) -> Iterator[Batch]:
    """The batches of row groups, one after the other, read ahead of `num_threads` that encode.

    Several row groups are read at once, and a few batches of each wait; 0 threads are all cores.
    """
    # Loaded here: see `read_ahead`.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    # Decompressing takes up to half of the time of encoding.
    num_readers = max(1, (num_threads or os.cpu_count() or 1) // 2)
    reading: deque[tuple[Iterator[Batch], deque[Future[Batch | None]]]] = deque()

    def go_on(pool: ThreadPoolExecutor) -> None:
        for row_group in islice(row_groups, num_readers - len(reading)):
            reading.append((row_group, deque()))
        for row_group, batches in reading:
            if not batches or (len(batches) < MOST_AHEAD // num_readers and has_more(batches[-1])):
                batches.append(pool.submit(next, row_group, None))

    with ThreadPoolExecutor(num_readers) as pool:
        go_on(pool)
        while reading:
            _, batches = reading[0]
            batch = batches.popleft().result()
            if batch is None:
                reading.popleft()
            go_on(pool)
            if batch is not None:
                yield batch


def has_more(batch: Future[Batch | None]) -> bool:
    """Whether a batch was read, so that the next one can be."""
    return batch.done() and batch.exception() is None and batch.result() is not None


def read_columns(paths: Iterable[InputPath], field: str, num_threads: int) -> Iterator[Texts]:
    """A column of several files, read ahead of `num_threads` that count; 0 means all cores.

    The same texts in the same order every time.
    """
    num_threads = num_threads or os.cpu_count() or 1
    found = (row_groups(path, field, batch_bytes=COUNTED_BYTES) for path in paths)
    waiting = chain.from_iterable(found)
    if num_threads == 1:
        return chain.from_iterable(waiting)
    # Decompressing takes about half as long as counting.
    return read_ahead(waiting, max(2, num_threads // 2))


def read_ahead(waiting: Iterator[Iterator[Texts]], num_readers: int) -> Iterator[Texts]:
    """The texts of row groups; `num_readers` are read at once, with one batch of each in memory."""
    # Loaded here: without Parquet it would be a good part of the time to import a tokenizer.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    with ThreadPoolExecutor(num_readers) as pool:
        reading: deque[tuple[Iterator[Texts], Future[Texts | None]]] = deque()
        for row_group in islice(waiting, num_readers):
            reading.append((row_group, pool.submit(next, row_group, None)))
        while reading:
            row_group, batch = reading.popleft()
            texts = batch.result()
            following = row_group if texts is not None else next(waiting, None)
            if following is not None:
                reading.append((following, pool.submit(next, following, None)))
            if texts is not None:
                yield texts


def row_groups(
    path: InputPath, field: str, start: int = 0, *, batch_bytes: int = BATCH_BYTES
) -> Iterator[Iterator[Texts]]:
    """A column of a file by row groups, each read when it is iterated, `batch_bytes` at a time.

    Row groups that end before the byte `start`, if all rows are equally long, are left out.
    """
    with open_parquet(path) as file:
        check_column(file.schema_arrow, field)
        metadata = file.metadata
    size = path.stat().st_size
    first_row = 0
    for number in range(metadata.num_row_groups):
        end_row = first_row + metadata.row_group(number).num_rows
        if byte_of_row(end_row, metadata.num_rows, size) >= start:
            batch_size = rows_in_a_batch(metadata.row_group(number), batch_bytes)
            yield read_row_group(path, field, metadata, (number, first_row, batch_size))
        first_row = end_row


def byte_of_row(row: int, num_rows: int, size: int) -> int:
    """Where a row begins in a file, if all are equally long."""
    return size * row // max(1, num_rows)


def read_row_group(
    path: InputPath,
    field: str,
    metadata: Any,  # noqa: ANN401 - pyarrow is optional
    place: tuple[int, int, int],
) -> Iterator[Texts]:
    """The column in a row group: its number, its first row, and the rows that are read at once."""
    number, first_row, batch_size = place
    with open_parquet(path, metadata) as file:
        options = {"columns": [field], "row_groups": [number], "use_threads": False}
        for batch in file.iter_batches(batch_size, **options):
            yield Texts(batch.column(0), path, number, first_row, metadata.num_rows)
            first_row += batch.num_rows


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
            # pyarrow opens what has a path by itself.
            source: Any = path
            if isinstance(path, RemoteFile):
                source = stack.enter_context(path.open())
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
