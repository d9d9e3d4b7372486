"""Improve: a merge list of the same length with fewer tokens than greedy's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, TypeAlias

from mergewise import _core
from mergewise.arguments import check_count, check_num_threads, check_optional, check_time_limit
from mergewise.counts import WordCounts
from mergewise.optimize.certificate import encoded_words, options_of
from mergewise.optimize.certifying import check_certifiable
from mergewise.progress import SearchReporter
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Vocabulary

Target: TypeAlias = Literal["pairs", "ranks"]
ImproveProgress: TypeAlias = bool | Callable[[int, int], None]
Merge: TypeAlias = tuple[bytes, bytes]

TIME_LIMIT = 60.0


def improve(
    tokenizer: Tokenizer,
    counts: WordCounts,
    *,
    time_limit: float | None = None,
    seed: int = 0,
    num_moves: int | None = None,
    num_threads: int = 0,
    target: Target | None = None,
    pinned: Iterable[bytes] = (),
    max_token_length: int | None = None,
    true_counts: bool = False,
    progress: ImproveProgress = False,
) -> Tokenizer:
    """A tokenizer with as many merges and fewer tokens on a corpus, or the same one.

    >>> from mergewise import count, train
    >>> text = "abababbabaabbaba"
    >>> counts = count([text], pattern=None)
    >>> greedy = train(counts, num_merges=3)
    >>> better = improve(greedy, counts, num_moves=10_000)
    >>> len(greedy.encode(text)), len(better.encode(text))
    (6, 5)

    A search over merge lists that begins with the tokenizer's (docs/theory/improving.md).
    Ctrl-C ends it with the best list so far. Other tokens, special ones too, keep their ids. Words
    of more than 250 symbols are left out of the search: a corpus of whole documents gains nothing.

    Args:
        tokenizer: trained here or read from a file.
        counts: of the same words: the pattern and the normalisation must be the tokenizer's.
        time_limit: seconds; 60 unless `num_moves` is given.
        seed: of the random numbers.
        num_moves: to try; the result is the same on every machine unless `time_limit` comes first.
        num_threads: 0 means all cores. The result of `num_moves` does not depend on it.
        target: what the list will mean. "pairs": a token is made of its two parts alone, as in
            tokenizer.json and merges.txt; "ranks": any two tokens merge whose concatenation is a
            token, as in tiktoken's files. None: what it means now.
        pinned: tokens that are kept.
        max_token_length: the longest new token, in symbols: bytes, or characters.
        true_counts: weigh each word as often as it was seen. Unless this is set, words weigh a
            little more on corpora of 1,000 different words or more where tokens are rare, which
            gains less on the corpus and more on texts like it (docs/theory/improving.md).
        progress: show the search, or call this with the moves tried and the tokens now; words that
            are left out count as before.
    """
    check_certifiable(tokenizer, counts, done="improved")
    check_time_limit(time_limit)
    check_num_threads(num_threads)
    check_count("seed", seed, most=(1 << 64) - 1)
    check_optional(num_moves=num_moves, max_token_length=max_token_length)
    if target not in {None, "pairs", "ranks"}:
        raise ValueError(f'target must be "pairs" or "ranks", found {target!r}')
    seconds = TIME_LIMIT if time_limit is None and num_moves is None else time_limit
    state = "{:,} moves, {:,} tokens".format
    reporter = SearchReporter(progress, "improve", state, time_limit=seconds, total=num_moves)
    before = tokenizer.core.num_tokens(counts.core)
    merges = _core.improve_merges(
        encoded_words(counts, **options_of(tokenizer)).core,
        initial=tokenizer.core.merge_list(),
        num_tokens=before,
        is_pinned=pins(tokenizer, pinned),
        seed=seed,
        num_moves=num_moves,
        time_limit=seconds,
        num_threads=num_threads,
        max_token_length=max_token_length,
        true_counts=true_counts,
        progress=reporter.callback,
    )
    strings = strings_of(merges)
    if strings == tokenizer.merges and target is None:
        reporter.close("nothing better was found")
        return tokenizer
    better = Tokenizer(with_merges(tokenizer, strings, target))
    after = better.core.num_tokens(counts.core)
    reporter.close(f"{before:,} tokens became {min(before, after):,}")
    return better if after < before else tokenizer


def pins(tokenizer: Tokenizer, pinned: Iterable[bytes]) -> list[bool]:
    """For each merge, whether the token that it makes is pinned."""
    if isinstance(pinned, (str, bytes)):
        raise TypeError(f"pinned must be a list of tokens, found one {type(pinned).__name__}")
    strings = [left + right for left, right in tokenizer.merges]
    tokens = set(pinned)
    missing = tokens - set(strings)
    if missing:
        raise ValueError(f"pinned: no merge of the tokenizer makes {min(missing)!r}")
    return [string in tokens for string in strings]


def strings_of(merges: _core.MergeList) -> list[Merge]:
    """The merges of the core, as the two strings that each joins."""
    return [(merges.token_bytes(left), merges.token_bytes(right)) for left, right in merges.pairs]


def with_merges(tokenizer: Tokenizer, new: list[Merge], target: Target | None) -> Vocabulary:
    """The vocabulary with other merges, whose tokens share the ids of the old ones in order.

    By pairs and by ranks it encodes alike, because every token is what its own string becomes.
    """
    vocabulary = tokenizer.vocabulary
    old = {left + right for left, right in tokenizer.merges}
    others = {token: i for token, i in vocabulary.tokens.items() if token not in old}
    ids = sorted(vocabulary.tokens[string] for string in old)
    made = dict(zip((left + right for left, right in new), ids, strict=True))
    tokens = {**made, **others}
    if target == "pairs" or (target is None and vocabulary.merges is not None):
        return replace(vocabulary, tokens=tokens, merges=new, ranks=None)
    return replace(vocabulary, tokens=tokens, merges=None, ranks=made)
