"""Theorem 3.10: greedy attains (1 - e^-σ)/σ of the optimum; tried on all strings, and drawn."""

import math
from collections.abc import Iterator

from claims import Claim, Options, state
from figures import BLACK, BLUE, GREEN, GREY, ORANGE, RED, canvas, save

import mergewise as mw
from mergewise import formal
from mergewise.optimize.enumerating import enumerate_curvature
from mergewise.optimize.worst_cases import family_of_unique_optima

PLACE = "Theorem 3.10"
# σ and what the paper makes of it.
PUBLISHED = {"σ̂, all strings": (2.5, 0.37), "σ̂, English": (2.0, 0.43), "σ̂'": (1.5, 0.52)}


def measured(length: int) -> list[mw.Curvature]:
    """All strings of up to that many symbols and 3 letters, with 1 to 4 merges."""
    return [
        mw.curvature(text, num_merges=num_merges)
        for size in range(2, length + 1)
        for text in formal.strings_up_to_renaming(size, 3)
        for num_merges in range(1, 5)
    ]


def claims(options: Options) -> Iterator[Claim]:
    """The theorem, its proof where σ > M, the numbers made of it, and that it is no constant."""
    for name, (sigma, published) in PUBLISHED.items():
        value = formal.guarantee(sigma)
        yield Claim(
            "Section 3.3",
            f"the guarantee for {name} = {sigma}",
            f"{published}",
            f"{value:.3f}",
            round(value, 2) == published,
        )
    family = [sigma_of_family(num_merges) for num_merges in range(2, 10)]
    yield Claim(
        "Section 3.3",
        "the bound is constant: σ of abAabcBabcC, abAabcBabcdCabcdD, ..., where one sequence alone "
        "is optimal, for M = 2 to 9",
        "bounded",
        f"at least {', '.join(map(str, family))}; the bound falls to "
        f"{formal.guarantee(family[-1]):.3f}",
        len(set(family)) == 1,
    )
    length = 9 if options.full else 8
    strings = measured(length)
    broken = [c for c in strings if c.ratio_worst_ties < formal.guarantee(c.sigma_min)]
    yield Claim(
        PLACE,
        "κ(greedy)/κ(optimum) ≥ (1 - e^-σ)/σ",
        "always",
        f"{len(broken):,} of {len(strings):,} strings and M violate it (n ≤ {length}, 3 letters, "
        "M ≤ 4)",
        not broken,
    )
    # With one merge there is no recursion, and the factor does not matter.
    several = [c for c in strings if c.num_merges > 1]
    large = [c for c in several if c.sigma_min > c.num_merges]
    first = min(large, key=lambda c: (len(c.text), c.num_merges))
    yield Claim(
        PLACE,
        "its proof: 1 - σ/M is not negative (M ≥ 2)",
        "always",
        f"negative in {len(large):,} of {len(several):,}; first {first.text}, M = "
        f"{first.num_merges}, σ = {first.sigma_min}",
        not large,
    )
    short = [c for c in strings if c.ratio_worst_ties < -math.expm1(-c.sigma_min)]
    yield Claim(
        "Conclusion",
        "κ(greedy)/κ(optimum) ≥ 1 - e^-σ, without the factor 1/σ",
        "always",
        f"{len(short):,} of {len(strings):,} violate it; first {short[0].text}, M = "
        f"{short[0].num_merges}"
        if short
        else f"0 of {len(strings):,} violate it",
        not short,
    )
    if options.figures:
        draw(options)


def sigma_of_family(num_merges: int) -> int:
    """σ that one prefix shows on a text with one optimal sequence: there is no other σ to take."""
    case = family_of_unique_optima(num_merges)
    best, prefix = formal.utility(case.optimal, case.text), formal.utility(case.prefix, case.text)
    joined = formal.utility([*case.prefix, *case.optimal], case.text)
    return 1 - (joined - best) // prefix


def draw(options: Options) -> None:
    """The guarantee against σ, where the paper and we stand on it, and what greedy attains."""
    figure, axes = canvas(7.2, 4.2)
    grid = [1 + index / 50 for index in range(401)]
    axes.plot(grid, [formal.guarantee(sigma) for sigma in grid], color=BLACK)
    axes.text(3.6, 0.2, "(1 − e$^{-σ}$)/σ", ha="right")

    def mark(sigma: float, marker: str, colour: str, words: str, shift: tuple[int, int]) -> None:
        axes.plot(sigma, formal.guarantee(sigma), marker, color=colour, ms=7)
        where = sigma, formal.guarantee(sigma)
        axes.annotate(words, where, shift, textcoords="offset points", color=colour, va="center")

    for name, (sigma, _) in PUBLISHED.items():
        mark(sigma, "o", BLUE, f"paper: {name} = {sigma:g}", (9, 7))
    found = enumerate_curvature(12, num_letters=5, num_merges=4)
    for num_merges, shift in ((2, (9, 6)), (3, (2, 14)), (4, (-2, -16))):
        sigma = float(found.extremes(num_merges=num_merges)["sigma_min"].value)
        mark(sigma, "s", RED, f"as defined, M = {num_merges}", shift)
    for num_merges, words in ((7, ""), (8, "one optimum, M = 7, 8, 9:\nno constant"), (9, "")):
        mark(sigma_of_family(num_merges), "^", ORANGE, words, (-50, 36))
    worst = formal.guarantee(2)
    axes.axhline(worst, color=GREEN, ls="--")
    words = f"the worst that greedy is known to do: {worst:.4f}"
    axes.text(9, worst + 0.015, words, color=GREEN, ha="right")
    axes.axhline(1, color=GREY, lw=0.8)
    axes.text(9, 1.015, "the optimum", color=GREY, ha="right")
    axes.set(xlabel="total backward curvature σ", ylabel="part of the optimum", ylim=(0, 1.08))
    save(figure, "guarantee", options)


if __name__ == "__main__":
    state(claims)
