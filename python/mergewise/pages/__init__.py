"""Web pages in one file: no network, light and dark, for screens, phones and paper."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from typing import Any

from mergewise.drawing import shown


def asset(room: str, name: str) -> str:
    """A file of CSS or JavaScript beside the modules of a room."""
    return resources.files(f"mergewise.{room}").joinpath(name).read_text(encoding="utf-8")


def page(title: str, body: str, room: str, *, css: str, scripts: Iterable[str]) -> str:
    """A whole page, with the style and the scripts of a room inside."""
    style = "\n" + "\n".join([asset("pages", "base.css"), asset(room, css)])
    code = [f"\n{asset(room, name)}" for name in scripts]
    js = "\n".join(f"<script>{script}</script>" for script in code)
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="mergewise">
<meta http-equiv="Content-Security-Policy" content="{policy(style, code)}">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
{js}
</body>
</html>
"""


def policy(style: str, scripts: Iterable[str]) -> str:
    """The page loads nothing and runs its own scripts alone, whatever text ends up in it."""
    return (
        f"default-src 'none'; style-src {hashes([style])}; script-src {hashes(scripts)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def hashes(elements: Iterable[str]) -> str:
    """The contents that elements may have, as a content security policy lists them.

    >>> hashes(["alert(1)"])
    "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    >>> hashes([])
    "'none'"
    """
    digests = [hashlib.sha256(element.encode()).digest() for element in elements]
    found = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    return " ".join(found) or "'none'"


def tag(name: str, *content: str, **attributes: Any) -> str:  # noqa: ANN401 - whatever has a string
    """An element; an attribute that is None is left out, and `class_` is `class`.

    >>> tag("td", "3", class_="number", colspan=2)
    '<td class="number" colspan="2">3</td>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(content)}</{name}>"


def code(string: bytes | str) -> str:
    """A token as the page shows it: no character of it is invisible."""
    raw = string.encode() if isinstance(string, str) else string
    return tag("code", isolated(shown(raw)), class_="token")


def percent(part: float, digits: int = 2) -> str:
    r"""A part of a whole as people read it, on one line.

    >>> percent(0.031), percent(0.7, 0)
    ('3.10\xa0%', '70\xa0%')
    """
    return f"{100 * part:.{digits}f}\u00a0%"


def isolated(text: str) -> str:
    """A text from elsewhere: its direction does not change the order of what stands around it.

    >>> isolated("<b>")
    '<bdi>&lt;b&gt;</bdi>'
    """
    return tag("bdi", escape(text))


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", class_: str = ""
) -> str:
    """A table; cells are HTML already, and the first of a row is its heading."""
    first = "".join(tag("th", cell, scope="col") for cell in head)
    body = "".join(
        tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:]))
        for row in rows
    )
    top = tag("caption", caption) if caption else ""
    whole = tag(
        "table", top, tag("thead", tag("tr", first)), tag("tbody", body), class_=class_ or None
    )
    return tag(
        "div", whole, class_="scroll", tabindex="0", role="group", aria_label=caption or None
    )
