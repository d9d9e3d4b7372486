"""Examples of docstrings as blocks of code, for the API reference.

A paragraph of a docstring that begins with `>>>` is an example wherever it stands; Griffe takes it
for one under a heading `Examples:` alone, and Markdown would take it for a quotation.
"""

from __future__ import annotations

import re

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Examples(griffe.Extension):  # type: ignore[misc]  # it may not be installed
    """Puts the examples of all docstrings into fences."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            fenced = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
            obj.docstring.value = fenced
