"""README.md of this folder, from what the scripts stated."""

import ast
import datetime as dt
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from claims import PAPER, Claim

# The figures, with what they show.
FIGURES = {
    "forest": "Figure 1: the forest that four merges make of abaabacbcb.",
    "linked_list": "Figure 2: three steps of Algorithm 2 on *picked pickled pickles*: the linked "
    "list, and the queue of pairs with their counts.",
    "guarantee": "Theorem 3.10: what the guarantee is worth, for the curvatures that the paper "
    "reports, for those of the definition (strings of up to 12 symbols), and for a family in which "
    "they grow with M; and what greedy really attains.",
    "curvature_strings": "Section 3.3: the largest curvature over all strings of up to 5 letters.",
    "curvature_english": "Section 3.3: the curvature of English strings of 64 characters.",
    "worst_case": "Beyond the paper: what greedy attains of the optimum in the worst case, found "
    "and proved.",
    "run_time": "Section 4: the cost of training against lines and merges.",
    "search_speed": "Figure 3: exact search, and its speed-up over unpruned search.",
    "variants": "Appendix B: greedy, words only and non-iterative on Newton's Opticks.",
}
PACKAGES = ("matplotlib", "rustbpe", "sentencepiece", "subword-nmt", "tokenizers")
TITLE = """# The paper, claim by claim

Written by `make paper`: one script for each claim, table and figure of "A Formal Perspective on
Byte-Pair Encoding". Each command prints its rows; `holds` says whether what it found agrees with
what is published. *Corrected* marks statements of ours in place of the paper's. *Not comparable*:
the paper gives no figure, or had other data. [docs/theory](../docs/theory/index.md) has the proofs.

**Data.** The paper's sentences from CommonCrawl (CCAligned) are not to be had here. In their place
stand Newton's Opticks, which is inside the package (all English strings, and the appendix), and,
for the run time and the table of data, `en.txt` and `de.txt` of the folder `CORPORA`: for the rows
below English and German documentation, package descriptions, manuals and books out of Debian, by
lines. Without `CORPORA` Newton's Opticks serves for the run time, and the table of data is not run.
The images of Figures 2 and 3 are not in the paper's source: they are drawn by their captions, and
there is nothing to compare with.

**Sizes.** `make paper` fits 2 cores in 15 minutes; `make paper FULL=1` takes the sizes of the paper
and some hours. Times are CPU seconds of one thread."""


@dataclass
class Outcome:
    """What a script said."""

    name: str
    command: str
    claims: list[Claim] = field(default_factory=list)
    seconds: float = 0.0
    failure: str = ""


def table(outcomes: Sequence[Outcome]) -> str:
    """All claims, in the order of the paper."""
    rows = [["claim", "command", "published", "ours", "holds"], ["---"] * 5]
    for outcome in outcomes:
        command = f"`{outcome.command}`"
        for claim in outcome.claims:
            words = f"{claim.place}: {claim.claim}"
            rows.append([words, command, claim.published, claim.ours, claim.verdict])
        if outcome.failure:
            rows.append([subject(outcome.name), command, "", outcome.failure, "**not run**"])
    return "\n".join("| " + " | ".join(map(cell, row)) + " |" for row in rows)


def cell(words: str) -> str:
    """Words that stand in a table as they are: bars and stars are escaped, but for bold."""
    bold = re.fullmatch(r"\*\*(.+)\*\*", words)
    if bold or words.startswith("`"):
        return words
    return re.sub(r"([|*_\\])", r"\\\1", words).replace("[", "\\[")


def subject(name: str) -> str:
    """The first line of a script's docstring."""
    tree = ast.parse((PAPER / f"{name}.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or name).splitlines()[0]


def origin(command: str, minutes: float) -> str:
    """How, when, where, with what, and what it cost."""
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    return (
        f"`{command}`, {today}, {processor()} ({os.cpu_count()} cores), {minutes:.0f} CPU "
        f"minutes. Python {platform.python_version()}, {versions}."
    )


def processor() -> str:
    """The name of this machine's processor."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        found = re.search(r"model name\s*:\s*(.+)", information.read_text(encoding="utf-8"))
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def document(outcomes: Sequence[Outcome], command: str, minutes: float) -> str:
    """README.md."""
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    holding = sum(claim.verdict == "yes" for claim in claims)
    failing = sum(claim.verdict == "**no**" for claim in claims)
    others = len(claims) - holding - failing
    summary = (
        f"Of {len(claims)} rows, {holding} hold and {failing} do not; {others} have nothing to be "
        "compared with."
    )
    figures = "\n\n".join(
        f"![{words}](figures/{name}.svg)\n\n{words}" for name, words in FIGURES.items()
    )
    parts = [TITLE, origin(command, minutes), summary, "## Claims", table(outcomes)]
    return "\n\n".join([*parts, "## Figures", figures]) + "\n"
