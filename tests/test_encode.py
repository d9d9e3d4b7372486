"""Encoding equals `formal`, slow references written here, and the libraries that do the same."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import regex
import tiktoken
import tokenizers
from hypothesis import assume, given
from hypothesis import strategies as st
from processes import interrupt
from strategies import merge_lists, string_merges, texts, token_ranks
from test_patterns import GPT2, LANGUAGES, WHITESPACE, tiktoken_pattern
from tokenizers import decoders, models, pre_tokenizers, trainers

import mergewise as mw
from mergewise import formal
from mergewise.errors import InputError, UnknownTokenError
from mergewise.vocabulary import Vocabulary

OPTICKS = (resources.files(mw) / "data" / "opticks.txt").read_text(encoding="utf-8")
BYTES = {bytes([byte]): byte for byte in range(256)}


# References.


def merged(symbols: Iterable[bytes], rank_of: Callable[[bytes, bytes], int | None]) -> list[bytes]:
    """The pair of the lowest rank becomes one, the leftmost first, until none has a rank."""
    tokens = list(symbols)
    while True:
        ranks = [(rank_of(*pair), place) for place, pair in enumerate(pairwise(tokens))]
        known = [(rank, place) for rank, place in ranks if rank is not None]
        if not known:
            return tokens
        place = min(known)[1]
        tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]


def rank_of(vocabulary: Vocabulary) -> Callable[[bytes, bytes], int | None]:
    if vocabulary.ranks is not None:
        ranks = vocabulary.ranks
        return lambda left, right: ranks.get(left + right)
    places: dict[tuple[bytes, bytes], int] = {}
    for place, pair in enumerate(vocabulary.merges or ()):
        places.setdefault(pair, place)
    return lambda left, right: places.get((left, right))


def words_in(vocabulary: Vocabulary, text: str) -> Iterator[tuple[int, str]]:
    """The words, with the number of bytes before each."""
    if vocabulary.pattern is None:
        yield from [(0, text)] if text else []
        return
    expression = {"whitespace": WHITESPACE, "gpt2": GPT2}.get(
        vocabulary.pattern, vocabulary.pattern
    )
    for found in regex.finditer(expression, text):
        yield len(text[: found.start()].encode()), found[0]


def pieces_of_word(vocabulary: Vocabulary, word: str) -> list[tuple[int, int]]:
    """The ids of a word, each with the number of the word's bytes that it stands for."""
    tokens, ending = vocabulary.tokens, vocabulary.end_of_word
    if vocabulary.whole_words and word.encode() in tokens:
        return [(tokens[word.encode()], len(word.encode()))]
    in_bytes = vocabulary.alphabet == "bytes"
    symbols = [bytes([b]) for b in word.encode()] if in_bytes else [c.encode() for c in word]
    symbols = [*symbols, ending] if ending in tokens else [*symbols[:-1], symbols[-1] + ending]
    pieces: list[tuple[int, int]] = []
    for token in merged(symbols, rank_of(vocabulary)):
        body = token.removesuffix(ending)
        if token in tokens:
            pieces.append((tokens[token], len(body)))
        elif vocabulary.byte_tokens is not None:
            pieces += [(vocabulary.byte_tokens[byte] or 0, 1) for byte in body]
        else:
            assert vocabulary.unknown_token is not None
            pieces.append((vocabulary.unknown_token, len(body)))
    return pieces


Place = tuple[int, int, int]


def fused(vocabulary: Vocabulary, places: Iterable[Place]) -> list[Place]:
    result: list[Place] = []
    for token, start, end in places:
        is_unknown = token == vocabulary.unknown_token and vocabulary.byte_tokens is None
        if is_unknown and vocabulary.fuse_unknown and result and result[-1][0] == token:
            result[-1] = (token, result[-1][1], end)
        else:
            result.append((token, start, end))
    return result


def slow_places(vocabulary: Vocabulary, text: str) -> list[Place]:
    """The ids of a text, and the bytes of the prepared text that each stands for."""
    if vocabulary.mark_is_space:
        text = text.replace("▁", " ")
    wants_space = vocabulary.prefix_space == "always" or (
        vocabulary.prefix_space == "unless_space" and not text.startswith(" ")
    )
    places: list[Place] = []
    for start, word in words_in(vocabulary, " " + text if text and wants_space else text):
        at, in_word = start, []
        for token, length in pieces_of_word(vocabulary, word):
            in_word.append((token, at, at + length))
            at += length
        places += fused(vocabulary, in_word)
    return fused(vocabulary, places) if vocabulary.pattern is None else places


def slow_encode(vocabulary: Vocabulary, text: str) -> list[int]:
    return [token for token, _, _ in slow_places(vocabulary, text)]


def check(vocabulary: Vocabulary, samples: Iterable[str]) -> None:
    """All ways to encode say what the reference says, the first time and the second."""
    tok = mw.Tokenizer(vocabulary)
    samples = list(samples)
    expected = [slow_encode(vocabulary, text) for text in samples]
    assert [tok.encode(text) for text in samples] == expected
    assert [tok.encode(text.encode()) for text in samples] == expected
    assert tok.encode_batch(samples) == expected
    if not vocabulary.mark_is_space:
        assert [tok.encode(text, offsets=True)[0] for text in samples] == expected


def over_chars(strings: Iterable[str], **options: Any) -> Vocabulary:
    """Ids with holes, so that nothing works by chance."""
    tokens = {string.encode(): 3 * i + 5 for i, string in enumerate(dict.fromkeys(strings))}
    return Vocabulary(tokens=tokens, alphabet="chars", **options)


def in_bytes(pairs: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(left.encode(), right.encode()) for left, right in pairs]


def over_bytes(strings: Iterable[bytes], **options: Any) -> Vocabulary:
    tokens = {**BYTES, **{s: 300 + 2 * i for i, s in enumerate(strings) if len(s) > 1}}
    return Vocabulary(tokens=tokens, **options)


# The paper.


@given(merge_lists("abc", max_size=7), st.lists(texts("abc", max_size=40), max_size=4))
def test_valid_lists_equal_formal(merges: formal.Merges, samples: list[str]) -> None:
    strings = [formal.yield_of(merge) for merge in dict.fromkeys(merges)]
    assume(len(set(strings)) == len(strings))
    pairs = [(formal.yield_of(left), formal.yield_of(right)) for left, right in merges]
    tok = mw.Tokenizer(over_chars(["a", "b", "c", *strings], merges=in_bytes(pairs)))
    for text in samples:
        expected = [formal.yield_of(tree) for tree in formal.apply(merges, text)]
        assert [tok.token_bytes(i).decode() for i in tok.encode(text)] == expected


