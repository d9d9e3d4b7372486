"""Explain: how greedy training works, step by step, on one text."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mergewise.arguments import check_count, check_text
from mergewise.errors import InputError
from mergewise.explaining.page import explain_page
from mergewise.explaining.steps import Greedy, Step
from mergewise.explaining.svg import explain_svg
from mergewise.explaining.terminal import explain_text
from mergewise.files import checked_path, write_text
from mergewise.pages.notebook import framed
from mergewise.vocabulary import brief

__all__ = ["Explanation", "Step", "explain"]

# All steps stand in one page, and each shows the whole list.
MOST_SYMBOLS = 120


@dataclass(frozen=True)
class Explanation:
    r"""The steps of greedy training on one text: for a terminal, as a page, or as drawings.

    >>> print(explain("abab", num_merges=1).text(width=79).split("\n\n")[2])
       2  a·b becomes ab at 0
          At 0, a·b becomes ab: the list is relinked past the second token, and the
          positions of 3 pairs change. The counts in the heap are not touched.
          [ab] (a) (b)
          - a·b at 0; b·a at 1
          + ab·a at 0
          heap of 1 pair: 1 b·a
    """

    run: Greedy
    steps: tuple[Step, ...]

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The merges in order, each as the two strings that it joins."""
        names = self.run.names
        return [(names[left], names[right]) for left, right in self.run.merges]

    @property
    def html(self) -> str:
        """The page, in one file."""
        return explain_page(self.run, self.steps)

    def svg(self, step: int) -> str:
        """The drawing of one step, for documents."""
        if not 0 <= step < len(self.steps):
            raise IndexError(f"there are {len(self.steps)} steps, from 0 on; found {step}")
        return explain_svg(self.run, self.steps[step], step)

    def text(self, *, width: int = 100, is_coloured: bool = False) -> str:
        """The steps as lines of a terminal."""
        return explain_text(self.run, self.steps, width=width, is_coloured=is_coloured)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        write_text(self.html, path)

    def save_svgs(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the drawing of every step into a folder, which is made if it is not there."""
        checked_path(folder).mkdir(parents=True, exist_ok=True)
        digits = len(str(len(self.steps) - 1))
        paths = [Path(folder) / f"step-{n:0{digits}}.svg" for n in range(len(self.steps))]
        for number, path in enumerate(paths):
            write_text(self.svg(number), path)
        return paths

    def __repr__(self) -> str:
        text = brief(self.run.text)
        return f"<Explanation: {len(self.merges)} merges of {text} in {len(self.steps)} steps>"

    def _repr_html_(self) -> str:
        return framed(self.html, "42rem")

    def __str__(self) -> str:
        return self.text()


def explain(text: str, *, num_merges: int) -> Explanation:
    """How greedy training finds the first merges of a text, over its characters, without words.

    >>> explanation = explain("picked pickled pickles", num_merges=3)
    >>> explanation.merges
    [('c', 'k'), ('i', 'ck'), ('p', 'ick')]
    >>> len(explanation.steps)
    19
    """
    if not isinstance(text, str):
        raise TypeError(f"expected a str, found {type(text).__name__}")
    check_count("num_merges", num_merges)
    check_text("text", text)
    if len(text) > MOST_SYMBOLS:
        raise InputError(
            f"found {len(text):,} characters, expected {MOST_SYMBOLS} at most: every step shows "
            "them all",
            hint="take a few words",
        )
    run = Greedy(text, num_merges)
    return Explanation(run, tuple(run.steps()))
