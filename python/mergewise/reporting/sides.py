"""One tokenizer, or several side by side, each with a colour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from mergewise.pages import isolated, percent, tag
from mergewise.reporting.measuring import Measured

# The classes of the colours, which begin anew after the last.
LETTERS = "abcdef"


def lettered(subjects: Sequence[Measured]) -> Iterator[tuple[Measured, str]]:
    """The tokenizers, each with the letter that decides its colour."""
    return zip(subjects, cycle(LETTERS), strict=False)


def legend(subjects: Sequence[Measured]) -> str:
    """Which colour is which, if there are several."""
    if len(subjects) == 1:
        return ""
    keys = [
        tag("span", isolated(subject.name), class_=f"key {letter}")
        for subject, letter in lettered(subjects)
    ]
    return tag("p", *keys, class_="legend")


def panels(subjects: Sequence[Measured], draw: Callable[[Measured], str]) -> str:
    """The panel of one tokenizer, or those of several under their names, each in its colour."""
    if len(subjects) == 1:
        return draw(subjects[0])
    columns = (
        tag("div", tag("h3", isolated(subject.name)), draw(subject), class_=letter)
        for subject, letter in lettered(subjects)
    )
    return tag("div", *columns, class_="columns")


def headings(first: str, subjects: Sequence[Measured], *names: str) -> list[str]:
    """The head of a table: the first column, and the columns of each tokenizer."""
    head = [first]
    for subject in subjects:
        prefix = f"{isolated(subject.name)}: " if len(subjects) > 1 else ""
        head += [prefix + name for name in names]
    return head


def difference(ours: float | None, theirs: float | None) -> str:
    r"""How much more ours are than theirs, or fewer, in words; of fractions, how much less.

    >>> difference(970, 1000), difference(3.3, 3.0), difference(2.7, 3.0), difference(5, 5)
    ('3.00\xa0% fewer', '10.00\xa0% more', '10.00\xa0% less', 'the same')
    """
    if ours == theirs and ours is not None:
        return "the same"
    if ours is None or not theirs:
        return "–"
    smaller = "less" if isinstance(ours, float) else "fewer"
    return f"{percent(abs(ours / theirs - 1))} {smaller if ours < theirs else 'more'}"
