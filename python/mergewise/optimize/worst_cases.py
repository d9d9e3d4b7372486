"""Texts on which greedy or its guarantee is bad: families, and a search for more."""

from __future__ import annotations

import math
import random
import string
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from mergewise import _core
from mergewise.arguments import check_count, check_time_limit
from mergewise.counts import WordCounts
from mergewise.formal import GREEDY_ATTAINS, Merge, Tree, flat_guarantee, worst_case
from mergewise.merge_lists import tokenizer_of
from mergewise.optimize.curvature import COLUMNS, MOST_SYMBOLS, RATIOS, numbered

# The column of the core for each way to break ties.
TIES = {
    ties: COLUMNS.index(name) for ties, name in zip(("first", "worst", "best"), RATIOS, strict=True)
}
# The search starts again after this number of moves without a better text.
PATIENCE = 500
WARMTH = 0.02
# M = r² merges take 2 million words at r = 128.
MOST_TRAINED = 128**2


@dataclass(frozen=True)
class WorstCase:
    """A text on which greedy or its guarantee is bad.

    Attributes:
        text: the text.
        num_merges: M.
        optimal: an optimal sequence, where it matters.
        prefix: a sequence behind which `optimal` saves much less.
        sigma: what the prefix shows: σ(optimal) is at least this.
        ratio: greedy over optimum that was found, or that the family has.
    """

    text: str
    num_merges: int
    optimal: tuple[Merge, ...] = ()
    prefix: tuple[Merge, ...] = ()
    sigma: Fraction | None = None
    ratio: Fraction | None = None


def family_of_sigma(num_merges: int) -> WorstCase:
    """A text of two letters with an optimal sequence of σ >= M + 1.

    Others may have a smaller one, from M = 4 on; see `family_of_unique_optima`.

    >>> family_of_sigma(3).text, family_of_sigma(3).sigma
    ('aabab', Fraction(4, 1))
    """
    check_count("num_merges", num_merges, least=2)
    ab: Merge = ("a", "b")
    optimal = [ab]
    while len(optimal) < num_merges - 1:
        optimal.append(("a", optimal[-1]))
    optimal.append((optimal[-1], ab))
    return WorstCase(
        "a" * (num_merges - 1) + "bab",
        num_merges,
        optimal=tuple(optimal),
        prefix=(("b", "a"),),
        sigma=Fraction(num_merges + 1),
    )


def family_of_unique_optima(num_merges: int) -> WorstCase:
    """A text with σ >= M whose optimal sequence is the only one: the guarantee is no constant.

    One copy of each of ab, abc, abcd, ..., two of the longest, and a letter of its own behind each.

    >>> family_of_unique_optima(2).text
    'abAabcBabcC'
    """
    check_count("num_merges", num_merges, least=2, most=len(string.ascii_lowercase) - 3)
    word = string.ascii_lowercase[: num_merges + 1]
    words = [word[:length] for length in range(2, num_merges + 2)] + [word]
    chain: list[Tree] = [word[0]]
    for letter in word[1:]:
        chain.append((chain[-1], letter))
    return WorstCase(
        "".join(map("".join, zip(words, string.ascii_uppercase, strict=False))),
        num_merges,
        optimal=tuple(tree for tree in chain if not isinstance(tree, str)),
        prefix=((string.ascii_uppercase[num_merges - 1], word[0]),),
        sigma=Fraction(num_merges),
    )


def family_of_words(num_words: int) -> WorstCase:
    """A text of j words bxc, each twice: greedy may attain (3j - 1)/(4j) of the optimum, M = 2j.

    The pair cb at the junctions is as frequent as the useful ones at j = 2, where the part is 5/8,
    and more frequent from j = 3 on, where greedy has no choice.

    >>> family_of_words(2).text, family_of_words(2).ratio
    ('bdcbdcAbecbec', Fraction(5, 8))
    """
    check_count("num_words", num_words, least=2, most=len(string.ascii_lowercase) - 3)
    letters = string.ascii_lowercase[3 : 3 + num_words]
    text = "".join(
        f"b{letter}c" * 2 + end
        for letter, end in zip(letters, string.ascii_uppercase, strict=False)
    )
    optimal: list[Merge] = []
    for letter in letters:
        optimal += [("b", letter), (("b", letter), "c")]
    return WorstCase(
        text[:-1],
        2 * num_words,
        optimal=tuple(optimal),
        ratio=Fraction(3 * num_words - 1, 4 * num_words),
    )


@dataclass(frozen=True)
class Contest:
    """What greedy and a rival of as many merges save on the words of `formal.worst_case`.

    Attributes:
        num_merges: M.
        num_words: how many different words there are.
        greedy: what the merges save that training made.
        rival: what the rival's merges save.
    """

    num_merges: int
    num_words: int
    greedy: int
    rival: int

    @property
    def ratio(self) -> Fraction:
        """Greedy over rival, which greedy over optimum does not exceed."""
        return Fraction(self.greedy, self.rival)

    @property
    def least(self) -> Fraction:
        """What greedy attains at least of any rival of M merges that join single symbols."""
        return flat_guarantee(self.num_merges)

    @property
    def least_of_any(self) -> float:
        """What greedy attains at least of any rival."""
        return GREEDY_ATTAINS


