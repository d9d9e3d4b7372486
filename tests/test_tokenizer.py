"""Tokenizer as an object: ids and strings, trees, equality, copies, threads, forks, streams."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from processes import run_python
from strategies import merge_lists, splits, texts
from test_encode import (
    OPTICKS,
    in_bytes,
    over_bytes,
    over_chars,
    trained,
    unicode_texts,
    with_byte_tokens,
)

import mergewise as mw
from mergewise import formal
from mergewise.errors import InvalidMergesError, MergewiseError, UnknownTokenError
from mergewise.trees import grown
from mergewise.vocabulary import Vocabulary

MERGES = [(b"l", b"o"), (b"lo", b"w"), (b" ", b"low")]
LOW = over_bytes(
    [left + right for left, right in MERGES],
    merges=MERGES,
    pattern="whitespace",
    special_tokens={"<s>": 400},
)
ENDED = over_chars(
    ["l", "o", "w</w>", "low</w>"],
    merges=[],
    end_of_word=b"</w>",
    pattern=r"\S+",
    drops_gaps=True,
)


# Ids and strings.


def test_ids_and_strings() -> None:
    tok = mw.Tokenizer(LOW)
    assert tok.vocab_size == 401
    for string, token_id in LOW.tokens.items():
        assert tok.token_bytes(token_id) == string
        assert tok.token_id(string) == token_id
    assert tok.token_bytes(400) == b"<s>"
    assert tok.special_tokens == {"<s>": 400}
    assert tok.merges == MERGES
    assert (tok.pattern, tok.normalize, tok.alphabet) == ("whitespace", None, "bytes")


def uses_of_an_id(tok: mw.Tokenizer) -> list[Callable[[Any], object]]:
    """Everything that takes an id."""
    return [
        tok.token_bytes,
        tok.tree,
        lambda i: tok.decode([i]),
        lambda i: tok.decode_bytes([97, i]),
        lambda i: tok.decode_batch([[97], [i]]),
        tok.stream_decoder().add,
    ]


@pytest.mark.parametrize("token_id", [-1, 299, 301, 401, 2**31, 2**32 - 1, 2**32, 2**64, 2**70])
def test_ids_of_no_token(token_id: int) -> None:
    for use in uses_of_an_id(mw.Tokenizer(LOW)):
        with pytest.raises(UnknownTokenError):
            use(token_id)


def test_strings_of_no_token() -> None:
    tok = mw.Tokenizer(LOW)
    for string in (b"lowe", b"", b"<s>"):
        with pytest.raises(UnknownTokenError, match=repr(string)):
            tok.token_id(string)
    assert issubclass(UnknownTokenError, LookupError)
    assert issubclass(UnknownTokenError, MergewiseError)


@pytest.mark.parametrize("wrong", ["a", None, 1.5, [1], b"a"])
def test_an_id_is_an_int(wrong: Any) -> None:
    for use in uses_of_an_id(mw.Tokenizer(LOW)):
        with pytest.raises(TypeError):
            use(wrong)


@pytest.mark.parametrize("wrong", ["a", None, 97, [b"a"]])
def test_a_string_is_bytes(wrong: Any) -> None:
    with pytest.raises(TypeError):
        mw.Tokenizer(LOW).token_id(wrong)


@pytest.mark.parametrize("ids", [5, None, "abc", [[97]]])
def test_ids_are_an_iterable_of_int(ids: Any) -> None:
    with pytest.raises(TypeError):
        mw.Tokenizer(LOW).decode(ids)


def test_ids_come_as_any_iterable() -> None:
    tok = mw.Tokenizer(LOW)
    for ids in ([108, 111], (108, 111), iter([108, 111]), b"lo", np.array([108, 111], "uint16")):
        assert tok.decode(ids) == "lo"
    assert tok.decode([]) == ""
    assert tok.decode_batch([[108], [], np.array([111])]) == ["l", "", "o"]


@pytest.mark.parametrize("wrong", ["x.json", Path("x.json")])
def test_a_path_is_told_how_files_are_read(wrong: Any) -> None:
    told = "expected a Vocabulary, found .*; to read a file: Tokenizer.from_file\\('x.json'\\)"
    with pytest.raises(TypeError, match=told):
        mw.Tokenizer(wrong)
    with pytest.raises(TypeError, match=r"expected a Vocabulary, found int$"):
        mw.Tokenizer(3)


def test_a_subclass_has_arguments_of_its_own() -> None:
    class Named(mw.Tokenizer):
        def __init__(self, name: str, *, vocabulary: Vocabulary) -> None:
            super().__init__(vocabulary)
            self.name = name

    tok = Named("low", vocabulary=LOW)
    assert (tok.name, tok.decode(tok.encode("low"))) == ("low", "low")


def test_the_unknown_token_has_a_string() -> None:
    tok = mw.Tokenizer(over_chars("ab", merges=[], unknown_token=50))
    assert tok.vocab_size == 51
    assert tok.encode("ax") == [tok.token_id(b"a"), 50]
    assert tok.decode([50]) == tok.token_bytes(50).decode()


def test_ids_of_32_bits() -> None:
    largest = 2**32 - 1
    tokens = {b"a": largest, b"b": 0, b"ab": largest - 1, b"ba": 2**31}
    merges = [(b"a", b"b"), (b"b", b"a")]
    tok = mw.Tokenizer(Vocabulary(tokens=tokens, merges=merges, alphabet="chars"))
    assert tok.vocab_size == 2**32
    for text, ids in (
        ("ab", [largest - 1]),
        ("bba", [0, 2**31]),
        ("abbaaaaa", [largest - 1, 2**31, *[largest] * 4]),
    ):
        assert [tok.encode(text), tok.encode(text)] == [ids, ids]
        assert tok.decode(ids) == text


def test_bytes_that_are_not_utf_8_are_replaced_or_refused() -> None:
    tok = mw.Tokenizer(LOW)
    assert tok.decode([97, 0xC3]) == "a\ufffd"
    assert tok.decode([97, 0xC3], errors="ignore") == "a"
    with pytest.raises(UnicodeDecodeError):
        tok.decode([97, 0xC3], errors="strict")


@pytest.mark.parametrize("merge", [(b"l", b"x!"), (b"lo", b"e"), (b"", b"")])
def test_a_merge_of_what_is_no_token_is_refused(merge: tuple[bytes, bytes]) -> None:
    with pytest.raises(InvalidMergesError, match="merge 3"):
        mw.Tokenizer(replace(LOW, merges=[*MERGES, merge]))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"alphabet": "words"}, ValueError),
        ({"normalize": "nfd"}, ValueError),
        ({"prefix_space": "never"}, ValueError),
        ({"pattern": "gpt9"}, ValueError),
        ({"pattern": "("}, ValueError),
        ({"byte_tokens": (1, 2)}, ValueError),
        ({"tokens": {b"a": -1}, "merges": []}, ValueError),
        ({"tokens": {b"a": 2**32}, "merges": []}, ValueError),
        ({"tokens": {"a": 1}, "merges": []}, TypeError),
        ({"merges": [(b"a",)]}, (TypeError, ValueError)),
        ({"tokens": {b"\xff": 1}, "merges": [], "alphabet": "chars"}, ValueError),
    ],
)
def test_a_vocabulary_that_makes_no_sense_is_refused(
    change: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        mw.Tokenizer(replace(LOW, **change))


# Trees.


@given(merge_lists("abc", max_size=7), texts("abc", max_size=24))
def test_forests_equal_formal(merges: formal.Merges, text: str) -> None:
    strings = [formal.yield_of(merge) for merge in dict.fromkeys(merges)]
    assume(len(set(strings)) == len(strings))
    pairs = [(formal.yield_of(left), formal.yield_of(right)) for left, right in merges]
    tok = mw.Tokenizer(over_chars(["a", "b", "c", *strings], merges=in_bytes(pairs)))
    assert tok.forest(text) == [as_tree(tree) for tree in formal.apply(merges, text)]


def as_tree(tree: formal.Tree) -> Any:
    return tree.encode() if isinstance(tree, str) else (as_tree(tree[0]), as_tree(tree[1]))


def test_trees_of_special_tokens_and_bytes() -> None:
    tok = mw.Tokenizer(LOW)
    assert tok.tree(tok.token_id(b" low")) == (b" ", ((b"l", b"o"), b"w"))
    assert tok.forest(" low<s>", allowed_special="all")[1] == b"<s>"
    assert with_byte_tokens().forest("é") == [b" ", b"\xc3", b"\xa9"]


def test_trees_as_deep_as_they_are_long() -> None:
    letters = [chr(0x4E00 + i) for i in range(1500)]
    prefixes = ["".join(letters[: n + 1]) for n in range(len(letters))]
    merges = in_bytes(zip(prefixes, letters[1:], strict=False))
    tok = mw.Tokenizer(over_chars([*letters, *prefixes], merges=merges))
    (token_id,) = tok.encode(prefixes[-1])
    tree, depth = tok.tree(token_id), 0
    while isinstance(tree, tuple):
        tree, depth = tree[0], depth + 1
    assert depth == len(merges)


def test_deep_trees_print_compare_hash_and_pickle() -> None:
    depth = 10_000  # Python's calls end at 1,000
    one, same, other = (
        grown([b"a", b"b", None, *([leaf, None] * depth)]) for leaf in (b"b", b"b", b"c")
    )
    assert repr([one]).startswith("[((((((")
    assert repr([one]).endswith(", b'b'), b'b')]")
    assert [one] == [same]
    assert hash(one) == hash(same)
    assert one != other
    assert one != (one, b"b")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps([one], protocol)) == [one]  # noqa: S301
    assert copy.deepcopy(one) == one


def test_a_tree_is_as_a_tuple_is() -> None:
    pair = (b" ", ((b"l", b"o"), b"w"))
    tok = mw.Tokenizer(LOW)
    tree = tok.tree(tok.token_id(b" low"))
    assert isinstance(tree, tuple)
    assert (tree, hash(tree), repr(tree)) == (pair, hash(pair), repr(pair))
    assert pair == tree
    assert {pair, tree} == {pair}
    assert tree != (b" ", (b"l", b"o", b"w"))
    assert tree != pair[0]


# Equality and copies.

DIFFERENCES: list[dict[str, Any]] = [
    {"tokens": {**LOW.tokens, b"new": 500}},
    {"tokens": {**LOW.tokens, b"lo": 501}},
    {"merges": MERGES[:2]},
    {"pattern": "gpt2"},
    {"pattern": None},
    {"normalize": "nfc"},
    {"prefix_space": "always"},
    {"special_tokens": {"<s>": 402}},
    {"special_tokens": {}},
    {"special_tokens": {}, "added_tokens": {"<s>": 400}},
    {"mark_is_space": True},
]


@pytest.mark.parametrize("difference", DIFFERENCES, ids=" ".join)
def test_tokenizers_that_encode_differently_are_not_equal(difference: dict[str, Any]) -> None:
    assert mw.Tokenizer(LOW) != mw.Tokenizer(replace(LOW, **difference))


SAME: list[dict[str, Any]] = [
    {},
    {"tokens": dict(reversed(list(LOW.tokens.items())))},
    {"merges": None, "ranks": {left + right: i for i, (left, right) in enumerate(MERGES)}},
    {"merges": [*MERGES, MERGES[0]]},
    {"merges": tuple(MERGES)},
    {"whole_words": True},
    {"extras": {"file": "name"}},
]


@pytest.mark.parametrize("same", SAME, ids=lambda d: " ".join(d) or "copy")
def test_tokenizers_that_encode_alike_are_equal(same: dict[str, Any]) -> None:
    one, other = mw.Tokenizer(LOW), mw.Tokenizer(replace(LOW, **same))
    assert one == other
    assert hash(one) == hash(other)


def test_equality_does_not_depend_on_the_order_of_tokens_with_one_rank() -> None:
    ranks = {b"ab": 0, b"ba": 0}
    one = over_bytes([b"ab", b"ba"], ranks=ranks)
    other = replace(one, tokens=dict(reversed(list(one.tokens.items()))))
    assert mw.Tokenizer(one) == mw.Tokenizer(other)
    assert hash(mw.Tokenizer(one)) == hash(mw.Tokenizer(other))


def test_a_tokenizer_is_not_equal_to_something_else() -> None:
    assert mw.Tokenizer(LOW) != "low"
    assert mw.Tokenizer(LOW) is not None
    assert {mw.Tokenizer(LOW): 1}[mw.Tokenizer(LOW)] == 1


@pytest.mark.parametrize("vocabulary", [LOW, ENDED], ids=["bytes", "chars"])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_tokenizers_can_be_pickled(vocabulary: Vocabulary, protocol: int) -> None:
    tok = mw.Tokenizer(vocabulary)
    read = pickle.loads(pickle.dumps(tok, protocol))  # noqa: S301
    assert read == tok
    assert read.encode("low") == tok.encode("low")


def test_a_copy_is_the_same() -> None:
    tok = mw.Tokenizer(LOW)
    for other in (copy.copy(tok), copy.deepcopy(tok), copy.deepcopy([tok])[0]):
        assert other == tok
        assert other.encode(" low") == tok.encode(" low")


def test_repr() -> None:
    assert repr(mw.Tokenizer(LOW)) == "<Tokenizer: 401 tokens, pattern='whitespace'>"


def test_what_a_tokenizer_gives_out_does_not_change_it() -> None:
    tok, same = mw.Tokenizer(LOW), mw.Tokenizer(LOW)
    before = hash(tok)
    tok.special_tokens.clear()
    tok.merges.clear()
    assert tok == same
    assert hash(tok) == before
    assert tok.merges == same.merges
    assert tok.tree(tok.token_id(b"low")) == ((b"l", b"o"), b"w")
    assert tok.special_tokens == {"<s>": 400}


def test_what_a_tokenizer_is_made_of_can_change_later() -> None:
    tokens, merges, specials = dict(LOW.tokens), list(MERGES), {"<s>": 400}
    tok = mw.Tokenizer(replace(LOW, tokens=tokens, merges=merges, special_tokens=specials))
    tokens.clear()
    merges.clear()
    specials.clear()
    assert tok == mw.Tokenizer(LOW)
    assert tok.token_bytes(tok.encode(" low")[0]) == b" low"
    with pytest.raises(ValueError, match="special token"):
        tok.encode("<s>")


# Threads and processes.


def test_eight_threads_at_once() -> None:
    tok = mw.Tokenizer(trained().vocabulary)
    samples = [OPTICKS[at : at + 20_000] for at in range(0, 160_000, 20_000)]
    expected = [trained().encode(text) for text in samples]
    failures: list[int] = []
    gate = threading.Barrier(8)

    def work(number: int) -> None:
        gate.wait()
        for turn in range(8):
            index = (number + turn) % 8
            ids = tok.encode(samples[index])
            if ids != expected[index] or tok.decode(ids) != samples[index]:
                failures.append(number)
            if tok.encode_batch(samples, num_threads=2)[index] != expected[index]:
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_child_can_encode_after_fork() -> None:
    code = """