@given(merge_lists("a\xc3\xa9\xff", max_size=7), st.lists(texts("aé\xff☃", max_size=30)))
def test_valid_lists_of_bytes_equal_formal(merges: formal.Merges, samples: list[str]) -> None:
    strings = [formal.yield_of(merge) for merge in dict.fromkeys(merges)]
    assume(len(set(strings)) == len(strings))
    pairs = [
        (formal.yield_of(left).encode("latin-1"), formal.yield_of(right).encode("latin-1"))
        for left, right in merges
    ]
    tok = mw.Tokenizer(over_bytes([left + right for left, right in pairs], merges=pairs))
    for text in samples:
        trees = formal.apply(merges, text.encode().decode("latin-1"))
        expected = [formal.yield_of(tree).encode("latin-1") for tree in trees]
        assert [tok.token_bytes(i) for i in tok.encode(text)] == expected


# Lists and ranks that no training makes.

samples_of_ab = st.lists(texts("ab", max_size=30), min_size=1, max_size=4)


@given(string_merges("ab", max_size=12), samples_of_ab)
def test_several_pairs_may_make_one_string(
    merges: list[tuple[str, str]], samples: list[str]
) -> None:
    strings = ["a", "b", *(left + right for left, right in merges)]
    check(over_chars(strings, merges=in_bytes(merges)), samples)


@given(string_merges("ab", max_size=9, in_order=False), samples_of_ab)
def test_merges_may_precede_those_of_their_parts(
    merges: list[tuple[str, str]], samples: list[str]
) -> None:
    strings = ["a", "b", *(left + right for left, right in merges)]
    check(over_chars(strings, merges=in_bytes(merges)), samples)


@given(token_ranks("ab", max_size=12), samples_of_ab)
def test_ranks_may_come_in_any_order_and_tie(ranks: dict[str, int], samples: list[str]) -> None:
    vocabulary = over_chars(["a", "b", *ranks], ranks={s.encode(): r for s, r in ranks.items()})
    check(vocabulary, samples)


