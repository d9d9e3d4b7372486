"""Certificates: bounds that hold, proofs that can be checked, and nothing wrong accepted."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import tokenizers
from certificates import (
    BOTH,
    TEXT,
    best_vocabulary,
    core_bound,
    counts_of,
    formal_bound,
    optimum,
    random_discounts,
    random_tree,
    random_words,
    varints,
)
from processes import interrupt

import mergewise as mw
from mergewise import formal
from mergewise._core import WordCounts as CoreCounts
from mergewise.demo import opticks
from mergewise.errors import CertificateError
from mergewise.optimize import certifying
from mergewise.optimize.certificate import numbers_in
from mergewise.optimize.certificate_fields import PRICES, Against
from mergewise.vocabulary import Vocabulary


def trained(counts: mw.WordCounts, num_merges: int) -> mw.Tokenizer:
    return mw.train(counts, num_merges=num_merges, min_frequency=1)


@pytest.mark.filterwarnings("ignore:stopped after")
def test_no_merge_list_exceeds_the_bound() -> None:
    random = Random(0)  # noqa: S311
    num_tight = 0
    for _ in range(600):
        words = random_words(random)
        num_merges = random.randint(1, 3)
        counts = counts_of(words)
        tokenizer = trained(counts, num_merges)
        cert = mw.certify(tokenizer, counts, num_steps=random.choice([0, 1, 20, 100]))
        best = mw.solve(counts, num_merges=cert.num_merges, method="guarded")
        assert cert.utility <= best.utility <= cert.bound, words
        num_tight += best.utility == cert.bound
        cert.verify(counts, tokenizer=tokenizer)
        cert.verify(counts, by="formal")
    assert num_tight > 300


def test_all_nodes_of_a_string_have_one_tree() -> None:
    random = Random(8)  # noqa: S311
    pairs: list[formal.Merge] = [(a, b) for a in "ab" for b in "ab"]
    longer: list[formal.Merge] = [(a, b) for a in pairs for b in (*pairs, *"ab")]
    longer += [(a, b) for a in "ab" for b in pairs]
    num_rivals = 0
    for _ in range(500):
        merges = random.sample([*pairs, *longer], k=20)
        merges.sort(key=lambda merge: len(leaves(merge)) + random.choice([0, 0, 1]))
        found: dict[str, set[formal.Tree]] = {}
        for _ in range(3):
            for token in formal.apply(merges, random.choices("ab", k=12)):
                collect_nodes(token, found)
        strings = ["".join(leaves(merge)) for merge in merges]
        num_rivals += sum(strings.count(string) > 1 for string in found)
        assert all(len(trees) == 1 for trees in found.values()), merges
    assert num_rivals > 500


def leaves(tree: formal.Tree) -> list[str]:
    return [tree] if isinstance(tree, str) else [*leaves(tree[0]), *leaves(tree[1])]


def collect_nodes(tree: formal.Tree, found: dict[str, set[formal.Tree]]) -> None:
    if not isinstance(tree, str):
        found.setdefault("".join(leaves(tree)), set()).add(tree)
        collect_nodes(tree[0], found)
        collect_nodes(tree[1], found)


@pytest.mark.filterwarnings("ignore:stopped after")
def test_no_vocabulary_exceeds_the_bound() -> None:
    random = Random(1)  # noqa: S311
    for _ in range(500):
        words = random_words(random)
        num_tokens = random.randint(1, 2)
        counts = counts_of(words)
        tokenizer = trained(counts, num_tokens)
        steps = random.choice([0, 1, 20, 100])
        cert = mw.certify(tokenizer, counts, against="vocabularies", num_steps=steps)
        assert cert.utility <= best_vocabulary(words, cert.num_merges) <= cert.bound, words
        cert.verify(counts, tokenizer=tokenizer)
        cert.verify(counts, by="formal")


@pytest.mark.parametrize("against", BOTH)
@pytest.mark.filterwarnings("ignore:stopped after")
def test_the_core_s_verifier_equals_the_formal_one_on_any_discounts(against: Against) -> None:
    random = Random(2)  # noqa: S311
    formally = formal.merge_bound if against == "merges" else formal.token_bound
    for _ in range(500):
        words = random_words(random)
        counts = counts_of(words)
        cert = mw.certify(trained(counts, 2), counts, against=against, num_steps=10)
        numbers = [max(0, n + random.randint(-3, 3)) for n in numbers_in(cert.discounts)]
        prices = {name: getattr(cert, name) for name in PRICES}
        bound = formally(words, cert.num_merges, numbers, **prices)
        mutated = dataclasses.replace(cert, discounts=varints(numbers), bound=bound)
        mutated.verify(counts)
        mutated.verify(counts, by="formal")
        with pytest.raises(CertificateError, match="the proof gives the bound"):
            dataclasses.replace(mutated, bound=bound + 1).verify(counts)


@pytest.mark.parametrize("against", BOTH)
def test_strings_too_long_or_too_rare_are_bounded_alike(against: Against) -> None:
    random = Random(3)  # noqa: S311
    num_decided_by_long_strings = 0
    for _ in range(2000):
        words = {**random_words(random), random.choice(["abcabc", "dcba", "abab"]): 9}
        setting = {
            "one": 16,
            "floor": random.randint(0, 6),
            "longest": random.randint(2, 4),
            "counted": random.choice([0, 5, 8]),
        }
        num_merges = random.randint(1, 3 if against == "merges" else 2)
        numbers = random_discounts(random, words, against, setting)
        bound = formal_bound(words, against, num_merges, numbers, setting)
        assert optimum(words, against, num_merges) <= bound, (words, setting, numbers)
        assert core_bound(words, against, num_merges, numbers, setting) == bound, (words, setting)
        without = formal_bound(words, against, num_merges, numbers, {**setting, "counted": 0})
        num_decided_by_long_strings += bound < without
    assert num_decided_by_long_strings > 100


@pytest.mark.filterwarnings("ignore:stopped after")
def test_no_merge_list_exceeds_the_bound_of_any_cases() -> None:
    random = Random(9)  # noqa: S311
    num_tight = 0
    for _ in range(60):
        words = random_words(random)
        counts = counts_of(words)
        num_merges = random.randint(1, 3)
        cert = mw.certify(trained(counts, num_merges), counts, num_steps=20)
        setting = {name: getattr(cert, name) for name in PRICES}
        found = list(numbers_in(cert.discounts))
        cases = random_tree(random, words)
        changed = [
            [max(0, n + random.randint(-9, 9)) for n in found] for _ in range(cases.count(None))
        ]
        leaves = random.choice([changed, [found] * len(changed)])
        proof = [number for leaf in leaves for number in leaf], setting
        bound = formal_bound(words, "merges", cert.num_merges, *proof, cases=cases)
        best = optimum(words, "merges", cert.num_merges)
        assert best <= bound, (words, proof, cases)
        fast = core_bound(words, "merges", cert.num_merges, *proof, cases=cases)
        assert fast == bound, (words, proof, cases)
        num_tight += best == bound and len(cases) > 1
    assert num_tight > 10


@pytest.mark.filterwarnings("ignore:stopped after")
def test_cases_are_found_and_hold() -> None:
    random = Random(10)  # noqa: S311
    num_better = 0
    for _ in range(20):
        letters = ("".join(random.choices("abc", k=8)) for _ in range(6))
        words = {word: random.randint(1, 6) for word in letters}
        counts = counts_of(words)
        tokenizer = trained(counts, 3)
        best = mw.solve(counts, num_merges=3).utility
        whole, divided = (
            mw.certify(tokenizer, counts, num_steps=100, num_cases=cases) for cases in (1, 6)
        )
        assert best <= divided.bound <= whole.bound, words
        num_better += divided.bound < whole.bound
        divided.verify(counts, tokenizer=tokenizer)
        divided.verify(counts, by="formal")
    assert num_better > 1


def test_a_file_gives_back_the_cases(tmp_path: Path) -> None:
    counts = mw.count([opticks()[:3000]], pattern="gpt2")
    tokenizer = mw.train(counts, num_merges=30)
    cert = mw.certify(tokenizer, counts, num_steps=60, num_cases=4)
    assert cert.cases.count(None) == 4
    cert.save(tmp_path / "tok.cert")
    assert mw.Certificate.from_file(tmp_path / "tok.cert") == cert
    again = mw.certify(tokenizer, counts, num_steps=60, num_cases=4, num_threads=3)
    assert again == cert
    shorter = dataclasses.replace(cert, cases=cert.cases[:-1])
    for by in ("core", "formal"):
        cert.verify(counts, by=by)
        with pytest.raises(CertificateError, match="damaged"):
            shorter.verify(counts, by=by)


def test_symbols_of_negative_price_are_bounded_alike() -> None:
    """Pairs leave room above the discounts, which would exceed what the long words can save."""
    random = Random(6)  # noqa: S311
    pairs = {left + right: 1 for left in "mnopq" for right in "rstu"}
    setting = {"one": 1, "floor": 0, "longest": 2, "counted": 4}
    numbers = [0] * 40 + [6, 0, 6, 0, 0]
    assert formal_bound({"xabcd": 1, **pairs}, "vocabularies", 1, numbers, setting) == 14
    assert core_bound({"xabcd": 1, **pairs}, "vocabularies", 1, numbers, setting) == 14
    for _ in range(500):
        words = {
            "".join(random.choices("abcd", k=random.randint(4, 7))): random.randint(1, 3)
            for _ in range(2)
        }
        one = random.choice([1, 4])
        discounts = [0 if random.random() < 0.6 else random.randint(0, 2 * one) for _ in range(14)]
        setting = {"one": one, "floor": random.randint(0, 1), "longest": 2}
        setting["counted"] = random.choice([0, 3, 4, 5])
        proof = discounts[: sum(map(len, words))] + [0] * 40, setting
        bound = formal_bound({**words, **pairs}, "vocabularies", 2, *proof)
        assert core_bound({**words, **pairs}, "vocabularies", 2, *proof) == bound, (words, proof)


@pytest.fixture(scope="module")
def counts() -> mw.WordCounts:
    return mw.count([TEXT], pattern="whitespace")


@pytest.fixture(scope="module")
def tokenizer(counts: mw.WordCounts) -> mw.Tokenizer:
    return mw.train(counts, num_merges=10)


@pytest.fixture(scope="module")
def cert(tokenizer: mw.Tokenizer, counts: mw.WordCounts) -> mw.Certificate:
    return mw.certify(tokenizer, counts, num_steps=100)


def test_what_a_certificate_says(cert: mw.Certificate, counts: mw.WordCounts) -> None:
    assert cert.tokens == counts.num_symbols - cert.utility
    assert cert.tokens_bound == counts.num_symbols - cert.bound
    assert cert.ratio == cert.utility / cert.bound
    assert cert.excess == cert.tokens / cert.tokens_bound - 1
    assert f"no list of 10 merges makes fewer than {cert.tokens_bound:,}" in str(cert)


@pytest.mark.parametrize("against", BOTH)
def test_a_file_gives_back_the_certificate(
    against: Against, tokenizer: mw.Tokenizer, counts: mw.WordCounts, tmp_path: Path
) -> None:
    cert = mw.certify(tokenizer, counts, against=against, num_steps=50)
    cert.save(tmp_path / "tok.cert")
    read = mw.Certificate.from_file(tmp_path / "tok.cert")
    assert read == cert
    read.verify(counts, tokenizer=tokenizer)


def test_another_tokenizer_has_another_utility(cert: mw.Certificate, counts: mw.WordCounts) -> None:
    other = mw.train(mw.count([TEXT[::-1]], pattern="whitespace"), num_merges=10)
    with pytest.raises(CertificateError, match="the tokenizer saves"):
        cert.verify(counts, tokenizer=other)


@pytest.mark.parametrize("against", BOTH)
def test_threads_change_nothing(against: Against) -> None:
    counts = mw.count([opticks()[:100_000]], pattern="gpt2")
    tokenizer = mw.train(counts, num_merges=300)
    one, two = (
        mw.certify(tokenizer, counts, against=against, num_steps=30, num_threads=n) for n in (1, 2)
    )
    assert one == two
    one.verify(counts)


def test_characters() -> None:
    counts = mw.count(["élève élevé relève"] * 2, pattern="whitespace")
    tokenizer = mw.train(counts, num_merges=4, alphabet="chars")
    cert = mw.certify(tokenizer, counts, num_steps=100)
    cert.verify(counts, tokenizer=tokenizer)
    cert.verify(counts, by="formal")
    assert cert.num_symbols == 2 * len("élève élevé relève")
    assert cert.bound >= mw.solve(counts, num_merges=4, alphabet="chars").utility


def test_whole_texts() -> None:
    counts = mw.count([opticks()[:20_000]], pattern=None)
    tokenizer = mw.train(counts, num_merges=50)
    cert = mw.certify(tokenizer, counts, num_steps=50)
    cert.verify(counts, tokenizer=tokenizer)
    assert cert.excess < 0.3


def test_texts_full_of_long_repetitions() -> None:
    text = opticks()
    notices = [text[start : start + 200] for start in range(0, 20_000, 1000)]
    between = [text[start : start + 150] for start in range(30_000, 250_000, 150)]
    random = Random(5)  # noqa: S311
    counts = mw.count(["".join(part + random.choice(notices) for part in between)], pattern=None)
    tokenizer = mw.train(counts, num_merges=1000)
    cert = mw.certify(tokenizer, counts, num_steps=60)
    assert cert.counted > cert.longest
    cert.verify(counts, tokenizer=tokenizer)
    assert cert.excess < 1.1


def test_runs_of_one_letter() -> None:
    counts = mw.count(["a" * 5000], pattern=None)
    tokenizer = mw.train(counts, num_merges=5)
    cert = mw.certify(tokenizer, counts, num_steps=20)
    cert.verify(counts, tokenizer=tokenizer)
    assert cert.utility <= cert.bound <= 4999


def test_tokens_that_no_rival_can_have_are_refused() -> None:
    words = {f"{a}{b}zzzz": 1 for a in "abcdefghij" for b in "klmnopqrst"}
    counts = mw.WordCounts(CoreCounts(list(words.items()), pattern=None))
    tokens = {bytes([byte]): byte for byte in range(256)} | {b"zz": 256}
    tokens |= {word.encode(): 257 + i for i, word in enumerate(words)}
    merges = [(b"z", b"z")]
    whole = mw.Tokenizer(Vocabulary(tokens=tokens, merges=merges, whole_words=True))
    with pytest.raises(ValueError, match="tokens that no merge makes"):
        mw.certify(whole, counts, num_steps=1)
    cert = mw.certify(whole, counts, against="vocabularies", num_steps=20)
    assert (cert.num_merges, cert.utility, cert.bound) == (101, 500, 500)
    cert.verify(counts, tokenizer=whole)
    plain = mw.Tokenizer(Vocabulary(tokens=tokens, merges=merges))
    merged = mw.certify(plain, counts, num_steps=20)
    assert merged.utility == 200 <= merged.bound
    with pytest.raises(CertificateError, match="tokens that no merge makes"):
        merged.verify(counts, tokenizer=whole)


def test_fused_unknown_characters_are_refused() -> None:
    counts = mw.WordCounts(CoreCounts([("xxxx", 3), ("ab", 2)], pattern=None))
    tokenizer = mw.Tokenizer(
        Vocabulary(
            tokens={b"?": 0, b"a": 1, b"b": 2, b"ab": 3},
            merges=[(b"a", b"b")],
            alphabet="chars",
            unknown_token=0,
            fuse_unknown=True,
        )
    )
    for against in BOTH:
        with pytest.raises(ValueError, match="'x' is no token"):
            mw.certify(tokenizer, counts, against=against, num_steps=1)


def test_a_tokenizer_with_other_rivals_is_refused(
    cert: mw.Certificate, counts: mw.WordCounts, tokenizer: mw.Tokenizer
) -> None:
    """The claim is about lists of 10 merges, and of the same words as they are merged."""
    with pytest.raises(CertificateError, match="num_merges of the tokenizer is 12, not 10"):
        cert.verify(counts, tokenizer=mw.train(counts, num_merges=12))
    spaced = dataclasses.replace(tokenizer.vocabulary, prefix_space="once")
    with pytest.raises(CertificateError, match="prefix_space of the tokenizer is 'once', not None"):
        cert.verify(counts, tokenizer=mw.Tokenizer(spaced))


def test_an_imported_tokenizer_with_special_tokens(tmp_path: Path) -> None:
    counts = mw.count([TEXT], pattern="gpt2")
    path = tmp_path / "tokenizer.json"
    mw.train(counts, num_merges=10, special_tokens=["<|end|>"]).save(path)
    read = mw.Tokenizer.from_file(path)
    cert = mw.certify(read, counts, num_steps=50)
    assert (cert.num_merges, cert.alphabet) == (10, "bytes")
    cert.verify(counts, tokenizer=read)


def test_better_than_trivial_on_english() -> None:
    counts = mw.count([opticks()], pattern="gpt2")
    tokenizer = mw.train(counts, num_merges=1000)
    merges = mw.certify(tokenizer, counts, num_steps=150)
    assert merges.excess < 0.06
    anything = mw.certify(tokenizer, counts, against="vocabularies", num_steps=150)
    assert anything.bound > merges.bound


def test_an_empty_corpus() -> None:
    counts = mw.count([], pattern="gpt2")
    tokenizer = mw.Tokenizer(
        Vocabulary(tokens={bytes([b]): b for b in range(256)}, merges=[], pattern="gpt2")
    )
    cert = mw.certify(tokenizer, counts, num_steps=5)
    assert (cert.utility, cert.bound, cert.ratio) == (0, 0, 1.0)
    cert.verify(counts)


def test_progress() -> None:
    counts = mw.count([opticks()], pattern="whitespace")
    tokenizer = mw.train(counts, num_merges=2000)
    seen: list[tuple[int, int | None]] = []

    def see(num_steps: int, bound: int | None) -> None:
        seen.append((num_steps, bound))
        if len(seen) == 10:
            raise KeyboardInterrupt

    cert = mw.certify(tokenizer, counts, time_limit=3600, progress=see)
    assert len(seen) == 10
    assert all(bound is None or bound >= cert.bound for _, bound in seen)


def test_the_time_limit_holds_for_counting_tokens_too(
    tokenizer: mw.Tokenizer, counts: mw.WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([1000.0, 2000.0])
    monkeypatch.setattr(certifying, "monotonic", lambda: next(clock))
    cert = mw.certify(tokenizer, counts, time_limit=900)
    assert (cert.one, cert.discounts) == (1, b"")  # no string has a price
    cert.verify(counts, tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"against": "all"}, ValueError, "against must be"),
        ({"time_limit": -1}, ValueError, "time_limit"),
        ({"num_steps": -1}, ValueError, "num_steps"),
        ({"num_threads": 5000}, ValueError, "num_threads"),
        ({"num_cases": 5000}, ValueError, "num_cases"),
    ],
)
def test_wrong_arguments(
    wrong: dict[str, object],
    error: type[Exception],
    message: str,
    tokenizer: mw.Tokenizer,
    counts: mw.WordCounts,
) -> None:
    with pytest.raises(error, match=message):
        mw.certify(tokenizer, counts, **wrong)  # type: ignore[arg-type]


def test_other_words_are_refused(tokenizer: mw.Tokenizer, counts: mw.WordCounts) -> None:
    calls: list[Callable[[], object]] = [
        lambda: mw.certify(tokenizer, mw.count([TEXT], pattern="gpt2")),
        lambda: mw.certify(tokenizer, mw.count([TEXT], pattern="whitespace", normalize="nfc")),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="hint: count with those of the tokenizer"):
            call()
    with pytest.raises(TypeError, match="expected a Tokenizer"):
        mw.certify("tok", counts)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected WordCounts"):
        mw.certify(tokenizer, [TEXT])  # type: ignore[arg-type]


def test_the_curve_of_one_training() -> None:
    counts = mw.count([opticks()[:100_000]], pattern="gpt2")
    tokenizer = mw.train(counts, num_merges=600)
    curve = mw.certify_prefixes(tokenizer, counts, num_steps=20)
    assert [cert.num_merges for cert in curve] == [256, 512, 600]
    for cert in curve:
        assert (
            cert.utility
            == mw.certify(mw.train(counts, num_merges=cert.num_merges), counts, num_steps=0).utility
        )
        cert.verify(counts)
    with pytest.raises(ValueError, match="600 merges, found the size 601"):
        mw.certify_prefixes(tokenizer, counts, sizes=[601])


def test_a_vocabulary_of_any_strings(tmp_path: Path) -> None:
    text = opticks()[:200_000]
    counts = mw.count([text], pattern="gpt2")
    found = mw.optimize_vocabulary(counts, num_tokens=500, num_steps=200)
    assert len(set(found.tokens)) == 500
    assert all(len(token) > 1 for token in found.tokens)
    greedy = mw.certify(mw.train(counts, num_merges=500), counts, num_steps=0)
    assert found.certificate.tokens < greedy.tokens
    found.certificate.verify(counts)
    found.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    encoded = theirs.encode(text, add_special_tokens=False)
    assert len(encoded.ids) == found.certificate.tokens
    assert theirs.decode(encoded.ids) == text


def test_interrupted_it_gives_the_best_so_far(tmp_path: Path) -> None:
    code = """
counts = mw.count([words(200_000) + letters(300_000)], pattern="whitespace")
tok = mw.train(counts, num_merges=2000)
cert = mw.certify(tok, counts, time_limit=3600, progress=ready)
cert.verify(counts)
print("certified")
"""
    done = interrupt(code, tmp_path)
    assert (done.output, done.status) == ("certified\n", 0)
    assert done.cpu_seconds < 30
