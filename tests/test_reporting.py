"""Reports: the numbers are right, the band is a bound, and the page needs nothing but itself."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_line import call, low_tokenizer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import weighted_words

import mergewise as mw
from mergewise import _core
from mergewise.demo import opticks
from mergewise.reporting import band as bands
from mergewise.reporting.band import Band
from mergewise.reporting.browser import browser_tokenizer, symbols_of
from mergewise.reporting.expressions import Unsupported, browser_expression
from mergewise.reporting.measuring import measure
from mergewise.vocabulary import Vocabulary

TEXT = opticks()[:60_000]
# Small corpora have fewer merges than are asked for.
pytestmark = pytest.mark.filterwarnings("ignore:stopped after")


@pytest.fixture(scope="module")
def counts() -> mw.WordCounts:
    return mw.count([TEXT], pattern="gpt2")


@pytest.fixture(scope="module")
def tokenizer(counts: mw.WordCounts) -> mw.Tokenizer:
    return mw.train(counts, num_merges=300, special_tokens=["<|end|>"])


def counts_of(words: dict[str, int]) -> mw.WordCounts:
    return mw.WordCounts(_core.WordCounts(list(words.items()), pattern="gpt2"))


def test_the_curve_is_that_of_shorter_lists(tokenizer: mw.Tokenizer, counts: mw.WordCounts) -> None:
    measured = measure("t", tokenizer, {"c": counts})
    assert measured.no_curve is None
    assert measured.curve[0] == counts.num_symbols
    for size in (1, 2, 17, 299, 300):
        assert measured.curve[size] == tokenizer.core.with_first_merges(size).num_tokens(
            counts.core
        )
    # Greedy counts pairs without overlap, so a gain is the count that it was chosen for.
    assert measured.gains == sorted(measured.gains, reverse=True)


@settings(max_examples=30)
@given(weighted_words(max_words=6, max_size=9), st.integers(1, 6))
def test_gains_of_any_corpus(words: dict[str, int], num_merges: int) -> None:
    corpus = counts_of(words)
    trained = mw.train(counts_of({"abcab": 3, "bca": 2}), num_merges=num_merges, min_frequency=1)
    measured = measure("t", trained, {"c": corpus})
    for size in range(len(trained.merges) + 1):
        assert measured.curve[size] == trained.core.with_first_merges(size).num_tokens(corpus.core)


def test_parts_add_up(tokenizer: mw.Tokenizer) -> None:
    halves = {"one": TEXT[:20_000], "two": TEXT[20_000:]}
    parts = {name: mw.count([text], pattern="gpt2") for name, text in halves.items()}
    measured = measure("t", tokenizer, parts)
    for part in measured.parts:
        assert part.num_bytes == len(halves[part.name].encode())
        assert part.num_tokens == tokenizer.count_tokens(halves[part.name])
    assert measured.total.num_tokens == sum(part.num_tokens for part in measured.parts)
    assert measured.total.num_words == sum(part.num_words for part in measured.parts)
    ids = [i for text in halves.values() for i in tokenizer.encode(text)]
    assert measured.uses == {i: ids.count(i) for i in set(ids)}


def test_tokens_without_use() -> None:
    tokens = {bytes([byte]): byte for byte in range(256)}
    tokens |= {b"ab": 256, b"bc": 257, b"abc": 258, b"abcd": 259}
    # abc is never made: in "abc", a and b merge first.
    merges = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b"ab", b"c"), (b"abc", b"d")]
    vocabulary = Vocabulary(tokens=tokens, merges=merges[:3], pattern="gpt2")
    measured = measure("t", mw.Tokenizer(vocabulary), {"c": counts_of({"abab": 2})})
    assert measured.unreachable == [258, 259]
    assert measured.unused == [i for i in range(258) if i != 256]
    assert measured.stepping_stones == set()
    chain = Vocabulary(tokens=tokens, merges=[merges[0], merges[3], merges[4]], pattern="gpt2")
    measured = measure("t", mw.Tokenizer(chain), {"c": counts_of({"abcd": 2})})
    assert measured.stepping_stones == {256, 258}
    assert 256 in measured.unused


def test_a_prefix_space_comes_once() -> None:
    tokens = {bytes([byte]): byte for byte in range(256)} | {b" a": 256}
    vocabulary = Vocabulary(
        tokens=tokens, merges=[(b" ", b"a")], pattern="gpt2", prefix_space="unless_space"
    )
    tokenizer = mw.Tokenizer(vocabulary)
    corpus = mw.count(["xy'll"], pattern="gpt2")
    # The words are xy and 'll; a space before each would be one too many.
    assert measure("t", tokenizer, {"c": corpus}).total.num_tokens == len("xy'll")


def test_lists_that_have_no_curve_say_so() -> None:
    tokens = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257}
    merges = [(b"ab", b"c"), (b"a", b"b")]
    tokenizer = mw.Tokenizer(Vocabulary(tokens=tokens, merges=merges, pattern="gpt2"))
    made = mw.report(tokenizer, counts_of({"abc": 2}))
    assert made.subjects[0].no_curve == "some merges come before those that make their parts"
    assert made.bands == ("some merges come before those that make their parts",)
    assert "<bdi>tokenizer</bdi> has no curve: some merges come before" in made.html


@settings(max_examples=30)
@given(weighted_words(max_words=5), st.integers(1, 4), st.integers(1, 4))
def test_a_proof_holds_for_other_numbers_of_merges(
    words: dict[str, int], searched: int, other: int
) -> None:
    corpus = counts_of(words)
    trained = mw.train(corpus, num_merges=searched, min_frequency=1)
    proof = mw.certify(trained, corpus, num_steps=30)
    best = mw.solve(corpus, num_merges=other)
    assert best.status == "optimal"
    assert replace(proof, num_merges=other).proved(corpus) >= best.utility


@settings(max_examples=30)
@given(weighted_words(max_words=8), st.integers(1, 3), st.integers(1, 4))
@example({"c": 5, "ab": 4}, 1, 1)  # the merge makes a word that no proof speaks of
def test_the_band_is_a_bound_with_few_words_searched(
    words: dict[str, int], num_merges: int, most_words: int
) -> None:
    corpus = counts_of(words)
    trained = mw.train(corpus, num_merges=num_merges, min_frequency=1)
    if len(trained.merges) < num_merges:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "WORDS_PER_SECOND", most_words / 0.02)
        made = mw.report(trained, corpus, time_limit=0.02)
    (band,) = made.bands
    if isinstance(band, str):
        assert band == "no word is frequent enough for proofs in so short a time"
        return
    for size, least in zip(band.sizes, band.least_tokens, strict=True):
        best = mw.solve(corpus, num_merges=size)
        assert least <= corpus.num_symbols - best.utility


def test_the_band_lies_below_the_curve(tokenizer: mw.Tokenizer, counts: mw.WordCounts) -> None:
    made = mw.report(tokenizer, counts, time_limit=1)
    (band,) = made.bands
    assert isinstance(band, Band)
    assert band.certified == (64, 300)
    assert band.share == 1.0
    assert list(band.least_tokens) == sorted(band.least_tokens, reverse=True)
    curve = made.subjects[0].curve
    for size, least in zip(band.sizes, band.least_tokens, strict=True):
        assert 0 < least <= curve[size]


class References(HTMLParser):
    """Collects whatever a page could load, and its texts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.found += [value or "" for name, value in attrs if name in {"src", "href", "action"}]


