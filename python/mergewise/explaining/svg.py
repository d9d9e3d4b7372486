"""One step as a drawing for documents."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from mergewise.drawing import columns, fold
from mergewise.explaining import words
from mergewise.explaining.page import levels, node_marks
from mergewise.explaining.steps import Entry, Greedy, Step
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


def explain_svg(run: Greedy, before: Step | None, step: Step, number: int) -> str:
    """The linked list, the heap and the positions after a step."""
    changes = words.changes_between(before, step)
    title, sentence = words.title_of(run, step), words.sentence_of(run, step, changes)
    lines = fold(sentence, 105)
    says = "".join(
        words_at(MARGIN, 48 + LINE * row, line, "says") for row, line in enumerate(lines)
    )
    top = 48 + LINE * len(lines)
    nodes, centres = linked_list(run, step, top)
    heap = heap_levels(run, step, changes, nodes.bottom + 52)
    places = position_rows(run, step, changes, nodes.bottom + 52)
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
    count, *pair = step.heap[0]
    entry = f"{-count} {words.pair_name(run, (pair[0], pair[1]))}"
    start = MARGIN + columns(entry) * SMALL_COLUMN + 12
    for place in step.places.get((pair[0], pair[1]), ()):
        x, y = centres[place]
        yield (
            f'<path class="arrow" d="M{start:.1f} {top + 11:.1f}'
            f'C{max(x, start + 40):.1f} {top + 11:.1f} {x:.1f} {top:.1f} {x:.1f} {y + 2:.1f}"/>'
        )


def heap_levels(run: Greedy, step: Step, changes: words.Changes, top: float) -> Drawn:
    """The heap, a row or more for each level, and what left it."""
    parts: list[str] = []
    y = top
    for level in levels(step.heap):
        x = float(MARGIN)
        for entry in level:
            text, class_, text_class = entry_words(run, step, entry, changes)
            width = columns(text) * SMALL_COLUMN + 12
            if x + width > MIDDLE - 24 and x > MARGIN:
                x, y = float(MARGIN), y + 26
            parts.append(box(x, y, width, 22, class_))
            parts.append(words_at(x + 6, y + 15.5, text, text_class))
            x += width + 6
        y += 32
    for entry in changes.popped:
        text = f"− {-entry[0]} {words.pair_name(run, entry[1:])}"
        parts.append(words_at(MARGIN, y + 14, text, "small removed"))
        y += LINE
    return Drawn("".join(parts), y)


def entry_words(
    run: Greedy, step: Step, entry: Entry, changes: words.Changes
) -> tuple[str, str, str]:
    """An entry of the heap: its text, the class of its box, and that of its text."""
    pair, count = entry[1:], -entry[0]
    now = words.count_of(step, pair)
    text = f"{count} {words.pair_name(run, pair)}"
    if entry in changes.pushed:
        return text, "new", "small"
    if now != count:
        return f"{text} (now {now})", "entry", "small stale"
    return text, "entry", "small"


def position_rows(run: Greedy, step: Step, changes: words.Changes, top: float) -> Drawn:
    """A row for each pair: where it begins, and what changed."""
    pairs = words.pairs_in_order(step, changes)
    names = {pair: words.pair_name(run, pair) for pair in pairs}
    start = MIDDLE + max((columns(n) for n in names.values()), default=0) * SMALL_COLUMN + 16
    parts: list[str] = []
    y = top + 14
    for pair in pairs:
        parts.append(words_at(MIDDLE, y, names[pair], "small"))
        for x, row, text, class_ in place_words(step, pair, changes, start):
            parts.append(words_at(x, y + row * 17, text, class_))
            last = row
        y += (last + 1) * 17 if pair in step.places or pair in changes.removed else 17
    return Drawn("".join(parts), y)


def place_words(
    step: Step, pair: tuple[int, int], changes: words.Changes, start: float
) -> Iterator[tuple[float, int, str, str]]:
    """The positions of a pair: where each is written, in which row, and how."""
    x, row = start, 0
    for sign, place in words.signed_places(step, pair, changes):
        text = f"{sign}{place}"
        if x + len(text) * SMALL_COLUMN > WIDTH - MARGIN:
            x, row = start, row + 1
        yield x, row, text, CLASSES[sign]
        x += len(text) * SMALL_COLUMN + 10
