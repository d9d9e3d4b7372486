"""The commands that make counts and tokenizers: count, train, convert."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from mergewise import formats
from mergewise.cli import tokenizers
from mergewise.cli.corpora import add_inputs, files_of_counts, read_counts
from mergewise.cli.options import Parser, keywords, output_path, whole_number
from mergewise.cli.output import put_facts
from mergewise.counts import WordCounts
from mergewise.sources import check_output
from mergewise.tokenizer import Tokenizer
from mergewise.training import DEFAULT_PATTERN, count, train

# What `train` and its rehearsal take.
TRAINING = (
    "vocab_size",
    "num_merges",
    "min_frequency",
    "max_token_length",
    "special_tokens",
    "overlaps",
    "alphabet",
    "like",
    "then_across",
    "within",
)
BY_NAME = "the file to write; its name decides the format"


def add_counting(parser: Parser) -> None:
    """The arguments that decide what is counted."""
    add_inputs(parser)
    parser.add_argument("--pattern", help=f"{tokenizers.PATTERN_HELP} (default {DEFAULT_PATTERN})")
    parser.add_choice("--normalize", ["nfc", "nfkc"], "normalise texts first")
    more: Any = {"dest": "special_tokens", "action": "append", "default": [], "metavar": "TOKEN"}
    parser.add_argument("--special", help="a special token", **more)


def check_inputs(parsed: argparse.Namespace) -> None:
    """Refuse a pattern that has no meaning, and an output that cannot be written."""
    if parsed.pattern is not None and files_of_counts(parsed.files) is not None:
        raise ValueError("--pattern is for texts; counts are of words already")
    check_output(parsed.output, parsed.files)


def pattern_of(parsed: argparse.Namespace) -> str | None:
    """The pattern by which texts are cut."""
    return tokenizers.pattern_of(DEFAULT_PATTERN if parsed.pattern is None else parsed.pattern)


def counts_of_inputs(parsed: argparse.Namespace) -> tuple[WordCounts, dict[str, int]]:
    """The counts of the inputs, which are texts or files of counts, and what to say of these."""
    pattern = pattern_of(parsed)
    counts, num_skipped = read_counts(parsed, pattern, parsed.normalize, parsed.special_tokens)
    return counts, {"skipped": num_skipped} if parsed.skip_bad else {}


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
    check_inputs(parsed)
    counts, skipped = counts_of_inputs(parsed)
    if parsed.min_count > 1:
        counts = counts.prune(parsed.min_count)
    counts.save(parsed.output)
    facts = {
        "words": counts.num_words,
        "unique": counts.num_unique,
        "bytes": counts.num_symbols,
        "dropped_bytes": counts.dropped_symbols,
        **skipped,
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
    number = whole_number(0)
    size.add_argument("--vocab-size", type=number, help="the number of tokens to train")
    more: Any = {"dest": "num_merges", "metavar": "MERGES"}
    size.add_argument("--merges", type=number, help="or the number of merges", **more)
    parser.add_number("--min-frequency", "the least count of a pair that is merged (default 2)", 1)
    parser.add_number("--max-token-length", "the longest new token, in bytes", 1)
    text = "the symbols to begin with (default bytes)"
    parser.add_choice("--alphabet", ["bytes", "chars"], text)
    parser.add_file("--initial", "continue from the merges of this tokenizer")
    text = "whether aaa has one pair or two (default skip: one)"
    parser.add_choice("--overlaps", ["skip", "count"], text)
    text = "learn the same merges as another trainer"
    parser.add_choice("--like", ["huggingface", "rustbpe"], text)
    text = "the number of last merges, which may cross words (with --pattern none and --within)"
    parser.add_number("--then-across", text, default=0, metavar="MERGES")
    text = "the pattern of the merges before those"
    parser.add_argument("--within", metavar="PATTERN", help=text)
    text = "how long to search for merges that make fewer tokens, after training"
    parser.add_seconds("--improve", text)
    tokenizers.add_written(parser, BY_NAME)
    parser.add_reporting()


def run_train(parsed: argparse.Namespace) -> None:
    """`mergewise train`."""
    check_inputs(parsed)
    to = tokenizers.format_to_write(parsed)
    initial = None if parsed.initial is None else Tokenizer.from_file(parsed.initial)
    chosen = {**keywords(parsed, *TRAINING), "initial": initial}
    rehearse(parsed, chosen, to)
    counts, skipped = counts_of_inputs(parsed)
    tokenizer = train(counts, improve=parsed.improve, progress=parsed.progress, **chosen)
    tokenizers.write_tokenizer(tokenizer, parsed)
    facts = {"tokens": tokenizer.vocab_size, "merges": len(tokenizer.merges), **skipped}
    put_facts(facts, as_json=parsed.json)


def rehearse(parsed: argparse.Namespace, chosen: dict[str, Any], to: str) -> None:
    """Train on no text, so that wrong sizes, and a format that cannot hold the result, show now."""
    if files_of_counts(parsed.files) is None:
        nothing = count([], pattern=pattern_of(parsed), normalize=parsed.normalize)
    else:
        nothing = count([], pattern=None)  # the settings of counts are known once they are read
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = train(nothing, **chosen)
    if files_of_counts(parsed.files) is None:
        formats.check_supported(tokenizer.vocabulary, parsed.output, to)


def add_convert(parser: Parser) -> None:
    """The arguments of `mergewise convert`.

    It is an error if the other format cannot hold all of the tokenizer.

    Examples:
      mergewise convert tokenizer.json gpt.tiktoken
      mergewise convert spm.model tokenizer.json --from sentencepiece
      mergewise convert my.tiktoken tokenizer.json --pattern cl100k --special '<|end|>=100257'
    """
    tokenizers.add_tokenizer(parser, metavar="INPUT")
    text = f"{BY_NAME}; - for standard output"
    parser.add_argument("output", type=output_path, metavar="OUTPUT", help=text)
    tokenizers.add_format(parser, "--to", "the format of OUTPUT, as for --from")
    parser.add_flag("--lossy", "leave out what the format cannot hold")
    parser.add_json()


def run_convert(parsed: argparse.Namespace) -> None:
    """`mergewise convert`."""
    to = tokenizers.format_to_write(parsed)
    check_output(parsed.output, [])
    tokenizer = tokenizers.read_tokenizer(parsed)
    tokenizers.write_tokenizer(tokenizer, parsed, lossy=parsed.lossy)
    facts = {
        "from": parsed.format or formats.detect(parsed.tokenizer),
        "to": to,
        "tokens": tokenizer.vocab_size,
        "merges": len(tokenizer.merges),
    }
    put_facts(facts, as_json=parsed.json)
