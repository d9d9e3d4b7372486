"""How bad greedy can be: a family of words, and what greedy attains at least.

docs/theory/worst_case.md has the theorems with their proofs.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from mergewise.formal.merges import Merge

FIRST_SYMBOL = 0x4E00  # 20,992 letters in a row
FIRST_SEPARATOR = 0xF0000  # private use: no letter of a text
MOST_SEPARATORS = 0x110000 - FIRST_SEPARATOR

# What greedy attains of any list of as many merges, at least: Theorem 3 of worst_case.md.
GREEDY_ATTAINS = (1 - (4 / 7) ** (19 / 3)) * 7 / 19


class WorstCase(NamedTuple):
    """Words with their counts, the merges that greedy makes, and as many that save more."""

    words: dict[str, int]
    chosen: tuple[Merge, ...]
    rival: tuple[Merge, ...]


def worst_case(size: int, *, count: int | None = None) -> WorstCase:
    """Words on which `size`² greedy merges save little of what a rival saves.

    The part is (1 - (1 - 2/r)^r)/2 for the size r, which tends to (1 - e^-2)/2 = 0.4323. Greedy has
    no choice: at every step one pair alone is the most frequent.

    >>> case = worst_case(8)
    >>> len(case.words), len(case.chosen), len(case.rival)
    (640, 64, 64)

    Args:
        size: r, at least 8; the rival merges all [a_i, b_j], greedy all [b_j, a_k], i, j, k < r.
        count: how often each pair of the rival occurs, at least 8 r². By default r^r, which makes
            all fractions whole; with fewer the words a_i b_j make up for what is rounded.
    """
    if size < 8:
        raise ValueError(f"size must be 8 or more, found {size}")
    start = size**size if count is None else count
    if start < 8 * size**2:
        raise ValueError(f"count must be {8 * size**2} or more for size {size}, found {count}")
    a = [chr(FIRST_SYMBOL + i) for i in range(size)]
    b = [chr(FIRST_SYMBOL + size + j) for j in range(size)]
    words: dict[str, int] = {}
    chosen: list[Merge] = []
    left = start  # how often each pair of the rival is left
    for shift in range(size):
        each = left // size
        for j in range(size):
            k = (j + shift) % size
            words |= {a[i] + b[j] + a[k] + b[i]: each for i in range(size)}
            # Up to `left`, and some more, so that no pair is as frequent.
            words[b[j] + a[k]] = left - size * each + size - j
            chosen.append((b[j], a[k]))
        left -= 2 * each
    words |= {a_i + b_j: left for a_i in a for b_j in b}
    return WorstCase(words, tuple(chosen), tuple((a_i, b_j) for a_i in a for b_j in b))


def one_text(words: Mapping[str, int]) -> str:
    """Words with counts as one text: one after another, a symbol of its own between each two.

    A pair with such a symbol occurs once, so merges save the same on the text as on the words.

    >>> one_text({"ab": 2, "c": 1}).translate({0xF0000: "1", 0xF0001: "2"})
    'ab1ab2c'
    """
    repeated = [word for word, count in words.items() for _ in range(count)]
    if len(repeated) > MOST_SEPARATORS:
        raise ValueError(f"{len(repeated):,} words; there are {MOST_SEPARATORS:,} separators")
    parts = (word + chr(FIRST_SEPARATOR + i) for i, word in enumerate(repeated))
    return "".join(parts)[:-1]


def flat_guarantee(num_merges: int) -> Fraction:
    """What greedy attains at least of a rival whose M merges all join two symbols.

    (1 - (1 - 2/M)^M)/2, which falls to (1 - e^-2)/2 = `guarantee(2)`.

    >>> flat_guarantee(1), flat_guarantee(2), round(float(flat_guarantee(100)), 4)
    (Fraction(1, 1), Fraction(1, 2), 0.4337)
    """
    return (1 - (1 - Fraction(2, num_merges)) ** num_merges) / 2
