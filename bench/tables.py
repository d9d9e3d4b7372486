"""Measurements to Markdown, and the file that keeps them."""

import platform
import re
from collections.abc import Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |" for cells in lines
    )


def untimed(head: list[str], reason: str, width: int) -> list[str]:
    """The cells of a row that has no figures, only the reason why."""
    return [*head, *[""] * (width - len(head) - 1), reason]


def processor() -> str:
    """The name of this machine's processor."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        found = re.search(r"model name\s*:\s*(.+)", information.read_text())
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def keep(path: Path, title: str, sections: dict[str, str]) -> None:
    """Writes the sections into the file, in the place of those of the same name."""
    kept: dict[str, str] = {}
    if path.exists():
        for part in re.split(r"(?m)^## ", path.read_text(encoding="utf-8"))[1:]:
            name, _, body = part.partition("\n")
            kept[name] = body.strip("\n")
    kept.update(sections)
    body = "\n".join(f"## {name}\n\n{kept[name]}\n" for name in kept)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{title}\n\n{body}", encoding="utf-8")
