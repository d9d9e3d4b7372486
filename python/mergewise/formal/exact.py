"""The best merge sequence, by search: the paper's section 5."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from mergewise.formal.apply import Corpus, Text, Tokens, apply_one, pair_counts, words_of
from mergewise.formal.merges import Merge, Merges
from mergewise.formal.order import commutes, merge_key


class Optimum(NamedTuple):
    """μ* of equation 4, its utility, and how many sequences the search visited."""

    merges: tuple[Merge, ...]
    utility: int
    nodes: int


def search(corpus: Corpus, num_merges: int, may_follow: Callable[[Merges, Merge], bool]) -> Optimum:
    """Algorithm 3: depth first through the sequences that `may_follow` lets through.

    >>> search("abab", 1, lambda merges, merge: True)
    Optimum(merges=(('a', 'b'),), utility=2, nodes=3)

    Cost: exponential in `num_merges`.
    """
    best: tuple[Merge, ...] = ()
    best_utility = nodes = 0
    stack: list[tuple[tuple[Merge, ...], dict[Tokens, int], int]] = [((), words_of(corpus), 0)]
    while stack:
        merges, words, saved = stack.pop()
        nodes += 1
        if len(merges) == num_merges:
            continue
        for merge, count in pair_counts(words).items():
            if may_follow(merges, merge):
                longer = (*merges, merge)
                if saved + count > best_utility:
                    best, best_utility = longer, saved + count
                merged = {apply_one(merge, word): times for word, times in words.items()}
                stack.append((longer, merged, saved + count))
    return Optimum(best, best_utility, nodes)


def exact_brute_force(corpus: Corpus, num_merges: int) -> Optimum:
    """μ*, equation 4, by trying every sequence of merges that replace something.

    >>> exact_brute_force("abaabbaa", 2).utility
    4
    >>> exact_brute_force({"ab": 2, "b": 1}, 1).utility
    2
    """
    return search(corpus, num_merges, lambda _merges, _merge: True)


def exact_guarded(corpus: Corpus, num_merges: int) -> Optimum:
    """μ*, Algorithm 3 with a guard that is right: of two neighbours that commute, one order.

    Every sequence can be sorted into one that the guard lets through, with the same result and
    the same effect of every merge, by swapping neighbours.

    >>> exact_guarded("aaa", 2).utility
    2
    >>> exact_guarded("abcdefgh", 3).nodes < exact_brute_force("abcdefgh", 3).nodes
    True
    """

    def in_order(merges: Merges, merge: Merge) -> bool:
        if not merges or not commutes(merges[-1], merge):
            return True
        return merge_key(merges[-1]) < merge_key(merge)

    return search(corpus, num_merges, in_order)


def effective_sequences(text: Text, max_merges: int) -> Iterator[tuple[tuple[Merge, ...], Tokens]]:
    """Every sequence of at most `max_merges` merges that all replace something, and its result.

    Any sequence acts on a text as its merges that replace something, so a maximum over these is
    a maximum over all sequences.

    >>> len(list(effective_sequences("abc", 2)))
    5
    """

    def extend(
        merges: tuple[Merge, ...], tokens: Tokens
    ) -> Iterator[tuple[tuple[Merge, ...], Tokens]]:
        yield merges, tokens
        if len(merges) < max_merges:
            for merge in pair_counts(tokens):
                yield from extend((*merges, merge), apply_one(merge, tokens))

    return extend((), tuple(text))


def optimal_sequences(text: Text, num_merges: int) -> list[tuple[Merge, ...]]:
    """Every sequence of at most `num_merges` effective merges that attains the optimum.

    >>> optimal_sequences("abb", 1)
    [(('a', 'b'),), (('b', 'b'),)]
    """
    sequences = list(effective_sequences(text, num_merges))
    fewest = min(len(tokens) for _, tokens in sequences)
    return [merges for merges, tokens in sequences if len(tokens) == fewest]
