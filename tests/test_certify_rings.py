"""Rings: bounds that count on strings that cross."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from certificates import (
    core_bound,
    counts_of,
    formal_bound,
    optimum,
    random_chains,
    random_credits,
    random_discounts,
    random_rings,
    random_words,
    rewritten,
    varints,
)

import mergewise as mw
from mergewise.demo import opticks
from mergewise.errors import CertificateError
from mergewise.formal.rings import Chains, Rings
from mergewise.optimize.certificate import numbers_in
from mergewise.optimize.certificate_fields import PRICES

# Each two of the pairs cross in one of the words. All else is as rare as `floor` says.
TRIANGLE = {"abc": 2, "bca": 2, "cab": 2}
SETTING = {"one": 4, "floor": 2, "longest": 2, "counted": 2}
RING: tuple[list[str], int, list[int]] = (["ab", "bc", "ca"], 8, [])
# All symbols and pairs cost 1; a place takes all that its two spans lose.
NUMBERS = [0] * 15 + [4] * 3


@pytest.mark.parametrize("bound", [formal_bound, core_bound])
def test_a_ring_proves_what_no_prices_do(bound: Callable[..., int]) -> None:
    """Two merges save 6, and no prices prove less than 7.

    For let each word have its first pair as a token half of the time, and else its second. By any
    prices, the 6 tokens that this saves are at most what symbols cost less than 1 plus half of the
    losses of the three pairs. The bound has beside the former the two largest losses, each 2 at
    least: so no less than half of the three and half of 2.
    """
    assert optimum(TRIANGLE, "merges", 2) == 6
    assert bound(TRIANGLE, "merges", 2, NUMBERS, SETTING, rings=[RING]) == 6
    random = Random(0)  # noqa: S311
    by_prices = [
        bound(TRIANGLE, "merges", 2, random_discounts(random, TRIANGLE, "merges", SETTING), SETTING)
        for _ in range(200)
    ]
    # The symbols cost 1, 1/2 and 1, so that two symbols lose half.
    halves = [0, 0, 2, 0, 0] * 3
    assert bound(TRIANGLE, "merges", 2, halves, SETTING) == 7
    assert min(by_prices) >= 7


@pytest.mark.parametrize("bound", [formal_bound, core_bound])
def test_a_chain_proves_what_no_prices_do(bound: Callable[..., int]) -> None:
    """Two merges save 10, and no prices prove less than 11.

    For let "bb" be chosen, and half of "ab" and of "ba". Then half of the time "abba" has "bb" as a
    token, and else the other two, and "aba" always has one of its pairs: 3 + 2 + 6 are saved, which
    by any prices is at most what symbols cost less than 1 plus the loss of "bb" and half of the
    others'.
    """
    words, setting = {"abba": 2, "aba": 2, "bb": 6}, {**SETTING, "one": 1}
    proof = {"rings": [(["ab", "ba"], 2, [1])], "chains": [["ab", "bb", "ba"]]}
    assert optimum(words, "merges", 2) == 10
    assert bound(words, "merges", 2, [0] * 15 + [1] * 2, setting, **proof) == 10
    random = Random(0)  # noqa: S311
    by_prices = [
        bound(words, "merges", 2, random_discounts(random, words, "merges", setting), setting)
        for _ in range(100)
    ]
    assert bound(words, "merges", 2, [0] * 15, setting) == 12
    assert min(by_prices) >= 11


@pytest.mark.parametrize("bound", [formal_bound, core_bound])
def test_credits_without_a_toll_count_in_full(bound: Callable[..., int]) -> None:
    """A credit of 1 in both "abba" counts once for certain, and once for its link.

    The losses of the strings are 6, 2 and 2 without it.
    """
    words, chains = {"abba": 2, "aba": 2, "bb": 6}, [["ba", "bb", "ab"]]
    setting = {**SETTING, "one": 1}
    expected = 2 + 2 + 6 + 2
    assert bound(words, "merges", 2, [0] * 15 + [1], setting, chains=chains) == expected


def around(random: Random) -> tuple[dict[str, int], list[str], int]:
    """Words in which the neighbours of a ring of pairs cross, and others; the ring; a count."""
    size, most = random.choice([3, 3, 5]), random.choice([1, 1, 3])
    letters = "".join(random.sample("abcde", k=size)) * 2
    words = {letters[at : at + 3]: random.randint(1, most) for at in range(size)}
    count = random.choice([*words.values()])
    words |= dict(list(random_words(random).items())[: random.choice([0, 0, 1])])
    return words, [letters[at : at + 2] for at in range(size)], count


def random_proof(
    random: Random, words: dict[str, int], num_merges: int
) -> tuple[list[int], dict[str, int]]:
    """Discounts of one case, as they come, as a search finds them, or none; and their setting."""
    if random.random() < 0.3:
        counts = counts_of(words)
        tokenizer = mw.train(counts, num_merges=num_merges, min_frequency=1)
        cert = mw.certify(tokenizer, counts, num_steps=30)
        return list(numbers_in(cert.discounts)), {name: getattr(cert, name) for name in PRICES}
    longest = random.randint(2, 4)
    setting = {"one": 16, "floor": random.randint(0, 2), "longest": longest, "counted": 8}
    numbers = random_discounts(random, words, "merges", setting)
    return random.choice([numbers, [0] * len(numbers), [0] * len(numbers)]), setting


@pytest.mark.filterwarnings("ignore:stopped after")
def test_no_merge_list_exceeds_the_bound_of_any_rings() -> None:
    random = Random(1)  # noqa: S311
    num_better = num_tight = 0
    for _ in range(300):
        words, ring, count = around(random)
        num_merges = random.choice([1, 2, 2, 3])
        numbers, setting = random_proof(random, words, num_merges)
        rings: Rings[str] = [(ring, count * setting["one"] // random.choice([1, 1, 2]), [])]
        chains: Chains[str] = []
        if random.random() < 0.4:
            rings = random_rings(random, words, setting["one"])
            chains = random_chains(random, words, rings)
        without = formal_bound(words, "merges", num_merges, numbers, setting)
        numbers += random_credits(random, words, setting, rings, chains)
        proof: dict[str, Any] = {"rings": rings, "chains": chains}
        bound = formal_bound(words, "merges", num_merges, numbers, setting, **proof)
        best = optimum(words, "merges", num_merges)
        assert best <= bound, (words, num_merges, numbers, setting, proof)
        fast = core_bound(words, "merges", num_merges, numbers, setting, **proof)
        assert fast == bound, (words, num_merges, numbers, setting, proof)
        num_better += bound < without
        num_tight += best == bound
    assert num_better > 8
    assert num_tight > 15


@pytest.fixture(scope="module")
def counts() -> mw.WordCounts:
    return counts_of(TRIANGLE)


@pytest.fixture(scope="module")
def cert(counts: mw.WordCounts) -> mw.Certificate:
    found = mw.certify(mw.train(counts, num_merges=2), counts, num_steps=0)
    ring = tuple(string.encode().hex() for string in RING[0]), RING[1], ()
    proof: dict[str, Any] = {"discounts": varints(NUMBERS), "rings": (ring,), "bound": 6, **SETTING}
    return dataclasses.replace(found, **proof)


@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_a_file_gives_back_the_rings(
    alphabet: Literal["bytes", "chars"],
    cert: mw.Certificate,
    counts: mw.WordCounts,
    tmp_path: Path,
) -> None:
    path = tmp_path / "tok.cert"
    dataclasses.replace(cert, alphabet=alphabet).save(path)
    read = mw.Certificate.from_file(path)
    assert read == dataclasses.replace(cert, alphabet=alphabet)
    for by in ("core", "formal"):
        read.verify(counts, by=by)


def test_a_file_without_rings_does_not_name_them(counts: mw.WordCounts, tmp_path: Path) -> None:
    path = tmp_path / "tok.cert"
    mw.certify(mw.train(counts, num_merges=1), counts, num_steps=0).save(path)
    assert b"rings" not in path.read_bytes()


AB, BC, CA = "6162", "6263", "6361"


def test_rings_of_earlier_files_are_linked_by_either(
    cert: mw.Certificate, counts: mw.WordCounts, tmp_path: Path
) -> None:
    path = tmp_path / "earlier.cert"
    rewritten(cert, path, rings=[[[AB, BC, CA], 8]])
    read = mw.Certificate.from_file(path)
    assert read == cert
    for by in ("core", "formal"):
        read.verify(counts, by=by)


@pytest.mark.parametrize(
    "change",
    [
        {"rings": [[[AB, BC, CA], 8, [0]]]},
        {"rings": [[[AB, BC, CA], 8, [0, 1]]]},
        {"rings": [[[AB, BC, CA], 8, [3]]]},
        {"rings": [[[AB, BC], 8, [0]]]},
        {"chains": [[AB, BC]]},
        {"chains": [[AB, BC, CA, AB, BC]]},
        {"chains": [[]], "rings": []},
        {"rings": [[[AB, BC, CA], 4]]},
        {"rings": [[[AB, BC, CA], 12]]},
        {"rings": [[[AB, BC, CA], (1 << 64) - 1]]},
        {"rings": [[[AB, BC], 8]]},
        {"rings": [[[AB, BC, CA, BC], 8]]},
        {"rings": [[[AB], 8]]},
        {"rings": [[[], 8]]},
        {"rings": [[[AB, BC, AB], 8]]},
        {"rings": [[[AB, BC, CA], 8]] * 2},
        {"rings": []},
        {"discounts": varints(NUMBERS[:-1])},
        {"discounts": varints([*NUMBERS, 4])},
        {"discounts": varints(NUMBERS[:3])},
        {"discounts": varints([*NUMBERS[:-1], 3])},
        {"discounts": varints([*NUMBERS[:-1], 8])},
        {"num_merges": 1},
    ],
)
def test_forged_rings_prove_nothing(
    change: dict[str, object], cert: mw.Certificate, counts: mw.WordCounts, tmp_path: Path
) -> None:
    path = tmp_path / "forged.cert"
    rewritten(cert, path, **change)
    forged = mw.Certificate.from_file(path)
    for by in ("core", "formal"):
        with pytest.raises(CertificateError):
            forged.verify(counts, by=by)


@pytest.mark.parametrize(
    "change",
    [
        {"against": "vocabularies"},
        {"cases": [AB, None, None]},
        {"rings": [[[AB, BC, CA], -1]]},
        {"rings": [[[AB, BC, CA], 1 << 64]]},
        {"rings": [[[AB, BC, CA], 8.0]]},
        {"rings": [[[AB, BC, CA], True]]},
        {"rings": [[[AB, BC, "6"], 8]]},
        {"rings": [[[AB, BC, None], 8]]},
        {"rings": [[[AB, BC, CA], 8, [-1]]]},
        {"rings": [[[AB, BC, CA], 8, [0.5]]]},
        {"rings": [[[AB, BC, CA], 8, 0]]},
        {"rings": [[[AB, BC, CA], 8, [], 0]]},
        {"chains": [[AB, BC, None]]},
        {"chains": [AB]},
        {"chains": 8},
        {"rings": [], "chains": [[AB, BC, CA]], "against": "vocabularies"},
        {"rings": [], "chains": [[AB, BC, CA]], "cases": [AB, None, None]},
        {"rings": [[AB, BC, CA]]},
        {"rings": [[AB, BC, CA, 8]]},
        {"rings": 8},
    ],
)
def test_rings_that_cannot_be_are_refused(
    change: dict[str, object], cert: mw.Certificate, tmp_path: Path
) -> None:
    path = tmp_path / "forged.cert"
    rewritten(cert, path, **change)
    with pytest.raises(CertificateError, match=r"forged\.cert"):
        mw.Certificate.from_file(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rings": [(["ab", "bc"], 8, [])]}, "2 links by either, expected an odd number"),
        ({"rings": [(["ab", "bc", "ca"], 8, [0])]}, "2 links by either, expected an odd number"),
        ({"rings": [(["ab"], 8, [])]}, "expected 2 or more"),
        ({"rings": [(["ab", "bc", "ca"], 8, [3, 0])]}, "expected some from 0 on"),
        ({"rings": [(["ab", "bc", "ca"], -1, [])]}, "a toll is -1"),
        ({"rings": [(["ab", "bc", "ca"], 0.5, [])]}, "a toll is 0.5"),
        ({"chains": [["ab", "bc"]]}, "a chain has 2 strings, expected 3 or 4"),
        ({"chains": [["ab", "bc", "ca", "ab", "bc"]]}, "a chain has 5 strings"),
        ({"numbers": [*NUMBERS[:-1], -1]}, "a credit in 'cab'"),
        ({"numbers": [*NUMBERS[:-1], 0.5]}, "a credit in 'cab'"),
        ({"numbers": NUMBERS[:-1]}, "a credit in 'cab'"),
        ({"numbers": [*NUMBERS, 0]}, "more discounts"),
        ({"cases": ["ab", None, None]}, "several cases"),
    ],
)
def test_formal_refuses_rings_that_its_proof_does_not_allow(
    change: dict[str, Any], message: str
) -> None:
    proof: dict[str, Any] = {"rings": [RING], "numbers": NUMBERS, **change}
    numbers = proof.pop("numbers")
    with pytest.raises(ValueError, match=message):
        formal_bound(TRIANGLE, "merges", 2, numbers, SETTING, **proof)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rings": [(["ab", "bc"], 8, [])]}, "a ring is even"),
        ({"rings": [(["ab"], 8, [])]}, "a ring is even"),
        ({"rings": [(["ab", "bc", "ca"], 8, [0])]}, "a ring is even"),
        ({"rings": [(["ab", "bc", "ca"], 8, [3, 0])]}, "a ring is even"),
        ({"rings": [(["ab", "bc", "xy"], 8, [])]}, "unknown symbols"),
        ({"chains": [["ab", "bc"]]}, "a chain too long"),
        ({"chains": [["ab", "bc", "ca", "ab", "bc"]]}, "a chain too long"),
        ({"chains": [["ab", "bc", "xy"]]}, "unknown symbols"),
        ({"cases": ["ab", None, None]}, "several cases"),
        ({"against": "vocabularies"}, "against vocabularies"),
        ({"numbers": NUMBERS[:-1]}, "found 2 credits, expected 3"),
        ({"numbers": [*NUMBERS, 0]}, "found 4 credits, expected 3"),
        ({"numbers": NUMBERS[:3]}, "found 3 discounts, expected 15"),
    ],
)
def test_the_core_refuses_rings_that_the_proof_does_not_allow(
    change: dict[str, Any], message: str
) -> None:
    proof: dict[str, Any] = {"rings": [RING], "numbers": NUMBERS, "against": "merges", **change}
    against, numbers = proof.pop("against"), proof.pop("numbers")
    with pytest.raises(ValueError, match=message):
        core_bound(TRIANGLE, against, 2, numbers, SETTING, **proof)


def test_rings_are_found_but_not_for_rows_of_one_letter() -> None:
    """All parts of such a row cross each other: rings of them would have places without end."""
    counts = mw.count([opticks()[:60_000] + " " + "." * 70], pattern="gpt2")
    tokenizer = mw.train(counts, num_merges=800)
    proof = mw.certify(tokenizer, counts, num_steps=650, num_threads=1, num_cases=1)
    proof.verify(counts, tokenizer=tokenizer)
    strings = {string for ring, *_ in proof.rings or () for string in ring}
    assert strings
    assert not [string for string in strings if set(bytes.fromhex(string)) == {ord(".")}]
