"""Files to arrays of ids on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mergewise import _core, sources
from mergewise.arguments import check_choice
from mergewise.errors import InputError
from mergewise.progress import Progress, Reporter
from mergewise.sources import DocumentMode, PathLike, Source
from mergewise.token_files import (
    MANIFEST_FORMAT,
    Names,
    Shard,
    ShardFiles,
    TokenFormat,
    check_manifest,
    files_of_run,
    inputs_in_manifest,
)

Dtype: TypeAlias = Literal["uint16", "uint32"]


@dataclass(frozen=True)
class EncodedFile:
    """What was written.

    Attributes:
        path: the file; of several, the name that theirs begin with.
        dtype: the type of its numbers.
        num_tokens: how many there are.
        num_documents: how many documents they come from.
        shards: the files, if a manifest lists them.
        num_skipped: how many lines were left out because they are no records, and how many
            documents, or rows, because they cannot be encoded.
        skipped: what was wrong with the first of these in this run.
    """

    path: Path
    dtype: Dtype
    num_tokens: int
    num_documents: int
    shards: Sequence[Shard] = ()
    num_skipped: int = 0
    skipped: Sequence[str] = ()

    @property
    def sums(self) -> dict[str, int]:
        """What a manifest says of all files together."""
        return {
            "tokens": self.num_tokens,
            "documents": self.num_documents,
            "skipped": self.num_skipped,
        }

    def __repr__(self) -> str:
        size = f"{self.num_tokens:,} tokens of {self.num_documents:,} documents"
        return f"<EncodedFile: {size}, {self.dtype}, in {str(self.path)!r}>"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What is written of documents, and where; see `Tokenizer.encode_files`.

    Attributes:
        before: the ids before those of each document.
        behind: the ids behind them.
        dtype: the type of an id.
        format: the format of the files.
        offsets: whether to write where each document's ids begin.
        shards: how many shards there are, each with the same share of the inputs' bytes.
        shard_tokens: how long a shard becomes.
        validation: the part of the documents that is for validation.
        skip_bad: whether to leave out lines that are no records, and what cannot be encoded.
        manifest: whether a manifest lists one file, too.
    """

    before: Sequence[int] = ()
    behind: Sequence[int] = ()
    dtype: Dtype
    format: TokenFormat
    offsets: bool = False
    shards: int | None = None
    shard_tokens: int | None = None
    validation: float | None = None
    skip_bad: bool = False
    manifest: bool = False

    def check(self, vocab_size: int) -> None:
        """Reject what cannot be written."""
        check_choice("dtype", self.dtype, "uint16", "uint32")
        check_choice("format", self.format, "npy", "bin", "megatron")
        if self.dtype == "uint16" and vocab_size > 2**16:
            raise ValueError(f"ids up to {vocab_size - 1:,} do not fit uint16")
        for name, number in (("shards", self.shards), ("shard_tokens", self.shard_tokens)):
            if number is not None and number < 1:
                raise ValueError(f"{name} must be 1 or more, found {number}")
        if self.shards is not None and self.shard_tokens is not None:
            raise ValueError("found shards and shard_tokens, expected one of them")
        if self.validation is not None and not 0 < self.validation < 1:
            raise ValueError(f"validation must be between 0 and 1, found {self.validation}")

    @property
    def is_listed(self) -> bool:
        """Whether a manifest lists the files."""
        return self.manifest or self.is_sharded or self.validation is not None

    @property
    def is_sharded(self) -> bool:
        """Whether the files of a split have numbers."""
        return self.shards is not None or self.shard_tokens is not None

    def names(self, output: Path) -> Names:
        """How the files are named."""
        has_index = self.offsets or self.format == "megatron"
        return Names(output, self.format, has_index, self.is_sharded)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which documents are read; see `Tokenizer.encode_files`."""

    documents: DocumentMode
    field: str
    num_threads: int


def encode_to_file(
    encoder: _core.Tokenizer,
    paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    layout: Layout,
    reading: Reading,
    choice: _core.Choice,
    progress: Progress,
) -> EncodedFile:
    """Write the ids of all documents; see `Tokenizer.encode_files`."""
    layout.check(encoder.vocab_size)
    check_choice("documents", reading.documents, "file", "lines")
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found = sources.find_sources(paths)
    names = layout.names(Path(output))
    check_outputs(names, layout, paths, found)
    facts = facts_of(encoder, found, layout, reading) if layout.is_listed else None
    num_bytes = sum(source.num_bytes for source in found)
    if layout.shards is not None and not is_readable_again(found):
        raise ValueError("standard input has no size to share: give shard_tokens, not shards")
    with files_of_run(names, facts) as files:
        writer = new_writer(
            encoder,
            choice,
            files,
            layout,
            num_bytes=num_bytes,
            done=files.keep() if layout.is_listed and is_readable_again(found) else [],
            num_threads=reading.num_threads,
            scratch=names.output.parent,
        )
        reporter = Reporter(progress, "encode", num_bytes, "B", lambda: writer.num_ids)
        done = write_sources(writer, found, reading, reporter)
        num_behind, skipped = writer.finish()
        files.list_hashed(waits=True)
        written = encoded_file(Path(output), layout, files.shards, skipped, num_behind)
        if layout.is_listed:
            files.write_manifest(is_complete=True, **written.sums)
            files.remove_surplus()
    reporter.close(done)
    return written


def encoded_file(
    output: Path, layout: Layout, shards: Sequence[Shard], skipped: Sequence[str], num_behind: int
) -> EncodedFile:
    """What was written, of all files; `num_behind` is what was left out behind them."""
    are_several = layout.is_sharded or layout.validation is not None
    return EncodedFile(
        output if are_several else shards[0].path,
        layout.dtype,
        sum(shard.num_tokens for shard in shards),
        sum(shard.num_documents for shard in shards),
        tuple(shards) if layout.is_listed else (),
        sum(shard.num_skipped for shard in shards) + num_behind,
        tuple(skipped),
    )


def check_outputs(
    names: Names, layout: Layout, paths: Sequence[PathLike], found: Iterable[Source]
) -> None:
    """Refuse outputs that are inputs, or lie in one."""
    manifest = [names.manifest] if layout.is_listed else []
    for path in [*names.paths(0, 0), *names.companions(0, 0), *manifest]:
        sources.check_output(path, paths)
        if len(names.paths(0, 0)) + len(manifest) > 1 and is_device(path):
            message = "found a device or a pipe, expected a file: it has others beside it"
            raise InputError(message, path=path)
    if manifest and names.manifest.exists():
        check_manifest(names.manifest.read_bytes(), names.manifest)
    folder = os.path.realpath(names.output.parent)
    older = names.listed()
    for source in found:
        where, name = os.path.split(os.path.realpath(source.path))
        if where == folder and (names.has(name) or name in older):
            raise InputError("found an input with the name of an output", path=source.path)


def is_device(path: Path) -> bool:
    """Whether something is there that is no file."""
    return path.exists() and not path.is_file()


def new_writer(
    encoder: _core.Tokenizer,
    choice: _core.Choice,
    files: ShardFiles,
    layout: Layout,
    *,
    num_bytes: int,
    num_threads: int,
    scratch: Path,
    done: Sequence[tuple[int, tuple[int, int]]] = (),
    made: tuple[int, int] | None = None,
) -> _core.Writer:
    """A writer of inputs that have `num_bytes`.

    Args:
        encoder: the tokenizer.
        choice: which special tokens are found and refused.
        files: names the files.
        layout: what is written.
        num_bytes: the bytes of all inputs.
        num_threads: how many encode.
        scratch: the folder of temporary files.
        done: for each split, how many shards are there already, and where the last one ends.
        made: the first shard that is made, and the one behind the last, if not all are.
    """
    made = made or (0, layout.shards or 0)
    return _core.Writer(
        encoder,
        choice,
        files,
        format="bare" if layout.format == "bin" else layout.format,
        dtype=layout.dtype,
        before=layout.before,
        behind=layout.behind,
        block_bytes=sources.BLOCK_BYTES,
        shard_tokens=layout.shard_tokens,
        shares=None if layout.shards is None else (layout.shards, num_bytes, made),
        validation=layout.validation,
        skip_bad=layout.skip_bad,
        done=done,
        num_threads=num_threads,
        scratch=scratch,
    )


def is_readable_again(found: list[Source]) -> bool:
    """Whether all sources are files."""
    return not any(source.is_standard_input for source in found)


def write_sources(
    writer: _core.Writer, found: list[Source], reading: Reading, reporter: Reporter
) -> int:
    """Write the documents of sources; returns the bytes of their files."""
    done = 0
    for group in sources.consecutive(found):
        *starts, end = accumulate((source.num_bytes for source in group), initial=done)
        field, tell = reading.field, reporter.after(done)
        if group[0].kind == "parquet":
            writer.add_tables(group, starts, field=field, first=0, progress=tell)
        else:
            documents = reading.documents
            writer.add_sources(group, starts, documents=documents, field=field, progress=tell)
        done = end
        reporter(done)
    return done


def facts_of(
    encoder: _core.Tokenizer, found: list[Source], layout: Layout, reading: Reading
) -> dict[str, Any]:
    """What decides the bytes of the files."""
    options = {**asdict(layout), "documents": reading.documents, "field": reading.field}
    # It decides nothing.
    del options["manifest"]
    return {
        "format": MANIFEST_FORMAT,
        "tokenizer": hashlib.sha256(encoder.to_bytes()).hexdigest(),
        "options": {**options, "before": [*layout.before], "behind": [*layout.behind]},
        "inputs": inputs_in_manifest(found),
    }
