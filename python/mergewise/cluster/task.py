"""Task: counts or encodes Arrow batches of texts on a worker."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import Any, TypedDict, TypeVar, cast

from mergewise import _core
from mergewise.arguments import check_count, check_num_threads
from mergewise.count_tables import Fingerprint, batches_of, dropped_row, schema_of
from mergewise.errors import ClusterError
from mergewise.optional import import_optional
from mergewise.parquet import import_pyarrow, no_column
from mergewise.specials import choice_of
from mergewise.tokenizer import Tokenizer
from mergewise.training import DEFAULT_PATTERN, Errors, make_counter
from mergewise.vocabulary import Normalize

VERSION = metadata.version("mergewise")
MEMORY_LIMIT = 1 << 28
# The text that is counted between two looks at the memory.
SLICE_BYTES = 1 << 22
BINARY = {"binary", "large_binary", "binary_view"}
MOST_LIST_BYTES = 1 << 30

AnyTask = TypeVar("AnyTask")


class Counting(TypedDict, total=False):
    """The arguments of `Task` that decide what is counted, and how."""

    column: str
    pattern: str | None
    normalize: Normalize
    special_tokens: Sequence[str]
    errors: Errors
    num_threads: int
    memory_limit: int


@dataclass(kw_only=True, eq=False)
class Task:
    """Counts the words of a column of texts, or encodes it, for any engine with Arrow batches.

    It pickles and keeps nothing between calls. Under another version of mergewise than the one
    that made it, it fails: the sum must not depend on where a batch was counted.

    >>> import pyarrow as pa
    >>> task = Task(pattern="whitespace")
    >>> (counted,) = task.count([pa.record_batch({"text": ["to be", None, "or not to be"]})])
    >>> counted.to_pylist()[:2]
    [{'word': b'to', 'count': 1}, {'word': b' be', 'count': 2}]

    Attributes:
        column: the column that holds the texts; each row is a document, nulls are left out.
        pattern: see `mergewise.count`.
        normalize: see `mergewise.count`.
        special_tokens: see `mergewise.count`.
        errors: see `mergewise.count`.
        tokenizer: what `encode` encodes with.
        num_threads: within the task. An engine runs one task on each core, so one is right unless
            the engine was told otherwise; 0 means all cores.
        memory_limit: how many bytes the words of one task take before their counts so far are
            handed out and forgotten. The sum is the same.
    """

    column: str = "text"
    pattern: str | None = DEFAULT_PATTERN
    normalize: Normalize = None
    special_tokens: Sequence[str] = ()
    errors: Errors = "keep"
    tokenizer: Tokenizer | None = None
    num_threads: int = 1
    memory_limit: int = MEMORY_LIMIT

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise TypeError(f"column must be a string, found {type(self.column).__name__}")
        check_num_threads(self.num_threads)
        check_count("memory_limit", self.memory_limit)
        self.version = VERSION
        self.fingerprint = Fingerprint(self.pattern, self.normalize)
        self.special_tokens = tuple(self.special_tokens)
        self.new_counter()

    def count(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Record batches with the column of texts to record batches (word: binary, count: int64).

        The same word may come in several batches of the result: the engine adds them.
        """
        for counts in self.counts_of_parts(batches):
            yield from batches_of(counts)

    def counts_of_parts(self, batches: Iterable[Any]) -> Iterator[_core.WordCounts]:
        """The counts of the texts, part by part: each of as many words as `memory_limit` allows."""
        self.check_version()
        counter = self.new_counter()
        for batch in batches:
            for texts in slices_of(texts_of(batch, self.column)):
                counter.add_documents(texts)
                if counter.memory > self.memory_limit:
                    yield counter.finish()
                    counter = self.new_counter()
        yield counter.finish()

    def prune(self, batches: Iterable[Any], *, min_count: int) -> Iterator[Any]:
        """Only the rows of at least `min_count`, and one row without a word.

        That row holds how many bytes were left out. The batches must have been summed by word.
        """
        self.check_version()
        schema = schema_of(self.fingerprint)
        left_out = 0
        for batch in batches:
            kept, num_bytes = pruned(batch, min_count)
            left_out += num_bytes
            yield kept.cast(schema)
        if left_out:
            yield dropped_row(left_out, schema)

    def encode(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Record batches whose column of texts becomes a column `ids` of list<uint32>.

        A null stays null; the other columns are handed on.
        """
        self.check_version()
        if self.tokenizer is None:
            raise TypeError("a task without a tokenizer; hint: Task(tokenizer=...)")
        pa = import_pyarrow()
        numpy = import_optional("numpy", extra="numpy", package="numpy")
        core = self.tokenizer.core
        choice = choice_of(core, (), "all")
        for whole in batches:
            for batch in narrow_batches(whole, self.column):
                texts = texts_of(batch, self.column)
                ids, offsets = self.tokenizer.core.encode_batch(
                    texts, choice, num_threads=self.num_threads
                )
                lists = pa.ListArray.from_arrays(
                    pa.array(numpy.asarray(offsets).astype(numpy.int32)),
                    pa.array(numpy.asarray(ids)),
                    mask=texts.is_null(),
                )
                yield batch.drop_columns([self.column]).append_column("ids", lists)

    def new_counter(self) -> _core.Counter:
        """A counter that has counted nothing."""
        texts = (self.pattern, self.normalize, self.special_tokens, self.errors)
        return make_counter(*texts, self.num_threads)

    def check_version(self) -> None:
        """Reject another version of mergewise."""
        check_version(self.version)


def kept(task: AnyTask) -> AnyTask:
    """What becomes the task when it is unpickled: each process does so once, and keeps the last.

    The next batch or shard then finds the words that the tokenizer has seen.
    """
    return cast("AnyTask", Pickled(pickle.dumps(task)))


@dataclass(frozen=True)
class Pickled:
    """A task on its way to workers."""

    content: bytes

    def __reduce__(self) -> tuple[Callable[[bytes], object], tuple[bytes]]:
        return unpickled, (self.content,)


@lru_cache(maxsize=1)
def unpickled(content: bytes) -> object:
    """The task that was pickled."""
    return pickle.loads(content)  # noqa: S301 - as the engine itself unpickles


def check_version(version: str) -> None:
    """Reject another version of mergewise than that of the driver."""
    if version != VERSION:
        raise ClusterError(
            f"this worker has mergewise {VERSION}, the driver {version}",
            hint="install the same version everywhere",
        )


def texts_of(batch: Any, column: str) -> Any:  # noqa: ANN401 - pyarrow is optional
    """The texts of a record batch, as an array that the core reads in place."""
    pa = import_pyarrow()
    if column not in batch.schema.names:
        raise ClusterError(no_column(batch.schema.names, column), hint="give column=")
    texts = batch.column(column)
    kind = texts.type.value_type if pa.types.is_dictionary(texts.type) else texts.type
    if pa.types.is_null(kind):
        return texts.cast(pa.string())
    if str(kind) not in {"string", "large_string", "string_view", *BINARY}:
        raise ClusterError(f"the column {column!r} holds {kind}, expected text")
    if str(kind).endswith("_view"):
        return texts.cast(pa.large_binary() if str(kind) in BINARY else pa.large_string())
    return texts if kind == texts.type else texts.cast(kind)


def slices_of(texts: Any) -> Iterator[Any]:  # noqa: ANN401 - pyarrow is optional
    """An array in slices of a few megabytes of text, if its texts are about equally long."""
    num_rows = max(1, len(texts) * SLICE_BYTES // max(1, texts.nbytes))
    for first in range(0, len(texts), num_rows):
        yield texts.slice(first, num_rows)


def narrow_batches(batch: Any, column: str) -> Iterator[Any]:  # noqa: ANN401
    """A batch in parts whose ids have offsets of 32 bits, as each is of a byte at least."""
    if batch.column(column).nbytes < MOST_LIST_BYTES or batch.num_rows < 2:
        yield batch
        return
    half = batch.num_rows // 2
    for part in (batch.slice(0, half), batch.slice(half)):
        yield from narrow_batches(part, column)


def pruned(batch: Any, min_count: int) -> tuple[Any, int]:  # noqa: ANN401 - pyarrow is optional
    """The rows of a batch that occur often enough, and how many bytes the others have."""
    import pyarrow.compute as pc  # noqa: PLC0415 - an optional package

    is_kept = pc.greater_equal(batch.column("count"), min_count)
    others = batch.filter(pc.invert(is_kept))
    num_bytes = pc.multiply_checked(pc.binary_length(others.column("word")), others.column("count"))
    return batch.filter(is_kept), pc.sum(num_bytes).as_py() or 0
