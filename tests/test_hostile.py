"""Input made to kill, stall or flood the process, and forks at the worst moment: nothing does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import run_python

import mergewise as mw

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
    with pytest.raises(mw.InputError, match="takes too long") as raised:
        calls[work]()
    error = raised.value
    assert expression in str(error)
    assert error.offset is not None
    assert 60 <= error.offset < len(text)
    assert (error.document, error.path) == ((None, str(path)) if work == "count_files" else (1, None))


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
