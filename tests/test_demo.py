"""The demonstration: quick, and true."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
import tiktoken

import mergewise as mw
from mergewise.demo import PARAGRAPH, VOCAB_SIZES, opticks, paragraph_of, run_demo

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def shown() -> str:
    out = io.StringIO()
    run_demo(out)
    return out.getvalue()


def test_it_begins_with_the_paper(shown: str) -> None:
    assert "greedy   saves 3" in shown
    assert "optimal  saves 4" in shown


def test_the_segmentation_is_the_paragraph(shown: str) -> None:
    start = shown.index("A paragraph of")
    drawn = shown[start : shown.index("The whole text")].split(":\n", 1)[1]
    text = drawn.replace("|", "").replace("\n  ", "\n").strip()
    assert text == paragraph_of(opticks())
    assert text.startswith(PARAGRAPH)


def test_the_table_counts_as_tiktoken_does(shown: str) -> None:
    text = opticks()
    counts = mw.count([text], pattern="gpt2")
    for vocab_size in VOCAB_SIZES:
        trained = mw.train(counts, vocab_size=vocab_size)
        ranks = {trained.token_bytes(i): i for i in range(vocab_size)}
        peer = tiktoken.Encoding("x", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})
        num_tokens = len(peer.encode(text))
        ratio = len(text.encode()) / num_tokens
        assert re.search(rf" {vocab_size:,} +{num_tokens:,} +{ratio:.2f}\n", shown)


def test_the_formats_agree(shown: str) -> None:
    assert shown.count("the ids agree") == 2
    assert "DIFFER" not in shown


def test_the_readme_quotes_it(shown: str) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    quoted = readme.partition("The demo's tokenizer")[2].split("```\n")[1].splitlines()
    assert len(quoted) == 2
    assert all(line in shown for line in quoted)


def test_colours_in_a_terminal(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in shown
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    run_demo(out)
    start = out.getvalue().index("A paragraph of")
    drawn = out.getvalue()[start:].split(":\n", 1)[1]
    backgrounds = re.findall(r"\x1b\[38;5;16;48;5;(\d+)m", drawn)
    assert len(backgrounds) > 50
    assert all(one != next_one for one, next_one in pairwise(backgrounds))
    assert re.sub(r"\x1b\[[\d;]*m", "", drawn).lstrip().startswith(PARAGRAPH)
