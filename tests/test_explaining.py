"""Greedy training step by step is the algorithm of `formal`, and every state of it is right."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import pytest
from command_line import call
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

import mergewise as mw
from mergewise import formal
from mergewise.explaining.steps import Pair, Place, Step

EXAMPLE = "picked pickled pickles"


def positions(step: Step) -> dict[Pair, tuple[Place, ...]]:
    """Where each pair begins, found by looking at the list."""
    found: dict[Pair, list[Place]] = defaultdict(list)
    for (place, left), (_, right) in zip(step.tokens, step.tokens[1:], strict=False):
        found[left, right].append(place)
    return {pair: tuple(places) for pair, places in found.items()}


@given(texts(max_size=40), st.integers(0, 12))
def test_merges_are_those_of_formal(text: str, num_merges: int) -> None:
    explanation = mw.explain(text, num_merges=num_merges)
    merges = [tuple(map(formal.yield_of, merge)) for merge in formal.greedy(text, num_merges)]
    assert explanation.merges == merges
    trees = formal.apply(formal.fast_greedy(text, num_merges), text)
    names = explanation.run.names
    last = explanation.steps[-1]
    assert [names[number] for _, number in last.tokens] == [formal.yield_of(tree) for tree in trees]


@given(texts("ab", max_size=30), st.integers(0, 8))
def test_every_state_is_right(text: str, num_merges: int) -> None:
    explanation = mw.explain(text, num_merges=num_merges)
    names = explanation.run.names
    for step in explanation.steps:
        assert "".join(names[number] for _, number in step.tokens) == text
        assert dict(step.places) == positions(step)
        for index, entry in enumerate(step.heap[1:], start=1):
            assert step.heap[(index - 1) // 2] <= entry
        # The count of a pair in the heap is never too small (Lemma X).
        counts = formal.pair_counts(tuple(str(number) for _, number in step.tokens))
        for count, left, right in step.heap:
            now = counts.get((str(left), str(right)), 0)
            assert step.counts.get((left, right), 0) == now
            assert step.kind == "replace" or -count >= now


def test_the_paper_s_example() -> None:
    explanation = mw.explain(EXAMPLE, num_merges=5)
    assert explanation.merges == [
        ("c", "k"),
        ("i", "ck"),
        ("p", "ick"),
        (" ", "pick"),
        ("d", " pick"),
    ]
    kinds = [step.kind for step in explanation.steps]
    assert kinds[:6] == ["start", "choose", "replace", "replace", "replace", "push"]
    assert kinds.count("replace") == 3 + 3 + 3 + 2 + 2
    # i·c is on top with its old count when it no longer occurs.
    dropped = explanation.steps[6]
    assert (dropped.kind, dropped.old_count) == ("drop", 3)


def test_every_step_is_drawn(tmp_path: Path) -> None:
    explanation = mw.explain("<&> <&> é語👩 \n\t", num_merges=3)
    paths = explanation.save_svgs(tmp_path / "new" / "folder")
    assert len(paths) == len(explanation.steps)
    for number, path in enumerate(paths):
        root = ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - our own
        assert root[0].text is not None
        assert root[0].text.startswith(f"Step {number}: ")
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        for box in root.iter("{http://www.w3.org/2000/svg}rect"):
            assert float(box.get("x", 0)) + float(box.attrib["width"]) <= width
            assert float(box.get("y", 0)) + float(box.attrib["height"]) <= height
    with pytest.raises(IndexError, match="found 99"):
        explanation.svg(99)


def test_texts_without_pairs_and_many_merges() -> None:
    for text in ("", "a"):
        explanation = mw.explain(text, num_merges=3)
        assert [step.kind for step in explanation.steps] == ["start", "end"]
        assert explanation.html
        assert explanation.svg(0)
    assert "No pair is left." in mw.explain("abab", num_merges=9).text()


def test_the_command_writes_text_pages_drawings_and_json(tmp_path: Path) -> None:
    done = call("explain", EXAMPLE, "--merges", "2")
    assert (done.status, done.errors) == (0, "")
    assert "\x1b" not in done.text
    assert "   1  Merge 1: c·k\n" in done.text
    assert "p i [ck] e d ▁ p i (c) (k) l e d ▁ p i (c) (k) l e s\n" in done.text
    assert all(len(line) <= 80 for line in done.text.splitlines())
    page, drawings = tmp_path / "explain.html", tmp_path / "steps"
    done = call("explain", EXAMPLE, "--merges", "2", "-o", page, "--svg", drawings)
    assert done.text == "13 steps, 2 merges\n"
    assert len(list(drawings.iterdir())) == 13
    assert page.read_text(encoding="utf-8").count('<section class="step"') == 13
    facts = json.loads(call("explain", "abab", "--merges", "1", "--json").text)
    assert facts["merges"] == [["a", "b"]]
    assert [step["tokens"] for step in facts["steps"]][-1] == ["ab", "ab"]


def test_colours_are_for_terminals() -> None:
    coloured = mw.explain("abab", num_merges=1).text(is_coloured=True)
    assert "\x1b[31m(a)\x1b[0m \x1b[31m(b)\x1b[0m" in coloured


def test_what_cannot_be_explained_is_refused() -> None:
    done = call("explain", "ab" * 100, "--merges", "1")
    assert (done.status, done.text) == (1, "")
    assert "found 200 characters, expected 120 at most" in done.errors
    assert call("explain", "abab", "--merges", "-1").status == 2
    with pytest.raises(TypeError, match="expected a str, found bytes"):
        mw.explain(b"abab", num_merges=1)  # type: ignore[arg-type]


def test_texts_are_no_html() -> None:
    html = mw.explain("<script>x</script> <b>", num_merges=4).html
    assert html.count("<script>") == 1
    assert "<b>x" not in html
    assert "&lt;" in html
