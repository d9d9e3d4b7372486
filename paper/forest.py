"""Figure 1: four merges turn abaabacbcb into an ordered forest of three trees."""

from collections.abc import Iterator

from claims import Claim, Options, equality, state
from figures import BLUE, GREY, canvas, save

from mergewise import formal

TEXT = "abaabacbcb"
AB, CB = ("a", "b"), ("c", "b")
MERGES: tuple[formal.Merge, ...] = (AB, CB, (AB, "a"), ((AB, "a"), CB))
SUBWORDS = ["aba", "abacb", "cb"]


def claims(options: Options) -> Iterator[Claim]:
    """The subwords of the forest, and the example of hierarchical submodularity on it."""
    forest = formal.apply(MERGES, TEXT)
    subwords = [formal.yield_of(tree) for tree in forest]
    merges = f"the merges {', '.join(map(formal.show, MERGES))} on {TEXT}"
    yield equality("Figure 1", merges, ", ".join(SUBWORDS), ", ".join(subwords))
    part = formal.gain([(AB, "a")], TEXT, after=[AB])
    whole = formal.gain([MERGES[3]], TEXT, after=[AB, (AB, "a"), CB])
    appear = "in Figure 1, [[a,b],a] appears twice, [[[a,b],a],[c,b]] once"
    yield equality("Section 3.1", appear, "2, 1", f"{part}, {whole}")
    if options.figures:
        draw(forest, options)


def draw(forest: formal.Tokens, options: Options) -> None:
    """The trees over the string, each node with the merge that made it."""
    figure, axes = canvas(6.4, 3.2)
    start = 0

    def place(tree: formal.Tree) -> tuple[float, float]:
        """Draws a tree whose first leaf is at `start`; the place of its root."""
        nonlocal start
        if isinstance(tree, str):
            start += 1
            axes.text(start - 1, 0, tree, ha="center", va="center", fontsize=13, style="italic")
            return start - 1, 0.0
        parts = [place(part) for part in tree]
        x, y = sum(part[0] for part in parts) / 2, max(part[1] for part in parts) + 1
        for part in parts:
            shorten = 0.18 if part[1] == 0 else 0.0
            axes.plot([x, part[0]], [y, part[1] + shorten], color=GREY, zorder=1)
        circle = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": BLUE, "lw": 1.5}
        name = f"$\\mu_{MERGES.index(tree) + 1}$"
        axes.text(x, y, name, ha="center", va="center", fontsize=12, bbox=circle, zorder=2)
        return x, y

    for tree in forest:
        first = start
        place(tree)
        middle = (first + start - 1) / 2
        axes.text(middle, -0.75, formal.show(tree), ha="center", va="center", fontsize=10)
    axes.set(xlim=(-0.7, len(TEXT) - 0.3), ylim=(-1.1, 3.6))
    axes.axis("off")
    save(figure, "forest", options)


if __name__ == "__main__":
    state(claims)
