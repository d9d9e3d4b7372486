"""The commands that make counts and tokenizers: count, train, convert."""

from __future__ import annotations

import argparse
from typing import Any

from mergewise import formats
from mergewise.cli import tokenizers
from mergewise.cli.corpora import add_inputs, files_of_counts, read_counts
from mergewise.cli.options import Parser, keywords
from mergewise.cli.output import put_facts
from mergewise.counts import WordCounts
from mergewise.sources import check_output
from mergewise.training import DEFAULT_PATTERN, train

BY_NAME = "the file to write; its name decides the format"


def add_counting(parser: Parser) -> None:
    """The arguments that decide what is counted."""
    add_inputs(parser)
    parser.add_argument("--pattern", help=f"{tokenizers.PATTERN_HELP} (default {DEFAULT_PATTERN})")
    parser.add_choice("--normalize", ["nfc", "nfkc"], "normalise texts first")
    more: Any = {"dest": "special_tokens", "action": "append", "default": [], "metavar": "TOKEN"}
    parser.add_argument("--special", help="a special token", **more)


def counts_of_inputs(parsed: argparse.Namespace) -> WordCounts:
    """The counts of the inputs, which are texts or files of counts."""
    if parsed.pattern is not None and files_of_counts(parsed.files) is not None:
        raise ValueError("--pattern is for texts; counts are of words already")
    check_output(parsed.output, parsed.files)
    pattern = tokenizers.pattern_of(DEFAULT_PATTERN if parsed.pattern is None else parsed.pattern)
    return read_counts(parsed, pattern, parsed.normalize, parsed.special_tokens)


def add_count(parser: Parser) -> None:
    """The arguments of `mergewise count`.

    Examples:
      mergewise count corpus/*.txt.zst --pattern cl100k -o corpus.counts
      zcat dump.gz | mergewise count - --documents lines -o dump.counts
      mergewise count monday.counts tuesday.counts -o both.counts
    """
    add_counting(parser)
    parser.add_number("--min-count", "leave out words with a smaller count", default=1)
    parser.add_output("the file of counts")
    parser.add_reporting()


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
    """The arguments of `mergewise train`.

    Examples:
      mergewise train corpus.txt --vocab-size 32000 -o tokenizer.json
      mergewise train corpus.counts --merges 8000 --special '<|endoftext|>' -o tokenizer.json
      mergewise train counts/*.parquet --vocab-size 32000 -o tokenizer.json
      mergewise train corpus/ --pattern whitespace --vocab-size 16000 -o corpus.tiktoken
    """
    add_counting(parser)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--vocab-size", type=int, help="the number of tokens to train")
    more: Any = {"dest": "num_merges", "metavar": "MERGES"}
    size.add_argument("--merges", type=int, help="or the number of merges", **more)
    parser.add_number("--min-frequency", "the least count of a pair that is merged (default 2)")
    parser.add_number("--max-token-length", "the longest new token, in bytes")
    text = "whether aaa has one pair or two (default skip: one)"
    parser.add_choice("--overlaps", ["skip", "count"], text)
    text = "learn the same merges as another trainer"
    parser.add_choice("--like", ["huggingface", "rustbpe"], text)
    text = "the number of last merges, which may cross words (with --pattern none and --within)"
    parser.add_number("--then-across", text, default=0, metavar="MERGES")
    text = "the pattern of the merges before those"
    parser.add_argument("--within", metavar="PATTERN", help=text)
    text = "how long to search for merges that make fewer tokens, after training"
    parser.add_number("--improve", text, type=float, metavar="SECONDS")
    parser.add_output(BY_NAME)
    parser.add_reporting()


def run_train(parsed: argparse.Namespace) -> None:
    """`mergewise train`."""
    sizes = keywords(parsed, "vocab_size", "num_merges", "min_frequency", "max_token_length")
    names = ("special_tokens", "overlaps", "like", "then_across", "within", "improve", "progress")
    counts = counts_of_inputs(parsed)
    formats.format_of_name(parsed.output)
    tokenizer = train(counts, **sizes, **keywords(parsed, *names))
    tokenizer.save(parsed.output)
    facts = {"tokens": tokenizer.vocab_size, "merges": len(tokenizer.merges)}
    put_facts(facts, as_json=parsed.json)


def add_convert(parser: Parser) -> None:
    """The arguments of `mergewise convert`.

    It is an error if the other format cannot hold all of the tokenizer.

    Examples:
      mergewise convert tokenizer.json gpt.tiktoken
      mergewise convert spm.model tokenizer.json --from sentencepiece
      mergewise convert my.tiktoken tokenizer.json --pattern cl100k --special '<|end|>=100257'
    """
    tokenizers.add_tokenizer(parser, metavar="INPUT")
    parser.add_file("output", BY_NAME, "OUTPUT")
    tokenizers.add_format(parser, "--to", "the format of OUTPUT, as for --from")
    more: Any = {"dest": "special_tokens", "action": "append", "metavar": "TEXT=ID"}
    text = "a special token; replaces those of the file"
    parser.add_argument("--special", type=text_and_id, help=text, **more)
    parser.add_flag("--lossy", "leave out what the format cannot hold")
    parser.add_json()


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
    tokenizer = tokenizers.read_tokenizer(parsed)
    tokenizer.save(parsed.output, format=parsed.to, lossy=parsed.lossy)
    facts = {
        "from": parsed.format or formats.detect(parsed.tokenizer),
        "to": parsed.to or formats.format_of_name(parsed.output),
        "tokens": tokenizer.vocab_size,
        "merges": len(tokenizer.merges),
    }
    put_facts(facts, as_json=parsed.json)
