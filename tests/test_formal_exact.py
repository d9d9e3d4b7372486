"""Section 5: exact search, its guards, and how far greedy stays behind the optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import weighted_words

from mergewise.formal import (
    Merge,
    Merges,
    as_published,
    commutes,
    effective_sequences,
    exact_brute_force,
    exact_guarded,
    first_occurrence,
    gain,
    greedy,
    greedy_sequences,
    is_valid,
    merge_key,
    optimal_sequences,
    strings_up_to_renaming,
    utility,
    valid_sequences,
    yield_of,
)
from mergewise.formal.exact import search

Guard = Callable[[Merges, Merge], bool]


# The guards of the paper, of its scripts, and ours, as functions of what was chosen and what may
# follow.


def ordered_conflict(merges: Merges, merge: Merge) -> bool:
    """The literal guard, where only an end of the new merge at the start of the last conflicts."""
    if not merges:
        return True
    last, new = yield_of(merges[-1]), yield_of(merge)
    return new[-1] != last[0] and len(new) >= len(last) and new >= last


def conflicts_are_explored(merges: Merges, merge: Merge) -> bool:
    """A kinder reading: what conflicts may follow, and the rest must satisfy the order."""
    return (
        not merges
        or as_published.conflicts(merges[-1], merge)
        or as_published.is_ordered(merge, merges[-1])
    )


def conflicts_of_letters(merges: Merges, merge: Merge) -> bool:
    """The same with a total order; conflict still compares the letters at the ends of yields."""
    return (
        not merges
        or as_published.conflicts(merges[-1], merge)
        or merge_key(merges[-1]) < merge_key(merge)
    )


def authors_script(merges: Merges, merge: Merge) -> bool:
    """What the authors' code does: conflict of parts, then longer, then smaller yields first."""
    if not merges:
        return True
    last = merges[-1]
    if last[1] == merge[0] or last[0] == merge[1]:
        return True
    old, new = yield_of(last), yield_of(merge)
    return len(new) > len(old) or old > new


def normal_forms_only(merges: Merges, merge: Merge) -> bool:
    """Stronger than our guard: look back past everything that commutes; one order per trace."""
    for earlier in reversed(merges):
        if not commutes(earlier, merge):
            return True
        if merge_key(earlier) > merge_key(merge):
            return False
    return True


def strings(lengths: Iterable[int], num_letters: int) -> list[str]:
    return [s for length in lengths for s in strings_up_to_renaming(length, num_letters)]


# Equation 4 and brute force


def test_equation_4_brute_force_is_the_optimum_over_all_valid_sequences() -> None:
    """Against every valid sequence over the alphabet, effective or not."""
    for text in strings(range(1, 7), 2):
        for num_merges in (1, 2, 3):
            best = max(utility(merges, text) for merges in valid_sequences("ab", num_merges))
            found = exact_brute_force(text, num_merges)
            assert found.utility == best == utility(found.merges, text)
            assert is_valid(found.merges)


def test_equation_4_the_optimum_need_not_be_unique() -> None:
    assert optimal_sequences("aab", 1) == [(("a", "a"),), (("a", "b"),)]


def test_equation_4_optimal_sequences_are_all() -> None:
    for text in strings(range(1, 7), 3):
        for num_merges in (1, 2, 3):
            best = exact_brute_force(text, num_merges).utility
            sequences = [merges for merges, _ in effective_sequences(text, num_merges)]
            assert optimal_sequences(text, num_merges) == [
                merges for merges in sequences if utility(merges, text) == best
            ]


def test_equation_4_padding_where_the_text_collapses_early() -> None:
    """Two merges make abab one token; to have |μ| = 4, two more follow that never act on it.

    After a prefix they may act, so σ depends on them: [b,a] before μ* saves 1, or 2.
    """
    ab: Merge = ("a", "b")
    ba: Merge = ("b", "a")
    optimal: list[Merge] = [ab, (ab, ab)]
    assert utility(optimal, "abab") == exact_brute_force("abab", 4).utility == 3
    padded: list[Merge] = [*optimal, ba, ("a", ba)]
    assert is_valid(padded)
    assert utility(padded, "abab") == 3
    assert gain(padded[2:], "abab", after=optimal) == 0
    assert utility([ba, *optimal], "abab") == 1
    assert utility([ba, *padded], "abab") == 2


# Algorithm 3


