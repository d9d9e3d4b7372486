"""When two merge sequences do the same: the paper's section 5, corrected.

The paper's own wording, which does not hold, is kept in `as_published`.
"""

from __future__ import annotations

from mergewise.formal.apply import apply
from mergewise.formal.merges import Merge, Merges, yield_of


def commutes(first: Merge, second: Merge) -> bool:
    """Whether two merges give the same in either order, on every sequence of tokens.

    They do unless one is a part of the other, or one ends in the token with which the other
    begins. Parts are compared as trees, not by the letters of their yields.

    >>> commutes(("a", "b"), ("c", "d"))
    True
    >>> commutes(("a", "b"), ("b", "c"))
    False
    >>> commutes(("a", "b"), (("b", "c"), "d"))
    True
    """
    if first == second:
        return True
    is_part = first in second or second in first
    return not is_part and first[1] != second[0] and first[0] != second[1]


def conflicts(first: Merge, second: Merge) -> bool:
    """Definition 5.2, corrected: whether the order of the two merges matters on some tokens.

    >>> conflicts(("x", ("a", "b")), (("a", "b"), "y"))
    True
    """
    return not commutes(first, second)


def live(merges: Merges) -> tuple[Merge, ...]:
    """The merges of a sequence that replace something on some string.

    A merge [u, v] is live exactly if the merges before it turn the string of u and v into u, v:
    where the two stand side by side, no merge ever crossed the borders of their strings.

    >>> live([("a", "a"), ("a", ("a", "a"))])
    (('a', 'a'),)
    """
    return tuple(
        merge
        for index, merge in enumerate(merges)
        if apply(merges[:index], yield_of(merge)) == merge
    )


def merge_key(merge: Merge) -> tuple[int, str]:
    """A total order of the merges that can act on one text: by length, then by the string.

    Distinct ones have distinct yields (Lemma Y of docs/theory/lemmas.md).

    >>> merge_key(("a", ("b", "c")))
    (3, 'abc')
    """
    string = yield_of(merge)
    return len(string), string


def normal_form(merges: Merges) -> tuple[Merge, ...]:
    """The smallest order of the merges that swaps of neighbours which commute can reach.

    >>> normal_form([("c", "d"), ("a", "b")])
    (('a', 'b'), ('c', 'd'))
    >>> normal_form([("b", "c"), ("a", "b")])
    (('b', 'c'), ('a', 'b'))
    """
    rest = list(merges)
    result: list[Merge] = []
    while rest:
        movable = [
            merge
            for index, merge in enumerate(rest)
            if all(commutes(merge, earlier) for earlier in rest[:index])
        ]
        smallest = min(movable, key=lambda merge: (merge_key(merge), str(merge)))
        rest.remove(smallest)
        result.append(smallest)
    return tuple(result)


def are_equivalent(first: Merges, second: Merges) -> bool:
    """μ ≡ μ', Definition 5.4: whether two valid sequences give the same on every string.

    Corrected form of Proposition 5.5: they do exactly if their live merges can be brought from
    one order into the other by swapping neighbours that commute.

    >>> are_equivalent([("a", "b"), ("d", "d"), ("c", "a")], [("a", "b"), ("c", "a"), ("d", "d")])
    True
    >>> are_equivalent([("a", "b"), ("b", "c")], [("b", "c"), ("a", "b")])
    False
    """
    return normal_form(live(first)) == normal_form(live(second))
