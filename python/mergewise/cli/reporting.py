"""`mergewise report`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mergewise.cli.corpora import add_inputs, files_among, files_of_counts
from mergewise.cli.options import Parser, check_page, keywords
from mergewise.cli.output import put, put_json
from mergewise.cli.tokenizers import add_tokenizer, read_tokenizer
from mergewise.counts import WordCounts
from mergewise.reporting import TIME_LIMIT, Report, names_of, report, report_files
from mergewise.reporting.band import Band
from mergewise.sources import check_output
from mergewise.tokenizer import Tokenizer


def add_report(parser: Parser) -> None:
    """The arguments of `mergewise report`.

    Every file is a part of the corpus with its own row. The page is one file and needs no
    network; in it one can type a text and see its tokens and their trees.

    Examples:
      mergewise report tokenizer.json corpus.txt -o report.html
      mergewise report tokenizer.json en.txt de.txt code/ -o report.html --no-certify
      mergewise report new.json corpus.txt --compare old.json --time-limit 60 -o both.html
      mergewise report a.json corpus.txt --compare b.json --compare c.json -o all.html
    """
    add_tokenizer(parser)
    add_inputs(parser)
    parser.add_output("the page")
    text = "another tokenizer to compare with; give it again for more"
    more: Any = {"action": "append", "default": [], "type": Path, "metavar": "FILE"}
    parser.add_argument("--compare", help=text, **more)
    text = "how long to search for proofs of how few tokens are possible, for each tokenizer"
    parser.add_time_limit(f"{text} (default {TIME_LIMIT:g})", TIME_LIMIT)
    parser.add_flag("--no-certify", "search for no proofs")
    parser.add_reporting()


def run_report(parsed: argparse.Namespace) -> None:
    """`mergewise report`."""
    paths = [parsed.tokenizer, *parsed.compare]
    check_page(parsed)
    check_output(parsed.output, [*parsed.files, *files_among(*paths)])
    names = names_of(paths)
    if len(names) < len(paths):
        parsed.refuse("--compare names a tokenizer twice")
    made = make_report(parsed, {names[path]: read_one(parsed, path) for path in paths})
    made.save(parsed.output)
    facts = list(facts_of(made))
    if parsed.json:
        put_json({"page": str(parsed.output), "tokenizers": facts})
        return
    for subject, fact in zip(made.subjects, facts, strict=True):
        size = f"{fact['tokens']:,} tokens, {fact['bytes_per_token']:.3f} bytes per token"
        proved = "" if fact["excess"] is None else f", within {fact['excess']:.2%} of the best"
        put(f"{subject.name}: {size}{proved}")
    put(f"{parsed.output}: {len(made.html.encode(errors='backslashreplace')):,} bytes")


def read_one(parsed: argparse.Namespace, path: Path) -> Tokenizer:
    """One of the tokenizers; the format is of the first, the pattern of all."""
    given = parsed.format if path == parsed.tokenizer else None
    return read_tokenizer(argparse.Namespace(tokenizer=path, format=given, pattern=parsed.pattern))


def make_report(parsed: argparse.Namespace, tokenizers: dict[str, Tokenizer]) -> Report:
    """The report on the inputs: texts, each cut as the tokenizers do, or files of counts."""
    (name, tokenizer), *others = tokenizers.items()
    chosen = keywords(parsed, "num_threads", "progress")
    chosen |= {"name": name, "compare": dict(others)}
    chosen["time_limit"] = 0.0 if parsed.no_certify else parsed.time_limit
    counted = files_of_counts(parsed.files)
    if counted is not None:
        parts = {name: WordCounts.from_file(path) for path, name in names_of(counted).items()}
        return report(tokenizer, parts, **chosen)
    how_read = keywords(parsed, "documents", "field", "errors", "skip_bad")
    return report_files(tokenizer, parsed.files, **how_read, **chosen)


def facts_of(made: Report) -> Iterator[dict[str, object]]:
    """The numbers of a report that fit a line."""
    for subject, band in zip(made.subjects, made.bands, strict=True):
        least = band.least_tokens[-1] if isinstance(band, Band) else None
        yield {
            "name": subject.name,
            "tokens": subject.total.num_tokens,
            "bytes": subject.total.num_bytes,
            "words": subject.total.num_words,
            "bytes_per_token": subject.total.bytes_per_token,
            "tokens_bound": least,
            "excess": subject.total.num_tokens / least - 1 if least else None,
            "unreachable": len(subject.unreachable),
            "never_used": len(subject.unused),
        }
