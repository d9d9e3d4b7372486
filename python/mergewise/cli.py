"""The command line: arguments to verbs, nothing else."""

from __future__ import annotations

import argparse
import sys

from mergewise.demo import run_demo


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="mergewise",
        description="Train, apply, improve, solve and certify byte-pair encodings.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="what mergewise does, on a text inside the package")
    demo.set_defaults(run=lambda _: run_demo(sys.stdout))
    parsed = parser.parse_args(arguments)
    parsed.run(parsed)
    return 0
