"""`mergewise solve`."""

from __future__ import annotations

import argparse

from mergewise.cli.options import Parser, given_text, keywords
from mergewise.cli.output import put, put_json
from mergewise.cli.tokenizers import add_written, check_written, write_tokenizer
from mergewise.counts import WordCounts
from mergewise.drawing import columns, padded, shown
from mergewise.optimize import Solution, solve


def add_solve(parser: Parser) -> None:
    """The arguments of `mergewise solve`.

    A text is taken over its characters and without words. When time or nodes run out, or at
    Ctrl-C, the best merges so far are shown, and a bound that no others exceed.

    Examples:
      mergewise solve "abaabbaa" --merges 2
      mergewise solve --counts corpus.counts --merges 10 --time-limit 60 -o best.json
    """
    parser.add_text(is_required=False)
    parser.add_file("--counts", "or a file of counts")
    parser.add_merges()
    text = "the symbols (default chars for a text, else bytes)"
    parser.add_choice("--alphabet", ["bytes", "chars"], text)
    methods = ["branch-and-bound", "guarded", "brute-force"]
    parser.add_choice("--method", methods, "the last two are those of the paper", methods[0])
    parser.add_time_limit("how long to search")
    parser.add_number("--node-limit", "how many nodes to search", metavar="NODES")
    parser.add_threads()
    text = "how much memory the search may take, in MB (default 1074)"
    parser.add_number("--memory-limit", text, 1, metavar="MB")
    add_written(parser, "write the merges as a tokenizer", is_required=False)
    parser.add_reporting()


def run_solve(parsed: argparse.Namespace) -> None:
    """`mergewise solve`."""
    if (parsed.text is None) == (parsed.counts is None):
        parsed.refuse("expected either a TEXT or --counts FILE")
    check_written(parsed, [] if parsed.counts is None else [parsed.counts])
    text = given_text(parsed)
    corpus = text or "" if parsed.counts is None else WordCounts.from_file(parsed.counts)
    names = ("num_merges", "alphabet", "method", "time_limit", "node_limit", "num_threads")
    chosen = keywords(parsed, *names, "progress")
    if parsed.memory_limit is not None:
        chosen["memory_limit"] = parsed.memory_limit * 10**6
    solution = solve(corpus, **chosen)
    if parsed.output is not None:
        write_tokenizer(solution.tokenizer, parsed)
    if parsed.json:
        put_json(facts_of(solution))
    else:
        put_solution(solution, text)


def facts_of(solution: Solution) -> dict[str, object]:
    """A solution as JSON."""
    merges = [[part.decode(errors="surrogateescape") for part in m] for m in solution.merges]
    names = ("status", "limit", "utility", "bound", "gap", "nodes")
    return {**{name: getattr(solution, name) for name in names}, "merges": merges}


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
