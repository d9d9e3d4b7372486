"""What a prompt and a notebook show of values: a short line, and HTML in which texts stay texts."""

from __future__ import annotations

import itertools
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import mergewise as mw

EVIL = '<script>alert("x")</script>'
LONG = "|".join(f"[a-z]{{{n}}}" for n in range(1, 99))
VOID = {"meta", "link", "input", "br"}


def corpus() -> str:
    return " ".join(f"{number} low lower lowest" for number in range(400))


def values(folder: Path) -> dict[str, Any]:
    counts = mw.count([corpus()], pattern=LONG)
    tok = mw.train(counts, num_merges=40, special_tokens=[f"<{n}>" for n in range(20)])
    (folder / "a.txt").write_text(corpus())
    return {
        "counts": counts,
        "tokenizer": tok,
        "certificate": mw.certify(tok, counts, num_steps=5),
        "solution": mw.solve(mw.count(["abaab baaba " * 9]), num_merges=20, node_limit=1),
        "curvature": mw.curvature("abaabbaabaab", num_merges=3),
        "vocabulary": mw.optimize_vocabulary(counts, num_tokens=50, num_steps=5),
        "report": mw.report(tok, counts, time_limit=0, compare=tok),
        "measured": mw.report(tok, counts, time_limit=0).subjects[0],
        "explanation": mw.explain("picked pickled " * 8, num_merges=20),
        "files": tok.encode_files(folder / "a.txt", folder / "a.npy", shards=3),
        "documents": mw.open_tokens(folder / "a.json"),
        "session": tok.session(),
        "stream": tok.stream_encoder(),
        "decoder": tok.stream_decoder(),
        "all of a tokenizer": tok.vocabulary,
    }


def test_reprs_are_one_short_line(tmp_path: Path) -> None:
    for name, value in values(tmp_path).items():
        line = repr(value).replace(str(tmp_path), "")
        assert "\n" not in line, name
        assert len(line) <= 150, (name, line)
        assert type(value).__name__ in line, name


def test_a_pattern_has_the_name_of_its_model() -> None:
    for name in ("gpt2", "llama3", "qwen2"):
        counts = mw.count(["low low"], pattern=name)
        assert f"pattern='{name}'" in repr(counts)
        assert f"pattern='{name}'" in repr(mw.train(counts, num_merges=1))


class Elements(HTMLParser):
    """The elements of a fragment, its texts, and whether each is closed."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(fragment)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_a_tokenizer_shows_its_tokens_in_colours() -> None:
    counts = mw.count(["the quick brown fox " * 9], pattern="gpt2")
    tok = mw.train(counts, num_merges=16, special_tokens=[EVIL])
    shown = Elements(tok._repr_html_())
    assert not shown.named("script")
    assert EVIL in shown.texts
    tokens = shown.named("bdi")
    backgrounds = [attributes["style"] for attributes in tokens]
    assert len(tokens) == len(tok.encode(mw.tokenizer.SAMPLE))
    assert all(one != other for one, other in itertools.pairwise(backgrounds))
    assert "▁quick" in shown.texts


def test_a_tokenizer_without_the_letters_of_the_sample_shows_its_facts() -> None:
    tok = mw.train(mw.count(["abab"], pattern=None), num_merges=1, alphabet="chars")
    shown = Elements(tok._repr_html_())
    assert "Tokenizer" in shown.texts
    assert not shown.named("bdi")


def test_a_certificate_shows_what_it_proves() -> None:
    counts = mw.count(["low lower lowest " * 9], pattern=r"<b>|\w+|\W+")
    cert = mw.certify(mw.train(counts, num_merges=5), counts, num_steps=50)
    shown = Elements(cert._repr_html_())
    assert cert.claim in shown.texts
    assert any("<b>" in text for text in shown.texts)
    assert not any(name == "b" and "<" in str(attributes) for name, attributes in shown.found)


@pytest.mark.parametrize("kind", ["report", "explanation"])
def test_pages_stand_in_a_frame_that_holds_them_whole(kind: str) -> None:
    counts = mw.count([f"low lower {EVIL}"], pattern=None)
    made: Any = (
        mw.report(mw.train(counts, num_merges=3), counts, name=EVIL, time_limit=0)
        if kind == "report"
        else mw.explain(EVIL, num_merges=3)
    )
    (frame,) = Elements(made._repr_html_()).named("iframe")
    assert frame["srcdoc"] == made.html
    assert frame["sandbox"] == "allow-scripts"