tok = mw.train(mw.count(['low lower lowest'] * 9), num_merges=5)
text = 'low lowest ' * 200_000
expected = tok.encode(text)
child = os.fork()
if child == 0:
    encoded = [tok.encode(text), *tok.encode_batch([text] * 2, num_threads=2)]
    os._exit(0 if encoded == [expected] * 3 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), tok.encode(text) == expected)
"""
    assert run_python(code) == "0 True\n"


@pytest.mark.parametrize(
    "method",
    [
        "spawn",
        pytest.param(
            "fork", marks=pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
        ),
    ],
)
def test_a_pool_of_processes_can_encode(method: str) -> None:
    code = """
import multiprocessing
tok = mw.train(mw.count(['low lower lowest'] * 9), num_merges=5, special_tokens=['<s>'])
texts = [f'low {i} lowest' for i in range(50)]
expected = [tok.encode(text) for text in texts]
with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
    print(pool.map(tok.encode, texts) == expected)
"""
    assert run_python(code, method) == "True\n"


# Streams.


def stream(tok: mw.Tokenizer, ids: Sequence[int], **options: Any) -> list[str]:
    decoder = tok.stream_decoder(**options)
    return [*(decoder.add(token_id) for token_id in ids), decoder.finish()]


@given(unicode_texts())
def test_a_stream_is_the_text(text: str) -> None:
    for tok in (trained(), with_byte_tokens(), BYTES_ALONE):
        ids = tok.encode(text)
        parts = stream(tok, ids)
        assert "".join(parts) == text
        assert parts[-1] == ""
        assert "\ufffd" in text or not any("\ufffd" in part for part in parts)


BYTES_ALONE = mw.Tokenizer(over_bytes([], merges=[]))


@given(st.lists(st.sampled_from([0x61, 0xC3, 0xA9, 0xE2, 0x98, 0x83, 0xFF, 0xF0, 0x9F, 0x20])))
def test_a_stream_of_broken_bytes_is_what_decoding_makes_of_them(ids: list[int]) -> None:
    assert "".join(stream(BYTES_ALONE, ids)) == bytes(ids).decode(errors="replace")
    ignored = "".join(stream(BYTES_ALONE, ids, errors="ignore"))
    assert ignored == bytes(ids).decode(errors="ignore")


@given(texts("aé☃𝄞 ", max_size=20), st.data())
def test_a_stream_of_tokens_cut_anywhere(text: str, data: st.DataObject) -> None:
    """Tokens that end within characters, of several characters, and both."""
    encoded = text.encode()
    cuts = [0, *data.draw(splits(len(encoded))), len(encoded)]
    spans = [(start, end) for start, end in pairwise(cuts) if start < end]
    strings = dict.fromkeys(encoded[start:end] for start, end in spans)
    tok = mw.Tokenizer(over_bytes(strings, merges=[]))
    ids = [tok.token_id(encoded[start:end]) for start, end in spans]
    seen = ""
    for (_, end), part in zip(spans, stream(tok, ids), strict=False):
        seen += part
        assert seen == encoded[:end].decode(errors="ignore")
    assert seen == text


@given(texts("ab é☃", max_size=12))
def test_a_stream_skips_the_space_before_the_text(text: str) -> None:
    tok = with_byte_tokens()
    ids = tok.encode(text)
    assert "".join(stream(tok, ids)) == tok.decode(ids) == text


def test_a_stream_without_ids_is_empty() -> None:
    assert stream(with_byte_tokens(), []) == [""]
    assert stream(BYTES_ALONE, []) == [""]


def test_a_stream_of_words_with_ends_is_the_text() -> None:
    tok = mw.Tokenizer(ENDED)
    ids = tok.encode("lw ow")
    assert tok.decode(ids) == "lw ow"
    assert "".join(stream(tok, ids)) == "lw ow"


def test_a_stream_refuses_broken_bytes_if_asked() -> None:
    decoder = BYTES_ALONE.stream_decoder(errors="strict")
    assert decoder.add(0xC3) == ""
    with pytest.raises(UnicodeDecodeError):
        decoder.finish()


def test_streams_do_not_share_anything() -> None:
    one, other = BYTES_ALONE.stream_decoder(), BYTES_ALONE.stream_decoder()
    assert (one.add(0xC3), other.add(0x61), one.add(0xA9)) == ("", "a", "é")


# Decoding.


@given(texts("ab ", max_size=12), st.sampled_from(["always", "unless_space"]))
def test_decoding_removes_the_space_that_was_put_before_every_text(text: str, prefix: str) -> None:
    """And not one that was put before some: whether it was is not to be seen."""
    tok = mw.Tokenizer(over_bytes([], merges=[], prefix_space=prefix))
    prefixed = " " + text if text and not text.startswith(" ") else text
    assert tok.decode(tok.encode(text)) == (text if prefix == "always" else prefixed)


@given(st.lists(texts("low", min_size=1, max_size=4)))
def test_decoding_puts_spaces_between_words_with_ends(words: list[str]) -> None:
    strings = [*"low", *(letter + "</w>" for letter in "low"), "ow</w>"]
    tok = mw.Tokenizer(
        over_chars(
            strings,
            merges=[(b"o", b"w</w>")],
            end_of_word=b"</w>",
            pattern=r"\S+",
            drops_gaps=True,
        )
    )
    assert tok.decode(tok.encode("  ".join(words))) == " ".join(words)
