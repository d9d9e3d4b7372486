"""The proofs of docs/theory/worst_case.md, step by step, on words enumerated or drawn."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, islice, pairwise

import pytest
from potentials import (
    BETA,
    GAMMA,
    Race,
    TwoSided,
    greedy_lists,
    one_kind_beside,
    one_sided,
    potential_of_theorem_2,
    potential_of_theorem_3,
    race,
)

from mergewise import formal
from mergewise.formal import Merge, Tree

# L may be any level that greedy's last gain reaches.
LEVELS = (1.0, 0.4, 0.1, 0.02)
SLIP = 1e-9


def saved(ran: Race) -> tuple[int, int]:
    """What greedy and the rival save."""
    rival = sum(ran.counts[word] for word, _ in ran.nodes)
    return sum(step.gain for step in ran.steps), rival


# Theorem 1


def alive(ran: Race, number: int) -> Counter[Merge]:
    """By kinds, how many nodes of a flat rival have both of their symbols before a step."""
    found: Counter[Merge] = Counter()
    for (word, _), node in ran.nodes.items():
        spans = {(token.start, token.end) for token in ran.steps[number].tokens[word]}
        if {(node.start, node.start + 1), (node.start + 1, node.end)} <= spans:
            found[node.kind] += ran.counts[word]
    return found


def check_theorem_1(words: dict[str, int], rival: tuple[Merge, ...]) -> None:
    for chosen in greedy_lists(words, len(rival)):
        ran = race(words, rival, chosen)
        greedy, total = saved(ran)
        done = 0
        for number, step in enumerate(ran.steps):
            left = alive(ran, number)
            assert left.total() >= total - 2 * done
            assert all(step.gain >= count for count in left.values())
            done += step.gain
        assert greedy >= formal.flat_guarantee(len(rival)) * total


def test_theorem_1_on_every_small_string() -> None:
    """All flat rivals of up to three merges, and all ties."""
    for length in range(2, 6):
        for text in formal.strings_up_to_renaming(length, 3):
            pairs = sorted(set(pairwise(text)))
            for num_merges in (1, 2, 3):
                for rival in combinations(pairs, num_merges):
                    check_theorem_1({text: 1}, rival)


# Words that are drawn


def drawn(seed: int, number: int) -> Iterator[tuple[dict[str, int], tuple[Merge, ...]]]:
    """Words made of the tokens of a random rival, so that it has deep trees in them."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    for _ in range(number):
        letters = "abcdef"[: chance.randint(1, 6)]
        rival: list[Merge] = []
        while len(rival) < chance.randint(1, 6):
            parts: list[Tree] = [*letters, *rival, *rival]
            merge = (chance.choice(parts), chance.choice(parts))
            if merge not in rival:
                rival.append(merge)
        tokens: list[Tree] = [*letters, *rival, *rival, *rival]
        words: Counter[str] = Counter()
        for _ in range(chance.randint(1, 8)):
            parts = chance.choices(tokens, k=chance.randint(1, 4))
            words["".join(map(formal.yield_of, parts))[:24]] += chance.choice([1, 2, 3, 5, 8, 20])
        yield dict(words), tuple(rival)


def small_strings(length: int) -> Iterator[tuple[dict[str, int], tuple[Merge, ...]]]:
    """All strings of three letters, with all of their effective rivals of up to three merges."""
    for size in range(2, length + 1):
        for text in formal.strings_up_to_renaming(size, 3):
            for rival, _ in formal.effective_sequences(text, 3):
                if rival:
                    yield {text: 1}, rival


def races(
    cases: Iterator[tuple[dict[str, int], tuple[Merge, ...]]], ties: int
) -> Iterator[tuple[Race, float]]:
    """Each case with some ways of breaking ties, at some levels L."""
    for words, rival in cases:
        for chosen in islice(greedy_lists(words, len(rival)), ties):
            ran = race(words, rival, chosen)
            greedy, total = saved(ran)
            assert total == formal.utility(rival, words)
            if len(chosen) < len(rival):  # no pair is left
                assert greedy >= total
                continue
            for part in LEVELS:
                yield ran, part * ran.steps[-1].gain


