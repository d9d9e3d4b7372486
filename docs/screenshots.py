"""Takes the pictures of docs/pages.md: `make screenshots`.

Needs Chromium and Playwright. Pages are those of Newton's Opticks, the text inside the package.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, ViewportSize, sync_playwright

import mergewise as mw
from mergewise.demo import opticks

FOLDER = Path(__file__).parent / "screenshots"
DESKTOP = ViewportSize(width=1100, height=820)
LONG = ViewportSize(width=1100, height=1380)
PHONE = ViewportSize(width=360, height=740)
# Which part of a report each picture shows.
SEEN = {"light": "body", "dark": "#compression", "phone": "#box"}
TEXT = "The Whiteness of the Sun's Light is compounded of all the primary Colours."


def make_pages(folder: Path) -> dict[str, Path]:
    """A report, a comparison and an explanation."""
    corpus = opticks()
    by_name = {name: mw.count([corpus], pattern=name) for name in ("gpt2", "whitespace")}
    first, second = (mw.train(counts, vocab_size=4096) for counts in by_name.values())
    parts = {name: {"opticks.txt": counts} for name, counts in by_name.items()}
    paths = {name: folder / f"{name}.html" for name in ("report", "compare", "explain")}
    mw.report(first, parts["gpt2"], name="opticks.json", time_limit=20).save(paths["report"])
    mw.report(
        first,
        parts["gpt2"],
        name="gpt2.json",
        compare=second,
        compare_counts=parts["whitespace"],
        compare_name="whitespace.json",
        time_limit=20,
    ).save(paths["compare"])
    mw.explain("picked pickled pickles", num_merges=5).save(paths["explain"])
    return paths


def take(browser: Browser, path: Path, name: str) -> None:
    """A picture of a page in light, in dark and on a phone."""
    for kind, viewport in (("light", LONG), ("dark", DESKTOP), ("phone", PHONE)):
        scheme: Literal["dark", "light"] = "dark" if kind == "dark" else "light"
        page = browser.new_page(viewport=viewport, color_scheme=scheme)
        page.goto(path.as_uri() + ("#step=9" if name == "explain" else ""))
        if page.locator("#text").count():
            page.fill("#text", TEXT)
            page.locator("#text").blur()
            page.evaluate(f"document.querySelector('{SEEN[kind]}').scrollIntoView()")
        page.wait_for_timeout(300)
        target = FOLDER / f"{name}-{kind}.png"
        page.screenshot(path=target)
        print(f"{target.name}: {target.stat().st_size:,} bytes")
        page.close()


def main() -> None:
    """Make the pages, and take the pictures."""
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("no chromium: the pictures were not taken")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        paths = make_pages(Path(folder))
        browser = playwright.chromium.launch(executable_path=executable)
        for name, path in paths.items():
            take(browser, path, name)
        browser.close()
    explanation = mw.explain("picked pickled pickles", num_merges=5)
    for step in (0, 3):
        target = FOLDER / f"explain-step-{step}.svg"
        target.write_text(explanation.svg(step), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
