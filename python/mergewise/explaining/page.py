"""The steps as a page: forward and back, and on paper one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from mergewise.explaining import words
from mergewise.explaining.steps import Entry, Greedy, Step
from mergewise.pages import code, isolated, page, tag

# The elements of positions that stayed, that a pair gained, and that it lost.
TAGS = {"": "span", "+": "ins", "−": "del"}
# What a button does, its key, its icon in a square of 16, and its name.
KEYS = (
    ("first", "Home", "M3 3h2v10H3zM13 3v10L6 8z", "to the start"),
    ("merge-back", "Page Up", "M8 3v10L2 8zM14 3v10L8 8z", "to the merge before"),
    ("back", "←", "M11 3v10L4 8z", "one step back"),
    ("forward", "→", "M5 3v10l7-5z", "one step forward"),
    ("merge-forward", "Page Down", "M2 3v10l6-5zM8 3v10l6-5z", "to the next merge"),
    ("last", "End", "M11 3h2v10h-2zM3 3v10l7-5z", "to the end"),
)


def explain_page(run: Greedy, steps: Sequence[Step]) -> str:
    """The page of all steps."""
    sections = "\n".join(section(run, n, step, len(steps)) for n, step in enumerate(steps))
    times = "once" if len(run.merges) == 1 else f"{len(run.merges)} times"
    body = f"""\
<header>
<h1>How greedy training works</h1>
<p>{code(run.text)}, merged {times} by the paper's Algorithm 2: a linked list of tokens,
the positions of every pair, and a heap of pairs. Every step is a state of all three, with what
changed marked.</p>
</header>
{controls(len(steps))}
<main id="steps">
{sections}
</main>
{LEGEND}
<footer>Made by mergewise. The algorithm is that of <cite>A Formal Perspective on Byte-Pair
Encoding</cite>, with the correction that the heap keeps every pair and counts the one on top
again.</footer>"""
    title = f"Greedy merges of {run.text}"
    return page(title, body, "explaining", css="explain.css", scripts=["explain.js"])


def controls(num_steps: int) -> str:
    """Buttons, a slider, and which keys do the same."""
    buttons = "".join(
        tag(
            "button",
            tag("svg", tag("path", d=icon), viewBox="0 0 16 16", aria_hidden="true"),
            type="button",
            data_go=name,
            aria_label=text,
            title=f"{text} ({key})",
        )
        for name, key, icon, text in KEYS
    )
    return f"""\
<nav class="controls card no-print hidden" aria-label="Steps">
<div class="buttons">{buttons}</div>
<label class="slider"><span id="where">step 0 of {num_steps - 1}</span>
<input id="slider" type="range" min="0" max="{num_steps - 1}" value="0" step="1"></label>
<p class="soft small">Keys: ← → a step, Page Up and Page Down a merge, Home and End.</p>
</nav>"""


LEGEND = """\
<p class="legend soft small"><span class="node next">will merge</span>
<span class="node new">just made</span> <ins>+ added</ins> <del>− removed</del>
<span class="entry stale">count out of date</span></p>"""


def section(run: Greedy, number: int, step: Step, num_steps: int) -> str:
    """One step."""
    return f"""\
<section class="step" data-kind="{step.kind}" aria-labelledby="title-{number}">
<h2 id="title-{number}"><span class="number">{number}<span class="of">/{num_steps - 1}</span></span>
{escape(words.title_of(run, step))}</h2>
<p class="sentence">{escape(words.sentence_of(run, step))}</p>
<h3>The linked list</h3>
<ol class="list">{linked_list(run, step)}</ol>
<div class="columns">
<div><h3>The heap</h3>{heap(run, step)}</div>
<div><h3>The positions of each pair</h3>{positions(run, step)}</div>
<div><h3>The merges</h3>{merges(run, step)}</div>
</div>
</section>"""


def linked_list(run: Greedy, step: Step) -> str:
    """The tokens in order, each with the place where it begins."""
    marks = node_marks(step)
    return "".join(
        tag(
            "li",
            tag("bdi", escape(words.name_of(run, number)), class_="text"),
            tag("span", str(place), class_="place"),
            class_=" ".join(["node", *marks.get(place, [])]),
        )
        for place, number in step.tokens
    )


def node_marks(step: Step) -> dict[int, list[str]]:
    """Which nodes were just made, and which will merge: with the one behind."""
    following = dict(pairwise(place for place, _ in step.tokens))
    marks: dict[int, list[str]] = {}
    if step.kind == "replace" and step.place is not None:
        marks[step.place] = ["new"]
    for place in step.waiting:
        marks.setdefault(place, []).extend(["next", "first"])
        marks.setdefault(following[place], []).append("next")
    return marks


def levels(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """The heap's array in levels: 1, 2, 4, ... entries."""
    start, width = 0, 1
    while start < len(entries):
        yield entries[start : start + width]
        start, width = start + width, 2 * width


def heap(run: Greedy, step: Step) -> str:
    """The heap level by level, and what left it."""
    rows = "".join(
        tag("li", *(entry(run, step, one) for one in level)) for level in levels(step.heap)
    )
    names = ((-one[0], isolated(words.pair_name(run, one[1:]))) for one in step.popped)
    popped = "".join(tag("del", f"− {count} {name}") for count, name in names)
    left = tag("p", popped, class_="popped") if popped else ""
    return (tag("ol", rows, class_="heap") if rows else tag("p", "empty", class_="soft")) + left


def entry(run: Greedy, step: Step, one: Entry) -> str:
    """An entry of the heap: its count and its pair."""
    state = words.state_of(step, one)
    text = f"<b>{-one[0]}</b> {isolated(words.pair_name(run, one[1:]))}"
    note = tag("i", f"now {step.counts.get(one[1:], 0)}") if state == "stale" else ""
    return tag("span", text, note, class_=f"entry {state}".rstrip())


def positions(run: Greedy, step: Step) -> str:
    """Where each pair begins; changed pairs first."""
    rows = ""
    for pair in words.pairs_in_order(step):
        signed = words.signed_places(step, pair)
        cells = [tag(TAGS[sign], f"{sign}{place}") for sign, place in signed]
        rows += tag("dt", isolated(words.pair_name(run, pair))) + tag("dd", *cells)
    return tag("dl", rows, class_="positions") if rows else tag("p", "none", class_="soft")


def merges(run: Greedy, step: Step) -> str:
    """The merges so far, and how often each was made."""
    rows = "".join(
        tag(
            "li",
            f"{isolated(words.pair_name(run, pair))} → {isolated(words.product_name(run, pair))}",
            tag("span", f" ×{gain}", class_="soft"),
        )
        for pair, gain in list(zip(run.merges, run.gains, strict=True))[: step.num_merges]
    )
    return tag("ol", rows, class_="merges") if rows else tag("p", "none yet", class_="soft")
