"""What Hypothesis draws from: small alphabets, because they are where merges overlap and tie."""

from __future__ import annotations

from hypothesis import strategies as st

from mergewise.formal import Merge, Tree


def texts(
    alphabet: str = "abc", *, min_size: int = 0, max_size: int = 24
) -> st.SearchStrategy[str]:
    """Texts over a few letters."""
    return st.text(alphabet, min_size=min_size, max_size=max_size)


@st.composite
def merge_lists(
    draw: st.DrawFn, alphabet: str = "ab", *, min_size: int = 0, max_size: int = 5
) -> tuple[Merge, ...]:
    """Valid merge sequences, as nested tuples; a merge may occur more than once."""
    parts: list[Tree] = list(alphabet)
    merges: list[Merge] = []
    for _ in range(draw(st.integers(min_size, max_size))):
        merge = (draw(st.sampled_from(parts)), draw(st.sampled_from(parts)))
        merges.append(merge)
        if merge not in parts:
            parts.append(merge)
    return tuple(merges)


def weighted_words(
    alphabet: str = "abc", *, max_words: int = 4, max_size: int = 6
) -> st.SearchStrategy[dict[str, int]]:
    """Words with their counts."""
    words = st.text(alphabet, min_size=1, max_size=max_size)
    return st.dictionaries(words, st.integers(1, 5), min_size=1, max_size=max_words)


@st.composite
def string_merges(
    draw: st.DrawFn, alphabet: str = "ab", *, max_size: int = 8, in_order: bool = True
) -> list[tuple[str, str]]:
    """Pairs of strings: several may make one string and, unless in order, precede their parts."""
    parts = list(alphabet)
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, max_size))):
        left, right = draw(st.sampled_from(parts)), draw(st.sampled_from(parts))
        merges.append((left, right))
        if left + right not in parts:
            parts.append(left + right)
    return merges if in_order else draw(st.permutations(merges))


def token_ranks(
    alphabet: str = "ab", *, max_size: int = 10, max_rank: int = 6
) -> st.SearchStrategy[dict[str, int]]:
    """Strings of two letters or more with ranks in any order, some of them equal."""
    strings = st.text(alphabet, min_size=2, max_size=5)
    return st.dictionaries(strings, st.integers(0, max_rank), max_size=max_size)


def splits(length: int) -> st.SearchStrategy[list[int]]:
    """Ascending places where something of this length is cut."""
    return st.lists(st.integers(0, length), max_size=6).map(sorted)
