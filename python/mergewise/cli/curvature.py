"""`mergewise curvature`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from mergewise.cli.options import Parser, given_text, keywords
from mergewise.cli.output import put, put_json
from mergewise.optimize import (
    Enumeration,
    curvature,
    enumerate_curvature,
    train_on_worst_case,
)
from mergewise.optimize.curvature import COLUMNS, RATIOS, SIGMAS

LABELS = {
    "sigma": "σ",
    "sigma_min": "σ, best optimum",
    "sigma_max": "σ, worst optimum",
    "sigma_full_length_max": "σ, M merges",
    "sigma_published": "σ, authors'",
    "sigma_greedy": "σ'",
    "sigma_greedy_worst_ties": "σ', worst ties",
    "sigma_greedy_all": "σ', all prefixes",
    "sigma_greedy_published": "σ', authors'",
    "ratio": "greedy/optimum",
    "ratio_worst_ties": "worst ties",
    "ratio_best_ties": "best ties",
}
WIDTH = 18


def add_curvature(parser: Parser) -> None:
    """The arguments of `mergewise curvature`.

    Of one text, over its characters and without words; or the extremes over all strings, for
    every number of merges up to M; or what greedy attains on words that are made for it to fail.

    Examples:
      mergewise curvature "abaabbaa" --merges 2
      mergewise curvature --enumerate --length 12 --alphabet 3 --merges 3
      mergewise curvature --enumerate --length 12 --alphabet 5 --merges 4 --tables
      mergewise curvature --enumerate --length 15 --alphabet 5 --merges 4 --checkpoint run.json
      mergewise curvature --family --merges 1024
    """
    parser.add_text(is_required=False)
    parser.add_merges("M")
    parser.add_time_limit("how long to search (with TEXT)")
    parser.add_flag("--enumerate", "measure all strings")
    text = "train on words on which greedy is bad; M is a square, 64 or more"
    parser.add_flag("--family", text)
    parser.add_number("--length", "the length of the longest strings", metavar="N")
    text = "the most letters of a string"
    parser.add_number("--alphabet", text, dest="num_letters", metavar="K")
    text = "curvatures, greedy over optimum, or both (default all)"
    parser.add_choice("--columns", ["all", "sigma", "ratio"], text, "all")
    parser.add_flag("--tables", "print the tables of all smaller sizes too")
    text = "written every minute and at Ctrl-C; if it exists, the work continues from it"
    parser.add_file("--checkpoint", text)
    parser.add_threads()
    parser.add_reporting()


def run_curvature(parsed: argparse.Namespace) -> None:
    """`mergewise curvature`."""
    if [parsed.text is not None, parsed.enumerate, parsed.family].count(True) > 1:
        parsed.refuse("give one of TEXT, --enumerate and --family")
    elif parsed.enumerate:
        run_enumeration(parsed)
    elif parsed.text is None and not parsed.family:
        parsed.refuse("give a TEXT, or --enumerate with --length and --alphabet, or --family")
    elif parsed.length is not None or parsed.num_letters is not None or parsed.tables:
        parsed.refuse("--length, --alphabet and --tables are for --enumerate")
    elif parsed.family:
        run_family(parsed)
    else:
        run_text(parsed)


def run_text(parsed: argparse.Namespace) -> None:
    """The curvatures of one text."""
    found = curvature(given_text(parsed) or "", **keywords(parsed, "num_merges", "time_limit"))
    values = {name: getattr(found, name) for name in ("sigma", *COLUMNS)}
    if parsed.json:
        facts = {"optimum": found.optimum, "greedy": found.greedy, "guarantee": found.guarantee}
        put_json({**facts, **{name: str(value) for name, value in values.items()}})
        return
    rows = {"optimum": str(found.optimum), "greedy": str(found.greedy)}
    rows |= {LABELS[name]: shown(values[name]) for name in (*SIGMAS, *RATIOS)}
    for label, value in {**rows, "guarantee": f"{found.guarantee:.4f}"}.items():
        put(f"{label:<{WIDTH}}{value}")


def run_family(parsed: argparse.Namespace) -> None:
    """What greedy and a rival save on words that are made for it."""
    found = train_on_worst_case(parsed.num_merges)
    if parsed.json:
        facts = {name: getattr(found, name) for name in ("num_words", "greedy", "rival")}
        least = {"least": float(found.least), "least_of_any": found.least_of_any}
        put_json({**facts, "ratio": float(found.ratio), **least})
        return
    rows = {
        "words": f"{found.num_words:,}",
        "greedy": f"{found.greedy:,}",
        "rival": f"{found.rival:,}",
        "greedy/rival": f"{float(found.ratio):.4f}",
        "proved": f"at least {lower(found.least)} of every rival that joins single symbols",
        "": f"at least {lower(found.least_of_any)} of every rival",
    }
    for label, value in rows.items():
        put(f"{label:<{WIDTH}}{value}")


def lower(value: Fraction | float) -> str:
    """Four decimals, rounded down: a bound stays one.

    >>> lower(0.43239)
    '0.4323'
    """
    return f"{math.floor(value * 10_000) / 10_000:.4f}"


def shown(value: Fraction) -> str:
    """A fraction and its decimal value.

    >>> shown(Fraction(3)), shown(Fraction(8, 3))
    ('3', '8/3 = 2.667')
    """
    return str(value) if value.denominator == 1 else f"{value} = {float(value):.4g}"


def run_enumeration(parsed: argparse.Namespace) -> None:
    """The extremes over all strings."""
    if parsed.length is None or parsed.num_letters is None:
        parsed.refuse("--enumerate needs --length and --alphabet")
    names = ("num_letters", "num_merges", "columns", "num_threads", "checkpoint", "progress")
    found = enumerate_curvature(parsed.length, **keywords(parsed, *names))
    if parsed.json:
        put_json(list(cells_of(found, is_all=parsed.tables)))
    elif parsed.tables:
        put("\n".join(tables_of(found)))
    else:
        for num_merges in range(1, found.num_merges + 1):
            put(f"M = {num_merges}")
            for name, extreme in found.extremes(num_merges=num_merges).items():
                put(f"  {LABELS[name]:<{WIDTH}}{shown(extreme.value):<16}{extreme.witness}")


def sizes_of(found: Enumeration, *, is_all: bool) -> Iterator[tuple[int, int, int]]:
    """The numbers of merges, of letters and of symbols in the order of the tables."""
    letters = range(1 if is_all else found.num_letters, found.num_letters + 1)
    lengths = range(1 if is_all else found.length, found.length + 1)
    return product(range(1, found.num_merges + 1), letters, lengths)


def cells_of(found: Enumeration, *, is_all: bool) -> Iterator[dict[str, object]]:
    """The extremes, for JSON."""
    for merges, letters, length in sizes_of(found, is_all=is_all):
        extremes = found.extremes(num_merges=merges, num_letters=letters, length=length)
        values = {name: [str(e.value), e.witness] for name, e in extremes.items()}
        yield {"num_merges": merges, "num_letters": letters, "length": length, **values}


def tables_of(found: Enumeration) -> Iterator[str]:
    """Both tables, and the strings that attain their values."""
    witnesses: dict[tuple[int, str, Fraction], str] = {}
    for title, names in (("Maxima of σ", SIGMAS), ("Minima of greedy/optimum", RATIOS)):
        if not set(names) & set(found.columns):
            continue
        yield f"{title} over all strings of at most n symbols from k letters"
        yield ""
        yield f"| M | k | n | {' | '.join(LABELS[name] for name in names)} |"
        yield "|--" * (3 + len(names)) + "|"
        for merges, letters, length in sizes_of(found, is_all=True):
            row = found.extremes(num_merges=merges, num_letters=letters, length=length)
            for name in names:
                if name in row:
                    key = (merges, name, row[name].value)
                    witnesses.setdefault(key, row[name].witness)
            values = [decimal(row[name].value, name) if name in row else "" for name in names]
            yield f"| {merges} | {letters} | {length} | {' | '.join(values)} |"
        yield ""
    yield "The first strings that attain them"
    yield ""
    for (merges, name, value), witness in witnesses.items():
        yield f"M = {merges}  {LABELS[name]:<{WIDTH}}{shown(value):<16}{witness}"


def decimal(value: Fraction, name: str) -> str:
    """A value as the tables have it.

    >>> decimal(Fraction(8, 3), "sigma_max"), decimal(Fraction(2, 3), "ratio")
    ('2.667', '0.6667')
    """
    return f"{float(value):.4f}" if name in RATIOS else f"{float(value):.4g}"
