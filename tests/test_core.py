"""The Rust core equals `formal` on random input."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import merge_lists, texts

from mergewise import formal
from mergewise._core import MergeList
from mergewise.errors import InvalidMergesError, UnknownTokenError


def distinct_strings(merges: formal.Merges) -> tuple[formal.Merge, ...]:
    """The longest prefix of a list in which no two merges make one string.

    Ids name strings, `formal` compares trees: the two agree on these lists.
    """
    kept: list[formal.Merge] = []
    for merge in merges:
        if formal.yield_of(merge) in {formal.yield_of(other) for other in kept}:
            break
        kept.append(merge)
    return tuple(kept)


def as_pairs(merges: formal.Merges, alphabet: str | None) -> list[tuple[int, int]]:
    """Trees as ids: symbols first (bytes, or the alphabet in order), then the merges."""
    ids: dict[formal.Tree, int] = {}
    for index, merge in enumerate(merges):
        ids[merge] = (256 if alphabet is None else len(alphabet)) + index

    def id_of(tree: formal.Tree) -> int:
        if isinstance(tree, str):
            return ord(tree) if alphabet is None else alphabet.index(tree)
        return ids[tree]

    return [(id_of(left), id_of(right)) for left, right in merges]


@given(merge_lists("abc"), texts("abc"))
def test_apply_over_bytes_equals_formal(merges: formal.Merges, text: str) -> None:
    merges = distinct_strings(merges)
    merge_list = MergeList(as_pairs(merges, None))
    ids = merge_list.apply(text)
    expected = [formal.yield_of(tree).encode() for tree in formal.apply(merges, text)]
    assert [merge_list.token_bytes(i) for i in ids] == expected
    assert merge_list.utility(text) == formal.utility(merges, text)
    assert merge_list.apply(text.encode()) == ids


@given(merge_lists("aé☃"), texts("aé☃"))
def test_apply_over_code_points_equals_formal(merges: formal.Merges, text: str) -> None:
    merges = distinct_strings(merges)
    merge_list = MergeList(as_pairs(merges, "aé☃"), alphabet="☃aé")
    expected = [formal.yield_of(tree).encode() for tree in formal.apply(merges, text)]
    assert [merge_list.token_bytes(i) for i in merge_list.apply(text)] == expected
    assert merge_list.utility(text) == formal.utility(merges, text)


@given(merge_lists("ab"), texts("ab"))
def test_equal_strings_share_an_id_and_the_lowest_rank_goes_first(
    merges: formal.Merges, text: str
) -> None:
    """What tokenizers and tiktoken do, as slowly as it can be written."""
    parts = [(formal.yield_of(left), formal.yield_of(right)) for left, right in merges]
    ranks: dict[tuple[str, str], int] = {}
    for rank, pair in enumerate(parts):
        ranks.setdefault(pair, rank)
    tokens = list(text)
    while True:
        pairs = list(pairwise(tokens))
        known = [(ranks[pair], i) for i, pair in enumerate(pairs) if pair in ranks]
        if not known:
            break
        _, i = min(known)
        tokens[i : i + 2] = ["".join(pairs[i])]
    strings = ["a", "b"]
    for left, right in parts:
        if left + right not in strings:
            strings.append(left + right)
    pairs_of_ids = [(strings.index(left), strings.index(right)) for left, right in parts]
    merge_list = MergeList(pairs_of_ids, alphabet="ab")
    assert merge_list.num_tokens == len(strings)
    assert merge_list.apply(text) == [strings.index(token) for token in tokens]


@given(st.text())
def test_any_text_is_its_bytes(text: str) -> None:
    assert MergeList([]).apply(text) == list(text.encode())
    assert MergeList([]).utility(text) == 0


def test_an_invalid_list_names_the_first_merge_that_uses_a_token_nobody_made() -> None:
    with pytest.raises(InvalidMergesError, match=r"merge 1 uses the token 257.*only 257 tokens"):
        MergeList([(97, 98), (256, 257), (300, 300)])


def test_small_inputs_are_defined() -> None:
    merges = MergeList([(97, 98), (256, 256), (256, 256)])
    assert merges.apply("") == []
    assert merges.apply("a") == [97]
    assert merges.apply(b"abab") == [257]
    assert len(merges) == 3
    assert merges.pairs == [(97, 98), (256, 256), (256, 256)]
    assert merges.token_id(b"abab") == 257
    assert merges.token_id(b"ba") is None


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        MergeList([]).apply("a\ud800")


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="expected str or bytes, found list"):
        MergeList([]).apply(["a"])  # type: ignore[arg-type]


def test_what_the_vocabulary_lacks_is_named() -> None:
    merges = MergeList([], alphabet="ab")
    with pytest.raises(UnknownTokenError, match=r"'c' at byte 1"):
        merges.apply("ac")
    with pytest.raises(UnknownTokenError, match="no token has the id 2"):
        merges.token_bytes(2)
    with pytest.raises(ValueError, match="invalid UTF-8 at byte 1"):
        merges.apply(b"a\xff")
