"""The exceptions. The Rust core raises these too."""

from __future__ import annotations


class MergewiseError(Exception):
    """The base of every exception that mergewise defines."""


class FormatError(MergewiseError, ValueError):
    """A file is not what it should be; the message says where, what was found and expected."""


class ConversionError(MergewiseError, ValueError):
    """A format cannot say all that a tokenizer is; the message lists what would be lost."""


class InvalidMergesError(MergewiseError, ValueError):
    """A merge list uses a token that no earlier merge makes."""


class UnknownTokenError(MergewiseError, LookupError):
    """A token, an id or a character that the vocabulary does not hold."""


class CertificateError(MergewiseError, ValueError):
    """A certificate does not prove what it says, or not of these counts."""


class ClusterError(MergewiseError, RuntimeError):
    """A worker of a cluster could not do its part; the message says why."""
