"""The tokenizer that a command works with: its arguments, and how it is read."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from mergewise import formats
from mergewise.cli.options import STANDARD_OUTPUT, Parser
from mergewise.formats.regexes import OTHER_NAMES, PATTERNS
from mergewise.sources import PathLike, check_output
from mergewise.tokenizer import Tokenizer

PATTERN_HELP = f"{', '.join([*PATTERNS, *OTHER_NAMES])}, a regular expression, or none: "
PATTERN_HELP += "merges cross words"


def add_tokenizer(parser: Parser, metavar: str = "TOKENIZER") -> None:
    """The file of a tokenizer, its format and its pattern."""
    text = "a tokenizer.json, .tiktoken, .model, .gguf, vocab.json, codes, Tekken's, or the folder "
    text += "of one"
    parser.add_file("tokenizer", text, metavar)
    add_reading(parser)


def add_reading(parser: Parser) -> None:
    """The format and the pattern of the file of a tokenizer."""
    names = ", ".join(sorted(formats.FORMATS))
    add_format(parser, "--from", f"its format: {names} (default: by its content)", dest="format")
    parser.add_argument("--pattern", help=f"instead of the pattern of the file: {PATTERN_HELP}")
    more: Any = {"dest": "special_tokens", "action": "append", "metavar": "TOKEN[=ID]"}
    text = "a special token: with its ID instead of those of the file, without one in addition"
    parser.add_argument("--special", type=text_and_id, help=text, **more)


def add_format(parser: Parser, name: str, text: str, **more: str) -> None:
    """A format of files of tokenizers."""
    names = sorted(formats.FORMATS)
    parser.add_argument(name, choices=names, metavar="FORMAT", help=text, **more)  # type: ignore[arg-type]


def read_tokenizer(parsed: argparse.Namespace) -> Tokenizer:
    """The tokenizer that the arguments name."""
    given = getattr(parsed, "special_tokens", None) or []
    known = {text: number for text, number in given if number is not None}
    tokenizer = Tokenizer.from_file(
        parsed.tokenizer,
        format=parsed.format,
        pattern=formats.UNSET if parsed.pattern is None else pattern_of(parsed.pattern),
        special_tokens=known or formats.UNSET,
        lossy=getattr(parsed, "lossy", False),
    )
    new = [text for text, number in given if number is None]
    return tokenizer.with_special_tokens(new) if new else tokenizer


def text_and_id(argument: str) -> tuple[str, int | None]:
    """A special token, and its id if one is given.

    >>> text_and_id("<|a=b|>=7"), text_and_id("<|a=b|>")
    (('<|a=b|>', 7), ('<|a=b|>', None))
    """
    text, _, digits = argument.rpartition("=")
    if text and digits.isascii() and digits.isdigit():
        return text, int(digits)
    if not argument:
        raise argparse.ArgumentTypeError("expected a special token, found an empty text")
    return argument, None


def add_written(parser: Parser, text: str, *, is_required: bool = True) -> None:
    """The file that a tokenizer is written to, and its format."""
    parser.add_output(text, is_required=is_required)
    text = "the format to write, as for --from in `convert` (default: by the name of the file)"
    add_format(parser, "--to", text)


def check_written(parsed: argparse.Namespace, inputs: Sequence[PathLike]) -> None:
    """Refuse an output, or its format, before the work that leads to it."""
    if parsed.output is not None:
        check_output(parsed.output, inputs)
        format_to_write(parsed)


def format_to_write(parsed: argparse.Namespace) -> str:
    """The format of the output."""
    if parsed.to is not None:
        return str(parsed.to)
    is_piped = parsed.output == STANDARD_OUTPUT
    return "tokenizer_json" if is_piped else formats.format_of_name(parsed.output)


def write_tokenizer(tokenizer: Tokenizer, parsed: argparse.Namespace, **more: bool) -> None:
    """Write the tokenizer to the output that the arguments name."""
    tokenizer.save(parsed.output, format=format_to_write(parsed), **more)


def pattern_of(argument: str) -> str | None:
    """The pattern that an argument means."""
    return None if argument == "none" else argument
