"""Section 3: total backward curvature σ, the guarantee, and what was measured of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from mergewise.formal import (
    Curvature,
    Merge,
    Tree,
    apply,
    as_published,
    curvature,
    effective_sequences,
    exact_guarded,
    first_occurrence,
    gain,
    greedy,
    greedy_sequences,
    guarantee,
    optimal_sequences,
    pair_counts,
    sigma,
    sigma_greedy,
    sigma_greedy_all,
    strings_up_to_renaming,
    utility,
)
from mergewise.formal.curvature import backward_curvature

TABLES = Path(__file__).parent / "data" / "curvature_tables.csv"
AB: Merge = ("a", "b")
BA: Merge = ("b", "a")


@cache
def strings(max_length: int, num_letters: int) -> list[str]:
    lengths = range(1, max_length + 1)
    return [string for n in lengths for string in strings_up_to_renaming(n, num_letters)]


def ratio_at(text: str, prefix: Iterable[Merge], optimal: Iterable[Merge]) -> Fraction:
    """1 - (κ(μ μ*) - κ(μ*)) / κ(μ), Definition 3.9 without its maximum."""
    prefix, optimal = list(prefix), list(optimal)
    joined = utility([*prefix, *optimal], text)
    return 1 - Fraction(joined - utility(optimal, text), utility(prefix, text))


# Definition 3.9


@pytest.mark.parametrize("prefix", [[], [("b", "b")], [("c", "a")]])
def test_definition_3_9_is_zero_over_zero_where_a_prefix_saves_nothing(prefix: list[Merge]) -> None:
    """On abab the empty prefix, and every one that does not apply, gives 0/0: it is left out."""
    optimal: list[Merge] = [AB, (AB, AB)]
    joined = utility([*prefix, *optimal], "abab")
    assert (joined - utility(optimal, "abab"), utility(prefix, "abab")) == (0, 0)
    with pytest.raises(ZeroDivisionError):
        ratio_at("abab", prefix, optimal)
    assert backward_curvature("abab", [apply(prefix, "abab")], optimal) == 1


@pytest.mark.parametrize("text", ["", "a"])
def test_definition_3_9_where_no_prefix_is_left(text: str) -> None:
    assert sigma(text, 2, []) == 1


def test_definition_3_9_by_its_formula_exhaustively() -> None:
    """`sigma` is the maximum of the formula over every effective prefix; never below 1."""
    for text in strings(6, 2)[1:]:
        for num_merges in (1, 2, 3):
            prefixes = [m for m, _ in effective_sequences(text, num_merges) if m]
            values = {}
            for optimal in optimal_sequences(text, num_merges):
                values[optimal] = max(ratio_at(text, prefix, optimal) for prefix in prefixes)
                assert sigma(text, num_merges, optimal) == values[optimal] >= 1
            found = curvature(text, num_merges)
            assert found.sigma_max == max(values.values())
            assert found.sigma_min == min(values.values())


def test_definition_3_9_abab() -> None:
    """σ = 3 > M = 2, on four letters: the proof of Theorem 3.10 needs σ <= M."""
    assert ratio_at("abab", [BA], [AB, (AB, AB)]) == 3
    assert curvature("abab", 2).sigma_min == curvature("abab", 2).sigma_max == 3


def test_definition_3_9_abab_one_merge() -> None:
    """The largest σ at M = 1 is 2."""
    assert curvature("abab", 1).sigma_max == ratio_at("abab", [BA], [AB]) == 2


@pytest.mark.parametrize(("num_merges", "value"), [(3, 5), (4, 6)])
def test_definition_3_9_abcababcab(num_merges: int, value: int) -> None:
    """σ = 5 at M = 3 and 6 at M = 4, for every optimal sequence, by the prefix [b,a] at M = 3."""
    found = curvature("abcababcab", num_merges)
    assert found.sigma_min == found.sigma_max == value
    if num_merges == 3:
        for optimal in optimal_sequences("abcababcab", 3):
            assert ratio_at("abcababcab", [BA], optimal) == 5


def test_definition_3_9_seven_at_four_merges() -> None:
    assert curvature("aaaaaabaaaaaab", 4).sigma_max == 7


def test_definition_3_9_depends_on_the_optimal_sequence() -> None:
    found = curvature("aaaabaaaab", 3)
    assert found.sigma_min == 4
    assert found.sigma_max == 5


@pytest.mark.parametrize("num_merges", range(2, 9))
def test_sigma_is_not_constant(num_merges: int) -> None:
    """On a^(M-1)bab the prefix [b,a] shows σ >= M + 1, with two letters."""
    text = "a" * (num_merges - 1) + "bab"
    optimal: list[Merge] = [AB]
    while len(optimal) < num_merges - 1:
        optimal.append(("a", optimal[-1]))
    optimal.append((optimal[-1], AB))
    assert len(optimal) == num_merges
    assert utility(optimal, text) == num_merges + 1 == len(text) - 1  # so it is optimal
    assert utility([BA], text) == utility([BA, *optimal], text) == 1
    assert ratio_at(text, [BA], optimal) == num_merges + 1


@pytest.mark.parametrize(("text", "num_merges"), [("abPabQabcRabcS", 2), ("abPabcQabcdRabcdS", 3)])
def test_sigma_reaches_m_where_the_optimum_is_unique(text: str, num_merges: int) -> None:
    """The chain ab, abc, ... is the one optimum, and a separator z before a gives [z,a]."""
    chain: list[Tree] = ["a"]
    for letter in "bcd"[:num_merges]:
        chain.append((chain[-1], letter))
    optimal = [tree for tree in chain if not isinstance(tree, str)]
    assert optimal_sequences(text, num_merges) == [tuple(optimal)]
    assert sigma(text, num_merges, optimal) == num_merges
    before = ("Q", "a") if num_merges == 2 else ("R", "a")
    assert ratio_at(text, [before], optimal) == num_merges


# σ' and the authors' procedure


def test_sigma_greedy_aab() -> None:
    """σ' = 2 by its definition; the authors' script divides by κ(μ†) and gets 1.5."""
    aa: Merge = ("a", "a")
    chosen: list[Merge] = [aa, (aa, "b")]
    optimal: list[Merge] = [AB, ("a", AB)]
    assert utility(chosen[:1], "aab") == utility([*chosen[:1], *optimal], "aab") == 1
    assert utility(optimal, "aab") == 2
    assert sigma_greedy("aab", chosen, optimal) == ratio_at("aab", chosen[:1], optimal) == 2
    assert curvature("aab", 2).sigma_greedy == 2
    assert as_published.sigma_greedy("aab", 2) == Fraction(3, 2)


def test_sigma_greedy_all_takes_every_proper_prefix() -> None:
    """What the recursion in the proof uses: i = 1, ..., M - 1, not M - 1 alone."""
    for text in strings(6, 2):
        for optimal in optimal_sequences(text, 3):
            for chosen in greedy_sequences(text, 3):
                prefixes = [chosen[:i] for i in range(1, len(chosen))]
                values = [ratio_at(text, prefix, optimal) for prefix in prefixes]
                assert sigma_greedy_all(text, chosen, optimal) == max(values, default=1)
                assert sigma_greedy(text, chosen, optimal) == ([1, *values][-1])


def test_sigma_greedy_all_can_be_larger() -> None:
    """At M = 3, σ' is at most 1.5 on six letters, and over all prefixes 3."""
    found = [curvature(text, 3) for text in strings(6, 2)]
    assert max(value.sigma_greedy_worst_ties for value in found) == Fraction(3, 2)
    assert max(value.sigma_greedy_all for value in found) == 3


