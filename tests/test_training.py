"""Greedy training equals `formal`, a slow oracle, and the libraries that it can imitate."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from itertools import pairwise
from random import Random
from typing import Literal, TypeAlias

import pytest
import rustbpe
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts, weighted_words
from test_patterns import GPT2, LANGUAGES, compiled

import mergewise as mw
from mergewise import _core, formal

Overlaps: TypeAlias = Literal["skip", "count"]
Pairs: TypeAlias = list[tuple[bytes, bytes]]

OVERLAPS: list[Overlaps] = ["skip", "count"]
OPTICKS = (resources.files(mw) / "data" / "opticks.txt").read_text(encoding="utf-8")


def train_quietly(counts: mw.WordCounts, **options: object) -> mw.Tokenizer:
    """Train; to stop early is no surprise here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="stopped after")
        return mw.train(counts, **options)  # type: ignore[arg-type]


def count_words(words: Mapping[str, int]) -> mw.WordCounts:
    """Counts of these words, got by counting each of them as a document as often as given."""
    return mw.count([word for word, n in words.items() for _ in range(n)], pattern=None)


# The formal definition.


def by_definition(
    words: formal.Corpus,
    num_merges: int,
    *,
    after: formal.Merges = (),
    overlaps: Overlaps = "skip",
    min_frequency: int = 2,
    max_token_length: int = 10**9,
) -> tuple[formal.Merge, ...]:
    """`formal.greedy` with the options that it lacks, over the same definitions."""
    merges = [*after]
    pieces = [(formal.apply(merges, word), n) for word, n in formal.words_of(words).items()]
    for _ in range(num_merges):
        corpus: Counter[formal.Tokens] = Counter()
        for word, n in pieces:
            corpus[word] += n
        counts = {
            pair: n
            for pair, n in formal.pair_counts(corpus, overlaps=overlaps).items()
            if len(formal.yield_of(pair)) <= max_token_length and n >= min_frequency
        }
        if not counts:
            break
        most = max(counts.values())
        merges.append(formal.smallest_ids([p for p, n in counts.items() if n == most], merges))
        pieces = [(formal.apply_one(merges[-1], word), n) for word, n in pieces]
    return tuple(merges)


def strings(merges: formal.Merges, encoding: str = "utf-8") -> Pairs:
    return [
        (formal.yield_of(left).encode(encoding), formal.yield_of(right).encode(encoding))
        for left, right in merges
    ]


def as_bytes(word: str) -> str:
    """A word whose characters are the bytes of `word`: the symbols of `alphabet="bytes"`."""
    return word.encode().decode("latin-1")


frequencies = st.integers(1, 4)


@given(texts("ab", max_size=40), st.sampled_from(OVERLAPS), frequencies)
def test_whole_texts_equal_formal(text: str, overlaps: Overlaps, min_frequency: int) -> None:
    counts = mw.count([text], pattern=None)
    options = {"num_merges": 8, "overlaps": overlaps, "min_frequency": min_frequency}
    expected = formal.greedy(text, 8, overlaps=overlaps, min_count=min_frequency)
    assert train_quietly(counts, **options).merges == strings(expected)
    assert train_quietly(counts, **options, alphabet="chars").merges == strings(expected)


@given(weighted_words("abc"), st.sampled_from(OVERLAPS), frequencies)
def test_words_equal_formal(words: dict[str, int], overlaps: Overlaps, min_frequency: int) -> None:
    tok = train_quietly(
        count_words(words), num_merges=6, overlaps=overlaps, min_frequency=min_frequency
    )
    expected = formal.greedy(words, 6, overlaps=overlaps, min_count=min_frequency)
    assert tok.merges == strings(expected)


@given(weighted_words("aé☃ê"), st.sampled_from(OVERLAPS))
def test_alphabets_equal_formal(words: dict[str, int], overlaps: Overlaps) -> None:
    counts = count_words(words)
    chars = train_quietly(counts, num_merges=6, overlaps=overlaps, alphabet="chars")
    expected = formal.greedy(words, 6, overlaps=overlaps, min_count=2)
    assert chars.merges == strings(expected)
    assert chars.vocab_size == len(set("".join(words))) + len(expected)
    in_bytes = {as_bytes(word): n for word, n in words.items()}
    tok = train_quietly(counts, num_merges=6, overlaps=overlaps)
    expected = formal.greedy(in_bytes, 6, overlaps=overlaps, min_count=2)
    assert tok.merges == strings(expected, "latin-1")


