"""WordCounts: how often each word of a corpus occurs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import cast

from mergewise import _core
from mergewise.errors import FormatError
from mergewise.files import replacing
from mergewise.vocabulary import Normalize


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
        return cast("Normalize", self.core.normalize)

    def top(self, num_words: int) -> list[tuple[bytes, int]]:
        """The most frequent words with their counts; ties in ascending order of bytes."""
        return self.core.top(num_words)

    def prune(self, min_count: int) -> WordCounts:
        """Only the words that occur at least `min_count` times.

        What that leaves out is told by `dropped_symbols`.

        >>> from mergewise import count
        >>> count(["a b a"], pattern="whitespace").prune(2).dropped_symbols
        5
        """
        return WordCounts(self.core.prune(min_count))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all; equal counts give equal files."""
        with replacing(path) as temporary:
            self.core.write(temporary)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> WordCounts:
        """The counts that `save` wrote."""
        try:
            return cls(_core.WordCounts.read(Path(path)))
        except FormatError as error:
            raise FormatError(f"{os.fspath(path)}: {error}") from None

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
        return f"<WordCounts: {unique} different of {words} words, pattern={self.pattern!r}>"

    def __getstate__(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "counts"
            self.core.write(path)
            return path.read_bytes()

    def __setstate__(self, state: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "counts"
            path.write_bytes(state)
            self.core = _core.WordCounts.read(path)
