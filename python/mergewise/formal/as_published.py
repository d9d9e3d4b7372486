"""What the paper and its scripts say to the letter, where that does not hold.

Nothing here is used by the rest of the package. It is kept so that the counterexamples of
docs/theory/ can be run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mergewise.formal.apply import Text, apply, apply_one, pair_counts
from mergewise.formal.curvature import backward_curvature
from mergewise.formal.exact import Optimum, effective_sequences, exact_brute_force, search
from mergewise.formal.greedy import first_occurrence, greedy
from mergewise.formal.merges import Merge, Merges, is_valid, yield_of


def conflicts(first: Merge, second: Merge) -> bool:
    """Definition 5.2: whether the yield of one ends in the letter with which the other's begins.

    It misses pairs that do conflict, and names pairs that do not:

    >>> conflicts(("x", ("a", "b")), (("a", "b"), "y"))
    False
    >>> conflicts(("a", "b"), (("b", "c"), "d"))
    True
    """
    one, other = yield_of(first), yield_of(second)
    return one[-1] == other[0] or other[-1] == one[0]


def is_safe(merges: Merges, i: int, j: int) -> bool:
    """Definition 5.3, in its informal reading: no conflict of μ_i or μ_j with those in between.

    >>> is_safe([("a", "b"), ("d", "d"), ("c", "a")], 0, 2)
    False
    """
    first, last = merges[i], merges[j]
    swapped = [*merges[:i], last, *merges[i + 1 : j], first, *merges[j + 1 :]]
    return (
        is_valid(swapped)
        and not any(conflicts(merges[k], last) for k in range(i, j))
        and not any(conflicts(merges[k], first) for k in range(i + 1, j + 1))
    )


def are_equivalent(first: Merges, second: Merges) -> bool:
    """Proposition 5.5: whether safe transpositions turn one sequence into the other.

    They can here, and the two differ on aabb:

    >>> ab = ("a", "b")
    >>> are_equivalent([ab, ("a", ab), (ab, "b")], [ab, (ab, "b"), ("a", ab)])
    True
    """
    goal = tuple(second)
    seen = {tuple(first)}
    front = [tuple(first)]
    while front:
        merges = front.pop()
        for i in range(len(merges)):
            for j in range(i + 1, len(merges)):
                if is_safe(merges, i, j):
                    swapped = list(merges)
                    swapped[i], swapped[j] = swapped[j], swapped[i]
                    if tuple(swapped) not in seen:
                        seen.add(tuple(swapped))
                        front.append(tuple(swapped))
    return goal in seen


def is_ordered(first: Merge, second: Merge) -> bool:
    """μ' ⋗ μ'', Definition 5.6: no conflict, not shorter, and not smaller as a string.

    >>> is_ordered(("b", "b"), ("a", "a"))
    True
    """
    one, other = yield_of(first), yield_of(second)
    return not conflicts(first, second) and len(one) >= len(other) and one >= other


def exact(text: Text, num_merges: int) -> Optimum:
    """Algorithm 3 with its guard to the letter: the new merge must satisfy μ ⋗ μ_{-1}.

    It is not exact: two merges turn aaa into one token, and it finds one.

    >>> exact("aaa", 2).utility
    1
    """
    return search(
        text, num_merges, lambda merges, merge: not merges or is_ordered(merge, merges[-1])
    )


def greedy_steps(text: Text, num_merges: int) -> tuple[Merge, ...]:
    """Algorithm 1 with its loop to the letter, `for i in {0, ..., M}`: one merge too many.

    >>> len(greedy_steps("abcdef", 2))
    3
    """
    return greedy(text, num_merges + 1, ties=first_occurrence)


def capped_greedy(text: Text, num_merges: int) -> tuple[Merge, ...]:
    """Greedy with a heap that keeps the best M pairs only, as the proof of Theorem 4.2 has it.

    A pair that fell out of the heap is lost, although it may be needed later:

    >>> from mergewise.formal import utility
    >>> x = "aaaabbabb"
    >>> utility(capped_greedy(x, 2), x), utility(greedy(x, 2), x)
    (3, 4)
    """
    tokens = tuple(text)
    kept = {pair for pair, _ in pair_counts(tokens).most_common(num_merges)}
    merges: list[Merge] = []
    for _ in range(num_merges):
        known = pair_counts(tokens)
        heap = [pair for pair in known if pair in kept]
        if not heap:
            break
        merges.append(max(heap, key=lambda pair: known[pair]))
        tokens = apply_one(merges[-1], tokens)
        counts = pair_counts(tokens)
        made = [pair for pair in counts if merges[-1] in pair]
        candidates = [pair for pair in counts if pair in kept] + made
        candidates.sort(key=lambda pair: -counts[pair])
        kept = set(candidates[:num_merges])
    return tuple(merges)


def sigma(text: Text, num_merges: int) -> Fraction:
    """σ as the authors' script computes it: prefixes of exactly M merges, one optimal sequence.

    >>> sigma("ababcabc", 2)
    Fraction(5, 2)
    """
    optimal = exact_brute_force(text, num_merges).merges
    sequences = effective_sequences(text, num_merges)
    full = {tokens for merges, tokens in sequences if len(merges) == num_merges}
    return backward_curvature(text, full, optimal)


def sigma_greedy(text: Text, num_merges: int) -> Fraction:
    """σ' as the authors' script computes it: the divisor is κ(μ†), not κ of its prefix.

    >>> sigma_greedy("aab", 2)
    Fraction(3, 2)
    """
    optimal = exact_brute_force(text, num_merges).merges
    chosen = greedy(text, num_merges, ties=first_occurrence)
    if not chosen:
        return Fraction(1)
    joined = len(text) - len(apply(optimal, apply(chosen[:-1], text)))
    best = len(text) - len(apply(optimal, text))
    return 1 - Fraction(joined - best, len(text) - len(apply(chosen, text)))


def bpe(xs: str | list[Any], num_merges: int) -> str | list[Any]:
    """Code 1: Sennrich's algorithm. It counts overlapping pairs, and fails on a single token.

    >>> bpe("aaab", 1)
    [('a', 'a'), 'a', 'b']
    >>> bpe("ab", 2)
    Traceback (most recent call last):
    IndexError: list index out of range
    """
    for _ in range(num_merges):
        pairs = Counter(pairwise(xs))
        top_pair = pairs.most_common(1)[0][0]
        xs = list(apply_one(top_pair, xs))
    return xs


def bpe_without_overlaps(xs: str | list[Any], num_merges: int) -> str | list[Any]:
    """Code 2: as Code 1, with adjusted counts. It passes on a pair with its count, so merges none.

    >>> bpe_without_overlaps("abab", 1)
    ['a', 'b', 'a', 'b']
    """
    for _ in range(num_merges):
        pairs: defaultdict[Any, int] = defaultdict(int)
        last = None
        for pair in pairwise(xs):
            if pair != last:
                pairs[pair] += 1
                last = pair
            else:
                last = None
        ranked: list[Any] = sorted(pairs.items(), key=lambda item: item[1], reverse=True)
        pair_and_count = ranked[0]  # an IndexError on a single token, as in Code 1
        xs = list(apply_one(pair_and_count, xs))
    return xs
