"""One step as a drawing for documents."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from mergewise.drawing import columns, fold
from mergewise.explaining import words
from mergewise.explaining.page import levels, node_marks
from mergewise.explaining.steps import Greedy, Step
from mergewise.pages import asset, tag

WIDTH = 760
MARGIN = 16
COLUMN = 8.4  # the width of a letter of 14 px
SMALL_COLUMN = 6.9
LINE = 20
NODE_HEIGHT = 38
NODE_GAP = 10
MIDDLE = 390
# The classes of positions that stayed, that a pair gained, and that it lost.
CLASSES = {"": "small", "+": "small added", "−": "small removed"}


class Drawn(NamedTuple):
    """A part of the drawing: its elements, and where it ends."""

    elements: str
    bottom: float


def explain_svg(run: Greedy, step: Step, number: int) -> str:
    """The linked list, the heap and the positions after a step."""
    title, sentence = words.title_of(run, step), words.sentence_of(run, step)
    says, top = "", 48
    for line in fold(sentence, 105):
        says += words_at(MARGIN, top, line, "says")
        top += LINE
    nodes, centres = linked_list(run, step, top)
    heap = heap_levels(run, step, nodes.bottom + 52)
    places = position_rows(run, step, nodes.bottom + 52)
    height = max(heap.bottom, places.bottom) + MARGIN
    arrows = "".join(arrows_from_top(run, step, centres, nodes.bottom + 52))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" role="img">'
        f"<title>Step {number}: {escape(title)}</title><desc>{escape(sentence)}</desc>"
        f"<style>\n{asset('explaining', 'svg.css')}</style>"
        f'<rect class="paper" width="{WIDTH}" height="{height:.0f}" rx="8"/>'
        f"{words_at(MARGIN, 28, f'{number}. {title}', 'title')}{says}{arrows}{nodes.elements}"
        f"{words_at(MARGIN, nodes.bottom + 40, 'heap', 'head')}{heap.elements}"
        f"{words_at(MIDDLE, nodes.bottom + 40, 'positions', 'head')}{places.elements}</svg>\n"
    )


def words_at(x: float, y: float, text: str, class_: str | None = None) -> str:
    """A line of text."""
    return tag("text", escape(text), x=f"{x:.1f}", y=f"{y:.1f}", class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str) -> str:
    """A box with round corners."""
    return (
        f'<rect class="{class_}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="6"/>'
    )


def linked_list(
    run: Greedy, step: Step, top: float
) -> tuple[Drawn, dict[int, tuple[float, float]]]:
    """The tokens in rows, linked; and where the bottom of each node is."""
    marks = node_marks(step)
    parts: list[str] = []
    centres: dict[int, tuple[float, float]] = {}
    x, y = float(MARGIN), top
    for place, token in step.tokens:
        text = words.name_of(run, token)
        width = max(columns(text) * COLUMN, columns(str(place)) * 6.0) + 10
        if x + width > WIDTH - MARGIN and x > MARGIN:
            x, y = float(MARGIN), y + NODE_HEIGHT + 14
        elif centres:
            link_y = y + NODE_HEIGHT / 2
            parts.append(
                f'<path class="link" d="M{x - NODE_GAP:.1f} {link_y - 3:.1f}H{x:.1f}'
                f'M{x - NODE_GAP:.1f} {link_y + 3:.1f}H{x:.1f}"/>'
            )
        names = marks.get(place, [])
        class_ = "new" if "new" in names else "next" if "next" in names else "node"
        parts.append(box(x, y, width, NODE_HEIGHT, class_))
        parts.append(words_at(x + (width - columns(text) * COLUMN) / 2, y + 18, text))
        parts.append(words_at(x + (width - len(str(place)) * 6) / 2, y + 32, str(place), "place"))
        centres[place] = (x + width / 2, y + NODE_HEIGHT)
        x += width + NODE_GAP
    return Drawn("".join(parts), y + NODE_HEIGHT), centres


def arrows_from_top(
    run: Greedy, step: Step, centres: dict[int, tuple[float, float]], top: float
) -> Iterator[str]:
    """Lines from the top of the heap to where its pair stands."""
    if not step.heap or step.kind in {"choose", "replace"}:
        return
    start = MARGIN + columns(words.entry_name(run, step.heap[0])) * SMALL_COLUMN + 12
    for place in step.places.get(step.heap[0][1:], ()):
        x, y = centres[place]
        yield (
            f'<path class="arrow" d="M{start:.1f} {top + 11:.1f}'
            f'C{max(x, start + 40):.1f} {top + 11:.1f} {x:.1f} {top:.1f} {x:.1f} {y + 2:.1f}"/>'
        )


def heap_levels(run: Greedy, step: Step, top: float) -> Drawn:
    """The heap, a row or more for each level, and what left it."""
    parts: list[str] = []
    y = top
    for level in levels(step.heap):
        x = float(MARGIN)
        for entry in level:
            text, state = words.entry_name(run, entry), words.state_of(step, entry)
            if state == "stale":
                text += f" (now {step.counts.get(entry[1:], 0)})"
            width = columns(text) * SMALL_COLUMN + 12
            if x + width > MIDDLE - 24 and x > MARGIN:
                x, y = float(MARGIN), y + 26
            parts.append(box(x, y, width, 22, "new" if state == "new" else "entry"))
            text_class = "small stale" if state == "stale" else "small"
            parts.append(words_at(x + 6, y + 15.5, text, text_class))
            x += width + 6
        y += 32
    for entry in step.popped:
        parts.append(words_at(MARGIN, y + 14, f"− {words.entry_name(run, entry)}", "small removed"))
        y += LINE
    return Drawn("".join(parts), y)


def position_rows(run: Greedy, step: Step, top: float) -> Drawn:
    """A row or more for each pair: where it begins, and what changed."""
    names = {pair: words.pair_name(run, pair) for pair in words.pairs_in_order(step)}
    start = MIDDLE + max(map(columns, names.values()), default=0) * SMALL_COLUMN + 16
    parts: list[str] = []
    y = top + 14
    for pair, name in names.items():
        parts.append(words_at(MIDDLE, y, name, "small"))
        x = start
        for sign, place in words.signed_places(step, pair):
            text = f"{sign}{place}"
            if x + len(text) * SMALL_COLUMN > WIDTH - MARGIN:
                x, y = start, y + 17
            parts.append(words_at(x, y, text, CLASSES[sign]))
            x += len(text) * SMALL_COLUMN + 10
        y += 17
    return Drawn("".join(parts), y)
