"""How bad greedy can be, and what it attains at least: docs/theory/worst_case.md."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
import worst_lists
from command_line import call

import mergewise as mw
from mergewise import _core, formal
from mergewise.formal import Merge, WorstCase
from mergewise.optimize import train_on_worst_case


def steps(case: WorstCase) -> list[tuple[Merge, Counter[Merge]]]:
    """Greedy's merges of a family, each with the counts of all pairs before it."""
    words = formal.words_of(case.words)
    found = []
    for merge in case.chosen:
        found.append((merge, formal.pair_counts(words)))
        words = {formal.apply_one(merge, word): count for word, count in words.items()}
    return found


def saved_by_pairs(case: WorstCase) -> int:
    """κ of the rival; a word is left alone by merges whose pairs are not in it."""
    rival = set(case.rival)
    return sum(
        count * formal.utility([pair for pair in pairwise(word) if pair in rival], word)
        for word, count in case.words.items()
    )


# The family


@pytest.mark.parametrize(("size", "count"), [(8, None), (8, 512), (9, 1000)])
def test_greedy_has_no_choice_on_the_family(size: int, count: int | None) -> None:
    case = formal.worst_case(size, count=count)
    for merge, counts in steps(case):
        (first, most), (_, second) = counts.most_common(2)
        assert (first, second < most) == (merge, True)


def test_the_exact_family_saves_what_the_formula_says() -> None:
    """By the definition of utility; the surplus of a step is what makes its choice strict."""
    case = formal.worst_case(8)
    rival = formal.utility(case.rival, case.words)
    surplus = 8 * sum(range(1, 9))
    assert rival == saved_by_pairs(case) == 64 * 8**8
    greedy = formal.utility(case.chosen, case.words)
    assert Fraction(greedy - surplus, rival) == (1 - Fraction(6, 8) ** 8) / 2


def test_each_round_of_the_family_takes_two_of_the_rival_s_for_one() -> None:
    """In round s all pairs of the rival fall from c_s to c_(s+1); greedy's pairs count c_s."""
    size, total = 9, 9**9
    case = formal.worst_case(size)
    for index, (merge, counts) in enumerate(steps(case)):
        shift, j = divmod(index, size)
        expected = total * Fraction(size - 2, size) ** shift
        assert counts[merge] == expected + size - j
        if j == 0:
            assert {counts[pair] for pair in case.rival} == {expected}


def test_what_is_left_over_never_exceeds_the_last_round() -> None:
    """(1 - 2/r)^(r-1) grows with r, and 1/r is below it from r = 8 on."""
    last = [(1 - Fraction(2, size)) ** (size - 1) for size in range(2, 200)]
    assert last == sorted(last)
    assert last[8 - 2] > Fraction(1, 8)
    assert last[7 - 2] < Fraction(1, 7)


@pytest.mark.parametrize("size", [8, 12, 16, 32, pytest.param(64, marks=pytest.mark.slow)])
def test_training_on_the_family(size: int) -> None:
    """Up to M = 4,096, by the core, with the rival by definition."""
    found = train_on_worst_case(size**2)
    case = formal.worst_case(size, count=10**7 * size)
    assert found.rival == saved_by_pairs(case) == size**2 * 10**7 * size
    formula = (1 - (1 - Fraction(2, size)) ** size) / 2
    assert found.ratio == pytest.approx(float(formula), abs=1e-6)
    assert found.ratio > formal.flat_guarantee(size**2) > formal.guarantee(2)


def test_the_family_as_one_text() -> None:
    """The same merges, which save the same: a pair with a separator occurs once."""
    case = formal.worst_case(8, count=512)
    text = formal.one_text(case.words)
    assert len(text) == sum((len(word) + 1) * count for word, count in case.words.items()) - 1
    trained = mw.train(mw.count([text], pattern=None), num_merges=64, alphabet="chars")
    assert [(p.decode(), q.decode()) for p, q in trained.merges] == list(case.chosen)
    saved = len(text) - len(trained.encode(text))
    assert saved == formal.utility(case.chosen, case.words)
    rival = sum(pair in set(case.rival) for pair in pairwise(text))  # no two share a symbol
    assert rival == saved_by_pairs(case) == 64 * 512
    assert Fraction(saved, rival) < Fraction(6, 13)


