"""The exceptions. The Rust core raises these too."""

from __future__ import annotations


class MergewiseError(Exception):
    """The base of every exception that mergewise defines."""


class InvalidMergesError(MergewiseError, ValueError):
    """A merge list uses a token that no earlier merge makes."""


class UnknownTokenError(MergewiseError, LookupError):
    """A token, an id or a character that the vocabulary does not hold."""
