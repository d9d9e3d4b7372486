"""How tokens are made: trees of merges, which may be deeper than Python's calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Tree: TypeAlias = "bytes | Branch"


class Branch(tuple["Tree", "Tree"]):
    """A pair of trees that merge: a tuple that prints, compares, hashes and pickles at any depth.

    >>> tree = Branch([Branch([b"l", b"o"]), b"w"])
    >>> tree, tree == ((b"l", b"o"), b"w"), hash(tree) == hash(((b"l", b"o"), b"w"))
    (((b'l', b'o'), b'w'), True, True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return text_of(self, repr, "(", ")")

    def __eq__(self, other: object) -> bool:
        to_do: list[tuple[object, object]] = [(self, other)]
        while to_do:
            one, another = to_do.pop()
            if one is another:
                continue
            if isinstance(one, tuple):
                if not isinstance(another, tuple) or len(one) != len(another):
                    return False
                to_do.extend(zip(one, another, strict=True))
            elif isinstance(another, tuple) or one != another:
                return False
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        hashes: list[int] = []
        for part in postorder(self):
            if part is None:
                right, left = hashes.pop(), hashes.pop()
                hashes.append(hash((Hashed(left), Hashed(right))))
            else:
                hashes.append(hash(part))
        return hashes[0]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[list[bytes | None]]]:
        return grown, (postorder(self),)


class Hashed(int):
    """A hash that was computed before."""

    __slots__ = ()

    def __hash__(self) -> int:
        return int(self)


def postorder(tree: Tree) -> list[bytes | None]:
    """The leaves of a tree from left to right, and None where the two trees before it merge."""
    to_do: list[Tree] = [tree]
    found: list[bytes | None] = []
    while to_do:
        part = to_do.pop()
        if isinstance(part, bytes):
            found.append(part)
        else:
            found.append(None)
            to_do += part
    return found[::-1]


def grown(parts: Iterable[bytes | None]) -> Tree:
    """The tree whose postorder this is."""
    trees: list[Tree] = []
    for part in parts:
        if part is None:
            right, left = trees.pop(), trees.pop()
            trees.append(Branch((left, right)))
        else:
            trees.append(part)
    return trees[0]


def text_of(tree: Tree, leaf: Callable[[bytes], str], opening: str, closing: str) -> str:
    """A tree as nested pairs between these brackets."""
    to_do: list[Tree | str] = [tree]
    written: list[str] = []
    while to_do:
        part = to_do.pop()
        if isinstance(part, str):
            written.append(part)
        elif isinstance(part, bytes):
            written.append(leaf(part))
        else:
            to_do += [closing, part[1], ", ", part[0], opening]
    return "".join(written)
