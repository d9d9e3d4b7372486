"""`mergewise forest`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from mergewise.cli.options import Parser, given_text, whole_number
from mergewise.cli.output import put, terminal
from mergewise.cli.tokenizers import add_reading, read_tokenizer
from mergewise.drawing import draw_forest
from mergewise.tokenizer import Tokenizer
from mergewise.training import count, train
from mergewise.trees import text_of


def add_forest(parser: Parser) -> None:
    """The arguments of `mergewise forest`.

    The merges are those of a tokenizer, or are trained on the text itself, over its characters
    and without words.

    Examples:
      mergewise forest "abaabacbcb" --merges 4
      mergewise forest "lowest of the low" --tokenizer tokenizer.json
    """
    parser.add_text()
    merges = parser.add_mutually_exclusive_group(required=True)
    text = "the number of merges to train on the text itself"
    merges.add_argument("--merges", type=whole_number(0), help=text)
    text = "or a tokenizer that has the merges"
    merges.add_argument("--tokenizer", type=Path, metavar="FILE", help=text)
    add_reading(parser)
    parser.add_json("trees as strings and lists of two")


def run_forest(parsed: argparse.Namespace) -> None:
    """`mergewise forest`."""
    text = given_text(parsed) or ""
    if parsed.tokenizer is None:
        tokenizer = trained_on_itself(text, parsed.merges)
    else:
        tokenizer = read_tokenizer(parsed)
    try:
        trees = tokenizer.forest(text, allowed_special="all")
        if parsed.json:
            put(f"[{', '.join(text_of(tree, json_string, '[', ']') for tree in trees)}]")
        else:
            put(draw_forest(trees, **terminal()))
    except RecursionError:
        raise ValueError("a tree of this text is too deep to be drawn") from None


def trained_on_itself(text: str, num_merges: int) -> Tokenizer:
    """The paper's setting: one text is the corpus, over its characters, without words."""
    counts = count([text], pattern=None)
    return train(counts, num_merges=num_merges, alphabet="chars", min_frequency=1)


def json_string(leaf: bytes) -> str:
    """A symbol as JSON."""
    return json.dumps(leaf.decode(errors="surrogateescape"))
