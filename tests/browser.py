"""A real browser for tests: Chromium of the system, driven by Playwright.

Where there is none, tests that need it are skipped, and say so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = {"width": 1200, "height": 900}
PHONE = {"width": 360, "height": 740}


def executable() -> str | None:
    """The path of a browser on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def started_browser() -> Iterator[Browser]:
    """A browser without a window."""
    path = executable()
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, path: Path, *, fragment: str = "", **options: object
) -> Iterator[Page]:
    """A page of a file, with no network; whatever it complains about is an error at the end."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})  # type: ignore[arg-type]
    context.set_offline(True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(f"wanted {request.url}"))
    page.goto(path.as_uri() + fragment)
    yield page
    context.close()
    assert complaints == []


def is_too_wide(page: Page) -> bool:
    """Whether the page has to be scrolled sideways."""
    wide: bool = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    return wide
