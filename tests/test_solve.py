"""The exact solver: equal to brute force, with a bound that always holds."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mergewise as mw
from mergewise import formal
from mergewise._core import WordCounts as CoreCounts
from mergewise.demo import opticks
from mergewise.optimize.solving import Method

METHODS: tuple[Method, ...] = ("brute-force", "guarded", "branch-and-bound")


def counts_of(words: dict[str, int]) -> mw.WordCounts:
    return mw.WordCounts(CoreCounts(list(words.items()), pattern="whitespace"))


def saved_by(solution: mw.Solution, words: dict[str, int]) -> int:
    """What the merges of a solution save, by the paper's definition."""
    made: dict[bytes, formal.Merge] = {}

    def tree_of(string: bytes) -> formal.Tree:
        return made.get(string, string.decode())

    for left, right in solution.merges:
        made[left + right] = (tree_of(left), tree_of(right))
    merges = list(made.values())
    return sum(count * formal.utility(merges, word) for word, count in words.items())


def random_words(random: Random) -> dict[str, int]:
    letters = "abcd"[: random.randint(2, 4)]
    num_words = random.randint(1, 5)
    return {
        "".join(random.choices(letters, k=random.randint(1, 8))): random.randint(1, 9)
        for _ in range(num_words)
    }


def test_brute_force_is_that_of_the_paper() -> None:
    for length in range(8):
        for text in formal.strings_up_to_renaming(length, 3):
            for num_merges in (1, 2, 3):
                expected = formal.exact_brute_force(text, num_merges)
                found = mw.solve(text, num_merges=num_merges, method="brute-force")
                assert (found.utility, found.nodes) == (expected.utility, expected.nodes)
                guarded = mw.solve(text, num_merges=num_merges, method="guarded")
                expected = formal.exact_guarded(text, num_merges)
                assert (guarded.utility, guarded.nodes) == (expected.utility, expected.nodes)


def test_every_short_string() -> None:
    for length in range(10):
        for text in formal.strings_up_to_renaming(length, 3):
            for num_merges in (1, 2, 3):
                utilities = {
                    mw.solve(text, num_merges=num_merges, method=method).utility
                    for method in METHODS
                }
                assert len(utilities) == 1, (text, num_merges)


def test_random_strings() -> None:
    random = Random(0)  # noqa: S311 - not for secrets
    for _ in range(2000):
        letters = "abcdef"[: random.randint(1, 6)]
        text = "".join(random.choices(letters, k=random.randint(1, 16)))
        num_merges = random.randint(0, 4)
        best = mw.solve(text, num_merges=num_merges)
        brute = mw.solve(text, num_merges=num_merges, method="brute-force")
        assert (best.status, best.utility) == ("optimal", brute.utility), (text, num_merges)
        assert best.utility == saved_by(best, {text: 1})
        assert len(best.merges) <= num_merges


def test_longer_random_strings() -> None:
    random = Random(1)  # noqa: S311 - not for secrets
    for _ in range(150):
        text = "".join(random.choices("abcd", k=random.randint(12, 16)))
        expected = mw.solve(text, num_merges=4, method="brute-force")
        assert mw.solve(text, num_merges=4).utility == expected.utility, text


def test_weighted_words() -> None:
    random = Random(2)  # noqa: S311 - not for secrets
    for _ in range(1000):
        words = random_words(random)
        num_merges = random.randint(1, 4)
        counts = counts_of(words)
        best = mw.solve(counts, num_merges=num_merges)
        brute = mw.solve(counts, num_merges=num_merges, method="brute-force")
        assert (best.status, best.utility) == ("optimal", brute.utility), (words, num_merges)
        assert best.utility == saved_by(best, words)


@given(words=st.dictionaries(st.text("abc", min_size=1, max_size=5), st.integers(1, 9)))
def test_weighted_words_by_formal(words: dict[str, int]) -> None:
    expected = formal.exact_brute_force(words, 2)
    assert mw.solve(counts_of(words), num_merges=2).utility == expected.utility


@pytest.mark.parametrize("method", METHODS)
def test_a_bound_holds_whenever_the_search_stops(method: Method) -> None:
    random = Random(3)  # noqa: S311 - not for secrets
    for _ in range(200):
        text = "".join(random.choices("abc", k=random.randint(8, 14)))
        optimum = mw.solve(text, num_merges=4).utility
        for node_limit in (0, 1, 2, 3, 20):
            found = mw.solve(text, num_merges=4, method=method, node_limit=node_limit)
            assert found.utility <= optimum <= found.bound
            assert found.utility == saved_by(found, {text: 1})
            is_proved = found.utility == found.bound
            assert found.status == ("optimal" if is_proved else "feasible")
            assert found.limit in {None, "nodes"}
            assert 0 <= found.gap <= 1


def test_long_runs_and_repeats() -> None:
    # Repeats longer than any string that gets a price, and runs of one letter.
    assert mw.solve("a" * 64, num_merges=6).utility == 63
    assert mw.solve("a" * 1000, num_merges=3).utility == 875
    repeat = "".join(chr(0x4E00 + i) for i in range(50))
    best = mw.solve(repeat * 2, num_merges=50)
    assert (best.status, best.utility) == ("optimal", 99)


