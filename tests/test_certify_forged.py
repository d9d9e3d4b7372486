"""Forged and damaged certificates: what a verifier accepts is true."""

from __future__ import annotations

import dataclasses
import hashlib
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from certificates import (
    BOTH,
    TEXT,
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
from mergewise import formal
from mergewise._core import WordCounts as CoreCounts
from mergewise.errors import CertificateError
from mergewise.formal.rings import Chains, Rings
from mergewise.optimize.certificate import MAGIC
from mergewise.optimize.certificate_fields import PRICES, Against


@pytest.fixture(scope="module")
def counts() -> mw.WordCounts:
    return mw.count([TEXT], pattern="whitespace")


@pytest.fixture(scope="module")
def cert(counts: mw.WordCounts) -> mw.Certificate:
    return mw.certify(mw.train(counts, num_merges=10), counts, num_steps=100)


def test_every_changed_or_cut_file_is_refused(cert: mw.Certificate, tmp_path: Path) -> None:
    path = tmp_path / "tok.cert"
    cert.save(path)
    content = path.read_bytes()
    damaged = [content[:size] for size in range(len(content))]
    damaged += [
        content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :] for i in range(len(content))
    ]
    for wrong in damaged:
        path.write_bytes(wrong)
        with pytest.raises(CertificateError):
            mw.Certificate.from_file(path)


# Numbers to forge with: small ones, and those next to what 31, 32, 63 and 64 bits can hold.
SMALL = (-1, 0, 1, 2, 3, 4, 5, 16)
LARGE = (1 << 30, 1 << 31, (1 << 32) - 2, 1 << 32, 1 << 63, (1 << 64) - 1)


@pytest.mark.parametrize("against", BOTH)
@pytest.mark.filterwarnings("ignore:stopped after")
def test_whatever_a_verifier_accepts_is_true(against: Against, tmp_path: Path) -> None:
    random = Random(4)  # noqa: S311
    num_accepted = 0
    for _ in range(20):
        words = dict(list(random_words(random).items())[:3])
        counts = counts_of(words)
        tokenizer = mw.train(counts, num_merges=2)
        cert = mw.certify(tokenizer, counts, against=against, num_steps=0)
        for _ in range(15):
            num_accepted += is_forgery_accepted(random, words, cert, tmp_path / "forged.cert")
    assert num_accepted > 40


def is_forgery_accepted(
    random: Random, words: dict[str, int], cert: mw.Certificate, path: Path
) -> bool:
    """Forge some numbers of the header, with as many discounts as it then asks for.

    Whether the file is accepted; each verifier, with and without the file, must be right or refuse.
    """
    header = {name: getattr(cert, name) for name in ("num_merges", *PRICES)}
    for name in random.sample(list(header), random.randint(1, 3)):
        header[name] = random.choice(SMALL + LARGE)
    number, setting = header["num_merges"], {name: header[name] for name in PRICES}
    numbers = random_discounts(random, words, cert.against, setting)
    rings: Rings[str] = []
    chains: Chains[str] = []
    if cert.against == "merges" and random.random() < 0.3:
        rings = random_rings(random, words, abs(setting["one"]))
        chains = random_chains(random, words, rings)
        numbers += random_credits(random, words, setting, rings, chains)
        rings = [(ring, random.choice((toll, *LARGE)), both) for ring, toll, both in rings]
    numbers = [n if random.random() < 0.9 else random.choice(LARGE) for n in numbers]
    proof = words, cert.against, number, numbers, setting
    verifiers = (formal_bound, core_bound)
    bounds = [accepted(verifier, *proof, rings=rings, chains=chains) for verifier in verifiers]
    proved = {bound for bound in bounds if bound is not None}
    assert len(proved) <= 1, proof
    assert all(bound >= optimum(words, cert.against, number) for bound in proved), proof
    changes = {**header, "discounts": varints(numbers), "bound": max(proved, default=0)}
    changes["rings"] = [[in_hexadecimal(ring), *rest] for ring, *rest in rings]
    changes["chains"] = [in_hexadecimal(chain) for chain in chains]
    rewritten(cert, path, **changes, utility=0)
    by_core, by_formal = (is_verified(path, counts_of(words), by) for by in ("core", "formal"))
    assert by_core == by_formal, proof
    assert proved or not by_core, proof
    return by_core


def in_hexadecimal(strings: Sequence[str]) -> list[str]:
    return [string.encode().hex() for string in strings]


def accepted(verifier: Callable[..., int], *proof: object, **rings: object) -> int | None:
    """The bound that a verifier computes from a forged proof; None if it refuses."""
    try:
        return verifier(*proof, **rings)
    except (ValueError, OverflowError):
        return None


def is_verified(path: Path, counts: mw.WordCounts, by: str) -> bool:
    """Whether the certificate in a file is accepted."""
    try:
        mw.Certificate.from_file(path).verify(counts, by=by)  # type: ignore[arg-type]
    except CertificateError:
        return False
    return True


