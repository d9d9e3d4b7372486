"""Counting and training: texts to WordCounts to a Tokenizer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

from mergewise import _core, arguments, optimize
from mergewise.counts import WordCounts
from mergewise.merge_lists import no_merges, tokenizer_of
from mergewise.progress import Progress, Reporter
from mergewise.sources import (
    Document,
    DocumentMode,
    PathLike,
    batches,
    consecutive,
    find_sources,
)
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Alphabet, Normalize

Errors: TypeAlias = Literal["keep", "strict", "replace"]

DEFAULT_PATTERN = "cl100k"
MOST_MERGES = 2**32


class LeftOut(NamedTuple):
    """Lines that were left out because they are no records.

    Attributes:
        num_lines: how many.
        first: what is wrong with the first.
    """

    num_lines: int = 0
    first: str | None = None

    def warn(self, stacklevel: int) -> None:
        """Say so if there are any."""
        if self.num_lines:
            warnings.warn(
                f"lines that are no records, left out: {self.num_lines:,}; the first: {self.first}",
                stacklevel=stacklevel + 1,
            )


def count(
    texts: Iterable[Document],
    *,
    pattern: str | None = DEFAULT_PATTERN,
    normalize: Normalize = None,
    special_tokens: Sequence[str] = (),
    errors: Errors = "keep",
    num_threads: int = 0,
) -> WordCounts:
    """How often each word occurs in `texts`; each text is a document.

    >>> count(["a rose is a rose"], pattern="whitespace").top(2)
    [(b' rose', 2), (b' a', 1)]

    Args:
        texts: `str` or `bytes`, one for each document; or an Arrow array of strings, which is
            read in place.
        pattern: "gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek3", "whitespace", a regular
            expression, or None: a document is one word. tiktoken's names, such as "cl100k_base",
            will do.
        normalize: "nfc" or "nfkc": what happens to a text first, with the tables of tokenizers
            (Unicode 9).
        special_tokens: texts are cut at these, and they are not counted.
        errors: what becomes of bytes that are not UTF-8: they are kept as bytes, refused with
            their place ("strict"), or replaced by U+FFFD.
        num_threads: 0 means all cores. The counts are the same with any number.
    """
    if isinstance(texts, (str, bytes)):
        kind = type(texts).__name__
        raise TypeError(f"expected an iterable of texts, found one {kind}; hint: count([text])")
    counter = make_counter(pattern, normalize, special_tokens, errors, num_threads)
    for batch in at_once(texts):
        counter.add_documents(batch)
    return WordCounts(counter.finish())


def at_once(texts: Iterable[Document]) -> Iterable[Sequence[Document]]:
    """The texts as they are counted: all that are in memory, or a few megabytes at a time."""
    if is_arrow(texts):
        return cast("Iterable[Sequence[Document]]", getattr(texts, "chunks", [texts]))
    return [texts] if isinstance(texts, (list, tuple)) else batches(texts)


def is_arrow(texts: object) -> bool:
    """Whether this offers itself through Arrow's C data interface, whole or in chunks."""
    has_chunks = hasattr(texts, "__arrow_c_stream__") and hasattr(texts, "chunks")
    return has_chunks or hasattr(texts, "__arrow_c_array__")


def count_files(
    paths: PathLike | Iterable[PathLike],
    *,
    pattern: str | None = DEFAULT_PATTERN,
    documents: DocumentMode = "file",
    field: str = "text",
    normalize: Normalize = None,
    special_tokens: Sequence[str] = (),
    errors: Errors = "keep",
    skip_bad: bool = False,
    num_threads: int = 0,
    progress: Progress = False,
) -> WordCounts:
    """How often each word occurs in files, folders and globs; "-" is standard input.

    Text (also .gz and .zst) is one document a file, or one a line with `documents="lines"`. Of
    .jsonl (also .gz and .zst) and .parquet each record is a document: its `field`.

    Args:
        paths: one path or several.
        pattern: see `count`.
        documents: where a document ends in a file of text.
        field: the field or column of .jsonl and .parquet that holds the text.
        normalize: see `count`.
        special_tokens: see `count`.
        errors: see `count`.
        skip_bad: leave out lines of .jsonl that are no records, with a warning that tells their
            number and the first; else they are an error.
        num_threads: 0 means all cores. The counts are the same with any number.
        progress: show a bar, or call this with the bytes done and their total.
    """
    counts, left_out = count_and_leave_out(
        paths,
        pattern=pattern,
        documents=documents,
        field=field,
        normalize=normalize,
        special_tokens=special_tokens,
        errors=errors,
        skip_bad=skip_bad,
        num_threads=num_threads,
        progress=progress,
    )
    left_out.warn(stacklevel=2)
    return counts


