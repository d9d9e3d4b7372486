"""Section 3.3: the largest curvatures over all strings, as published, as computed, as defined.

The quick size goes through all strings of up to 12 symbols and 5 letters, the full one to 15 as the
paper says: 63 CPU minutes.
"""

from collections.abc import Iterator
from fractions import Fraction

from claims import Claim, Options, state
from figures import BLUE, GREEN, GREY, RED, canvas, name_lines, save

from mergewise import formal
from mergewise.formal import as_published
from mergewise.optimize.enumerating import Enumeration, Extreme, enumerate_curvature

PLACE = "Section 3.3"
# Strings of 15 symbols, which the quick size does not reach, with the number of merges.
LONG_SIGMA, LONG_SIGMA_GREEDY = ("aabcaabccaabcbc", 3), ("abaacaaacaaacab", 3)
COLUMNS = {
    "σ": (Fraction(5, 2), "sigma_published", {
        "as defined, for the best optimal sequence": "sigma_min",
        "as defined, for the worst optimal sequence": "sigma_max",
    }),
    "σ'": (Fraction(3, 2), "sigma_greedy_published", {
        "as defined, the last greedy prefix": "sigma_greedy",
        "over every greedy prefix, as the proof needs": "sigma_greedy_all",
    }),
}  # fmt: skip


def claims(options: Options) -> Iterator[Claim]:
    """The two constants in their readings, and what the authors' procedure gives beyond them."""
    found = enumerate_curvature(15 if options.full else 12, num_letters=5, num_merges=4)
    scope = f"n ≤ {found.length}, 5 letters, M ≤ 4"
    for symbol, (published, computed, defined) in COLUMNS.items():
        readings = {"as the authors compute it": computed, **defined}
        for reading, column in readings.items():
            worst, num_merges = largest(found, column)
            yield Claim(
                PLACE,
                f"the largest {symbol}, {reading} ({scope})",
                f"{float(published):g}",
                f"{shown(worst.value)} ({worst.witness}, M = {num_merges}); guarantee "
                f"{formal.guarantee(worst.value):.3f}",
                worst.value == published,
            )
    for symbol, (text, num_merges), value in (
        ("σ", LONG_SIGMA, as_published.sigma(*LONG_SIGMA)),
        ("σ'", LONG_SIGMA_GREEDY, as_published.sigma_greedy(*LONG_SIGMA_GREEDY)),
    ):
        published = COLUMNS[symbol][0]
        yield Claim(
            PLACE,
            f"{symbol} as the authors compute it, on {text}, M = {num_merges}",
            f"at most {float(published):g}",
            shown(value),
            value <= published,
        )
    if options.figures:
        draw(found, options)


def largest(found: Enumeration, column: str) -> tuple[Extreme, int]:
    """The largest value over all numbers of merges, and that number."""
    values = [(found.extremes(num_merges=m)[column], m) for m in range(1, 5)]
    return max(values, key=lambda pair: pair[0].value)


def shown(value: Fraction) -> str:
    """A fraction, and as a decimal where it is not a short one."""
    return (
        f"{float(value):g}"
        if value.denominator in {1, 2, 4, 5}
        else f"{value} = {float(value):.3f}"
    )


def draw(found: Enumeration, options: Options) -> None:
    """Maxima against the length of the strings."""
    figure, both = canvas(10, 4, 2)
    lengths = range(4, found.length + 1)
    named = {}
    colours = dict(zip((2, 3, 4), (GREEN, BLUE, RED), strict=True))
    for axes, (symbol, (published, computed, defined)) in zip(both, COLUMNS.items(), strict=True):
        column = next(iter(defined.values()))
        solid = {}
        for num_merges, colour in colours.items():
            for name, style in ((column, "-o"), (computed, "--")):
                values = [
                    found.extremes(num_merges=num_merges, length=n)[name].value for n in lengths
                ]
                (line,) = axes.plot(lengths, list(map(float, values)), style, color=colour)
                if name == column:
                    solid[f"M = {num_merges}"] = line
        axes.axhline(float(published), color=GREY, ls=":")
        axes.text(4, float(published) + 0.02 * axes.get_ylim()[1], f"published: {float(published)}",
                  color=GREY)  # fmt: skip
        axes.set(xlabel="length of the strings, at most", ylabel=f"largest {symbol}")
        axes.set_xlim(3.8, found.length + 1.2)
        axes.set_xticks(lengths)
        named[axes] = solid
    if found.length < 15:
        words = "dashed: 1.5 for every M (11/7 at length 15)"
        both[1].text(found.length, 1.2, words, ha="right", color=GREY, fontsize=9)
    both[0].plot([], [], "-o", color=GREY, label="as defined (best optimal sequence)")
    both[1].plot([], [], "-o", color=GREY, label="as defined (last greedy prefix)")
    for axes in both:
        axes.plot([], [], "--", color=GREY, label="as the authors compute it")
        axes.legend(loc="upper left")
        axes.set_ylim(0.8, axes.get_ylim()[1] * 1.3)
        name_lines(axes, named[axes])
    save(figure, "curvature_strings", options)


if __name__ == "__main__":
    state(claims)
