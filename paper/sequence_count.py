"""Proposition 5.1: how many valid merge sequences there are."""

from collections.abc import Iterator
from math import prod

from claims import Claim, Options, state

from mergewise import formal

PLACE = "Prop. 5.1"


def joined(numbers: list[int]) -> str:
    """Numbers in a row."""
    return ", ".join(f"{number:,}" for number in numbers)


def claims(_options: Options) -> Iterator[Claim]:
    """Sequences over an alphabet, effective ones on a string, and the steps of the proof."""
    for alphabet in ("a", "ab"):
        size = len(alphabet)
        counts = [len(list(formal.valid_sequences(alphabet, m))) for m in (1, 2, 3)]
        bounds = [size ** (2 * m) for m in (1, 2, 3)]
        yield Claim(
            PLACE,
            f"valid sequences of M = 1, 2, 3 merges over {size} letter{'s'[: size - 1]}: O(|Σ|^2M)",
            joined(bounds),
            joined(counts),
            all(count <= bound for count, bound in zip(counts, bounds, strict=True)),
        )
        exact = [prod((size + i) ** 2 - i for i in range(m)) for m in (1, 2, 3)]
        yield Claim(
            PLACE,
            "the same: Π ((|Σ| + i)² - i) over i < M",
            f"corrected: {joined(exact)}",
            joined(counts),
            counts == exact,
        )
    growing = {length: effective("a" * length) for length in (9, 15)}
    yield Claim(
        PLACE,
        "effective sequences of M = 1 to 4 merges on a^9 and a^15: O(1), as |Σ| = 1",
        "the same number for every length",
        "; ".join(joined(numbers) for numbers in growing.values()),
        growing[9] == growing[15],
    )
    chain: list[formal.Merge] = [("a", "a")]
    while len(chain) < 4:
        chain.append((chain[-1], chain[-1]))
    yields = [len(formal.yield_of(merge)) for merge in chain]
    yield Claim(
        PLACE,
        "its proof: the longest yield of M = 1 to 4 merges is M",
        "1, 2, 3, 4",
        f"at least {joined(yields)}",
        yields == [1, 2, 3, 4],
    )


def effective(text: str) -> list[int]:
    """How many sequences of exactly 1 to 4 merges replace something at every step."""
    lengths = [len(merges) for merges, _ in formal.effective_sequences(text, 4)]
    return [lengths.count(num_merges) for num_merges in range(1, 5)]


if __name__ == "__main__":
    state(claims)
