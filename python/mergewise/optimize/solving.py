"""The best merge list of a given length, exactly: equation 4 of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, cast

from mergewise import _core
from mergewise.arguments import check_count, check_num_threads, check_optional, check_time_limit
from mergewise.counts import WordCounts
from mergewise.merge_lists import no_merges, tokenizer_of
from mergewise.progress import SearchReporter
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Alphabet

Method: TypeAlias = Literal["brute-force", "guarded", "branch-and-bound"]
Limit: TypeAlias = Literal["time", "nodes", "interrupt"]
SolveProgress: TypeAlias = bool | Callable[[int, int, int], None]

MEMORY_LIMIT = 2**30
MOST_MERGES = 2**31


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The best merges found, and a bound that no merges exceed.

    Attributes:
        status: "optimal" if no list of the same length has a larger utility, else "feasible".
        limit: what ended the search early: "time", "nodes" or "interrupt" (Ctrl-C); else None.
        utility: κ: how many tokens the merges save.
        bound: no list of the same length saves more. Always valid, also after a limit.
        merges: in order, each as the two strings that it joins; fewer than asked for where fewer
            leave one token of each word.
        nodes: how many states the search looked at.
    """

    status: Literal["optimal", "feasible"]
    limit: Limit | None
    utility: int
    bound: int
    merges: list[tuple[bytes, bytes]]
    nodes: int
    _core_merges: _core.MergeList = field(repr=False, compare=False)
    _counts: WordCounts = field(repr=False, compare=False)

    @property
    def gap(self) -> float:
        """The part of the bound that is missing: 1 - utility / bound; 0.0 if optimal."""
        return 1 - self.utility / self.bound if self.bound else 0.0

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """A tokenizer with these merges."""
        return tokenizer_of(self._core_merges, self._counts)

    def __repr__(self) -> str:
        return f"<Solution: {len(self.merges):,} merges, {self}>"

    def __str__(self) -> str:
        if self.status == "optimal":
            return f"saves {self.utility:,} tokens: optimal"
        return (
            f"saves {self.utility:,} tokens; no list of this length saves more than "
            f"{self.bound:,} (gap {self.gap:.2%})"
        )


def solve(
    corpus: str | WordCounts,
    *,
    num_merges: int,
    alphabet: Alphabet | None = None,
    method: Method = "branch-and-bound",
    time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
    num_threads: int = 0,
    progress: SolveProgress = False,
) -> Solution:
    """The merge list of at most `num_merges` merges that saves the most tokens, μ*.

    >>> best = solve("abaabbaa", num_merges=2)
    >>> best.status, best.utility
    ('optimal', 4)
    >>> len(best.tokenizer.encode("abaabbaa"))
    4

    A limit, or Ctrl-C, ends the search with the best list so far and a bound that holds. The
    result is the same with any number of threads.

    Args:
        corpus: a text, over its characters and without words, as in the paper; or counts of words.
        num_merges: the length of the list.
        alphabet: the symbols, "bytes" or "chars"; by default "bytes" for counts and "chars" for a
            text.
        method: "branch-and-bound", or the paper's own for comparison: its unpruned search
            ("brute-force") and its Algorithm 3 with a guard that is right ("guarded").
        time_limit: in seconds.
        node_limit: how many states the search may look at.
        memory_limit: about how many bytes the search may use; with fewer it is slower.
        num_threads: 0 means all cores.
        progress: show the search, or call this with the nodes, the utility and the bound so far.
    """
    counts, symbols = corpus_of(corpus, alphabet)
    check_count("num_merges", num_merges)
    check_count("memory_limit", memory_limit)
    check_optional(node_limit=node_limit)
    check_time_limit(time_limit)
    check_num_threads(num_threads)
    reporter = SearchReporter(progress, "solve", state_of)
    found = _core.solve_exactly(
        counts.core,
        initial=no_merges(counts, symbols),
        num_merges=min(num_merges, MOST_MERGES),
        method=method,
        time_limit=time_limit,
        node_limit=node_limit,
        memory_limit=memory_limit,
        num_threads=num_threads,
        progress=reporter.callback,
    )
    solution = solution_of(counts, found)
    reporter.close(state_of(solution.nodes, solution.utility, solution.bound))
    return solution


def solution_of(
    counts: WordCounts, found: tuple[_core.MergeList, int, int, int, str | None]
) -> Solution:
    """The result of the core as a solution."""
    merges, utility, bound, nodes, limit = found
    strings = [merges.token_bytes(number) for number in range(merges.num_tokens)]
    return Solution(
        status="optimal" if utility == bound else "feasible",
        limit=cast("Limit | None", limit),
        utility=utility,
        bound=bound,
        merges=[(strings[left], strings[right]) for left, right in merges.pairs],
        nodes=nodes,
        _core_merges=merges,
        _counts=counts,
    )


def corpus_of(corpus: str | WordCounts, alphabet: Alphabet | None) -> tuple[WordCounts, Alphabet]:
    """The corpus as counts, and its alphabet."""
    if isinstance(corpus, str):
        return WordCounts(_core.WordCounts([(corpus, 1)])), alphabet or "chars"
    if isinstance(corpus, WordCounts):
        return corpus, alphabet or "bytes"
    raise TypeError(f"expected str or WordCounts, found {type(corpus).__name__}")


def state_of(nodes: int, utility: int, bound: int) -> str:
    """The state of a search in words.

    >>> state_of(12345, 50, 51)
    '12,345 nodes, utility 50, bound 51'
    """
    return f"{nodes:,} nodes, utility {utility:,}, bound {bound:,}"
