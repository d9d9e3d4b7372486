"""`mergewise solve`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from mergewise.cli.options import (
    Parser,
    add_output,
    add_reporting,
    add_text,
    add_threads,
    add_time_limit,
    describe,
)
from mergewise.cli.output import put
from mergewise.counts import WordCounts
from mergewise.drawing import columns, padded, shown
from mergewise.optimize import Solution, solve


def add_solve(parser: Parser) -> None:
    """The arguments of `mergewise solve`."""
    describe(
        parser,
        'mergewise solve "abaabbaa" --merges 2',
        "mergewise solve --counts corpus.counts --merges 10 --time-limit 60 -o best.json",
        details="A text is taken over its characters and without words. When time or nodes run "
        "out, or at Ctrl-C, the best merges so far are shown, and a bound that no others exceed.",
    )
    add_text(parser, is_required=False)
    parser.add_argument("--counts", type=Path, metavar="FILE", help="or a file of counts")
    parser.add_argument("--merges", type=int, required=True, help="the number of merges")
    parser.add_argument(
        "--alphabet",
        choices=["bytes", "chars"],
        help="the symbols (default chars for a text, else bytes)",
    )
    parser.add_argument(
        "--method",
        choices=["branch-and-bound", "guarded", "brute-force"],
        default="branch-and-bound",
        help="the last two are those of the paper",
    )
    add_time_limit(parser, "how long to search")
    parser.add_argument("--node-limit", type=int, metavar="NODES", help="how many nodes to search")
    add_threads(parser)
    add_output(parser, "write the merges as a tokenizer", is_required=False)
    add_reporting(parser)


def run_solve(parsed: argparse.Namespace) -> None:
    """`mergewise solve`."""
    if (parsed.text is None) == (parsed.counts is None):
        parsed.refuse("expected either a TEXT or --counts FILE")
    solution = solve(
        parsed.text if parsed.counts is None else WordCounts.from_file(parsed.counts),
        num_merges=parsed.merges,
        alphabet=parsed.alphabet,
        method=parsed.method,
        time_limit=parsed.time_limit,
        node_limit=parsed.node_limit,
        num_threads=parsed.threads,
        progress=not parsed.quiet,
    )
    if parsed.output is not None:
        solution.tokenizer.save(parsed.output)
    if parsed.json:
        put(json.dumps(facts_of(solution)))
    else:
        put_solution(solution, parsed.text)


def facts_of(solution: Solution) -> dict[str, object]:
    """A solution as JSON."""
    merges = [[part.decode(errors="surrogateescape") for part in m] for m in solution.merges]
    return {
        "status": solution.status,
        "limit": solution.limit,
        "utility": solution.utility,
        "bound": solution.bound,
        "gap": solution.gap,
        "nodes": solution.nodes,
        "merges": merges,
    }


def put_solution(solution: Solution, text: str | None) -> None:
    """Write a solution for people."""
    put(str(solution))
    rows = [(shown(left), shown(right)) for left, right in solution.merges]
    widths = [max((columns(row[side]) for row in rows), default=0) for side in (0, 1)]
    for index, (left, right) in enumerate(rows, start=1):
        put(f"{index:>4}  {padded(left, widths[0])}  {padded(right, widths[1])}".rstrip())
    if text is not None:
        tokenizer = solution.tokenizer
        put(" ".join(shown(tokenizer.token_bytes(i)) for i in tokenizer.encode(text)))
