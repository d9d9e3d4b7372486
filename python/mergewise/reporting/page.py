"""The report as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from mergewise.pages import code, isolated, page, table, tag
from mergewise.reporting.band import Band
from mergewise.reporting.browser import browser_tokenizer
from mergewise.reporting.charts import Bars, Words, bars_chart
from mergewise.reporting.compression import compression
from mergewise.reporting.measuring import Measured, Part
from mergewise.reporting.sides import difference, headings, legend, lettered, panels

NUM_MERGES = 15
NUM_LISTED = 300
NUM_PARTS = 40
# Up to here each length has a bar of its own.
LAST_LENGTH = 20
SAMPLES = {
    "English": "The quick brown fox doesn't jump over 1,234 lazy dogs.",
    "code": "def utility(merges, text):\n    return len(text) - len(apply(merges, text))\n",
    "Chinese": "字节对编码把最常见的相邻符号合并成一个新符号。",
    "Arabic": "ترميز أزواج البايتات يدمج أكثر الرموز المتجاورة تكرارًا.",
    "emoji": "naïve café 👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301",
}


def report_page(subjects: Sequence[Measured], bands: Sequence[Band | str]) -> str:
    """The page of one tokenizer, or of several side by side.

    Args:
        subjects: the tokenizers, measured.
        bands: for each, what is proved, or why nothing is.
    """
    names = joined([subject.name for subject in subjects])
    corpus = ", ".join(part.name for part in subjects[0].parts[:4])
    more = len(subjects[0].parts) - 4
    total = subjects[0].total
    body = f"""\
<header>
<h1>{escape(names)}</h1>
<p class="soft">on {isolated(corpus)}{f" and {more} more" if more > 0 else ""}:
{total.num_bytes:,} bytes</p>
{verdicts(subjects)}
</header>
{legend(subjects)}
<main>
{facts(subjects)}
{box(subjects)}
{compression(subjects, bands)}
{parts_table(subjects)}
{lengths(subjects)}
{merges(subjects)}
{idle_tokens(subjects)}
{shared(subjects)}
</main>
<footer>Made by mergewise. This page needs no network; what is typed into it stays in it.</footer>
{"".join(embedded(subject, number) for number, subject in enumerate(subjects))}"""
    scripts = ["encoder.js", "box.js"]
    return page(f"Report on {names}", body, "reporting", css="report.css", scripts=scripts)


def joined(names: Sequence[str]) -> str:
    """Names in a row.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def verdicts(subjects: Sequence[Measured]) -> str:
    """How many tokens the first makes beside each other, in a sentence each."""
    ours, *others = subjects
    sentences = []
    for other in others:
        said = difference(ours.total.num_tokens, other.total.num_tokens)
        tokens = "as many tokens as" if said == "the same" else f"{said} tokens than"
        sentences.append(f"{isolated(ours.name)} makes {tokens} {isolated(other.name)}.")
    return tag("p", tag("strong", " ".join(sentences)), class_="verdict") if others else ""


def facts(subjects: Sequence[Measured]) -> str:
    """The most important numbers, large; of several tokenizers with their differences."""
    first, *others = map(facts_of, subjects)
    if not others:
        tiles = (tag("div", tag("dt", name), tag("dd", text)) for name, (text, _) in first.items())
        return tag("dl", *tiles, class_="tiles")
    ours = isolated(subjects[0].name)
    head = ["", ours]
    for subject in subjects[1:]:
        head += [isolated(subject.name), f"{ours} against {isolated(subject.name)}"]
    rows = []
    for name, (text, number) in first.items():
        row = [name, text]
        for other in others:
            row += [other[name][0], difference(number, other[name][1])]
        rows.append(row)
    return tag("div", table(head, rows, caption="In numbers"), class_="card compared")


def facts_of(subject: Measured) -> dict[str, tuple[str, float | None]]:
    """The numbers that describe a tokenizer, by name: as they are shown, and to be compared."""
    tokenizer, total = subject.tokenizer, subject.total
    pattern = tokenizer.pattern
    short = "none" if pattern is None else pattern if len(pattern) < 16 else "its own"
    whole = {
        "vocabulary": tokenizer.vocab_size,
        "merges": len(tokenizer.merges),
        "tokens": total.num_tokens,
    }
    return {
        **{name: (f"{number:,}", number) for name, number in whole.items()},
        "bytes per token": (f"{total.bytes_per_token:.3f}", total.bytes_per_token),
        "tokens per word": (
            tokens_per_word(subject, total),
            None if pattern is None else total.tokens_per_word,
        ),
        "pattern": (escape(short), None),
        "never used": (f"{len(subject.unused):,}", len(subject.unused)),
    }


def tokens_per_word(subject: Measured, part: Part) -> str:
    """The tokens of an average word; without a pattern there are no words."""
    return "–" if subject.tokenizer.pattern is None else f"{part.tokens_per_word:.3f}"


