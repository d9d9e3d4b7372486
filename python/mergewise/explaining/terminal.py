"""The steps as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mergewise.drawing import BOLD, PLAIN, clipped, columns
from mergewise.explaining import words
from mergewise.explaining.steps import Greedy, Places, Step

RED, GREEN, DIM = "\x1b[31m", "\x1b[32m", "\x1b[2m"
INDENT = "      "


@dataclass(frozen=True)
class Writer:
    """Writes steps for a terminal of a width: [just made], (will merge)."""

    run: Greedy
    width: int
    is_coloured: bool

    def block(self, number: int, step: Step) -> Iterator[str]:
        """One step: what was done, the list, and what changed in the positions and the heap."""
        yield f"{number:>4}  {self.painted(words.title_of(self.run, step), BOLD)}"
        sentence = words.sentence_of(self.run, step)
        yield from self.folded((word, "") for word in sentence.split())
        yield from self.folded(self.tokens(step))
        if step.removed:
            yield self.line(f"- {self.places(step.removed)}", RED)
        if step.added:
            yield self.line(f"+ {self.places(step.added)}", GREEN)
        yield self.line(self.heap(step), DIM)

    def tokens(self, step: Step) -> Iterator[tuple[str, str]]:
        """The linked list: each token and its colour."""
        is_partner = False
        for place, number in step.tokens:
            name = words.name_of(self.run, number)
            if place in step.waiting or is_partner:
                yield f"({name})", RED
            elif step.kind == "replace" and place == step.place:
                yield f"[{name}]", BOLD + GREEN
            else:
                yield name, ""
            is_partner = place in step.waiting

    def places(self, changed: Places) -> str:
        """Positions that pairs lost or gained."""
        return "; ".join(
            f"{words.pair_name(self.run, pair)} at {', '.join(map(str, places))}"
            for pair, places in changed.items()
        )

    def heap(self, step: Step) -> str:
        """The heap, for people in order, and not as its array has it."""
        if not step.heap:
            return "heap: empty"
        entries = [words.entry_name(self.run, entry) for entry in sorted(step.heap)]
        return f"heap of {words.counted(len(entries), 'pair')}: {',  '.join(entries)}"

    def line(self, text: str, colour: str) -> str:
        """A line that fits."""
        return self.painted(INDENT + clipped(text, self.width - len(INDENT)), colour)

    def painted(self, text: str, colour: str) -> str:
        """A text in its colour, if the terminal has colours."""
        return f"{colour}{text}{PLAIN}" if self.is_coloured and colour else text

    def folded(self, parts: Iterator[tuple[str, str]]) -> Iterator[str]:
        """Parts, each with its colour, with spaces between them, in lines."""
        line, room = INDENT, self.width - len(INDENT)
        for text, colour in parts:
            needed = columns(text) + 1
            if needed > room + 1 and line != INDENT:
                yield line
                line, room = INDENT, self.width - len(INDENT)
            line += (" " if line != INDENT else "") + self.painted(text, colour)
            room -= needed
        if line != INDENT:
            yield line


def explain_text(run: Greedy, steps: Sequence[Step], *, width: int, is_coloured: bool) -> str:
    """All steps."""
    writer = Writer(run, width, is_coloured)
    blocks = (writer.block(number, step) for number, step in enumerate(steps))
    return "\n\n".join(map("\n".join, blocks))
