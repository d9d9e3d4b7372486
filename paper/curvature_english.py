"""Section 3.3: the curvature of English, as published, as the authors compute it, as defined.

The paper does not say which texts; the authors' scripts take whole lines of CommonCrawl. Here: the
first 64 characters of sentences of Newton's Opticks, for which every sequence can be searched.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from claims import Claim, Options, state
from curvature_strings import shown
from english import sentences
from figures import BLUE, GREEN, GREY, RED, SKY, canvas, save

import mergewise as mw
from mergewise import formal

PLACE = "Section 3.3"
PUBLISHED = 2
SECONDS = 60
READINGS = {
    "σ as the authors compute it": "sigma_published",
    "σ as defined, for the best optimal sequence": "sigma_min",
    "σ as defined, for the worst optimal sequence": "sigma_max",
    "σ' as the authors compute it": "sigma_greedy_published",
    "σ' as defined": "sigma_greedy",
}


def measured(number: int, most_merges: int) -> list[mw.Curvature]:
    """All sentences with every number of merges, but for those with four that take too long."""
    found = []
    for num_merges in range(1, most_merges + 1):
        for text in sentences(number):
            limit = SECONDS if num_merges > 3 else None
            with contextlib.suppress(TimeoutError):
                found.append(mw.curvature(text, num_merges=num_merges, time_limit=limit))
    return found


def claims(options: Options) -> Iterator[Claim]:
    """The largest values in their readings."""
    number, most_merges = (100, 4) if options.full else (50, 3)
    found = measured(number, most_merges)
    finished = min(Counter(curvature.num_merges for curvature in found).values())
    scope = f"{number} sentences of 64 characters, M ≤ {most_merges}"
    if finished < number:
        scope += f", of M = {most_merges} those {finished} that finish in {SECONDS} s"
    for reading, column in READINGS.items():
        values: list[Fraction] = [getattr(curvature, column) for curvature in found]
        largest = max(values)
        is_sigma = reading.startswith("σ ")
        yield Claim(
            PLACE,
            f"the largest {reading}, on English ({scope})",
            "2 (guarantee 0.43)" if is_sigma else "not given for English",
            f"{shown(largest)} (guarantee {formal.guarantee(largest):.2f})",
            largest == PUBLISHED if is_sigma else None,
        )
    if options.figures:
        draw(found, most_merges, options)


def draw(found: list[mw.Curvature], most_merges: int, options: Options) -> None:
    """How the values are spread, for each number of merges."""
    figure, axes = canvas(7.2, 3.8)
    colours = (BLUE, GREEN, RED, SKY)
    columns = list(READINGS.items())[:3]
    for index, ((reading, column), colour) in enumerate(zip(columns, colours, strict=False)):
        for num_merges in range(1, most_merges + 1):
            values = [float(getattr(c, column)) for c in found if c.num_merges == num_merges]
            place = num_merges + 0.25 * (index - 1)
            for value in sorted(set(values)):
                share = values.count(value) / len(values)
                axes.plot([place - 0.11 * share**0.5, place + 0.11 * share**0.5], [value, value],
                          color=colour, lw=4, solid_capstyle="butt")  # fmt: skip
        axes.plot([], [], color=colour, lw=4, label=reading)
    axes.axhline(PUBLISHED, color=GREY, ls=":")
    axes.text(0.55, PUBLISHED + 0.04, "published: 2.0", color=GREY)
    axes.set_xticks(range(1, most_merges + 1))
    axes.set(xlabel="merges M", ylabel="σ (wider: more sentences)")
    axes.set_xlim(0.5, most_merges + 0.5)
    axes.set_ylim(0.9, axes.get_ylim()[1] * 1.25)
    axes.legend(loc="upper left")
    save(figure, "curvature_english", options)


if __name__ == "__main__":
    state(claims)
