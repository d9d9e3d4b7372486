"""How bad greedy can be: a family of words, small ones for each M, and what is proved."""

from collections.abc import Iterator
from fractions import Fraction

from claims import Claim, Options, state
from figures import BLACK, BLUE, GREEN, GREY, RED, canvas, save
from worst_lists import Instance, kept

import mergewise as mw
from mergewise import _core, formal
from mergewise.optimize import train_on_worst_case

PLACE = "Kozma and Voderholzer"
PUBLISHED = "0.333 to 0.625"
LOWEST, HIGHEST = Fraction(1, 3), Fraction(5, 8)
WORST = "the worst-case factor of greedy"
SHORT = ("acad", "acddac", "adad", "bda", "ddacdd", "ddbd")
SHORT_GREEDY: formal.Merges = (("d", "a"), ("c", "d"), ("d", "b"), ("a", "d"))
SIZES = (8, 12, 16, 24, 32)


def is_optimal(instance: Instance) -> bool:
    """Whether exact search proves that no list of as many merges saves more than the rival."""
    words = _core.WordCounts(list(instance.words.items()), pattern="whitespace")
    num_merges = len(instance.lists.rival)
    best = mw.solve(mw.WordCounts(words), num_merges=num_merges, alphabet="chars", time_limit=60)
    return best.bound == formal.utility(instance.lists.rival, instance.words)


def claims(options: Options) -> Iterator[Claim]:
    """The short text, small instances, and the family: the interval holds, and is narrower."""
    text = formal.one_text(dict.fromkeys(SHORT, 1))
    best = mw.solve(text, num_merges=4).bound
    ratio = Fraction(formal.utility(SHORT_GREEDY, text), best)
    yield Claim(
        PLACE,
        f"{WORST}: at most, by {', '.join(SHORT)} as one text of {len(text)} symbols, M = 4, ties "
        "broken badly",
        PUBLISHED,
        f"{ratio} = {float(ratio):.4f} (optimum proved by solve)",
        formal.is_greedy(SHORT_GREEDY, text) and LOWEST <= ratio <= HIGHEST,
    )
    found = kept()
    cases = {number: case for number, case in found.items() if number <= 16 or options.full}
    yield Claim(
        PLACE,
        f"{WORST}: at most, by words found for " + ", ".join(f"M = {m}" for m in cases),
        PUBLISHED,
        ", ".join(f"{float(case.ratio):.4f}" for case in cases.values()) + " (proved by solve)",
        all(
            case.is_greedy() and is_optimal(case) and case.ratio > LOWEST for case in cases.values()
        ),
    )
    sizes = (*SIZES, 64) if options.full else SIZES
    ratios = {size**2: float(train_on_worst_case(size**2).ratio) for size in sizes}
    yield Claim(
        PLACE,
        f"{WORST}: at most, by training on the family, " + ", ".join(f"M = {m:,}" for m in ratios),
        PUBLISHED,
        ", ".join(f"{ratio:.4f}" for ratio in ratios.values())
        + f"; the limit is {formal.guarantee(2):.4f}",
        all(LOWEST <= ratio <= HIGHEST for ratio in ratios.values()),
    )
    yield Claim(
        PLACE,
        f"{WORST}: at least, by Theorem 3 of docs/theory/worst_case.md",
        PUBLISHED,
        f"{formal.GREEDY_ATTAINS:.6f}",
        LOWEST <= formal.GREEDY_ATTAINS <= HIGHEST,
    )
    if options.figures:
        draw(options, found, ratios)


def draw(options: Options, found: dict[int, Instance], family: dict[int, float]) -> None:
    """The part that greedy attains against M: found, and proved."""
    figure, axes = canvas(7.2, 4.4)
    numbers = [2**exponent for exponent in range(1, 13)]
    flat = [float(formal.flat_guarantee(number)) for number in numbers]
    axes.plot(list(found), [float(case.ratio) for case in found.values()], "o", color=BLUE)
    axes.plot(list(family), list(family.values()), "s", color=RED)
    axes.plot(numbers, flat, color=BLACK)
    axes.axhline(float(HIGHEST), color=GREY, ls="--")
    axes.axhline(formal.GREEDY_ATTAINS, color=GREEN)
    axes.axhline(float(LOWEST), color=GREY, ls="--")
    words = (
        (3.2, 0.72, "smallest found, by linear programming", BLUE),
        (100, 0.465, "the family", RED),
        (4, 0.405, "proved, for rivals that merge single symbols", BLACK),
        (300, 0.633, "5/8, published", GREY),
        (150, 0.365, "proved, for all rivals: 0.3577", GREEN),
        (300, 0.312, "1/3, published", GREY),
    )
    for across, up, name, colour in words:
        axes.text(across, up, name, color=colour)
    axes.set(xscale="log", xlabel="merges M", ylabel="greedy / optimum", ylim=(0.28, 0.8))
    axes.set_xticks([2, 10, 100, 1000], ["2", "10", "100", "1,000"])
    save(figure, "worst_case", options)


if __name__ == "__main__":
    state(claims)
