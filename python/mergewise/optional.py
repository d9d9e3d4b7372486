"""Optional packages, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_optional(module: str, *, extra: str, package: str) -> Any:  # noqa: ANN401 - a module
    """A module of an optional package; the error says which extra of mergewise installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f'this needs {package}: pip install "mergewise[{extra}]"') from None