def check_theorem_2(cases: Iterator[tuple[dict[str, int], tuple[Merge, ...]]], ties: int) -> int:
    number = 0
    for ran, level in races(cases, ties):
        for mirrored in (False, True):
            if one_kind_beside(ran, mirrored=mirrored):
                number += 1
                assert min(one_sided(ran, level, mirrored=mirrored)) >= -SLIP
                greedy, total = saved(ran)
                assert greedy >= formal.guarantee(2) * total
    return number


def check_theorem_3(cases: Iterator[tuple[dict[str, int], tuple[Merge, ...]]], ties: int) -> int:
    number = 0
    for ran, level in races(cases, ties):
        number += 1
        assert min(TwoSided(ran, level).slacks()) >= -SLIP
        greedy, total = saved(ran)
        assert greedy >= formal.GREEDY_ATTAINS * total
    return number


def test_theorem_2_every_step_on_small_strings() -> None:
    assert check_theorem_2(small_strings(5), ties=4) > 5_000


def test_theorem_3_every_step_on_small_strings() -> None:
    assert check_theorem_3(small_strings(5), ties=4) > 2_000


def test_theorem_2_every_step_on_words_that_are_drawn() -> None:
    assert check_theorem_2(drawn(1, 1000), ties=2) > 2_000


def test_theorem_3_every_step_on_words_that_are_drawn() -> None:
    assert check_theorem_3(drawn(2, 1000), ties=2) > 2_000


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_theorem_2, check_theorem_3])
def test_both_theorems_on_more(check: Callable[..., int]) -> None:
    assert check(small_strings(6), ties=2) > 50_000
    assert check(drawn(3, 8_000), ties=2) > 20_000


# Theorem 2: which rivals it is about


def shapes(rival: tuple[Merge, ...]) -> set[str]:
    """Which of the corollaries speak of a rival."""
    depths: dict[Tree, int] = {}
    for left, right in rival:
        depths[left, right] = 1 + max(depths.get(left, 0), depths.get(right, 0))
    uses = Counter(part for merge in rival for part in merge if not isinstance(part, str))
    found = {"depth"} if max(depths.values()) <= 2 else set()
    if all(isinstance(right, str) for _, right in rival):
        found.add("left")
    if all(isinstance(left, str) for left, _ in rival):
        found.add("right")
    if max(uses.values(), default=0) <= 1:
        found.add("once")
    return found


def test_the_corollaries_of_theorem_2() -> None:
    """Depth 2, branching to one side, parts used once, equal counts: each implies (i) or (ii)."""
    seen: Counter[str] = Counter()
    for words, rival in drawn(4, 3000):
        ran = race(words, rival, ())
        counts = Counter(
            ran.nodes[place].kind for place in ran.nodes for _ in range(ran.counts[place[0]])
        )
        here = shapes(tuple(counts)) if counts else set()
        if len(set(counts.values())) == 1:
            here.add("equal")
        seen.update(here)
        if here - {"right"}:
            assert one_kind_beside(ran)
        if here - {"left"}:
            assert one_kind_beside(ran, mirrored=True)
    assert min(seen[name] for name in ("depth", "left", "right", "once", "equal")) > 100


# The hub: where Theorem 2's inequality fails, and Theorem 3 needs its reserve


def hub(num_kinds: int, each: int) -> tuple[dict[str, int], tuple[Merge, ...]]:
    """Rival: [[b_i, [a, x]], d_i] for many i, and greedy closes few of each when it merges a x.

    The other nodes [b_i, [a, x]] and [.., d_i] have an x, or an a, that was taken before.
    """
    ax: Merge = ("a", "x")
    rival: list[Merge] = [ax]
    words: Counter[str] = Counter()
    others = each * (num_kinds - 1)
    total = num_kinds * (each + 2 * others) + 3 * each * num_kinds
    for kind in range(num_kinds):
        b, d, e = (chr(0x4E00 + 3 * kind + i) for i in range(3))
        words[f"{b}ax{d}"] += each
        words[f"{b}ax{e}"] += others
        words[f"x{e}"] += 8 * total
        words[f"w{b}ax{d}"] += others
        words[f"w{b}"] += 2 * total
        words[f"w{b}a"] += total
        rival += [(b, ax), ((b, ax), d)]
    return dict(words), tuple(rival)