def box(subjects: Sequence[Measured]) -> str:
    """The box in which one types, and what it shows."""
    samples = "".join(
        tag("button", escape(name), type="button", data_sample=text)
        for name, text in SAMPLES.items()
    )
    views = [
        tag("div", view(subject, number), class_=letter)
        for number, (subject, letter) in enumerate(lettered(subjects))
    ]
    return f"""\
<section id="box" class="no-print" aria-labelledby="box-title">
<h2 id="box-title">Try it</h2>
<p>Type a text to see its tokens, just as <code>encode</code> makes them, and how merges made
them.</p>
<textarea id="text" rows="4" dir="auto" spellcheck="false" aria-label="Text to encode"
>{escape(SAMPLES["English"])}</textarea>
<p class="samples"><span class="soft small">or take</span> {samples}</p>
{tag("div", *views, class_="columns") if len(views) > 1 else views[0]}
<noscript><p>The box needs JavaScript; everything else on this page does not.</p></noscript>
</section>"""


def view(subject: Measured, number: int) -> str:
    """Where the tokens of the typed text appear."""
    title = tag("h3", isolated(subject.name))
    reason = browser_tokenizer(subject.tokenizer, subject.uses).get("unsupported")
    if reason is not None:
        why = f"A browser cannot cut texts as this tokenizer does: {escape(reason)}."
        instead = " Use <code>mergewise encode</code> and <code>mergewise forest</code>."
        return title + tag("p", why, instead, class_="card unsupported")
    return f"""\
<div class="view card" data-tokenizer="tokenizer-{number}">{title}
<p class="summary soft small" role="status"></p>
<div class="tokens" id="tokens-{number}" tabindex="0" role="listbox"
 aria-label="Tokens of {escape(subject.name)}; arrow keys choose one"></div>
<button type="button" class="more" hidden></button>
<p class="facts small" aria-live="polite"></p>
<div class="forest scroll" tabindex="0" role="group" aria-label="Merge trees"></div></div>"""


def embedded(subject: Measured, number: int) -> str:
    """The tokenizer as the page's script reads it."""
    data = browser_tokenizer(subject.tokenizer, subject.uses)
    if "unsupported" in data:
        return ""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # JSON that can stand in a page: no text in it ends the script or a line.
    for character in ("<", "\u2028", "\u2029"):
        written = written.replace(character, f"\\u{ord(character):04x}")
    return tag("script", written, type="application/json", id=f"tokenizer-{number}")


def parts_table(subjects: Sequence[Measured]) -> str:
    """The parts of the corpus, the largest first."""
    columns = ("tokens", "tokens per word", "bytes per token")
    head = headings("", subjects, *columns)
    # Behind the columns of each but the first, how the first differs.
    for number, subject in enumerate(subjects[1:], start=2):
        against = f"{isolated(subjects[0].name)} against {isolated(subject.name)}: tokens"
        head.insert(number * (len(columns) + 1) - 1, against)
    head.insert(1, "bytes")
    by_name = [{part.name: part for part in subject.parts} for subject in subjects]
    order = sorted(by_name[0].values(), key=lambda part: -part.num_bytes)
    rows = [
        part_row(subjects, [parts[part.name] for parts in by_name]) for part in order[:NUM_PARTS]
    ]
    if len(order) > 1:
        rows.append(part_row(subjects, [subject.total for subject in subjects]))
    hidden = len(order) - NUM_PARTS
    note = tag("p", f"and {hidden:,} smaller ones", class_="soft small") if hidden > 0 else ""
    return f"""\
<section><h2>By file</h2>
<p>Words are cut by the tokenizer's own pattern.</p>
<div class="card">{table(head, rows)}{note}</div></section>"""


def part_row(subjects: Sequence[Measured], parts: Sequence[Part]) -> list[str]:
    """One part of the corpus, as each tokenizer has it."""
    ours = parts[0]
    row = [isolated(ours.name), f"{ours.num_bytes:,}"]
    for subject, part in zip(subjects, parts, strict=True):
        words = tokens_per_word(subject, part)
        row += [f"{part.num_tokens:,}", words, f"{part.bytes_per_token:.3f}"]
        if subject is not subjects[0]:
            row.append(difference(ours.num_tokens, part.num_tokens))
    return row


