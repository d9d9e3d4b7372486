"""`mergewise improve`."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain

from mergewise.cli.certifying import distance
from mergewise.cli.corpora import add_inputs, counts_for, files_of_counts
from mergewise.cli.options import Parser, keywords
from mergewise.cli.output import put, put_json
from mergewise.cli.tokenizers import (
    add_tokenizer,
    add_written,
    check_written,
    read_tokenizer,
    write_tokenizer,
)
from mergewise.counts import WordCounts
from mergewise.interrupts import noticed_interrupts
from mergewise.optimize import certify, improve
from mergewise.optimize.certificate import encoded_words, options_of
from mergewise.optimize.certificate_fields import Against
from mergewise.optimize.improving import with_merges
from mergewise.sources import Document, documents_of, find_sources
from mergewise.tokenizer import Tokenizer
from mergewise.training import count, train

TENTH = 10
# Parts are small enough that a tenth of them is a tenth of the text.
MOST_PARTS = 200
LEAST_BYTES, MOST_BYTES = 1 << 10, 1 << 16


def add_improve(parser: Parser) -> None:
    """The arguments of `mergewise improve`.

    Texts are cut into words as the tokenizer does. Ctrl-C ends the search, and the best merges
    so far are kept. With --moves the result is the same on every machine.

    The tokenizer may have been trained on all of the corpus. So with --held-out as many merges
    are trained anew on nine tenths, and improved on these; the last tenth is new to both.

    Examples:
      mergewise improve tokenizer.json corpus.txt --time-limit 300 -o better.json
      mergewise improve tokenizer.json corpus.txt --held-out -o better.json
      mergewise improve ranks.tiktoken corpus.counts --moves 1000000 -o better.tiktoken
    """
    add_tokenizer(parser)
    add_inputs(parser)
    parser.add_time_limit("how long to search (default 60)")
    text = "the number of moves to try, instead of a time limit"
    parser.add_number("--moves", text, dest="num_moves")
    parser.add_number("--seed", "the seed of the random numbers (default 0)", default=0)
    text = "pairs as in tokenizer.json, ranks as in tiktoken's files (default: as now)"
    parser.add_choice("--target", ["pairs", "ranks"], f"what the merges mean: {text}")
    text = "a token that is kept"
    parser.add_argument("--pin", action="append", default=[], metavar="TOKEN", help=text)
    parser.add_number("--max-token-length", "the longest new token, in bytes", 1)
    text = "weigh words as often as they were seen, also where tokens are rare"
    parser.add_flag("--true-counts", text)
    text = "train anew and improve on nine tenths of the corpus, and measure on the last tenth too"
    parser.add_flag("--held-out", text)
    text = "how long to search for a proof of what is left to gain; 0: no proof (default 20)"
    parser.add_seconds("--certify", text, 20.0)
    add_written(parser, "the file to write; its name decides the format")
    parser.add_reporting()


def run_improve(parsed: argparse.Namespace) -> None:
    """`mergewise improve`."""
    check_written(parsed, parsed.files)
    tokenizer = read_tokenizer(parsed)
    counts, unseen = read_corpus(parsed, tokenizer)
    if unseen is not None:
        tokenizer = trained_anew(tokenizer, counts)
    common = keywords(parsed, "num_threads", "progress")
    with noticed_interrupts() as is_interrupted:
        better = improve(
            tokenizer,
            counts,
            pinned=[token.encode() for token in parsed.pin],
            **keywords(parsed, "time_limit", "seed", "num_moves", "target", "max_token_length"),
            true_counts=parsed.true_counts,
            **common,
        )
        was_interrupted = is_interrupted()
    write_tokenizer(better, parsed)
    facts: dict[str, int | float] = {
        "merges": len(better.merges),
        "tokens_before": tokenizer.core.num_tokens(counts.core),
        "tokens": better.core.num_tokens(counts.core),
    }
    if unseen is not None:
        facts["held_out_before"] = tokenizer.core.num_tokens(unseen.core)
        facts["held_out"] = better.core.num_tokens(unseen.core)
    certificate = None
    if parsed.certify > 0 and not was_interrupted:
        # Whole words that no merge makes have rivals among vocabularies alone.
        against: Against = "vocabularies" if better.is_by_whole_words else "merges"
        certificate = certify(better, counts, against=against, time_limit=parsed.certify, **common)
        facts["tokens_bound"] = certificate.tokens_bound
        facts["excess"] = certificate.excess
    if parsed.json:
        put_json(facts)
        return
    where = "on the corpus" if unseen is None else "trained anew on nine tenths"
    put(f"{where}: {gain(facts['tokens_before'], facts['tokens'])}")
    if unseen is not None:
        put(f"held out: {gain(facts['held_out_before'], facts['held_out'])}")
    if certificate is not None:
        put(distance(certificate))


def trained_anew(tokenizer: Tokenizer, counts: WordCounts) -> Tokenizer:
    """The tokenizer with as many merges, trained on these counts alone."""
    num_merges = len(tokenizer.merges)
    words = encoded_words(counts, **options_of(tokenizer))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = train(words, num_merges=num_merges, min_frequency=1, alphabet=tokenizer.alphabet)
    if len(trained.merges) < num_merges:
        raise ValueError(
            f"nine tenths of the corpus have {len(trained.merges):,} merges, the tokenizer has "
            f"{num_merges:,}: too few to train anew and hold out the rest"
        )
    return Tokenizer(with_merges(tokenizer, trained.merges, None))


def gain(before: float, after: float) -> str:
    """The tokens before and after.

    >>> gain(2000, 1970)
    '2,000 tokens became 1,970 (1.50% fewer)'
    >>> gain(2000, 2040)
    '2,000 tokens became 2,040 (2.00% more)'
    """
    part = abs(1 - after / before) if before else 0.0
    return (
        f"{before:,} tokens became {after:,} ({part:.2%} {'more' if after > before else 'fewer'})"
    )


def read_corpus(
    parsed: argparse.Namespace, tokenizer: Tokenizer
) -> tuple[WordCounts, WordCounts | None]:
    """The counts to improve on, and those of the held-out tenth if there is one."""
    if not parsed.held_out:
        return counts_for(parsed, tokenizer), None
    if "-" in parsed.files or files_of_counts(parsed.files) is not None:
        parsed.refuse("--held-out needs files of text, which are read twice")
    if parsed.skip_bad:
        parsed.refuse("--skip-bad does not go with --held-out")

    def counted(*, is_held_out: bool) -> WordCounts:
        parts = enumerate(parts_of(parsed), start=1)
        return count(
            (part for number, part in parts if (number % TENTH == 0) == is_held_out),
            pattern=tokenizer.pattern,
            normalize=tokenizer.normalize,
            special_tokens=list(tokenizer.special_tokens),
            **keywords(parsed, "errors", "num_threads"),
        )

    seen, unseen = counted(is_held_out=False), counted(is_held_out=True)
    if not unseen.num_words:
        raise ValueError("the corpus is too small to hold out a tenth of it")
    return seen, unseen


def parts_of(parsed: argparse.Namespace) -> Iterator[Document]:
    """The inputs in parts that end at the end of a line, or in records."""
    sources = find_sources(parsed.files)
    num_bytes = sum(source.num_bytes for source in sources) // MOST_PARTS
    part_bytes = min(max(num_bytes, LEAST_BYTES), MOST_BYTES)
    for source in sources:
        batches = documents_of(source, documents="lines", **keywords(parsed, "field"))
        documents = chain.from_iterable(texts for texts, _ in batches)
        if source.kind != "text" or parsed.documents == "lines":
            yield from documents
        else:
            yield from joined(documents, part_bytes)


def joined(lines: Iterable[bytes], part_bytes: int) -> Iterator[bytes]:
    """Lines in parts of more than `part_bytes`."""
    part: list[bytes] = []
    size = 0
    for line in lines:
        part.append(line)
        size += len(line)
        if size > part_bytes:
            yield b"".join(part)
            part, size = [], 0
    if part:
        yield b"".join(part)
