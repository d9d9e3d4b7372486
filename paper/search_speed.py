"""Figure 3: how much faster than unpruned search Algorithm 3 is, with branch and bound beside it.

The image is not part of the paper's source. Its caption speaks of 2 sentences of 64 characters; the
authors' script joins two lines cut to 64. Both readings are measured: 64 characters in all, and
129. All searches run in Rust on one thread, Algorithm 3 with its guard corrected.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product

from claims import Claim, Options, state
from english import sentences
from figures import BLUE, GREEN, GREY, RED, canvas, name_lines, save

import mergewise as mw
from mergewise.optimize.solving import Method

NUM_STRINGS = 5
METHODS: dict[Method, tuple[str, str]] = {
    "brute-force": ("unpruned", RED),
    "guarded": ("Algorithm 3", BLUE),
    "branch-and-bound": ("branch and bound", GREEN),
}
SIZES = (64, 129)
# How many strings, where not all: each merge more costs about thirty times as much.
QUICK = {
    ("brute-force", 64, 5): 1,
    ("brute-force", 129, 4): 1,
    ("brute-force", 129, 5): 0,
    ("guarded", 129, 5): 0,
}
FULL = {("brute-force", 129, 5): 0}


@dataclass(frozen=True)
class Cost:
    """What the search of each string took."""

    seconds: list[float]
    nodes: list[int]
    utilities: list[int]


Costs = dict[tuple[str, int, int], Cost]


def average(values: Sequence[float]) -> float:
    """The mean."""
    return sum(values) / len(values)


def times(larger: Sequence[float], smaller: Sequence[float]) -> float:
    """The ratio of the averages over the strings that both have."""
    both = list(zip(larger, smaller, strict=False))
    return sum(one for one, _ in both) / sum(other for _, other in both)


def strings(size: int) -> list[str]:
    """Two sentences each, so long with the space between; the fewest different pairs first."""
    parts = sentences(2 * NUM_STRINGS)
    half = (size - 1) // 2
    joined = [
        f"{one[: size - 1 - half]} {other[:half]}"
        for one, other in zip(parts[::2], parts[1::2], strict=True)
    ]
    return sorted(joined, key=lambda text: len(set(pairwise(text))))


def solved(method: Method, text: str, num_merges: int) -> tuple[float, int, int]:
    """The CPU seconds, the nodes and the utility of one search."""
    started = time.process_time()
    found = mw.solve(text, num_merges=num_merges, method=method, num_threads=1)
    if found.status != "optimal":
        raise KeyboardInterrupt
    return time.process_time() - started, found.nodes, found.utility


def measured(numbers: dict[tuple[str, int, int], int]) -> Costs:
    """The cost of each method, size and number of merges; methods must agree."""
    costs: Costs = {}
    with ProcessPoolExecutor(NUM_STRINGS) as pool:
        searches = {}
        for num_merges, size, method in product(range(5, 0, -1), SIZES, METHODS):
            texts = strings(size)[: numbers.get((method, size, num_merges), NUM_STRINGS)]
            searches[method, size, num_merges] = [
                pool.submit(solved, method, text, num_merges) for text in texts
            ]
        for case, started in searches.items():
            done = [search.result() for search in started]
            if done:
                costs[case] = Cost(*map(list, zip(*done, strict=True)))
    for (name, size, num_merges), cost in costs.items():
        best = costs["branch-and-bound", size, num_merges].utilities
        if cost.utilities != best[: len(cost.utilities)]:
            raise RuntimeError(f"{name} and branch and bound disagree: {size}, {num_merges}")
    return costs


def claims(options: Options) -> Iterator[Claim]:
    """The speed-up for each number of merges."""
    costs = measured(FULL if options.full else QUICK)
    for size, num_merges in product(SIZES, range(1, 6)):
        brute = costs.get(("brute-force", size, num_merges))
        guarded = costs.get(("guarded", size, num_merges))
        bounded = costs["branch-and-bound", size, num_merges]
        is_faster = None
        found = f"unpruned search not run; branch and bound {average(bounded.seconds):.4f} s"
        if brute and guarded:
            ratio = times(brute.nodes, guarded.nodes)
            is_faster = ratio > 1 if num_merges > 1 else None
            found = (
                f"{times(brute.seconds, guarded.seconds):.1f} times ({ratio:.1f} in nodes); branch "
                f"and bound {times(brute.seconds, bounded.seconds):,.0f} times; unpruned "
                f"{average(brute.seconds):.4g} s (strings: {len(brute.seconds)})"
            )
        yield Claim(
            "Figure 3",
            f"Algorithm 3 is faster than unpruned search ({size} characters, M = {num_merges})",
            "above 1 (image missing)",
            found,
            is_faster,
        )
    if options.figures:
        draw(costs, options)


def draw(costs: Costs, options: Options) -> None:
    """Left the cost of each search, right the speed-up."""
    figure, panels = canvas(10, 4.2, 2)
    for axes, is_ratio in zip(panels, (False, True), strict=True):
        lines = {}
        for size, style in reversed([*zip(SIZES, ("-o", "--s"), strict=True)]):
            for method, (name, colour) in METHODS.items():
                points = curve(costs, method, size, is_ratio=is_ratio)
                (lines[name],) = axes.plot(list(points), list(points.values()), style, color=colour)
            axes.plot([], [], style, color=GREY, label=f"{size} characters")
        axes.set(yscale="log", xlim=(0.8, 6.9), xlabel="merges M")
        axes.set_xticks(range(1, 6))
        name_lines(axes, lines)
    panels[0].legend(loc="upper left")
    panels[0].set_ylabel("CPU seconds for a string")
    panels[1].set_ylabel("times faster than unpruned search")
    save(figure, "search_speed", options)


def curve(costs: Costs, method: str, size: int, *, is_ratio: bool) -> dict[int, float]:
    """By the number of merges: the seconds of a method, or how much faster than unpruned it is."""
    points = {m: costs[method, size, m] for m in range(1, 6) if (method, size, m) in costs}
    if not is_ratio:
        return {m: average(cost.seconds) for m, cost in points.items()}
    brute = {m: costs["brute-force", size, m] for m in points if ("brute-force", size, m) in costs}
    return {m: times(cost.seconds, points[m].seconds) for m, cost in brute.items()}


if __name__ == "__main__":
    state(claims)