@given(token_ranks("ab", max_size=12), samples_of_ab)
def test_ranks_that_rise_with_length_and_tie(ranks: dict[str, int], samples: list[str]) -> None:
    by_length = {s.encode(): 10 * len(s) + rank // 3 for s, rank in ranks.items()}
    check(over_chars(["a", "b", *ranks], ranks=by_length), samples)


@given(st.lists(st.binary(min_size=2, max_size=4), max_size=8, unique=True), st.data())
def test_ranks_of_bytes_in_the_order_of_ids(strings: list[bytes], data: st.DataObject) -> None:
    vocabulary = over_bytes(strings, ranks={string: i for i, string in enumerate(strings)})
    tok = mw.Tokenizer(vocabulary)
    parts = st.sampled_from([*strings, b"a", b"\xff"])
    text = b"".join(data.draw(st.lists(parts, max_size=9)))
    tokens = merged([bytes([byte]) for byte in text], rank_of(vocabulary))
    assert tok.encode(text) == [vocabulary.tokens[token] for token in tokens]


@given(
    ranks=token_ranks("aé", max_size=8),
    letters=st.sets(st.sampled_from("aé")),
    fuse=st.booleans(),
)
def test_letters_may_be_no_tokens(*, ranks: dict[str, int], letters: set[str], fuse: bool) -> None:
    vocabulary = over_chars(
        [*letters, *ranks],
        ranks={s.encode(): r for s, r in ranks.items()},
        unknown_token=1,
        fuse_unknown=fuse,
    )
    check(vocabulary, ["", "a", "é", "aé", "aaéé", "éaéaaé", "aéaéaéaéa", "xaéxxéa"])


@given(ranks=token_ranks("ab", max_size=8), whole_words=st.booleans(), samples=samples_of_ab)
def test_whole_words_are_tokens_that_no_merge_makes(
    *, ranks: dict[str, int], whole_words: bool, samples: list[str]
) -> None:
    """Half of the tokens have no rank."""
    some = {s.encode(): r for i, (s, r) in enumerate(ranks.items()) if i % 2}
    vocabulary = over_chars(
        ["a", "b", " ", *ranks, *(" " + s for s in ranks)],
        ranks=some,
        whole_words=whole_words,
        pattern="whitespace",
    )
    check(vocabulary, [" ".join(samples), *ranks, " ".join(ranks)])


PATTERNS = [
    {"pattern": None},
    {"pattern": "whitespace"},
    {"pattern": r"[^ ]+", "drops_gaps": True},
    {"pattern": r"a+|[^a]+"},
]
UNKNOWN = [
    {"unknown_token": 2},
    {"unknown_token": 2, "fuse_unknown": True},
    {"byte_tokens": tuple(range(1000, 1256))},
    {"byte_tokens": tuple(range(1000, 1256)), "unknown_token": 2, "fuse_unknown": True},
]
SPACES = [{"prefix_space": None}, {"prefix_space": "always"}, {"prefix_space": "unless_space"}]


@given(
    ranks=token_ranks("ab é▁", max_size=8),
    letters=st.sets(st.sampled_from("ab é")),
    pattern=st.sampled_from(PATTERNS),
    unknown=st.sampled_from(UNKNOWN),
    space=st.sampled_from(SPACES),
    mark_is_space=st.booleans(),
    samples=st.lists(texts("ab éx☃▁", max_size=12), max_size=6),
)
def test_options_together(
    *,
    ranks: dict[str, int],
    letters: set[str],
    pattern: dict[str, Any],
    unknown: dict[str, Any],
    space: dict[str, Any],
    mark_is_space: bool,
    samples: list[str],
) -> None:
    vocabulary = over_chars(
        [*sorted(letters), *ranks],
        ranks={s.encode(): r for s, r in ranks.items()},
        mark_is_space=mark_is_space,
        **{**pattern, **unknown, **space},
    )
    check(vocabulary, samples)


@st.composite
def words_with_ends(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Merges of subword-nmt's kind."""
    parts = ["a", "b", "a</w>", "b</w>"]
    merges = []
    for _ in range(draw(st.integers(0, 8))):
        left = draw(st.sampled_from([part for part in parts if not part.endswith("</w>")]))
        right = draw(st.sampled_from(parts))
        merges.append((left, right))
        parts.append(left + right)
    return merges


@given(
    words_with_ends(),
    st.lists(texts("ab x", max_size=20)),
    st.sampled_from(PATTERNS),
    st.sampled_from(UNKNOWN),
    st.sets(st.sampled_from(["a", "b", "a</w>", "b</w>"])),
)
def test_the_last_letter_of_a_word_has_its_end(
    merges: list[tuple[str, str]],
    samples: list[str],
    pattern: dict[str, Any],
    unknown: dict[str, Any],
    missing: set[str],
) -> None:
    used = {part for pair in merges for part in pair}
    letters = [s for s in ("a", "b", "a</w>", "b</w>", " ", " </w>") if s not in missing - used]
    vocabulary = over_chars(
        [*letters, *(left + right for left, right in merges)],
        merges=in_bytes(merges),
        end_of_word=b"</w>",
        **{**pattern, **unknown},
    )
    check(vocabulary, samples)


@given(string_merges("ab", max_size=6), st.lists(texts("ab ", max_size=12)))
def test_the_end_of_a_word_may_be_a_symbol(
    merges: list[tuple[str, str]], samples: list[str]
) -> None:
    """As in the first version of subword-nmt's files."""
    strings = ["a", "b", "</w>", *(left + right for left, right in merges)]
    ended = [*merges, ("b", "</w>"), ("a", "b</w>")]
    vocabulary = over_chars(
        [*strings, "b</w>", "ab</w>"],
        merges=in_bytes(ended),
        end_of_word=b"</w>",
        pattern=r"[^ ]+",
        drops_gaps=True,
    )
    check(vocabulary, samples)


def test_an_end_of_word_of_one_letter_may_occur_inside_tokens() -> None:
    strings = ["a", "b", "a_", "b_", "a_b", "ab_"]
    vocabulary = over_chars(strings, merges=[(b"a", b"b_")], end_of_word=b"_")
    check(vocabulary, ["ab", "a", "b", "ba"])


# tokenizers and tiktoken.


@given(
    merges=string_merges("abé", max_size=8),
    fuse=st.booleans(),
    ignore_merges=st.booleans(),
    suffix=st.sampled_from([None, "</w>"]),
    samples=st.lists(texts("abéx☃ ", max_size=16), max_size=5),
)
def test_options_equal_tokenizers(
    *,
    merges: list[tuple[str, str]],
    fuse: bool,
    ignore_merges: bool,
    suffix: str | None,
    samples: list[str],
) -> None:
    merges = list(dict.fromkeys(merges))  # of a pair that comes twice, tokenizers heeds the last
    if suffix:
        merges = [*merges, *((left, right + suffix) for left, right in merges[:4])]
    parts = dict.fromkeys(part for pair in merges for part in pair)
    products = dict.fromkeys(left + right for left, right in merges)
    vocab = {string: i for i, string in enumerate(["<unk>", "a", "b", "é", *parts, *products])}
    peer = tokenizers.Tokenizer(
        models.BPE(
            vocab,
            merges,
            unk_token="<unk>",
            fuse_unk=fuse,
            ignore_merges=ignore_merges,
            **({"end_of_word_suffix": suffix} if suffix else {}),
        )
    )
    peer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok = mw.Tokenizer(
        Vocabulary(
            tokens={string.encode(): i for string, i in vocab.items()},
            merges=in_bytes(merges),
            alphabet="chars",
            unknown_token=0,
            fuse_unknown=fuse,
            whole_words=ignore_merges,
            end_of_word=(suffix or "").encode(),
            pattern=r"\S+",
            drops_gaps=True,
        )
    )
    for text in samples:
        assert tok.encode(text) == peer.encode(text).ids, text


@given(string_merges("abé", max_size=8), st.lists(texts("abé☃", max_size=16), max_size=5))
def test_byte_tokens_equal_tokenizers(merges: list[tuple[str, str]], samples: list[str]) -> None:
    merges = list(dict.fromkeys(merges))
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    strings = dict.fromkeys([*"ab", *(part for pair in merges for part in pair)])
    strings.update(dict.fromkeys(left + right for left, right in merges))
    vocab = {string: i for i, string in enumerate([*names, *strings])}
    peer = tokenizers.Tokenizer(models.BPE(vocab, merges, byte_fallback=True))
    tok = mw.Tokenizer(
        Vocabulary(
            tokens={string.encode(): vocab[string] for string in strings},
            merges=in_bytes(merges),
            alphabet="chars",
            byte_tokens=tuple(range(256)),
        )
    )
    for text in samples:
        assert tok.encode(text) == peer.encode(text).ids, text
        assert tok.decode(tok.encode(text)) == text


@cache
def byte_level_peer(*, prefix: bool = False) -> Any:
    """A byte-level BPE of tokenizers, trained on the text inside the package."""
    peer = tokenizers.Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=True)
    peer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    peer.train_from_iterator([OPTICKS[:100_000], *LANGUAGES.values()], trainer)
    return peer


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> mw.Tokenizer:
    path = tmp_path_factory.mktemp("peer") / "tokenizer.json"
    byte_level_peer().save(str(path))
    return mw.Tokenizer.from_file(path)


@cache
def trained(pattern: str | None = "cl100k") -> mw.Tokenizer:
    counts = mw.count([OPTICKS[:100_000], *LANGUAGES.values()], pattern=pattern)
    return mw.train(counts, num_merges=1500)


@cache
def tiktoken_peer() -> tiktoken.Encoding:
    """tiktoken with the ranks of `trained()`."""
    tok = trained()
    return tiktoken.Encoding(
        "test",
        pat_str=tiktoken_pattern("cl100k"),
        mergeable_ranks={tok.token_bytes(i): i for i in range(tok.vocab_size)},
        special_tokens={},
    )


def unicode_texts() -> st.SearchStrategy[str]:
    """Characters of all kinds between words that the vocabularies know."""
    words = st.sampled_from(
        [*OPTICKS[2000:9000].split(" "), *LANGUAGES.values(), "  ", "\n\n", "\r"]
    )
    return st.lists(st.text(max_size=8) | words, max_size=12).map("".join)


@given(unicode_texts())
def test_random_texts_equal_tokenizers(loaded: mw.Tokenizer, text: str) -> None:
    expected = byte_level_peer().encode(text)
    assert loaded.encode(text) == expected.ids
    assert loaded.encode(text, offsets=True) == (expected.ids, expected.offsets)
    assert loaded.decode(expected.ids) == text


@given(unicode_texts())
def test_random_texts_equal_tiktoken(text: str) -> None:
    ids = tiktoken_peer().encode_ordinary(text)
    assert trained().encode(text) == ids
    assert trained().count_tokens(text) == len(ids)
    assert trained().decode_bytes(ids) == tiktoken_peer().decode_bytes(ids)


def test_a_book_equals_its_peers(loaded: mw.Tokenizer) -> None:
    assert loaded.encode(OPTICKS) == byte_level_peer().encode(OPTICKS).ids
    assert trained().encode(OPTICKS) == tiktoken_peer().encode_ordinary(OPTICKS)


# Long words and many words.


def by_ranks(tok: mw.Tokenizer, word: bytes) -> list[int]:
    """A word by the ranks of its tokens, as trained ids give them."""
    symbols = [bytes([byte]) for byte in word]
    tokens = merged(symbols, lambda left, right: tok.vocabulary.tokens.get(left + right))
    return [tok.vocabulary.tokens[token] for token in tokens]


@pytest.mark.parametrize("seed", range(3))
def test_words_of_any_length_equal_the_reference(seed: int) -> None:
    """Up to 15 bytes, up to 47 and more are cached in different ways, or not at all."""
    tok, random = trained("whitespace"), Random(seed)  # noqa: S311
    letters = "".join(OPTICKS[:20_000].split())
    for length in [*range(1, 64), *range(64, 200, 9)]:
        start = random.randrange(len(letters) - length)
        word = letters[start : start + length].encode()[:length]
        expected = by_ranks(tok, word)
        assert [tok.encode(word), tok.encode(word)] == [expected, expected]
        assert tok.encode(word + b"\n") == [*expected, 10]


def periodic(alphabet: str) -> st.SearchStrategy[str]:
    """Texts in which strings are repeated, up to 360 letters."""
    parts = st.tuples(texts(alphabet, min_size=1, max_size=6), st.integers(1, 20))
    joined = st.lists(parts, min_size=1, max_size=3)
    return joined.map(lambda parts: "".join(part * times for part, times in parts))


def check_long(vocabulary: Vocabulary, samples: list[str]) -> None:
    """Words that no cache has seen, alone and many together, each of them twice."""
    check(vocabulary, samples)
    tok = mw.Tokenizer(replace(vocabulary, pattern="whitespace"))
    words = [word for sample in samples for word in (sample, sample[1:] or "a", sample)]
    expected = slow_encode(tok.vocabulary, " ".join(words))
    assert tok.encode(" ".join(words)) == expected
    assert tok.count_tokens(" ".join(words)) == len(expected)
    assert slow_places(tok.vocabulary, words[0]) == [
        (token, *place) for token, place in zip(*tok.encode(words[0], offsets=True), strict=True)
    ]


@given(string_merges("ab", max_size=14), st.lists(periodic("ab"), min_size=1, max_size=2))
def test_long_words_of_bytes_equal_the_reference(
    merges: list[tuple[str, str]], samples: list[str]
) -> None:
    strings = dict.fromkeys(left + right for left, right in in_bytes(merges))
    check_long(over_bytes(strings, merges=in_bytes(merges)), samples)


@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
@given(token_ranks("ab", max_size=14, max_rank=9), st.lists(periodic("ab"), min_size=1, max_size=2))
def test_long_words_with_ranks_in_any_order_equal_the_reference(
    alphabet: str, ranks: dict[str, int], samples: list[str]
) -> None:
    by_string = {string.encode(): rank for string, rank in ranks.items()}
    if alphabet == "bytes":
        vocabulary = over_bytes(by_string, ranks=by_string)
    else:
        vocabulary = over_chars(["a", "b", " ", *ranks], ranks=by_string)
    check_long(vocabulary, samples)


@given(st.permutations(range(12)), st.lists(periodic("ab"), min_size=1, max_size=2))
def test_long_words_with_different_ranks_in_any_order(order: list[int], samples: list[str]) -> None:
    strings = [b"ab", b"ba", b"aa", b"bb", b"aba", b"abab", b"bab", b"aab", b"aaaa", b"baab"]
    strings += [b"a" * 8, b"ab" * 17]
    check_long(over_bytes(strings, ranks=dict(zip(strings, order, strict=True))), samples)


@given(st.lists(texts("ab", min_size=1, max_size=90), min_size=1, max_size=12), st.data())
def test_words_seen_before_keep_their_tokens(words: list[str], data: st.DataObject) -> None:
    tok = two_letters()
    expected = {word: by_ranks(tok, b" " + word.encode()) for word in words}
    chosen = data.draw(st.lists(st.sampled_from(words), max_size=200))
    ids = [i for word in chosen for i in expected[word]]
    assert tok.encode("".join(" " + word for word in chosen)) == ids


@cache
def two_letters() -> mw.Tokenizer:
    random = Random(0)  # noqa: S311
    text = " ".join("".join(random.choices("ab", k=n % 40)) for n in range(3000))
    return mw.train(mw.count([text], pattern="whitespace"), num_merges=400)


def random_words(num_words: int, shortest: int, longest: int, seed: int) -> list[str]:
    random = Random(seed)  # noqa: S311
    letters = "".join(random.choices("abcdefgh", k=num_words * longest))
    lengths = random.choices(range(shortest, longest + 1), k=num_words)
    starts = range(0, len(letters), longest)
    return [letters[start : start + n] for start, n in zip(starts, lengths, strict=True)]


def test_more_words_than_the_caches_hold() -> None:
    tok, peer = mw.Tokenizer(trained().vocabulary), tiktoken_peer()
    many = (
        " ".join(random_words(300_000, 6, 9, 0)) + " " + " ".join(random_words(45_000, 20, 40, 1))
    )
    expected = peer.encode_ordinary(many)
    assert tok.encode(many) == expected
    first, last = many[:100_000], many[-100_000:]
    for text in (last, first, last):
        assert tok.encode(text) == peer.encode_ordinary(text)
    assert tok.encode(many) == expected


DOUBLING = [(b"a" * 2**i, b"a" * 2**i) for i in range(10)]


def test_100_kilobytes_of_one_letter() -> None:
    tok = mw.Tokenizer(over_bytes([left + right for left, right in DOUBLING], merges=DOUBLING))
    tree: formal.Tree = "a"
    merges = [tree := (tree, tree) for _ in DOUBLING]
    for length in (100_000, 100_001, 2**16 - 1, 1023):
        expected = [len(formal.yield_of(t)) for t in formal.apply(merges, "a" * length)]
        ids = tok.encode("a" * length)
        assert [len(tok.token_bytes(i)) for i in ids] == expected
        assert tok.encode(" " + "a" * length)[1:] == ids


@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_a_long_text_of_two_letters_equals_formal(alphabet: str) -> None:
    text = "".join(Random(1).choices("ab", k=20_000))  # noqa: S311
    merges = formal.greedy(text[:200], 25, min_count=2)
    pairs = in_bytes((formal.yield_of(left), formal.yield_of(right)) for left, right in merges)
    strings = [left + right for left, right in pairs]
    tokens = {**BYTES, **{string: 256 + i for i, string in enumerate(strings)}}
    if alphabet == "chars":
        tokens = {string: i for string, i in tokens.items() if string.isascii()}
    tok = mw.Tokenizer(Vocabulary(tokens=tokens, merges=pairs, alphabet=alphabet))  # type: ignore[arg-type]
    expected = [formal.yield_of(tree).encode() for tree in formal.apply(merges, text)]
    assert [tok.token_bytes(i) for i in tok.encode(text)] == expected


@pytest.mark.parametrize("ranks", ["rising", "falling"])
def test_a_word_of_a_megabyte_takes_seconds_of_work(ranks: str) -> None:
    """Nothing is quadratic, whatever the order of the ranks."""
    strings = [b"a" * n for n in range(2, 40)] + [b"ab", b"ba", b"aba", b"bab", b"abab" * 5]
    order = strings if ranks == "rising" else strings[::-1]
    tok = mw.Tokenizer(over_bytes(strings, ranks={string: i for i, string in enumerate(order)}))
    started = time.process_time()
    for text in (b"a" * 2**20, b"ab" * 2**19, b"aab" * 2**18 + b"b"):
        assert tok.decode_bytes(tok.encode(text)) == text
    assert time.process_time() - started < 20


# Batches.


@pytest.mark.parametrize("num_threads", [1, 2, 7])
@pytest.mark.parametrize("size", [1, 300, 40_000])
def test_a_batch_is_its_texts_one_by_one(num_threads: int, size: int) -> None:
    tok = trained()
    samples = [OPTICKS[at : at + size] for at in range(0, min(len(OPTICKS), 500 * size), size)]
    samples[1:1] = ["", "é☃", ""]
    expected = [tok.encode(text) for text in samples]
    assert tok.encode_batch(samples, num_threads=num_threads) == expected
    assert tok.encode_batch((s.encode() for s in samples), num_threads=num_threads) == expected
    ids, offsets = tok.encode_batch_numpy(samples, num_threads=num_threads)
    assert (ids.dtype, offsets.dtype) == (np.dtype("uint32"), np.dtype("int64"))
    parts = [ids[start:end].tolist() for start, end in pairwise(offsets.tolist())]
    assert parts == expected


@pytest.mark.parametrize("pattern", ["cl100k", "whitespace", None, r"\w+|\W"])
def test_threads_share_a_long_document(pattern: str | None) -> None:
    special = {"<s>": 5000, "</s>": 5001}
    tok = mw.Tokenizer(replace(trained().vocabulary, pattern=pattern, special_tokens=special))
    long = OPTICKS[:120_000].replace(". ", ".<s> ") + "   " + "".join(LANGUAGES.values())
    batch = [long, "", "short", long[7:] + "</s>", "x" * 50_000]
    expected = [tok.encode(text, allowed_special="all") for text in batch]
    for num_threads in (2, 5):
        found = tok.encode_batch(batch, allowed_special="all", num_threads=num_threads)
        assert found == expected


@pytest.mark.parametrize("batch", [[], [""], ["", ""], [b""]])
def test_batches_of_nothing(batch: list[str | bytes]) -> None:
    assert trained().encode_batch(batch, num_threads=2) == [[]] * len(batch)
    ids, offsets = trained().encode_batch_numpy(batch)
    assert (len(ids), offsets.tolist()) == (0, [0] * (len(batch) + 1))


def test_arrays_outlive_the_tokenizer() -> None:
    tok = mw.Tokenizer(trained().vocabulary)
    expected = tok.encode(OPTICKS)
    ids, _ = tok.encode_batch_numpy([OPTICKS])
    del tok
    assert ids.tolist() == expected


def test_the_failing_document_of_a_batch_is_named() -> None:
    tok = mw.Tokenizer(over_chars("ab", merges=[]))
    with pytest.raises(UnknownTokenError, match=r"document 700: .*'x' at byte 40001"):
        tok.encode_batch(["ab" * 20_000] * 700 + ["ab" * 20_000 + "ax"], num_threads=2)
    tok = mw.Tokenizer(over_chars("ab ", merges=[], pattern="whitespace"))
    with pytest.raises(UnknownTokenError, match=r"document 1: .*'x' at byte 400001"):
        tok.encode_batch(["", "ab a" * 100_000 + "ax"], num_threads=2)


# So much text that is not ASCII that threads work on some while Python makes the UTF-8 of the rest.


def documents_that_take_long(num_documents: int = 100) -> list[str]:
    """New ones, of which Python has no UTF-8 yet."""
    text = "".join(LANGUAGES.values()) * (7000 // num_documents)
    return [f"{index} {text}" for index in range(num_documents)]


def test_texts_are_encoded_and_counted_while_others_are_made() -> None:
    tok = trained("whitespace")
    texts = documents_that_take_long()
    ids, offsets = tok.encode_batch_numpy([text.encode() for text in texts], num_threads=1)
    for num_threads in (1, 3):
        found = tok.encode_batch_numpy(documents_that_take_long(), num_threads=num_threads)
        assert np.array_equal(found[0], ids)
        assert np.array_equal(found[1], offsets)
    counts = mw.count([text.encode() for text in texts], pattern="whitespace", num_threads=1)
    assert mw.count(documents_that_take_long(), pattern="whitespace", num_threads=3) == counts


def test_a_few_long_texts_among_many_short_ones() -> None:
    # Their lengths are guessed from a few, among which the long ones hardly are.
    tok = trained("whitespace")
    texts = ["a b"] * 100_000
    for place in (40_000, 70_007, 99_999):
        texts[place] = OPTICKS * 10
    ids, offsets = tok.encode_batch_numpy(texts, num_threads=1)
    for sequence in (texts, tuple(texts)):
        found = tok.encode_batch_numpy(sequence, num_threads=3)
        assert np.array_equal(found[0], ids)
        assert np.array_equal(found[1], offsets)


@contextmanager
def soon_and_again(change: Callable[[], object]) -> Iterator[None]:
    """Call a function every millisecond, in the middle of what this thread does."""
    before = signal.signal(signal.SIGALRM, lambda *_: change())
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a timer that sends signals")
def test_a_list_that_is_changed_while_it_is_read() -> None:
    tok = trained("whitespace")
    expected = [tok.encode(text) for text in documents_that_take_long(6000)]

    def encoded_while(change: Callable[[list[str]], object]) -> list[list[int]]:
        texts = documents_that_take_long(6000)
        with soon_and_again(lambda: change(texts)):
            return tok.encode_batch(texts, num_threads=3)

    # Each text is what was there when it was read, and stays so.
    after = tok.encode("ab")
    for _ in range(50):
        found = encoded_while(lambda texts: texts.__setitem__(slice(None), ["ab"] * len(texts)))
        assert all(ids in (first, after) for ids, first in zip(found, expected, strict=True))
        if 0 < sum(ids == after for ids in found) < len(found):
            break
    else:
        pytest.fail("it was never changed in the middle")
    with pytest.raises(RuntimeError, match="became shorter"):
        list(map(encoded_while, [list.clear] * 50))


@pytest.mark.parametrize("first", ["encoded", "refused"])
def test_a_late_text_is_refused_whatever_became_of_the_first(first: str) -> None:
    texts: list[object] = [*documents_that_take_long(), "\ud800", 7]
    tok = trained() if first == "encoded" else mw.Tokenizer(over_chars("ab", merges=[]))
    with pytest.raises(UnicodeEncodeError):
        tok.encode_batch(texts, num_threads=3)  # type: ignore[arg-type]
    del texts[-2]
    with pytest.raises(TypeError, match="expected str or bytes, found int"):
        tok.encode_batch(texts, num_threads=3)  # type: ignore[arg-type]


def test_a_failing_document_behind_many_is_named() -> None:
    texts = documents_that_take_long()
    tok = mw.Tokenizer(over_chars("".join(sorted(set("".join(texts)))), merges=[]))
    with pytest.raises(UnknownTokenError, match=r"document 100: .*'☃' at byte 0"):
        tok.encode_batch([*texts, "☃"], num_threads=3)


# Counts.


@given(unicode_texts())
def test_count_tokens_is_the_number_of_ids(text: str) -> None:
    assert trained().count_tokens(text) == len(trained().encode(text))
    assert trained(None).count_tokens(text) == len(trained(None).encode(text))


@pytest.mark.parametrize("pattern", [None, "whitespace"])
def test_count_tokens_fuses_unknown_characters(pattern: str | None) -> None:
    vocabulary = over_chars("ab", merges=[], unknown_token=2, fuse_unknown=True, pattern=pattern)
    tok = mw.Tokenizer(vocabulary)
    assert tok.count_tokens("axyb") == len(slow_encode(vocabulary, "axyb")) == 3


# There and back.


@given(st.binary(max_size=60))
def test_all_bytes_come_back(data: bytes) -> None:
    for tok in (trained(), trained(None), trained("whitespace")):
        assert tok.decode_bytes(tok.encode(data)) == data


@given(st.lists(st.sampled_from([b"\xc3", b"\xa9", b"\xe2\x98", b"\x83", b"a", b" ", b"\xff"])))
def test_broken_characters_come_back(parts: list[bytes]) -> None:
    data = b"".join(parts)
    for tok in (trained(), trained(None), trained("whitespace")):
        ids, places = tok.encode(data, offsets=True)
        assert tok.decode_bytes(ids) == data
        assert [tok.token_bytes(i) for i in ids] == [data[start:end] for start, end in places]


@given(unicode_texts())
def test_all_texts_come_back(text: str) -> None:
    for tok in (trained(), trained(None)):
        assert tok.decode(tok.encode(text), errors="strict") == text


@given(texts("ab é☃", max_size=20))
def test_texts_come_back_out_of_byte_tokens(text: str) -> None:
    tok = with_byte_tokens()
    assert tok.decode(tok.encode(text)) == text


@cache
def with_byte_tokens() -> mw.Tokenizer:
    vocabulary = over_chars(
        ["a", "b", " ", "ab", " ab"],
        merges=[(b"a", b"b"), (b" ", b"ab")],
        byte_tokens=tuple(range(100, 356)),
        prefix_space="always",
    )
    return mw.Tokenizer(vocabulary)


# Special tokens.

SPECIAL = {"<s>": 2000, "</s>": 2001, "<s><s>": 2002, "the": 2003, "é<s": 2004}


@cache
def with_specials(*, added: bool = False) -> mw.Tokenizer:
    kind = "added_tokens" if added else "special_tokens"
    return mw.Tokenizer(replace(trained().vocabulary, **{kind: SPECIAL}))  # type: ignore[arg-type]


@cache
def tiktoken_with_specials() -> tiktoken.Encoding:
    """Without `<s><s>`: of tokens that begin alike tiktoken may find either."""
    return tiktoken.Encoding(
        "test",
        pat_str=tiktoken_pattern("cl100k"),
        mergeable_ranks=dict(trained().vocabulary.tokens),
        special_tokens={text: i for text, i in SPECIAL.items() if text != "<s><s>"},
    )


names = st.sets(st.sampled_from(["<s>", "</s>", "the", "é<s"]))
special_texts = st.lists(
    st.sampled_from(["<s>", "</s>", "the", "é<s", "<", "s>", " ", "a", "é", "the the"])
).map("".join)


@given(special_texts, names | st.just("all"), names | st.just("all"))
def test_special_tokens_as_in_tiktoken(text: str, allowed: Any, disallowed: Any) -> None:
    peer = tiktoken_with_specials()
    tok = specials_of(tuple(item for item in SPECIAL.items() if item[0] != "<s><s>"))
    choice = {"allowed_special": allowed, "disallowed_special": disallowed}
    try:
        expected = peer.encode(text, **choice)
    except ValueError:
        for encode in (tok.encode, tok.count_tokens):
            with pytest.raises(ValueError, match="special token"):
                encode(text, **choice)
        return
    assert tok.encode(text, **choice) == expected
    assert tok.count_tokens(text, **choice) == len(expected)
    assert tok.encode_batch([text, text], **choice) == [expected, expected]
    assert tok.encode(text, offsets=True, **choice)[0] == expected


@cache
def specials_of(special_tokens: tuple[tuple[str, int], ...]) -> mw.Tokenizer:
    return mw.Tokenizer(replace(trained().vocabulary, special_tokens=dict(special_tokens)))


def test_the_error_names_the_special_token_and_the_remedies() -> None:
    tok = specials_of((("<s>", 2000),))
    with pytest.raises(ValueError, match="special token") as caught:
        tok.encode("é and <s>")
    message = str(caught.value)
    assert '"<s>" at byte 7' in message
    assert 'allowed_special={"<s>"}' in message
    assert "disallowed_special=()" in message


def test_of_special_tokens_that_begin_alike_the_longest_is_found() -> None:
    assert with_specials().encode("<s><s><s>", allowed_special="all") == [2002, 2000]
    assert (
        with_specials().encode("<s><s><s>", allowed_special={"<s>"}, disallowed_special=())
        == [2000] * 3
    )


def test_special_tokens_are_found_inside_words() -> None:
    tok = with_specials()
    ids = [*tok.encode("o"), 2003, *tok.encode("r")]
    assert tok.encode("other", allowed_special="all") == ids
    assert tok.decode(ids) == "other"


def test_added_tokens_are_always_found() -> None:
    tok = with_specials(added=True)
    for choice in ({}, {"allowed_special": "all"}, {"disallowed_special": ()}):
        assert tok.encode("</s>the<s><s>", **choice) == [2001, 2003, 2002]


def test_calls_do_not_share_what_they_allow() -> None:
    tok = with_specials()
    allowed: set[str] = set()
    plain = tok.encode("</s>", allowed_special=allowed, disallowed_special=())
    allowed.add("</s>")
    found = tok.encode("</s>", allowed_special=allowed, disallowed_special=())
    allowed.clear()
    assert (plain, found) == (trained().encode("</s>"), [2001])
    assert tok.encode("</s>", allowed_special=allowed, disallowed_special=()) == plain


def test_a_special_token_is_no_text_unless_it_is_asked_for() -> None:
    tok = specials_of((("<s>", 2000),))
    assert tok.encode("<s>", disallowed_special=()) == trained().encode("<s>")
    assert tok.encode("<s>", allowed_special={"<s>"}) == [2000]


@pytest.mark.parametrize("choice", ["allowed_special", "disallowed_special"])
def test_a_choice_of_special_tokens_must_be_one(choice: str) -> None:
    tok = specials_of((("<s>", 2000),))
    with pytest.raises(TypeError, match="collection"):
        tok.encode("a", **{choice: "<s>"})  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="'<x>' is not a special token"):
        tok.encode("a", **{choice: {"<x>"}})  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        tok.encode("a", **{choice: 5})  # type: ignore[call-overload]


def test_an_empty_special_token_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        specials_of((("", 2000),))


# Offsets.


@given(unicode_texts())
def test_offsets_of_bytes_cut_out_the_tokens(text: str) -> None:
    data = text.encode()
    for tok in (trained(), trained(None)):
        ids, places = tok.encode(data, offsets=True)
        assert ids == tok.encode(data)
        assert [tok.token_bytes(i) for i in ids] == [data[start:end] for start, end in places]


@given(unicode_texts())
def test_offsets_of_text_are_the_characters_that_a_token_touches(text: str) -> None:
    tok = trained()
    character_of = [i for i, c in enumerate(text) for _ in c.encode()]
    _, in_bytes = tok.encode(text.encode(), offsets=True)
    _, places = tok.encode(text, offsets=True)
    expected = [(character_of[s], character_of[e - 1] + 1) for s, e in in_bytes]
    assert places == expected


@given(texts("ab \n", max_size=30))
def test_offsets_of_ascii_put_together_the_text(text: str) -> None:
    _, places = trained(None).encode(text, offsets=True)
    assert "".join(text[start:end] for start, end in places) == text


def test_a_character_of_several_tokens() -> None:
    tok = mw.Tokenizer(over_bytes([], merges=[]))
    assert tok.encode("a☃b", offsets=True)[1] == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]
    tok = mw.Tokenizer(over_bytes([b"\x83b"], merges=[(b"\x83", b"b")]))
    assert tok.encode("a☃b", offsets=True)[1] == [(0, 1), (1, 2), (1, 2), (1, 3)]