@pytest.mark.parametrize(
    "change",
    [
        {"one": 0},
        {"one": -4},
        {"one": 4.0},
        {"floor": -1},
        {"floor": 0.5},
        {"longest": 1},
        {"longest": 0},
        {"longest": -1},
        {"counted": -1},
        {"num_merges": -1},
        {"num_merges": 1.5},
        {"discounts": [-1, 0, 0, 0]},
        {"discounts": [0.5, 0, 0, 0]},
        {"words": {"abab": -100}},
    ],
)
@pytest.mark.parametrize("bound", [formal.merge_bound, formal.token_bound])
def test_formal_refuses_what_its_proof_does_not_allow(
    change: dict[str, Any], bound: Callable[..., int]
) -> None:
    setting: dict[str, Any] = {"one": 4, "floor": 0, "longest": 2, "counted": 2, **change}
    words, num_merges = setting.pop("words", {"abab": 100}), setting.pop("num_merges", 1)
    discounts = setting.pop("discounts", [0, 0, 0, 0])
    with pytest.raises(ValueError, match="whole number"):
        bound(words, num_merges, discounts, **setting)


def test_sums_beyond_128_bits_do_not_wrap() -> None:
    setting = {"one": 1 << 30, "floor": 1 << 63, "longest": 2, "counted": 2}
    words = {"a" * 17: 3}
    found = core_bound(words, "vocabularies", 1 << 31, [0] * 17, setting)
    assert found == formal_bound(words, "vocabularies", 1 << 31, [0] * 17, setting) == 48


@pytest.mark.parametrize(
    "change",
    [
        {"num_merges": 11},
        {"num_merges": 9},
        {"bound": 1},
        {"num_symbols": 1},
        {"fingerprint": "0" * 64},
        {"pattern": "gpt2"},
        {"normalize": "nfc"},
        {"against": "vocabularies"},
        {"alphabet": "chars", "num_symbols": 3},
        {"floor": 1000},
        {"floor": 0},
        {"longest": 2, "counted": 2},
        {"discounts": b""},
        {"discounts": b"\xff" * 40},
        {"discounts": b"\x80"},
        {"utility": 10**6},
    ],
)
def test_a_forged_file_proves_nothing(
    change: dict[str, object], cert: mw.Certificate, counts: mw.WordCounts, tmp_path: Path
) -> None:
    path = tmp_path / "forged.cert"
    rewritten(cert, path, **change)
    forged = mw.Certificate.from_file(path)
    for by in ("core", "formal"):
        with pytest.raises(CertificateError):
            forged.verify(counts, by=by)


def test_bytes_are_not_taken_for_characters() -> None:
    counts = mw.WordCounts(CoreCounts([(b"ab\xff", 3)], pattern=None))
    cert = mw.certify(mw.train(counts, num_merges=1), counts, num_steps=0)
    with pytest.raises(CertificateError, match="not UTF-8"):
        dataclasses.replace(cert, alphabet="chars").verify(counts)


@pytest.mark.parametrize(
    "change",
    [
        {"num_merges": -1},
        {"bound": "7"},
        {"num_merges": (1 << 32) - 1},
        {"one": 0},
        {"one": 3},
        {"one": 1 << 31},
        {"floor": 1.5},
        {"floor": 1 << 64},
        {"longest": None},
        {"longest": True},
        {"longest": 0},
        {"longest": 1},
        {"longest": (1 << 32) - 1},
        {"counted": -1},
        {"against": "all"},
        {"alphabet": "words"},
        {"pattern": 7},
        {"pattern": {"a": []}},
        {"normalize": "nfd"},
        {"normalize": []},
        {"fingerprint": None},
        {"fingerprint": 7},
        {"extra": 1},
    ],
)
def test_a_header_that_cannot_be_is_refused(
    change: dict[str, object], cert: mw.Certificate, tmp_path: Path
) -> None:
    path = tmp_path / "forged.cert"
    rewritten(cert, path, **change)
    with pytest.raises(CertificateError, match=r"forged\.cert"):
        mw.Certificate.from_file(path)


def test_a_header_of_many_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.cert"
    body = MAGIC + b"[" * 100_000 + b"\n"
    path.write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(CertificateError, match=r"deep\.cert"):
        mw.Certificate.from_file(path)


def test_a_proof_that_becomes_much_larger_is_refused(cert: mw.Certificate, tmp_path: Path) -> None:
    path = tmp_path / "forged.cert"
    rewritten(cert, path, discounts=bytes(10**8))
    tracemalloc.start()
    with pytest.raises(CertificateError, match=r"forged\.cert: .* 100 bytes"):
        mw.Certificate.from_file(path)
    assert tracemalloc.get_traced_memory()[1] < 5e7
    tracemalloc.stop()


@pytest.mark.parametrize("size", [0, 1, 2_000, 10**6])
def test_a_proof_of_nothing_but_zeros_is_read_as_it_was_written(
    size: int, cert: mw.Certificate, tmp_path: Path
) -> None:
    path = tmp_path / "tok.cert"
    zeros = dataclasses.replace(cert, discounts=bytes(size))
    zeros.save(path)
    assert mw.Certificate.from_file(path) == zeros


def test_a_proof_that_is_cut_short_is_refused(cert: mw.Certificate, tmp_path: Path) -> None:
    path = tmp_path / "cut.cert"
    cert.save(path)
    body = path.read_bytes()[: -hashlib.sha256().digest_size - 1]
    path.write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(CertificateError, match=r"cut\.cert: .* cut short"):
        mw.Certificate.from_file(path)
