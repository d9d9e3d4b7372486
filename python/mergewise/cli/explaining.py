"""`mergewise explain`."""

from __future__ import annotations

import argparse

from mergewise.cli.options import Parser, check_page, given_text
from mergewise.cli.output import put, put_json, terminal
from mergewise.explaining import Explanation, explain
from mergewise.sources import check_output


def add_explain(parser: Parser) -> None:
    """The arguments of `mergewise explain`.

    A text is taken over its characters and without words.

    Examples:
      mergewise explain "picked pickled pickles" --merges 5
      mergewise explain "picked pickled pickles" --merges 5 -o explain.html
      mergewise explain "abaabbaa" --merges 2 --svg steps/
    """
    parser.add_text()
    parser.add_merges()
    parser.add_output("write a page that steps forward and back", is_required=False)
    parser.add_file("--svg", "write a drawing of each step", "FOLDER")
    parser.add_json("print the steps as JSON")


def run_explain(parsed: argparse.Namespace) -> None:
    """`mergewise explain`."""
    if parsed.output is not None:
        check_page(parsed)
    for path in (parsed.output, parsed.svg):
        if path is not None:
            check_output(path, [])
    explanation = explain(given_text(parsed) or "", num_merges=parsed.num_merges)
    if parsed.output is not None:
        explanation.save(parsed.output)
    if parsed.svg is not None:
        explanation.save_svgs(parsed.svg)
    if parsed.json:
        put_json(facts_of(explanation))
    elif parsed.output is None and parsed.svg is None:
        put(explanation.text(**terminal()))
    else:
        put(f"{len(explanation.steps)} steps, {len(explanation.merges)} merges")


def facts_of(explanation: Explanation) -> dict[str, object]:
    """The merges and every step, for JSON."""
    names = explanation.run.names
    return {
        "merges": explanation.merges,
        "steps": [
            {
                "kind": step.kind,
                "pair": None if step.pair is None else [names[number] for number in step.pair],
                "place": step.place,
                "tokens": [names[number] for _, number in step.tokens],
                "heap": [[-count, names[a], names[b]] for count, a, b in step.heap],
                "positions": [[names[a], names[b], at] for (a, b), at in step.places.items()],
            }
            for step in explanation.steps
        ],
    }
