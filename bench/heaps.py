"""Heaps' law of texts: how many different words n bytes have, V = K n^β.

    python bench/heaps.py FILE ...          # UTF-8; a line is a document

The lines are taken in random order, so that a part is like the whole. V is fitted to eight parts,
from 5 MB to all, by least squares of the logarithms. β falls slowly as texts grow: smaller parts
would make it larger. The table goes to stdout and into bench/results/heaps.md.
"""

import argparse
import math
import time
from pathlib import Path
from random import Random

import pyarrow.compute as pc
from cluster import islice_bytes
from tables import keep, processor, table

import mergewise as mw

RESULTS = Path(__file__).parent / "results" / "heaps.md"
TITLE = """# Heaps' law

Written by `bench/heaps.py`: different words in n bytes of text, V = K n^β, words cut by cl100k. The
error is the largest of the fit, among eight parts from 5 MB to all of the text. Shares are of the
different words of the whole, and lengths are theirs."""
LEAST_BYTES = 5_000_000
NUM_PARTS = 8


def growth(path: Path) -> tuple[list[tuple[int, int]], mw.WordCounts]:
    """How many different words parts of a text have, by their bytes, and the counts of all."""
    lines = path.read_bytes().splitlines(keepends=True)
    Random(1).shuffle(lines)  # noqa: S311 (not for secrets)
    size = sum(map(len, lines))
    if size < 2 * LEAST_BYTES:
        raise SystemExit(f"{path}: {size:,} bytes, expected {2 * LEAST_BYTES:,} or more")
    counts, points, rest = mw.count([], pattern="cl100k"), [], iter(lines)
    num_bytes = 0
    for number in range(NUM_PARTS):
        wanted = LEAST_BYTES * (size / LEAST_BYTES) ** (number / (NUM_PARTS - 1))
        part = list(islice_bytes(rest, round(wanted) - num_bytes))
        counts += mw.count(part, pattern="cl100k", num_threads=0)
        num_bytes += sum(map(len, part))
        points.append((num_bytes, counts.num_unique))
    return points, counts


def fit(points: list[tuple[int, int]]) -> tuple[float, float]:
    """K and β of the line that is nearest in logarithms."""
    logs = [(math.log(size), math.log(words)) for size, words in points]
    x_mean, y_mean = (sum(column) / len(logs) for column in zip(*logs, strict=True))
    slope = sum((x - x_mean) * (y - y_mean) for x, y in logs)
    slope /= sum((x - x_mean) ** 2 for x, _ in logs)
    return math.exp(y_mean - slope * x_mean), slope


def row_of(path: Path) -> list[str]:
    """The law of a text, as cells."""
    points, counts = growth(path)
    scale, exponent = fit(points)
    errors = [abs(scale * size**exponent / words - 1) for size, words in points]
    num_unique = counts.num_unique
    length = pc.mean(pc.binary_length(counts.to_arrow().column("word"))).as_py()
    rare = [1 - counts.prune(least).num_unique / num_unique for least in (2, 10)]
    return [
        path.name,
        f"{points[-1][0] / 1e6:.0f}",
        f"{num_unique:,}",
        f"{scale:.1f}",
        f"{exponent:.3f}",
        f"{max(errors):.1%}",
        f"{length:.1f}",
        *(f"{share:.2f}" for share in rare),
    ]


def main() -> None:
    """Fits the law to each text that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("texts", nargs="+", type=Path, metavar="FILE")
    texts = parser.parse_args().texts
    head = ["", "MB", "words", "K", "β", "error", "bytes a word", "once", "less than 10 times"]
    body = table(head, [row_of(path) for path in texts])
    names = " ".join(path.name for path in texts)
    origin = f"`python bench/heaps.py {names}`, {time.strftime('%Y-%m-%d')}, {processor()}."
    keep(RESULTS, TITLE, {"Texts": f"{origin}\n\n{body}"})
    print(body)


if __name__ == "__main__":
    main()
