"""Figure 2: one step of Algorithm 2 on Example 1: the linked list, and the queue of pairs.

The image is not part of the paper's source; this draws what its caption describes.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from claims import Claim, Options, state
from figures import BLACK, GREEN, GREY, RED, canvas, save

from mergewise import formal

# matplotlib's, which has no types here.
Axes: TypeAlias = Any

TEXT = "picked pickled pickles"
PI, CK = ("p", "i"), ("c", "k")
MERGES: tuple[formal.Merge, ...] = (PI, CK, (PI, CK))
QUEUE = 7


def claims(options: Options) -> Iterator[Claim]:
    """Each merge changes the counts of few pairs; all others stay as they are."""
    steps = [formal.apply(MERGES[:number], TEXT) for number in range(len(MERGES))]
    for number, merge in enumerate(MERGES):
        before, after = (
            formal.pair_counts(steps[number]),
            formal.pair_counts(formal.apply_one(merge, steps[number])),
        )
        changed = [pair for pair in before if before[pair] != after[pair]]
        made = [pair for pair in after if pair not in before]
        beside = {pair for pair in changed if not set(pair) & set(merge)}
        yield Claim(
            "Figure 2",
            f"merge {number + 1}, [{'+'.join(map(formal.yield_of, merge))}]: only pairs beside it "
            "change",
            "only those",
            f"{len(changed)} of {len(before)} counts change, {len(made)} pairs are new, "
            f"{len(beside)} elsewhere",
            not beside and all(merge in pair for pair in made),
        )
    if options.figures:
        draw(steps, options)


def draw(steps: list[formal.Tokens], options: Options) -> None:
    """A row for each step: the tokens in boxes, the most frequent pairs beneath."""
    figure, axes = canvas(9.5, 4.6)
    for row, tokens in enumerate(steps):
        top = -2.6 * row
        draw_list(axes, top, tokens, MERGES[row], set(MERGES[row - 1 : row]))
        draw_queue(axes, top - 1, tokens, MERGES[row], set(MERGES[row - 1 : row]))
        axes.text(-0.4, top, f"step {row + 1}", ha="right", va="center", color=GREY)
        axes.text(-0.4, top - 1, "queue", ha="right", va="center", color=GREY)
    axes.set(xlim=(-3, len(TEXT) + 0.2), ylim=(-6.9, 0.7))
    axes.axis("off")
    legend = ((RED, "merged in this step"), (GREEN, "made by the last step"))
    for index, (colour, words) in enumerate(legend):
        axes.text(8 * index, -6.8, f"■ {words}", color=colour, va="center", fontsize=10)
    save(figure, "linked_list", options)


def draw_list(
    axes: Axes, top: float, tokens: formal.Tokens, merge: formal.Merge, new: set[formal.Merge]
) -> None:
    """The tokens, linked; those that are about to be merged in red, new ones in green."""
    start = 0
    previous = None
    goes = [
        tokens[i : i + 2] == merge or tokens[i - 1 : i + 1] == merge for i in range(len(tokens))
    ]
    for token, is_merged in zip(tokens, goes, strict=True):
        string = formal.yield_of(token)
        middle = start + len(string) / 2
        colour = RED if is_merged else GREEN if token in new else BLACK
        box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": colour}
        shown = string.replace(" ", "␣")
        axes.text(middle, top, shown, ha="center", va="center", color=colour, bbox=box, zorder=2)
        if previous is not None:
            axes.plot([previous, middle], [top, top], color=GREY, lw=1, zorder=1)
        previous, start = middle, start + len(string)


def draw_queue(
    axes: Axes, top: float, tokens: formal.Tokens, merge: formal.Merge, new: set[formal.Merge]
) -> None:
    """The most frequent pairs, the one that is chosen first, with their counts."""
    counts = formal.pair_counts(tokens)
    ranked = sorted(counts, key=lambda pair: (-counts[pair], pair != merge))
    for index, pair in enumerate(ranked[:QUEUE]):
        colour = RED if pair == merge else GREEN if new & set(pair) else BLACK
        words = "+".join(formal.yield_of(part).replace(" ", "␣") for part in pair)
        box = {"boxstyle": "square,pad=0.25", "facecolor": "white", "edgecolor": colour, "ls": "--"}
        place = 1.2 + 2.9 * index
        axes.text(
            place, top, f"{words}: {counts[pair]}", ha="center", va="center", color=colour, bbox=box
        )
    rest = len(ranked) - QUEUE
    axes.text(1.2 + 2.9 * QUEUE, top, f"+ {rest}", ha="center", va="center", color=GREY)


if __name__ == "__main__":
    state(claims)
