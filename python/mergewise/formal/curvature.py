"""Total backward curvature and the guarantee it gives: the paper's section 3.

All values are exact fractions. A prefix that replaces nothing is left out: the definition would
divide by zero there. Where no prefix is left, the curvature is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from mergewise.formal.apply import Text, Tokens, apply
from mergewise.formal.exact import effective_sequences, optimal_sequences
from mergewise.formal.greedy import first_occurrence, greedy, greedy_sequences
from mergewise.formal.merges import Merges
from mergewise.formal.order import normal_form


def backward_curvature(text: Text, prefixes: Iterable[Tokens], optimal: Merges) -> Fraction:
    """The maximum of 1 - (κ(μ μ*) - κ(μ*)) / κ(μ) over prefixes μ, given by their results.

    >>> backward_curvature("abab", [("a", ("b", "a"), "b")], [("a", "b"), (("a", "b"), ("a", "b"))])
    Fraction(3, 1)
    """
    best = len(text) - len(apply(optimal, text))
    values: list[Fraction] = []
    for tokens in sorted(prefixes, key=len, reverse=True):
        saved = len(text) - len(tokens)
        if saved == 0:
            continue
        # κ(μ μ*) >= κ(μ), so no prefix that saves this much or more exceeds κ(μ*) / κ(μ).
        if values and max(values) >= Fraction(best, saved):
            break
        joined = len(text) - len(apply(optimal, tokens))
        values.append(1 - Fraction(joined - best, saved))
    return max(values, default=Fraction(1))


def sigma(text: Text, num_merges: int, optimal: Merges) -> Fraction:
    """σ(μ*), Definition 3.9, for one optimal sequence: over all prefixes of at most M merges.

    >>> sigma("abab", 2, [("a", "b"), (("a", "b"), ("a", "b"))])
    Fraction(3, 1)
    """
    prefixes = {tokens for _, tokens in effective_sequences(text, num_merges)}
    return backward_curvature(text, prefixes, optimal)


def sigma_greedy(text: Text, chosen: Merges, optimal: Merges) -> Fraction:
    """σ'(μ*, μ†), as published: the prefix is all that greedy chose, but its last merge.

    >>> sigma_greedy("aab", [("a", "a"), (("a", "a"), "b")], [("a", "b"), ("a", ("a", "b"))])
    Fraction(2, 1)
    """
    return backward_curvature(text, [apply(chosen[:-1], text)], optimal)


def sigma_greedy_all(text: Text, chosen: Merges, optimal: Merges) -> Fraction:
    """σ'(μ*, μ†) over every proper prefix of what greedy chose: what the proof needs.

    >>> sigma_greedy_all("aab", [("a", "a"), (("a", "a"), "b")], [("a", "b"), ("a", ("a", "b"))])
    Fraction(2, 1)
    """
    prefixes = [apply(chosen[:length], text) for length in range(1, len(chosen))]
    return backward_curvature(text, prefixes, optimal)


class Curvature(NamedTuple):
    """The curvatures of one text: σ over its optimal sequences, and σ' of its greedy ones."""

    sigma_min: Fraction
    sigma_max: Fraction
    sigma_full_length_max: Fraction
    sigma_greedy: Fraction
    sigma_greedy_worst_ties: Fraction
    sigma_greedy_all: Fraction


def curvature(text: Text, num_merges: int) -> Curvature:
    """σ and σ' of a text, by their definitions, over all of its optimal sequences.

    `sigma_min` and `sigma_max` take the best and the worst optimal sequence, and
    `sigma_full_length_max` prefixes of exactly M merges only. Of greedy, `sigma_greedy` takes the
    first pair that occurs where counts tie, the other two the worst ties; all three take the
    worst optimal sequence.

    >>> curvature("abab", 2).sigma_max
    Fraction(3, 1)
    """
    optima = {normal_form(merges) for merges in optimal_sequences(text, num_merges)}
    reached = {(len(m), tokens) for m, tokens in effective_sequences(text, num_merges)}
    everywhere = {tokens for _, tokens in reached}
    full = {tokens for length, tokens in reached if length == num_merges}
    chosen = _padded(greedy(text, num_merges, ties=first_occurrence), num_merges)
    greedy_merges = [_padded(s, num_merges) for s in greedy_sequences(text, num_merges)]
    last = {apply(merges[:-1], text) for merges in greedy_merges}
    proper = {apply(merges[:i], text) for merges in greedy_merges for i in range(1, num_merges)}

    def worst(prefixes: set[Tokens]) -> Fraction:
        return max(backward_curvature(text, prefixes, optimal) for optimal in optima)

    return Curvature(
        sigma_min=min(backward_curvature(text, everywhere, optimal) for optimal in optima),
        sigma_max=worst(everywhere),
        sigma_full_length_max=worst(full),
        sigma_greedy=worst({apply(chosen[:-1], text)}),
        sigma_greedy_worst_ties=worst(last),
        sigma_greedy_all=worst(proper),
    )


def _padded(chosen: Merges, num_merges: int) -> Merges:
    """Greedy's choice as a sequence of M merges: the last one again where no pair was left."""
    return [*chosen, *list(chosen[-1:]) * (num_merges - len(chosen))]


def guarantee(sigma: Fraction | float) -> float:
    """(1 - e^-σ) / σ, Theorem 3.10: the part of the optimum that greedy attains at least.

    >>> round(guarantee(2.5), 2), round(guarantee(1.5), 2), round(guarantee(3), 3)
    (0.37, 0.52, 0.317)

    σ is at least 1. σ' may be 0 or less, where the formula says nothing:

    >>> guarantee(0)
    Traceback (most recent call last):
    ValueError: the guarantee needs a curvature above 0, found 0
    """
    if sigma <= 0:
        raise ValueError(f"the guarantee needs a curvature above 0, found {sigma}")
    return -math.expm1(-sigma) / float(sigma)


def strings_up_to_renaming(length: int, num_letters: int) -> Iterator[str]:
    """Every string of at most `num_letters` letters in which new letters come in order.

    Renaming letters changes no utility, so these stand for all strings.

    >>> list(strings_up_to_renaming(3, 2))
    ['aaa', 'aab', 'aba', 'abb']
    """

    def extend(string: str, used: int) -> Iterator[str]:
        if len(string) == length:
            yield string
            return
        for letter in range(min(used + 1, num_letters)):
            yield from extend(string + chr(ord("a") + letter), max(used, letter + 1))

    return extend("", 0)