@given(texts("ab ", max_size=40), st.sampled_from(OVERLAPS), st.integers(1, 5), st.integers(1, 3))
def test_patterns_and_lengths_equal_formal(
    text: str, overlaps: Overlaps, max_token_length: int, min_frequency: int
) -> None:
    tok = train_quietly(
        mw.count([text], pattern="whitespace"),
        num_merges=8,
        overlaps=overlaps,
        max_token_length=max_token_length,
        min_frequency=min_frequency,
    )
    expected = by_definition(
        formal.split_words(text),
        8,
        overlaps=overlaps,
        max_token_length=max_token_length,
        min_frequency=min_frequency,
    )
    assert tok.merges == strings(expected)


@given(weighted_words("aé☃"), st.integers(1, 4))
def test_a_length_is_in_symbols(words: dict[str, int], max_token_length: int) -> None:
    counts = count_words(words)
    options = {"num_merges": 6, "max_token_length": max_token_length}
    chars = train_quietly(counts, **options, alphabet="chars")
    expected = by_definition(words, 6, max_token_length=max_token_length)
    assert chars.merges == strings(expected)
    in_bytes = {as_bytes(word): n for word, n in words.items()}
    expected = by_definition(in_bytes, 6, max_token_length=max_token_length)
    assert train_quietly(counts, **options).merges == strings(expected, "latin-1")


@given(texts("ab", max_size=40), st.integers(0, 6), st.sampled_from(OVERLAPS))
def test_to_continue_equals_to_train_at_once(text: str, first: int, overlaps: Overlaps) -> None:
    counts = mw.count([text], pattern=None)
    for alphabet in ("bytes", "chars"):
        options = {"overlaps": overlaps, "alphabet": alphabet}
        before = train_quietly(counts, num_merges=first, **options)
        both = train_quietly(counts, num_merges=6 - first, initial=before, **options)
        assert both.merges == train_quietly(counts, num_merges=6, **options).merges


@given(weighted_words("ab"), weighted_words("ab"), st.integers(0, 4))
def test_to_continue_on_other_counts_equals_formal(
    first: dict[str, int], second: dict[str, int], num_merges: int
) -> None:
    before = train_quietly(count_words(first), num_merges=num_merges)
    after = by_definition(first, num_merges)
    tok = train_quietly(count_words(second), num_merges=4, initial=before)
    expected = by_definition(second, 4, after=after)
    if len({formal.yield_of(merge) for merge in expected}) == len(expected):
        assert tok.merges == strings(expected)


@given(st.lists(texts("ab ", max_size=20), min_size=1, max_size=4), st.integers(1, 4))
def test_merges_across_words_come_after_those_within(documents: list[str], across: int) -> None:
    within: Counter[str] = Counter()
    for document in documents:
        within.update(formal.split_words(document))
    before = by_definition(within, 3)
    expected = by_definition(Counter(documents), across, after=before)
    counts = mw.count(documents, pattern=None)
    tok = train_quietly(counts, num_merges=3 + across, then_across=across, within="whitespace")
    assert len(before) < 3 or tok.merges == strings(expected)
    assert tok.merges[: len(before)] == strings(before)
    assert tok.pattern is None


def test_merges_across_words_of_a_text() -> None:
    text = OPTICKS[:20_000]
    words = compiled("gpt2").findall(text)
    tok = mw.train(mw.count([text], pattern=None), num_merges=300, then_across=40, within="gpt2")
    assert tok.merges[:260] == slowly([word.encode() for word in words], 260)
    assert tok.merges == slowly([text.encode()], 40, after=tok.merges[:260])
    assert any(b" " in right for _, right in tok.merges[260:])


# A slow oracle on real texts.

END = "\U0010ffff"
BYTES = [bytes([byte]) for byte in range(256)]


