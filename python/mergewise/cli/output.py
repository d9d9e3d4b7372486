"""Lines and numbers to standard output."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from mergewise.drawing import is_coloured


def put(line: str) -> None:
    """Write a line of data."""
    sys.stdout.write(f"{line}\n")


def terminal() -> dict[str, Any]:
    """The width of the terminal and whether it shows colours, as arguments of what draws."""
    return {"width": shutil.get_terminal_size().columns, "is_coloured": is_coloured(sys.stdout)}


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
