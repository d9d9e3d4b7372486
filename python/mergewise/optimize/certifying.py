"""Certify: how far a tokenizer can be from the best of its size, on a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any, TypeAlias

from mergewise import _core
from mergewise.arguments import check_count, check_num_threads, check_optional, check_seconds
from mergewise.counts import WordCounts
from mergewise.interrupts import noticed_interrupts
from mergewise.merge_lists import no_merges
from mergewise.optimize.certificate import (
    Certificate,
    check_comparable,
    encoded_words,
    fingerprint_of,
    options_of,
    size_of,
    symbols_in,
)
from mergewise.optimize.certificate_fields import MOST_CASES, Against
from mergewise.progress import SearchReporter
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Alphabet

CertifyProgress: TypeAlias = bool | Callable[[int, int | None], None]

TIME_LIMIT = 60.0
# The most cases of a proof, unless more are asked for: each has as many numbers as another.
USUAL_CASES = 64


def certify(
    tokenizer: Tokenizer,
    counts: WordCounts,
    *,
    against: Against = "merges",
    time_limit: float = TIME_LIMIT,
    num_steps: int | None = None,
    num_cases: int | None = None,
    num_threads: int = 0,
    progress: CertifyProgress = False,
) -> Certificate:
    """How far `tokenizer` can be from the best of its size on a corpus, with a proof.

    >>> from mergewise import count, train
    >>> counts = count(["low low low lower lowest"], pattern="whitespace")
    >>> cert = certify(train(counts, num_merges=3), counts, num_steps=200)
    >>> cert.utility, cert.bound
    (14, 14)
    >>> cert.verify(counts)

    Ctrl-C ends the search for a better proof, and the best so far is returned.

    Args:
        tokenizer: trained here or read from a file; special tokens do not count. One that looks up
            whole words as tokens which no merge makes (`ignore_merges` of tokenizer.json) can be
            compared with vocabularies alone.
        counts: of the same words: the pattern and the normalisation must be the tokenizer's.
        against: "merges": all merge lists of the same length. "vocabularies": all vocabularies of
            the same size, whatever cuts words into their tokens; a weaker claim about more.
        time_limit: seconds for counting the tokens and the search of a proof; with too few for any
            search, the bound is a trivial one.
        num_steps: how many steps the search takes, in the place of a time limit; then the
            certificate is the same on every machine.
        num_cases: into how many cases a proof may divide all merge lists, each with numbers and
            `num_steps` steps of its own: lists that have a string, and those that do not. That
            gains on small texts. Unless given, 1 with `num_steps`, and with a time limit as many
            as there is time for, at most 64.
        num_threads: 0 means all cores. The certificate does not depend on it.
        progress: show the search, or call this with the steps and the bound so far, None at first.
    """
    began = monotonic()
    check_seconds(time_limit)
    check_certifiable(tokenizer, counts)
    if against not in {"merges", "vocabularies"}:
        raise ValueError(f'against must be "merges" or "vocabularies", found {against!r}')
    check_comparable(tokenizer, counts, against)
    tokens = tokenizer.core.num_tokens(counts.core)
    certificate, _ = find_certificate(
        counts,
        tokenizer.alphabet,
        against,
        size_of(tokenizer, against),
        lambda _: tokens,
        options=options_of(tokenizer),
        time_limit=max(0.0, time_limit - (monotonic() - began)),
        num_steps=num_steps,
        num_cases=num_cases,
        num_threads=num_threads,
        progress=progress,
    )
    return certificate


def certify_prefixes(
    tokenizer: Tokenizer,
    counts: WordCounts,
    *,
    sizes: Sequence[int] | None = None,
    against: Against = "merges",
    time_limit: float = TIME_LIMIT,
    num_steps: int | None = None,
    num_threads: int = 0,
    progress: CertifyProgress = False,
) -> list[Certificate]:
    """Certificates for the first merges of a tokenizer, for each of several numbers of them.

    The first M merges of a trained tokenizer are what training with M merges gives, so one training
    run has a whole curve of tokens, and this is the curve below it. After Ctrl-C, the certificates
    so far are returned.

    Args:
        tokenizer: see `certify`.
        counts: see `certify`.
        sizes: the numbers of merges; powers of two from 256 on, and all merges, unless given.
        against: see `certify`.
        time_limit: seconds for all of them together.
        num_steps: see `certify`; for each of them.
        num_threads: see `certify`.
        progress: see `certify`.
    """
    check_seconds(time_limit)
    check_certifiable(tokenizer, counts)
    merges = tokenizer.merges
    if sizes is None:
        powers = (1 << exponent for exponent in range(8, 32))
        sizes = [*(size for size in powers if size < len(merges)), len(merges)]
    for size in sizes:
        check_count("sizes", size)
        if size > len(merges):
            raise ValueError(f"the tokenizer has {len(merges):,} merges, found the size {size:,}")
    certificates: list[Certificate] = []
    with noticed_interrupts() as is_interrupted:
        for size in sizes:
            if is_interrupted():
                break
            certificate = certify(
                Tokenizer(tokenizer.core.with_first_merges(size)),
                counts,
                against=against,
                time_limit=time_limit / len(sizes),
                num_steps=num_steps,
                num_threads=num_threads,
                progress=progress,
            )
            certificates.append(certificate)
    return certificates


def find_certificate(
    counts: WordCounts,
    alphabet: Alphabet,
    against: Against,
    num_merges: int,
    num_tokens_with: Callable[[list[bytes]], int],
    *,
    options: dict[str, Any] | None = None,
    time_limit: float,
    num_steps: int | None,
    num_cases: int | None = None,
    num_threads: int,
    progress: CertifyProgress,
) -> tuple[Certificate, list[bytes]]:
    """Search for a proof; the certificate, and the strings that the search would choose as tokens.

    `num_tokens_with` tells the number of tokens to certify, given those strings.
    """
    check_seconds(time_limit)
    check_num_threads(num_threads)
    check_optional(num_steps=num_steps, num_cases=num_cases)
    if num_cases is not None and 2 * num_cases > MOST_CASES:
        raise ValueError(f"num_cases is {num_cases:,}, expected at most {MOST_CASES // 2:,}")
    if num_cases is None:
        num_cases = USUAL_CASES if num_steps is None else 1
    words = encoded_words(counts, **options) if options else counts
    num_symbols = symbols_in(words, alphabet)
    state = partial(standing, num_symbols=num_symbols)
    reporter = SearchReporter(progress, "certify", state)
    bound, discounts, *setting, steps, chosen, cases, all_rings = _core.find_bound(
        words.core,
        initial=no_merges(words, alphabet),
        against=against,
        num_merges=num_merges,
        time_limit=None if num_steps is not None else time_limit,
        num_steps=num_steps,
        num_cases=num_cases,
        num_threads=num_threads,
        progress=reporter.callback,
    )
    reporter.close(state(steps, bound))
    one, floor, longest, counted = setting
    rings, chains = all_rings
    certificate = Certificate(
        against=against,
        num_merges=num_merges,
        num_symbols=num_symbols,
        utility=num_symbols - num_tokens_with(chosen),
        bound=bound,
        alphabet=alphabet,
        pattern=counts.pattern,
        normalize=counts.normalize,
        fingerprint=fingerprint_of(counts),
        one=one,
        floor=floor,
        longest=longest,
        counted=counted,
        discounts=discounts,
        cases=tuple(None if string is None else string.hex() for string in cases),
        rings=tuple((in_hexadecimal(strings), toll, tuple(both)) for strings, toll, both in rings),
        chains=tuple(in_hexadecimal(chain) for chain in chains),
        **(options or {}),
    )
    return certificate, chosen


def check_certifiable(tokenizer: Tokenizer, counts: WordCounts, *, done: str = "certified") -> None:
    """Refuse a tokenizer that cuts texts into other words than were counted."""
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"expected a Tokenizer, found {type(tokenizer).__name__}")
    if not isinstance(counts, WordCounts):
        raise TypeError(f"expected WordCounts, found {type(counts).__name__}")
    if tokenizer.core.marks_ends:
        raise ValueError(f"merges that mark the ends of words cannot be {done}")
    ours = {"pattern": tokenizer.pattern, "normalize": tokenizer.normalize}
    theirs = {"pattern": counts.pattern, "normalize": counts.normalize}
    for name, value in ours.items():
        if value != theirs[name]:
            raise ValueError(
                f"the tokenizer has {name} {value!r}, the counts have {theirs[name]!r}; "
                "hint: count with those of the tokenizer"
            )
    special = tokenizer.core.special_in(counts.core)
    if special is not None:
        raise ValueError(
            f"a counted word holds the special token {special!r}, which no merge makes; "
            "hint: count with special_tokens"
        )


def standing(steps: int, bound: int | None, num_symbols: int) -> str:
    """Where the search for a proof stands.

    >>> standing(40, 510, 1000)
    '40 steps, proved: 490 tokens or more'
    """
    if bound is None:
        return f"{steps:,} steps"
    return f"{steps:,} steps, proved: {num_symbols - bound:,} tokens or more"


def in_hexadecimal(strings: Sequence[bytes]) -> tuple[str, ...]:
    """Strings as certificates hold them."""
    return tuple(string.hex() for string in strings)
