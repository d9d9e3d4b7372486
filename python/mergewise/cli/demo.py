"""`mergewise demo`."""

from __future__ import annotations

import argparse
import sys

from mergewise import demo
from mergewise.cli.options import Parser


def add_demo(parser: Parser) -> None:
    """`mergewise demo` has no arguments.

    Examples:
      mergewise demo
      mergewise demo | less -R
    """


def run_demo(_: argparse.Namespace) -> None:
    """`mergewise demo`."""
    demo.run_demo(sys.stdout)