def count_and_leave_out(
    paths: PathLike | Iterable[PathLike],
    *,
    pattern: str | None,
    documents: DocumentMode,
    field: str,
    normalize: Normalize,
    special_tokens: Sequence[str],
    errors: Errors,
    skip_bad: bool,
    num_threads: int,
    progress: Progress,
) -> tuple[WordCounts, LeftOut]:
    """The counts of files and what was left out of them; see `count_files`."""
    arguments.check_choice("documents", documents, "file", "lines")
    sources = find_sources(paths)
    counter = make_counter(pattern, normalize, special_tokens, errors, num_threads)
    reporter = Reporter(progress, "count", sum(source.num_bytes for source in sources), "B")
    done, left_out = 0, LeftOut()
    for group in consecutive(sources):
        tell = reporter.after(done)
        if group[0].kind == "parquet":
            counter.add_tables(group, field=field, progress=tell)
        else:
            number, first = counter.add_sources(
                group, documents=documents, field=field, skip_bad=skip_bad, progress=tell
            )
            left_out = LeftOut(left_out.num_lines + number, left_out.first or first)
        done += sum(source.num_bytes for source in group)
    reporter.close(done)
    return WordCounts(counter.finish()), left_out


def make_counter(
    pattern: str | None,
    normalize: Normalize,
    special_tokens: Sequence[str],
    errors: Errors,
    num_threads: int,
) -> _core.Counter:
    """A counter of the core, with the arguments checked."""
    arguments.check_num_threads(num_threads)
    return _core.Counter(
        pattern=pattern,
        normalize=normalize,
        errors=errors,
        special_tokens=list(checked_specials(special_tokens)),
        num_threads=num_threads,
    )


def checked_specials(special_tokens: Sequence[str]) -> tuple[str, ...]:
    """The special tokens, if they are different and not empty."""
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens must be a list of strings, found one string")
    tokens = tuple(special_tokens)
    for token in tokens:
        if not isinstance(token, str) or not token:
            raise ValueError(f"a special token must be a string that is not empty: {token!r}")
    if len(set(tokens)) != len(tokens):
        twice = next(token for token in tokens if tokens.count(token) > 1)
        raise ValueError(f"the special token {twice!r} stands twice in special_tokens")
    return tokens


def train(
    counts: WordCounts,
    *,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    min_frequency: int | None = None,
    max_token_length: int | None = None,
    special_tokens: Sequence[str] = (),
    overlaps: Literal["skip", "count"] | None = None,
    alphabet: Alphabet | None = None,
    like: Literal["huggingface", "rustbpe"] | None = None,
    initial: Tokenizer | None = None,
    then_across: int = 0,
    within: str | None = None,
    improve: float | None = None,
    progress: Progress = False,
) -> Tokenizer:
    """A tokenizer: again and again the most frequent pair of tokens becomes a new token.

    Ties go to the smaller left id, then to the smaller right id, so the result depends on the
    counts alone.

    >>> counts = count(["low low lower"], pattern="whitespace")
    >>> train(counts, vocab_size=259).merges
    [(b'l', b'o'), (b'lo', b'w'), (b' ', b'low')]

    Args:
        counts: from `count` or `count_files`.
        vocab_size: how many tokens to end with, symbols and special tokens included.
        num_merges: how many merges to make, instead of `vocab_size`.
        min_frequency: stop when no pair occurs this often; 2 unless `like` says otherwise.
        max_token_length: the longest token in bytes (in characters with `alphabet="chars"`).
        special_tokens: get the last ids.
        overlaps: whether `aaa` holds `aa` once ("skip", the paper's choice) or twice ("count").
        alphabet: whether the symbols are "bytes" (the default) or the "chars" of the corpus.
        like: make exactly the merges that another library makes.
        initial: continue from the merges of this tokenizer.
        then_across: the number of last merges, which may cross words. `counts` must be of whole
            documents (`pattern=None`), and `within` is the pattern for the merges before.
        within: see `then_across`.
        improve: how many seconds to search, after training, for merges that make fewer tokens;
            see `mergewise.improve`.
        progress: show a bar, or call this with the merges done and their number.
    """
    check_arguments(counts, like, improve, then_across)
    arguments.check_optional(
        least=1, min_frequency=min_frequency, max_token_length=max_token_length
    )
    tokens = checked_specials(special_tokens)
    merges = first_merges(counts, alphabet, like, initial)
    goal = wanted_merges(merges, len(tokens), vocab_size, num_merges)
    reporter = Reporter(progress, "train", goal, "merges")
    first, done = len(merges), 0
    for words, stage_merges in stages(counts, goal, then_across, within):
        merges = _core.train_greedily(
            words.core,
            initial=merges,
            num_merges=min(stage_merges, MOST_MERGES),
            min_frequency=min_frequency or (2 if like is None else 1),
            max_token_length=max_token_length,
            overlaps=overlaps or ("skip" if like is None else "count"),
            progress=reporter.after(done),
        )
        done = len(merges) - first
    reporter.close(done)
    if done < goal:
        warnings.warn(
            f"stopped after {done:,} of {goal:,} merges: no other pair occurs often enough",
            stacklevel=2,
        )
    tokenizer = tokenizer_of(merges, counts, tokens, initial)
    if not improve:
        return tokenizer
    return optimize.improve(
        tokenizer,
        counts,
        time_limit=improve,
        pinned=() if initial is None else [left + right for left, right in initial.merges],
        max_token_length=max_token_length,
        progress=progress is True,
    )


