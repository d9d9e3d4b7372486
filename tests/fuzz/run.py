"""Fuzz a target with atheris: `python tests/fuzz/run.py tiktoken --seconds 600`.

This needs atheris and regex besides mergewise, and pyarrow for the target parquet; `--help` lists
the targets. A finding is told once for each place in the code, and its input is written to the
folder of `--findings`; to see it again: `python tests/fuzz/run.py tiktoken --input FILE`. The exit
status says whether that folder has any.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

LONGEST = 30_000
SLOW_SECONDS = 5
MOST_MEGABYTES = 2048
MOST_PROCESSES = 100


def main() -> int:
    """Fuzz as the command line says."""
    import atheris  # type: ignore[import-untyped] # noqa: PLC0415

    sys.path.insert(0, str(Path(__file__).parent.parent))
    with atheris.instrument_imports(include=["mergewise", "fuzz.arrow"]):
        from fuzz.findings import Findings  # noqa: PLC0415
        from fuzz.mutations import mutated  # noqa: PLC0415
        from fuzz.targets import FILES, SEEDS, TARGETS, seeds  # noqa: PLC0415

    parser = argparse.ArgumentParser(description="Fuzz a target.")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--findings", type=Path, default=Path("findings"))
    parser.add_argument("--input", type=Path, help="check this file, and fuzz nothing")
    options = parser.parse_args()
    check = TARGETS[options.target]
    if options.input:
        check(options.input.read_bytes())
        return 0
    findings = Findings(check, options.findings / options.target)
    names = FILES.get(options.target, ())
    beginnings = [seed.read_bytes() for seed in seeds(options.target)]

    def change(data: bytes, max_size: int, seed: int) -> bytes:
        def mutate(part: bytes) -> bytes:
            return bytes(atheris.Mutate(part, len(part) + 16))

        random = Random(seed)  # noqa: S311
        # Where the core or another process decides, coverage does not say what is worth keeping.
        made = data if random.random() < 0.5 else random.choice(beginnings)
        for _ in range(random.choice([1, 1, 2, 4])):
            made = mutated(made, names, random, mutate)
        return made if len(made) <= max_size else mutate(data)[:max_size]

    def fuzz(corpus: str, seconds: int) -> None:
        settings = {
            "max_total_time": seconds,
            "max_len": LONGEST,
            "timeout": SLOW_SECONDS,
            "rss_limit_mb": MOST_MEGABYTES,
            "artifact_prefix": f"{findings.folder}/",
            "print_final_stats": 1,
            "print_funcs": 0,
        }
        arguments = [f"-{name}={value}" for name, value in settings.items()]
        arguments += [corpus, str(SEEDS / options.target)]
        changes = {"custom_mutator": change} if names else {}
        atheris.Setup([sys.argv[0], *arguments], findings, **changes)
        atheris.Fuzz()

    run_in_children(fuzz, options.seconds)
    num_found = len(list(findings.folder.iterdir()))
    sys.stderr.write(f"{num_found} findings in {findings.folder}\n")
    return int(num_found > 0)


def run_in_children(fuzz: Callable[[str, int], None], seconds: int) -> None:
    """Fuzz in a process that may end at an input, and then in another, for so many seconds."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with tempfile.TemporaryDirectory() as corpus:
        for _ in range(MOST_PROCESSES):
            left = round(signal.getitimer(signal.ITIMER_REAL)[0])
            if left == 0:
                return
            child = os.fork()
            if child == 0:
                try:
                    fuzz(corpus, left)
                finally:
                    os._exit(1)
            if os.waitpid(child, 0)[1] == 0:
                return


if __name__ == "__main__":
    sys.exit(main())
