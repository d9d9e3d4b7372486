"""Files to one array of ids on disk."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from mergewise import _core
from mergewise.arguments import check_choice
from mergewise.errors import InputError, MergewiseError
from mergewise.files import replacing
from mergewise.progress import Progress, Reporter
from mergewise.sources import (
    Document,
    DocumentMode,
    PathLike,
    Records,
    Source,
    Stream,
    batches,
    check_output,
    find_sources,
)

Dtype: TypeAlias = Literal["uint16", "uint32"]

READ_BYTES = 1 << 24
PART_BYTES = 1 << 18
# The header of a .npy file, padded to a multiple of 64 bytes, with room for the length.
NPY_HEADER_BYTES = 128


@dataclass(frozen=True)
class EncodedFile:
    """What was written.

    Attributes:
        path: the file.
        dtype: the type of its numbers.
        num_tokens: how many there are.
        num_documents: how many documents they come from.
    """

    path: Path
    dtype: Dtype
    num_tokens: int
    num_documents: int


class Batch(NamedTuple):
    """Texts to encode together: whole documents, or parts of one that can be cut there.

    Attributes:
        texts: the texts.
        ends: whether a document ends behind each.
        position: how much of the source was read with the last of them.
    """

    texts: list[Document]
    ends: list[bool]
    position: int


class Place:
    """Where in a source the next text begins, as an error names it."""

    def __init__(self, source: Source, *, by_lines: bool) -> None:
        self.name = "standard input" if str(source.path) == "-" else str(source.path)
        self.unit = "record" if source.kind != "text" else "line" if by_lines else None
        self.num_texts = 0
        self.num_bytes = 0

    def pass_by(self, texts: list[Document]) -> None:
        """Go on behind these texts."""
        self.num_texts += len(texts)
        self.num_bytes += sum(map(len, texts))

    def locate(self, error: MergewiseError, texts: list[Document]) -> None:
        """Give an error about one of the next texts its place in the source."""
        index, error.document = error.document or 0, None
        error.path = self.name
        if self.unit is not None:
            error.place = f"{self.unit} {self.num_texts + index + 1}"
        elif error.offset is not None:
            error.offset += self.num_bytes + sum(map(len, texts[:index]))


def encode_to_file(
    encoder: _core.Tokenizer,
    paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    separator: int | None,
    documents: DocumentMode,
    field: str,
    dtype: Dtype,
    choice: _core.Choice,
    num_threads: int,
    progress: Progress,
) -> EncodedFile:
    """Write the ids of all documents, each followed by the separator; see `Tokenizer`."""
    check_choice("dtype", dtype, "uint16", "uint32")
    check_choice("documents", documents, "file", "lines")
    if dtype == "uint16" and encoder.vocab_size > 2**16:
        raise ValueError(f"ids up to {encoder.vocab_size - 1:,} do not fit uint16")
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    sources = find_sources(paths)
    check_output(output, paths)
    reporter = Reporter(progress, "encode", sum(source.num_bytes for source in sources), "B")
    num_tokens = num_documents = done = 0
    is_npy = Path(output).suffix == ".npy"
    with replacing(output) as temporary, temporary.open("wb") as file:
        if is_npy and not file.seekable():
            message = "found a pipe, expected a file: an array in .npy begins with its length"
            raise InputError(message, path=output, hint="a pipe of another name gets the numbers")
        file.write(b"\0" * NPY_HEADER_BYTES if is_npy else b"")
        for source in sources:
            place = Place(source, by_lines=documents == "lines")
            for batch in batches_of(source, encoder, documents, field):
                try:
                    data = encoder.encode_to_bytes(
                        batch.texts,
                        choice,
                        ends=batch.ends,
                        separator=separator,
                        is_narrow=dtype == "uint16",
                        num_threads=num_threads,
                    )
                except MergewiseError as error:
                    place.locate(error, batch.texts)
                    raise
                place.pass_by(batch.texts)
                file.write(data)
                num_tokens += len(data) // (2 if dtype == "uint16" else 4)
                num_documents += sum(batch.ends)
                reporter(done + batch.position)
            done += source.num_bytes
        if is_npy:
            file.seek(0)
            file.write(npy_header(dtype, num_tokens))
    reporter.close(done)
    return EncodedFile(Path(output), dtype, num_tokens, num_documents)


def batches_of(
    source: Source, encoder: _core.Tokenizer, documents: DocumentMode, field: str
) -> Iterator[Batch]:
    """The texts of a source, in batches."""
    if source.kind != "text":
        records = Records(source, field)
        for batch in batches(records):
            yield Batch(batch, [True] * len(batch), records.position())
        return
    with closing(Stream(source)) as stream:
        if documents == "lines":
            for batch in batches(stream.buffered(READ_BYTES)):
                yield Batch(batch, [True] * len(batch), stream.position())
            return
        # One document in parts, cut where the ids of the parts are those of the whole.
        blocks = _core.Blocks(stream, encoder, part_bytes=PART_BYTES, batch_bytes=READ_BYTES)
        for parts, is_end in blocks:
            yield Batch([*parts], [False] * (len(parts) - 1) + [is_end], stream.position())


def npy_header(dtype: Dtype, length: int) -> bytes:
    """The beginning of a .npy file of `length` numbers, always of the same size."""
    kind = "<u2" if dtype == "uint16" else "<u4"
    fields = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}"
    magic = b"\x93NUMPY\x01\x00"
    room = NPY_HEADER_BYTES - len(magic) - 2
    return magic + struct.pack("<H", room) + fields.encode().ljust(room - 1) + b"\n"
