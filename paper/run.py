"""Runs every script of this folder and fills README.md: claim, command, published, ours, holds.

    python paper/run.py [--full] [--corpora DIR] [--jobs N] [NAME ...]

With names only these scripts run, and nothing is written. A script that fails gets a row that says
so, and the exit status is 1.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from claims import PAPER, Claim
from page import Outcome, document

from mergewise.files import replacing

# In the order of the paper.
SCRIPTS = (
    "worked_example",
    "listings",
    "forest",
    "properties",
    "guarantee",
    "curvature_strings",
    "curvature_english",
    "suboptimal",
    "worst_case",
    "linked_list",
    "heap",
    "run_time",
    "sequence_count",
    "equivalence",
    "guard",
    "search_speed",
    "limitations",
    "words_only",
    "non_iterative",
    "variants",
    "data_table",
)
LONGEST = ("search_speed", "run_time")
TEXTS = ("en.txt", "de.txt")
WITH_CORPORA = ("run_time", "data_table")


def run(name: str, *, full: bool, corpora: Path | None) -> Outcome:
    """Runs one script in a process of its own."""
    options = ["--full"] * full
    shown = " ".join(["python", f"paper/{name}.py", *options])
    if corpora is not None and name in WITH_CORPORA:
        options += ["--corpora", str(corpora)]
        shown += " --corpora DIR"
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(PAPER / f"{name}.py"), "--json", *options],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    outcome = Outcome(name, command=shown, seconds=time.monotonic() - started)
    outcome.claims = [Claim(**json.loads(line)) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        outcome.failure = f"failed: exit status {done.returncode}"
    elif not outcome.claims:
        outcome.failure = "failed: it stated no claim"
    return outcome


def run_all(names: Sequence[str], *, full: bool, corpora: Path | None, jobs: int) -> list[Outcome]:
    """Runs scripts, a few at a time, the longest first; a line for each."""
    outcomes: dict[str, Outcome] = {}
    first = sorted(names, key=lambda name: name not in LONGEST)
    say(f"{len(names)} scripts, {jobs} at a time ...")
    pool = ThreadPoolExecutor(jobs)
    try:
        started = [pool.submit(run, name, full=full, corpora=corpora) for name in first]
        for done in as_completed(started):
            outcome = done.result()
            outcomes[outcome.name] = outcome
            end = outcome.failure or f"{len(outcome.claims)} rows, {outcome.seconds:.0f} s"
            say(f"[{len(outcomes)}/{len(names)}] {outcome.name}: {end}")
    finally:
        pool.shutdown(cancel_futures=True)
    return [outcomes[name] for name in names]


def cpu_minutes() -> float:
    """What the scripts have cost."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) / 60


def say(words: str) -> None:
    """Tells the person who waits."""
    print(words, file=sys.stderr, flush=True)


def main() -> None:
    """Runs the scripts, tells how they fare, and writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCRIPTS))
    parser.add_argument("--full", action="store_true", help="the whole size: hours")
    parser.add_argument("--corpora", type=Path, help="a folder with en.txt and de.txt")
    cores = os.cpu_count() or 1
    parser.add_argument("--jobs", type=int, default=cores, help="how many scripts at a time")
    given = parser.parse_args()
    unknown = set(given.names) - set(SCRIPTS)
    if unknown:
        parser.error(f"no script named {', '.join(sorted(unknown))}")
    missing = [name for name in TEXTS if given.corpora and not (given.corpora / name).is_file()]
    if missing:
        parser.error(f"no {' and no '.join(missing)} in {given.corpora}")
    names = given.names or SCRIPTS
    corpora = given.corpora.resolve() if given.corpora else None
    outcomes = run_all(names, full=given.full, corpora=corpora, jobs=given.jobs)
    if not given.names:
        command = "make paper" + " FULL=1" * given.full + " CORPORA=DIR" * bool(corpora)
        with replacing(PAPER / "README.md") as path:
            path.write_text(document(outcomes, command, cpu_minutes()), encoding="utf-8")
    if any(outcome.failure for outcome in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; README.md is as it was")