def test_english_strings_are_proved_with_twelve_merges() -> None:
    text = " ".join(opticks().split())
    for start in range(20_000, 70_000, 10_000):
        best = mw.solve(text[start : start + 64], num_merges=12, num_threads=1)
        assert best.status == "optimal"
        assert best.utility == saved_by(best, {text[start : start + 64]: 1})


def test_threads_do_not_change_the_answer() -> None:
    text = " ".join(opticks().split())[50_000:50_128]
    for num_merges in (20, 24, 30):
        one, two = (
            mw.solve(text, num_merges=num_merges, num_threads=n, node_limit=200) for n in (1, 2)
        )
        assert one == two


def test_little_memory_changes_no_answer() -> None:
    random = Random(4)  # noqa: S311 - not for secrets
    for _ in range(100):
        text = "".join(random.choices("abc", k=40))
        expected = mw.solve(text, num_merges=6)
        found = mw.solve(text, num_merges=6, memory_limit=0)
        assert (found.status, found.utility) == ("optimal", expected.utility)


def test_symbols_are_bytes_or_characters() -> None:
    counts = mw.count(["éé éé"], pattern="whitespace")
    assert mw.solve(counts, num_merges=1).utility == 4
    assert mw.solve(counts, num_merges=1, alphabet="chars").utility == 2
    assert mw.solve("éé", num_merges=1).merges == [("é".encode(), "é".encode())]


def test_the_merges_are_a_tokenizer() -> None:
    counts = mw.count(["low low lower"], pattern="whitespace")
    best = mw.solve(counts, num_merges=3)
    assert best.tokenizer.merges == best.merges
    assert best.tokenizer.pattern == "whitespace"
    assert len(best.tokenizer.encode("low low lower")) == counts.num_symbols - best.utility


@pytest.mark.parametrize("corpus", ["", "a", "ab"])
def test_what_hardly_needs_merges(corpus: str) -> None:
    best = mw.solve(corpus, num_merges=1000)
    assert best.status == "optimal"
    assert best.utility == max(len(corpus) - 1, 0)
    assert mw.solve(corpus, num_merges=0).utility == 0


@pytest.mark.parametrize("method", METHODS)
def test_deep_searches_do_not_overflow(method: Method) -> None:
    text = "".join(chr(0x4E00 + i) for i in range(3000))
    found = mw.solve(text, num_merges=3000, method=method, time_limit=1)
    assert found.utility <= 2999 <= found.bound


def test_a_time_limit_is_a_status() -> None:
    text = " ".join(opticks().split())[:4000]
    started = time.process_time()
    found = mw.solve(text, num_merges=200, time_limit=0.5, num_threads=2)
    assert time.process_time() - started < 10
    assert (found.status, found.limit) == ("feasible", "time")
    assert found.utility < found.bound
    assert "no list of this length saves more than" in str(found)
    assert mw.solve(text, num_merges=200, time_limit=0).utility <= found.bound


def test_progress() -> None:
    seen: list[tuple[int, int, int]] = []
    text = " ".join(opticks().split())[:2000]

    def see(nodes: int, utility: int, bound: int) -> None:
        seen.append((nodes, utility, bound))
        if len(seen) == 10:
            raise KeyboardInterrupt

    found = mw.solve(text, num_merges=100, progress=see)
    assert len(seen) == 10
    assert all(utility <= found.utility for _, utility, _ in seen)
    assert all(bound == 0 or bound >= found.utility for _, _, bound in seen)


def test_an_error_in_the_callback_ends_the_search() -> None:
    def fail(*_: int) -> None:
        raise RuntimeError("enough")

    text = " ".join(opticks().split())[:4000]
    with pytest.raises(RuntimeError, match="enough"):
        mw.solve(text, num_merges=200, progress=fail)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: mw.solve(["ab"], num_merges=1), TypeError, "expected str or WordCounts"),  # type: ignore[arg-type]
        (lambda: mw.solve("ab", num_merges=-1), ValueError, "num_merges must be 0 or more"),
        (lambda: mw.solve("ab", num_merges=1.0), TypeError, "num_merges must be an int"),  # type: ignore[arg-type]
        (lambda: mw.solve("ab", num_merges=1, node_limit=-1), ValueError, "node_limit"),
        (lambda: mw.solve("ab", num_merges=1, time_limit=-1), ValueError, "time_limit"),
        (lambda: mw.solve("ab", num_merges=1, time_limit="1"), TypeError, "time_limit"),  # type: ignore[arg-type]
        (lambda: mw.solve("ab", num_merges=1, num_threads=-1), ValueError, "num_threads"),
        (lambda: mw.solve("ab", num_merges=1, method="magic"), ValueError, "method must be"),  # type: ignore[arg-type]
        (lambda: mw.solve("ab", num_merges=1, alphabet="words"), ValueError, "alphabet must be"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments(wrong: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wrong()


@pytest.mark.parametrize("corpus", ["abaabbaa", counts_of({"low": 5, "lower": 2})])
def test_a_solution_pickles(corpus: str | mw.WordCounts) -> None:
    solution = mw.solve(corpus, num_merges=2)
    copy = pickle.loads(pickle.dumps(solution))  # noqa: S301 - our own
    assert copy == solution
    assert copy.tokenizer.merges == solution.tokenizer.merges
    assert copy.tokenizer.encode("abaa") == solution.tokenizer.encode("abaa")
