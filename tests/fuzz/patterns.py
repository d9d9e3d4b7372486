"""Regular expressions of all kinds: their words are those of an independent engine."""

from __future__ import annotations

from collections import Counter

import regex

import mergewise as mw
from fuzz.encoding import Draws, words_of
from mergewise.errors import MergewiseError

CHARACTERS = ["a", "B", " ", r"\n", "'", "1", "é", "▁", r"\.", r"\t"]
CLASSES = [r"\s", r"\S", r"\p{L}", r"\p{N}", r"\p{Lu}", r"[^\s\p{L}\p{N}]", r"[^\r\n\p{L}\p{N}]"]
CLASSES += ["[ab]", "[^a]", "(?s:.)", ".", r"[\r\n]", "(?i:[sdmt]|ll)"]
REPEATED = ["?", "*", "+", "{1,3}", "{2}", "{2,}"]
HOW = ["", "", "", "?", "+"]
AHEAD = [r"(?!\S)", "(?=a)", "$", "(?![a1])", ""]


def expression(draws: Draws, depth: int) -> str:
    """An expression that bytes choose."""
    kind = draws.below(8) if depth else draws.below(4)
    if kind < 2:
        return draws.one_of(CHARACTERS)
    if kind < 4:
        return draws.one_of(CLASSES)
    if kind == 4:
        return f"(?:{expression(draws, depth - 1)}|{expression(draws, depth - 1)})"
    if kind == 5:
        repeated, how = draws.one_of(REPEATED), draws.one_of(HOW)
        return f"(?:{expression(draws, depth - 1)}){repeated}{how}"
    if kind == 6:
        return expression(draws, depth - 1) + draws.one_of(AHEAD)
    return expression(draws, depth - 1) + expression(draws, depth - 1)


def check_pattern(data: bytes) -> None:
    """Count the words of a text by a random expression."""
    draws = Draws(data)
    options = [expression(draws, 3) for _ in range(1 + draws.below(5))]
    pattern = f"(?:{'|'.join(options)})"  # in brackets no name of a pattern
    text = b"".join(draws.text() for _ in range(4)).decode("utf-8", "replace").encode()
    try:
        counts = mw.count([text], pattern=pattern)
    except MergewiseError as error:
        if "steps" in str(error):
            return  # the text asks for more than there are
        raise
    regex.purge()
    if any(
        not found.group() for found in regex.finditer(pattern.replace("$", r"\Z"), text.decode())
    ):
        return  # engines differ in where they look next
    expected = Counter(word for _, word in words_of(text, pattern, drops_gaps=False))
    assert dict(counts.top(len(expected) + 1)) == expected, pattern
