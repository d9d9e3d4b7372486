"""The command line: arguments to verbs, nothing else.

Data goes to standard output, everything else to standard error. The exit status is 0, 1 after an
error (one line, no traceback), or 2 after a mistake in the arguments.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mergewise.counts import WordCounts
from mergewise.demo import run_demo
from mergewise.errors import MergewiseError
from mergewise.training import DEFAULT_PATTERN, count_files, train

COUNTS_SUFFIX = ".counts"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status."""
    parsed = make_parser().parse_args(arguments)
    warnings.showwarning = show_warning
    try:
        parsed.run(parsed)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (MergewiseError, OSError, ValueError, ImportError) as error:
        print(f"mergewise: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("mergewise: interrupted", file=sys.stderr)
        return 130
    return 0


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one line."""
    print(f"mergewise: warning: {message}", file=sys.stderr)


def make_parser() -> argparse.ArgumentParser:
    """All commands and their arguments."""
    parser = argparse.ArgumentParser(
        prog="mergewise",
        description="Train, apply, improve, solve and certify byte-pair encodings.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace], None], text: str, example: str
    ) -> Any:  # noqa: ANN401
        sub = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(run=run)
        return sub

    sub = command(
        "count",
        run_count,
        "count the words of texts",
        "mergewise count corpus/*.txt.zst --pattern cl100k -o corpus.counts",
    )
    add_counting(sub)
    sub.add_argument("--min-count", type=int, default=1, help="leave out rarer words")
    sub.add_argument("-o", "--output", type=Path, required=True, help="the file of counts")
    add_reporting(sub)

    sub = command(
        "train",
        run_train,
        "train a tokenizer on texts or on their counts",
        "mergewise train corpus.txt --vocab-size 32000 -o tokenizer.json",
    )
    add_counting(sub)
    add_training(sub)
    sub.add_argument("-o", "--output", type=Path, required=True, help="the tokenizer.json to write")
    add_reporting(sub)

    command(
        "demo",
        lambda _: run_demo(sys.stdout),
        "show what mergewise does, on a text inside the package",
        "mergewise demo",
    )
    return parser


def add_counting(parser: argparse.ArgumentParser) -> None:
    """The arguments that decide what is counted."""
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="text, .gz, .zst, .jsonl, .parquet, a folder, a glob, or - for standard input",
    )
    parser.add_argument(
        "--pattern",
        default=None,
        help="gpt2, cl100k, o200k, whitespace, a regular expression, or none: merges cross words "
        f"(default {DEFAULT_PATTERN})",
    )
    parser.add_argument("--documents", choices=["file", "lines"], default="file")
    parser.add_argument("--field", default="text", help="of .jsonl and .parquet (default text)")
    parser.add_argument("--normalize", choices=["nfc", "nfkc"])
    parser.add_argument(
        "--errors",
        choices=["keep", "strict", "replace"],
        default="keep",
        help="what becomes of bytes that are not UTF-8",
    )
    parser.add_argument("--special", action="append", default=[], metavar="TOKEN")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")


def add_training(parser: argparse.ArgumentParser) -> None:
    """The arguments of training."""
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--vocab-size", type=int)
    size.add_argument("--merges", type=int)
    parser.add_argument("--min-frequency", type=int)
    parser.add_argument("--max-token-length", type=int)
    parser.add_argument("--overlaps", choices=["skip", "count"])
    parser.add_argument("--like", choices=["huggingface", "rustbpe"])
    parser.add_argument("--then-across", type=int, default=0, metavar="MERGES")
    parser.add_argument("--within", metavar="PATTERN", help="with --then-across")


def add_reporting(parser: argparse.ArgumentParser) -> None:
    """The arguments that decide what is shown."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def read_counts(parsed: argparse.Namespace) -> WordCounts:
    """The counts of the inputs, which are texts or files of counts."""
    counted = [path.endswith(COUNTS_SUFFIX) for path in parsed.inputs]
    if all(counted):
        if parsed.pattern is not None:
            raise ValueError("--pattern is for texts; counts were cut already")
        first, *others = (WordCounts.from_file(path) for path in parsed.inputs)
        return sum(others, first)
    if any(counted):
        raise ValueError("texts and counts cannot be mixed; hint: count the texts first")
    pattern = DEFAULT_PATTERN if parsed.pattern is None else parsed.pattern
    return count_files(
        parsed.inputs,
        pattern=None if pattern == "none" else pattern,
        documents=parsed.documents,
        field=parsed.field,
        normalize=parsed.normalize,
        special_tokens=parsed.special,
        errors=parsed.errors,
        num_threads=parsed.threads,
        progress=not parsed.quiet,
    )


def run_count(parsed: argparse.Namespace) -> None:
    """`mergewise count`."""
    counts = read_counts(parsed)
    if parsed.min_count > 1:
        counts = counts.prune(parsed.min_count)
    counts.save(parsed.output)
    facts = {
        "words": counts.num_words,
        "unique": counts.num_unique,
        "bytes": counts.num_symbols,
        "dropped_bytes": counts.dropped_symbols,
    }
    print_facts(facts, as_json=parsed.json)


def run_train(parsed: argparse.Namespace) -> None:
    """`mergewise train`."""
    counts = read_counts(parsed)
    tokenizer = train(
        counts,
        vocab_size=parsed.vocab_size,
        num_merges=parsed.merges,
        min_frequency=parsed.min_frequency,
        max_token_length=parsed.max_token_length,
        special_tokens=parsed.special,
        overlaps=parsed.overlaps,
        like=parsed.like,
        then_across=parsed.then_across,
        within=parsed.within,
        progress=not parsed.quiet,
    )
    tokenizer.save(parsed.output)
    facts = {"tokens": tokenizer.vocab_size, "merges": len(tokenizer.merges)}
    print_facts(facts, as_json=parsed.json)


def print_facts(facts: dict[str, int], *, as_json: bool) -> None:
    """A few numbers for people or for programs."""
    if as_json:
        print(json.dumps(facts))
    else:
        print(", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in facts.items()))
