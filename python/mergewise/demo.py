"""What mergewise does, on a text inside the package."""

from __future__ import annotations

from importlib import resources
from typing import TextIO

from mergewise import formal
from mergewise._core import MergeList


def opticks() -> str:
    """Newton's Opticks (1730), the text inside the package."""
    return resources.files("mergewise").joinpath("data/opticks.txt").read_text(encoding="utf-8")


def run_demo(out: TextIO) -> None:
    """Print the demonstration to `out`."""
    print_the_paper(out)
    print_a_real_text(out)


def print_the_paper(out: TextIO) -> None:
    """The paper's Example 2: greedy is not optimal."""
    text = "abaabbaa"
    chosen = formal.greedy(text, 2, ties=formal.first_occurrence)
    best = formal.exact_guarded(text, 2)
    print(f"The paper's definitions, run on {text} with 2 merges:", file=out)
    for name, merges in (("greedy", chosen), ("optimal", best.merges)):
        shown = " ".join(formal.show(tree) for tree in formal.apply(merges, text))
        print(f"  {name:<8} saves {formal.utility(merges, text)}: {shown}", file=out)
    sigma = formal.curvature(text, 2).sigma_min
    print(f"  curvature {sigma}, so greedy attains {formal.guarantee(sigma):.3f}", file=out)


def print_a_real_text(out: TextIO) -> None:
    """Merges learnt from one page by the specification, applied to a book by the core."""
    text = opticks()
    merges = formal.greedy(formal.split_words(text[:20_000]), 100)
    ids: dict[formal.Tree, int] = {merge: 256 + rank for rank, merge in enumerate(merges)}
    pairs = [
        tuple(ord(part) if isinstance(part, str) else ids[part] for part in merge)
        for merge in merges
    ]
    merge_list = MergeList([(left, right) for left, right in pairs])
    num_bytes, num_tokens = len(text.encode()), len(merge_list.apply(text))
    print("\n100 merges learnt on the first pages of Newton's Opticks:", file=out)
    print("  " + " ".join(repr(formal.yield_of(merge)) for merge in merges[-12:]), file=out)
    print(f"  the book: {num_bytes:,} bytes, {num_tokens:,} tokens", file=out)