def train_on_worst_case(num_merges: int) -> Contest:
    """Trains on the words of `formal.worst_case` with M merges, the square of 8 or more.

    >>> round(float(train_on_worst_case(64).ratio), 5)
    0.44994

    The counts are rounded, so that they fit the core: to 10^7 r for M = r².
    """
    check_count("num_merges", num_merges, least=64, most=MOST_TRAINED)
    size = math.isqrt(num_merges)
    if size**2 != num_merges:
        raise ValueError(f"num_merges must be a square here, as 64, 81 or 100, found {num_merges}")
    case = worst_case(size, count=10**7 * size)
    counts = WordCounts(_core.WordCounts(list(case.words.items()), pattern="whitespace"))
    symbols = counts.core.characters()
    trained = _core.train_greedily(
        counts.core,
        initial=_core.MergeList([], alphabet=symbols),
        num_merges=num_merges,
        min_frequency=1,
        max_token_length=None,
        overlaps="skip",
    )
    ids = {symbol: number for number, symbol in enumerate(sorted(symbols))}
    pairs = [(ids[str(left)], ids[str(right)]) for left, right in case.rival]
    rival = _core.MergeList(pairs, alphabet=symbols)
    before = sum(count * len(word) for word, count in case.words.items())
    greedy_tokens, rival_tokens = (
        tokenizer_of(merges, counts).core.num_tokens(counts.core) for merges in (trained, rival)
    )
    return Contest(
        num_merges, len(case.words), greedy=before - greedy_tokens, rival=before - rival_tokens
    )


def find_worst_case(
    length: int,
    *,
    num_letters: int,
    num_merges: int,
    ties: Literal["first", "worst", "best"] = "worst",
    seed: int = 0,
    num_moves: int = 10_000,
    time_limit: float | None = None,
) -> WorstCase:
    """A text on which greedy attains little of the optimum, by local search.

    It depends on the arguments alone, unless the time limit ends the search.

    >>> find_worst_case(7, num_letters=2, num_merges=2, num_moves=500).ratio
    Fraction(3, 4)

    Args:
        length: of the text.
        num_letters: from how many letters it is made.
        num_merges: M.
        ties: how greedy breaks them: by first occurrence, as badly or as well as possible.
        seed: of the random moves.
        num_moves: how many texts are tried.
        time_limit: seconds after which the best so far is returned.
    """
    check_count("length", length, least=2, most=MOST_SYMBOLS)
    check_count("num_letters", num_letters, least=1, most=len(string.ascii_lowercase))
    check_count("num_merges", num_merges, least=1)
    check_count("num_moves", num_moves, least=1)
    check_time_limit(time_limit)
    if ties not in TIES:
        raise ValueError(f"ties must be first, worst or best, found {ties!r}")
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    letters = range(num_letters)
    here = best = start = [chance.choice(letters) for _ in range(length)]
    badness = most = badness_of(start, num_merges, ties)
    waited = 0
    for _ in range(num_moves - 1):
        if time.monotonic() > end:
            break
        waited += 1
        is_fresh = waited > PATIENCE
        there = [chance.choice(letters) for _ in here] if is_fresh else moved(here, letters, chance)
        value = badness_of(there, num_merges, ties)
        if is_fresh or value >= badness or chance.random() < math.exp((value - badness) / WARMTH):
            here, badness = there, value
        if is_fresh or value > badness:
            waited = 0
        if value > most:
            best, most, waited = there, value, 0
    text = "".join(string.ascii_lowercase[number] for number in numbered(best))
    return WorstCase(text, num_merges, ratio=1 / most)


def moved(text: list[int], letters: range, chance: random.Random) -> list[int]:
    """A text that differs a little: another letter, two swapped, one moved, a part copied."""
    new = list(text)
    i, j = chance.randrange(len(text)), chance.randrange(len(text))
    kind = chance.randrange(4)
    if kind == 0:
        new[i] = chance.choice(letters)
    elif kind == 1:
        new[i], new[j] = new[j], new[i]
    elif kind == 2:
        new.insert(j, new.pop(i))
    else:
        size = min(chance.randrange(2, 5), len(text) - max(i, j))
        new[i : i + size] = text[j : j + size]
    return new


def badness_of(text: list[int], num_merges: int, ties: str) -> Fraction:
    """Optimum over greedy."""
    index = TIES[ties]
    *_, values = _core.measure_curvature(numbered(text), num_merges=num_merges, columns=1 << index)
    pair = values[index]
    return Fraction(1) if pair is None else Fraction(*pair)
