"""Input made to kill, stall or flood the process, and forks at the worst moment: nothing does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import interrupt, run_python

import mergewise as mw
from mergewise.errors import InputError

# Forks.


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_children_encode_though_their_parent_was_forked_while_encoding() -> None:
    """No child waits for a lock that a thread of the parent held."""
    code = """
counts = mw.count([words(20_000)])
tok = mw.train(counts, vocab_size=400, special_tokens=['<a>', '<b>'])
text = 'word17 é word289'

def work():
    ids = tok.encode(text)
    allowed = tok.encode('<a>' + text, allowed_special={'<a>'})
    batch = tok.encode_batch([text] * 4, num_threads=2)
    return tok.decode(ids), tok.count_tokens(text), len(allowed), list(batch)

expected = work()
done = threading.Event()

def keep_busy():
    while not done.is_set():
        work()

threads = [threading.Thread(target=keep_busy) for _ in range(4)]
for thread in threads:
    thread.start()
codes = []
for _ in range(60):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if work() == expected else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if codes[-1]:
        break
done.set()
for thread in threads:
    thread.join()
print(sum(code == 0 for code in codes))
"""
    assert run_python(code) == "60\n"


# Regular expressions.


@pytest.mark.parametrize("work", ["count", "count_files", "encode"])
def test_an_expression_that_looks_at_all_of_the_text_at_each_place_is_an_error(
    work: str, tmp_path: Path
) -> None:
    """Each search is linear, and there are as many as letters: days for a few megabytes."""
    expression = r"\w+(?=\s)|."
    text = "ab " * 20 + "a" * 40_000
    path = tmp_path / "text.txt"
    path.write_text(text)
    tokenizer = mw.train(mw.count(["a b"], pattern=expression), num_merges=0)
    calls: dict[str, Callable[[], object]] = {
        "count": lambda: mw.count(["", text], pattern=expression),
        "count_files": lambda: mw.count_files(path, pattern=expression),
        "encode": lambda: tokenizer.encode_batch(["", text]),
    }
    with pytest.raises(InputError, match="takes too long") as raised:
        calls[work]()
    error = raised.value
    assert expression in str(error)
    assert error.offset is not None
    assert 60 <= error.offset < len(text)
    assert (error.document, error.path) == (
        (None, str(path)) if work == "count_files" else (1, None)
    )


@pytest.mark.parametrize("digits", [r"\p{N}{1,3}", r"\p{N}"])
def test_expressions_of_published_tokenizers_cut_long_texts(digits: str) -> None:
    """Those of Llama 3 and Qwen: on many lines, on one, and on a megabyte of spaces."""
    expression = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
        + digits
        + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    line = "It's 12 o'clock, isn't it? Ça va -- 中文 123 e.g. a_b(c); "
    per_line = mw.count([line], pattern=expression)
    for end in ("x", "\n"):
        text = (line + end) * 15_000
        counts = mw.count([text], pattern=expression)
        assert counts.num_symbols == len(text.encode())
        assert counts.num_words >= 15_000 * (per_line.num_words - 1)
    assert mw.count([" " * 500_000], pattern=expression).num_words == 1


# Files that become much larger.


def zstd_of_zeros(num_blocks: int) -> bytes:
    """A frame of blocks that each repeat one byte: 128 kB of zeros in four bytes."""
    header = b"\x28\xb5\x2f\xfd" + bytes([0, 80])  # no size, a window of 1 MB
    block = (1 << 17 << 3) | (1 << 1)
    last = block | 1
    blocks = [(number).to_bytes(3, "little") + b"\0" for number in (block, last)]
    return header + blocks[0] * (num_blocks - 1) + blocks[1]


@pytest.mark.skipif(sys.platform == "win32", reason="nothing says how much memory was used")
def test_zstd_is_decompressed_as_it_is_read(tmp_path: Path) -> None:
    """260 MB of zeros, of which each is a word."""
    (tmp_path / "zeros.zst").write_bytes(zstd_of_zeros(2000))
    code = (
        "import resource\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(mw.count_files('zeros.zst', pattern='(?s:.)').num_words)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    num_words, peak = run_python(code, folder=tmp_path).split()
    assert int(num_words) == 2000 << 17
    assert int(peak) * (1 if sys.platform == "darwin" else 1024) < 50e6


def test_empty_frames_by_the_million_do_not_shut_out_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "empty.zst").write_bytes(bytes.fromhex("28b52ffd 2000 010000") * 1_000_000)
    code = (
        "try:\n"
        "    ready()\n"
        "    mw.count_files(['empty.zst'] * 1000)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = interrupt(code, tmp_path)
    assert (done.output, done.status) == ("interrupted\n", 0)
    assert done.cpu_seconds < 2


def counts_file(words: Iterable[tuple[int, bytes]]) -> bytes:
    """A file of counts without its checksum: of each word, how much it shares with the last."""

    def number(value: int) -> bytes:
        low = b""
        while value > 127:
            low += bytes([value & 127 | 128])
            value >>= 7
        return low + bytes([value])

    rows = [number(shared) + number(len(rest)) + rest + b"\1" for shared, rest in words]
    return b"mwcounts\1\0\0\0" + number(len(rows)) + b"".join(rows)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory")
def test_counts_whose_words_share_all_they_can_do_not_fill_the_memory(tmp_path: Path) -> None:
    """Each word is the one before and a letter more: 300 kB for 1.8 GB of words."""
    (tmp_path / "a.counts").write_bytes(counts_file((i, b"a") for i in range(60_000)))
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))
try:
    mw.WordCounts.from_file('a.counts')
except ValueError as error:
    print(error)
"""
    assert "at most 100 bytes of words" in run_python(code, folder=tmp_path)


