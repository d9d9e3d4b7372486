"""Improve: valid lists of the same length, never worse, the same with any number of threads."""

from __future__ import annotations

import json
import random
import threading
import time
from pathlib import Path

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken.load import load_tiktoken_bpe

import mergewise as mw
from mergewise import formal
from mergewise._core import WordCounts as CoreCounts
from mergewise.demo import opticks


def corpus(seed: int = 0, size: int = 400) -> mw.WordCounts:
    """Words that share beginnings and ends, so that greedy's order matters."""
    numbers = random.Random(seed)  # noqa: S311 - a corpus, no secret
    letters = ["in", "re", "st", "er", "an", "th", "on", "e", "t", "s", "a"]
    made = ["".join(numbers.choices(letters, k=numbers.randint(2, 5))) for _ in range(60)]
    weights = [1 / (rank + 1) for rank in range(len(made))]
    return mw.count([" ".join(numbers.choices(made, weights, k=size))], pattern="whitespace")


def formal_tokens(merges: list[tuple[bytes, bytes]], counts: mw.WordCounts) -> int:
    """The tokens of the corpus by the paper's own definition."""
    trees: dict[bytes, formal.Tree] = {}

    def tree(string: bytes) -> formal.Tree:
        return trees.get(string, string.decode("latin-1"))

    sequence = []
    for left, right in merges:
        merge = (tree(left), tree(right))
        trees[left + right] = merge
        sequence.append(merge)
    return sum(
        count * len(formal.apply(sequence, word.decode("latin-1")))
        for word, count in counts.top(counts.num_unique)
    )


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text("abc ", min_size=1, max_size=20), min_size=1, max_size=4), st.integers(1, 8)
)
def test_the_result_is_valid_as_long_and_no_worse(texts: list[str], num_merges: int) -> None:
    counts = mw.count(texts, pattern="whitespace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        greedy = mw.train(counts, num_merges=num_merges, min_frequency=1)
    better = mw.improve(greedy, counts, num_moves=400, num_threads=1)
    assert len(better.merges) == len(greedy.merges)
    known = {bytes([byte]) for byte in range(256)}
    for left, right in better.merges:
        assert {left, right} <= known
        assert left + right not in known
        known.add(left + right)
    claimed = better.core.num_tokens(counts.core)
    assert claimed == formal_tokens(better.merges, counts)
    assert claimed <= formal_tokens(greedy.merges, counts)


def test_small_optima_are_met() -> None:
    numbers = random.Random(0)  # noqa: S311 - a corpus, no secret
    num_beaten = num_met = 0
    for _ in range(100):
        text = "".join(numbers.choices("abc", k=24))
        counts = mw.count([text], pattern=None)
        greedy = mw.train(counts, num_merges=4, min_frequency=1)
        fewest = len(text) - mw.solve(text, num_merges=4).utility
        if len(greedy.encode(text)) == fewest:
            continue
        num_beaten += 1
        better = mw.improve(greedy, counts, num_moves=30_000, num_threads=1)
        assert len(better.encode(text)) >= fewest
        num_met += len(better.encode(text)) == fewest
    assert num_beaten > 10
    assert num_met >= 0.8 * num_beaten


def test_it_finds_better_lists_than_greedy() -> None:
    counts = mw.count([opticks()[:200_000]], pattern="gpt2")
    greedy = mw.train(counts, num_merges=200)
    better = mw.improve(greedy, counts, num_moves=10_000)
    assert formal_tokens(better.merges, counts) < formal_tokens(greedy.merges, counts)


def test_the_list_does_not_depend_on_the_number_of_threads() -> None:
    counts = corpus(1)
    greedy = mw.train(counts, num_merges=40)
    one, two, again = (
        mw.improve(greedy, counts, num_moves=5_000, seed=7, num_threads=n) for n in (1, 2, 2)
    )
    assert one.merges == two.merges == again.merges
    other = mw.improve(greedy, counts, num_moves=5_000, seed=8, num_threads=2)
    assert len(other.merges) == 40
    # Several searches, of which some begin with what the linear program chooses.
    short = mw.train(counts, num_merges=8)
    one, two = (mw.improve(short, counts, num_moves=64_000, num_threads=n) for n in (1, 2))
    assert one.merges == two.merges


@pytest.mark.slow
def test_lists_for_small_texts_are_within_a_thousandth_of_the_best() -> None:
    counts = mw.count([opticks()[20_000:25_000]], pattern="gpt2")
    greedy = mw.train(counts, num_merges=100)
    better = mw.improve(greedy, counts, num_moves=1_200_000, true_counts=True)
    proof = mw.certify(better, counts, num_steps=800, num_cases=8)
    proof.verify(counts, tokenizer=better)
    assert proof.excess <= 0.001


def test_whatever_ends_the_search_the_list_is_whole() -> None:
    counts = corpus(2)
    greedy = mw.train(counts, num_merges=40)
    for moves in (0, 1, 63, 64, 65, 1_000):
        better = mw.improve(greedy, counts, num_moves=moves)
        assert len(better.merges) == 40
        assert better.core.num_tokens(counts.core) <= greedy.core.num_tokens(counts.core)
    for seconds in (0.0, 0.001, 0.05):
        assert len(mw.improve(greedy, counts, time_limit=seconds).merges) == 40


def test_an_error_in_the_callback_ends_the_search() -> None:
    counts = corpus()

    def fail(_moves: int, _tokens: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mw.improve(mw.train(counts, num_merges=20), counts, time_limit=3600, progress=fail)


def test_control_c_gives_the_best_so_far() -> None:
    counts = corpus()
    greedy = mw.train(counts, num_merges=20)
    seen: list[int] = []

    def interrupt(moves: int, _tokens: int) -> None:
        seen.append(moves)
        raise KeyboardInterrupt

    better = mw.improve(greedy, counts, time_limit=3600, progress=interrupt)
    assert len(seen) == 1
    assert len(better.merges) == 20


def test_other_threads_run_meanwhile() -> None:
    counts = corpus()
    greedy = mw.train(counts, num_merges=20)
    results: list[mw.Tokenizer] = []
    turns = 0

    def stop(_moves: int, _tokens: int) -> None:
        if turns >= 10:
            raise KeyboardInterrupt

    def work() -> None:
        results.append(mw.improve(greedy, counts, time_limit=3600, progress=stop))

    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert len(results) == 1


def test_pinned_tokens_and_lengths_are_kept() -> None:
    counts = corpus(3)
    greedy = mw.train(counts, num_merges=40, max_token_length=4)
    last = [left + right for left, right in greedy.merges[-10:]]
    better = mw.improve(greedy, counts, num_moves=10_000, pinned=last, max_token_length=4)
    tokens = {left + right for left, right in better.merges}
    assert tokens.issuperset(last)
    assert max(map(len, tokens)) <= 4


def test_pinned_tokens_may_come_one_by_one() -> None:
    counts = mw.count(["aaabaab"], pattern=None)
    greedy = mw.train(counts, num_merges=2, min_frequency=1)
    better = mw.improve(greedy, counts, num_moves=1000, pinned=iter([b"aa"]))
    assert (b"a", b"a") in better.merges


def test_special_tokens_and_ids_stay() -> None:
    counts = corpus(4)
    greedy = mw.train(counts, num_merges=40, special_tokens=["<|end|>"])
    better = mw.improve(greedy, counts, num_moves=10_000)
    assert better.special_tokens == greedy.special_tokens
    assert better.vocab_size == greedy.vocab_size
    assert sorted(better.vocabulary.tokens.values()) == sorted(greedy.vocabulary.tokens.values())


def test_characters_are_an_alphabet_too() -> None:
    counts = mw.count(["größer größte groß größeres großen " * 5], pattern="whitespace")
    greedy = mw.train(counts, num_merges=8, alphabet="chars")
    better = mw.improve(greedy, counts, num_moves=2_000)
    assert better.alphabet == "chars"
    assert len(better.merges) == 8


def test_progress_counts_every_word() -> None:
    """Words of one symbol too, which no merge changes."""
    counts = corpus()
    letters = mw.WordCounts(CoreCounts([("q", 1_000_000)], pattern="whitespace"))
    greedy = mw.train(counts, num_merges=40)
    seen: list[int] = []
    mw.improve(
        greedy,
        counts + letters,
        time_limit=0.5,
        num_moves=1 << 40,
        progress=lambda _, tokens: seen.append(tokens),
    )
    before = 1_000_000 + greedy.core.num_tokens(counts.core)
    assert seen
    assert all(1_000_000 < tokens <= before + 1000 for tokens in seen)


def test_true_counts_gain_more_on_the_corpus() -> None:
    counts = mw.count([opticks()[:100_000]], pattern="gpt2")
    greedy = mw.train(counts, num_merges=1500)
    weighed, exact = (
        mw.improve(greedy, counts, num_moves=30_000, true_counts=true_counts)
        for true_counts in (False, True)
    )
    assert exact.core.num_tokens(counts.core) < weighed.core.num_tokens(counts.core)


def test_both_meanings_of_a_list_agree(tmp_path: Path) -> None:
    counts = corpus(5)
    greedy = mw.train(counts, num_merges=60)
    by_pairs = mw.improve(greedy, counts, num_moves=10_000)
    by_ranks = mw.improve(greedy, counts, num_moves=10_000, target="ranks")
    assert by_ranks.merges == by_pairs.merges
    text = " ".join(word.decode() for word, _ in counts.top(100)) + " restaranthester anthenstre"
    by_pairs.save(tmp_path / "tokenizer.json")
    by_ranks.save(tmp_path / "x.tiktoken")
    ids = by_pairs.encode(text)
    assert by_ranks.encode(text) == ids
    client = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert client.encode(text, add_special_tokens=False).ids == ids
    beside = json.loads((tmp_path / "x.tiktoken.json").read_text())
    ranks = load_tiktoken_bpe(str(tmp_path / "x.tiktoken"))
    encoding = tiktoken.Encoding(
        "x", pat_str=beside["pat_str"], mergeable_ranks=ranks, special_tokens={}
    )
    assert encoding.encode(text) == ids
    assert mw.Tokenizer.from_file(tmp_path / "x.tiktoken").encode(text) == ids


def test_training_can_improve_at_once() -> None:
    counts = corpus(6)
    greedy = mw.train(counts, num_merges=40)
    better = mw.train(counts, num_merges=40, improve=0.3)
    assert len(better.merges) == 40
    assert better.core.num_tokens(counts.core) <= greedy.core.num_tokens(counts.core)


def test_tokens_of_an_initial_tokenizer_stay_when_training_improves() -> None:
    counts = corpus(7)
    first = mw.train(counts, num_merges=20)
    better = mw.train(counts, num_merges=20, initial=first, improve=0.2)
    made = {left + right for left, right in better.merges}
    assert made.issuperset(left + right for left, right in first.merges)


def test_long_words_are_left_out_but_count() -> None:
    counts = mw.count(["ab" * 400 + " abc abd", "abc abd abe " * 9], pattern="whitespace")
    greedy = mw.train(counts, num_merges=6)
    better = mw.improve(greedy, counts, num_moves=1_000)
    assert better.core.num_tokens(counts.core) <= greedy.core.num_tokens(counts.core)
    whole = mw.count(["ab" * 400], pattern=None)
    document = mw.train(whole, num_merges=3)
    assert mw.improve(document, whole, num_moves=100).merges == document.merges


def test_nothing_to_improve_is_no_error() -> None:
    counts = mw.count(["a b c"], pattern="whitespace")
    empty = mw.train(counts, num_merges=0)
    assert mw.improve(empty, counts, num_moves=10).merges == []
    nothing = mw.count([""], pattern="whitespace")
    assert mw.improve(mw.train(nothing, num_merges=0), nothing, num_moves=10).merges == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "words"}, ValueError, "target must be"),
        ({"seed": -1}, ValueError, "seed must be"),
        ({"num_moves": -1}, ValueError, "num_moves must be"),
        ({"time_limit": -1.0}, ValueError, "time_limit must be"),
        ({"pinned": b"low"}, TypeError, "pinned must be a list"),
        ({"pinned": [b"xyz"]}, ValueError, "no merge of the tokenizer makes b'xyz'"),
        ({"num_threads": -1}, ValueError, "num_threads must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    counts = corpus()
    tokenizer = mw.train(counts, num_merges=5)
    with pytest.raises(error, match=message):
        mw.improve(tokenizer, counts, **options)  # type: ignore[arg-type]


def test_other_words_are_refused() -> None:
    counts = corpus()
    tokenizer = mw.train(counts, num_merges=5)
    with pytest.raises(ValueError, match="hint: count with those of the tokenizer"):
        mw.improve(tokenizer, mw.count(["a b"], pattern="gpt2"), num_moves=1)
    whole = mw.count(["a b a b"], pattern=None)
    with pytest.raises(ValueError, match="improve needs words"):
        mw.train(whole, num_merges=2, then_across=1, within="whitespace", improve=1.0)
