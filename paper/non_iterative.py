"""Appendix B.2: the most frequent of all merges of a bounded width, at once."""

import heapq
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from claims import Claim, Options, none_fails, state

from mergewise import formal

PLACE = "Appendix B.2"


def valid_by_counts(length: int) -> Iterator[bool]:
    """Whether every choice of the M most frequent merges is valid, whatever breaks the last tie."""
    for text in formal.strings_up_to_renaming(length, 3):
        counts = formal.observed_merges(text, 3)
        for last in counts:
            before = [merge for merge in counts if counts[merge] > counts[last]]
            yield formal.is_valid([*sorted(before, key=lambda m: len(formal.yield_of(m))), last])


def valid_by_length(length: int) -> Iterator[bool]:
    """Whether it is valid if ties go to the shorter merge."""
    for text in formal.strings_up_to_renaming(length, 3):
        for num_merges in range(1, 8):
            yield formal.is_valid(formal.non_iterative(text, num_merges, 3))


def bracketings(string: str) -> list[formal.Merge]:
    """All merges with this yield."""
    merges = formal.observed_merges(string, len(string))
    return [merge for merge in merges if formal.yield_of(merge) == string]


def kept_by_heap(text: str, num_merges: int, width: int) -> Counter[formal.Merge]:
    """The merges in a heap of M entries that is modified at each place of a scan.

    A merge that is not in the full heap has been seen once, as far as the heap knows, and no entry
    less often.
    """
    kept: Counter[formal.Merge] = Counter()
    for end in range(2, len(text) + 1):
        for start in range(max(0, end - width), end - 1):
            for merge in bracketings(text[start:end]):
                if merge in kept or len(kept) < num_merges:
                    kept[merge] += 1
    return kept


def same_by_counts_first(length: int) -> Iterator[bool]:
    """Whether a heap of M entries keeps the right merges, if each is pushed once with its count."""
    for text in formal.strings_up_to_renaming(length, 3):
        counts = formal.observed_merges(text, 3)
        for num_merges in range(1, 8):
            best = heapq.nsmallest(
                num_merges, counts, key=lambda m: (-counts[m], len(formal.yield_of(m)))
            )
            yield tuple(best) == formal.non_iterative(text, num_merges, 3)


def places_per_symbol(width: int) -> int:
    """How many merges of at most that width end at one symbol."""
    return sum(len(bracketings("a" * size)) for size in range(2, width + 1))


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
    [kept] = kept_by_heap("abcbc", 1, 2)
    [best] = formal.non_iterative("abcbc", 1, 2)
    yield Claim(
        PLACE,
        "O(|x| log M), as each place modifies a heap of M entries: the merge kept on abcbc, M = 1, "
        "width 2",
        formal.show(best),
        formal.show(kept),
        kept == best,
    )
    places = {width: places_per_symbol(width) for width in range(2, 7)}
    yield from none_fails(
        PLACE,
        "O(|x| log M) for a constant width, if all merges are counted before a heap of M keeps the "
        f"best; {', '.join(map(str, places.values()))} places a symbol for widths 2 to 6",
        "corrected: the same merges",
        same_by_counts_first(6),
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
