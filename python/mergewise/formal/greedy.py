"""Greedy training: the paper's Algorithms 1 and 2, and the variants of its appendix B."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mergewise.formal.apply import Corpus, Overlaps, Text, Tokens, apply_one, pair_counts, words_of
from mergewise.formal.merges import Merge, Merges, Tree, yield_of

TieRule: TypeAlias = Callable[[Sequence[Merge], Merges], Merge]


def smallest_ids(tied: Sequence[Merge], merges: Merges) -> Merge:
    """Of the tied pairs the one with the smallest left id, then the smallest right id.

    Symbols come first, by code point; then the merges in the order in which they were made.

    >>> smallest_ids([("b", "a"), ("a", "b")], ())
    ('a', 'b')
    """
    ids = {merge: index for index, merge in enumerate(merges)}

    def id_of(tree: Tree) -> tuple[int, str | int]:
        return (0, tree) if isinstance(tree, str) else (1, ids[tree])

    return min(tied, key=lambda pair: (id_of(pair[0]), id_of(pair[1])))


def first_occurrence(tied: Sequence[Merge], _merges: Merges) -> Merge:
    """Of the tied pairs the one that occurs first in the text.

    >>> first_occurrence([("b", "a"), ("a", "b")], ())
    ('b', 'a')
    """
    return tied[0]


def best_pairs(corpus: Corpus, *, overlaps: Overlaps = "skip", min_count: int = 1) -> list[Merge]:
    """The pairs with the largest count, in the order of first occurrence.

    >>> best_pairs("abab")
    [('a', 'b')]
    >>> best_pairs("aab")
    [('a', 'a'), ('a', 'b')]
    """
    counts = pair_counts(corpus, overlaps=overlaps)
    largest = max(counts.values(), default=0)
    if largest < min_count:
        return []
    return [pair for pair, count in counts.items() if count == largest]


def greedy(
    corpus: Corpus,
    num_merges: int,
    *,
    ties: TieRule = smallest_ids,
    overlaps: Overlaps = "skip",
    min_count: int = 1,
) -> tuple[Merge, ...]:
    """μ†, Algorithm 1: `num_merges` times the most frequent pair, or fewer if no pair is left.

    >>> greedy("picked pickled pickles", 3)
    (('c', 'k'), ('i', ('c', 'k')), ('p', ('i', ('c', 'k'))))

    Words with counts never merge across their ends (appendix B.1):

    >>> greedy({"ab": 3, "bc": 2, "abc": 1}, 2)
    (('a', 'b'), ('b', 'c'))

    Cost: O(N M).
    """
    words = words_of(corpus)
    merges: list[Merge] = []
    while len(merges) < num_merges:
        tied = best_pairs(words, overlaps=overlaps, min_count=min_count)
        if not tied:
            break
        merges.append(ties(tied, merges))
        words = {apply_one(merges[-1], word): count for word, count in words.items()}
    return tuple(merges)


def greedy_sequences(text: Text, num_merges: int) -> Iterator[tuple[Merge, ...]]:
    """Every sequence that Algorithm 1 can return, one for each way of breaking its ties.

    >>> sorted({len(s) for s in greedy_sequences("abaabbaa", 2)})
    [2]
    """

    def extend(merges: tuple[Merge, ...], tokens: Tokens) -> Iterator[tuple[Merge, ...]]:
        tied = best_pairs(tokens) if len(merges) < num_merges else []
        if not tied:
            yield merges
        for merge in tied:
            yield from extend((*merges, merge), apply_one(merge, tokens))

    return extend((), tuple(text))


def is_greedy(merges: Merges, text: Text) -> bool:
    """Whether Algorithm 1 can choose this sequence, under some rule for ties.

    >>> is_greedy([("b", "a"), (("b", "a"), "a")], "abaabbaa")
    True
    >>> is_greedy([("b", "b")], "abaabbaa")
    False
    """
    tokens = tuple(text)
    for merge in merges:
        if merge not in best_pairs(tokens):
            return False
        tokens = apply_one(merge, tokens)
    return True


@dataclass(eq=False)
class Node:
    """One token of the linked list in Algorithm 2; `place` orders the nodes of a list."""

    tree: Tree
    place: int
    previous: Node | None = None
    next: Node | None = None


def fast_greedy(text: Text, num_merges: int) -> tuple[Merge, ...]:
    """μ†, Algorithm 2, corrected: a linked list, the places of each pair, and a heap of pairs.

    It returns what `greedy(text, num_merges)` returns, ties included.

    >>> fast_greedy("abaabbaa", 2) == greedy("abaabbaa", 2)
    True

    The heap keeps every pair (a heap cut to the best M loses pairs that are needed later). Its
    counts may be out of date, but only too large, because the count of an old pair never grows
    (Lemma X): the pair on top is counted again, and goes back if it was too high. Pairs of one
    token with itself are counted without overlap.

    Cost: O(N log N), if no pair of equals is often on top with a count that is out of date.
    """
    places = _link(text)
    ids: dict[Tree, int] = {tree: i for i, tree in enumerate(sorted(set(text), key=str))}
    heap = [_entry(pair, places, ids) for pair in places]
    heapq.heapify(heap)
    merges: list[Merge] = []
    while heap and len(merges) < num_merges:
        old_count, _, _, pair = heap[0]
        entry = _entry(pair, places, ids)
        if entry[0] == 0:
            heapq.heappop(heap)
        elif entry[0] != old_count:
            heapq.heapreplace(heap, entry)
        else:
            heapq.heappop(heap)
            merges.append(pair)
            ids[pair] = len(ids)
            for new_pair in _merge_everywhere(pair, places):
                heapq.heappush(heap, _entry(new_pair, places, ids))
    return tuple(merges)


Places: TypeAlias = dict[Merge, set[Node]]
Entry: TypeAlias = tuple[int, int, int, Merge]


def _link(text: Text) -> Places:
    places: Places = {}
    previous: Node | None = None
    for place, tree in enumerate(text):
        node = Node(tree, place, previous)
        if previous is not None:
            previous.next = node
            _add_position(places, previous, node)
        previous = node
    return places


def _add_position(places: Places, left: Node | None, right: Node | None) -> None:
    if left is not None and right is not None:
        places.setdefault((left.tree, right.tree), set()).add(left)


def _remove_position(places: Places, left: Node | None, right: Node | None) -> None:
    if left is not None and right is not None:
        places[left.tree, right.tree].discard(left)


def _in_order(pair: Merge, places: Places) -> list[Node]:
    """The nodes at which `pair` can be replaced, from left to right, without overlap."""
    nodes: list[Node] = []
    for node in sorted(places[pair], key=lambda node: node.place):
        if not nodes or nodes[-1].next is not node:
            nodes.append(node)
    return nodes


def _entry(pair: Merge, places: Places, ids: dict[Tree, int]) -> Entry:
    left, right = pair
    count = len(_in_order(pair, places)) if left == right else len(places[pair])
    return -count, ids[left], ids[right], pair


def _merge_everywhere(pair: Merge, places: Places) -> set[Merge]:
    """Replace `pair` wherever it occurs; the pairs that this made."""
    new_pairs: set[Merge] = set()
    for left in _in_order(pair, places):
        right = left.next
        assert right is not None  # noqa: S101 - `left` is the left half of a pair
        _remove_position(places, left.previous, left)
        _remove_position(places, left, right)
        _remove_position(places, right, right.next)
        left.tree = pair
        left.next = right.next
        if right.next is not None:
            right.next.previous = left
        _add_position(places, left.previous, left)
        _add_position(places, left, left.next)
        if left.previous is not None:
            new_pairs.add((left.previous.tree, pair))
        if left.next is not None:
            new_pairs.add((pair, left.next.tree))
    return new_pairs


def split_words(text: str) -> Counter[str]:
    """The words of a text with their counts; a word carries the space before it (appendix B.1).

    >>> split_words("the cat the hat the")
    Counter({' the': 2, 'the': 1, ' cat': 1, ' hat': 1})
    """
    return Counter(re.findall(r"\s?\S+|\s+(?!\S)", text))


def observed_merges(text: str, max_width: int) -> Counter[Merge]:
    """How often each merge with at most `max_width` symbols could stand in the text (B.2).

    Every bracketing of every substring, with the count of the substring, without overlap.

    >>> [(m, c) for m, c in observed_merges("abcabcd", 3).items() if yield_of(m) == "abc"]
    [(('a', ('b', 'c')), 2), ((('a', 'b'), 'c'), 2)]
    """
    counts: Counter[Merge] = Counter()
    for width in range(2, max_width + 1):
        for string in dict.fromkeys(text[i : i + width] for i in range(len(text) - width + 1)):
            for tree in _bracketings(string):
                if not isinstance(tree, str):
                    counts[tree] = text.count(string)
    return counts


def _bracketings(string: str) -> list[Tree]:
    if len(string) == 1:
        return [string]
    return [
        (left, right)
        for cut in range(1, len(string))
        for left in _bracketings(string[:cut])
        for right in _bracketings(string[cut:])
    ]


def non_iterative(text: str, num_merges: int, max_width: int) -> tuple[Merge, ...]:
    """The appendix's non-iterative BPE (B.2): the most frequent of the observed merges, at once.

    Ties go to the shorter merge, which keeps the sequence valid: a part is at least as frequent
    as the whole, and shorter.

    >>> non_iterative("abcabcd", 4, 3)
    (('a', 'b'), ('b', 'c'), ('a', ('b', 'c')), (('a', 'b'), 'c'))
    """
    counts = observed_merges(text, max_width)
    ranked = sorted(counts, key=lambda merge: (-counts[merge], len(yield_of(merge))))
    return tuple(ranked[:num_merges])
