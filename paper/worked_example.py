"""Example 1: five greedy merges on "picked pickled pickles"."""

from collections.abc import Iterator

from claims import Claim, Options, state

from mergewise import formal
from mergewise.formal import as_published

PLACE = "Example 1"
TEXT = "picked pickled pickles"
PI, CK = ("p", "i"), ("c", "k")
MERGES: formal.Merges = (PI, CK, (PI, CK), ("e", "d"), ((PI, CK), "l"))


def claims(_options: Options) -> Iterator[Claim]:
    """The merges, the lengths, the sizes of the vocabulary."""
    shown = ", ".join(formal.show(merge) for merge in MERGES)
    is_greedy = formal.is_greedy(MERGES, TEXT)
    yield Claim(
        PLACE,
        "greedy chooses these merges, under some rule for ties",
        f"⟨{shown}⟩",
        "it can" if is_greedy else "it cannot",
        is_greedy,
    )
    lengths = [len(formal.apply(MERGES[:number], TEXT)) for number in range(6)]
    yield Claim(
        PLACE,
        "units before, and after the first merge",
        "22, 19",
        ", ".join(map(str, lengths[:2])) + f" (then {', '.join(map(str, lengths[2:]))})",
        lengths[:2] == [22, 19],
    )
    letters = len(set(TEXT))
    yield Claim(PLACE, "vocabulary after the first merge", "9 + 1", f"{letters} + 1", letters == 9)
    size = letters + len(MERGES)
    yield Claim(
        PLACE,
        "vocabulary with all five merges",
        "at most 13",
        f"{letters} + 5 = {size}",
        size <= 13,
    )
    tokens = [formal.yield_of(tree) for tree in formal.apply(MERGES, TEXT)]
    kinds = sorted(set(tokens))
    yield Claim(
        PLACE,
        "the units that are left",
        "pick, pickl, ed, e, s",
        ", ".join("the space" if kind == " " else kind for kind in kinds),
        set(kinds) == {"pick", "pickl", "ed", "e", "s"},
    )
    yield Claim(
        PLACE,
        "symbols that represent the string at the end",
        "9 + 1",
        f"{len(tokens)} tokens of {len(kinds)} kinds",
        len(tokens) == 10 or len(kinds) == 10,
    )
    code = as_published.bpe(TEXT, len(MERGES))
    yield Claim(
        PLACE,
        "Code 1 makes these five merges of the string",
        " ".join(tokens).replace("   ", " ␣ "),
        " ".join(formal.yield_of(tree).replace(" ", "␣") for tree in code)
        + " (ties by first occurrence)",
        tuple(code) == formal.apply(MERGES, TEXT),
    )


if __name__ == "__main__":
    state(claims)