def race_to_the_hub(num_kinds: int) -> Race:
    """Greedy up to the merge of a and x."""
    words, rival = hub(num_kinds, each=10)
    chosen = formal.greedy(words, 3 * num_kinds + 1)
    assert chosen[-1] == ("a", "x")
    return race(words, rival, chosen)


def test_theorem_3_needs_its_reserve() -> None:
    ran = race_to_the_hub(20)
    level = 0.05 * ran.steps[-1].gain
    with_reserve, without = TwoSided(ran, level), TwoSided(ran, level, gamma=0.0)
    assert min(with_reserve.slacks()) >= -SLIP
    assert with_reserve.withdrawn > 0
    assert without.slacks()[-1] < -1


def test_the_step_of_theorem_2_fails_at_a_hub() -> None:
    """[a, x] has twenty kinds on its left and a neighbour on its right: (i) and (ii) fail."""
    ran = race_to_the_hub(20)
    assert not one_kind_beside(ran)
    assert not one_kind_beside(ran, mirrored=True)
    assert one_sided(ran, 0.05 * ran.steps[-1].gain)[-1] < -1


# The potentials


@pytest.mark.parametrize("level", [0.01, 0.05, 0.3])
def test_the_potentials_solve_their_equations(level: float) -> None:
    """ψ(L) = 0, convex, and the costliest place costs 2(1 - L/g)."""
    psi, (other, slope) = potential_of_theorem_2(level), potential_of_theorem_3(level)
    assert psi(level) == other(level) == 0
    assert other(level * (1 + 1e-9)) == pytest.approx(0, abs=1e-9)
    grid = [level * 1.05**i for i in range(1, 150)]
    for size in grid:
        near = 1e-4 * size
        rise = (psi(size + near) - psi(size - near)) / (2 * near)
        assert 2 * rise == pytest.approx(2 * (1 - level / size), abs=1e-4)
        rise = (other(size + near) - other(size - near)) / (2 * near)
        assert rise == pytest.approx(slope(size), abs=1e-4)
        cost = (16 * slope(size) + 3 * other(size) / size) / 7
        assert cost == pytest.approx(2 * (1 - level / size))
        assert other(size) / size <= slope(size)
    slopes = list(map(slope, grid))
    assert slopes == sorted(slopes)


def test_the_constants_are_the_minima_over_levels() -> None:
    """min over L of L + ψ(1)/2."""
    levels = [i / 20_000 for i in range(1, 20_000)]
    second = min(level + potential_of_theorem_2(level)(1) / 2 for level in levels)
    assert second == pytest.approx(formal.guarantee(2), abs=1e-7)
    assert formal.guarantee(2) == pytest.approx((1 - math.exp(-2)) / 2)
    third = min(level + potential_of_theorem_3(level)[0](1) / 2 for level in levels)
    assert third == pytest.approx(formal.GREEDY_ATTAINS, abs=1e-7)
    assert 0.3577 < formal.GREEDY_ATTAINS < 0.3578


def test_no_place_costs_more_than_the_costliest() -> None:
    """The cases of Theorem 3, with w <= s: each is at most (16 s + 3 w)/7."""
    beta, gamma = Fraction(3, 7), Fraction(1, 7)
    assert (float(beta), float(gamma)) == (BETA, GAMMA)
    cases: dict[str, tuple[Fraction, Fraction]] = {
        "closing nothing": (2 * (1 + gamma), Fraction(0)),
        "closing N": (2 * (1 + gamma), beta),
        "closing O, both sides inside": (2 * (1 + gamma), 1 - 2 * beta),
        "closing O, one side inside": (2 + gamma, 1 - beta),
        "closing O of two symbols": (2 * (1 - gamma), Fraction(1)),
    }
    for s_factor, w_factor in cases.values():
        for w in (Fraction(0), Fraction(1, 2), Fraction(1)):
            assert s_factor + w_factor * w <= Fraction(16, 7) + Fraction(3, 7) * w
    assert gamma <= beta <= Fraction(1, 2)  # the minimum of two bounds; nodes that are hit twice
    assert 1 + gamma >= 2 * beta  # a node N on the inner side