def slowly(
    words: Iterable[bytes],
    num_merges: int,
    *,
    overlaps: Overlaps = "skip",
    min_frequency: int = 2,
    max_token_length: int = 10**9,
    after: Pairs = [],  # noqa: B006 - never changed
    symbols: Sequence[bytes] = BYTES,
) -> Pairs:
    """Greedy training on one long string, in which a character is a token.

    `str.replace` and `str.count` go from left to right without overlap: just what is wanted.
    """
    tokens = [*symbols]
    ids = {symbol: chr(index) for index, symbol in enumerate(symbols)}
    one_byte = all(len(symbol) == 1 for symbol in symbols)
    text = END.join(
        "".join(map(chr, word)) if one_byte else "".join(ids[c.encode()] for c in word.decode())
        for word in words
    )
    merges = [*after]
    for pair in after:
        text = text.replace(ids[pair[0]] + ids[pair[1]], chr(len(tokens)))
        ids[b"".join(pair)] = chr(len(tokens))
        tokens.append(b"".join(pair))
    lengths = [1] * len(symbols) + [len(token) for token in tokens[len(symbols) :]]
    for _ in range(num_merges):
        counts = Counter(pairwise(text))
        for pair_of_ids in [*counts]:
            left, right = pair_of_ids
            if END in pair_of_ids or lengths[ord(left)] + lengths[ord(right)] > max_token_length:
                del counts[pair_of_ids]
            elif left == right and overlaps == "skip":
                counts[pair_of_ids] = text.count(left + right)
        most = max(counts.values(), default=0)
        if most < min_frequency:
            break
        left, right = min(pair for pair, n in counts.items() if n == most)
        text = text.replace(left + right, chr(len(tokens)))
        merges.append((tokens[ord(left)], tokens[ord(right)]))
        tokens.append(b"".join(merges[-1]))
        lengths.append(lengths[ord(left)] + lengths[ord(right)])
    return merges


CODE_LINES = [
    "if {a}.{b}({c}) == {n}:",
    "{a}[{b}] = {c} + {n}",
    "# ------------ {a}, don't {b}!!",
    "def {a}({b}, *, {c}={n}) -> None:",
    "}}",
    "",
    "    return {a}  # {n}{n}",
]


def code_like_text(size: int) -> str:
    """Something like the source of a program, the same every time."""
    random = Random(7)  # noqa: S311
    names = ["self", "index", "get_value", "HTTPServer", "x", "tmp_1", "__init__", "i", "None"]
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        indent = "    " * random.randint(0, 5) + "\t" * random.randint(0, 1)
        a, b, c = random.choices(names, k=3)
        number = random.choice([0, 1, 255, 0xFFFF, 3.14159, 1_000_000])
        line = random.choice(CODE_LINES)
        lines.append(indent + line.format(a=a, b=b, c=c, n=number) + "\n")
    return "".join(lines)[:size]


def multilingual_text(size: int) -> str:
    """Sentences of many languages, their words in any order."""
    random = Random(8)  # noqa: S311
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        words = random.choice([*LANGUAGES.values()]).split(" ")
        parts.append(" ".join(random.choices(words, k=random.randint(1, 30))) + "\n")
    return "".join(parts)[:size]


TEXTS = {
    "english": OPTICKS[50_000:150_000],
    "code": code_like_text(100_000),
    "multilingual": multilingual_text(60_000),
}


@pytest.mark.parametrize("overlaps", OVERLAPS)
@pytest.mark.parametrize("kind", TEXTS)
def test_words_of_real_texts_equal_the_oracle(kind: str, overlaps: Overlaps) -> None:
    words = [word.encode() for word in compiled("gpt2").findall(TEXTS[kind])]
    counts = mw.count([TEXTS[kind]], pattern="gpt2")
    num_merges = 150 if overlaps == "skip" else 70
    tok = mw.train(counts, num_merges=num_merges, overlaps=overlaps)
    assert tok.merges == slowly(words, num_merges, overlaps=overlaps)


@pytest.mark.parametrize("kind", TEXTS)
def test_real_texts_without_words_equal_the_oracle(kind: str) -> None:
    tok = mw.train(mw.count([TEXTS[kind]], pattern=None), num_merges=100)
    assert tok.merges == slowly([TEXTS[kind].encode()], 100)


def test_lines_of_real_texts_equal_the_oracle() -> None:
    lines = TEXTS["code"].splitlines(keepends=True)
    tok = mw.train(mw.count(lines, pattern=None), num_merges=150, overlaps="count")
    assert tok.merges == slowly([line.encode() for line in lines], 150, overlaps="count")