@given(
    texts("ab éx", max_size=12),
    st.sampled_from(UNKNOWN),
    st.sampled_from(PATTERNS),
    st.sampled_from(SPACES),
)
def test_offsets_equal_the_reference(
    text: str, unknown: dict[str, Any], pattern: dict[str, Any], space: dict[str, Any]
) -> None:
    strings, merges = ["a", "b", " ", "ab", " ab"], [(b"a", b"b"), (b" ", b"ab")]
    vocabulary = over_chars(strings, merges=merges, **{**unknown, **pattern, **space})
    prefix = space["prefix_space"]
    shift = int(prefix == "always" or (prefix == "unless_space" and not text.startswith(" ")))
    # A space that was put before the text has the place of the text's first character.
    first = len(text[:1].encode())
    places = [
        (max(0, start - shift), end - shift if end > shift else first)
        for _, start, end in slow_places(vocabulary, text)
    ]
    assert mw.Tokenizer(vocabulary).encode(text.encode(), offsets=True)[1] == places


def test_offsets_count_what_lies_between_words() -> None:
    tok = mw.Tokenizer(over_bytes([], merges=[], pattern=r"\w+", drops_gaps=True))
    assert tok.encode("a  bc.d", offsets=True)[1] == [(0, 1), (3, 4), (4, 5), (6, 7)]


