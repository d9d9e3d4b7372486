"""Appendix B.2: the most frequent of all merges of a bounded width, at once."""

from collections.abc import Iterator
from fractions import Fraction

from claims import Claim, Options, none_fails, state

from mergewise import formal

PLACE = "Appendix B.2"


def valid_by_counts(length: int) -> Iterator[bool]:
    """Is every choice of the M most frequent merges valid, however ties at the end are broken?"""
    for text in formal.strings_up_to_renaming(length, 3):
        counts = formal.observed_merges(text, 3)
        for last in counts:
            before = [merge for merge in counts if counts[merge] > counts[last]]
            yield formal.is_valid([*sorted(before, key=lambda m: len(formal.yield_of(m))), last])


def valid_by_length(length: int) -> Iterator[bool]:
    """Is it valid if ties go to the shorter merge?"""
    for text in formal.strings_up_to_renaming(length, 3):
        for num_merges in range(1, 8):
            yield formal.is_valid(formal.non_iterative(text, num_merges, 3))


def claims(_options: Options) -> Iterator[Claim]:
    """The example, validity, and how far from the optimum the paper's family is."""
    chosen = set(formal.non_iterative("abcabcd", 4, 3))
    ab, bc = ("a", "b"), ("b", "c")
    published: list[formal.Merge] = [ab, (ab, "c"), bc, ("a", bc)]
    yield Claim(
        PLACE,
        "the first merges of abcabcd, width 3",
        ", ".join(map(formal.show, published)),
        ", ".join(sorted(map(formal.show, chosen))),
        chosen == set(published),
    )
    yield from none_fails(
        PLACE,
        "the merges are valid, as parts are at least as frequent (strings of 6 symbols, width 3)",
        "always",
        valid_by_counts(6),
        "choices, ties broken anyhow,",
    )
    yield from none_fails(
        PLACE,
        "the same with ties to the shorter merge",
        "corrected: always",
        valid_by_length(6),
        "strings and M",
    )
    ratios = {
        width: min(Fraction(width - 1) / (width - Fraction(1, 2**k)) for k in range(1, 40))
        for width in (2, 3, 5, 10)
    }
    least = min(ratios.values())
    yield Claim(
        PLACE,
        "a^(wn) with w + k merges: the ratio (wn - n)/(wn - n/2^k) has the lower bound 0",
        "0",
        ", ".join(f"{float(ratio):.2f} (w = {width})" for width, ratio in ratios.items()),
        least < Fraction(1, 100),
    )


if __name__ == "__main__":
    state(claims)
