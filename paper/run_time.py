"""The cost of greedy training against the number of lines and of merges, beside its peers.

The paper states O(N M) for slow greedy, O(N log M) for fast greedy, and O(N log N) for
SentencePiece; its source has no figures of time. Every engine makes the same number of merges from
the same lines, one thread, in CPU seconds, and drops out once a run takes too long. Algorithms 1
and 2 are `formal.greedy` and `formal.fast_greedy`; mergewise must return their merges, the peers
have rules of their own.
"""

import math
import os
from collections.abc import Iterator

from claims import Claim, Options, state
from engines import ENGINES, Corpus, cost
from english import lines
from figures import canvas, save

NUM_MERGES = 100
NUM_LINES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
SOME_LINES = 1_000
MERGES = (10, 30, 100, 300, 1_000)

Costs = dict[str, dict[int, float]]


def measured(corpora: dict[int, tuple[Corpus, int]], patience: float) -> Costs:
    """CPU seconds of each engine for each corpus and number of merges, while it is quick enough."""
    costs: Costs = {name: {} for name in ENGINES}
    for number, (corpus, num_merges) in corpora.items():
        answers = {}
        for name, engine in ENGINES.items():
            if max(costs[name].values(), default=0) <= patience and engine.takes(corpus):
                costs[name][number], answers[name] = cost(engine, corpus, num_merges)
        ours = {tuple(answers[name]) for name in answers if ENGINES[name].is_exact}
        if len(ours) > 1:
            raise RuntimeError(f"Algorithms 1, 2 and mergewise disagree on {number}")
        wrong = [name for name in answers if len(answers[name]) != num_merges]
        if wrong:
            raise RuntimeError(f"not {num_merges} merges: {', '.join(wrong)}")
    return costs


def claims(options: Options) -> Iterator[Claim]:
    """Which is faster, by how much, and how the cost grows with the merges."""
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
    patience = 100 if options.full else 5
    text, origin = lines(options, NUM_LINES[-1])
    sizes = [number for number in NUM_LINES if number <= len(text)]
    for engine in ENGINES.values():  # so that no import is timed
        engine.train(Corpus(text[: sizes[0]], is_split=True), MERGES[0])
    by_lines = {
        split: measured(
            {number: (Corpus(text[:number], is_split=split), NUM_MERGES) for number in sizes},
            patience,
        )
        for split in (False, True)
    }
    for split, costs in by_lines.items():
        words = "with word splitting" if split else "without word splitting"
        scope = f"{words}, {NUM_MERGES} merges, {origin}"
        slow, fast = costs["Algorithm 1"], costs["Algorithm 2"]
        number = max(set(slow) & set(fast))
        yield Claim(
            "Section 4",
            f"Algorithm 2 is faster than Algorithm 1 ({scope}, {number:,} lines)",
            "faster",
            f"{slow[number]:.2f} s and {fast[number]:.2f} s, a factor of "
            f"{slow[number] / fast[number]:.1f}",
            fast[number] < slow[number],
        )
        most = max(costs["mergewise"])
        peers = [
            f"{name} {costs[name][most]:.2f} s"
            for name in costs
            if most in costs[name] and name != "mergewise"
        ]
        yield Claim(
            "Section 4",
            f"the others ({scope}, {most:,} lines)",
            "not given",
            f"mergewise {costs['mergewise'][most]:.2f} s" + "".join(f", {peer}" for peer in peers),
            None,
        )
    corpus = Corpus(text[:SOME_LINES], is_split=False)
    by_merges = measured({m: (corpus, m) for m in MERGES}, patience)
    for name in ("Algorithm 1", "Algorithm 2"):
        times = by_merges[name]
        last = max(times)
        growth = times[last] / times[MERGES[0]]
        linear, logarithmic = last / MERGES[0], math.log(last) / math.log(MERGES[0])
        is_linear = growth > math.sqrt(linear * logarithmic)
        yield Claim(
            "Theorem 4.2",
            f"how the cost of {name} grows from {MERGES[0]} to {last:,} merges ({SOME_LINES:,} "
            f"lines of {origin})",
            f"as M, {linear:.0f} times"
            if name == "Algorithm 1"
            else f"as log M, {logarithmic:.1f} times",
            f"{growth:.1f} times: nearer to {'M' if is_linear else 'log M'}",
            is_linear == (name == "Algorithm 1"),
        )
    if options.figures:
        draw(by_lines, by_merges, origin, options)


def draw(by_lines: dict[bool, Costs], by_merges: Costs, origin: str, options: Options) -> None:
    """Three panels: lines without and with word splitting, and merges."""
    figure, panels = canvas(12, 4.4, 3)
    contents = (
        (by_lines[False], f"without word splitting, {NUM_MERGES} merges", f"lines of {origin}"),
        (by_lines[True], f"with word splitting, {NUM_MERGES} merges", f"lines of {origin}"),
        (by_merges, f"without word splitting, {SOME_LINES:,} lines", "merges"),
    )
    for axes, (costs, title, label) in zip(panels, contents, strict=True):
        for name, times in costs.items():
            engine = ENGINES[name]
            if times:
                axes.plot(
                    list(times), list(times.values()), engine.marker, color=engine.colour,
                    label=name,
                )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.set_title(title, fontsize=10)
    low = min(axes.get_ylim()[0] for axes in panels)
    high = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(low, high)
        axes.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel("CPU seconds")
    handles, names = panels[1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    save(figure, "run_time", options)


if __name__ == "__main__":
    state(claims)