def test_offsets_do_not_count_a_space_before_the_text_that_is_dropped() -> None:
    vocabulary = over_bytes([], merges=[], pattern=r"\w+", drops_gaps=True, prefix_space="always")
    assert mw.Tokenizer(vocabulary).encode("ab", offsets=True)[1] == [(0, 1), (1, 2)]


def test_offsets_with_a_space_before_the_text_equal_tokenizers(tmp_path: Path) -> None:
    peer = byte_level_peer(prefix=True)
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for text in ("light", " light", "the light", "of é", "é", "x", ""):
        expected = peer.encode(text)
        assert tok.encode(text, offsets=True) == (expected.ids, expected.offsets)


@pytest.mark.parametrize("mark", ["continuing_subword_prefix", "end_of_word_suffix"])
def test_offsets_of_whole_words_of_dropped_letters_equal_tokenizers(
    mark: str, tmp_path: Path
) -> None:
    vocab = {text: i for i, text in enumerate(["x", "xy", "yx", "##y", "y</w>"])}
    peer = tokenizers.Tokenizer(models.BPE(vocab, [], ignore_merges=True, **{mark: "##"}))
    peer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for text in ("x", "xy", "yx", "yx x xy"):
        expected = peer.encode(text)
        assert tok.encode(text, offsets=True) == (expected.ids, expected.offsets), text