def test_short_tokens_of_real_texts_equal_the_oracle() -> None:
    words = [word.encode() for word in compiled("gpt2").findall(TEXTS["english"])]
    counts = mw.count([TEXTS["english"]], pattern="gpt2")
    tok = mw.train(counts, num_merges=80, max_token_length=3)
    assert tok.merges == slowly(words, 80, max_token_length=3)


def test_characters_of_real_texts_equal_the_oracle() -> None:
    text = TEXTS["multilingual"]
    symbols = [character.encode() for character in sorted(set(text))]
    tok = mw.train(mw.count([text], pattern=None), num_merges=150, alphabet="chars")
    assert tok.merges == slowly([text.encode()], 150, symbols=symbols)


@pytest.mark.parametrize("kind", TEXTS)
def test_the_first_of_many_merges_equal_the_oracle(kind: str) -> None:
    """Before many merges, the frequent pairs are kept alone, and the others counted after them."""
    lines = TEXTS[kind].splitlines(keepends=True)
    tok = mw.train(mw.count(lines, pattern=None), num_merges=1_000)
    assert tok.merges[:200] == slowly([line.encode() for line in lines], 200)


@pytest.mark.parametrize("overlaps", OVERLAPS)
def test_pairs_far_rarer_than_expected_are_found(overlaps: Overlaps) -> None:
    """Where counts are far below what the number of merges lets expect, pairs are counted again."""
    random = Random(9)  # noqa: S311
    letters = [chr(0x4E00 + i) for i in range(700)]
    text = "".join(random.choices(letters, k=60_000)) + "".join(letters[:50]) * 9 + "é" * 20
    symbols = [letter.encode() for letter in sorted({*letters, "é"})]
    tok = mw.train(
        mw.count([text], pattern=None), num_merges=40, alphabet="chars", overlaps=overlaps
    )
    assert tok.merges == slowly([text.encode()], 40, overlaps=overlaps, symbols=symbols)


def test_everything_that_can_be_merged_is_merged() -> None:
    text = OPTICKS[:6_000]
    words = [word.encode() for word in compiled("cl100k").findall(text)]
    with pytest.warns(UserWarning, match="stopped after"):
        tok = mw.train(mw.count([text], pattern="cl100k"), vocab_size=100_000)
    assert tok.merges == slowly(words, 100_000)


def test_large_counts() -> None:
    words = {"ab": 10**18, "bc": 10**18 + 1, "abc": 3, "c": 10**17}
    tok = train_quietly(mw.WordCounts(_core.WordCounts([*words.items()])), num_merges=3)
    assert tok.merges == strings(formal.greedy(words, 3, min_count=2))


def test_counts_that_do_not_fit_are_not_taken_for_small_ones() -> None:
    words = {"ab": 2**63, "cab": 2**63}
    try:
        tok = train_quietly(mw.WordCounts(_core.WordCounts([*words.items()])), num_merges=1)
    except (OverflowError, ValueError):
        return
    assert tok.merges == strings(formal.greedy(words, 1))


# Letters that overlap and repeat.


@pytest.mark.parametrize("overlaps", OVERLAPS)
@pytest.mark.parametrize("unit", ["a", "ab", "aab", "aba"])
def test_short_repetitions_equal_formal(unit: str, overlaps: Overlaps) -> None:
    for size in range(50):
        text = (unit * size)[:60]
        tok = train_quietly(
            mw.count([text], pattern=None), num_merges=9, overlaps=overlaps, min_frequency=1
        )
        expected = formal.greedy(text, 9, overlaps=overlaps)
        assert tok.merges == strings(expected), text


def fibonacci(size: int) -> str:
    old, new = "b", "a"
    while len(new) < size:
        old, new = new, new + old
    return new[:size]


@pytest.mark.parametrize("size", [5, 89, 90, 1000, 2584])
def test_a_fibonacci_string_equals_formal(size: int) -> None:
    text = fibonacci(size)
    tok = train_quietly(mw.count([text], pattern=None), num_merges=30, min_frequency=1)
    assert tok.merges == strings(formal.fast_greedy(text, 30))


