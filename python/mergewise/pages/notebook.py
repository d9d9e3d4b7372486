"""Values as notebooks show them. Styles stand in the elements: the page around them is not ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import cycle

from mergewise.drawing import shown
from mergewise.pages import tag

# Backgrounds that leave the letters of a light and of a dark page readable.
BACKGROUNDS = ("#3b82f650", "#f59e0b50", "#22c55e50", "#ec489950", "#8b5cf650", "#eab30850")


def framed(page: str, height: str) -> str:
    """A whole page inside a frame, which can do nothing but run the page's own scripts."""
    style = f"width: 100%; height: {height}; border: 1px solid #8884; border-radius: 6px"
    return tag("iframe", srcdoc=page, sandbox="allow-scripts", loading="lazy", style=style)


def facts(title: str, values: Mapping[str, str], *below: str) -> str:
    """A title, and names with their values; what stands `below` is HTML already."""
    rows = "".join(
        tag("tr", cell("th", escape(name)), cell("td", escape(value)))
        for name, value in values.items()
    )
    return tag("div", tag("b", escape(title)), tag("table", rows), *below)


def cell(name: str, content: str) -> str:
    """A cell of a table, at the left."""
    return tag(name, content, style="text-align: left; padding: 1px 12px 1px 0")


def coloured(tokens: Iterable[bytes]) -> str:
    """Tokens one after the other, each on a background that differs from its neighbours'.

    >>> coloured([b"<b>"])
    '<div style="font-family: monospace; line-height: 1.8"><bdi title="3 bytes" \
style="background: #3b82f650; border-radius: 3px; padding: 1px 0">&lt;b&gt;</bdi></div>'
    """
    elements = (
        tag(
            "bdi",
            escape(shown(token)),
            title=f"{len(token)} bytes",
            style=f"background: {background}; border-radius: 3px; padding: 1px 0",
        )
        for token, background in zip(tokens, cycle(BACKGROUNDS), strict=False)
    )
    return tag("div", *elements, style="font-family: monospace; line-height: 1.8")
