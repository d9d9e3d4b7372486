"""What is measured: the named cases of `encode.py`."""

from dataclasses import dataclass

from texts import Text

KB = 1_000
MB = 1_000_000
# The package, and the form in which it gives the ids.
ALL = (
    "mergewise arrays",
    "gigatoken arrays",
    "fastokens arrays",
    "tiktoken arrays",
    "mergewise lists",
    "gigatoken lists",
    "wordchipper lists",
    "rs-bpe lists",
    "tiktoken lists",
    "kitoken lists",
    "tokenizers lists",
)
ALONE = ("mergewise arrays", "mergewise lists")
JUDGE = "tiktoken lists"


@dataclass(frozen=True)
class Case:
    """One text cut into documents of a given size, and who encodes them."""

    text: Text
    document_size: int
    competitors: tuple[str, ...] = ALL
    num_threads: int = 1


CASES: dict[str, tuple[Case, ...]] = {
    **{
        f"{kind}-{name}": (Case(Text(kind, 40 * MB), size),)
        for kind in ("en", "code", "multi")
        for name, size in (("1kb", KB), ("1mb", MB))
    },
    "long-words": tuple(Case(Text(kind, MB), MB) for kind in ("a", "spaces", "letters")),
    "threads": tuple(
        Case(Text("en", 40 * MB), size, ALONE, threads) for size in (KB, MB) for threads in (1, 2)
    ),
}
DEFAULT = ("en", "long-words")

NOTES = {
    "long-words": "One document that is one word; a warm call may find all of it in a cache.",
    "threads": "What threads change is wall time.",
}
