"""The curvature of one text: the paper's σ in its variants, and the guarantee it gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mergewise import _core
from mergewise.arguments import check_count, check_time_limit
from mergewise.errors import InvalidMergesError
from mergewise.formal import Merges, Tree, guarantee, show, utility

MOST_SYMBOLS = 64

# In the order of the core. The ratios are greedy over optimum; the core has optimum over greedy.
SIGMAS = (
    "sigma_max",
    "sigma_min",
    "sigma_full_length_max",
    "sigma_published",
    "sigma_greedy",
    "sigma_greedy_worst_ties",
    "sigma_greedy_all",
    "sigma_greedy_published",
)
RATIOS = ("ratio", "ratio_worst_ties", "ratio_best_ties")
COLUMNS = (*SIGMAS, *RATIOS)


@dataclass(frozen=True)
class Curvature:
    """The curvatures of one text; all values but the guarantee are exact fractions.

    Attributes:
        text: the text.
        num_merges: M.
        optimum: κ(μ*), what the best M merges save.
        greedy: κ(μ†), what greedy saves, ties by first occurrence.
        sigma: σ(μ*) of the optimal sequence that was given; else `sigma_min`.
        sigma_min: σ of the best optimal sequence, which the theorem may use.
        sigma_max: σ of the worst optimal sequence.
        sigma_full_length_max: over prefixes of exactly M merges; the worst optimal sequence.
        sigma_published: the same for the optimal sequence that the authors' script finds.
        sigma_greedy: σ' of the last greedy prefix, ties by first occurrence.
        sigma_greedy_worst_ties: σ' of the last greedy prefix, worst ties.
        sigma_greedy_all: σ' of all greedy prefixes, worst ties: what the proof needs.
        sigma_greedy_published: σ' as the authors' script computes it.
        ratio: greedy over optimum, ties by first occurrence; 1 where nothing can be saved.
        ratio_worst_ties: greedy over optimum, worst ties.
        ratio_best_ties: greedy over optimum, best ties.
    """

    text: str
    num_merges: int
    optimum: int
    greedy: int
    sigma: Fraction
    sigma_min: Fraction
    sigma_max: Fraction
    sigma_full_length_max: Fraction
    sigma_published: Fraction
    sigma_greedy: Fraction
    sigma_greedy_worst_ties: Fraction
    sigma_greedy_all: Fraction
    sigma_greedy_published: Fraction
    ratio: Fraction
    ratio_worst_ties: Fraction
    ratio_best_ties: Fraction

    def __repr__(self) -> str:
        return (
            f"<Curvature: σ={self.sigma}, greedy saves {self.greedy} of {self.optimum} "
            f"with {self.num_merges} merges>"
        )

    @property
    def guarantee(self) -> float:
        """(1 - e^-σ) / σ, Theorem 3.10: the part of the optimum that greedy attains at least."""
        return guarantee(self.sigma)


def curvature(
    text: str,
    *,
    num_merges: int,
    optimal: Merges | None = None,
    time_limit: float | None = None,
) -> Curvature:
    """σ and σ' of a text over its characters, by their definitions.

    >>> found = curvature("abab", num_merges=2)
    >>> found.sigma, found.sigma_greedy, round(found.guarantee, 3)
    (Fraction(3, 1), Fraction(1, 1), 0.317)

    Args:
        text: at most 64 characters; it is one word.
        num_merges: M, at least 1.
        optimal: an optimal sequence, as in `formal`; `sigma` is then its σ.
        time_limit: seconds after which TimeoutError is raised. There is no partial result.

    Cost: exponential in `num_merges`.
    """
    letters = letters_of(text)
    check_count("num_merges", num_merges, least=1)
    check_time_limit(time_limit)
    watch = stopwatch(time_limit)
    best, greedy, pairs = _core.measure_curvature(
        letters, num_merges=num_merges, columns=(1 << len(COLUMNS)) - 1, progress=watch
    )
    values = {
        name: Fraction(1) if pair is None else value_of(name, pair)
        for name, pair in zip(COLUMNS, pairs, strict=True)
    }
    sigma = values["sigma_min"]
    if optimal is not None:
        sigma = sigma_of(text, num_merges, optimal, best, watch)
    return Curvature(text, num_merges, best, greedy, sigma=sigma, **values)


def value_of(column: str, pair: tuple[int, int]) -> Fraction:
    """A value of the core.

    >>> value_of("sigma_max", (5, 2)), value_of("ratio", (4, 3))
    (Fraction(5, 2), Fraction(3, 4))
    """
    return 1 / Fraction(*pair) if column in RATIOS else Fraction(*pair)


def sigma_of(
    text: str,
    num_merges: int,
    optimal: Merges,
    best: int,
    progress: Callable[[int], None] | None,
) -> Fraction:
    """σ of one sequence, which must be optimal."""
    if len(optimal) > num_merges:
        raise ValueError(f"the sequence has {len(optimal)} merges, more than {num_merges}")
    ids: dict[Tree, int] = {letter: i for i, letter in enumerate(dict.fromkeys(text))}
    num_letters = len(ids)
    merges = []
    for index, (left, right) in enumerate(optimal):
        for part in (left, right):
            if part not in ids:
                raise InvalidMergesError(
                    f"merge {index} uses {show(part)}, which is no letter of the text and which no "
                    "earlier merge makes"
                )
        merges.append((ids[left], ids[right]))
        ids.setdefault((left, right), num_letters + index)
    saved = utility(optimal, text)
    if saved != best:
        raise ValueError(f"the sequence is not optimal: it saves {saved}, and {best} is possible")
    _, sigma = _core.measure_sigma(
        letters_of(text), num_merges=num_merges, merges=merges, progress=progress
    )
    return Fraction(*sigma)


def letters_of(text: str) -> bytes:
    """The letters of a text, numbered, if there are not too many."""
    if not isinstance(text, str):
        raise TypeError(f"expected str, found {type(text).__name__}")
    if len(text) > MOST_SYMBOLS:
        raise ValueError(
            f"a text of {len(text)} characters; expected at most {MOST_SYMBOLS}: all sequences of "
            "merges are searched"
        )
    return numbered(text)


def numbered(letters: Sequence[object]) -> bytes:
    r"""Letters as numbers, by first occurrence.

    >>> numbered("baba")
    b'\x00\x01\x00\x01'
    """
    numbers = {letter: number for number, letter in enumerate(dict.fromkeys(letters))}
    return bytes(numbers[letter] for letter in letters)


def stopwatch(time_limit: float | None) -> Callable[[int], None] | None:
    """A function that raises TimeoutError when it is called after the time limit."""
    if time_limit is None:
        return None
    end = time.monotonic() + time_limit

    def look(_done: int) -> None:
        if time.monotonic() > end:
            raise TimeoutError(
                f"not finished within {time_limit} s; hint: a shorter text, or fewer merges"
            )

    return look