def test_offsets_around_special_tokens() -> None:
    tok = with_specials()
    ids, places = tok.encode("é</s>é", allowed_special="all", offsets=True)
    middle = ids.index(2001)
    assert places[middle] == (1, 5)
    assert {*places[:middle]} == {(0, 1)}
    assert {*places[middle + 1 :]} == {(5, 6)}


def test_offsets_of_a_text_that_is_changed_are_those_of_what_was_changed() -> None:
    tok = mw.Tokenizer(over_bytes([], merges=[], normalize="nfc"))
    ids, offsets = tok.encode("fe\u0301!", offsets=True)
    assert tok.decode(ids) == "f\u00e9!"
    assert offsets == [(0, 1), (1, 2), (1, 2), (3, 4)]
    with pytest.raises(ValueError, match="offsets"):
        tok.encode("fe\u0301".encode() + b"\xff", offsets=True)
    tok = mw.Tokenizer(over_bytes([], merges=[], mark_is_space=True))
    assert tok.encode("a▁b", offsets=True) == ([97, 32, 98], [(0, 1), (1, 2), (2, 3)])


# What cannot be encoded.


@pytest.mark.parametrize("text", ["abx", "ab☃", "x"])
@pytest.mark.parametrize("prefix", [None, "always"])
def test_an_unknown_character_is_named_with_its_offset(text: str, prefix: str | None) -> None:
    tok = mw.Tokenizer(over_chars("ab ", merges=[], prefix_space=prefix))
    place = len(text[:-1].encode())
    for encode in (tok.encode, tok.count_tokens):
        with pytest.raises(UnknownTokenError, match=f"'{text[-1]}' at byte {place}$"):
            encode(text)
    with pytest.raises(UnknownTokenError, match=f"'{text[-1]}' at byte {place}$"):
        tok.encode(text, offsets=True)