def check_arguments(
    counts: WordCounts, like: str | None, improve: float | None, then_across: int
) -> None:
    """Refuse what cannot be meant, before anything is done."""
    if not isinstance(counts, WordCounts):
        found = type(counts).__name__
        raise TypeError(f"expected WordCounts, found {found}; hint: train(count(texts), ...)")
    arguments.check_choice("like", like, None, "huggingface", "rustbpe")
    arguments.check_time_limit(improve)
    if improve and then_across:
        raise ValueError("improve needs words, and merges of then_across cross them")


def first_merges(
    counts: WordCounts, alphabet: Alphabet | None, like: str | None, initial: Tokenizer | None
) -> _core.MergeList:
    """The merges to begin with: the initial ones, or none over the alphabet asked for."""
    arguments.check_choice("alphabet", alphabet, None, "bytes", "chars")
    if like is not None and alphabet == "chars":
        raise ValueError(f'like={like!r} needs alphabet="bytes"')
    wanted = "letters" if like == "huggingface" else alphabet
    if initial is None:
        is_letters = wanted == "letters"
        return _core.MergeList([], letter_order=True) if is_letters else no_merges(counts, alphabet)
    if not isinstance(initial, Tokenizer):
        raise TypeError(f"initial must be a Tokenizer, found {type(initial).__name__}")
    merges = initial.core.merge_list()
    if wanted not in {None, merges.alphabet}:
        reason = f"like={like!r}" if wanted == "letters" else f"alphabet={alphabet!r}"
        raise ValueError(f"{reason} differs from the alphabet of initial")
    return merges


def wanted_merges(
    merges: _core.MergeList, num_specials: int, vocab_size: int | None, num_merges: int | None
) -> int:
    """How many merges to add."""
    if (vocab_size is None) == (num_merges is None):
        raise TypeError("train needs either vocab_size or num_merges")
    if num_merges is not None:
        # More than the corpus has is no mistake: training stops early, with a warning.
        return arguments.check_count("num_merges", num_merges, most=None)
    size = arguments.check_int("vocab_size", vocab_size)
    least = merges.num_tokens + num_specials
    if size < least:
        raise ValueError(
            f"vocab_size must be at least {least:,} here, found {size:,}: "
            f"{merges.num_tokens:,} tokens exist already, and {num_specials} are special"
        )
    return size - least


def stages(
    counts: WordCounts, num_merges: int, then_across: int, within: str | None
) -> list[tuple[WordCounts, int]]:
    """The counts to train on, one after the other, and how many merges to add on each."""
    if not then_across:
        if within is not None:
            raise ValueError("within goes with then_across")
        return [(counts, num_merges)]
    if counts.pattern is not None or within is None:
        raise ValueError(
            "then_across needs counts of whole documents, without a pattern, and within: the "
            "pattern of the merges before"
        )
    if not 0 < then_across <= num_merges:
        raise ValueError(f"then_across must be from 1 to {num_merges:,}, found {then_across:,}")
    words = WordCounts(counts.core.cut(within))
    return [(words, num_merges - then_across), (counts, then_across)]
