"""The paper's examples and propositions, sections 2 to 4 and appendices A.1 and B.

Each test names the statement it shows. "Misprint" marks what the paper prints and does not mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import merge_lists, texts, weighted_words

from mergewise.formal import (
    Merge,
    Merges,
    Text,
    Tokens,
    Tree,
    apply,
    apply_one,
    as_published,
    best_pairs,
    effective_sequences,
    exact_brute_force,
    fast_greedy,
    first_invalid,
    first_occurrence,
    gain,
    greedy,
    greedy_sequences,
    is_greedy,
    is_valid,
    non_iterative,
    observed_merges,
    pair_counts,
    show,
    smallest_ids,
    split_words,
    strings_up_to_renaming,
    submerges,
    utility,
    valid_sequences,
    words_of,
    yield_of,
)

PICKLES = "picked pickled pickles"


def strings(max_length: int, num_letters: int) -> list[str]:
    return [
        string
        for length in range(1, max_length + 1)
        for string in strings_up_to_renaming(length, num_letters)
    ]


def distinct_sequences(alphabet: str, max_merges: int) -> list[tuple[Merge, ...]]:
    return [
        merges for length in range(max_merges + 1) for merges in valid_sequences(alphabet, length)
    ]


def next_merges(alphabet: Text, merges: Merges) -> Iterator[Merge]:
    """Every merge that can follow: a pair of symbols and of merges that were made."""
    parts: dict[Tree, None] = dict.fromkeys([*alphabet, *merges])
    for left in parts:
        for right in parts:
            yield left, right


def apply_to_letters(merges: Merges, text: str) -> str:
    """`apply` by `str.replace`: a merge is one character from a private range of Unicode."""
    names: dict[Tree, str] = {}

    def name(tree: Tree) -> str:
        return tree if isinstance(tree, str) else names[tree]

    for merge in merges:
        left, right = map(name, merge)
        names.setdefault(merge, chr(0xE000 + len(names)))
        text = text.replace(left + right, names[merge])
    return text


# Section 2: merges, application, utility


def test_example_1_pickles_merges_and_lengths() -> None:
    """Its merges and pair counts, 22 units before, 19 with a vocabulary of 9 + 1."""
    pick: Merge = (("p", "i"), ("c", "k"))
    merges: list[Merge] = [("p", "i"), ("c", "k"), pick, ("e", "d"), (pick, "l")]
    assert len(PICKLES) == 22
    assert len(set(PICKLES)) == 9
    assert len(apply(merges[:1], PICKLES)) == 19
    assert [gain([merge], PICKLES, after=merges[:i]) for i, merge in enumerate(merges)] == [
        *(3, 3, 3),
        *(2, 2),
    ]
    assert is_greedy(merges, PICKLES)


def test_example_1_misprints_vocabulary_and_final_length() -> None:
    """Five merges make 14 symbols, not "a maximum of 13", and 9 tokens, not "9+1 symbols"."""
    pick: Merge = (("p", "i"), ("c", "k"))
    merges: list[Merge] = [("p", "i"), ("c", "k"), pick, ("e", "d"), (pick, "l")]
    tokens = apply(merges, PICKLES)
    assert len(set(PICKLES)) + len(merges) == 14
    assert [yield_of(token) for token in tokens] == [
        *("pick", "ed", " "),
        *("pickl", "ed", " "),
        *("pickl", "e", "s"),
    ]
    assert len(tokens) == 9
    assert len(set(tokens)) == 6


def test_example_1_ties_are_not_first_occurrence() -> None:
    """Step 2 takes ck though pi+c ties and comes first; step 4 is a five-way tie."""
    second = best_pairs(apply([("p", "i")], PICKLES))
    assert second[0] == (("p", "i"), "c")
    assert ("c", "k") in second[1:]
    pick: Merge = (("p", "i"), ("c", "k"))
    fourth = best_pairs(apply([("p", "i"), ("c", "k"), pick], PICKLES))
    assert set(fourth) == {("e", "d"), ("d", " "), (" ", pick), (pick, "l"), ("l", "e")}


def test_example_2_2_is_not_valid() -> None:
    merges: list[Merge] = [("a", "b"), ("a", ("a", "b")), (("a", "b"), ("a", "c"))]
    assert first_invalid(merges) == (2, ("a", "c"))
    assert [show(merge) for merge in merges] == ["[a,b]", "[a,[a,b]]", "[[a,b],[a,c]]"]


@given(merge_lists(), merge_lists())
def test_definition_2_3_valid_closed_under_concatenation(first: Merges, second: Merges) -> None:
    assert is_valid(first)
    assert is_valid([*first, *second])


@given(merge_lists(min_size=1), merge_lists(), texts("ab"), st.data())
def test_definition_2_3_footnote_repeats_gain_nothing(
    merges: Merges, more: Merges, text: str, data: st.DataObject
) -> None:
    """A merge that was applied replaces nothing later, whatever came in between (exhaustion)."""
    repeated = data.draw(st.sampled_from(merges))
    assert gain([repeated], text, after=[*merges, *more]) == 0


def test_exhaustion_no_adjacent_parts_ever_again() -> None:
    """After [u, v] no u stands before v, on every string, after every valid sequence."""
    for merges in distinct_sequences("ab", 3):
        for text in strings(6, 2):
            assert not set(merges) & set(pairwise(apply(merges, text)))


def test_figure_1_forest_of_abaabacbcb() -> None:
    ab: Merge = ("a", "b")
    cb: Merge = ("c", "b")
    aba: Merge = (ab, "a")
    merges: list[Merge] = [ab, cb, aba, (aba, cb)]
    assert apply(merges, "abaabacbcb") == (aba, (aba, cb), cb)
    assert [yield_of(tree) for tree in apply(merges, "abaabacbcb")] == ["aba", "abacb", "cb"]


def test_definition_2_4_yield() -> None:
    assert yield_of((("a", "a"), (("c", "b"), "c"))) == "aacbc"


@given(merge_lists("abc"), texts())
def test_definition_2_4_yield_undoes_apply(merges: Merges, text: str) -> None:
    assert "".join(yield_of(tree) for tree in apply(merges, text)) == text


@given(merge_lists("abc"), texts())
def test_apply_replaces_from_left_to_right(merges: Merges, text: str) -> None:
    """Section 2.2: `apply` is a chain of left-to-right replacements of strings."""
    assert len(apply(merges, text)) == len(apply_to_letters(merges, text))


def test_section_2_2_yields_of_merges_as_sennrich_writes_them() -> None:
    """<ab, ab+c, abc+d> could be two sequences, and one of the two is invalid."""
    ab: Merge = ("a", "b")
    abc: Merge = (ab, "c")
    assert is_valid([ab, abc, (abc, "d")])
    assert first_invalid([ab, abc, (("a", ("b", "c")), "d")]) == (2, ("a", ("b", "c")))


def test_lemma_y_effective_merges_have_distinct_yields() -> None:
    """So a sequence of yields, as Sennrich writes it, names one sequence of merges only."""
    for text in strings(7, 3):
        for merges, _ in effective_sequences(text, 4):
            assert len({yield_of(merge) for merge in merges}) == len(merges)


def test_lemma_y_a_token_is_what_its_yield_becomes_alone() -> None:
    """If t stands in Apply_μ(x), then Apply_μ(Yield(t)) = t."""
    for merges in distinct_sequences("ab", 3):
        for text in strings(6, 2):
            for tree in apply(merges, text):
                assert apply(merges, yield_of(tree)) == (tree,)


def test_definition_2_5_utility_of_the_longest_effective_sequences() -> None:
    """|x| - 1 effective merges save |x| - 1, the most there is."""
    for text in strings(5, 3):
        for merges, tokens in effective_sequences(text, len(text) - 1):
            assert 0 <= utility(merges, text) == len(text) - len(tokens) <= len(text) - 1
            if len(merges) == len(text) - 1:
                assert utility(merges, text) == len(text) - 1


def test_definition_2_5_no_such_sequence_on_aaaa() -> None:
    """The remark is often void: at most two merges replace something on aaaa."""
    assert max(len(merges) for merges, _ in effective_sequences("aaaa", 3)) == 2


@given(merge_lists(), merge_lists(), texts("ab"))
def test_definition_2_6_gain(merges: Merges, more: Merges, text: str) -> None:
    assert gain(more, text, after=merges) == len(apply(merges, text)) - len(
        apply(more, apply(merges, text))
    )


def test_pair_counts_of_aaa() -> None:
    """Section 2.1: aa occurs twice in aaa and can be merged once."""
    aa: Merge = ("a", "a")
    assert pair_counts("aaa", overlaps="count")[aa] == 2
    assert pair_counts("aaa")[aa] == gain([aa], "aaa") == 1


def test_pair_counts_are_gains_on_every_small_string() -> None:
    for text in strings(7, 3):
        for merges, tokens in effective_sequences(text, 2):
            counts = pair_counts(tokens)
            assert set(counts) == set(pairwise(tokens))
            for pair, count in counts.items():
                assert count == gain([pair], text, after=merges)


# Algorithm 1, and what greedy is


def test_algorithm_1_misprint_runs_once_too_often() -> None:
    """`for i in {0, ..., M}` makes M + 1 merges, where the text says M."""
    assert len(as_published.greedy_steps("abcdef", 3)) == 4
    assert len(greedy("abcdef", 3)) == 3


def check_greedy(text: str, merges: Merges) -> None:
    """Every merge gains the most among all merges that may follow, from the definitions alone."""
    for index, merge in enumerate(merges):
        before = merges[:index]
        most = max(gain([other], text, after=before) for other in next_merges(text, before))
        assert gain([merge], text, after=before) == most > 0


def test_algorithm_1_is_greedy_exhaustively() -> None:
    for text in strings(6, 3):
        check_greedy(text, greedy(text, 4))
        check_greedy(text, greedy(text, 4, ties=first_occurrence))


@given(texts(max_size=14), st.integers(0, 5))
def test_algorithm_1_is_greedy(text: str, num_merges: int) -> None:
    check_greedy(text, greedy(text, num_merges))


def test_algorithm_1_stops_where_no_pair_is_left() -> None:
    for text in strings(6, 3):
        merges = greedy(text, len(text))
        assert len(apply(merges, text)) == 1
        assert greedy(text, len(text) + 5) == merges


def test_greedy_sequences_are_all_that_is_greedy() -> None:
    """Against every effective sequence: exactly those whose every step gains the most."""
    for text in strings(6, 3):
        found = set(greedy_sequences(text, 3))
        sequences = [merges for merges, _ in effective_sequences(text, 3)]
        finished = [m for m in sequences if len(m) == 3 or len(apply(m, text)) == 1]
        assert found == {merges for merges in finished if is_greedy(merges, text)}
        for merges in found:
            check_greedy(text, merges)


@given(texts(max_size=16), st.integers(0, 5))
def test_greedy_under_both_tie_rules_is_greedy(text: str, num_merges: int) -> None:
    for ties in (smallest_ids, first_occurrence):
        assert is_greedy(greedy(text, num_merges, ties=ties), text)


def test_is_greedy_refuses_a_merge_that_gains_less() -> None:
    for text in strings(6, 3):
        for pair, count in pair_counts(text).items():
            assert is_greedy([pair], text) == (count == max(pair_counts(text).values()))


def test_greedy_stops_below_min_count() -> None:
    assert greedy("ababc", 5, min_count=2) == (("a", "b"),)


def test_greedy_with_overlaps_counted_as_gage_does() -> None:
    """In aaa, bc, bc the pair aa counts 2 with overlaps and 1 without."""
    words = {"aaa": 1, "bc": 2}
    assert best_pairs(words, overlaps="count") == [("a", "a"), ("b", "c")]
    assert best_pairs(words) == [("b", "c")]


def test_code_1_counts_overlaps_and_fails_on_one_token() -> None:
    """In aaabcbc it takes aa, which counts 2 and saves 1, though bc saves 2."""
    assert as_published.bpe("aaabcbc", 1) == [("a", "a"), "a", "b", "c", "b", "c"]
    with pytest.raises(IndexError):
        as_published.bpe("ab", 2)


def test_code_2_never_merges() -> None:
    """Code 2 hands a pair with its count to `merge`, which equals no pair."""
    for text in strings(5, 2):
        if len(text) > 1:
            assert as_published.bpe_without_overlaps(text, 3) == list(text)
    with pytest.raises(IndexError):
        as_published.bpe_without_overlaps("a", 1)


# Section 3: monotone, submodular, hierarchical


def test_proposition_3_2_monotone_exhaustively() -> None:
    """Misprint in its proof: the added merge is μ_{n-1}, not μ_n."""
    for merges in distinct_sequences("ab", 3):
        for text in strings(6, 2):
            utilities = [utility(merges[:n], text) for n in range(len(merges) + 1)]
            assert utilities == sorted(utilities)


@given(merge_lists("abc", max_size=6), texts())
def test_proposition_3_2_monotone(merges: Merges, text: str) -> None:
    utilities = [utility(merges[:n], text) for n in range(len(merges) + 1)]
    assert utilities == sorted(utilities)
    assert utilities[0] == 0


@pytest.mark.parametrize(("alphabet", "max_length"), [("ab", 8), ("abc", 5)])
def test_proposition_3_4_submodular_exhaustively(alphabet: str, max_length: int) -> None:
    """κ(ν | μ') >= κ(ν | μ) for every prefix μ' of every μ of two merges, and every ν."""
    prefixes = list(valid_sequences(alphabet, 2))
    for text in strings(max_length, len(alphabet)):
        for merges in prefixes:
            stages = [apply(merges[:n], text) for n in range(3)]
            for length in range(2):
                for merge in next_merges(alphabet, merges[:length]):
                    gains = [len(stage) - len(apply_one(merge, stage)) for stage in stages[length:]]
                    assert gains == sorted(gains, reverse=True)


@given(merge_lists("ab", max_size=6), texts("ab"), st.data())
def test_proposition_3_4_submodular(merges: Merges, text: str, data: st.DataObject) -> None:
    short = merges[: data.draw(st.integers(0, len(merges)))]
    merge = data.draw(st.sampled_from(list(next_merges("ab", short))))
    assert gain([merge], text, after=short) >= gain([merge], text, after=merges)


def test_example_3_5_aabcde() -> None:
    """Misprint: it is μ'ν that is not valid; μν is valid, and the numbers are right."""
    short: list[Merge] = [("a", "a")]
    merges: list[Merge] = [("a", "a"), ("c", "d")]
    bcd: Merge = ("b", ("c", "d"))
    more: list[Merge] = [bcd, (bcd, "e")]
    assert (utility(short, "aabcde"), utility(merges, "aabcde")) == (1, 2)
    assert gain(more, "aabcde", after=short) == 0
    assert gain(more, "aabcde", after=merges) == 2
    assert not is_valid([*short, *more])
    assert is_valid([*merges, *more])


def test_definition_3_6_submerge_order_is_irreflexive() -> None:
    ab: Merge = ("a", "b")
    assert submerges((ab, ("c", ab))) == {ab, ("c", ab), "a", "b", "c"}
    for merges in valid_sequences("ab", 3):
        for merge in merges:
            assert merge not in submerges(merge)


def test_proposition_3_8_hierarchical_fails_as_published() -> None:
    """μ' = <aa>, ν' = aa, μ = <>, ν = [aa]a on aaa: 0 is not at least 1."""
    aa: Merge = ("a", "a")
    whole: Merge = (aa, "a")
    assert is_valid([aa, aa, whole])
    assert aa in submerges(whole)
    assert gain([aa], "aaa", after=[aa]) == 0
    assert gain([whole], "aaa", after=[aa, aa]) == 1


def test_proposition_3_8_figure_1_example() -> None:
    ab: Merge = ("a", "b")
    aba: Merge = (ab, "a")
    cb: Merge = ("c", "b")
    assert gain([aba], "abaabacbcb", after=[ab]) == 2
    assert gain([(aba, cb)], "abaabacbcb", after=[ab, aba, cb]) == 1


@pytest.mark.parametrize(("alphabet", "max_length"), [("ab", 7), ("abc", 5)])
def test_proposition_3_8_hierarchical_repaired(alphabet: str, max_length: int) -> None:
    """κ(ν' | μ') >= κ(ν | μ'ν'μ) where ν' does not occur in μ'; all sequences of three merges."""
    sequences = [
        (merges, [(i, j) for j in range(3) for i in range(j) if merges[i] in submerges(merges[j])])
        for merges in valid_sequences(alphabet, 3)
    ]
    for text in strings(max_length, len(alphabet)):
        for merges, below in sequences:
            if below:
                lengths = [len(apply(merges[:n], text)) for n in range(4)]
                gains = [longer - shorter for longer, shorter in pairwise(lengths)]
                for i, j in below:
                    assert gains[i] >= gains[j]


def test_proposition_3_8_hierarchical_repaired_on_effective_sequences() -> None:
    """The same for longer sequences, in which every merge replaces something."""
    for text in strings(7, 2):
        for merges, _ in effective_sequences(text, 6):
            last = gain(merges[-1:], text, after=merges[:-1])
            for index, merge in enumerate(merges[:-1]):
                if merge in submerges(merges[-1]):
                    assert gain([merge], text, after=merges[:index]) >= last


def check_lemma_x(tokens: Tokens, merge: Merge) -> None:
    before = pair_counts(tokens)
    after = pair_counts(apply_one(merge, tokens))
    for pair, count in after.items():
        if merge in pair:
            assert count <= before[merge]
        else:
            assert count <= before[pair]
    assert max(after.values(), default=0) <= max(before.values(), default=0)


def test_lemma_x_the_largest_count_never_grows_exhaustively() -> None:
    """A new pair contains the merge just made and counts at most its gain; old pairs lose."""
    for text in strings(7, 3):
        for _, tokens in effective_sequences(text, 2):
            for merge in pair_counts(tokens):
                check_lemma_x(tokens, merge)


@given(merge_lists("ab", max_size=4), texts("ab", max_size=40), st.data())
def test_lemma_x_the_largest_count_never_grows(
    merges: Merges, text: str, data: st.DataObject
) -> None:
    tokens = apply(merges, text)
    pairs = list(pair_counts(tokens))
    assume(pairs)
    check_lemma_x(tokens, data.draw(st.sampled_from(pairs)))


def best_average(text: str, prefix: Merges, merges: Merges) -> bool:
    """Whether some ν in μ has μ'ν valid and κ(ν | μ') >= κ(μ | μ') / |μ|."""
    made: set[Tree] = set(prefix)
    usable = [
        merge for merge in merges if all(isinstance(part, str) or part in made for part in merge)
    ]
    most = max(gain([merge], text, after=prefix) for merge in usable)
    return most * len(merges) >= gain(merges, text, after=prefix)


def test_lemma_a1_exhaustively() -> None:
    """For all valid μ', μ of at most two merges over {a, b}, on every string up to length 6."""
    sequences = distinct_sequences("ab", 2)
    for text in strings(6, 2):
        for prefix in sequences:
            for merges in sequences[1:]:
                assert best_average(text, prefix, merges)


def test_lemma_a1_on_effective_sequences() -> None:
    for text in strings(6, 3):
        sequences = [merges for merges, _ in effective_sequences(text, 3)]
        for prefix in sequences:
            if len(prefix) < 3:
                for merges in sequences[1:]:
                    assert best_average(text, prefix, merges)


def test_lemma_a1_counterexample_to_a_step_of_its_proof() -> None:
    """The trivial submerge of the maximiser need not gain anything; a missing one does."""
    ab: Merge = ("a", "b")
    abc: Merge = (ab, "c")
    merges: list[Merge] = [ab, abc, (abc, "d")]
    prefix: list[Merge] = [ab]
    gains = [gain([merge], "abcd", after=[*prefix, *merges[:t]]) for t, merge in enumerate(merges)]
    assert gains == [0, 1, 1]  # μ_3 is a maximiser
    trivial = [m for m in merges if all(isinstance(part, str) for part in m)]
    assert trivial == [ab]
    assert not is_valid([*prefix, merges[2]])
    assert gain([ab], "abcd", after=prefix) == 0
    smallest_missing = abc  # the repair: a minimal submerge of μ_3 that is not in μ'
    assert smallest_missing in submerges(merges[2]) - set(prefix)
    assert is_valid([*prefix, smallest_missing])
    assert gain([smallest_missing], "abcd", after=prefix) == 1
    assert best_average("abcd", prefix, merges)


def test_example_2_abaabbaa() -> None:
    """5 tokens against 4. Misprint: after ba, ab counts 1, not 2."""
    text = "abaabbaa"
    ab: Merge = ("a", "b")
    ba: Merge = ("b", "a")
    assert pair_counts(text) == {ab: 2, ba: 2, ("a", "a"): 2, ("b", "b"): 1}
    assert len(apply([ab, (ab, "a")], text)) == 5
    assert is_greedy([ab, (ab, "a")], text)
    assert len(apply([ba, (ba, "a")], text)) == 4
    assert exact_brute_force(text, 2).utility == 4
    assert pair_counts(apply([ba], text)) == {("a", ba): 1, (ba, "a"): 2, ab: 1, ("b", ba): 1}


def test_example_2_is_only_a_matter_of_ties() -> None:
    """Greedy saves 3 or 4 there, as its ties fall; the optimum is itself greedy."""
    utilities = {utility(merges, "abaabbaa") for merges in greedy_sequences("abaabbaa", 2)}
    assert utilities == {3, 4}


# Section 4: the faster algorithm


def test_algorithm_2_equals_algorithm_1_exhaustively() -> None:
    for text in [*strings(8, 2), *strings(7, 3)]:
        assert fast_greedy(text, 7) == greedy(text, 7)


@given(texts(max_size=60), st.integers(0, 12))
def test_algorithm_2_equals_algorithm_1(text: str, num_merges: int) -> None:
    assert fast_greedy(text, num_merges) == greedy(text, num_merges)


@given(texts("a", max_size=40), st.integers(0, 8))
def test_algorithm_2_counts_runs_without_overlap(text: str, num_merges: int) -> None:
    assert fast_greedy(text, num_merges) == greedy(text, num_merges)


@pytest.mark.parametrize("n", range(1, 5))
def test_example_4_1_abba(n: int) -> None:
    """Misprint: the list leaves out [d,d]; none of its counts change when ab is merged."""
    text = "abba" + "cddc" * n
    ab: Merge = ("a", "b")
    assert apply([ab], text) == (ab, *text[2:])
    before, after = pair_counts(text), pair_counts(apply([ab], text))
    unchanged: list[Merge] = [("c", "d"), ("d", "c"), ("d", "d"), ("c", "c")]
    for pair in unchanged:
        assert before[pair] == after[pair] == (n - 1 if pair == ("c", "c") else n)


@pytest.mark.parametrize(
    ("text", "num_merges", "capped", "greedy_worst"),
    [("aaaabbabb", 2, 3, 4), ("ababcbcba", 3, 4, 5)],
)
def test_theorem_4_2_a_heap_cut_to_the_best_m_loses_pairs(
    text: str, num_merges: int, capped: int, greedy_worst: int
) -> None:
    """ "We are keeping only top-M possible pairs": what that chooses, no greedy would."""
    chosen = as_published.capped_greedy(text, num_merges)
    assert utility(chosen, text) == capped
    assert min(utility(m, text) for m in greedy_sequences(text, num_merges)) == greedy_worst
    assert not is_greedy(chosen, text)


@given(texts(max_size=30), st.integers(0, 8))
def test_theorem_4_2_distinct_pairs_ever_alive(text: str, num_merges: int) -> None:
    """At most min(N, (|Σ| + M)²) pairs stand at one time: the heap needs no cut."""
    for length in range(num_merges + 1):
        alive = len(pair_counts(apply(greedy(text, length), text)))
        assert alive <= min(len(text), (len(set(text)) + length) ** 2)


# Section 5: how many sequences there are


def test_proposition_5_1_number_of_valid_sequences() -> None:
    """Π_{i<M} ((|Σ| + i)² - i): 1, 3, 21 and 4, 32, 448, more than the |Σ|^{2M} of the paper."""
    counts = {
        k: [sum(1 for _ in valid_sequences("abc"[:k], m)) for m in (1, 2, 3)] for k in (1, 2, 3)
    }
    assert counts[1] == [1, 3, 21]
    assert counts[2] == [4, 32, 448]
    for k, numbers in counts.items():
        product = 1
        for i, number in enumerate(numbers):
            product *= (k + i) ** 2 - i
            assert number == product <= (k + i) ** (2 * (i + 1))
            if i > 0:
                assert number > k ** (2 * (i + 1))


def test_proposition_5_1_valid_sequences_are_valid_and_distinct() -> None:
    for merges_of_length in (list(valid_sequences("ab", m)) for m in (1, 2, 3)):
        assert len(set(merges_of_length)) == len(merges_of_length)
        for merges in merges_of_length:
            assert is_valid(merges)
            assert len(set(merges)) == len(merges)


@pytest.mark.parametrize(("length", "numbers"), [(9, [1, 2, 4, 6]), (15, [1, 2, 5, 12])])
def test_proposition_5_1_effective_sequences_over_one_letter(
    length: int, numbers: list[int]
) -> None:
    """With |Σ| = 1 the paper's count is constant; these are the effective sequences of a^n."""
    lengths = [len(merges) for merges, _ in effective_sequences("a" * length, 4)]
    assert [lengths.count(m) for m in (1, 2, 3, 4)] == numbers


def test_proposition_5_1_yields_reach_two_to_the_m() -> None:
    """Its proof says yields have at most M letters."""
    for m in (1, 2, 3):
        longest = max(len(yield_of(merges[-1])) for merges in valid_sequences("a", m))
        assert longest == 2**m


# Appendix B: words, and the non-iterative variant

WATCH = "not_that_they_watch_the_watch"


def test_appendix_b1_space_example() -> None:
    """_t, th and at tie with 3. Misprint: [t,[_,t]] counts 2 and cannot come next; two have 3."""
    space: Merge = ("_", "t")
    assert pair_counts(WATCH)[space] == 3
    assert set(best_pairs(WATCH)) == {space, ("t", "h"), ("a", "t")}
    counts = pair_counts(apply([space], WATCH))
    assert counts["t", space] == 2
    assert counts[space, "h"] == counts["a", "t"] == 3
    assert is_greedy([space], WATCH)
    assert not is_greedy([space, ("t", space)], WATCH)


def test_appendix_b1_words_never_merge_across_spaces() -> None:
    words = split_words(WATCH.replace("_", " "))
    assert words == {"not": 1, " that": 1, " they": 1, " watch": 2, " the": 1}
    for merge in greedy(words, 20):
        assert " " not in yield_of(merge)[1:]


@given(weighted_words())
def test_appendix_b1_counts_are_sums_over_words(words: Mapping[str, int]) -> None:
    """A run that ends one word does not go on in the next: its counts start anew there."""
    counts = pair_counts(words)
    for pair in set(counts):
        assert counts[pair] == sum(n * pair_counts(word)[pair] for word, n in words.items())
        assert counts[pair] == gain([pair], words)


def test_appendix_b1_counts_start_anew_in_every_word() -> None:
    """baa and aac hold one aa each; without a new start at aac its aa would be dropped."""
    aa: Merge = ("a", "a")
    assert pair_counts({"baa": 1, "aac": 1})[aa] == 2
    assert greedy({"baa": 1, "aac": 1}, 1) == (aa,)


@given(weighted_words(), st.integers(0, 4), st.integers(2, 4))
def test_appendix_b1_unique_words_with_counts_train_the_same(
    words: Mapping[str, int], num_merges: int, factor: int
) -> None:
    """The merges depend on the counts up to a factor, and κ is linear in them."""
    merges = greedy(words, num_merges)
    assert is_valid(merges)
    more = {word: factor * count for word, count in words.items()}
    assert greedy(more, num_merges) == merges
    assert utility(merges, more) == factor * utility(merges, words)
    assert utility(merges, words) == sum(n * utility(merges, word) for word, n in words.items())


@given(texts(max_size=16), st.integers(0, 4))
def test_appendix_b1_a_text_is_one_word(text: str, num_merges: int) -> None:
    assert words_of(text) == {tuple(text): 1}
    assert greedy({text: 1}, num_merges) == greedy(text, num_merges)


def test_appendix_b2_example_abcabcd() -> None:
    counts = observed_merges("abcabcd", 3)
    ab: Merge = ("a", "b")
    bc: Merge = ("b", "c")
    most = {merge for merge, count in counts.items() if count == max(counts.values())}
    assert most == {ab, bc, (ab, "c"), ("a", bc)}
    assert set(non_iterative("abcabcd", 4, 3)) == most


@given(texts(max_size=14))
def test_appendix_b2_a_part_is_at_least_as_frequent(text: str) -> None:
    counts = observed_merges(text, 4)
    for merge, count in counts.items():
        for part in merge:
            if not isinstance(part, str):
                assert counts[part] >= count


def test_appendix_b2_ties_at_the_cut_off_can_break_validity() -> None:
    """M = 1 on abcabcd: [a,[b,c]] is among the most frequent, and alone it is not valid."""
    counts = observed_merges("abcabcd", 3)
    whole: Merge = ("a", ("b", "c"))
    assert counts[whole] == max(counts.values()) == 2
    assert not is_valid([whole])


@given(texts(max_size=14), st.integers(0, 12), st.integers(2, 4))
def test_appendix_b2_ties_to_the_shorter_are_valid(text: str, num_merges: int, width: int) -> None:
    merges = non_iterative(text, num_merges, width)
    assert is_valid(merges)
    assert all(len(yield_of(merge)) <= width for merge in merges)


@pytest.mark.parametrize("doublings", [1, 2, 3])
@pytest.mark.parametrize("more", [0, 1, 2, 3])
def test_appendix_b2_the_ratio_of_its_example_is_at_least_one_half(
    doublings: int, more: int
) -> None:
    """Tokens of width w on a^{wn} save wn - n, and k doublings more save wn - n / 2^k.

    The paper says that the ratio goes to 0; it is (w - 1) / (w - 2^-k) >= 1/2.
    """
    width, n = 2**doublings, 2**more
    text = "a" * (width * n)
    trees: list[Tree] = ["a"]
    merges: list[Merge] = []
    for _ in range(doublings + more):
        merges.append((trees[-1], trees[-1]))
        trees.append(merges[-1])
    at_once, best = utility(merges[:doublings], text), utility(merges, text)
    assert at_once == width * n - n
    assert best == width * n - 1 == len(text) - 1
    assert Fraction(at_once, best) == (width - 1) / (width - Fraction(1, 2**more))
    assert Fraction(at_once, best) >= Fraction(1, 2)
    assert utility(non_iterative(text, width + more, width), text) <= at_once
