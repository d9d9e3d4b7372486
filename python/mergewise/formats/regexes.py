r"""The regular expressions of other libraries, and the named patterns among them.

mergewise and tiktoken use the Rust crate fancy-regex. tokenizers uses Oniguruma, in which `^` and
`$` match at the ends of a line, `(?m)` makes a dot match newlines, `{1,3}+` is a repeated group,
not a possessive quantifier, and `\w` matches fractions. tiktoken drops what its regular expression
does not match; mergewise and tokenizers make words of it by default.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from mergewise import _core

# The expression of each named pattern, and the name of each known spelling. Every spelling is equal
# to the named pattern on every input.
PATTERNS = {name: expression for name, expression, _ in _core.named_patterns()}
NAMES = {
    spelling: name
    for name, expression, others in _core.named_patterns()
    for spelling in (expression, *others)
}
# The older version of cl100k, which Llama 3 has kept: it cuts "\n  " at the end of a text into two
# words, the newer one does not. Qwen's and Mistral's are variants of it.
OTHER_NAMES = dict(_core.other_names_of_patterns())
LLAMA3, QWEN2 = OTHER_NAMES["llama3"], OTHER_NAMES["qwen2"]
# Patterns that match every character of every text, so that there are no gaps.
COMPLETE = {
    *PATTERNS,
    LLAMA3,
    QWEN2,
    PATTERNS["o200k"].replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace("{1,3}", ""),
}
WHOLE_TEXT = "(?s:.+)"
# The words of tokenizers' Metaspace: each begins with a space.
METASPACE = " [^ ]*|[^ ]+"

LINE_END = "(?m:$)"
LINE_START = "(?m:^)"
PART = re.compile(r"\\.|\(\?m:[$^]\)|\(\?[a-z]*(?:-[a-z]+)?[:)]|\{\d*,?\d*\}\+|[][$^]", re.DOTALL)
WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}"
FROM_ONIGURUMA = {"$": LINE_END, "^": LINE_START, r"\z": "$", r"\A": "^"}
TO_ONIGURUMA = {"$": r"\z", "^": r"\A", r"\w": f"[{WORD}]", r"\W": f"[^{WORD}]"}


def translated(regex: str, replacements: dict[str, str]) -> str | None:
    r"""The regular expression for the other engine; None if a part has two meanings.

    >>> translated(r"[$^]a$", TO_ONIGURUMA)
    '[$^]a\\z'
    """
    depth = 0
    is_clear = True

    def replace(found: re.Match[str]) -> str:
        nonlocal depth, is_clear
        part = found[0]
        if part in {"[", "]"}:
            depth = max(depth + (1 if part == "[" else -1), 0)
        elif depth == 0 or part in {r"\w", r"\W"}:
            is_clear = is_clear and (part in replacements or not has_two_meanings(part))
            return replacements.get(part, part)
        return part

    made = PART.sub(replace, regex)
    return made if is_clear else None


def has_two_meanings(part: str) -> bool:
    """Whether the engines disagree on this part.

    They do on word characters, flags other than i and x, and `{1,3}+`.
    """
    if part in {r"\w", r"\W", r"\b", r"\B"}:
        return True
    sets_flags = part.startswith("(?") and part not in {LINE_END, LINE_START}
    return part.endswith("}+") or (sets_flags and not set(part) <= set("(?ix-:)"))


def from_oniguruma(regex: str) -> str | None:
    r"""The pattern of a regular expression in tokenizer.json; None if our engine cannot do it.

    >>> from_oniguruma(to_oniguruma("cl100k"))
    'cl100k'
    >>> from_oniguruma(r"\d+$"), from_oniguruma(to_oniguruma(r"\w+"))
    ('\\d+(?m:$)', '\\w+')
    """
    spelling = translated(regex, FROM_ONIGURUMA)
    # After all white space, the end of a line can only be the end of the text.
    if spelling and (name := NAMES.get(spelling.replace(rf"\s++{LINE_END}", r"\s++$"))):
        return name
    try:
        made = _core.from_oniguruma(regex)
    except ValueError:
        return None
    for here in (r"\w", r"\W"):
        made = made.replace(_core.from_oniguruma(TO_ONIGURUMA[here]), here)
    return other_spellings().get(made) or nameless(made)


@cache
def other_spellings() -> dict[str, str]:
    """What a file with each of the other named expressions is read as, and the expression."""
    named = [expression for expression in OTHER_NAMES.values() if expression not in PATTERNS]
    return {
        _core.from_oniguruma(to_oniguruma(expression) or ""): expression for expression in named
    }


def nameless(regex: str) -> str:
    """A regular expression that is never taken for the name of a pattern.

    >>> nameless("gpt2"), nameless("a+")
    ('(?:gpt2)', 'a+')
    """
    return f"(?:{regex})" if re.fullmatch(r"[\w-]+", regex) else regex


def to_oniguruma(pattern: str) -> str | None:
    """The regular expression of a pattern for tokenizer.json; None if there is none."""
    return translated(PATTERNS.get(pattern, pattern), TO_ONIGURUMA)


def with_gaps(regex: str) -> str:
    r"""The regular expression, extended to match also the text between its matches.

    >>> with_gaps(r"\d+")
    '\\d+|(?:(?!\\d+)(?s:.))+'
    """
    return f"{regex}|(?:(?!{regex})(?s:.))+"


class Cut(NamedTuple):
    """How texts are cut: by a pattern, and whether the text between its matches is dropped."""

    pattern: str | None
    drops_gaps: bool


def from_tiktoken(regex: str | None) -> Cut:
    r"""How tiktoken cuts by this name of a pattern or regular expression.

    >>> from_tiktoken(r"\d+"), from_tiktoken(with_gaps(r"\d+"))
    (Cut(pattern='\\d+', drops_gaps=True), Cut(pattern='\\d+', drops_gaps=False))
    >>> from_tiktoken(PATTERNS["gpt2"])
    Cut(pattern='gpt2', drops_gaps=False)
    """
    if regex is None or regex == WHOLE_TEXT:
        return Cut(None, drops_gaps=False)
    inner = regex[: (len(regex) - len(with_gaps(""))) // 2]
    if with_gaps(inner) == regex:
        return Cut(inner, drops_gaps=False)
    pattern = NAMES.get(regex, regex)
    return Cut(pattern, drops_gaps=pattern not in COMPLETE)


def to_tiktoken(pattern: str | None, *, drops_gaps: bool) -> str:
    """The regular expression that cuts texts in tiktoken as the pattern does here."""
    if pattern is None:
        return WHOLE_TEXT
    if drops_gaps or pattern in COMPLETE:
        return PATTERNS.get(pattern, pattern)
    return with_gaps(pattern)


def refers_to_groups(pattern: str | None) -> bool:
    r"""Whether the pattern refers to its groups; then it cannot be written twice.

    >>> refers_to_groups(r"(\w)\1"), refers_to_groups("gpt2")
    (True, False)
    """
    return pattern is not None and bool(re.search(r"\\[1-9k]|\(\?P?<\w", pattern))
