"""The section on compression: bytes per token after each number of merges, and what is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from mergewise.pages import isolated, percent, table, tag
from mergewise.reporting.band import Band
from mergewise.reporting.charts import Curve, Words, curves_chart
from mergewise.reporting.measuring import Measured
from mergewise.reporting.sides import headings, lettered

POINTS_PER_DECADE = 60
BAND_NOTE = (
    "The band is what is possible at all: no list of as many merges, over the same words, gets "
    "beyond its dashed edge. A longer time limit gives a narrower band."
)


def compression(subjects: Sequence[Measured], bands: Sequence[Band | str]) -> str:
    """The bytes per token after each number of merges."""
    curves, notes = [], []
    for (subject, letter), band in zip(lettered(subjects), bands, strict=True):
        name = isolated(subject.name)
        if subject.no_curve is not None or not subject.tokenizer.merges:
            why = subject.no_curve or "there are no merges"
            notes.append(f"{name} has no curve: {escape(why)}.")
            continue
        curves.append(curve_of(subject, band, letter))
        notes.append(band_note(subject, band))
    if any(curve.band for curve in curves):
        notes.append(BAND_NOTE)
    if not curves:
        return tag("section", tag("h2", "Compression"), *(tag("p", note) for note in notes))
    words = Words(
        title="Bytes per token by number of merges",
        summary="; ".join(
            f"{c.name}: {c.points[0][1]:.2f} bytes per token at the start, "
            f"{c.points[-1][1]:.2f} after {c.points[-1][0]:,.0f} merges"
            for c in curves
        ),
        x_label="merges",
        y_label="bytes per token",
    )
    rows = curve_rows(subjects, bands)
    head = headings("merges", subjects, "tokens", "bytes per token", "fewest possible")
    return f"""\
<section id="compression"><h2>Compression</h2>
<p>One training run gives the whole curve: the first merges of a longer list are the shorter
list.</p>
<figure class="card">{curves_chart(curves, words)}
<figcaption class="small">{" ".join(tag("p", note) for note in notes)}</figcaption>
<details><summary>As a table</summary>{table(head, rows, caption="Tokens after the first merges")}
</details></figure></section>"""


def curve_of(subject: Measured, band: Band | str, letter: str) -> Curve:
    """The curve of a tokenizer, thinned, and its band."""
    num_bytes = subject.total.num_bytes
    sizes = thinned(len(subject.curve) - 1)
    edge = []
    if isinstance(band, Band):
        least = zip(band.sizes, band.least_tokens, strict=True)
        edge = [(size, num_bytes / max(tokens, 1)) for size, tokens in least]
    points = [(size, num_bytes / max(subject.curve[size], 1)) for size in sizes]
    return Curve(subject.name, letter, points, edge)


def thinned(last: int) -> list[int]:
    """Numbers from 1 to the last, as dense as a logarithmic axis can show.

    >>> thinned(4)
    [1, 2, 3, 4]
    """
    steps = int(math.log10(max(last, 1)) * POINTS_PER_DECADE) + 1
    sizes = {round(10 ** (step / POINTS_PER_DECADE)) for step in range(steps)}
    return sorted({size for size in sizes if 1 <= size <= last} | {last})


def band_note(subject: Measured, band: Band | str) -> str:
    """A note on the band, or why there is none."""
    name = isolated(subject.name)
    if isinstance(band, str):
        return f"Nothing is proved about {name}: {escape(band)}."
    tokens, least = subject.curve[-1], band.least_tokens[-1]
    excess = tokens / least - 1 if least else 0.0
    if excess <= 0:
        note = f"With all its merges, {name} makes as few tokens as possible: proved."
    else:
        note = (
            f"With all its merges, {name} makes at most {percent(excess)} more tokens than the "
            f"best possible: proved, and not yet proved closer than that."
        )
    if band.share < 1:
        note += (
            f" Searched were proofs for the {band.num_words:,} most frequent words, "
            f"{percent(band.share, 0)} of the corpus; the others are bounded roughly, so the band "
            "is wider than it need be."
        )
    return note


def curve_rows(subjects: Sequence[Measured], bands: Sequence[Band | str]) -> list[list[str]]:
    """Some places of the curves, in numbers."""
    longest = max(len(subject.tokenizer.merges) for subject in subjects)
    sizes = [2**power for power in range(4, longest.bit_length())]
    ends = {len(subject.tokenizer.merges) for subject in subjects}
    rows = []
    for size in sorted({0, *sizes, *ends}):
        row = [f"{size:,}"]
        for subject, band in zip(subjects, bands, strict=True):
            row += curve_cells(subject, band, size)
        rows.append(row)
    return rows


def curve_cells(subject: Measured, band: Band | str, size: int) -> list[str]:
    """One place of one curve."""
    if subject.no_curve is not None or size >= len(subject.curve):
        return ["–", "–", "–"]
    tokens = subject.curve[size]
    least = "–"
    if isinstance(band, Band):
        proved = [t for s, t in zip(band.sizes, band.least_tokens, strict=True) if s >= size]
        least = f"{proved[0]:,}" if proved and size else "–"
    return [f"{tokens:,}", f"{subject.total.num_bytes / max(tokens, 1):.3f}", least]
