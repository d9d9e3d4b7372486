"""Certificates: how tight the bounds are, and how long they take.

    python bench/certify.py                                  # the text inside the package
    python bench/certify.py FILE... --merges 1000 8000 --seconds 2 10 60
    python bench/certify.py --linear-programs                # beside HiGHS, which must be installed

Every certificate is verified before it counts. The tables go to stdout and into
bench/results/certify.md.
"""

import argparse
import sys
import time
from pathlib import Path

from linear_programs import forest_program, price_program, solve_program
from tables import keep, processor, table

import mergewise as mw
from mergewise.demo import opticks
from mergewise.optimize.certificate_fields import Against

RESULTS = Path(__file__).parent / "results" / "certify.md"
TITLE = """# Certificates

Written by `bench/certify.py`. "Fewest" is what no merge list (no vocabulary) of
the same size goes below, and the excess is by how much greedy's tokens exceed it at most. CPU s are
those of the search for the proof on one thread, counting and training not included."""

AGAINST: tuple[Against, ...] = ("merges", "vocabularies")
# Texts and numbers of merges that a general solver of linear programs can do.
PROGRAMS = ((5_000, 50), (20_000, 100), (20_000, 400))


def measure(counts: mw.WordCounts, merges: list[int], seconds: list[float]) -> list[list[str]]:
    """A row for each number of merges, bound and time."""
    rows = []
    for num_merges in merges:
        tokenizer = mw.train(counts, num_merges=num_merges)
        for against in AGAINST:
            for limit in seconds:
                started = time.process_time()
                cert = mw.certify(
                    tokenizer, counts, against=against, time_limit=limit, num_threads=1
                )
                spent = time.process_time() - started
                cert.verify(counts, tokenizer=tokenizer)
                figures = f"{cert.tokens:,}", f"{cert.tokens_bound:,}", f"{cert.excess:.2%}"
                rows.append([f"{num_merges:,}", against, *figures, f"{spent:.1f}"])
                print(rows[-1], file=sys.stderr)
    return rows


def beside_highs(seconds: float) -> str:
    """The optimum of each linear program by HiGHS, and our bound."""
    rows = []
    for size, num_merges in PROGRAMS:
        counts = mw.count([opticks()[20_000 : 20_000 + size]], pattern="gpt2")
        words = dict(counts.top(counts.num_unique))
        tokenizer = mw.train(counts, num_merges=num_merges)
        for against in AGAINST:
            program = forest_program if against == "merges" else price_program
            for method in ("ipm", "pdlp"):
                optimum, spent = solve_program(program(words, num_merges), method)
                cert = mw.certify(
                    tokenizer,
                    counts,
                    against=against,
                    time_limit=seconds,
                    num_cases=1,  # several prove more than the linear program, as rings do
                    num_threads=1,
                )
                cert.verify(counts, tokenizer=tokenizer)
                least = counts.num_symbols - optimum
                short = 1 - cert.tokens_bound / least
                figures = f"{least:,.1f}", f"{spent:.1f}", f"{cert.tokens_bound:,}", f"{short:.3%}"
                rows.append([f"{size:,}", f"{num_merges:,}", against, method, *figures])
                print(rows[-1], file=sys.stderr)
    head = ["characters", "M", "against", "HiGHS", "its optimum", "CPU s", "our bound", "short by"]
    return table(head, rows)


def main() -> None:
    """Measures what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="texts, taken as one")
    parser.add_argument("--pattern", default="whitespace")
    parser.add_argument("--merges", nargs="+", type=int, default=[100, 1000, 8000])
    parser.add_argument("--seconds", nargs="+", type=float, default=[2, 10])
    parser.add_argument("--linear-programs", action="store_true", help="compare with HiGHS")
    parsed = parser.parse_args()
    options = " ".join(Path(argument).name for argument in sys.argv[1:])
    origin = f"`python bench/certify.py {options}`, {time.strftime('%Y-%m-%d')}, {processor()}."
    if parsed.linear_programs:
        name, body = "beside HiGHS", beside_highs(max(parsed.seconds))
    else:
        texts = [path.read_text(encoding="utf-8") for path in parsed.files] or [opticks()]
        counts = mw.count(["".join(texts)], pattern=parsed.pattern)
        name = " and ".join(path.stem for path in parsed.files) or "the text inside the package"
        head = ["M", "against", "greedy", "fewest", "excess at most", "CPU s"]
        body = f"{counts}\n\n{table(head, measure(counts, parsed.merges, parsed.seconds))}"
    keep(RESULTS, TITLE, {name: f"{origin}\n\n{body}"})
    print(body)


if __name__ == "__main__":
    main()
