"""Section 7: "on real data we made an observation that greedy BPE may be close to optimal"."""

from collections.abc import Iterator

from claims import Claim, Options, state
from english import OPTICKS, sentences

import mergewise as mw
from mergewise import formal
from mergewise.demo import opticks

PLACE = "Limitations"
CLAIM = "greedy may be close to optimal on real data"


def claims(options: Options) -> Iterator[Claim]:
    """Solved exactly on short strings; proved within a bound on a whole book."""
    number = 200 if options.full else 50
    for num_merges in (3, 5, 10):
        parts = [part_of_optimum(text, num_merges) for text in sentences(number)]
        optimal = sum(part == 1 for part in parts)
        yield Claim(
            PLACE,
            f"{CLAIM}: {number} English strings of 64 characters, M = {num_merges}, solved",
            "close",
            f"optimal on {optimal}; at least {min(parts):.3f} of the optimum",
            optimal > number / 2,
        )
    counts = mw.count([opticks()], pattern="gpt2")
    for vocab_size in (512, 4096):
        tokenizer = mw.train(counts, vocab_size=vocab_size)
        proof = mw.certify(tokenizer, counts, num_steps=1000 if options.full else 300)
        proof.verify(counts, tokenizer=tokenizer)
        yield Claim(
            PLACE,
            f"{CLAIM}: {OPTICKS}, {vocab_size:,} tokens, against every merge list of that length",
            "close",
            f"within {proof.excess:.2%} of the fewest tokens, proved",
            proof.excess < 0.05,
        )


def part_of_optimum(text: str, num_merges: int) -> float:
    """Greedy over the optimum, which must be proved."""
    best = mw.solve(text, num_merges=num_merges)
    if best.status != "optimal":
        raise RuntimeError(f"not solved: {text!r}, {num_merges} merges")
    chosen = formal.greedy(text, num_merges, ties=formal.first_occurrence)
    return formal.utility(chosen, text) / best.utility


if __name__ == "__main__":
    state(claims)
