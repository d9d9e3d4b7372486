"""Files to one array of ids on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mergewise import _core, sources
from mergewise.arguments import check_choice
from mergewise.errors import InputError
from mergewise.files import replacing
from mergewise.parquet import read_in_order
from mergewise.progress import Progress, Reporter
from mergewise.sources import DocumentMode, PathLike

Dtype: TypeAlias = Literal["uint16", "uint32"]


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
    found = sources.find_sources(paths)
    sources.check_output(output, paths)
    reporter = Reporter(progress, "encode", sum(source.num_bytes for source in found), "B")
    done = 0
    with replacing(output) as temporary:
        is_npy = Path(output).suffix == ".npy"
        if is_npy and temporary.is_fifo():
            message = "found a pipe, expected a file: an array in .npy begins with its length"
            raise InputError(message, path=output, hint="a pipe of another name gets the numbers")
        writer = _core.Writer(
            encoder,
            choice,
            ids=temporary,
            is_npy=is_npy,
            dtype=dtype,
            offsets=None,
            before=[],
            behind=[] if separator is None else [separator],
            block_bytes=sources.BLOCK_BYTES,
            num_threads=num_threads,
        )
        for group in sources.consecutive(found):
            tell = reporter.after(done)
            if group[0].kind == "parquet":
                columns = read_in_order([source.path for source in group], field)
                sources.add_columns(group, columns, partial(add_column, writer), tell)
            else:
                writer.add_sources(group, documents=documents, field=field, progress=tell)
            done += sum(source.num_bytes for source in group)
            reporter(done)
        num_tokens, num_documents = writer.finish()
    reporter.close(done)
    return EncodedFile(Path(output), dtype, num_tokens, num_documents)


def add_column(writer: _core.Writer, array: Any) -> None:  # noqa: ANN401 - pyarrow is optional
    """Write the texts of a column; nulls are left out."""
    writer.add_documents(array.drop_null())
