"""Merge lists better than greedy's: what is gained, on the corpus and on unseen text.

    python bench/improve.py                                          # the text inside the package
    python bench/improve.py FILE... --merges 100 1000 --seconds 10 120
    python bench/improve.py VALID --unseen TEST --merges 1000 --seconds 120
    python bench/improve.py EN --merges 32000 --seconds 280 --threads 2

The tokens of every list are counted again by the encoder before they count. The tables go to stdout
and into bench/results/improve.md.
"""

import argparse
import sys
import time
from pathlib import Path

from tables import keep, processor, table

import mergewise as mw
from mergewise.demo import opticks

RESULTS = Path(__file__).parent / "results" / "improve.md"
TITLE = """# Better than greedy

Written by `bench/improve.py`. "Gain" is by how much fewer tokens the improved list makes than
greedy's of the same length, "unseen" the same on text that neither saw, and "left" by how much
fewer tokens than the improved list's any list of that length could make at most, by a certificate
of `--proof` seconds. CPU s are those of the search, counting and training not included."""


def measure(
    counts: mw.WordCounts,
    unseen: mw.WordCounts | None,
    merges: list[int],
    seconds: list[float],
    options: argparse.Namespace,
) -> list[list[str]]:
    """A row for each number of merges and time."""
    rows = []
    for num_merges in merges:
        greedy = mw.train(counts, num_merges=num_merges)
        for limit in seconds:
            started, wall = time.process_time(), time.perf_counter()
            better = mw.improve(
                greedy, counts, time_limit=limit, num_threads=options.threads, seed=options.seed
            )
            spent, passed = time.process_time() - started, time.perf_counter() - wall
            cert = mw.certify(better, counts, time_limit=options.proof, num_threads=options.threads)
            before, after = greedy.core.num_tokens(counts.core), better.core.num_tokens(counts.core)
            figures = f"{before:,}", f"{after:,}", f"{1 - after / before:.2%}"
            left = f"{1 - cert.tokens_bound / after:.2%}"
            times = f"{spent:.1f}", f"{passed:.1f}"
            rows.append([f"{num_merges:,}", *figures, gain(greedy, better, unseen), left, *times])
            print(rows[-1], file=sys.stderr)
    return rows


def gain(greedy: mw.Tokenizer, better: mw.Tokenizer, unseen: mw.WordCounts | None) -> str:
    """By how much fewer tokens unseen text has."""
    if unseen is None:
        return ""
    return f"{1 - better.core.num_tokens(unseen.core) / greedy.core.num_tokens(unseen.core):.2%}"


def counts_of(paths: list[Path], pattern: str) -> mw.WordCounts:
    """The words of texts; of the text inside the package, if there are none."""
    if paths:
        return mw.count_files(paths, pattern=pattern)
    return mw.count([opticks()], pattern=pattern)


def main() -> None:
    """Measures what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="texts, taken together")
    parser.add_argument("--unseen", nargs="+", type=Path, help="texts to measure on as well")
    parser.add_argument("--pattern", default="whitespace")
    parser.add_argument("--merges", nargs="+", type=int, default=[100, 1000, 4000])
    parser.add_argument("--seconds", nargs="+", type=float, default=[5, 20])
    parser.add_argument("--proof", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parsed = parser.parse_args()
    counts = counts_of(parsed.files, parsed.pattern)
    unseen = counts_of(parsed.unseen, parsed.pattern) if parsed.unseen else None
    arguments = " ".join(Path(argument).name for argument in sys.argv[1:])
    origin = f"`python bench/improve.py {arguments}`, {time.strftime('%Y-%m-%d')}, {processor()}."
    name = " and ".join(path.stem for path in parsed.files) or "the text inside the package"
    if parsed.unseen:
        name += ", unseen " + " and ".join(path.stem for path in parsed.unseen)
    head = ["M", "greedy", "improved", "gain", "unseen", "left", "CPU s", "wall s"]
    rows = measure(counts, unseen, parsed.merges, parsed.seconds, parsed)
    body = f"{counts}\n\n{table(head, rows)}"
    keep(RESULTS, TITLE, {name: f"{origin}\n\n{body}"})
    print(body)


if __name__ == "__main__":
    main()
