"""What mergewise does, on a text inside the package."""

from __future__ import annotations

import time
from importlib import resources
from typing import TextIO

from mergewise import formal
from mergewise.training import count, train


def opticks() -> str:
    """Newton's Opticks (1730), the text inside the package."""
    return resources.files("mergewise").joinpath("data/opticks.txt").read_text(encoding="utf-8")


def run_demo(out: TextIO) -> None:
    """Print the demonstration to `out`."""
    print_the_paper(out)
    print_training(out)


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
    print(
        f"  the curvature is {sigma}, so greedy attains at least "
        f"{formal.guarantee(sigma):.0%} of the optimum",
        file=out,
    )


def print_training(out: TextIO) -> None:
    """A tokenizer of 4,096 tokens from the text, and what it does to it."""
    text = opticks()
    started = time.perf_counter()
    counts = count([text], pattern="gpt2")
    tokenizer = train(counts, vocab_size=4096)
    seconds = time.perf_counter() - started
    print(f"\nNewton's Opticks, counted and trained in {seconds:.2f} s:", file=out)
    print(f"  {counts}", file=out)
    print(f"  {tokenizer}", file=out)
    for name, merges in (
        ("first merges", tokenizer.merges[:12]),
        ("last merges", tokenizer.merges[-8:]),
    ):
        shown = " ".join(repr((left + right).decode(errors="replace")) for left, right in merges)
        print(f"  {name}: {shown}", file=out)
