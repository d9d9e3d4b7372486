"""The fewest tokens that any merge list of a length can make: the band beside the curve.

The certificates of a few lengths are searched for; the same proofs, evaluated for lengths between
them, hold there too. Of a large corpus the certificates speak of the frequent words alone, and the
others are bounded in a simpler way: M merges make at most M different strings, so at most M
different words are single tokens, and every other word of two symbols or more is two at least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from mergewise.counts import WordCounts
from mergewise.optimize import Certificate, certify
from mergewise.optimize.certificate import encoded_words, options_of, symbols_in
from mergewise.progress import Progress, Reporter
from mergewise.reporting.measuring import Measured
from mergewise.tokenizer import Tokenizer

# More different words than this need more time.
WORDS_PER_SECOND = 4_000
BYTES_PER_WORD = 50
SMALLEST = 64
# A certificate for every fourth doubling, and a value of it for every half doubling.
RATIO = 4
NUM_BETWEEN = 3


@dataclass(frozen=True)
class Band:
    """Bounds that are proved.

    Attributes:
        sizes: lengths of merge lists, in ascending order.
        least_tokens: for each of them, how many tokens the corpus has at least.
        certified: the lengths for which a proof was searched.
        num_words: how many different words the proofs speak of.
        share: the part of the corpus that these are, by bytes.
    """

    sizes: tuple[int, ...]
    least_tokens: tuple[int, ...]
    certified: tuple[int, ...]
    num_words: int
    share: float


class NotCertified(ValueError):  # noqa: N818 - it has the reason why there is no band
    """The reason why nothing was proved."""


def find_band(
    measured: Measured,
    *,
    time_limit: float,
    num_threads: int,
    progress: Progress,
    is_interrupted: Callable[[], bool],
) -> Band:
    """The band of a tokenizer; NotCertified, with the reason, if there is none.

    After an interrupt the proofs so far are evaluated for all lengths.
    """
    check_certifiable(measured)
    frequent, rest = split(measured.counts, max(1, int(WORDS_PER_SECOND * time_limit)))
    alphabet = measured.tokenizer.vocabulary.alphabet
    words = encoded_words(frequent, **options_of(measured.tokenizer))
    num_symbols = symbols_in(words, alphabet)
    rest_tokens = fewest_tokens_of(rest, is_bytes=alphabet == "bytes")
    proofs: list[Certificate] = []
    certified = sizes_to_certify(len(measured.tokenizer.merges))
    reporter = Reporter(progress, f"prove {measured.name}", len(certified), "proofs")
    for number, size in enumerate(certified):
        if is_interrupted():
            break
        reporter(number)
        first = Tokenizer(measured.tokenizer.core.with_first_merges(size))
        seconds = time_limit / len(certified)
        proofs.append(certify(first, frequent, time_limit=seconds, num_threads=num_threads))
    reporter.close(len(proofs))
    if not proofs:
        raise NotCertified("the search for proofs was interrupted")
    sizes = sizes_to_show(certified)
    least = [num_symbols - best_bound(proofs, size, words) + rest_tokens(size) for size in sizes]
    return Band(
        sizes=tuple(sizes),
        least_tokens=tuple(falling(least)),
        certified=tuple(certified[: len(proofs)]),
        num_words=frequent.num_unique,
        share=frequent.num_symbols / max(measured.counts.num_symbols, 1),
    )


def check_certifiable(measured: Measured) -> None:
    """Reject tokenizers and corpora that have no certificates."""
    tokenizer, counts = measured.tokenizer, measured.counts
    vocabulary = tokenizer.vocabulary
    if vocabulary.end_of_word:
        raise NotCertified("merges that mark the ends of words cannot be certified")
    if not tokenizer.merges:
        raise NotCertified("there are no merges")
    if measured.no_curve is not None:
        raise NotCertified(measured.no_curve)
    try:
        num_symbols = symbols_in(counts, vocabulary.alphabet)
    except UnicodeDecodeError:
        raise NotCertified("the corpus has bytes that are not UTF-8") from None
    if measured.curve[0] != num_symbols:
        raise NotCertified("the corpus has characters that are no symbols of the tokenizer")


def split(counts: WordCounts, most: int) -> tuple[WordCounts, list[tuple[bytes, int]]]:
    """The most frequent words, and the others with their counts, the more frequent first."""
    words = counts.top(counts.num_unique)
    rarest_kept = words[most][1] + 1 if len(words) > most else 1
    frequent = counts.prune(rarest_kept)
    kept = words[: frequent.num_unique]
    if sum(len(word) for word, _ in kept) > BYTES_PER_WORD * most:
        raise NotCertified("its words are too long for proofs in so short a time")
    if not kept:
        raise NotCertified("no word is frequent enough for proofs in so short a time")
    return frequent, words[frequent.num_unique :]


def fewest_tokens_of(words: Sequence[tuple[bytes, int]], *, is_bytes: bool) -> Callable[[int], int]:
    """The function from a number of merges to the fewest tokens that these words can have.

    >>> least = fewest_tokens_of([(b"ab", 5), (b"cd", 3), (b"e", 2)], is_bytes=True)
    >>> least(0), least(1), least(2)
    (18, 13, 10)
    """
    once = sum(count for _, count in words)
    longer = [count for word, count in words if (len(word) if is_bytes else len(word.decode())) > 1]
    saved = list(accumulate(sorted(longer, reverse=True), initial=0))

    def fewest(num_merges: int) -> int:
        return once + saved[-1] - saved[min(num_merges, len(longer))]

    return fewest


def sizes_to_certify(num_merges: int) -> list[int]:
    """The lengths of merge lists for which a proof is searched.

    >>> sizes_to_certify(1000), sizes_to_certify(40)
    ([64, 256, 1000], [40])
    """
    sizes = []
    size = SMALLEST
    while size * 1.5 <= num_merges:
        sizes.append(size)
        size *= RATIO
    return [*sizes, num_merges]


def sizes_to_show(certified: Sequence[int]) -> list[int]:
    """The lengths for which the proofs are evaluated: those, and some between and before them.

    >>> sizes_to_show([64, 256])
    [16, 23, 32, 45, 64, 91, 128, 181, 256]
    """
    sizes = set(certified)
    for low, high in zip([max(1, certified[0] // RATIO), *certified], certified, strict=False):
        for step in range(NUM_BETWEEN + 1):
            sizes.add(round(low * (high / low) ** (step / (NUM_BETWEEN + 1))))
    return sorted(sizes)


def best_bound(proofs: Sequence[Certificate], size: int, counts: WordCounts) -> int:
    """A bound on what `size` merges save, by the proof of the nearest length.

    Halfway between two lengths, by either of their proofs.
    """

    def distance(proof: Certificate) -> float:
        return abs(math.log(proof.num_merges / size))

    nearest = min(map(distance, proofs))
    near = [proof for proof in proofs if distance(proof) <= nearest + 0.1]
    return min(
        proof.bound if proof.num_merges == size else replace(proof, num_merges=size).proved(counts)
        for proof in near
    )


def falling(least: Iterable[int]) -> list[int]:
    """The same bounds, each no lower than those of longer lists, which can do what shorter ones do.

    >>> falling([9, 5, 7])
    [9, 7, 7]
    """
    return list(accumulate(reversed(list(least)), max))[::-1]
