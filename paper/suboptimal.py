"""Example 2: greedy against the optimum on abaabbaa, and the shortest strings where it loses."""

from collections.abc import Iterator

from claims import Claim, Options, state

import mergewise as mw
from mergewise import formal
from mergewise.optimize.enumerating import enumerate_curvature

PLACE = "Example 2"
TEXT = "abaabbaa"
AB, BA = ("a", "b"), ("b", "a")
GREEDY: formal.Merges = (AB, (AB, "a"))
OPTIMAL: formal.Merges = (BA, (BA, "a"))


def claims(_options: Options) -> Iterator[Claim]:
    """What is printed, and what ties have to do with it."""
    subwords = [len(formal.apply(merges, TEXT)) for merges in (GREEDY, OPTIMAL)]
    best = mw.solve(TEXT, num_merges=2)
    is_right = formal.is_greedy(GREEDY, TEXT) and len(TEXT) - subwords[1] == best.bound
    yield Claim(
        PLACE,
        f"{TEXT}, 2 merges: greedy is suboptimal; subwords of greedy and of the optimum",
        "5, 4",
        f"{subwords[0]}, {subwords[1]} (proved by solve)",
        is_right and subwords == [5, 4],
    )
    count = formal.pair_counts(formal.apply(OPTIMAL[:1], TEXT))[AB]
    yield Claim(PLACE, "the last row: count of ab after [b,a]", "2", str(count), count == 2)
    saved = sorted({formal.utility(m, TEXT) for m in formal.greedy_sequences(TEXT, 2)})
    yield Claim(
        PLACE,
        "greedy is suboptimal however ties are broken",
        "not said",
        f"no: greedy saves {saved[0]} or {saved[-1]}, the optimum is {best.utility}",
        None,
    )
    everything = enumerate_curvature(10, num_letters=5, num_merges=4, columns="ratio")
    for num_merges in (2, 3, 4):
        found = [everything.extremes(num_merges=num_merges, length=n) for n in range(7, 11)]
        worst = next(
            extremes["ratio_best_ties"]
            for extremes in found
            if extremes["ratio_best_ties"].value < 1
        )
        yield Claim(
            PLACE,
            f"the shortest string on which every greedy sequence of {num_merges} merges loses",
            "not given",
            f"{worst.witness} ({len(worst.witness)} symbols; {worst.value} of the optimum)",
            None,
        )


if __name__ == "__main__":
    state(claims)