def test_sigma_greedy_all_reaches_m() -> None:
    """aaabbba, M = 6: all pairs tie at 1, and behind [b,b] no merge of this μ* applies."""
    optimal: list[Merge] = [AB]
    for _ in range(2):
        optimal.append((optimal[-1], "b"))
    for _ in range(2):
        optimal.append(("a", optimal[-1]))
    optimal.append((optimal[-1], "a"))
    assert utility(optimal, "aaabbba") == len(optimal) == 6
    assert set(pair_counts("aaabbba").values()) == {1}
    assert utility([("b", "b")], "aaabbba") == utility([("b", "b"), *optimal], "aaabbba") == 1
    chosen = next(m for m in greedy_sequences("aaabbba", 6) if m[0] == ("b", "b"))
    assert sigma_greedy_all("aaabbba", chosen, optimal) == 6


@pytest.mark.parametrize(
    ("text", "num_merges", "value"),
    [
        ("abab", 1, Fraction(2)),
        ("ababcabc", 2, Fraction(5, 2)),
        ("ababcdabcabc", 2, Fraction(3)),
        ("abacabacbac", 3, Fraction(8, 3)),
        ("aabaacaabaac", 4, Fraction(5, 2)),
    ],
)
def test_sigma_by_the_authors_procedure_exceeds_the_maximum_they_report(
    text: str, num_merges: int, value: Fraction
) -> None:
    """The paper's maximum is 2.5; the procedure of its script gives 8/3 and 3 within its range."""
    assert as_published.sigma(text, num_merges) == value