@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_a_text_is_refused_for_the_same_reason_by_any_threads(num_threads: int) -> None:
    """For a special token before an unknown character, also where that is in another piece."""
    tok = mw.Tokenizer(over_chars("ab ", merges=[], special_tokens={"<s>": 9}))
    texts = ["ab " * 9, "ab c" + "ab " * 100_000 + "<s>", "c"]
    with pytest.raises(InputError, match="special token") as raised:
        tok.encode_batch(texts, num_threads=num_threads)
    assert (raised.value.document, raised.value.offset) == (1, 300_004)


def test_an_unknown_character_after_a_special_token_is_named_with_its_offset() -> None:
    vocabulary = over_chars("ab ", merges=[], pattern="whitespace", special_tokens={"<é>": 9})
    tok = mw.Tokenizer(vocabulary)
    for options in ({}, {"offsets": True}):
        with pytest.raises(UnknownTokenError, match=r"'x' at byte 8$"):
            tok.encode("ab <é>ax", allowed_special="all", **options)  # type: ignore[call-overload]


def test_bytes_that_are_no_characters_are_refused_where_characters_are_meant() -> None:
    tok = mw.Tokenizer(over_chars("ab", merges=[]))
    with pytest.raises(ValueError, match="UTF-8 at byte 2"):
        tok.encode(b"ab\xff")


