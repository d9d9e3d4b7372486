"""Word counts: sums, pruning, the top; counts in files."""

from __future__ import annotations

import pickle
import resource
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import run_python
from test_patterns import LANGUAGES

import mergewise as mw
from mergewise import _core
from mergewise.demo import opticks
from mergewise.errors import FormatError


def words_of(counts: mw.WordCounts) -> Counter[bytes]:
    return Counter(dict(counts.top(counts.num_unique)))


# Sums, pruning, the top.


def small_counts() -> st.SearchStrategy[list[str]]:
    return st.lists(st.text("ab é\0", max_size=20), max_size=12)


@given(small_counts(), small_counts())
def test_counts_add(one: list[str], two: list[str]) -> None:
    total = mw.count(one, pattern="gpt2") + mw.count(two, pattern="gpt2")
    assert total == mw.count(one + two, pattern="gpt2")
    expected = words_of(mw.count(one, pattern="gpt2")) + words_of(mw.count(two, pattern="gpt2"))
    assert words_of(total) == expected


@given(small_counts())
def test_the_sizes_are_those_of_the_words(texts: list[str]) -> None:
    counts = mw.count(texts, pattern="gpt2")
    words = words_of(counts)
    assert counts.num_words == words.total()
    assert counts.num_unique == len(counts) == len(words)
    assert counts.num_symbols == sum(len(text.encode()) for text in texts)
    assert counts.dropped_symbols == 0


@given(small_counts(), st.integers(0, 30))
def test_the_top_is_sorted_by_count_then_bytes(texts: list[str], size: int) -> None:
    counts = mw.count(texts, pattern=None)
    expected = Counter(text.encode() for text in texts if text).items()
    assert counts.top(size) == sorted(expected, key=lambda item: (-item[1], item[0]))[:size]


@given(small_counts(), st.integers(0, 4), st.integers(0, 4))
def test_pruning_drops_rare_words_and_says_how_much(
    texts: list[str], first: int, second: int
) -> None:
    counts = mw.count(texts, pattern=None)
    pruned = counts.prune(first)
    kept = {word: n for word, n in words_of(counts).items() if n >= first}
    assert words_of(pruned) == kept
    assert pruned.num_symbols + pruned.dropped_symbols == counts.num_symbols
    twice = pruned.prune(second)
    assert twice == counts.prune(max(first, second))
    assert (twice + pruned).dropped_symbols == twice.dropped_symbols + pruned.dropped_symbols


@given(small_counts(), st.sampled_from([None, "gpt2"]))
def test_counts_of_words_that_were_counted_elsewhere(texts: list[str], pattern: str | None) -> None:
    counts = mw.count(texts, pattern=pattern, normalize="nfc")
    again = mw.WordCounts.from_words(words_of(counts), pattern=pattern, normalize="nfc")
    assert again == counts
    by_text = {word.decode(): number for word, number in words_of(counts).items()}
    assert mw.WordCounts.from_words(by_text, pattern=pattern, normalize="nfc") == counts


