"""The tokenizer that a command works with: its arguments, and how it is read."""

from __future__ import annotations

import argparse

from mergewise import formats
from mergewise.cli.options import Parser
from mergewise.formats.regexes import PATTERNS
from mergewise.tokenizer import Tokenizer

PATTERN_HELP = f"{', '.join(PATTERNS)}, a regular expression, or none: merges cross words"


def add_tokenizer(parser: Parser, metavar: str = "TOKENIZER") -> None:
    """The file of a tokenizer, its format and its pattern."""
    text = "a tokenizer.json, .tiktoken, .model, vocab.json or its folder, codes, or Tekken's"
    parser.add_file("tokenizer", text, metavar)
    add_reading(parser)


def add_reading(parser: Parser) -> None:
    """The format and the pattern of the file of a tokenizer."""
    names = ", ".join(sorted(formats.FORMATS))
    add_format(parser, "--from", f"its format: {names} (default: by its content)", dest="format")
    parser.add_argument("--pattern", help=f"instead of the pattern of the file: {PATTERN_HELP}")


def add_format(parser: Parser, name: str, text: str, **more: str) -> None:
    """A format of files of tokenizers."""
    names = sorted(formats.FORMATS)
    parser.add_argument(name, choices=names, metavar="FORMAT", help=text, **more)  # type: ignore[arg-type]


def read_tokenizer(parsed: argparse.Namespace) -> Tokenizer:
    """The tokenizer that the arguments name."""
    specials = dict(getattr(parsed, "special_tokens", None) or {})
    return Tokenizer.from_file(
        parsed.tokenizer,
        format=parsed.format,
        pattern=formats.UNSET if parsed.pattern is None else pattern_of(parsed.pattern),
        special_tokens=specials or formats.UNSET,
        lossy=getattr(parsed, "lossy", False),
    )


def pattern_of(argument: str) -> str | None:
    """The pattern that an argument means."""
    return None if argument == "none" else argument