# Theorem 3.10


def check_theorem(text: str, num_merges: int, value: Fraction) -> None:
    worst = min(utility(merges, text) for merges in greedy_sequences(text, num_merges))
    assert worst >= guarantee(value) * exact_guarded(text, num_merges).utility


@pytest.mark.parametrize(("num_letters", "max_length"), [(2, 8), (3, 6)])
def test_theorem_3_10_on_every_small_string(num_letters: int, max_length: int) -> None:
    """Greedy's worst ties attain (1 - e^-σ)/σ of the optimum, with the smallest σ; also σ'."""
    for text in strings(max_length, num_letters):
        for num_merges in range(1, 5):
            found = curvature(text, num_merges)
            check_theorem(text, num_merges, found.sigma_min)
            check_theorem(text, num_merges, found.sigma_greedy_all)  # what the proof gives
            check_theorem(text, num_merges, found.sigma_greedy_worst_ties)  # unproved, no failure


def test_theorem_3_10_sigma_can_exceed_m() -> None:
    """1 - σ/M < 0: the recursion in the proof may not be substituted, even with the best μ*."""
    assert curvature("abab", 2).sigma_min > 2
    assert curvature("aabab", 3).sigma_min > 3


def test_theorem_3_10_where_sigma_exceeds_m_the_first_merge_suffices() -> None:
    """The repair: κ(μ†) >= κ(μ†_1) >= κ(μ*)/M, and κ(μ*)/M > κ(μ*)/σ >= the bound."""
    for text in strings(7, 3)[1:]:
        first = max(pair_counts(text).values())
        for num_merges in range(1, 5):
            assert first * num_merges >= exact_guarded(text, num_merges).utility


def test_theorem_3_10_step_of_the_proof() -> None:
    """κ(μ†_i | μ†_<i) >= (κ(μ*) - σ κ(μ†_<i)) / M for every i, on every small string."""
    for text in strings(7, 2)[1:]:
        for num_merges in (2, 3):
            best = optimum(text, num_merges)
            value = curvature(text, num_merges).sigma_min
            for merges in greedy_sequences(text, num_merges):
                for i in range(len(merges)):
                    step = gain(merges[i : i + 1], text, after=merges[:i])
                    assert step * num_merges >= best - value * utility(merges[:i], text)


def test_guarantee_of_the_paper_and_of_the_real_maxima() -> None:
    """0.37 and 0.52 for 2.5 and 1.5; 0.317, 0.199 and 0.143 for 3, 5 and 7; 0.432 for σ' = 2."""
    assert [round(guarantee(value), 2) for value in (2.5, 2.0, 1.5)] == [0.37, 0.43, 0.52]
    assert [round(guarantee(value), 3) for value in (3, 5, 7, 2)] == [0.317, 0.199, 0.143, 0.432]


def test_guarantee_falls_and_never_exceeds_one_minus_one_over_e() -> None:
    """σ >= 1, so the bound is at most 0.632, and it tends to 0 as σ grows."""
    values = [guarantee(Fraction(n, 4)) for n in range(4, 400)]
    assert values[0] == pytest.approx(0.6321205588)
    assert all(larger > smaller for larger, smaller in pairwise(values))
    assert values[-1] < 0.011


# The tables


def rows(table: str, lengths: range) -> list[tuple[int, int, int, list[str]]]:
    lines = TABLES.read_text(encoding="utf-8").splitlines()
    cells = [line.split(",") for line in lines if line.startswith(f"{table},")]
    parsed = [(int(m), int(k), int(n), values) for _, m, k, n, *values in cells]
    return [row for row in parsed if row[2] in lengths]