def test_lone_surrogates_are_refused() -> None:
    for encode in (trained().encode, trained().count_tokens):
        with pytest.raises(UnicodeEncodeError):
            encode("a\ud800")
    with pytest.raises(UnicodeEncodeError):
        trained().encode_batch(["a", "\udfff"])


@pytest.mark.parametrize("text", [None, 5, bytearray(b"a"), ["a"], memoryview(b"a")])
def test_other_types_are_refused(text: Any) -> None:
    for encode in (trained().encode, trained().count_tokens):
        with pytest.raises(TypeError, match="expected str or bytes"):
            encode(text)
    with pytest.raises(TypeError, match="expected str or bytes"):
        trained().encode_batch([text])


def test_a_batch_is_no_single_text() -> None:
    for encode in (trained().encode_batch, trained().encode_batch_numpy):
        with pytest.raises(TypeError, match="hint"):
            encode("abc")
        with pytest.raises(ValueError, match="num_threads"):
            encode(["a"], num_threads=-1)


# Ctrl-C.

LONG_WORK = {
    "a long text": ("text = words(100_000) * 600", "tok.count_tokens(text)"),
    "a long batch": ("texts = [words(100_000)] * 900", "tok.encode_batch_numpy(texts)"),
    "one long word": (
        """
tok = mw.train(mw.count([letters(100_000)], pattern=None), num_merges=500)
text = letters(4_000_000) * 60
""",
        "tok.count_tokens(text)",
    ),
    "one long word with an end": (
        """
from mergewise.vocabulary import Vocabulary
tokens = {b'a': 0, b'b': 1, b'ab': 2, b'aba': 3, b'b</w>': 4}
merges = [(b'a', b'b'), (b'ab', b'a')]
options = {'alphabet': 'chars', 'end_of_word': b'</w>', 'unknown_token': 9}
tok = mw.Tokenizer(Vocabulary(tokens=tokens, merges=merges, **options))
text = 'abaab' * 2_000_000
""",
        "tok.count_tokens(text)",
    ),
    "offsets": ("text = words(100_000) * 150", "tok.encode(text, offsets=True)"),
}


@pytest.mark.parametrize("work", LONG_WORK)
def test_ctrl_c_stops_encoding_within_a_moment(work: str, tmp_path: Path) -> None:
    prepare, call = LONG_WORK[work]
    code = "tok = mw.train(mw.count([words(1000)]), num_merges=200)\n"
    code += f"{prepare}\ntry:\n    ready()\n    {call}\n"
    code += "except KeyboardInterrupt:\n    print('interrupted')\n"
    done = interrupt(code, tmp_path)
    assert (done.output, done.status) == ("interrupted\n", 0)
    assert done.cpu_seconds < 2