def test_words_that_cannot_be_counts_are_refused() -> None:
    for number, error in ((-1, ValueError), (2**63, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="a count must be"):
            mw.WordCounts.from_words({"a": number}, pattern=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pattern"):
        mw.WordCounts.from_words({"a": 1}, pattern="(")
    with pytest.raises(TypeError, match="expected a dict of words, found list"):
        mw.WordCounts.from_words([("a", 1)], pattern=None)  # type: ignore[arg-type]
    assert mw.WordCounts.from_words({"a": 0, "": 3}, pattern=None) == mw.count([], pattern=None)


def test_wrong_numbers_are_refused() -> None:
    counts = mw.count(["a"])
    for call in (counts.top, counts.prune):
        with pytest.raises((OverflowError, ValueError)):
            call(-1)
        with pytest.raises(TypeError):
            call("1")  # type: ignore[arg-type]


def test_counts_of_other_settings_do_not_add() -> None:
    gpt2 = mw.count(["a"], pattern="gpt2")
    for other in (
        mw.count(["a"], pattern="o200k"),
        mw.count(["a"], pattern=None),
        mw.count(["a"], pattern="gpt2", normalize="nfc"),
    ):
        assert gpt2 != other
        with pytest.raises(ValueError, match=r"(?s)gpt2"):
            gpt2 + other
    with pytest.raises(TypeError):
        gpt2 + 1  # type: ignore[operator]


def test_counts_are_values() -> None:
    counts = mw.count(["a b"], pattern="gpt2")
    before = words_of(counts)
    assert counts + counts != counts
    assert counts.prune(2) != counts
    assert words_of(counts) == before
    with pytest.raises(TypeError):
        hash(counts)
    assert repr(counts) == "<WordCounts: 2 different of 2 words, pattern='gpt2'>"


def test_long_and_short_words_near_the_limit_of_a_key() -> None:
    """The table keeps words of up to 15 bytes in another way than longer ones."""
    words = [letter * size + end for size in range(40) for letter in "ab\0" for end in ("", "\0")]
    texts = [word for word in words for _ in range(len(word) + 1)]
    assert words_of(mw.count(texts, pattern=None)) == Counter(t.encode() for t in texts if t)


def test_many_unique_words() -> None:
    texts = [f"{i:x}" * (1 + i % 7) for i in range(200_000)]
    assert words_of(mw.count(texts, pattern=None, num_threads=2)) == Counter(
        text.encode() for text in texts
    )


def test_no_count_wraps_around() -> None:
    """What does not fit into 64 bits is refused where it arises."""

    def counts(*words: tuple[str, int]) -> mw.WordCounts:
        return mw.WordCounts(_core.WordCounts(words))

    large = counts(("a", 2**64 - 1))
    assert large.top(1) == [(b"a", 2**64 - 1)]
    assert large.num_words == large.num_symbols == 2**64 - 1
    assert large.prune(2) == large
    makers: list[Callable[[], mw.WordCounts]] = [
        lambda: large + counts(("a", 1)),
        lambda: large + counts(("b", 1)),
        lambda: counts(("a", 2**63), ("b", 2**63)),
        lambda: counts(("a", 2**63), ("a", 2**63)),
        lambda: counts(("ab", 2**63)),
    ]
    for make in makers:
        with pytest.raises((OverflowError, ValueError)):
            print(make().num_words, make().num_symbols)  # noqa: T201 - either may refuse


# Counts in files.


@given(small_counts(), st.sampled_from([None, "gpt2", r"\p{L}+é"]), st.integers(0, 3))
def test_a_file_keeps_everything(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    pattern: str | None,
    min_count: int,
) -> None:
    path = tmp_path_factory.mktemp("counts") / "a.counts"
    counts = mw.count([*texts, b"\xff\x00"], pattern=pattern, normalize="nfkc").prune(min_count)
    counts.save(path)
    loaded = mw.WordCounts.from_file(path)
    assert loaded == counts
    assert (loaded.pattern, loaded.normalize) == (pattern, "nfkc")
    assert loaded.dropped_symbols == counts.dropped_symbols
    assert words_of(loaded) == words_of(counts)
    assert pickle.loads(pickle.dumps(counts)) == counts  # noqa: S301


def test_equal_counts_give_equal_files(tmp_path: Path) -> None:
    texts = [*opticks().split("\n\n"), *LANGUAGES.values()]
    text_files = [tmp_path / f"{number}.txt" for number, _ in enumerate(texts)]
    for path, text in zip(text_files, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    ways = [
        mw.count(texts, num_threads=1),
        mw.count(texts[::-1], num_threads=16),
        mw.count(texts[:9]) + mw.count(texts[9:]),
        mw.count_files(text_files, num_threads=2),
        pickle.loads(pickle.dumps(mw.count(texts))),  # noqa: S301
        mw.count(texts).prune(1),
    ]
    files = []
    for index, counts in enumerate(ways):
        counts.save(tmp_path / f"{index}.counts")
        files.append((tmp_path / f"{index}.counts").read_bytes())
    assert all(file == files[0] for file in files)
    mw.WordCounts.from_file(tmp_path / "0.counts").save(tmp_path / "again.counts")
    assert (tmp_path / "again.counts").read_bytes() == files[0]


def test_every_damage_of_a_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.counts"
    mw.count(["to be or not to be, that is the question"], pattern="gpt2").prune(1).save(path)
    data = path.read_bytes()
    broken = [data[:size] for size in range(len(data))]
    broken += [data + b"\0", b"", data + data]
    for place in range(len(data)):
        for change in (0x01, 0x80, 0xFF, 0x10):
            broken.append(data[:place] + bytes([data[place] ^ change]) + data[place + 1 :])
    for wrong in broken:
        path.write_bytes(wrong)
        with pytest.raises(FormatError, match=r"a\.counts"):
            mw.WordCounts.from_file(path)


@given(st.binary(max_size=60), st.booleans())
def test_any_other_bytes_are_no_file_of_counts(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    begins_well: bool,  # noqa: FBT001
) -> None:
    path = tmp_path_factory.mktemp("counts") / "a.counts"
    path.write_bytes((b"mwcounts\x01" if begins_well else b"") + data)
    with pytest.raises(FormatError):
        mw.WordCounts.from_file(path)


def test_a_number_in_a_file_does_not_decide_how_much_memory_is_taken(tmp_path: Path) -> None:
    huge = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
    for data in (huge, b"\x00\x00\x00" + huge, b"\x00\x00\x00\x01\x00" + huge):
        (tmp_path / "a.counts").write_bytes(b"mwcounts\x01" + data)
        with pytest.raises(FormatError):
            mw.WordCounts.from_file(tmp_path / "a.counts")


def test_files_of_counts_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        mw.WordCounts.from_file(tmp_path / "none.counts")
    assert caught.value.filename == str(tmp_path / "none.counts")
    with pytest.raises(IsADirectoryError):
        mw.WordCounts.from_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        mw.count(["a"]).save(tmp_path / "none" / "a.counts")
    with pytest.raises(OSError, match=tmp_path.name):
        mw.count(["a"]).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


SAVE_LIMITED = """
import resource
counts = mw.count([f"word{i}" for i in range(100_000)], pattern=None)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    counts.save(sys.argv[1])
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit for files")
@pytest.mark.parametrize("limit", [0, 100, 10_000, 100_000])
def test_a_full_disk_leaves_the_earlier_file(limit: int, tmp_path: Path) -> None:
    path = tmp_path / "a.counts"
    path.write_bytes(b"earlier")
    assert "a.counts" in run_python(SAVE_LIMITED, str(path), str(limit))
    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_a_saved_file_has_the_usual_permissions(tmp_path: Path) -> None:
    mw.count(["a"]).save(tmp_path / "a.counts")
    (tmp_path / "plain").write_text("a")
    assert (tmp_path / "a.counts").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_empty_corpus_has_no_words(tmp_path: Path) -> None:
    for texts in ([], [""], ["", b""]):
        counts = mw.count(texts)  # type: ignore[arg-type]
        assert (counts.num_words, counts.num_symbols, counts.top(5)) == (0, 0, [])
        counts.save(tmp_path / "a.counts")
        assert mw.WordCounts.from_file(tmp_path / "a.counts") == counts
