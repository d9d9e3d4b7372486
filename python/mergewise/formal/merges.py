"""Symbols, merges and merge sequences: the paper's section 2.2.

A symbol is a string, a merge is a pair of what it joins, and both are trees: `("a", ("a", "b"))`
is the paper's [a, [a, b]].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, Union

Tree: TypeAlias = Union[str, "Merge"]
Merge: TypeAlias = tuple["Tree", "Tree"]
Merges: TypeAlias = Sequence[Merge]


def yield_of(tree: Tree) -> str:
    """YIELD(μ), Definition 2.4: the string under a tree.

    >>> yield_of((("a", "a"), (("c", "b"), "c")))
    'aacbc'
    """
    if isinstance(tree, str):
        return tree
    left, right = tree
    return yield_of(left) + yield_of(right)


def submerges(tree: Tree) -> set[Tree]:
    """Every ν with ν ⊂ μ, Definition 3.6: the trees strictly inside `tree`, symbols included.

    >>> sorted(submerges(("a", ("a", "b"))), key=yield_of)
    ['a', ('a', 'b'), 'b']
    """
    if isinstance(tree, str):
        return set()
    left, right = tree
    return {left, right} | submerges(left) | submerges(right)


def first_invalid(merges: Merges) -> tuple[int, Tree] | None:
    """The index of the first merge with a part that no merge made, and that part; None if valid.

    >>> first_invalid([("a", "b"), (("a", "b"), ("a", "c"))])
    (1, ('a', 'c'))
    """
    made: set[Tree] = set()
    for index, merge in enumerate(merges):
        for part in merge:
            if not isinstance(part, str) and part not in made:
                return index, part
        made.add(merge)
    return None


def is_valid(merges: Merges) -> bool:
    """Whether μ is in M_Υ, Definition 2.3: every merge is made of symbols and earlier merges.

    >>> is_valid([("a", "b"), ("a", ("a", "b"))])
    True
    >>> is_valid([("a", ("a", "b")), ("a", "b")])
    False
    """
    return first_invalid(merges) is None


def valid_sequences(alphabet: Iterable[str], num_merges: int) -> Iterator[tuple[Merge, ...]]:
    """Every valid sequence of `num_merges` distinct merges over an alphabet (Proposition 5.1).

    >>> [len(list(valid_sequences("ab", m))) for m in (1, 2, 3)]
    [4, 32, 448]

    There are Π_{i<M} ((|Σ| + i)² - i) of them.
    """
    symbols = tuple(alphabet)

    def extend(made: tuple[Merge, ...]) -> Iterator[tuple[Merge, ...]]:
        if len(made) == num_merges:
            yield made
            return
        parts: list[Tree] = [*symbols, *made]
        for left in parts:
            for right in parts:
                if (left, right) not in made:
                    yield from extend((*made, (left, right)))

    return extend(())


def show(tree: Tree) -> str:
    """A tree in the paper's notation.

    >>> show(("a", ("a", "b")))
    '[a,[a,b]]'
    """
    if isinstance(tree, str):
        return tree
    return f"[{show(tree[0])},{show(tree[1])}]"
