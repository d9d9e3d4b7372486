r"""Translation of patterns into regular expressions for browsers.

Every class of characters is written as ranges of code points, taken from the tables of the core, so
that it means the same in every browser, whatever its version of Unicode. `\s`, `\w`, `.`, `^`, `$`
and the case of letters have other meanings in browsers, and are translated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from mergewise import _core
from mergewise.formats.regexes import PATTERNS

LAST = 0x10FFFF
# In the expression a class is one character, a mark: this one for the first class, and so on.
FIRST_MARK = 0xE000
QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})(?P<kind>[+?]?)")
FLAGS = re.compile(r"\(\?(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]+))?(?P<end>[:)])")
# An escape of one character, or of a class of them.
ESCAPE = re.compile(
    r"\\(?:[dDwWsSnrtfva]|[pP](?:\{[^}]*\}|[A-Za-z])"
    r"|x(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{2})|u(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{4})|U[0-9A-Fa-f]{8}"
    r"|[^A-Za-z0-9<>])"
)
ATOMIC = "(?>"
# A look-around or an atomic group, one with a name, or one with a number.
OPENING = re.compile(r"(?P<kept>\(\?(?:<?[=!]|>))|\(\?P?<\w+>|\((?!\?)")
# White space and comments, which verbose expressions do not match.
BLANK = re.compile(r"\s+|#[^\n]*")
KNOWN_FLAGS = frozenset("imsx")


class Unsupported(ValueError):  # noqa: N818 - it says what the expression is
    """An expression that has no equivalent in browsers."""


@dataclass(frozen=True)
class Expression:
    """A regular expression for browsers, with the flag `u`.

    Attributes:
        source: the expression; each class in it is one character, from U+E000 on.
        classes: the classes, in the order of these characters.
    """

    source: str
    classes: tuple[str, ...]

    @property
    def whole(self) -> str:
        """The expression with its classes."""
        return "".join(
            self.classes[ord(c) - FIRST_MARK] if 0 <= ord(c) - FIRST_MARK < len(self.classes) else c
            for c in self.source
        )


def browser_expression(pattern: str) -> Expression:
    r"""The expression of a pattern; raises Unsupported if none is equivalent.

    >>> browser_expression(r"'(?i:s)|[a-c]{1,3}+").whole
    '[\\u{27}](?:[\\u{53}\\u{73}\\u{17f}])|(?:(?=(?<a0>[\\u{61}-\\u{63}]{1,3}))\\k<a0>)'
    """
    translator = Translator(PATTERNS.get(pattern, pattern))
    source = translator.alternatives(frozenset())
    if translator.at < len(translator.pattern):
        raise Unsupported(f"a parenthesis at {translator.at} closes nothing")
    return Expression(source, tuple(translator.classes))


@dataclass
class Translator:
    """Reads an expression of fancy-regex from left to right."""

    pattern: str
    at: int = 0
    num_atomic: int = 0
    classes: dict[str, int] = field(default_factory=dict)

    def rest_starts(self, text: str) -> bool:
        """Whether the rest of the pattern starts with this text."""
        return self.pattern.startswith(text, self.at)

    def alternatives(self, flags: frozenset[str]) -> str:
        """Everything up to the end of the group."""
        written = ""
        while self.at < len(self.pattern) and not self.rest_starts(")"):
            if self.rest_starts("|"):
                self.at += 1
                written += "|"
                continue
            found = FLAGS.match(self.pattern, self.at)
            blank = BLANK.match(self.pattern, self.at) if "x" in flags else None
            if found and found["end"] == ")":
                flags = changed_flags(flags, found)
                self.at = found.end()
            elif blank:
                self.at = blank.end()
            else:
                written += self.quantified(flags)
        return written

    def quantified(self, flags: frozenset[str]) -> str:
        """One atom and its quantifier."""
        atom = self.atom(flags)
        found = QUANTIFIER.match(self.pattern, self.at)
        if not found:
            return atom
        self.at = found.end()
        if found["kind"] == "+":
            return self.atomic(atom + found[0].removesuffix("+"))
        return atom + found[0]

    def atom(self, flags: frozenset[str]) -> str:
        """A class, a group, or an assertion."""
        character = self.pattern[self.at]
        if character == "(":
            return self.group(flags)
        if character == "[":
            return self.ranges(self.take(class_end(self.pattern, self.at)), flags)
        if character == "\\":
            return self.escape(flags)
        self.at += 1
        if character == ".":
            return self.ranges(r"(?s:.)" if "s" in flags else r"[^\n]", frozenset())
        if character in "^$":
            return self.edge(character, flags)
        if character in "*+?{":
            raise Unsupported(f"nothing is repeated at {self.at - 1}")
        return self.ranges(re.escape(character), flags - {"x"})

    def edge(self, character: str, flags: frozenset[str]) -> str:
        """The beginning or the end of the text, or of a line."""
        if "m" not in flags:
            return f"(?:{character})"
        visible = self.ranges(r"[^\n]", frozenset())
        return f"(?<!{visible})" if character == "^" else f"(?:(?!{visible}))"

    def escape(self, flags: frozenset[str]) -> str:
        """An escape sequence."""
        name = self.pattern[self.at + 1 : self.at + 2]
        edges = {"A": "(?:^)", "z": "(?:$)"}
        if name in edges:
            self.at += 2
            return edges[name]
        if name in {"b", "B"}:
            self.at += 2
            word = self.ranges(r"\w", frozenset())
            after, before = "!=" if name == "b" else "=!"
            return f"(?:(?<={word})(?{after}{word})|(?<!{word})(?{before}{word}))"
        found = ESCAPE.match(self.pattern, self.at)
        if not found:
            raise Unsupported(f"\\{name} has no equivalent in browsers")
        return self.ranges(self.take(found.end()), flags)

    def group(self, flags: frozenset[str]) -> str:
        """A group of any kind; captures are not needed."""
        found = FLAGS.match(self.pattern, self.at)
        opening = "(?:"
        if found:
            flags = changed_flags(flags, found)
            self.at = found.end()
        else:
            opening = self.opening()
        inner = self.alternatives(flags)
        if not self.rest_starts(")"):
            raise Unsupported("a group has no end")
        self.at += 1
        if opening == ATOMIC:
            return self.atomic(inner)
        written = f"{opening}{inner})"
        # Browsers do not allow a quantifier after a look-around, unless it is in a group.
        return written if opening == "(?:" else f"(?:{written})"

    def opening(self) -> str:
        """Skip the opening of a group; the opening for browsers, which have none for `ATOMIC`."""
        found = OPENING.match(self.pattern, self.at)
        if not found:
            start = self.pattern[self.at : self.at + 4]
            raise Unsupported(f"{start!r} has no equivalent in browsers")
        self.at = found.end()
        return found["kept"] or "(?:"

    def atomic(self, inner: str) -> str:
        """A group without backtracking: matched by a look-ahead, then consumed as it was."""
        name = f"a{self.num_atomic}"
        self.num_atomic += 1
        return f"(?:(?=(?<{name}>{inner}))\\k<{name}>)"

    def take(self, end: int) -> str:
        """The text up to `end`, which becomes the current place."""
        start, self.at = self.at, end
        return self.pattern[start:end]

    def ranges(self, expression: str, flags: frozenset[str]) -> str:
        """The mark of the class that this expression matches."""
        letters = "".join(sorted(flags & {"i", "x"}))
        try:
            found = _core.class_ranges(f"(?{letters}:{expression})" if letters else expression)
        except ValueError as error:
            raise Unsupported(f"{expression}: {error}") from None
        number = self.classes.setdefault(written_class(found), len(self.classes))
        return chr(FIRST_MARK + number)


def changed_flags(flags: frozenset[str], found: re.Match[str]) -> frozenset[str]:
    """The flags after `(?i)` or in `(?i-s:`."""
    changed = {*found["on"], *(found["off"] or "")}
    if not changed <= KNOWN_FLAGS:
        raise Unsupported(f"{found[0]} has no equivalent in browsers")
    return (flags | set(found["on"])) - set(found["off"] or "")


def class_end(pattern: str, start: int) -> int:
    r"""The end of a class in brackets.

    >>> class_end("[]a[b]&&[^c]]d", 0), class_end(r"[\]]", 0)
    (13, 4)
    """
    depth, at = 0, start
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
        elif character == "[":
            depth += 1
            at += pattern.startswith("^", at + 1)
            at += pattern.startswith("]", at + 1)  # a first ] is a member
        elif character == "]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise Unsupported("a class has no end")


def written_class(ranges: list[tuple[int, int]]) -> str:
    """A class for browsers: its members or its complement, whichever is shorter."""
    if not ranges:
        return "(?!)"
    start, shorter = min(("[", ranges), ("[^", gaps(ranges)), key=lambda written: len(written[1]))
    written = (f"\\u{{{a:x}}}" + (f"-\\u{{{b:x}}}" if b > a else "") for a, b in shorter)
    return f"{start}{''.join(written)}]"


def gaps(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The code points between ranges; the surrogates alone, which are no characters, are no gap.

    >>> gaps([(0, 9), (11, 0xD7FF), (0xE000, 0x10FFFF)])
    [(10, 10)]
    """
    edges = [(-1, -1), *ranges, (LAST + 1, LAST + 1)]
    found = [(before[1] + 1, after[0] - 1) for before, after in pairwise(edges)]
    return [(a, b) for a, b in found if a <= b and (a, b) != (0xD800, 0xDFFF)]