def lengths(subjects: Sequence[Measured]) -> str:
    """The lengths of tokens, of the vocabulary and of the corpus."""
    longest = max(max(subject.lengths, default=1) for subject in subjects)
    last = min(longest, LAST_LENGTH)
    categories = [str(length) for length in range(1, last + 1)]
    if longest > LAST_LENGTH:
        categories[-1] += "+"
    charts = ""
    for index, what in enumerate(("in the vocabulary", "in the corpus")):
        groups = [
            Bars(subject.name, letter, shares(subject, index, last))
            for subject, letter in lettered(subjects)
        ]
        words = Words(
            title=f"Lengths of tokens {what}",
            summary="; ".join(f"{g.name}: most have {mode_of(g)} bytes" for g in groups),
            x_label="bytes",
            y_label=f"% of the tokens {what}",
        )
        charts += tag("figure", bars_chart(categories, groups, words), class_="card")
    head = headings("bytes", subjects, "tokens", "uses")
    rows = []
    for length in sorted({length for subject in subjects for length in subject.lengths}):
        found = [subject.lengths.get(length, (0, 0)) for subject in subjects]
        rows.append([f"{length:,}", *(f"{number:,}" for pair in found for number in pair)])
    return f"""\
<section><h2>Lengths of tokens</h2>
<div class="columns">{charts}</div>
<details><summary>As a table</summary>{table(head, rows, caption="Tokens of each length")}</details>
</section>"""


def shares(subject: Measured, index: int, last: int) -> list[float]:
    """The percentage of tokens of each length; longer ones count with the last."""
    numbers = [0] * last
    for length, pair in subject.lengths.items():
        numbers[min(length, last) - 1] += pair[index]
    total = sum(numbers) or 1
    return [100 * number / total for number in numbers]


def mode_of(bars: Bars) -> int:
    """The most frequent length."""
    return max(range(len(bars.values)), key=lambda index: bars.values[index]) + 1


def merges(subjects: Sequence[Measured]) -> str:
    """The first and the last merges with their gains."""
    return f"""\
<section><h2>Merges</h2>
<p>The gain of a merge is how many tokens it saves on this corpus: how often it is made.</p>
{panels(subjects, merge_panel)}</section>"""


def merge_panel(subject: Measured) -> str:
    """The merges of one tokenizer."""
    pairs = list(enumerate(zip(subject.tokenizer.merges, subject.gains, strict=True), start=1))
    first, last = pairs[:NUM_MERGES], pairs[NUM_MERGES:][-NUM_MERGES:]
    head = ["", "merge", "token", "gain"]
    tables = [
        tag("div", table(head, map(merge_row, some), caption=name), class_="card")
        for name, some in (("the first", first), ("the last", last))
        if some
    ]
    return tag("div", *tables, class_="columns merges")


def merge_row(numbered: tuple[int, tuple[tuple[bytes, bytes], int]]) -> list[str]:
    """One merge of a table."""
    number, ((left, right), gain) = numbered
    return [f"{number:,}", f"{code(left)} + {code(right)}", code(left + right), f"{gain:,}"]


def idle_tokens(subjects: Sequence[Measured]) -> str:
    """Tokens that the corpus does not need."""
    return f"""\
<section><h2>Tokens without use</h2>
{panels(subjects, idle_panel)}</section>"""


def idle_panel(subject: Measured) -> str:
    """The tokens of one tokenizer that the corpus does not need."""
    stones = len(subject.stepping_stones)
    parts = f"; {stones:,} of them are parts of tokens that it does become" if stones else ""
    cards = ""
    for name, ids, what in (
        ("unreachable", subject.unreachable, "no text becomes them, whatever it is"),
        ("never used", subject.unused, f"no text of this corpus becomes them{parts}"),
    ):
        text = tag("p", tag("strong", f"{len(ids):,} {name}"), f": {what}.")
        cards += tag("div", text, listed(subject, ids), class_="card idle")
    return cards


def listed(subject: Measured, ids: Sequence[int]) -> str:
    """Tokens, behind a click if there are many."""
    if not ids:
        return ""
    shown = " ".join(code(subject.tokenizer.token_bytes(i)) for i in ids[:NUM_LISTED])
    rest = len(ids) - NUM_LISTED
    more = f" and {rest:,} more" if rest > 0 else ""
    listing = tag("p", shown, tag("span", more, class_="soft"), class_="listing")
    return tag("details", tag("summary", "which"), listing)


def shared(subjects: Sequence[Measured]) -> str:
    """Which tokens the tokenizers have in common, and which each has alone."""
    if len(subjects) == 1:
        return ""
    own = [set(subject.tokenizer.vocabulary.tokens) for subject in subjects]
    common = set.intersection(*own)
    every = "both" if len(subjects) == 2 else f"all {len(subjects)}"
    rows = [[every, f"{len(common):,}", examples(subjects[0], common)]]
    for number, subject in enumerate(subjects):
        only = own[number] - set().union(*own[:number], *own[number + 1 :])
        name = f"only {isolated(subject.name)}"
        rows.append([name, f"{len(only):,}", examples(subject, only)])
    head = ["in", "tokens", "the most used of them"]
    return f"""\
<section><h2>In common</h2>
<div class="card shared">{table(head, rows)}</div></section>"""


def examples(subject: Measured, strings: set[bytes]) -> str:
    """The tokens that the corpus uses most."""
    tokens = subject.tokenizer.vocabulary.tokens
    used = sorted(strings, key=lambda s: (-subject.uses.get(tokens[s], 0), s))
    return " ".join(code(string) for string in used[:12])
