"""Charts as SVG, drawn once for wide screens and once for narrow ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from mergewise.pages import tag

LEFT, RIGHT, TOP, BOTTOM = 46, 12, 28, 46
SIZES = {"wide": (760, 350), "narrow": (360, 300)}


class Curve(NamedTuple):
    """A line of a chart.

    Attributes:
        name: what it shows.
        letter: "a" or "b", which decides its colour.
        points: (x, y), with rising x.
        band: (x, y) of the edge of what is possible: y holds for all x from the one before on.
    """

    name: str
    letter: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] = ()


class Bars(NamedTuple):
    """Numbers side by side, one for each category."""

    name: str
    letter: str
    values: Sequence[float]


class Words(NamedTuple):
    """The texts of a chart."""

    title: str
    summary: str
    x_label: str
    y_label: str


class Frame(NamedTuple):
    """The room of a chart, and where a number lies in it."""

    width: int
    height: int
    top: float
    low: float = 0.0
    high: float = 1.0

    @property
    def floor(self) -> float:
        """Where 0 is."""
        return self.height - BOTTOM

    @property
    def span(self) -> float:
        """The width between the margins."""
        return self.width - LEFT - RIGHT

    def y(self, value: float) -> float:
        """The height of a number."""
        return self.floor - value / self.top * (self.floor - TOP)

    def x(self, value: float) -> float:
        """The place of a number on the logarithmic axis."""
        return LEFT + (math.log10(max(value, 1)) - self.low) / (self.high - self.low) * self.span

    def points(self, points: Sequence[tuple[float, float]]) -> str:
        """Points as SVG has them."""
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)

    def grid(self) -> Iterator[str]:
        """Lines across, and what they stand for."""
        for step in range(6):
            value = self.top * step / 5
            yield f'<path class="grid" d="M{LEFT} {self.y(value):.1f}H{self.width - RIGHT}"/>'
            yield label(LEFT - 7, self.y(value) + 4, f"{value:g}", "end")

    def powers(self) -> Iterator[str]:
        """Powers of ten below the axis."""
        for power in range(math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9) + 1):
            x = self.x(10**power)
            yield f'<path class="grid" d="M{x:.1f} {self.floor}v5"/>'
            yield label(x, self.floor + 19, f"{10**power:,}", "middle")

    def drawing(self, parts: str, words: Words) -> str:
        """The chart with its name, its description and the names of its axes."""
        return tag(
            "svg",
            tag("title", escape(words.title)),
            tag("desc", escape(words.summary)),
            parts,
            label(LEFT + self.span / 2, self.height - 6, words.x_label, "middle"),
            label(4, 14, words.y_label, "start"),
            viewBox=f"0 0 {self.width} {self.height}",
            class_="chart",
            role="img",
        )


def curves_chart(curves: Sequence[Curve], words: Words) -> str:
    """Lines over a logarithmic axis, with what is possible as bands beside them."""
    xs = [x for curve in curves for x, _ in curve.points]
    ys = [y for curve in curves for _, y in [*curve.points, *curve.band]]
    low, high = math.log10(max(min(xs), 1)), math.log10(max(*xs, 10))

    def draw(width: int, height: int) -> str:
        frame = Frame(width, height, nice_top(max(ys)), low, high)
        parts = [*frame.grid(), *frame.powers(), *(drawn_curve(c, frame) for c in curves)]
        return frame.drawing("".join(parts), words)

    return for_all_screens(draw)


def drawn_curve(curve: Curve, frame: Frame) -> str:
    """A line, the band beside it, and a dot at its end."""
    parts = []
    if curve.band:
        edge: list[tuple[float, float]] = []
        before = curve.points[0][0]
        for x, y in curve.band:
            edge += [(before, y), (x, y)]
            before = x
        below = [point for point in curve.points if point[0] <= before]
        outline = frame.points([*edge, *reversed(below)])
        parts.append(f'<polygon class="band {curve.letter}" points="{outline}"/>')
        parts.append(f'<polyline class="edge {curve.letter}" points="{frame.points(edge)}"/>')
    x, y = curve.points[-1]
    parts.append(f'<polyline class="curve {curve.letter}" points="{frame.points(curve.points)}"/>')
    parts.append(
        f'<circle class="dot {curve.letter}" cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="4"/>'
    )
    return "".join(parts)


def bars_chart(categories: Sequence[str], groups: Sequence[Bars], words: Words) -> str:
    """Bars for each category, side by side."""
    top = nice_top(max((value for group in groups for value in group.values), default=1))

    def draw(width: int, height: int) -> str:
        frame = Frame(width, height - 60, top)
        parts = [*frame.grid(), *drawn_bars(categories, groups, frame)]
        return frame.drawing("".join(parts), words)

    return for_all_screens(draw)


def drawn_bars(categories: Sequence[str], groups: Sequence[Bars], frame: Frame) -> Iterator[str]:
    """The bars, and the names of categories where there is room for them."""
    slot = frame.span / max(len(categories), 1)
    width = slot * 0.76 / len(groups)
    longest = max(map(len, categories), default=1)
    every = math.ceil((longest * 7 + 6) / slot)
    for number, category in enumerate(categories):
        x = LEFT + slot * number
        for index, group in enumerate(groups):
            value = group.values[number]
            hint = tag("title", escape(f"{group.name}, {category}: {value:.3g}"))
            yield (
                f'<rect class="bar {group.letter}" x="{x + slot * 0.12 + index * width:.1f}" '
                f'y="{frame.y(value):.1f}" width="{width:.1f}" '
                f'height="{frame.floor - frame.y(value):.1f}">{hint}</rect>'
            )
        if number % every == 0:
            yield label(x + slot / 2, frame.floor + 17, category, "middle")


def for_all_screens(draw: Callable[[int, int], str]) -> str:
    """A drawing for wide screens and one for narrow ones; the page shows one of them."""
    return "".join(tag("div", draw(*size), class_=name) for name, size in SIZES.items())


def nice_top(value: float) -> float:
    """A round number above a value, which five steps divide well.

    >>> nice_top(4.1), nice_top(23), nice_top(0.7)
    (5, 25.0, 0.75)
    """
    scale = 10 ** math.floor(math.log10(value)) if value > 0 else 1
    return next(s * scale for s in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7.5, 10) if s * scale >= value)


def label(x: float, y: float, text: str, anchor: str) -> str:
    """Words in a chart."""
    return tag("text", escape(text), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)
