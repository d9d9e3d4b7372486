"""Codes 1 and 2: greedy in Python, with overlapping and with adjusted counts."""

from collections.abc import Iterator

from claims import Claim, Options, none_fails, state

from mergewise import formal
from mergewise.formal import as_published

NUM_MERGES = 2


def small_strings() -> Iterator[str]:
    """Strings of up to 7 symbols and 3 letters with more than enough to merge."""
    for length in range(4, 8):
        for text in formal.strings_up_to_renaming(length, 3):
            if len(formal.greedy(text, NUM_MERGES + 1)) == NUM_MERGES + 1:
                yield text


def code_1_is_greedy() -> Iterator[bool]:
    """Whether Code 1 equals greedy with overlapping counts, ties by first occurrence."""
    for text in small_strings():
        merges = formal.greedy(
            text, NUM_MERGES, ties=formal.first_occurrence, overlaps="count", min_count=1
        )
        yield tuple(as_published.bpe(text, NUM_MERGES)) == formal.apply(merges, text)


def code_2_is_greedy() -> Iterator[bool]:
    """Whether Code 2 equals greedy without overlaps, ties by first occurrence."""
    for text in small_strings():
        merges = formal.greedy(text, NUM_MERGES, ties=formal.first_occurrence)
        yield tuple(as_published.bpe_without_overlaps(text, NUM_MERGES)) == formal.apply(
            merges, text
        )


def claims(_options: Options) -> Iterator[Claim]:
    """Overlaps, and what the two listings do."""
    counted = formal.pair_counts("aaa", overlaps="count")["a", "a"]
    applied = formal.gain([("a", "a")], "aaa")
    yield Claim(
        "Section 2.1",
        "aa in aaa: its frequency, and how often [a,a] applies",
        "2, once",
        f"{counted}, {applied}",
        (counted, applied) == (2, 1),
    )
    strings = f"strings with {NUM_MERGES} merges"
    yield from none_fails(
        "Code 1", "an implementation of greedy", "greedy's result", code_1_is_greedy(), strings
    )
    try:
        left = str(as_published.bpe("ab", 2))
    except IndexError as error:
        left = f"IndexError: {error}"
    yield Claim("Code 1", "two merges on ab", "a result", left, not left.startswith("IndexError"))
    yield from none_fails(
        "Code 2",
        "greedy with overlap-adjusted counts",
        "greedy's result",
        code_2_is_greedy(),
        strings,
    )
    result = as_published.bpe_without_overlaps("abab", 1)
    yield Claim("Code 2", "one merge on abab", "[a,b][a,b]", " ".join(result), len(result) == 2)


if __name__ == "__main__":
    state(claims)