def test_algorithm_3_corrected_guard_is_exact_exhaustively() -> None:
    """Every string with n <= 7 and three letters, M <= 3."""
    for text in strings(range(1, 8), 3):
        for num_merges in (1, 2, 3):
            found = exact_guarded(text, num_merges)
            assert found.utility == exact_brute_force(text, num_merges).utility
            assert found.utility == utility(found.merges, text)


@given(weighted_words(), st.integers(0, 3))
def test_algorithm_3_corrected_guard_is_exact_on_words(
    words: Mapping[str, int], num_merges: int
) -> None:
    found = exact_guarded(words, num_merges)
    assert found.utility == exact_brute_force(words, num_merges).utility
    assert found.utility == utility(found.merges, words)
    assert is_valid(found.merges)


@given(weighted_words(max_words=1, max_size=12), st.integers(0, 3))
def test_algorithm_3_corrected_guard_visits_no_more(
    words: Mapping[str, int], num_merges: int
) -> None:
    normal = search(words, num_merges, normal_forms_only).nodes
    guarded = exact_guarded(words, num_merges).nodes
    assert normal <= guarded <= exact_brute_force(words, num_merges).nodes


@pytest.mark.parametrize(("text", "found", "optimum"), [("aaa", 1, 2), ("aba", 1, 2)])
def test_algorithm_3_literal_guard_fails(text: str, found: int, optimum: int) -> None:
    assert as_published.exact(text, 2).utility == found
    assert exact_brute_force(text, 2).utility == optimum


@pytest.mark.parametrize(
    ("guard", "text", "num_merges", "found", "optimum"),
    [
        (ordered_conflict, "aaa", 2, 1, 2),
        (conflicts_are_explored, "aabab", 3, 3, 4),
        (conflicts_are_explored, "aaabaab", 2, 3, 4),
        (conflicts_of_letters, "bbcacabcacbcabbcbbc", 4, 11, 12),
    ],
)
def test_algorithm_3_intermediate_guards_fail(
    guard: Guard, text: str, num_merges: int, found: int, optimum: int
) -> None:
    assert search(text, num_merges, guard).utility == found
    assert exact_guarded(text, num_merges).utility == optimum
    assert exact_brute_force(text, num_merges).utility == optimum


def test_algorithm_3_intermediate_guards_have_no_smaller_failure() -> None:
    """aabab is the first at M = 3 and aaabaab at M = 2, where conflicts are explored."""
    for length in range(1, 8):
        for text in strings_up_to_renaming(length, 3):
            for num_merges in (2, 3):
                wrong = (
                    search(text, num_merges, conflicts_are_explored).utility
                    < exact_brute_force(text, num_merges).utility
                )
                assert not (wrong and length < (7 if num_merges == 2 else 5))


def test_algorithm_3_what_the_letters_lose() -> None:
    """b[bc] and [bc]a share the token bc, but their yields "do not conflict"."""
    bc: Merge = ("b", "c")
    bca: Merge = (bc, "a")
    merges: list[Merge] = [bc, bca, (bca, "c"), ("b", bc)]
    assert utility(merges, "bbcacabcacbcabbcbbc") == 12
    assert not as_published.conflicts(("b", bc), bca)
    assert not commutes(("b", bc), bca)


def wrong_answers(guard: Guard, instances: list[tuple[str, int, int]]) -> int:
    return sum(search(text, m, guard).utility < best for text, m, best in instances)


def literal(merges: Merges, merge: Merge) -> bool:
    return not merges or as_published.is_ordered(merge, merges[-1])


@pytest.mark.slow
def test_algorithm_3_guard_table_up_to_length_8() -> None:
    """2708 instances: n <= 7 with three letters and n = 8 with two, M <= 4."""
    texts = [*strings(range(2, 8), 3), *strings([8], 2)]
    instances = [(x, m, exact_brute_force(x, m).utility) for x in texts for m in range(1, 5)]
    assert len(instances) == 2708
    assert wrong_answers(literal, instances) == 665
    assert wrong_answers(ordered_conflict, instances) == 404
    assert wrong_answers(conflicts_are_explored, instances) == 40
    assert wrong_answers(conflicts_of_letters, instances) == 0
    assert wrong_answers(authors_script, instances) == 0
    assert wrong_answers(normal_forms_only, instances) == 0
    assert all(exact_guarded(text, m).utility == best for text, m, best in instances)


