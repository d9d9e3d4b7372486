"""Files to documents: text, .gz, .zst, .jsonl, .parquet, folders, globs, standard input."""

from __future__ import annotations

import errno
import glob
import gzip
import io
import json
import os
import re
import select
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias, cast

from mergewise.errors import FormatError, InputError
from mergewise.files import checked_path, is_temporary
from mergewise.optional import import_optional
from mergewise.parquet import read_column

PathLike: TypeAlias = str | os.PathLike[str]
Document: TypeAlias = str | bytes
DocumentMode: TypeAlias = Literal["file", "lines"]

BATCH_DOCUMENTS = 4096
BATCH_BYTES = 8_000_000
READ_BYTES = 1 << 18
ZSTD_BYTES = 1 << 10
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Reader(Protocol):
    """A stream that the core reads from."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes; none at the end; None if nothing is there yet."""


@dataclass(frozen=True)
class Source:
    """One input: a file, or standard input under the path "-"."""

    path: Path
    compression: Literal["gz", "zst"] | None
    kind: Literal["text", "jsonl", "parquet"]

    @property
    def is_plain(self) -> bool:
        """Whether it is a file that the core can read by itself."""
        return self.kind == "text" and self.compression is None and str(self.path) != "-"

    @property
    def num_bytes(self) -> int:
        """Its size on disk; 0 for standard input."""
        return 0 if str(self.path) == "-" else self.path.stat().st_size


def find_sources(paths: PathLike | Iterable[PathLike]) -> list[Source]:
    """The inputs that paths, folders and globs name, in a fixed order.

    A folder stands for all files below it; "-" is standard input. Raises FileNotFoundError for a
    path that does not exist, a folder without files, or a glob that matches nothing.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found: list[Path] = []
    for given in paths:
        files = files_of(os.fspath(given))
        if not files:
            raise FileNotFoundError(2, "No such file, or no file in it", os.fspath(given))
        found.extend(files)
    if not found:
        raise ValueError("no inputs: expected at least one file, folder or glob")
    return [classify(path) for path in found]


def files_of(given: str) -> list[Path]:
    """The files that one path, folder or glob names."""
    path = Path(given)
    if path.is_dir():
        return sorted(below for below in path.rglob("*") if is_input(below))
    if given == "-" or path.exists():
        return [path]
    matches = sorted(glob.glob(given, recursive=True))  # noqa: PTH207 - globs may be absolute
    return [Path(match) for match in matches if is_input(Path(match))]


def is_input(path: Path) -> bool:
    """Whether what a folder or a glob found is a file, and none of a write that was killed."""
    return path.is_file() and not is_temporary(path)


def check_output(output: PathLike, inputs: Iterable[PathLike]) -> None:
    """Refuse an output before the work that leads to it: one that is an input, or lies in one.

    It would be lost, or be read as an input the next time. Without its folder there can be none.
    """
    target = Path(os.path.realpath(checked_path(output)))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(output))
    for given in [os.fspath(given) for given in inputs]:
        if Path(given).is_dir() and Path(os.path.realpath(given)) in target.parents:
            message = f"found an output in the input {given}, where it would be read as a text"
            raise InputError(message, path=output, hint="write it to another folder")
        if target.is_file() and any(file.samefile(target) for file in files_of(given)):
            raise InputError("found an output that is an input, too", path=output)


def classify(path: Path) -> Source:
    """The kind of a file, by its name.

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


class Stream:
    """The text of a source that is not a plain file; a broken one raises FormatError."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.num_bytes = source.num_bytes
        self.raw: BinaryIO | None = None
        if str(source.path) == "-":
            self.stream: Reader = StandardInput()
            return
        self.raw = source.path.open("rb")
        if source.compression == "gz":
            self.stream = gzip.GzipFile(fileobj=self.raw)
        elif source.compression == "zst":
            self.stream = Zstd(self.raw)
        else:
            self.stream = self.raw

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes; none at the end; None if nothing is there yet."""
        try:
            return self.stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(
                str(error),
                path=self.path,
                place=f"at byte {self.position():,} of the compressed file",
                hint="the file is damaged or cut short",
            ) from error
        except OSError as error:
            raise OSError(error.errno, error.strerror, os.fspath(self.path)) from error

    def buffered(self, size: int = io.DEFAULT_BUFFER_SIZE) -> io.BufferedReader:
        """A reader of lines."""
        return io.BufferedReader(cast("io.RawIOBase", Raw(self)), size)

    def position(self) -> int:
        """The bytes of the file that have been read."""
        if self.raw is None:
            return 0
        return self.num_bytes if self.raw.closed else self.raw.tell()

    def close(self) -> None:
        """Close the file."""
        if self.raw is not None:
            self.raw.close()


