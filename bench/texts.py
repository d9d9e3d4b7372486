"""The texts of the benchmarks: heads of a corpus, and generated ones, each time the same."""

import math
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

CHUNK = 1 << 20
LETTERS = ("bcdfghklmnprstvwz", "aeiou")
NUM_WORDS = 1_000_000


@dataclass(frozen=True)
class Text:
    """A text by its kind and its size in bytes.

    The kinds `en`, `code` and `multi` are heads of files of the corpora's folder, cut at the end
    of a line; the others are generated.
    """

    kind: str
    size: int

    def __str__(self) -> str:
        return f"{self.kind}, {self.size / 1e6:.2f} MB"

    def write(self, corpora: Path | None, folder: Path) -> Path:
        """Makes the text in `folder`; a corpus that is too small is taken whole."""
        path = folder / f"{self.kind}-{self.size}.txt"
        if path.exists():
            return path
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            for chunk in self._chunks(corpora):
                file.write(chunk)
        part.rename(path)
        return path

    def _chunks(self, corpora: Path | None) -> Iterator[bytes]:
        if self.kind in GENERATORS:
            left = self.size
            for chunk in GENERATORS[self.kind]():
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    return
        if corpora is None:
            raise SystemExit(f"{self.kind}.txt is needed: --corpora DIR says where it is")
        with (corpora / f"{self.kind}.txt").open("rb") as file:
            head = file.read(self.size)
            yield head if not file.read(1) else head[: head.rindex(b"\n") + 1]


def zipf() -> Iterator[bytes]:
    """Lines of words drawn independently; the word of rank r about r times rarer than the first."""
    syllables = ["".join(pair) for pair in product(*LETTERS)]
    words = [spelling(rank, syllables) for rank in range(NUM_WORDS)]
    draw, exponential, scale = random.Random(1).random, math.exp, math.log(NUM_WORDS)  # noqa: S311 (not for secrets)
    while True:
        line = [words[int(exponential(scale * draw()))] for _ in range(100_000)]
        yield b" ".join(line) + b"\n"


def spelling(rank: int, syllables: list[str]) -> bytes:
    """The rank in bijective numerals whose digits are syllables: frequent words are short."""
    word, rank = "", rank + 1
    while rank:
        rank, digit = divmod(rank - 1, len(syllables))
        word += syllables[digit]
    return word.encode()


def repeated(unit: bytes) -> Iterator[bytes]:
    """One string again and again."""
    while True:
        yield unit * (CHUNK // len(unit))


def letters() -> Iterator[bytes]:
    """Lower-case letters drawn independently, without a space."""
    draw = random.Random(1)  # noqa: S311 (not for secrets)
    while True:
        yield "".join(draw.choices(string.ascii_lowercase, k=CHUNK)).encode()


def fibonacci() -> Iterator[bytes]:
    """The infinite word abaababa..., each of whose heads of Fibonacci length is the two before."""
    previous, word = b"a", b"ab"
    yield word
    while True:
        yield previous
        previous, word = word, word + previous


GENERATORS = {
    "zipf": zipf,
    "a": lambda: repeated(b"a"),
    "ab": lambda: repeated(b"ab"),
    "fibonacci": fibonacci,
    "spaces": lambda: repeated(b" "),
    "letters": letters,
}
