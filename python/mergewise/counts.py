"""WordCounts: how often each word of a corpus occurs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mergewise import _core, count_tables
from mergewise.arguments import check_count
from mergewise.errors import FormatError
from mergewise.files import checked_path, replacing
from mergewise.parquet import import_pyarrow
from mergewise.vocabulary import Normalize, brief_pattern

SUFFIX = ".counts"
PARQUET_SUFFIX = ".parquet"


class WordCounts:
    """How often each word of a corpus occurs, and how the corpus was cut into words.

    Counts add: the counts of two corpora are the counts of both together.

    >>> from mergewise import count
    >>> counts = count(["to be or not to be"], pattern="whitespace")
    >>> counts.num_words, counts.num_unique
    (6, 5)
    >>> (counts + counts).top(1)
    [(b' be', 4)]
    """

    __slots__ = ("core",)

    def __init__(self, core: _core.WordCounts) -> None:
        self.core = core

    @property
    def num_words(self) -> int:
        """How many words the corpus has."""
        return self.core.num_words

    @property
    def num_unique(self) -> int:
        """How many different words it has."""
        return self.core.num_unique

    @property
    def num_symbols(self) -> int:
        """How many bytes its words have."""
        return self.core.num_bytes

    @property
    def dropped_symbols(self) -> int:
        """How many bytes were in words that `prune` left out."""
        return self.core.dropped_bytes

    @property
    def pattern(self) -> str | None:
        """What cut the corpus into words; None: each document is one word."""
        return self.core.pattern

    @property
    def normalize(self) -> Normalize:
        """How texts were normalised: None, "nfc" or "nfkc"."""
        return self.core.normalize

    def top(self, num_words: int) -> list[tuple[bytes, int]]:
        """The most frequent words with their counts; ties in ascending order of bytes."""
        return self.core.top(check_count("num_words", num_words))

    def prune(self, min_count: int) -> WordCounts:
        """Only the words that occur at least `min_count` times.

        What that leaves out is told by `dropped_symbols`.

        >>> from mergewise import count
        >>> count(["a b a"], pattern="whitespace").prune(2).dropped_symbols
        5
        """
        return WordCounts(self.core.prune(check_count("min_count", min_count)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all.

        Equal counts give equal files. A name that ends in .parquet makes a table of words and
        counts for other tools, with the words in no particular order.
        """
        with replacing(path) as temporary:
            if Path(path).suffix == PARQUET_SUFFIX:
                count_tables.write_parquet(self.core, temporary)
            else:
                self.core.write(temporary)

    @classmethod
    def from_words(
        cls,
        words: Mapping[str, int] | Mapping[bytes, int],
        *,
        pattern: str | None,
        normalize: Normalize = None,
    ) -> WordCounts:
        """The counts of words that were counted elsewhere.

        `dict(counts.top(len(counts)))` goes back, of counts that were not pruned.

        >>> counts = WordCounts.from_words({"low": 5, " lower": 2}, pattern="gpt2")
        >>> counts.num_words, counts.num_unique, counts.num_symbols
        (7, 2, 27)

        Args:
            words: how often each occurs, less than 2^63 times, as the pattern cuts it: with the
                space before it, if so.
            pattern: what cut the texts, and is to cut those that a tokenizer trained on the
                counts encodes; see `count`.
            normalize: how the texts were normalised; the words are taken as they are.
        """
        if not isinstance(words, Mapping):
            raise TypeError(f"expected a dict of words, found {type(words).__name__}")
        if pattern is not None:
            _core.check_pattern(pattern)
        pairs = [(word, check_count("a count", number)) for word, number in words.items()]
        return cls(_core.WordCounts(pairs, pattern=pattern, normalize=normalize))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> WordCounts:
        """The counts that `save` wrote."""
        return cls.from_files([path])

    @classmethod
    def from_files(cls, paths: Sequence[str | os.PathLike[str]]) -> WordCounts:
        """The sum of the counts of files that `save`, or a cluster, wrote."""
        files = [checked_path(path) for path in paths]
        tables = [path for path in files if path.suffix == PARQUET_SUFFIX]
        parts = [cls(read_counts(path)) for path in files if path not in tables]
        if tables:
            parts.append(cls(count_tables.read_tables(tables)))
        if not parts:
            raise ValueError("no files of counts: expected at least one")
        first, *others = parts
        return sum(others, first)

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow is optional
        """The counts as a pyarrow.Table: a row for each word, in no particular order.

        A row without a word holds `dropped_symbols`. How the texts were cut stands in the metadata
        of the schema.

        >>> from mergewise import count
        >>> count(["a b"], pattern="whitespace").to_arrow().to_pylist()
        [{'word': b'a', 'count': 1}, {'word': b' b', 'count': 1}]
        """
        schema = count_tables.schema_of(count_tables.Fingerprint(self.pattern, self.normalize))
        return import_pyarrow().Table.from_batches(list(count_tables.batches_of(self.core)), schema)

    @classmethod
    def from_arrow(cls, table: Any) -> WordCounts:  # noqa: ANN401 - pyarrow is optional
        """The sums of the rows of tables like those of `to_arrow`: the same word may come again.

        Args:
            table: a pyarrow.Table, a RecordBatch, a RecordBatchReader, or an iterable of these. All
                must have been cut alike.
        """
        batches = count_tables.batches_in(table)
        first = next(batches, None)
        fingerprint = None if first is None else count_tables.fingerprint_of(first.schema)
        if fingerprint is None:
            raise FormatError(
                "found a table that does not say how its words were cut, expected word counts"
            )
        return cls(count_tables.counts_of(chain([first], batches), fingerprint))

    def __add__(self, other: WordCounts) -> WordCounts:
        if not isinstance(other, WordCounts):
            return NotImplemented
        return WordCounts(self.core.plus(other.core))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordCounts) and self.core == other.core

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.num_unique

    def __repr__(self) -> str:
        unique, words = f"{self.num_unique:,}", f"{self.num_words:,}"
        pattern = brief_pattern(self.pattern)
        return f"<WordCounts: {unique} different of {words} words, pattern={pattern}>"

    def __getstate__(self) -> bytes:
        return self.core.to_bytes()

    def __setstate__(self, state: bytes) -> None:
        self.core = _core.WordCounts.from_bytes(state)


def is_file_of_counts(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds counts, by its name or by the metadata of a Parquet file."""
    suffix = Path(path).suffix
    is_table = suffix == PARQUET_SUFFIX and count_tables.parquet_fingerprint(path) is not None
    return suffix == SUFFIX or is_table


def read_counts(path: str | os.PathLike[str]) -> _core.WordCounts:
    """The counts of one file in mergewise's own format."""
    try:
        return _core.WordCounts.read(Path(path))
    except FormatError as error:
        error.path = os.fspath(path)
        raise
