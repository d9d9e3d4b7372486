"""Odd rings of strings: a sharper bound on what M merges save, where chosen strings cross.

Two spans of a word *cross* if they overlap and neither holds the other; then at most one is a node.
Where each of some strings crosses the next, and the last the first, prices alone allow for each to
be chosen by half. But a list that has one of each two that are neighbours has more than half of an
odd number of them.

A *ring* is an odd number of strings, 3 or more, each the neighbour of the next and the last of the
first, with a *toll* of 0 or more. Each place where spans of two neighbours cross, both with a
price, has a *credit* of 0 or more. Take from each loss of a span, as far as there is one, the
credits of its places. Then a bound is what it was with these losses, plus

    k tolls for each ring of 2k + 1 strings
    for each two neighbours, by how much the credits of their places exceed their tolls

if each string with a price loses a toll more for each time it stands in a ring. The tolls of two
neighbours are those of all rings, for each time they are neighbours there; the credits of their
places count as often as the pieces.

**Proof.** Say that a list has a string if it is one of its M and has a price. (Others are in no
place; let them be missing in the rings.) What was taken from the losses of the nodes is at most,
for each place, its credit if one of its two spans is a node, as not both are: so for each two
neighbours at most their credits if the list has one of the two, and else nothing. That is at most
by how much the credits exceed the tolls, plus the tolls if the list has one of the two. Of the
strings of a ring, let the list have m. Count the neighbours of which it has one at least: each
counts as half of what it has of the two, and as half if that is just one. The former sum to m.
Going around, from strings that it has to others and back, just one is had an even number of times,
so at most 2k times. So the neighbours are at most m + k, and their tolls at most those of k and
those of its m strings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

Word = TypeVar("Word", str, bytes)
Span: TypeAlias = tuple[int, int]
# The strings of each ring, and its toll.
Rings: TypeAlias = Sequence[tuple[Sequence[Word], int]]


def check_rings(rings: Rings[Word], cases: Sequence[Word | None]) -> None:
    """Refuse rings for which the proof above does not hold.

    >>> check_rings([(["ab", "bc"], 1)], [None])
    Traceback (most recent call last):
    ValueError: a ring has 2 strings, expected an odd number of 3 or more
    """
    if rings and cases != [None]:
        raise ValueError("rings in a proof by several cases")
    for strings, toll in rings:
        number = len(strings)
        if number < 3 or number % 2 == 0:
            raise ValueError(f"a ring has {number} strings, expected an odd number of 3 or more")
        if not isinstance(toll, int) or toll < 0:
            raise ValueError(f"a toll is {toll!r}, expected a whole number of 0 or more")


def tolls_of(rings: Rings[Word]) -> Counter[Word]:
    """What each string loses more.

    >>> tolls_of([(["ab", "bc", "ca"], 1), (["ab", "bc", "ab"], 2)])
    Counter({'ab': 5, 'bc': 3, 'ca': 1})
    """
    tolls = Counter[Word]()
    for strings, toll in rings:
        for string in strings:
            tolls[string] += toll
    return tolls


def credits_of(
    pieces: Mapping[Word, int], numbers: Iterator[int], priced: set[Word], rings: Rings[Word]
) -> tuple[Counter[tuple[Word, Span]], int]:
    """What the next numbers take from the losses of spans as credits, and what a bound gets.

    >>> ring = ["ab", "bc", "ca"], 2
    >>> taken, added = credits_of({"abc": 2}, iter([3]), {"ab", "bc"}, [ring])
    >>> taken["abc", (0, 2)], taken["abc", (1, 3)], added
    (3, 3, 6)
    """
    tolls = Counter[frozenset[Word]]()
    for strings, toll in rings:
        for index, string in enumerate(strings):
            tolls[frozenset((strings[index - 1], string))] += toll
    taken, sums = Counter[tuple[Word, Span]](), Counter[frozenset[Word]]()
    known = priced.intersection(tolls_of(rings))
    for piece in sorted(pieces):
        for first, second in crossings(piece, known):
            pair = frozenset((piece[slice(*first)], piece[slice(*second)]))
            if pair in tolls:
                credit = next(numbers, None)
                if not isinstance(credit, int) or credit < 0:
                    raise ValueError(f"a credit in {piece!r} is not a whole number of 0 or more")
                taken[piece, first] += credit
                taken[piece, second] += credit
                sums[pair] += pieces[piece] * credit
    exceeding = sum(max(0, sums[pair] - toll) for pair, toll in tolls.items())
    return taken, exceeding + sum(toll * (len(strings) // 2) for strings, toll in rings)


def crossings(piece: Word, strings: set[Word]) -> Iterator[tuple[Span, Span]]:
    """The two spans of each place where two of the strings cross, in ascending order.

    >>> list(crossings("abcd", {"ab", "bc", "abc", "cd"}))
    [((0, 2), (1, 3)), ((0, 3), (2, 4)), ((1, 3), (2, 4))]
    """
    found: list[Span] = []
    lengths = sorted({len(string) for string in strings})
    for start in range(len(piece)):
        ends = (start + length for length in lengths if start + length <= len(piece))
        found += ((start, end) for end in ends if piece[start:end] in strings)
    for index, first in enumerate(found):
        for second in found[index + 1 :]:
            if second[0] >= first[1]:
                break
            if first[0] < second[0] and first[1] < second[1]:
                yield first, second
