"""The exceptions. The Rust core raises these too."""

from __future__ import annotations

# How this package words the hints of errors that the command line words in its own terms.
HINTS = {
    "allow_special": (
        "pass allowed_special={{{token}}} to encode it as that token, or disallowed_special=() to "
        "encode its characters like any other text"
    ),
    "add_special": (
        "train with special_tokens=[{token}], or add it: tok.with_special_tokens([{token}])"
    ),
    "check_utf8": 'count with errors="strict" to find it, or with errors="replace"',
    "use_pattern": "count with a pattern",
    "prune_sums": "prune them where they are summed (min_count)",
    "use_pattern_or_prune": "count words with a pattern, or prune",
    "normalize_first": "normalise the text first",
    "give_pattern": 'give pattern="cl100k", another name, a regular expression or None',
    "give_format": "give format=",
    "give_dtype": "give their dtype=",
    "give_template": "name one of these templates, or give one",
    "give_field": "give field=",
    "file_damaged": "the file is damaged or cut short",
    "use_smaller_window": "compress it without --long, or decompress it first",
    "too_long_to_skip": (
        "a document that is read in parts is not left out: its beginning may be written already"
    ),
    "write_lossy": "lossy=True writes the rest",
    "read_lossy": "lossy=True reads the file without it",
}


class MergewiseError(Exception):
    """The base of every exception that mergewise defines: what is wrong, and where, as data.

    >>> error = FormatError("found 1, expected 2", path="a.json", offset=7)
    >>> str(error), error.offset
    ('a.json: found 1, expected 2 at byte 7', 7)

    Attributes:
        message: what is wrong, without its place.
        path: the file, if there is one.
        place: where in it, in words: "record 3", "line 2".
        document: which document of several, from 0.
        offset: where in the text or the file, in bytes.
        hint: what may help: a name in `HINTS`, or the advice itself.
        token: the special token that the error is about.
    """

    def __init__(
        self,
        message: str = "",
        *,
        path: object = None,
        place: str | None = None,
        document: int | None = None,
        offset: int | None = None,
        hint: str | None = None,
        token: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else str(path)
        self.place = place
        self.document = document
        self.offset = offset
        self.hint = hint
        self.token = token

    @property
    def kind(self) -> str:
        """The class of the error: "Format" of a FormatError."""
        return type(self).__name__.removesuffix("Error")

    def worded(self, hints: dict[str, str]) -> str:
        """The error in one line, with its hint in the words of this table, or else in Python's."""
        parts = [self.path, self.place]
        if self.document is not None:
            parts.append(f"document {self.document}")
        offset = "" if self.offset is None else f" at byte {self.offset}"
        line = ": ".join([*(part for part in parts if part), self.message + offset])
        if self.hint is None:
            return line
        advice = {**HINTS, **hints}.get(self.hint, self.hint)
        if self.token is not None:
            advice = advice.format(token=f'"{self.token}"')
        return f"{line}; hint: {advice}"

    def __str__(self) -> str:
        return self.worded({})


class FormatError(MergewiseError, ValueError):
    """A file is not what it should be; the message says where, what was found and expected."""


class ConversionError(MergewiseError, ValueError):
    """A format cannot hold all that a tokenizer is; the message lists what would be lost."""


class InputError(MergewiseError, ValueError):
    """An argument, a text or a pattern that cannot be used."""


class InvalidMergesError(MergewiseError, ValueError):
    """A merge list uses a token that no earlier merge makes."""


class UnknownTokenError(MergewiseError, LookupError, ValueError):
    """A token, an id or a character that the vocabulary does not hold."""


class CertificateError(MergewiseError, ValueError):
    """A certificate does not prove what it says, or not of these counts."""


class ClusterError(MergewiseError, RuntimeError):
    """A worker of a cluster could not do its part; the message says why."""
