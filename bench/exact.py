"""Exact solving: the three methods on English strings from the text inside the package.

    python bench/exact.py [64 128 1000] [--time-limit 60]

Every answer is checked: the merges save what is claimed, and methods that finish agree. The tables
go to stdout and into bench/results/exact.md.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tables import keep, processor, table

import mergewise as mw
from mergewise import formal
from mergewise.demo import opticks
from mergewise.optimize.solving import Method

RESULTS = Path(__file__).parent / "results" / "exact.md"
TITLE = """# Exact solving

Written by `bench/exact.py`: ten strings of each length, evenly spread over the text inside the
package (white space as one space), one thread. A node is a state that a search looked at. The paper
searches strings of 64 characters (its script: two of them joined) with up to 5 merges, unpruned and
with the guard of Algorithm 3; these are the methods brute-force and guarded, here in Rust and with
the guard corrected, as far as they go in about a minute."""

NUM_STRINGS = 10
MERGES = {64: (3, 4, 5, 6, 8, 10, 12, 20), 128: (3, 5, 8, 10, 12, 20), 1000: (5, 10, 20, 50)}
# How many merges the paper's methods are tried with: each more costs about thirty times as much.
MOST_MERGES = {
    ("brute-force", 64): 4,
    ("guarded", 64): 5,
    ("brute-force", 128): 3,
    ("guarded", 128): 3,
}
METHODS: tuple[Method, ...] = ("brute-force", "guarded", "branch-and-bound")


@dataclass
class Row:
    """One method with one number of merges, on all strings of a length."""

    seconds: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
    utilities: list[int] = field(default_factory=list)
    num_greedy: int = 0

    def cells(self) -> list[str]:
        """Strings proved, nodes, seconds, and the largest gap that is left."""
        proved = sum(gap == 0 for gap in self.gaps)
        nodes = f"{min(self.nodes):,} to {max(self.nodes):,}"
        seconds = f"{median(self.seconds):.4f}", f"{max(self.seconds):.4f}"
        return [f"{proved} of {len(self.gaps)}", nodes, *seconds, str(max(self.gaps))]


def strings(length: int) -> Iterator[str]:
    """Ten strings, evenly spread over the text."""
    text = " ".join(opticks().split())
    step = (len(text) - length) // NUM_STRINGS
    return (text[start : start + length] for start in range(0, step * NUM_STRINGS, step))


def measure(text: str, num_merges: int, method: Method, time_limit: float, row: Row) -> None:
    """Solve one string, check the answer, and note what it cost."""
    started = time.process_time()
    found = mw.solve(
        text, num_merges=num_merges, method=method, time_limit=time_limit, num_threads=1
    )
    row.seconds.append(time.process_time() - started)
    row.nodes.append(found.nodes)
    row.gaps.append(found.bound - found.utility)
    row.utilities.append(found.utility)
    if len(text) - len(found.tokenizer.encode(text)) != found.utility:
        sys.exit(f"{method} claims {found.utility} on {text!r}")
    greedy = formal.greedy(text, num_merges, ties=formal.first_occurrence)
    row.num_greedy += formal.utility(greedy, text) == found.utility


def section(length: int, time_limit: float) -> str:
    """The table of one length."""
    rows = []
    for num_merges in MERGES[length]:
        answers = {}
        for method in METHODS:
            if method != "branch-and-bound" and num_merges > MOST_MERGES.get((method, length), 0):
                continue
            row = Row()
            for text in strings(length):
                measure(text, num_merges, method, time_limit, row)
            answers[method] = row
            greedy = f"{row.num_greedy} of {NUM_STRINGS}"
            rows.append([str(num_merges), method, *row.cells(), greedy])
            print(rows[-1], file=sys.stderr)
        agreeing = {tuple(row.utilities) for row in answers.values() if not any(row.gaps)}
        if len(agreeing) > 1:
            sys.exit(f"the methods disagree with {num_merges} merges")
    head = [
        "M",
        "method",
        "proved",
        "nodes",
        "median CPU s",
        "most",
        "largest gap",
        "greedy as good",
    ]
    return table(head, rows)


def main() -> None:
    """Measures the lengths named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lengths", nargs="*", type=int, choices=[[], *MERGES], default=[*MERGES])
    parser.add_argument("--time-limit", type=float, default=60, help="seconds for each string")
    parsed = parser.parse_args()
    for length in parsed.lengths:
        command = f"`python bench/exact.py {length} --time-limit {parsed.time_limit:g}`"
        origin = f"{command}, {time.strftime('%Y-%m-%d')}, {processor()}."
        body = f"{origin}\n\n{section(length, parsed.time_limit)}"
        keep(RESULTS, TITLE, {f"{length} characters": body})
        print(body)


if __name__ == "__main__":
    main()
