"""The commands that make counts and tokenizers: count, train, convert."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mergewise import formats
from mergewise.cli.output import put_facts
from mergewise.counts import WordCounts, is_file_of_counts
from mergewise.sources import files_of
from mergewise.tokenizer import Tokenizer
from mergewise.training import DEFAULT_PATTERN, count_files, train


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


def read_counts(parsed: argparse.Namespace) -> WordCounts:
    """The counts of the inputs, which are texts or files of counts."""
    counts = sum_of_files(parsed.files)
    if counts is not None:
        if parsed.pattern is not None:
            raise ValueError("--pattern is for texts; counts were cut already")
        return counts
    return count_files(
        parsed.files,
        pattern=pattern_of(DEFAULT_PATTERN if parsed.pattern is None else parsed.pattern),
        documents=parsed.documents,
        field=parsed.field,
        normalize=parsed.normalize,
        special_tokens=parsed.special,
        errors=parsed.errors,
        num_threads=parsed.threads,
        progress=not parsed.quiet,
    )


def sum_of_files(paths: Sequence[str]) -> WordCounts | None:
    """The sum of files of counts; None if the files are texts."""
    files = files_of_counts(paths)
    return None if files is None else WordCounts.from_files(files)


def files_of_counts(paths: Sequence[str]) -> list[Path] | None:
    """The files of counts that paths, folders and globs name; None if they are texts."""
    files = [file for path in paths for file in shown_files(path) or [Path(path)]]
    counted = [is_file_of_counts(file) for file in files]
    if not any(counted):
        return None
    if not all(counted):
        raise ValueError("texts and counts cannot be mixed; hint: count the texts first")
    return files


def shown_files(path: str) -> list[Path]:
    """The files of a path, folder or glob, less those that engines hide beside their output."""
    return [file for file in files_of(path) if not file.name.startswith(("_", "."))]


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
    put_facts(facts, as_json=parsed.json)


def run_train(parsed: argparse.Namespace) -> None:
    """`mergewise train`."""
    tokenizer = train(
        read_counts(parsed),
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
