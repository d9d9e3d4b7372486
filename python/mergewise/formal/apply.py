"""Applying merges, and what it saves: the paper's sections 2.2 and 2.3.

A corpus is a text, or words with their counts (the paper's appendix B.1). Nothing merges across
the end of a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from mergewise.formal.merges import Merge, Merges, Tree

Tokens: TypeAlias = tuple[Tree, ...]
Text: TypeAlias = Sequence[Tree]
Corpus: TypeAlias = Text | Mapping[str, int] | Mapping[Tokens, int]
Overlaps: TypeAlias = Literal["skip", "count"]


def apply_one(merge: Merge, tokens: Iterable[Tree]) -> Tokens:
    """APPLY_μ(x): `merge` replaces every adjacent occurrence of its parts, from left to right.

    >>> apply_one(("a", "a"), "aaa")
    (('a', 'a'), 'a')
    """
    old = tuple(tokens)
    new: list[Tree] = []
    position = 0
    while position < len(old):
        if old[position : position + 2] == merge:
            new.append(merge)
            position += 2
        else:
            new.append(old[position])
            position += 1
    return tuple(new)


def apply(merges: Merges, tokens: Iterable[Tree]) -> Tokens:
    """APPLY_μ(x) for a sequence μ: each merge in turn. The result is an ordered forest.

    >>> apply([("a", "b"), (("a", "b"), "a")], "abaab")
    ((('a', 'b'), 'a'), ('a', 'b'))
    """
    result = tuple(tokens)
    for merge in merges:
        result = apply_one(merge, result)
    return result


def words_of(corpus: Corpus) -> dict[Tokens, int]:
    """The words of a corpus with their counts; a text is one word that occurs once.

    >>> words_of({"ab": 2})
    {('a', 'b'): 2}
    >>> words_of("ab")
    {('a', 'b'): 1}
    """
    if isinstance(corpus, Mapping):
        return {tuple(word): count for word, count in corpus.items()}
    return {tuple(corpus): 1}


def utility(merges: Merges, corpus: Corpus) -> int:
    """κ_x(μ), Definition 2.5: the symbols before minus the tokens after.

    >>> utility([("a", "b")], "abab")
    2
    >>> utility([("a", "b")], {"ab": 3, "b": 5})
    3
    """
    words = words_of(corpus).items()
    return sum(count * (len(word) - len(apply(merges, word))) for word, count in words)


def gain(merges: Merges, corpus: Corpus, *, after: Merges = ()) -> int:
    """κ_x(μ' | μ), Definition 2.6: what `merges` adds to the utility of the merges `after`.

    >>> gain([(("a", "b"), "a")], "abaaba", after=[("a", "b")])
    2
    """
    return utility([*after, *merges], corpus) - utility(after, corpus)


def pair_counts(corpus: Corpus, *, overlaps: Overlaps = "skip") -> Counter[Merge]:
    """PAIRFREQ(x): how often each pair of neighbours occurs, in the order of first occurrence.

    With `overlaps="skip"` (the paper's choice) a pair counts as often as it can be replaced; with
    `"count"` every adjacent pair counts, as in Gage's and Sennrich's algorithms.

    >>> pair_counts("aaab")
    Counter({('a', 'a'): 1, ('a', 'b'): 1})
    >>> pair_counts("aaab", overlaps="count")
    Counter({('a', 'a'): 2, ('a', 'b'): 1})
    """
    counts: Counter[Merge] = Counter()
    for word, count in words_of(corpus).items():
        last_pair = None
        for pair in pairwise(word):
            if overlaps == "skip" and pair == last_pair:  # the middle of aaa, counted already
                last_pair = None
            else:
                counts[pair] += count
                last_pair = pair
    return counts
