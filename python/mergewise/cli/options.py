"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

from mergewise.formats import FORMATS
from mergewise.formats.regexes import PATTERNS
from mergewise.training import DEFAULT_PATTERN

Parser: TypeAlias = argparse.ArgumentParser

PATTERN_HELP = f"{', '.join(PATTERNS)}, a regular expression, or none: merges cross words"
INPUTS = "text, .gz, .zst, .jsonl, .parquet, a folder, a glob, or - for standard input"


def add_tokenizer(parser: Parser, metavar: str = "TOKENIZER") -> None:
    """The file of a tokenizer and how it is read."""
    parser.add_argument(
        "tokenizer",
        type=Path,
        metavar=metavar,
        help="a tokenizer.json, .tiktoken, .model, vocab.json or its folder, codes, or Tekken's",
    )
    add_reading(parser)


def add_reading(parser: Parser) -> None:
    """How the file of a tokenizer is read."""
    parser.add_argument(
        "--from",
        dest="format",
        choices=sorted(FORMATS),
        metavar="FORMAT",
        help=f"its format: {', '.join(sorted(FORMATS))} (default: by its content)",
    )
    parser.add_argument("--pattern", help=f"in the place of the file's: {PATTERN_HELP}")


def add_counting(parser: Parser) -> None:
    """The arguments that decide what is counted."""
    add_inputs(parser)
    parser.add_argument("--pattern", help=f"{PATTERN_HELP} (default {DEFAULT_PATTERN})")
    parser.add_argument("--normalize", choices=["nfc", "nfkc"], help="normalise texts first")
    parser.add_argument(
        "--special", action="append", default=[], metavar="TOKEN", help="a special token"
    )


def add_inputs(parser: Parser) -> None:
    """The texts or counts of a corpus, and how they are read."""
    parser.add_argument("files", nargs="+", metavar="INPUT", help=f"{INPUTS}; or counts")
    parser.add_argument(
        "--documents",
        choices=["file", "lines"],
        default="file",
        help="where a document ends in a file of text (default file)",
    )
    parser.add_argument("--field", default="text", help="of .jsonl and .parquet (default text)")
    parser.add_argument(
        "--errors",
        choices=["keep", "strict", "replace"],
        default="keep",
        help="what becomes of bytes that are not UTF-8 (default keep)",
    )
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")


def add_training(parser: Parser) -> None:
    """The arguments of training."""
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--vocab-size", type=int, help="train until there are so many tokens")
    size.add_argument("--merges", type=int, help="or so many merges")
    parser.add_argument("--min-frequency", type=int, help="of a pair that is merged (default 2)")
    parser.add_argument("--max-token-length", type=int, help="in bytes")
    parser.add_argument(
        "--overlaps", choices=["skip", "count"], help="is aaa one pair, or two? (default skip)"
    )
    parser.add_argument(
        "--like", choices=["huggingface", "rustbpe"], help="make the merges of another trainer"
    )
    parser.add_argument(
        "--then-across",
        type=int,
        default=0,
        metavar="MERGES",
        help="so many more that may cross words (with --pattern none and --within)",
    )
    parser.add_argument("--within", metavar="PATTERN", help="the pattern of the merges before them")
    parser.add_argument(
        "--improve",
        type=float,
        metavar="SECONDS",
        help="then search so long for merges that make fewer tokens",
    )


def add_reporting(parser: Parser) -> None:
    """The arguments that decide what is shown."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def text_and_id(argument: str) -> tuple[str, int]:
    """A special token and its id.

    >>> text_and_id("<|a=b|>=7")
    ('<|a=b|>', 7)
    """
    text, _, digits = argument.rpartition("=")
    if not (text and digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"found {argument!r}, expected TEXT=ID")
    return text, int(digits)
