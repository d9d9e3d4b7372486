"""What paths name: text, .gz, .zst, .jsonl, .parquet, folders, globs, standard input.

The core reads them all.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal, TypeAlias, cast

from mergewise import _core
from mergewise.errors import InputError
from mergewise.files import checked_path, is_temporary
from mergewise.storage import RemoteFile

PathLike: TypeAlias = str | os.PathLike[str]
InputPath: TypeAlias = Path | RemoteFile
Document: TypeAlias = str | bytes
DocumentMode: TypeAlias = Literal["file", "lines"]

# What reports the bytes that were read; None if nothing is reported.
Tell: TypeAlias = Callable[[int], None] | None

BATCH_DOCUMENTS = 4096
BATCH_BYTES = 8_000_000
# Suffixes of files that would be read as a text of their compressed bytes.
NOT_READ = (".bz2", ".xz", ".lzma", ".lz4", ".br", ".zip", ".7z", ".tar", ".tgz")
# The text that the core reads at once.
BLOCK_BYTES = 1 << 18


@dataclass(frozen=True)
class Source:
    """One input: a file, or standard input under the path "-"."""

    path: InputPath
    compression: Literal["gz", "zst"] | None
    kind: Literal["text", "jsonl", "parquet"]

    @property
    def is_standard_input(self) -> bool:
        """Whether it is no file."""
        return str(self.path) == "-"

    @property
    def reader(self) -> StandardInput | RemoteFile | None:
        """What the core reads in place of a file of this machine."""
        if isinstance(self.path, RemoteFile):
            return self.path
        return StandardInput() if self.is_standard_input else None

    @property
    def num_bytes(self) -> int:
        """Its size on disk; 0 for standard input that is no file."""
        return size_of_standard_input() if self.is_standard_input else self.path.stat().st_size


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
    if given == "-":
        return [Path(given)]
    # Of a file of this name `Path` would make standard input.
    return [path.absolute() if str(path) == "-" else path for path in files_named(given)]


def files_named(given: str) -> list[Path]:
    """The files that one path, folder or glob names, none of which is standard input."""
    path = Path(given)
    if given and path.is_dir():
        return sorted(below for below in files_below(path) if is_input(below))
    if path.exists():
        return [path]
    matches = sorted(glob.glob(given, recursive=True))  # noqa: PTH207 - globs may be absolute
    return [Path(match) for match in matches if is_input(Path(match))]


def files_below(folder: Path) -> Iterator[Path]:
    """All that is in a folder and in those below it; an error if one cannot be read."""

    def refuse(error: OSError) -> None:
        raise error

    for below, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(below, name) for name in names)


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
    for given in [os.fspath(given) for given in inputs if os.fspath(given) != "-"]:
        if Path(given).is_dir() and Path(os.path.realpath(given)) in target.parents:
            message = f"found an output in the input {given}, where it would be read as a text"
            raise InputError(message, path=output, hint="write it to another folder")
        if target.is_file() and any(file.samefile(target) for file in files_of(given)):
            raise InputError("found an output that is an input, too", path=output)


def classify(path: InputPath) -> Source:
    """The kind of a file, by its name.

    >>> classify(Path("a.jsonl.gz")).kind
    'jsonl'

    Raises InputError for compressions that are not read.
    """
    name = path.name.lower()
    compression: Literal["gz", "zst"] | None = None
    if name.endswith(".gz"):
        compression, name = "gz", name[: -len(".gz")]
    elif name.endswith(".zst"):
        compression, name = "zst", name[: -len(".zst")]
    if name.endswith(NOT_READ) or (compression and name.endswith((".gz", ".zst", ".parquet"))):
        message = "found a compression that is not read, expected .gz or .zst of text or .jsonl"
        raise InputError(message, path=path, hint="decompress the file first")
    if name.endswith((".jsonl", ".ndjson")):
        return Source(path, compression, "jsonl")
    if name.endswith(".parquet"):
        return Source(path, None, "parquet")
    return Source(path, compression, "text")


class StandardInput:
    """Standard input that does not block for long, so that Ctrl-C takes effect."""

    def __init__(self) -> None:
        self.patience = 0.1

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes; none at the end; None if nothing is there yet."""
        try:
            is_ready = bool(select.select([sys.stdin.buffer], [], [], self.patience)[0])
        except (OSError, ValueError):  # not a file that can be waited for
            is_ready = True
        # What was read is worked on before anyone waits for more.
        self.patience = 0.0 if is_ready else 0.1
        stdin = cast("io.BufferedReader", sys.stdin.buffer)
        return stdin.read1(size) if is_ready else None


def size_of_standard_input() -> int:
    """How much there is to be read of it, if it is a file; else 0."""
    try:
        status = os.fstat(sys.stdin.fileno())
        is_file = stat.S_ISREG(status.st_mode)
        return max(status.st_size - sys.stdin.buffer.tell(), 0) if is_file else 0
    except (OSError, ValueError):  # it is closed, or not a file of the system
        return 0


def consecutive(sources: Iterable[Source]) -> list[list[Source]]:
    """The sources in groups that are read together: Parquet, or others."""
    groups = groupby(sources, key=lambda source: source.kind == "parquet")
    return [list(group) for _, group in groups]


def documents_of(
    source: Source,
    *,
    tokenizer: _core.Tokenizer | None = None,
    documents: DocumentMode = "file",
    field: str = "text",
) -> Iterator[tuple[Sequence[bytes], bool]]:
    """The documents of a source, some at a time, and whether the last one ends there.

    With a tokenizer a long document comes in parts: their ids, one after the other, are those of
    the whole.
    """
    return _core.Documents(
        [source],
        tokenizer=tokenizer,
        documents=documents,
        field=field,
        block_bytes=BLOCK_BYTES,
    )


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