class StandardInput:
    """Standard input that does not block for long, so that Ctrl-C takes effect."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes; none at the end; None if nothing is there yet."""
        try:
            is_ready = bool(select.select([sys.stdin.buffer], [], [], 0.1)[0])
        except (OSError, ValueError):  # not a file that can be waited for
            is_ready = True
        stdin = cast("io.BufferedReader", sys.stdin.buffer)
        return stdin.read1(size) if is_ready else None


class Zstd:
    """The text of a zstd file, all of its frames.

    Four bytes may become 128 kB, so few bytes are decompressed at a time, and no more than 32 MB
    of text are held. The window of a frame has at most 128 MB, which is zstd's own limit.
    """

    def __init__(self, raw: BinaryIO) -> None:
        zstandard = import_optional("zstandard", extra="zstd", package="zstandard")
        self.raw = raw
        self.failure: type[Exception] = zstandard.ZstdError
        self.new_frame: Callable[[], Any] = zstandard.ZstdDecompressor().decompressobj
        self.frame: Any = None
        self.compressed = b""
        self.text = io.BytesIO()

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes; none at the end; None if nothing is there yet."""
        if text := self.text.read(size):
            return text
        self.compressed = self.compressed or self.raw.read(ZSTD_BYTES)
        if not self.compressed:
            if self.frame is not None:
                raise EOFError("the last frame ends too early")
            return b""
        self.frame = self.frame or self.new_frame()
        try:
            self.text = io.BytesIO(self.frame.decompress(self.compressed))
        except self.failure as error:
            raise EOFError(str(error)) from error
        self.compressed = self.frame.unused_data
        if self.frame.eof:
            self.frame = None
        # Frames may be empty, by the million: Ctrl-C is heard between them.
        return self.text.read(size) or None


class Records:
    """The documents of a .jsonl or .parquet source: one field of each record, nulls left out."""

    def __init__(self, source: Source, field: str) -> None:
        self.source = source
        self.field = field
        self.position: Callable[[], int] = lambda: 0

    def __iter__(self) -> Iterator[Document]:
        """Read the documents, once."""
        return self.parquet() if self.source.kind == "parquet" else self.jsonl()

    def jsonl(self) -> Iterator[Document]:
        """The field of each line of JSON."""
        with closing(Stream(self.source)) as stream:
            self.position = stream.position
            for number, line in enumerate(stream.buffered(READ_BYTES), start=1):
                if not line.isspace():
                    try:
                        text = json_document(line, self.field)
                    except FormatError as error:
                        error.path, error.place = str(self.source.path), f"line {number}"
                        raise
                    if text is not None:
                        yield text

    def parquet(self) -> Iterator[Document]:
        """The column, row group after row group."""
        num_bytes, done = self.source.num_bytes, 0.0
        self.position = lambda: int(num_bytes * done)
        for texts in read_column(self.source.path, self.field):
            done += texts.share
            yield from texts.documents


def json_document(line: bytes, field: str) -> str | None:
    """The document of one record; None if it is null."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"found no JSON ({error}), expected an object") from error
    if not isinstance(record, dict):
        raise FormatError(f"found a JSON {type(record).__name__}, expected an object")
    if field not in record:
        known = ", ".join(map(repr, record)) or "none"
        raise FormatError(f"found the fields {known}, expected {field!r}", hint="give_field")
    text = record[field]
    if text is not None and not isinstance(text, str):
        raise FormatError(f"{field!r} is a {type(text).__name__}, expected a string")
    if text is not None and b"\\u" in line and LONE_SURROGATE.search(text):
        raise FormatError(f"{field!r} holds half of a surrogate pair, expected text")
    return text


class Raw(io.RawIOBase):
    """A reader as a raw stream, so that the standard library can find its lines."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 - a writable buffer
        """Fill `buffer` from the reader."""
        data = None
        while data is None:
            # The standard library would take "nothing yet" for the end.
            data = self.reader.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents in lists of a few megabytes."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        if not isinstance(document, (str, bytes)):
            found = type(document).__name__
            raise TypeError(f"a text must be str or bytes, found {found}")
        batch.append(document)
        size += len(document)
        if size >= BATCH_BYTES or len(batch) >= BATCH_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