def test_pages_need_no_network(tokenizer: mw.Tokenizer, counts: mw.WordCounts) -> None:
    made = mw.report(tokenizer, counts, compare=tokenizer, time_limit=0)
    for html in (made.html, mw.explain("abab", num_merges=1).html):
        page = References()
        page.feed(html)
        assert page.found == ["data:,"]
        assert not {"img", "iframe", "object", "embed"} & set(page.tags)
        styles = "".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
        assert "url(" not in styles
        assert "@import" not in styles
        assert "default-src 'none'" in html


def test_names_and_tokens_are_no_html() -> None:
    evil = "<script>alert(1)</script>"
    corpus = mw.count([evil * 9], pattern="whitespace")
    tokenizer = mw.train(corpus, num_merges=30, special_tokens=["</script>"])
    html = mw.report(tokenizer, {evil: corpus}, name=evil, time_limit=0).html
    page = References()
    page.feed(html)
    # Two scripts, and the data of one tokenizer.
    assert page.tags.count("script") == 3
    assert evil not in html


def test_a_large_vocabulary_travels_small() -> None:
    tokens = {bytes([byte]): byte for byte in range(256)}
    merges: list[tuple[bytes, bytes]] = []
    strings = [bytes([byte]) for byte in range(97, 123)]
    for left in strings * 40:
        for right in strings:
            if len(merges) < 32_000 and left + right not in tokens:
                merges.append((left, right))
                tokens[left + right] = len(tokens)
        strings.append(left + strings[len(merges) % 26])
    tokenizer = mw.Tokenizer(Vocabulary(tokens=tokens, merges=merges, pattern="cl100k"))
    data = browser_tokenizer(tokenizer, {})
    assert len(json.dumps(data)) < 20 * len(merges) + 100_000


