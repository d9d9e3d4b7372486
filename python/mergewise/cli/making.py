"""The commands that make counts and tokenizers: count, train, convert."""

from __future__ import annotations

import argparse
from pathlib import Path

from mergewise import formats
from mergewise.cli.corpora import add_inputs, files_of_counts, read_counts
from mergewise.cli.options import Parser, add_json, add_output, add_reporting, describe
from mergewise.cli.output import put_facts
from mergewise.cli.tokenizers import PATTERN_HELP, add_tokenizer, pattern_of, read_tokenizer
from mergewise.counts import WordCounts
from mergewise.training import DEFAULT_PATTERN, train


def add_counting(parser: Parser) -> None:
    """The arguments that decide what is counted."""
    add_inputs(parser)
    parser.add_argument("--pattern", help=f"{PATTERN_HELP} (default {DEFAULT_PATTERN})")
    parser.add_argument("--normalize", choices=["nfc", "nfkc"], help="normalise texts first")
    parser.add_argument(
        "--special", action="append", default=[], metavar="TOKEN", help="a special token"
    )


def counts_of_inputs(parsed: argparse.Namespace) -> WordCounts:
    """The counts of the inputs, which are texts or files of counts."""
    if parsed.pattern is not None and files_of_counts(parsed.files) is not None:
        raise ValueError("--pattern is for texts; counts are of words already")
    pattern = pattern_of(DEFAULT_PATTERN if parsed.pattern is None else parsed.pattern)
    return read_counts(parsed, pattern, parsed.normalize, parsed.special)


def add_count(parser: Parser) -> None:
    """The arguments of `mergewise count`."""
    describe(
        parser,
        "mergewise count corpus/*.txt.zst --pattern cl100k -o corpus.counts",
        "zcat dump.gz | mergewise count - --documents lines -o dump.counts",
        "mergewise count monday.counts tuesday.counts -o both.counts",
    )
    add_counting(parser)
    parser.add_argument(
        "--min-count", type=int, default=1, help="leave out words with a smaller count"
    )
    add_output(parser, "the file of counts")
    add_reporting(parser)


def run_count(parsed: argparse.Namespace) -> None:
    """`mergewise count`."""
    counts = counts_of_inputs(parsed)
    if parsed.min_count > 1:
        counts = counts.prune(parsed.min_count)
    counts.save(parsed.output)
    facts = {
        "words": counts.num_words,
        "unique": counts.num_unique,
        "bytes": counts.num_symbols,
        "dropped_bytes": counts.dropped_symbols,
    }
    put_facts(facts, as_json=parsed.json)


def add_train(parser: Parser) -> None:
    """The arguments of `mergewise train`."""
    describe(
        parser,
        "mergewise train corpus.txt --vocab-size 32000 -o tokenizer.json",
        "mergewise train corpus.counts --merges 8000 --special '<|endoftext|>' -o tokenizer.json",
        "mergewise train counts/*.parquet --vocab-size 32000 -o tokenizer.json",
        "mergewise train corpus/ --pattern whitespace --vocab-size 16000 -o corpus.tiktoken",
    )
    add_counting(parser)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--vocab-size", type=int, help="the number of tokens to train")
    size.add_argument("--merges", type=int, help="or the number of merges")
    parser.add_argument(
        "--min-frequency", type=int, help="the least count of a pair that is merged (default 2)"
    )
    parser.add_argument("--max-token-length", type=int, help="the longest new token, in bytes")
    parser.add_argument(
        "--overlaps",
        choices=["skip", "count"],
        help="whether aaa has one pair or two (default skip: one)",
    )
    parser.add_argument(
        "--like",
        choices=["huggingface", "rustbpe"],
        help="learn the same merges as another trainer",
    )
    parser.add_argument(
        "--then-across",
        type=int,
        default=0,
        metavar="MERGES",
        help="the number of last merges, which may cross words (with --pattern none and --within)",
    )
    parser.add_argument(
        "--within", metavar="PATTERN", help="the pattern of the merges before those"
    )
    parser.add_argument(
        "--improve",
        type=float,
        metavar="SECONDS",
        help="how long to search for merges that make fewer tokens, after training",
    )
    add_output(parser, "the file to write; its name decides the format")
    add_reporting(parser)


def run_train(parsed: argparse.Namespace) -> None:
    """`mergewise train`."""
    tokenizer = train(
        counts_of_inputs(parsed),
        vocab_size=parsed.vocab_size,
        num_merges=parsed.merges,
        min_frequency=parsed.min_frequency,
        max_token_length=parsed.max_token_length,
        special_tokens=parsed.special,
        overlaps=parsed.overlaps,
        like=parsed.like,
        then_across=parsed.then_across,
        within=parsed.within,
        improve=parsed.improve,
        progress=not parsed.quiet,
    )
    tokenizer.save(parsed.output)
    facts = {"tokens": tokenizer.vocab_size, "merges": len(tokenizer.merges)}
    put_facts(facts, as_json=parsed.json)


def add_convert(parser: Parser) -> None:
    """The arguments of `mergewise convert`."""
    describe(
        parser,
        "mergewise convert tokenizer.json gpt.tiktoken",
        "mergewise convert spm.model tokenizer.json --from sentencepiece",
        "mergewise convert my.tiktoken tokenizer.json --pattern cl100k --special '<|end|>=100257'",
        details="It is an error if the other format cannot hold all of the tokenizer.",
    )
    add_tokenizer(parser, metavar="INPUT")
    parser.add_argument(
        "output", type=Path, metavar="OUTPUT", help="the file to write; its name decides the format"
    )
    parser.add_argument(
        "--to",
        choices=sorted(formats.FORMATS),
        metavar="FORMAT",
        help="the format of OUTPUT, as for --from",
    )
    parser.add_argument(
        "--special",
        dest="special_tokens",
        type=text_and_id,
        action="append",
        metavar="TEXT=ID",
        help="a special token; replaces those of the file",
    )
    parser.add_argument(
        "--lossy", action="store_true", help="leave out what the format cannot hold"
    )
    add_json(parser)


def text_and_id(argument: str) -> tuple[str, int]:
    """A special token and its id.

    >>> text_and_id("<|a=b|>=7")
    ('<|a=b|>', 7)
    """
    text, _, digits = argument.rpartition("=")
    if not (text and digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"found {argument!r}, expected TEXT=ID")
    return text, int(digits)


def run_convert(parsed: argparse.Namespace) -> None:
    """`mergewise convert`."""
    tokenizer = read_tokenizer(parsed)
    tokenizer.save(parsed.output, format=parsed.to, lossy=parsed.lossy)
    facts = {
        "from": parsed.format or formats.detect(parsed.tokenizer),
        "to": parsed.to or formats.format_of_name(parsed.output),
        "tokens": tokenizer.vocab_size,
        "merges": len(tokenizer.merges),
    }
    put_facts(facts, as_json=parsed.json)