@cache
def sigmas(text: str, num_merges: int) -> tuple[Fraction, ...]:
    """The columns of table S."""
    found: Curvature = curvature(text, num_merges)
    return (
        found.sigma_max,
        found.sigma_min,
        found.sigma_full_length_max,
        as_published.sigma(text, num_merges),
        found.sigma_greedy,
        found.sigma_greedy_worst_ties,
        found.sigma_greedy_all,
        as_published.sigma_greedy(text, num_merges),
    )


@cache
def optimum(text: str, num_merges: int) -> int:
    return exact_guarded(text, num_merges).utility


def most_possible(best: int, num_merges: int) -> list[Fraction]:
    """Bounds of `sigmas`, from κ(μ*) = `best` alone, by κ(μ μ*) >= κ(μ) >= |μ|.

    So no ratio exceeds κ(μ*)/κ(μ), or 1. Greedy's first merge saves κ(μ*)/M or more (Lemma X).
    The authors' σ' divides by κ(μ†); it is also at most 1 + 1/2 where greedy ends early, on one
    token, because its last merge then saves 1 of at least 2.
    """
    one = Fraction(1)
    full = Fraction(best, num_merges)
    prefixes = [Fraction(best), Fraction(best), full, full]
    if num_merges == 1:
        return [max(value, one) for value in (*prefixes, one, one, one, one)]
    first = -(-best // num_merges)
    last = Fraction(best, max(first + num_merges - 2, 1))
    authors = 1 + Fraction(best - first - num_merges + 2, max(first + num_merges - 1, 1))
    greedy_prefixes = [last, last, Fraction(best, max(first, 1)), max(authors, Fraction(3, 2))]
    return [max(value, one) for value in (*prefixes, *greedy_prefixes)]


def check_table_s(lengths: range) -> None:
    """Each column's maximum; a text that cannot raise any of them is passed over."""
    for num_merges, num_letters, length, expected in rows("S", lengths):
        best = {text: optimum(text, num_merges) for text in strings(length, num_letters)}
        largest = list(sigmas("aab", num_merges))  # the largest σ' of the authors
        for text in sorted(best, key=lambda text: (-best[text], len(text))):
            possible = most_possible(best[text], num_merges)
            if any(most > value for most, value in zip(possible, largest, strict=True)):
                values = sigmas(text, num_merges)
                assert all(value <= most for value, most in zip(values, possible, strict=True))
                largest = list(map(max, largest, values))
        assert [f"{float(value):.4g}" for value in largest] == expected


def test_table_s_maxima_of_sigma_up_to_length_6() -> None:
    """CURVATURE table S: all strings, no text passed over."""
    for num_merges, num_letters, length, expected in rows("S", range(1, 7)):
        found = [sigmas(text, num_merges) for text in strings(length, num_letters)]
        assert [f"{float(max(column)):.4g}" for column in zip(*found, strict=True)] == expected


@pytest.mark.slow
def test_table_s_maxima_of_sigma_up_to_length_8() -> None:
    """Table S, n = 7 and 8, five letters, M <= 6."""
    check_table_s(range(7, 9))


def ratios(text: str, num_merges: int) -> Iterator[Fraction]:
    """The columns of table R: greedy by first occurrence, its worst and its best ties."""
    best = exact_guarded(text, num_merges).utility
    values = {utility(merges, text) for merges in greedy_sequences(text, num_merges)}
    fixed = utility(greedy(text, num_merges, ties=first_occurrence), text)
    for value in (fixed, min(values), max(values)):
        yield Fraction(value, best)


def check_table_r(alphabets: list[int]) -> None:
    for num_merges, num_letters, length, expected in rows("R", range(1, 9)):
        if num_letters not in alphabets:
            continue
        texts = strings(length, num_letters)[1:]
        columns = zip(*(ratios(text, num_merges) for text in texts), strict=True)
        assert [f"{float(min(column)):.4f}" for column in columns] == expected


def test_table_r_minima_of_greedy_over_optimum_with_two_letters() -> None:
    """Table R, n <= 8, two letters, M <= 7."""
    check_table_r([2])


@pytest.mark.slow
def test_table_r_minima_of_greedy_over_optimum() -> None:
    """Table R, n <= 8, three and five letters, M <= 6."""
    check_table_r([3, 5])
