"""The files that ids are written to: names, shards that appear when they are whole, manifests."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from mergewise.errors import InputError
from mergewise.files import (
    as_only_writer,
    is_name,
    replacing,
    replacing_together,
    write_text,
)
from mergewise.sources import PathLike, Source

if TYPE_CHECKING:
    from concurrent.futures import Future

TokenFormat: TypeAlias = Literal["npy", "bin", "megatron"]

SPLITS = ("train", "validation")
MANIFEST_FORMAT = "mergewise tokens 1"
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Shard:
    """A file of ids that is whole.

    Attributes:
        path: the file of ids.
        index: the file of where each document's begin, if there is one.
        split: "train" or "validation".
        num_tokens: how many ids it has.
        num_documents: how many documents.
        num_skipped: how many lines and documents were left out of it.
        end: the block of the inputs, and the document of it, where the next shard begins.
        num_bytes: the size of the file of ids.
        num_index_bytes: the size of the index; 0 without one.
        sha256: of the file of ids, if there is a manifest.
    """

    path: Path
    index: Path | None
    split: str
    num_tokens: int
    num_documents: int
    num_skipped: int = 0
    end: tuple[int, int] = (0, 0)
    num_bytes: int = 0
    num_index_bytes: int = 0
    sha256: str | None = None

    @classmethod
    def of_files(
        cls,
        paths: Sequence[Path],
        split: int,
        counts: tuple[int, int, int],
        end: tuple[int, int],
    ) -> Shard:
        """The shard of files that are there; counts: its tokens, documents and skipped lines."""
        sizes = [path.stat().st_size for path in paths]
        index, index_bytes = (paths[1], sizes[1]) if len(paths) > 1 else (None, 0)
        return cls(paths[0], index, SPLITS[split], *counts, end, sizes[0], index_bytes)

    @property
    def files(self) -> list[tuple[Path, int]]:
        """Its files, and how many bytes each has."""
        index = [] if self.index is None else [(self.index, self.num_index_bytes)]
        return [(self.path, self.num_bytes), *index]

    def to_json(self) -> dict[str, Any]:
        """The shard in a manifest, which names files of its folder."""
        index = None if self.index is None else self.index.name
        return {**asdict(self), "path": self.path.name, "index": index}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], folder: Path) -> Shard:
        """The shard that a manifest in this folder describes."""
        index = None if value["index"] is None else folder / value["index"]
        paths = {"path": folder / value["path"], "index": index, "end": tuple(value["end"])}
        return cls(**{**value, **paths})


@dataclass(frozen=True)
class Names:
    """How the files of an output are named.

    Attributes:
        output: the name that the caller gave.
        format: the format of the files.
        has_index: whether there is a file of where documents begin.
        is_sharded: whether there may be several.
    """

    output: Path
    format: TokenFormat
    has_index: bool
    is_sharded: bool

    def paths(self, split: int, number: int) -> list[Path]:
        """The file of ids, and that of its documents if there is one."""
        stem, suffix = self.stem(split, number)
        ids = self.output.with_name(f"{stem}{suffix}")
        return [ids, self.index_path(split, number)] if self.has_index else [ids]

    def index_path(self, split: int, number: int) -> Path:
        """The file of where documents begin, whether there is one or not."""
        stem, _ = self.stem(split, number)
        ending = ".idx" if self.format == "megatron" else ".offsets.npy"
        return self.output.with_name(f"{stem}{ending}")

    def stem(self, split: int, number: int) -> tuple[str, str]:
        """The name of a file of ids before its suffix, and the suffix."""
        mark = f"-{SPLITS[split]}" if split else ""
        mark += f"-{number:05}" if self.is_sharded else ""
        stem, suffix = self.output.stem, self.output.suffix
        if self.format == "megatron" and suffix != ".bin":
            stem, suffix = self.output.name, ".bin"
        return f"{stem}{mark}", suffix

    def has(self, name: str) -> bool:
        """Whether this is the name of a shard, or of its index."""
        number = re.search(r"-(\d{5,})\.", name)
        if number is None or not self.is_sharded:
            return False
        paths = [self.paths(split, int(number[1])) for split in range(len(SPLITS))]
        return name in {path.name for files in paths for path in files}

    def companions(self, split: int, number: int) -> list[Path]:
        """The files there that would be read with these ids but are not written with them."""
        written = self.paths(split, number)
        stem, suffix = self.stem(split, number)
        endings = [".offsets.npy", *([".idx"] if suffix == ".bin" else [])]
        read = [self.output.with_name(f"{stem}{ending}") for ending in endings]
        # Unlike `Path.exists`, this says of a name that is too long that nothing has it.
        return [path for path in read if path not in written and os.path.lexists(path)]

    @property
    def manifest(self) -> Path:
        """The file that lists the others."""
        return self.output.with_suffix(".json")

    def listed(self) -> set[str]:
        """The names of the files that the manifest there lists."""
        return names_in_manifest(read_manifest(self.manifest), self.output)


class ShardFiles(Protocol):
    """What the core asks for files to write to, and tells when they are whole."""

    def open(self, split: int, number: int, /) -> tuple[Path, Path | None]:
        """Where to write the ids of a new shard, and where its documents begin."""

    def close(  # noqa: PLR0917 - as the core calls it
        self,
        split: int,
        number: int,
        num_tokens: int,
        num_documents: int,
        num_skipped: int,
        end: tuple[int, int],
        /,
    ) -> None:
        """A shard is whole."""


@dataclass
class Files:
    """Files of ids as the core writes them: each appears under its name when it is whole.

    Attributes:
        names: the names of the files.
        facts: what decides the bytes of the files, for the manifest; None: there is no manifest.
        shards: those that are whole.
        older: the names of the files that an older run made, and of those that this one begins.
        begun: what is to be done with the files of each split that are not.
        hashing: shards that are whole but not listed yet, with what finds their hashes meanwhile.
    """

    names: Names
    facts: Mapping[str, Any] | None
    shards: list[Shard] = field(default_factory=list)
    older: set[str] = field(init=False)
    begun: dict[int, ExitStack] = field(default_factory=dict)
    hashing: deque[tuple[Shard, Future[str]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.older = self.names.listed()

    def open(self, split: int, number: int) -> tuple[Path, Path | None]:
        """Where to write the ids of a new shard, and where its documents begin."""
        paths = self.names.paths(split, number)
        # Another run finds it in the manifest, should this one be killed before it is listed.
        self.older.update(path.name for path in paths)
        stack = self.begun[split] = ExitStack()
        if len(paths) == 1:
            (path,) = paths
            temporary = stack.enter_context(replacing(path))
            if self.names.format == "npy" and temporary.is_fifo():
                message = "found a pipe, expected a file: an array in .npy begins with its length"
                hint = "a pipe of another name gets the numbers"
                raise InputError(message, path=path, hint=hint)
            return temporary, None
        ids, index = stack.enter_context(replacing_together(paths))
        return ids, index

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
        # Beside the new ids they would tell of other documents.
        for companion in self.names.companions(split, number):
            companion.unlink(missing_ok=True)
        if self.facts is None:
            if paths[0].name in self.names.listed():
                self.names.manifest.unlink()
        elif not (self.shards or self.hashing):
            # From here on the files are not those that an older manifest tells of.
            self.write_unfinished()
        self.begun.pop(split).close()
        shard = Shard.of_files(paths, split, (num_tokens, num_documents, num_skipped), end)
        if self.facts is None:
            self.shards.append(shard)
        else:
            self.hashing.append((shard, in_background(partial(sha256_of, shard.path))))
            self.list_hashed(waits=False)

    def list_hashed(self, *, waits: bool) -> None:
        """List the shards whose hashes are known, in order; or wait for those of all."""
        num_listed = len(self.shards)
        while self.hashing and (waits or self.hashing[0][1].done()):
            shard, sha256 = self.hashing.popleft()
            self.shards.append(replace(shard, sha256=sha256.result()))
        if len(self.shards) > num_listed:
            self.write_unfinished()

    def remove_surplus(self) -> None:
        """Remove the files of an older run that this one did not replace."""
        for name in self.surplus:
            self.names.output.with_name(name).unlink(missing_ok=True)

    @property
    def surplus(self) -> set[str]:
        """The names of the files of older runs, and of what this one has begun."""
        return self.older - {path.name for shard in self.shards for path, _ in shard.files}

    def write_manifest(self, **more: Any) -> None:  # noqa: ANN401 - JSON
        """Write what is known of the files that are whole."""
        write_text(manifest_of(self.facts or {}, self.shards, **more), self.names.manifest)

    def write_unfinished(self) -> None:
        """Write what is known of the files that are whole, before the others are."""
        self.write_manifest(is_complete=False, replaces=sorted(self.surplus))

    def keep(self) -> list[tuple[int, tuple[int, int]]]:
        """Keep the shards that a run of the same inputs and options made before it was stopped.

        Returns how many of each split there are, and where the last one ends.
        """
        content = read_manifest(self.names.manifest) or {}
        facts = {**(self.facts or {}), "is_complete": False}
        if any(content.get(name) != value for name, value in facts.items()):
            return []
        folder = self.names.manifest.parent
        kept = [Shard.from_json(value, folder) for value in content["shards"]]
        if not all(map(is_whole, kept)):
            return []
        self.shards = kept
        done = []
        for split in SPLITS[: 1 if facts["options"]["validation"] is None else 2]:
            ends = [shard.end for shard in kept if shard.split == split]
            done.append((len(ends), max(ends, default=(0, 0))))
        return done


@contextmanager
def removing_parts(files: Files) -> Iterator[None]:
    """Remove what is not whole if the block fails."""
    try:
        yield
    except BaseException:
        with ExitStack() as stack:
            for begun in files.begun.values():
                stack.push(begun)
            files.list_hashed(waits=True)
            raise


@contextmanager
def files_of_run(names: Names, facts: Mapping[str, Any] | None) -> Iterator[Files]:
    """The files of a run, the only one that writes them; if it fails, those that are whole stay."""
    with nullcontext() if facts is None else as_only_writer(names.manifest):
        files = Files(names, facts)
        with removing_parts(files):
            yield files


def in_background(find: Callable[[], str]) -> Future[str]:
    """What `find` returns, from a thread of its own."""
    # Loaded here: it would be a good part of the time to import a tokenizer.
    from concurrent.futures import Future  # noqa: PLC0415

    found: Future[str] = Future()

    def run() -> None:
        try:
            found.set_result(find())
        except BaseException as error:  # noqa: BLE001 - raised by result()
            found.set_exception(error)

    try:
        Thread(target=run).start()
    except RuntimeError:  # The system starts no more.
        run()
    return found


def manifest_of(
    facts: Mapping[str, Any],
    shards: Iterable[Shard],
    **more: Any,  # noqa: ANN401 - JSON
) -> str:
    """A manifest of shards that are whole."""
    shards = sorted(shards, key=lambda shard: (shard.split, shard.path))
    content = {**facts, **more, "shards": [shard.to_json() for shard in shards]}
    return json.dumps(content, indent=1) + "\n"


def is_whole(shard: Shard) -> bool:
    """Whether the files of a shard are there, as long as they were."""
    with suppress(FileNotFoundError):
        return all(path.stat().st_size == num_bytes for path, num_bytes in shard.files)
    return False


def read_manifest(path: Path) -> dict[str, Any] | None:
    """What a manifest says; None if there is none."""
    with suppress(OSError):
        return parse_manifest(path.read_bytes())
    return None


def parse_manifest(text: bytes) -> dict[str, Any] | None:
    """What a manifest says; None if it is something else."""
    with suppress(ValueError, RecursionError):
        content = json.loads(text)
        if isinstance(content, dict) and content.get("format") == MANIFEST_FORMAT:
            shards, options = content.get("shards"), content.get("options")
            is_right = isinstance(shards, list) and all(map(is_shard, shards))
            return content if is_right and isinstance(options, dict) else None
    return None


def is_shard(value: object) -> bool:
    """Whether this is a shard as `Shard.to_json` writes it."""
    if not isinstance(value, dict) or value.keys() != {name.name for name in fields(Shard)}:
        return False
    end = value["end"]
    numbers = [value[name] for name in value if name.startswith("num_")]
    numbers += end if isinstance(end, list) and len(end) == 2 else [None]
    are_names = all(map(is_file_name, [value["path"], value["index"] or value["path"]]))
    return are_names and value["split"] in SPLITS and all(type(n) is int for n in numbers)


def is_file_name(value: object) -> bool:
    """Whether this names a file of the same folder."""
    return isinstance(value, str) and is_name(value)


def names_in_manifest(content: Mapping[str, Any] | None, output: Path) -> set[str]:
    """The names of the files that a manifest lists, and of those that its run was to remove.

    All begin with that of the output: a manifest has no say about other files.
    """
    if content is None:
        return set()
    listed = [shard[key] for shard in content["shards"] for key in ("path", "index")]
    replaced = content.get("replaces")
    names = [*listed, *(replaced if isinstance(replaced, list) else [])]
    return {name for name in names if is_file_name(name) and name.startswith(output.stem)}


def check_manifest(text: bytes | None, path: PathLike) -> None:
    """Refuse to replace a file that is no manifest, such as the tokenizer."""
    if text is not None and parse_manifest(text) is None:
        message = "found another file with the name of the manifest"
        raise InputError(message, path=path, hint="give the output another name")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(READ_BYTES):
            found.update(block)
    return found.hexdigest()


def inputs_in_manifest(sources: Iterable[Source]) -> list[dict[str, Any]]:
    """The inputs as a manifest lists them: another size or time is another input."""
    inputs = []
    for source in sources:
        status = None if source.is_standard_input else source.path.stat()
        size, time = (None, None) if status is None else (status.st_size, status.st_mtime_ns)
        inputs.append({"path": os.fspath(source.path), "bytes": size, "modified": time})
    return inputs
