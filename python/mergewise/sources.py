"""Files to documents: text, .gz, .zst, .jsonl, .parquet, folders, globs, standard input."""

from __future__ import annotations

import glob
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias, cast

from mergewise.errors import FormatError

PathLike: TypeAlias = str | os.PathLike[str]
Document: TypeAlias = str | bytes
DocumentMode: TypeAlias = Literal["file", "lines"]

BATCH_DOCUMENTS = 4096
BATCH_BYTES = 8_000_000


class Reader(Protocol):
    """What the core reads from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


@dataclass(frozen=True)
class Source:
    """One input: a file, or standard input under the path "-"."""

    path: Path
    compression: Literal["gz", "zst"] | None
    kind: Literal["text", "jsonl", "parquet"]

    @property
    def is_plain(self) -> bool:
        """Is it a file that the core can read by itself?"""
        return self.kind == "text" and self.compression is None and str(self.path) != "-"

    @property
    def num_bytes(self) -> int:
        """Its size on disk; 0 for standard input."""
        return 0 if str(self.path) == "-" else self.path.stat().st_size


def find_sources(paths: PathLike | Iterable[PathLike]) -> list[Source]:
    """The inputs that paths, folders and globs name, in a fixed order.

    A folder stands for all files below it; "-" is standard input. Raises FileNotFoundError for a
    path that does not exist or a glob that matches nothing.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if str(path) == "-" or path.is_file():
            found.append(path)
        elif path.is_dir():
            found.extend(sorted(below for below in path.rglob("*") if below.is_file()))
        elif path.exists():
            found.append(path)
        else:
            matches = sorted(glob.glob(os.fspath(given), recursive=True))  # noqa: PTH207
            if not matches:
                raise FileNotFoundError(2, "No such file or directory", os.fspath(given))
            found.extend(Path(match) for match in matches if Path(match).is_file())
    return [classify(path) for path in found]


def classify(path: Path) -> Source:
    """What a file holds, by its name.

    >>> classify(Path("a.jsonl.gz")).kind
    'jsonl'
    """
    name = path.name.lower()
    compression: Literal["gz", "zst"] | None = None
    if name.endswith(".gz"):
        compression, name = "gz", name[: -len(".gz")]
    elif name.endswith(".zst"):
        compression, name = "zst", name[: -len(".zst")]
    if name.endswith((".jsonl", ".ndjson")):
        return Source(path, compression, "jsonl")
    if name.endswith(".parquet") and compression is None:
        return Source(path, None, "parquet")
    return Source(path, compression, "text")


class Decompressed:
    """The decompressed bytes of a file; a broken one raises FormatError with the file's name."""

    def __init__(self, path: Path, compression: Literal["gz", "zst"]) -> None:
        self.path = path
        self.raw = path.open("rb")
        self.stream = open_gzip(self.raw) if compression == "gz" else open_zstd(self.raw)

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        try:
            return self.stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.broken(error) from error
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            raise self.broken(error) from error

    def broken(self, error: Exception) -> FormatError:
        """What to raise for a failure of the decompressor."""
        place = f"{self.path}: at byte {self.raw.tell():,} of the compressed file"
        return FormatError(f"{place}: {error}; hint: the file is damaged or cut short")

    def position(self) -> int:
        """How much of the file has been read."""
        return self.raw.tell()


def open_gzip(raw: BinaryIO) -> Reader:
    """The text of a gzip file."""
    return gzip.GzipFile(fileobj=raw)


def open_zstd(raw: BinaryIO) -> Reader:
    """The text of a zstd file, all of its frames."""
    try:
        import zstandard  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise ImportError('reading .zst needs pip install "mergewise[zstd]"') from error
    return cast("Reader", zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))


def open_text(source: Source) -> Reader | None:
    """A reader for a source of text, or None if the core can read the file by itself."""
    if source.is_plain:
        return None
    if source.compression is not None:
        return Decompressed(source.path, source.compression)
    return sys.stdin.buffer


def read_records(source: Source, field: str) -> Iterator[Document]:
    """The documents of a .jsonl or .parquet source: one field of each record, nulls left out."""
    if source.kind == "parquet":
        return read_parquet(source.path, field)
    return read_jsonl(source, field)


def read_jsonl(source: Source, field: str) -> Iterator[Document]:
    """The field `field` of each line of JSON."""
    if source.compression is None:
        stream: Reader = source.path.open("rb")
    else:
        stream = Decompressed(source.path, source.compression)
    lines = io.BufferedReader(cast("io.RawIOBase", Raw(stream)), 1 << 18)
    for number, line in enumerate(lines, start=1):
        if line.isspace():
            continue
        yield from json_document(line, field, f"{source.path}: line {number}")


def json_document(line: bytes, field: str, place: str) -> Iterator[Document]:
    """The document of one record, if it is not null."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise FormatError(f"{place}: found no JSON ({error}), expected an object") from error
    if not isinstance(record, dict):
        found = type(record).__name__
        raise FormatError(f"{place}: found a JSON {found}, expected an object")
    if field not in record:
        known = ", ".join(map(repr, record)) or "none"
        raise FormatError(
            f"{place}: found the fields {known}, expected {field!r}; hint: field=..., --field"
        )
    text = record[field]
    if text is None:
        return
    if not isinstance(text, str):
        raise FormatError(f"{place}: {field!r} is a {type(text).__name__}, expected a string")
    yield text


class Raw(io.RawIOBase):
    """A reader as a raw stream, so that the standard library can find its lines."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - a writable buffer
        """Fill `buffer` from the reader."""
        data = self.reader.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def read_parquet(path: Path, field: str) -> Iterator[Document]:
    """The column `field` of a Parquet file, row group after row group."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional package
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ImportError('reading .parquet needs pip install "mergewise[arrow]"') from error
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        if field not in names:
            known = ", ".join(map(repr, names))
            raise FormatError(f"{path}: found the columns {known}, expected {field!r}")
        kind = file.schema_arrow.field(field).type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise FormatError(f"{path}: the column {field!r} holds {kind}, expected strings")
        for batch in file.iter_batches(batch_size=1024, columns=[field]):
            yield from (text for text in batch.column(0).to_pylist() if text is not None)
    except (pa.ArrowInvalid, pa.ArrowIOError) as error:
        raise FormatError(f"{path}: {error}") from error


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents in lists of a few megabytes."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document)
        if size >= BATCH_BYTES or len(batch) >= BATCH_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