def test_an_end_of_words_that_merges_makes_no_symbol_twice() -> None:
    merges = [(b"l", b"o"), (b"w", b"</w>"), (b"lo", b"w</w>")]
    strings = [b"l", b"o", b"w", b"</w>", b"lo", b"w</w>", b"low</w>"]
    tokens = {string: token_id for token_id, string in enumerate(strings)}
    vocabulary = Vocabulary(tokens=tokens, merges=merges, alphabet="chars", end_of_word=b"</w>")
    assert sorted(symbols_of(mw.Tokenizer(vocabulary))) == sorted(strings[:4])


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"(\w)\1", "has no equivalent"),
        (r"a\Kb", "has no equivalent"),
        (r"\Ga", "has no equivalent"),
        (r"(?U:a+)", "has no equivalent"),
        (r"(?(1)a|b)", "has no equivalent"),
    ],
)
def test_what_a_browser_cannot_say_is_said(pattern: str, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        browser_expression(pattern)
    corpus = mw.count(["aab"], pattern=pattern)
    html = mw.report(mw.train(corpus, num_merges=0), corpus, time_limit=0).html
    assert "A browser cannot cut texts as this tokenizer does" in html
    assert 'class="view' not in html


def test_an_empty_corpus_and_no_merges() -> None:
    empty = mw.count([], pattern="gpt2")
    tokenizer = mw.train(mw.count(["abab"], pattern="gpt2"), num_merges=1)
    made = mw.report(tokenizer, empty, time_limit=1)
    assert made.subjects[0].total.num_tokens == 0
    assert made.bands == ("no word is frequent enough for proofs in so short a time",)
    none = mw.train(empty, num_merges=0)
    assert "has no curve: there are no merges" in mw.report(none, empty).html
    with pytest.raises(ValueError, match="at least one part"):
        mw.report(tokenizer, {})
    with pytest.raises(TypeError, match="expected WordCounts, found str"):
        mw.report(tokenizer, {"a": "text"})  # type: ignore[dict-item]


def test_progress_of_files_is_one_bar(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    for name in "ab":
        (tmp_path / name).write_text("low " * 1000)
    tokenizer = mw.train(mw.count(["abab"], pattern="gpt2"), num_merges=1)
    mw.report_files(
        tokenizer, tmp_path, time_limit=0, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (8000, 8000)
    assert {total for _, total in seen} == {8000}
    assert seen == sorted(seen)


def test_the_command(tmp_path: Path) -> None:
    one, two, page = tmp_path / "one.txt", tmp_path / "two.txt", tmp_path / "report.html"
    one.write_text("low lower slow " * 20)
    two.write_text("the lowest low\n" * 30)
    tokenizer = low_tokenizer(tmp_path)
    done = call("report", tokenizer, one, two, "-o", page, "-q", "--time-limit", "0.2")
    assert (done.status, done.errors) == (0, "")
    assert re.match(r"low\.json: \d+ tokens, \d\.\d{3} bytes per token, within ", done.text)
    html = page.read_text(encoding="utf-8")
    assert "one.txt" in html
    assert "two.txt" in html
    assert str(tmp_path) not in html
    facts = json.loads(
        call("report", tokenizer, one, "-o", page, "--no-certify", "--json", "-q").text
    )
    (first,) = facts["tokenizers"]
    assert (first["bytes"], first["tokens_bound"], first["excess"]) == (300, None, None)
    assert first["tokens"] == mw.Tokenizer.from_file(tokenizer).count_tokens(one.read_text())


def test_the_command_compares(tmp_path: Path) -> None:
    corpus, page, other = tmp_path / "c.txt", tmp_path / "r.html", tmp_path / "other.json"
    corpus.write_text("low lower slow " * 20)
    mw.train(mw.count_files([corpus], pattern="whitespace"), num_merges=5).save(other)
    options = "-o", page, "-q", "--no-certify"
    done = call("report", low_tokenizer(tmp_path), corpus, "--compare", other, *options)
    assert done.status == 0
    assert [line.split(":")[0] for line in done.text.splitlines()[:2]] == ["low.json", "other.json"]
    assert "In common" in page.read_text(encoding="utf-8")


def test_the_command_takes_counts(tmp_path: Path) -> None:
    counts, page = tmp_path / "c.counts", tmp_path / "r.html"
    mw.count(["low lower"], pattern="gpt2").save(counts)
    tokenizer = low_tokenizer(tmp_path)
    assert call("report", tokenizer, counts, "-o", page, "--no-certify", "-q").status == 0
    mw.count(["low lower"], pattern="cl100k").save(counts)
    done = call("report", tokenizer, counts, "-o", page, "--no-certify", "-q")
    assert done.status == 1
    assert "hint: count with those of the tokenizer" in done.errors
    done = call("report", tokenizer, counts, "other.txt", "-o", page, "-q")
    assert "texts and counts cannot be mixed" in done.errors
    assert not (tmp_path / "missing").exists()
    assert call("report", tokenizer, tmp_path / "missing", "-o", page, "-q").status == 1