@pytest.mark.parametrize("overlaps", OVERLAPS)
@pytest.mark.parametrize("unit", ["a", "ab"])
def test_a_million_repetitions(unit: str, overlaps: Overlaps) -> None:
    """Each merge halves the tokens until there are two; the last that counts makes those two."""
    units = 2**20
    with pytest.warns(UserWarning, match="stopped after"):
        tok = mw.train(mw.count([unit * units], pattern=None), num_merges=99, overlaps=overlaps)
    doubled = [(unit.encode() * 2**k, unit.encode() * 2**k) for k in range(19)]
    assert tok.merges == ([(b"a", b"b")] if unit == "ab" else []) + doubled


@pytest.mark.parametrize("overlaps", OVERLAPS)
def test_a_fibonacci_string_of_a_million_letters(overlaps: Overlaps) -> None:
    text = fibonacci(1_500_000)
    tok = train_quietly(mw.count([text], pattern=None), num_merges=60, overlaps=overlaps)
    assert tok.merges[:8] == slowly([text.encode()], 8, overlaps=overlaps)
    assert 20 < len(tok.merges) <= 60


def test_many_runs_of_one_letter() -> None:
    random = Random(10)  # noqa: S311
    text = "".join("a" * random.randint(1, 40) + random.choice("bc ") for _ in range(4000))
    for overlaps in OVERLAPS:
        tok = mw.train(mw.count([text], pattern=None), num_merges=80, overlaps=overlaps)
        assert tok.merges == slowly([text.encode()], 80, overlaps=overlaps)


def test_a_corpus_without_pairs() -> None:
    for documents in ([], [""], ["a"], ["a", "b"], ["a"] * 100):
        counts = mw.count(documents, pattern=None)
        with pytest.warns(UserWarning, match="stopped after 0 of 5 merges"):
            tok = mw.train(counts, num_merges=5)
        assert (tok.merges, tok.vocab_size) == ([], 256)
        with pytest.warns(UserWarning, match="stopped after 0 of 5 merges"):
            tok = mw.train(counts, num_merges=5, alphabet="chars")
        assert tok.vocab_size == len(set("".join(documents)))


# The same from the same.


def test_threads_and_orders_change_no_merge() -> None:
    documents = (OPTICKS + TEXTS["multilingual"]).split("\n\n") * 2
    expected = mw.train(mw.count(documents, num_threads=1), vocab_size=3000).merges
    for num_threads in (2, 16):
        Random(num_threads).shuffle(documents)  # noqa: S311
        counts = mw.count(documents, num_threads=num_threads)
        assert mw.train(counts, vocab_size=3000).merges == expected
    whole = [mw.count(part, pattern=None) for part in (documents[:50], documents[50:])]
    one = mw.train(whole[0] + whole[1], num_merges=500)
    assert one.merges == mw.train(whole[1] + whole[0], num_merges=500).merges


# Other libraries.

GPT2_LETTERS = [*range(33, 127), *range(161, 173), *range(174, 256)]
GPT2_BYTES = {chr(byte): byte for byte in GPT2_LETTERS} | {
    chr(256 + index): byte
    for index, byte in enumerate(byte for byte in range(256) if byte not in GPT2_LETTERS)
}

PEER_TEXTS = {
    "english": OPTICKS,
    "code": code_like_text(300_000),
    "multilingual": multilingual_text(300_000),
    "runs": " ".join("a" * (i % 37) + "b" * (i % 5) for i in range(3000)),
}


def huggingface_merges(text: str, vocab_size: int) -> Pairs:
    level = tokenizers.pre_tokenizers.ByteLevel
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = level(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size, show_progress=False, initial_alphabet=level.alphabet()
    )
    tok.train_from_iterator([text], trainer)
    merges = json.loads(tok.to_str())["model"]["merges"]

    def decoded(letters: str) -> bytes:
        return bytes(GPT2_BYTES[letter] for letter in letters)

    return [(decoded(left), decoded(right)) for left, right in merges]


@pytest.mark.parametrize("kind", PEER_TEXTS)
def test_like_huggingface(kind: str) -> None:
    counts = mw.count([PEER_TEXTS[kind]], pattern="gpt2")
    tok = train_quietly(counts, vocab_size=4000, like="huggingface")
    assert tok.merges == huggingface_merges(PEER_TEXTS[kind], 4000)


