"""Odd rings of strings: a sharper bound on what M merges save, where chosen strings cross.

Two spans of a word *cross* if they overlap and neither holds the other; then at most one is a node.
Where each of some strings crosses the next, and the last the first, prices alone allow for each to
be chosen by half. But a list that has one of each two that are neighbours has more than half of an
odd number of them.

A *chain* is a row of two strings or more. Its *places* are rows of different spans of a piece with
these strings, all with a price, each of which crosses the next. It links the strings at its ends:
by *either* if their number is even, by *both* if it is odd. The link is *served* by lists that have
either string, or both. So of the spans of a place of n at most (n - 1) // 2 are nodes, and one more
if the link is served. For of two that follow each other at most one is a node. If n is even, n / 2
at most are; if the list lacks both ends, n / 2 - 1 of those between. If n is odd, (n + 1) / 2 at
most are; if the list lacks one end, half of the others, which is (n - 1) / 2.

A *ring* is two strings or more, each linked to the next and the last to the first, an odd number
2k + 1 of them by either, with a *toll* of 0 or more. Each place of a chain has a *credit* of 0 or
more. Take from each loss of a span, as far as there is one, the credits of its places. Then a bound
is what it was with these losses, plus

    (n - 1) // 2 credits for each place of n spans
    for each link, by how much the credits of its places exceed its tolls
    k tolls for each ring

if each string with a price loses a toll more for each time it stands in a ring. The tolls of a link
are those of all rings, for each time it is there; the credits count as often as the pieces.

**Proof.** Say that a list has a string if it is one of its M and has a price. (Others are in no
place; let them be missing in the rings.) What was taken from the losses of the nodes is at most,
for each place, (n - 1) // 2 credits, and one more if its link is served. For each link the latter
are at most by how much the credits exceed the tolls, plus the tolls if it is served. Of the strings
of a ring, let the list have m. Count the links that are served. Each counts as half of what the
list has of its two strings; and half more by either, half less by both, if that is just one. The
former sum to m. Going around, from strings that the list has to others and back, just one is had an
even number of times. So if that is so for all 2k + 1 links by either, it is for one by both as
well, which takes back what one of them adds. So at most m + k are served, and their tolls are at
most those of k and those of its m strings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

Word = TypeVar("Word", str, bytes)
Span: TypeAlias = tuple[int, int]
# The strings of each ring, its toll, and which of them, from 0, are linked to the next by both.
Rings: TypeAlias = Sequence[tuple[Sequence[Word], int, Sequence[int]]]
# The strings of chains of three or four. Each link by either has a chain of its two strings too.
Chains: TypeAlias = Sequence[Sequence[Word]]
# Two strings, and whether they are linked by both.
Link: TypeAlias = tuple[frozenset[Word], bool]


def check_rings(rings: Rings[Word], chains: Chains[Word], cases: Sequence[Word | None]) -> None:
    """Refuse rings for which the proof above does not hold, and chains with too many places.

    >>> check_rings([(["ab", "bc"], 1, [])], [], [None])
    Traceback (most recent call last):
    ValueError: a ring has 2 links by either, expected an odd number
    """
    if (rings or chains) and cases != [None]:
        raise ValueError("rings in a proof by several cases")
    for strings, toll, both in rings:
        number = len(strings)
        if number < 2:
            raise ValueError(f"a ring has {number} strings, expected 2 or more")
        if not set(both) <= set(range(number)):
            raise ValueError(f"links by both of a ring are {both!r}, expected some from 0 on")
        if (number - len(set(both))) % 2 == 0:
            number -= len(set(both))
            raise ValueError(f"a ring has {number} links by either, expected an odd number")
        if not isinstance(toll, int) or toll < 0:
            raise ValueError(f"a toll is {toll!r}, expected a whole number of 0 or more")
    for chain in chains:
        if len(chain) not in (3, 4):
            raise ValueError(f"a chain has {len(chain)} strings, expected 3 or 4")


def tolls_of(rings: Rings[Word]) -> Counter[Word]:
    """What each string loses more.

    >>> tolls_of([(["ab", "bc", "ca"], 1, []), (["ab", "bc"], 2, [0])])
    Counter({'ab': 3, 'bc': 3, 'ca': 1})
    """
    tolls = Counter[Word]()
    for strings, toll, _ in rings:
        for string in strings:
            tolls[string] += toll
    return tolls


def tolls_of_links(rings: Rings[Word]) -> Counter[Link[Word]]:
    """The tolls of each link.

    >>> tolls_of_links([(["ab", "bc"], 2, [0])])[frozenset(["bc", "ab"]), True]
    2
    """
    tolls = Counter[Link[Word]]()
    for strings, toll, both in rings:
        for index, string in enumerate(strings):
            following = strings[(index + 1) % len(strings)]
            tolls[frozenset((string, following)), index in both] += toll
    return tolls


def credits_of(
    pieces: Mapping[Word, int],
    numbers: Iterator[int],
    priced: set[Word],
    rings: Rings[Word],
    chains: Chains[Word],
) -> tuple[Counter[tuple[Word, Span]], int]:
    """What the next numbers take from the losses of spans as credits, and what a bound gets.

    >>> ring = ["ab", "bc", "ca"], 2, []
    >>> taken, added = credits_of({"abc": 2}, iter([3]), {"ab", "bc"}, [ring], [])
    >>> taken["abc", (0, 2)], taken["abc", (1, 3)], added
    (3, 3, 6)
    """
    tolls = tolls_of_links(rings)
    rows = {tuple(chain) for chain in chains}
    rows |= {tuple(strings)[:1] + tuple(strings)[-1:] for strings, both in tolls if not both}
    rows |= {row[::-1] for row in rows}
    taken, sums = Counter[tuple[Word, Span]](), Counter[Link[Word]](dict.fromkeys(tolls, 0))
    added = sum(toll * ((len(strings) - len(set(both))) // 2) for strings, toll, both in rings)
    for piece in sorted(pieces):
        for place in places_of(piece, priced, rows):
            credit = next(numbers, None)
            if not isinstance(credit, int) or credit < 0:
                raise ValueError(f"a credit in {piece!r} is not a whole number of 0 or more")
            for span in place:
                taken[piece, span] += credit
            ends = frozenset(piece[slice(*span)] for span in (place[0], place[-1]))
            sums[ends, len(place) % 2 == 1] += pieces[piece] * credit
            added += pieces[piece] * credit * ((len(place) - 1) // 2)
    return taken, added + sum(max(0, credit - tolls[link]) for link, credit in sums.items())


def places_of(
    piece: Word, priced: set[Word], rows: set[tuple[Word, ...]]
) -> list[tuple[Span, ...]]:
    """The places of chains, given in both directions, in ascending order.

    Each is written in the direction that begins with the first of the two spans at its ends.

    >>> rows = {("ab", "bc"), ("bc", "ab"), ("ab", "bc", "cd"), ("cd", "bc", "ab")}
    >>> places_of("abcd", {"ab", "bc", "cd"}, rows)
    [((0, 2), (1, 3)), ((0, 2), (1, 3), (2, 4))]
    """
    known = priced.intersection(string for row in rows for string in row)
    lengths = sorted({len(string) for string in known})
    spans = [(at, at + length) for at in range(len(piece)) for length in lengths]
    spans = [span for span in spans if span[1] <= len(piece) and piece[slice(*span)] in known]
    begun = {row[:length] for row in rows for length in range(1, len(row) + 1)}
    found: list[tuple[Span, ...]] = []
    to_extend: list[tuple[Span, ...]] = [(span,) for span in spans]
    while to_extend:
        place: tuple[Span, ...] = to_extend.pop()
        for span in spans:
            longer = (*place, span)
            strings = tuple(piece[slice(*each)] for each in longer)
            if span in place or not cross(place[-1], span) or strings not in begun:
                continue
            to_extend.append(longer)
            if strings in rows and place[0] < span:
                found.append(longer)
    return sorted(found)


def cross(one: Span, other: Span) -> bool:
    """Do two spans overlap, while neither holds the other?

    >>> cross((0, 2), (1, 3)), cross((1, 3), (0, 2)), cross((0, 2), (0, 3)), cross((0, 2), (2, 4))
    (True, True, False, False)
    """
    first, second = sorted((one, other))
    return first[0] < second[0] < first[1] < second[1]
