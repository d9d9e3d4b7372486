"""Shards of ids, each made by a task of its own: the files of `Tokenizer.encode_files`.

Where a shard begins and ends follows from the sizes of the inputs and from what is read around
these two places, so that a task needs nothing of the others. It writes to a disk of its own and
copies what is whole to the output; a *report* beside the shard comes last. A task that is repeated
makes the same bytes, or finds the report and makes nothing. In the end the driver writes the
manifest, which is made of the reports, and removes them.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from mergewise import _core, sources
from mergewise.arguments import check_choice, check_num_threads
from mergewise.cluster.copies import Copies
from mergewise.cluster.folders import Folder, RemoteFolder, SharedFolder, folder_of
from mergewise.cluster.task import VERSION, check_version
from mergewise.encoding import (
    Dtype,
    EncodedFile,
    Layout,
    Reading,
    check_outputs,
    encoded_file,
    facts_of,
    new_writer,
)
from mergewise.errors import InputError
from mergewise.sources import DocumentMode, PathLike, Source
from mergewise.specials import Specials, choice_of
from mergewise.storage import RemoteFile, is_url, local_path, remote_files
from mergewise.token_files import (
    SPLITS,
    Names,
    Shard,
    TokenFormat,
    check_manifest,
    manifest_of,
    names_in_manifest,
    parse_manifest,
    sha256_of,
)
from mergewise.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack

# What is read from its beginning: a file, and a row group of it.
Unit: TypeAlias = tuple[int, int]

MOST_TOLD = 10


class Writing(TypedDict, total=False):
    """The arguments of `encode_ray` and `encode_spark` that decide what is written."""

    end_of_document: str | None
    add_special_tokens: bool
    dtype: Dtype | None
    format: TokenFormat | None
    offsets: bool
    validation: float | None
    skip_bad: bool


class Encoding(Writing, total=False):
    """All arguments of `encode_ray` and `encode_spark` but those without a default."""

    documents: DocumentMode
    field: str
    allowed_special: Specials
    disallowed_special: Specials
    num_threads: int
    storage_options: Mapping[str, Any] | None


@dataclass(frozen=True)
class Report:
    """What the task of a shard says of it.

    Attributes:
        run: the run that it belongs to.
        shards: one of each split, as in a manifest, but for the block where it ends.
        end: the unit in which that block is.
        sizes: the bytes of each file.
        blocks: how many blocks of each unit were read.
        skipped: what was wrong with the first lines that were left out.
    """

    run: str
    shards: Sequence[Mapping[str, Any]]
    end: Sequence[Unit]
    sizes: Mapping[str, int]
    blocks: Sequence[tuple[Unit, int]]
    skipped: Sequence[str]


@dataclass
class Drafts:
    """The files of a shard on the disk of its task.

    Attributes:
        names: how they are named.
        shards: those that are whole, one of each split.
    """

    names: Names
    shards: list[Shard] = field(default_factory=list)

    def open(self, split: int, number: int) -> tuple[Path, Path | None]:
        """Where to write the ids of a new shard, and where its documents begin."""
        ids, *index = self.names.paths(split, number)
        return ids, index[0] if index else None

    def close(  # noqa: PLR0917 - as the core calls it
        self,
        split: int,
        number: int,
        num_tokens: int,
        num_documents: int,
        num_skipped: int,
        end: tuple[int, int],
    ) -> None:
        """A shard is whole."""
        paths = self.names.paths(split, number)
        shard = Shard.of_files(paths, split, (num_tokens, num_documents, num_skipped), end)
        self.shards.append(replace(shard, sha256=sha256_of(shard.path)))


@dataclass(frozen=True, kw_only=True)
class ShardTask:
    """Makes any shard of a run; it pickles.

    Attributes:
        tokenizer: what encodes.
        inputs: the inputs, and the bytes of each.
        folder: where shards are put.
        layout: what is written of documents.
        names: how files are named.
        reading: which documents are read.
        specials: the special tokens that are allowed, and those that are not.
        facts: what decides the bytes of the files, for the manifest.
        run: the name of the run, which follows from that.
        version: that of mergewise.
    """

    tokenizer: Tokenizer
    inputs: Sequence[tuple[Source, int]]
    folder: Folder
    layout: Layout
    names: Names
    reading: Reading
    specials: tuple[Specials, Specials]
    facts: Mapping[str, Any]
    run: str
    version: str = VERSION

    @property
    def numbers(self) -> range:
        """The shards."""
        return range(self.layout.shards or 0)

    @property
    def num_bytes(self) -> int:
        """The bytes of all inputs."""
        return sum(num_bytes for _, num_bytes in self.inputs)

    def make(self, number: int) -> str:
        """Make a shard of each split, unless this was done before; returns the report."""
        check_version(self.version)
        report = self.report_of(number)
        if report is None:
            with tempfile.TemporaryDirectory(prefix="mergewise-") as scratch:
                report = self.write(number, Path(scratch))
        return json.dumps(asdict(report))

    def report_of(self, number: int) -> Report | None:
        """The report of a shard that is whole already, if it is."""
        content = self.folder.read(self.report_name(number))
        if content is None:
            return None
        report = Report(**json.loads(content))
        if report.run != self.run:
            return None
        is_whole = (self.folder.size(name) == size for name, size in report.sizes.items())
        return report if all(is_whole) else None

    def report_name(self, number: int) -> str:
        """The name of a report: that of the manifest, with the number of the shard."""
        return f"{self.names.manifest.stem}-{number:05}.json"

    def write(self, number: int, scratch: Path) -> Report:
        """Make a shard of each split and put it, and then the report, into the folder."""
        drafts = Drafts(replace(self.names, output=scratch / self.names.output))
        core = self.tokenizer.core
        writer = new_writer(
            core,
            choice_of(core, *self.specials),
            drafts,
            self.layout,
            num_bytes=self.num_bytes,
            made=(number, number + 1),
            num_threads=self.reading.num_threads,
            scratch=scratch,
        )
        copies = Copies(scratch)
        starts = list(self.read(writer, number, copies))
        num_blocks = writer.num_blocks
        _, skipped = writer.finish()
        files = [file for shard in drafts.shards for file in shard.files]
        for file, _ in files:
            self.folder.put(file, file.name)
        ends = [(shard, unit_of(starts, shard.end)) for shard in drafts.shards]
        report = Report(
            self.run,
            [replace(shard, end=end).to_json() for shard, (_, end) in ends],
            [unit for _, (unit, _) in ends],
            {file.name: num_bytes for file, num_bytes in files},
            num_blocks_of(starts, num_blocks),
            [copies.renamed(told) for told in skipped],
        )
        draft = scratch / "report"
        draft.write_text(json.dumps(asdict(report)), encoding="utf-8")
        self.folder.put(draft, self.report_name(number))
        return report

    def read(self, writer: _core.Writer, number: int, copies: Copies) -> Iterator[tuple[Unit, int]]:
        """Write what is in a shard; yields each unit that is read, and the blocks before it."""
        start = self.num_bytes * number // len(self.numbers)
        position = 0
        for index, (source, num_bytes) in enumerate(self.inputs):
            if position + num_bytes < start:
                pass
            elif source.kind == "parquet":
                before = writer.num_blocks
                name = self.reading.field
                for row_group, num_blocks in writer.add_tables(
                    [source], [position], field=name, first=start, progress=None
                ):
                    yield (index, row_group), before
                    before += num_blocks
            else:
                yield (index, 0), writer.num_blocks
                with copies.on_disk(source) as local:
                    documents, name = self.reading.documents, self.reading.field
                    writer.add_sources(
                        [local], [position], documents=documents, field=name, progress=None
                    )
            if writer.is_complete:
                return
            position += num_bytes

    def begin(self) -> None:
        """Say that the files that are there are not, or not yet, those of this run."""
        self.folder.clean()
        begun = (
            path.name
            for number in self.numbers
            for split in range(len(SPLITS))
            for path in self.names.paths(split, number)
        )
        replaces = sorted({*begun, *self.listed()})
        manifest = self.manifest([], is_complete=False, replaces=replaces)
        self.folder.write(manifest, self.names.manifest.name)

    def listed(self) -> set[str]:
        """The names of the files that the manifest in the folder lists."""
        content = self.folder.read(self.names.manifest.name)
        return names_in_manifest(parse_manifest(content or b""), self.names.output)

    def finish(self, reports: Iterable[str]) -> EncodedFile:
        """Write the manifest from all reports, and remove these."""
        found = [Report(**json.loads(report)) for report in reports]
        shards = placed(found)
        skipped = [told for report in found for told in report.skipped]
        folder = self.folder.path if isinstance(self.folder, SharedFolder) else Path()
        whole = [Shard.from_json(shard, folder) for shard in shards]
        output = folder / self.names.output
        # All that was left out is of a shard: the last one ends with the inputs.
        written = encoded_file(output, self.layout, whole, skipped[:MOST_TOLD], 0)
        manifest = self.manifest(whole, is_complete=True, **written.sums)
        surplus = self.listed() - {path.name for shard in whole for path, _ in shard.files}
        self.folder.write(manifest, self.names.manifest.name)
        for number in self.numbers:
            self.folder.remove(self.report_name(number))
        for name in surplus:
            self.folder.remove(name)
        self.folder.clean()
        return written

    def manifest(self, shards: Iterable[Shard], **more: object) -> str:
        """The manifest of shards that are whole."""
        return manifest_of(self.facts, shards, **more)


def make_shard(task: ShardTask, number: int) -> str:
    """Make a shard, as an engine calls it; returns the report."""
    return task.make(number)


def unit_of(
    starts: Sequence[tuple[Unit, int]], end: tuple[int, int]
) -> tuple[Unit, tuple[int, int]]:
    """The unit in which a shard ends, and the block and document of the unit."""
    block, document = end
    at = bisect_right(starts, block, key=lambda start: start[1]) - 1
    if at < 0:
        return (0, 0), end
    unit, first = starts[at]
    return unit, (block - first, document)


def num_blocks_of(starts: Sequence[tuple[Unit, int]], num_blocks: int) -> list[tuple[Unit, int]]:
    """How many blocks of each unit were read, by the number of all before each."""
    ends = [first for _, first in starts[1:]] + [num_blocks]
    return [(unit, end - first) for (unit, first), end in zip(starts, ends, strict=True)]


def placed(reports: Sequence[Report]) -> list[dict[str, Any]]:
    """The shards of all reports, with the block of all inputs where each ends.

    A unit is read to its end by the task of the last shard in it, so the most that was read of it
    is all of it.
    """
    num_blocks: dict[Unit, int] = {}
    for report in reports:
        for (file, row_group), number in report.blocks:
            num_blocks[file, row_group] = max(number, num_blocks.get((file, row_group), 0))
    before: dict[Unit, int] = {}
    total = 0
    for unit in sorted(num_blocks):
        before[unit] = total
        total += num_blocks[unit]
    shards = []
    for report in reports:
        for shard, (file, row_group) in zip(report.shards, report.end, strict=True):
            block, document = shard["end"]
            end = (before.get((file, row_group), 0) + block, document)
            shards.append({**shard, "end": end})
    return shards


def plan(
    tokenizer: Tokenizer,
    paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    shards: int,
    documents: DocumentMode = "file",
    field: str = "text",
    allowed_special: Specials = (),
    disallowed_special: Specials = "all",
    num_threads: int = 1,
    storage_options: Mapping[str, Any] | None = None,
    **writing: Unpack[Writing],
) -> ShardTask:
    """The task that makes the shards of these inputs; see `encode_ray`."""
    storage = storage_options or {}
    num_threads = check_num_threads(num_threads)
    reading = Reading(documents=documents, field=field, num_threads=num_threads)
    specials = (allowed_special, disallowed_special)
    choice_of(tokenizer.core, *specials)
    check_choice("documents", reading.documents, "file", "lines")
    layout = tokenizer.layout_of(output, shards=shards, **writing)
    layout.check(tokenizer.vocab_size)
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found = find_inputs(given, storage)
    folder, name = folder_of(output, storage)
    names = layout.names(name)
    if isinstance(folder, SharedFolder):
        local = [local_path(path) for path in given if not is_url(path)]
        check_outputs(replace(names, output=folder.path / name), layout, local, found)
    else:
        check_remote_outputs(names, folder, found)
        check_manifest(folder.read(names.manifest.name), f"{folder.url}/{names.manifest.name}")
    facts = facts_of(tokenizer.core, found, layout, reading)
    return ShardTask(
        tokenizer=tokenizer,
        inputs=[(absolute(source), source.num_bytes) for source in found],
        folder=folder,
        layout=layout,
        names=names,
        reading=reading,
        specials=specials,
        facts=facts,
        run=hashlib.sha256(json.dumps(facts).encode()).hexdigest(),
    )


def find_inputs(given: Sequence[PathLike], storage: Mapping[str, Any]) -> list[Source]:
    """The inputs that paths, folders, globs and URLs name, in a fixed order."""
    found: list[Source] = []
    for path in given:
        if not is_url(path):
            found += sources.find_sources(local_path(path))
            continue
        files = remote_files(os.fspath(path), storage)
        if not files:
            raise FileNotFoundError(2, "No such file, or no file in it", os.fspath(path))
        found += map(sources.classify, files)
    if not found:
        raise ValueError("no inputs: expected at least one file, folder or glob")
    if any(source.is_standard_input for source in found):
        raise ValueError("standard input cannot be read by several machines: give files")
    return found


def absolute(source: Source) -> Source:
    """The source by a path that means the same in every folder."""
    if isinstance(source.path, RemoteFile):
        return source
    return replace(source, path=source.path.absolute())


def check_remote_outputs(names: Names, folder: RemoteFolder, found: Sequence[Source]) -> None:
    """Refuse an output that is an input."""
    for source in found:
        url, _, name = str(source.path).rpartition("/")
        if url == folder.url and (names.has(name) or name == names.manifest.name):
            raise InputError("found an input with the name of an output", path=source.path)