def rustbpe_tokens(text: str, vocab_size: int) -> list[bytes]:
    tok = rustbpe.Tokenizer()
    tok.train_from_iterator([text], vocab_size, pattern=GPT2)
    return [bytes(token) for token, _ in sorted(tok.get_mergeable_ranks(), key=lambda x: x[1])]


@pytest.mark.parametrize("kind", PEER_TEXTS)
def test_like_rustbpe(kind: str) -> None:
    counts = mw.count([PEER_TEXTS[kind]], pattern="gpt2")
    tok = train_quietly(counts, vocab_size=4000, like="rustbpe")
    expected = rustbpe_tokens(PEER_TEXTS[kind], 4000)
    assert [tok.token_bytes(i) for i in range(tok.vocab_size)] == expected


def test_like_decides_the_defaults_but_not_more() -> None:
    counts = mw.count([TEXTS["english"]], pattern="gpt2")
    same = mw.train(counts, num_merges=200, overlaps="count", min_frequency=1)
    assert mw.train(counts, num_merges=200, like="rustbpe").merges == same.merges
    few = train_quietly(counts, num_merges=10_000, like="huggingface", min_frequency=50)
    assert len(few.merges) < 1000


# Sizes, special tokens, refusals.


def test_sizes_count_symbols_merges_and_special_tokens() -> None:
    counts = mw.count([TEXTS["english"]])
    tok = mw.train(counts, vocab_size=300, special_tokens=["<a>", "<b>"])
    assert (tok.vocab_size, len(tok.merges)) == (300, 42)
    assert tok.special_tokens == {"<a>": 298, "<b>": 299}
    assert tok.token_bytes(299) == b"<b>"
    assert tok.token_bytes(297) == b"".join(tok.merges[-1])
    assert mw.train(counts, num_merges=42).merges == tok.merges
    assert (tok.pattern, tok.normalize) == ("cl100k", None)
    longer = mw.train(counts, vocab_size=310, initial=tok)
    assert (longer.vocab_size, len(longer.merges)) == (310, 54)
    assert longer.merges[:42] == tok.merges
    assert mw.train(counts, vocab_size=256).merges == []
    assert mw.train(counts, vocab_size=258, special_tokens=["<a>", "<b>"]).merges == []
    assert mw.train(counts, num_merges=0).merges == []
    chars = len(set(TEXTS["english"]))
    assert len(mw.train(counts, vocab_size=chars + 7, alphabet="chars").merges) == 7


def test_pattern_and_normalization_travel() -> None:
    counts = mw.count(["a b a b"], pattern=r"\S+", normalize="nfkc")
    tok = train_quietly(counts, num_merges=1)
    assert (tok.pattern, tok.normalize) == (r"\S+", "nfkc")


def test_to_stop_early_is_said() -> None:
    counts = mw.count(["abab abab"], pattern="whitespace")
    with pytest.warns(UserWarning, match="stopped after 2 of 1,000 merges"):
        tok = mw.train(counts, num_merges=1000)
    assert tok.merges == [(b"a", b"b"), (b"ab", b"ab")]


@pytest.mark.parametrize("size", [10**6, 2**40, 2**64, 10**30])
def test_more_than_possible_stops_early(size: int) -> None:
    counts = mw.count(["abab abab"], pattern="whitespace")
    for options in ({"vocab_size": size}, {"num_merges": size}):
        with pytest.warns(UserWarning, match="stopped after 2 of"):
            tok = mw.train(counts, **options)  # type: ignore[arg-type]
        assert tok.merges == [(b"a", b"b"), (b"ab", b"ab")]


