"""Builds the site: `make docs`.

The pages are docs/ and every document that they link, such as the tables of bench/results. They are
laid out in target/site with their links following them, and Zensical makes site/ of that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
STAGE = ROOT / "target" / "site"
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")


def place_of(file: Path) -> Path:
    """Where a file of the repository lies on the site: docs/ is its root."""
    return Path(file.relative_to(DOCS if file.is_relative_to(DOCS) else ROOT))


def stage_page(page: Path) -> set[Path]:
    """Copy a page with its links following their targets, which are returned."""
    linked: set[Path] = set()

    def follow(match: re.Match[str]) -> str:
        target = (page.parent / match[1]).resolve()
        if not target.is_file():
            raise SystemExit(f"{page.relative_to(ROOT)} links {match[1]}, which is no file")
        linked.add(target)
        return Path(os.path.relpath(place_of(target), place_of(page).parent)).as_posix()

    copy = STAGE / place_of(page)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(LINK.sub(follow, page.read_text(encoding="utf-8")), encoding="utf-8")
    return linked


def stage() -> None:
    """Lay out the pages of docs/, and all that can be reached from them."""
    shutil.rmtree(STAGE, ignore_errors=True)
    to_do, done = {*DOCS.rglob("*.md"), *DOCS.rglob("*.css")}, set[Path]()
    while to_do:
        file = to_do.pop()
        done.add(file)
        if file.suffix == ".md":
            to_do |= stage_page(file) - done
        else:
            copy = STAGE / place_of(file)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def main() -> None:
    """Lay out the pages and build the site; a warning is an error."""
    stage()
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    raise SystemExit(subprocess.run(command, cwd=ROOT, check=False).returncode)  # noqa: S603 - ours


if __name__ == "__main__":
    main()
