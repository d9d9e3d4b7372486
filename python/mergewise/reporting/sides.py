"""One tokenizer, or two side by side, each with a colour of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from mergewise.pages import tag
from mergewise.reporting.measuring import Measured

LETTERS = "ab"


def lettered(subjects: Sequence[Measured]) -> Iterator[tuple[Measured, str]]:
    """The tokenizers, each with the letter that decides its colour."""
    return zip(subjects, LETTERS, strict=False)


def legend(subjects: Sequence[Measured]) -> str:
    """Which colour is which, if there are two."""
    if len(subjects) == 1:
        return ""
    keys = [tag("span", escape(s.name), class_=f"key {letter}") for s, letter in lettered(subjects)]
    return tag("p", *keys, class_="legend")


def panels(subjects: Sequence[Measured], draw: Callable[[Measured], str]) -> str:
    """The panel of one tokenizer, or those of two under their names, each in its colour."""
    if len(subjects) == 1:
        return draw(subjects[0])
    columns = (
        tag("div", tag("h3", escape(subject.name)), draw(subject), class_=letter)
        for subject, letter in lettered(subjects)
    )
    return tag("div", *columns, class_="columns")


def headings(first: str, subjects: Sequence[Measured], *names: str) -> list[str]:
    """The head of a table: the first column, and the columns of each tokenizer."""
    head = [first]
    for subject in subjects:
        prefix = f"{escape(subject.name)}: " if len(subjects) > 1 else ""
        head += [prefix + name for name in names]
    return head