@pytest.mark.parametrize(
    ("size", "count", "message"),
    [(7, None, "size must be 8 or more"), (8, 511, "count must be 512 or more")],
)
def test_sizes_that_are_too_small(size: int, count: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        formal.worst_case(size, count=count)


def test_too_many_words_for_one_text() -> None:
    with pytest.raises(ValueError, match="separators"):
        formal.one_text({"ab": 200_000})


def test_the_family_on_the_command_line() -> None:
    done = call("curvature", "--family", "--merges", "64")
    assert done.status == 0
    assert "greedy/rival      0.4499\n" in done.text
    assert "at least 0.3577 of every rival\n" in done.text
    facts = json.loads(call("curvature", "--family", "--merges", "64", "--json").text)
    assert facts["ratio"] == pytest.approx(0.449944, abs=1e-6)
    assert facts["least"] == pytest.approx((1 - (1 - 2 / 64) ** 64) / 2)


# Small numbers of merges: paper/worst_lists.py


def counts_of(words: dict[str, int]) -> mw.WordCounts:
    return mw.WordCounts(_core.WordCounts(list(words.items()), pattern="whitespace"))


def test_the_lists_that_are_kept() -> None:
    """Greedy may choose its list, the rival is optimal, and no ratio is below what is proved."""
    found = worst_lists.kept()
    for num_merges, case in found.items():
        assert len(case.lists.chosen) == len(case.lists.rival) == num_merges
        assert case.is_greedy()
        assert formal.flat_guarantee(num_merges) < case.ratio < Fraction(5, 8) + (num_merges == 2)
        best = mw.solve(counts_of(case.words), num_merges=num_merges, alphabet="chars")
        assert best.status == "optimal"
        assert best.utility == formal.utility(case.lists.rival, case.words)
    exact = {2: "3/4", 3: "7/12", 4: "9/16", 5: "5/9", 6: "58/107", 7: "10/19", 8: "66/125"}
    exact |= {10: "19/37", 11: "20/39", 12: "1/2"}
    assert {number: str(found[number].ratio) for number in exact} == exact
    rounded = {9: 0.5231, 14: 0.4977, 16: 0.4897, 18: 0.4874, 20: 0.4799, 24: 0.4721, 36: 0.4538}
    assert {number: round(float(found[number].ratio), 4) for number in rounded} == rounded


def test_from_eighteen_merges_on_greedy_must_choose_the_list_that_is_kept() -> None:
    for num_merges, case in worst_lists.kept().items():
        if num_merges >= 18:
            words = formal.words_of(case.words)
            for merge in case.lists.chosen:
                assert formal.best_pairs(words) == [merge]
                words = {formal.apply_one(merge, word): count for word, count in words.items()}


def test_the_linear_program() -> None:
    """The lists that are kept for two and twelve merges, from the words of up to four letters."""
    pytest.importorskip("highspy")
    for num_merges, letters, ratio in ((2, "ab", "3/4"), (12, "abcdef", "1/2")):
        lists = worst_lists.kept()[num_merges].lists
        found = worst_lists.instance_of(lists, worst_lists.words_up_to(letters, 4))
        assert found.is_greedy()
        assert str(found.ratio) == ratio


def test_lists_are_enumerated_up_to_the_names_of_letters() -> None:
    lists = list(worst_lists.all_pairs_of_lists(2, "ab"))
    assert len(set(lists)) == len(lists)
    assert len(list(worst_lists.all_lists(2, "ab"))) == 4 * (3 * 3 - 1)
    renamed = str.maketrans("ab", "ba")
    shown = set(map(worst_lists.shown, lists))
    for lists_ in lists[:500]:
        used = worst_lists.letters_in((*lists_.chosen, *lists_.rival))
        assert used in {"a", "ab"}
        if used == "ab":
            assert worst_lists.shown(lists_).translate(renamed) not in shown