@pytest.mark.slow
def test_algorithm_3_guard_table_and_nodes_at_length_9() -> None:
    """11051 strings with four letters, M = 3; the nodes leave out the empty sequence."""
    texts = strings([9], 4)
    assert len(texts) == 11_051
    optima = [exact_brute_force(text, 3) for text in texts]
    assert sum(optimum.nodes - 1 for optimum in optima) == 2_946_620
    instances = [(text, 3, best.utility) for text, best in zip(texts, optima, strict=True)]
    assert wrong_answers(literal, instances) == 1191
    assert wrong_answers(conflicts_are_explored, instances) == 64
    guards: list[tuple[Guard, int]] = [
        (authors_script, 1_995_907),
        (normal_forms_only, 1_806_343),
    ]
    for guard, nodes in guards:
        found = [search(text, 3, guard) for text in texts]
        assert [f.utility for f in found] == [best for _, _, best in instances]
        assert sum(f.nodes - 1 for f in found) == nodes
    guarded = [exact_guarded(text, 3) for text in texts]
    assert [f.utility for f in guarded] == [best for _, _, best in instances]
    assert sum(f.nodes - 1 for f in guarded) == 1_817_619


# Greedy against the optimum


def greedy_utilities(text: str, num_merges: int) -> tuple[int, int, int]:
    """Greedy's utility with ties by first occurrence, and its worst and best over all ties."""
    fixed = utility(greedy(text, num_merges, ties=first_occurrence), text)
    values = [utility(merges, text) for merges in greedy_sequences(text, num_merges)]
    return fixed, min(values), max(values)


FIRST_OCCURRENCE, BEST_TIES = 0, 2
SUBOPTIMAL = [
    (BEST_TIES, "aaaabaaab", 3, 5, 6),
    (BEST_TIES, "aaaabaaab", 4, 6, 7),
    (BEST_TIES, "aaaabaaaba", 2, 4, 5),
    (FIRST_OCCURRENCE, "aaabaab", 2, 3, 4),
    (FIRST_OCCURRENCE, "aabaaaba", 3, 4, 6),
    (FIRST_OCCURRENCE, "aabaabbaaabba", 4, 7, 10),
]


@pytest.mark.parametrize(("ties", "text", "num_merges", "found", "optimum"), SUBOPTIMAL)
def test_greedy_is_suboptimal(
    ties: int, text: str, num_merges: int, found: int, optimum: int
) -> None:
    assert greedy_utilities(text, num_merges)[ties] == found
    assert exact_brute_force(text, num_merges).utility == optimum


def is_optimal_under_some_ties(text: str, num_merges: int) -> bool:
    best = exact_guarded(text, num_merges).utility
    return any(utility(merges, text) == best for merges in greedy_sequences(text, num_merges))


@pytest.mark.slow
def test_greedy_is_optimal_under_some_ties_up_to_length_8() -> None:
    """aaaabaaab is a shortest: none with n <= 8 and five letters, M <= 4."""
    for text in strings(range(1, 9), 5):
        assert all(is_optimal_under_some_ties(text, num_merges) for num_merges in range(1, 5))


@pytest.mark.slow
def test_greedy_is_optimal_under_some_ties_up_to_length_9_at_two_merges() -> None:
    """aaaabaaaba is a shortest at M = 2: none with n <= 9 and five letters."""
    assert all(is_optimal_under_some_ties(text, 2) for text in strings([9], 5))


def test_greedy_by_first_occurrence_is_optimal_up_to_length_6() -> None:
    """aaabaab, n = 7, is the shortest on which it is not; M <= 4."""
    for text in strings(range(1, 7), 5):
        for num_merges in range(1, 5):
            chosen = greedy(text, num_merges, ties=first_occurrence)
            assert utility(chosen, text) == exact_guarded(text, num_merges).utility


@pytest.mark.parametrize("text", ["aabaabcacbacb", "abacbacadbccbcc"])
def test_greedy_attains_five_eighths_under_the_worst_ties(text: str) -> None:
    """M = 4: greedy saves 5 to 8 as its ties fall, and the optimum is 8."""
    _, worst, best = greedy_utilities(text, 4)
    assert (worst, best) == (5, 8)
    assert exact_brute_force(text, 4).utility == 8
    assert Fraction(worst, 8) == Fraction(5, 8)


def test_greedy_is_optimal_at_one_merge() -> None:
    for text in strings(range(1, 8), 4):
        assert greedy_utilities(text, 1) == (exact_brute_force(text, 1).utility,) * 3
