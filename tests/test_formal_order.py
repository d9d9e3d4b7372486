"""Section 5: when two merge sequences do the same, as published and corrected."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import merge_lists, texts

from mergewise.formal import (
    Merge,
    Merges,
    Tokens,
    Tree,
    apply,
    apply_one,
    are_equivalent,
    as_published,
    commutes,
    conflicts,
    effective_sequences,
    is_valid,
    live,
    merge_key,
    normal_form,
    strings_up_to_renaming,
    valid_sequences,
    yield_of,
)

AB: Merge = ("a", "b")
AA: Merge = ("a", "a")
AB_STRINGS = ["".join(letters) for n in range(1, 9) for letters in product("ab", repeat=n)]


@cache
def results() -> dict[tuple[Merge, ...], tuple[Tokens, ...]]:
    """What each of the 448 sequences of three merges over {a, b} makes of all short strings."""
    return {
        merges: tuple(apply(merges, string) for string in AB_STRINGS)
        for merges in valid_sequences("ab", 3)
    }


@cache
def classes() -> list[list[tuple[Merge, ...]]]:
    """The 448 sequences, grouped by what they make of all short strings."""
    groups: dict[tuple[Tokens, ...], list[tuple[Merge, ...]]] = {}
    for merges, result in results().items():
        groups.setdefault(result, []).append(merges)
    return list(groups.values())


# Merges that commute


@pytest.mark.parametrize(
    ("trees", "max_length"), [(["a", "b", AB], 5), (["a", "b", AB, ("b", AB)], 4)]
)
def test_commuting_merges_exhaustively(trees: list[Tree], max_length: int) -> None:
    """`commutes` is true exactly of the pairs that agree in either order on all tokens."""
    sequences = [tokens for n in range(1, max_length + 1) for tokens in product(trees, repeat=n)]
    merges: list[Merge] = [(left, right) for left in trees for right in trees]
    for first in merges:
        once = [apply_one(first, tokens) for tokens in sequences]
        for second in merges:
            agree = all(
                apply_one(second, done) == apply([second, first], tokens)
                for done, tokens in zip(once, sequences, strict=True)
            )
            assert agree == commutes(first, second) == (not conflicts(first, second))


@pytest.mark.parametrize("trees", [["a", "b", AB, ("b", AB)], ["a", AA, (AA, "a"), "b"]])
def test_commuting_merges_separating_sequence(trees: list[Tree]) -> None:
    """[u,v] and [v,w] differ on u v w; a merge and its part, on the whole with the part undone."""
    merges: list[Merge] = [(left, right) for left in trees for right in trees]
    for first, second in permutations(merges, 2):
        if first[1] == second[0]:
            tokens: Tokens = (first[0], first[1], second[1])
        elif first in second and second[1] != first[0]:
            left, right = second
            tokens = (*first, right) if left == first else (left, *first)
        else:
            continue
        assert not commutes(first, second)
        assert apply([first, second], tokens) != apply([second, first], tokens)


@given(merge_lists("ab", max_size=5), texts("ab"), st.data())
def test_commuting_neighbours_may_be_swapped(
    merges: tuple[Merge, ...], text: str, data: st.DataObject
) -> None:
    places = [i for i in range(len(merges) - 1) if commutes(merges[i], merges[i + 1])]
    if places:
        i = data.draw(st.sampled_from(places))
        swapped = [*merges[:i], merges[i + 1], merges[i], *merges[i + 2 :]]
        assert is_valid(swapped)
        assert apply(swapped, text) == apply(merges, text)
        assert are_equivalent(swapped, merges)


# Conflict and safe, as published


def test_example_ddabcacab_outputs_are_swapped() -> None:
    """Misprint: the outputs the paper gives stand with the wrong sequences."""
    ca: Merge = ("c", "a")
    dd: Merge = ("d", "d")
    assert apply([AB, dd, ca], "ddabcacab") == (dd, AB, ca, "c", AB)
    assert apply([ca, dd, AB], "ddabcacab") == (dd, AB, ca, ca, "b")
    assert not as_published.is_safe([AB, dd, ca], 0, 2)
    assert not are_equivalent([AB, dd, ca], [ca, dd, AB])


def test_definition_5_2_misses_a_conflict() -> None:
    """x[ab] and [ab]y share the token ab; their yields do not meet in a letter."""
    first: Merge = ("x", AB)
    second: Merge = (AB, "y")
    assert not as_published.conflicts(first, second)
    assert conflicts(first, second)
    assert apply([AB, first, second], "xaby") != apply([AB, second, first], "xaby")


def test_definition_5_2_names_a_pair_that_commutes() -> None:
    """ab and [bc]d: b ends the one and begins the other, but as different tokens."""
    bc: Merge = ("b", "c")
    second: Merge = (bc, "d")
    assert as_published.conflicts(AB, second)
    assert commutes(AB, second)
    trees: list[Tree] = ["a", "b", bc, "d", AB]
    for tokens in product(trees, repeat=4):
        assert apply([AB, second], tokens) == apply([second, AB], tokens)


def test_definition_5_3_literal_range_refuses_the_papers_own_example() -> None:
    """<ab, dd, ca> ≡ <ab, ca, dd>, but "for all k < j" looks at ab, which conflicts with ca."""
    merges: list[Merge] = [AB, ("d", "d"), ("c", "a")]
    swapped = [merges[0], merges[2], merges[1]]
    assert are_equivalent(merges, swapped)
    assert as_published.is_safe(merges, 1, 2)  # the informal reading: only what is in between
    assert as_published.conflicts(merges[0], merges[2])


# Proposition 5.5


def test_proposition_5_5_safe_but_not_equivalent() -> None:
    """The swap of a[ab] and [ab]b is safe, and aabb tells the two sequences apart."""
    first: list[Merge] = [AB, ("a", AB), (AB, "b")]
    second: list[Merge] = [AB, (AB, "b"), ("a", AB)]
    assert as_published.is_safe(first, 1, 2)
    assert as_published.are_equivalent(first, second)
    assert apply(first, "aabb") == (("a", AB), "b")
    assert apply(second, "aabb") == ("a", (AB, "b"))
    assert not are_equivalent(first, second)


def test_proposition_5_5_aabb_is_the_shortest_string_that_refutes_it() -> None:
    """No string of three letters tells two safely permuted sequences of three merges apart."""
    for merges in valid_sequences("ab", 3):
        for order in permutations(merges):
            if is_valid(order) and as_published.are_equivalent(merges, order):
                for length in (1, 2, 3):
                    for letters in product("ab", repeat=length):
                        assert apply(merges, letters) == apply(order, letters)


def test_proposition_5_5_equivalent_but_not_safe() -> None:
    """ab and [aa][aa] share no part, so they commute; a ends the one and begins the other."""
    quad: Merge = (AA, AA)
    first: list[Merge] = [AA, AB, quad]
    second: list[Merge] = [AA, quad, AB]
    assert are_equivalent(first, second)
    assert all(apply(first, string) == apply(second, string) for string in AB_STRINGS)
    assert as_published.conflicts(AB, quad)
    assert not as_published.is_safe(first, 1, 2)
    assert not as_published.are_equivalent(first, second)


def test_proposition_5_5_dead_merges_are_equivalent_without_a_permutation() -> None:
    """<aa, a[aa]> ≡ <aa, aa>: behind aa no a stands before aa."""
    first: list[Merge] = [AA, ("a", AA)]
    second: list[Merge] = [AA, AA]
    assert all(apply(first, string) == apply(second, string) for string in AB_STRINGS)
    assert are_equivalent(first, second)
    assert sorted(map(str, first)) != sorted(map(str, second))
    assert not as_published.are_equivalent(first, second)


def is_safe_literally(merges: Merges, i: int, j: int) -> bool:
    """Definition 5.3 to the letter: "for all k < j" and "for all k > i", wherever they are."""
    swapped = list(merges)
    swapped[i], swapped[j] = merges[j], merges[i]
    return (
        is_valid(swapped)
        and not any(as_published.conflicts(merges[k], merges[j]) for k in range(j))
        and not any(as_published.conflicts(merges[k], merges[i]) for k in range(i + 1, len(merges)))
    )


def literally_reachable(merges: tuple[Merge, ...]) -> set[tuple[Merge, ...]]:
    seen = {merges}
    front = [merges]
    while front:
        here = front.pop()
        for i, j in ((0, 1), (0, 2), (1, 2)):
            swapped = list(here)
            swapped[i], swapped[j] = here[j], here[i]
            if tuple(swapped) not in seen and is_safe_literally(here, i, j):
                seen.add(tuple(swapped))
                front.append(tuple(swapped))
    return seen


def test_proposition_5_5_number_of_failures() -> None:
    """Of the ordered pairs of 448 sequences, 12 and 370 fail to the letter; informally 16, 310."""
    equivalent = {pair for group in classes() for pair in permutations(group, 2)}
    by_letter = {
        (merges, other)
        for merges in results()
        for other in literally_reachable(merges)
        if merges != other
    }
    informal = {
        (merges, order)
        for merges in results()
        for order in permutations(merges)
        if order != merges and is_valid(order) and as_published.are_equivalent(merges, order)
    }
    assert (len(by_letter - equivalent), len(equivalent - by_letter)) == (12, 370)
    assert (len(informal - equivalent), len(equivalent - informal)) == (16, 310)


def test_proposition_5_5_corrected_exhaustively() -> None:
    """All 448 sequences of three merges, on all strings of up to 8 letters: no failure."""
    assert sum(map(len, classes())) == 448
    for group in classes():
        assert all(are_equivalent(group[0], merges) for merges in group)
    leaders = [group[0] for group in classes()]
    for index, first in enumerate(leaders):
        assert not any(are_equivalent(first, second) for second in leaders[:index])


def test_proposition_5_5_live_merges_are_those_that_replace_something() -> None:
    """Eight letters suffice: three merges have a yield of at most eight."""
    for merges, result in results().items():
        for index, merge in enumerate(merges):
            before = [apply(merges[:index], string) for string in AB_STRINGS]
            acts = any(apply_one(merge, tokens) != tokens for tokens in before)
            assert acts == (merge in live(merges))
        shorter = live(merges)
        assert is_valid(shorter)
        assert all(
            apply(shorter, string) == tokens
            for string, tokens in zip(AB_STRINGS, result, strict=True)
        )


@given(merge_lists("ab", max_size=5), texts("ab"))
def test_normal_form_does_the_same(merges: tuple[Merge, ...], text: str) -> None:
    normal = normal_form(merges)
    assert sorted(map(str, normal)) == sorted(map(str, merges))
    assert is_valid(normal)
    assert normal_form(normal) == normal
    assert apply(normal, text) == apply(merges, text)
    assert apply(live(merges), text) == apply(merges, text)


def test_normal_form_is_one_for_each_trace() -> None:
    """Against the closure under swaps of neighbours, for all valid sequences of three merges."""
    for merges in valid_sequences("ab", 3):
        trace = {merges}
        front = [merges]
        while front:
            a, b, c = front.pop()
            for commute, swapped in ((commutes(a, b), (b, a, c)), (commutes(b, c), (a, c, b))):
                if commute and swapped not in trace:
                    trace.add(swapped)
                    front.append(swapped)
        for order in permutations(merges):
            assert (normal_form(order) == normal_form(merges)) == (order in trace)


# Definition 5.6


def test_definition_5_6_forbids_what_is_needed() -> None:
    """Neither [ba] before a[ba], nor a conflicting neighbour, is in the order of Algorithm 3."""
    ba: Merge = ("b", "a")
    assert not as_published.is_ordered(("a", ba), ba)
    assert not as_published.is_ordered((AA, "a"), AA)


def test_definition_5_6_not_every_sequence_is_equivalent_to_an_ordered_one() -> None:
    """<aa, [aa]a> is valid and live, its only valid order, and not ordered."""
    merges: list[Merge] = [AA, (AA, "a")]
    assert live(merges) == tuple(merges)
    equivalent = [other for other in valid_sequences("a", 2) if are_equivalent(merges, other)]
    assert equivalent == [tuple(merges)]
    assert not as_published.is_ordered(merges[1], merges[0])


def test_merge_key_orders_the_effective_merges_of_a_text_totally() -> None:
    """Length, then yield: distinct, by Lemma Y, on all merges that can act on one text."""
    for length in range(2, 7):
        for text in strings_up_to_renaming(length, 3):
            for merges, _ in effective_sequences(text, 4):
                keys = [merge_key(merge) for merge in merges]
                assert len(set(keys)) == len(keys)
                assert keys == [(len(yield_of(m)), yield_of(m)) for m in merges]
