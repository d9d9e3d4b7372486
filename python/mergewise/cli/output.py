"""Lines and numbers to standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping


def put(line: str) -> None:
    """Write a line of data."""
    sys.stdout.write(f"{line}\n")


def put_json(value: object) -> None:
    """Write a value as a line of JSON."""
    put(json.dumps(value))


def put_facts(facts: Mapping[str, int | str], *, as_json: bool) -> None:
    """Write facts as JSON, or their numbers for people."""
    if as_json:
        put_json(facts)
    else:
        numbers = {name: value for name, value in facts.items() if isinstance(value, int)}
        put(", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in numbers.items()))