def test_counts_of_words_that_share_much_are_read_as_they_were_written(tmp_path: Path) -> None:
    beginning = "a" * 100_000
    counts = mw.count([beginning + chr(i) for i in range(1, 1000)], pattern=None)
    counts.save(tmp_path / "a.counts")
    assert (tmp_path / "a.counts").stat().st_size < 2_000_000
    assert mw.WordCounts.from_file(tmp_path / "a.counts") == counts


# Damaged Parquet.


def test_no_byte_of_a_parquet_file_kills_the_process(tmp_path: Path) -> None:
    """Each byte of the page headers and the footer is damaged in some ways."""
    code = """
from pathlib import Path
import pyarrow as pa, pyarrow.parquet as pq
path = Path('a.parquet')
pq.write_table(pa.table({'text': ['some words', None, 'more']}), path, store_schema=False)
data = path.read_bytes()
kinds = set()
footer = len(data) - 8 - int.from_bytes(data[-8:-4], 'little')
for at in [*range(4, 60), *range(footer, len(data))]:
    for value in (0, 1, 2, 0x7F, 0xFF):
        path.write_bytes(data[:at] + bytes([value]) + data[at + 1:])
        try:
            mw.count_files(path, num_threads=1)
        except Exception as error:
            kinds.add(type(error).__name__)
print(sorted(kinds))
"""
    assert run_python(code, folder=tmp_path) == "['FormatError']\n"


def test_strings_of_parquet_that_are_not_utf8_are_encoded_like_other_bytes(tmp_path: Path) -> None:
    rows = pa.array([b"caf\xe9", None, b"tea"], pa.binary())
    pq.write_table(pa.table({"text": rows.view(pa.string())}), tmp_path / "a.parquet")
    tokenizer = mw.train(mw.count(["tea"]), num_merges=0)
    written = tokenizer.encode_files(tmp_path / "a.parquet", tmp_path / "ids.bin")
    assert written.num_documents == 2
    ids = np.fromfile(tmp_path / "ids.bin", written.dtype).tolist()
    assert ids == [*tokenizer.encode(b"caf\xe9"), *tokenizer.encode("tea")]


# Files that are wrong, beside others.


def test_the_first_wrong_file_is_told_and_ends_the_work(tmp_path: Path) -> None:
    names = ["good", "bad", "worse"]
    for name, end in zip(names, [b"", b"\xff", b"\xfe"], strict=True):
        (tmp_path / name).write_bytes(b"some words " * 100_000 + end)
    good, bad, worse = (tmp_path / name for name in names)
    for _ in range(10):
        with pytest.raises(InputError, match="UTF-8") as raised:
            mw.count_files([good, bad, worse], errors="strict", num_threads=4)
        assert (raised.value.path, raised.value.offset) == (str(bad), 1_100_000)
    started = time.process_time()
    with pytest.raises(InputError, match="UTF-8"):
        mw.count_files([bad, *[good] * 5000], errors="strict", num_threads=4)
    assert time.process_time() - started < 2
