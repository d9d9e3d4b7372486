"""What is measured: the named cases of `train.py`."""

from dataclasses import dataclass

from texts import Text

MB = 1_000_000
ALL = (
    "mergewise",
    "mergewise like=huggingface",
    "mergewise like=rustbpe",
    "gigatoken",
    "rustbpe",
    "youtokentome",
    "sentencepiece",
    "tokenizers",
    "bpeasy",
)
ACROSS_SPACES = (
    "mergewise",
    "mergewise like=huggingface",
    "mergewise like=rustbpe",
    "rustbpe",
    "sentencepiece",
    "tokenizers",
)
ALONE = ("mergewise",)


@dataclass(frozen=True)
class Case:
    """One text, one size of vocabulary, and who trains on it.

    With `may_run_out` a vocabulary that ends early, no pair being left twice, is right too.
    """

    text: Text
    vocab_size: int
    competitors: tuple[str, ...] = ALL
    pattern: str | None = "gpt2"
    documents: str = "file"
    num_threads: int = 1
    may_run_out: bool = False


def whole(kind: str, size: int, num_merges: int = 32_000) -> Case:
    """A case of mergewise alone, on a text that is one word."""
    return Case(Text(kind, size), 256 + num_merges, ALONE, pattern=None, may_run_out=True)


def words(kind: str, size: int, num_merges: int = 32_000, num_threads: int = 1) -> Case:
    """A case of mergewise alone, on words."""
    return Case(
        Text(kind, size), 256 + num_merges, ALONE, num_threads=num_threads, may_run_out=True
    )


EN100 = Text("en", 100 * MB)
GROWTH = (1_000, 4_000, 16_000, 64_000, 256_000)

CASES: dict[str, tuple[Case, ...]] = {
    "en100-8k": (Case(EN100, 8_000),),
    "en100-32k": (Case(EN100, 32_000),),
    "en100-128k": (Case(EN100, 128_000),),
    "code": (Case(Text("code", 100 * MB), 32_000),),
    "multi50": (Case(Text("multi", 50 * MB), 32_000),),
    "lines10": (Case(Text("en", 10 * MB), 8_000, ACROSS_SPACES, pattern=None, documents="lines"),),
    "whole100": (whole("en", 100 * MB),),
    "zipf1g": tuple(words("zipf", size * MB) for size in (10, 100, 1000)),
    "threads": tuple(words("en", 100 * MB, num_threads=threads) for threads in (1, 2)),
    "pathological": (
        *(whole("a", size * MB // 4) for size in (5, 10, 20, 40)),
        *(whole("ab", size * MB // 4) for size in (5, 10, 20, 40)),
        *(whole("fibonacci", size * MB // 8) for size in (5, 10, 20, 40)),
    ),
    "curve-en": tuple(words("en", n * MB, m) for n in (1, 10, 100, 1000) for m in GROWTH),
    "curve-zipf": tuple(words("zipf", n * MB, m) for n in (1, 10, 100, 1000) for m in GROWTH),
    "curve-whole": tuple(whole("en", n * MB, m) for n in (1, 10, 100) for m in GROWTH),
}
DEFAULT = ("en100-32k", "lines10")

NOTES = {
    "en100": "Peers that take strings get pieces of 16 KB cut between words.",
    "lines10": "Each line is one word: merges cross spaces.",
    "whole100": "One document, one word: merges cross spaces and lines.",
    "zipf1g": "Independent draws from a million words, by Zipf's law: memory follows unique words.",
    "threads": "Counting is what threads share; training is sequential.",
    "pathological": "Time a letter stays the same as the text grows.",
    "curve": "The cost against the size of the text (N) and the number of merges (M).",
}