COUNTS = mw.count(["low lower lowest low"], pattern="whitespace")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 255}, r"vocab_size must be at least 256 here, found 255"),
        ({"vocab_size": -1}, r"vocab_size must be at least 256 here, found -1"),
        ({"vocab_size": 257, "special_tokens": ["a", "b"]}, r"at least 258.*found 257"),
        ({"num_merges": -1}, r"num_merges must be 0 or more, found -1"),
        ({"num_merges": 1, "min_frequency": 0}, r"min_frequency must be 1 or more, found 0"),
        ({"num_merges": 1, "min_frequency": -2}, r"min_frequency must be 1 or more, found -2"),
        ({"num_merges": 1, "max_token_length": 0}, r"max_token_length must be 1 or more"),
        ({"num_merges": 1, "overlaps": "all"}, r'overlaps.*"skip" or "count".*all'),
        ({"num_merges": 1, "alphabet": "words"}, r"alphabet.*words"),
        ({"num_merges": 1, "like": "sentencepiece"}, r"like.*sentencepiece"),
        ({"num_merges": 1, "like": "rustbpe", "alphabet": "chars"}, r'needs alphabet="bytes"'),
        ({"num_merges": 1, "special_tokens": ["a", "a"]}, r"'a' stands twice"),
        ({"num_merges": 1, "special_tokens": [""]}, r"not empty"),
        ({"num_merges": 3, "then_across": 1}, r"without a pattern"),
        ({"num_merges": 3, "then_across": 1, "within": "gpt2"}, r"without a pattern"),
        ({"num_merges": 3, "within": "gpt2"}, r"within goes with then_across"),
    ],
)
def test_wrong_values_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mw.train(COUNTS, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"either vocab_size or num_merges"),
        ({"vocab_size": 300, "num_merges": 3}, r"either vocab_size or num_merges"),
        ({"vocab_size": 300.0}, r"vocab_size must be an int, found float"),
        ({"vocab_size": "300"}, r"vocab_size must be an int, found str"),
        ({"vocab_size": True}, r"vocab_size must be an int, found bool"),
        ({"num_merges": 3.0}, r"num_merges must be an int, found float"),
        ({"num_merges": 3, "min_frequency": 2.5}, r"min_frequency"),
        ({"num_merges": 3, "max_token_length": "3"}, r"max_token_length"),
        ({"num_merges": 3, "special_tokens": "<a>"}, r"list of strings"),
        ({"num_merges": 3, "initial": [(97, 98)]}, r"(?i)tokenizer"),
    ],
)
def test_wrong_types_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        mw.train(COUNTS, **options)  # type: ignore[arg-type]


def test_merges_across_words_are_refused_where_they_make_no_sense() -> None:
    counts = mw.count(["low lower lowest low"], pattern=None)
    with pytest.raises(ValueError, match="within"):
        mw.train(counts, num_merges=3, then_across=1)
    for wrong in (4, -1):
        with pytest.raises(ValueError, match=r"then_across must be from 1 to 3"):
            mw.train(counts, num_merges=3, then_across=wrong, within="gpt2")
    with pytest.raises(ValueError, match=r"(?i)pattern"):
        mw.train(counts, num_merges=3, then_across=1, within="(")
    with pytest.raises(TypeError):
        mw.train(counts, num_merges=3, then_across=1.0, within="gpt2")  # type: ignore[arg-type]


def test_texts_are_no_counts() -> None:
    with pytest.raises(TypeError, match=r"found list; hint: train\(count\(texts\)"):
        mw.train(["low"], num_merges=1)  # type: ignore[arg-type]


def test_initial_must_be_over_the_alphabet_asked_for() -> None:
    in_bytes = train_quietly(COUNTS, num_merges=1)
    with pytest.raises(ValueError, match="alphabet"):
        mw.train(COUNTS, num_merges=1, initial=in_bytes, alphabet="chars")
    with pytest.raises(ValueError, match="like"):
        mw.train(COUNTS, num_merges=1, initial=in_bytes, like="huggingface")


def test_a_character_that_the_initial_alphabet_lacks_is_named() -> None:
    chars = train_quietly(mw.count(["abab"], pattern=None), num_merges=1, alphabet="chars")
    with pytest.raises((ValueError, LookupError), match="'é'"):
        mw.train(mw.count(["abé"], pattern=None), num_merges=1, initial=chars, alphabet="chars")


def test_characters_need_text() -> None:
    counts = mw.count([b"ab\xff"], pattern=None)
    with pytest.raises(ValueError, match=r"UTF-8"):
        mw.train(counts, num_merges=1, alphabet="chars")
    assert train_quietly(counts, num_merges=2, min_frequency=1).merges == [
        (b"a", b"b"),
        (b"ab", b"\xff"),
    ]
