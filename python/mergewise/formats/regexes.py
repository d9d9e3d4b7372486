r"""The regular expressions of other libraries, and the named patterns among them.

mergewise and tiktoken use the Rust crate fancy-regex. tokenizers uses Oniguruma, to which `^` and
`$` mean the ends of a line, `(?m)` means that a dot matches newlines, `{1,3}+` is greedy twice, not
possessive, and fractions are in `\w`. tiktoken drops what its regular expression does not match;
mergewise and tokenizers make words of it unless told otherwise.
"""

from __future__ import annotations

import re

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = {
    "gpt2": GPT2,
    "cl100k": CL100K,
    "o200k": O200K,
    "whitespace": r"\s?\S+|\s+(?!\S)",
}
# Other spellings that have been published. Each is equal to the named pattern on every input.
NAMES = {
    **{regex: name for name, regex in PATTERNS.items()},
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s": "cl100k",
}
# The older spelling of cl100k, which Llama 3 has kept: "\n  " at the end of a text is two words
# to it and one to the newer spelling. Qwen's and Mistral's are of the same kind.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# No text has a character that one of these does not match.
COMPLETE = {
    *PATTERNS,
    LLAMA3,
    LLAMA3.replace("{1,3}", ""),
    O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace("{1,3}", ""),
}
WHOLE_TEXT = "(?s:.+)"
# What a word of SentencePiece is to tokenizers' Metaspace: a space begins it.
METASPACE = " [^ ]*|[^ ]+"

LINE_END = "(?m:$)"
LINE_START = "(?m:^)"
PART = re.compile(r"\\.|\(\?m:[$^]\)|\(\?[a-z]*(?:-[a-z]+)?[:)]|\{\d*,?\d*\}\+|[][$^]", re.DOTALL)
WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}"
FROM_ONIGURUMA = {"$": LINE_END, "^": LINE_START, r"\z": "$", r"\A": "^"}
TO_ONIGURUMA = {"$": r"\z", "^": r"\A", r"\w": f"[{WORD}]", r"\W": f"[^{WORD}]"}


def translated(regex: str, replacements: dict[str, str]) -> str | None:
    r"""The regular expression for the other engine; None if it has something with two meanings.

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
    """Do the engines disagree on this: word characters, flags other than i and x, `{1,3}+`?"""
    if part in {r"\w", r"\W", r"\b", r"\B"}:
        return True
    sets_flags = part.startswith("(?") and part not in {LINE_END, LINE_START}
    return part.endswith("}+") or (sets_flags and not set(part) <= set("(?ix-:)"))


def from_oniguruma(regex: str) -> str | None:
    r"""The pattern of a regular expression in tokenizer.json; None if it is not clear.

    >>> from_oniguruma(to_oniguruma("cl100k"))
    'cl100k'
    >>> from_oniguruma(r"\d+$")
    '\\d+(?m:$)'
    """
    if NAMES.get(regex) == "gpt2":  # its `\s++$` has one meaning
        return "gpt2"
    made = translated(regex, FROM_ONIGURUMA)
    if made is None:
        return None
    for here in (r"\w", r"\W"):
        made = made.replace(TO_ONIGURUMA[here], here)
    return NAMES.get(made) or nameless(made)


def nameless(regex: str) -> str:
    """The regular expression of a file, so that it is not taken for the name of a pattern.

    >>> nameless("gpt2"), nameless("a+")
    ('(?:gpt2)', 'a+')
    """
    return f"(?:{regex})" if re.fullmatch(r"[\w-]+", regex) else regex


def to_oniguruma(pattern: str) -> str | None:
    """The regular expression of a pattern for tokenizer.json; None if it cannot be said there."""
    return translated(PATTERNS.get(pattern, pattern), TO_ONIGURUMA)


def with_gaps(regex: str) -> str:
    r"""A regular expression that also matches what lies between its matches.

    >>> with_gaps(r"\d+")
    '\\d+|(?:(?!\\d+)(?s:.))+'
    """
    return f"{regex}|(?:(?!{regex})(?s:.))+"


def from_tiktoken(regex: str) -> tuple[str | None, bool]:
    r"""The pattern of a regular expression of tiktoken, and whether it drops gaps.

    >>> from_tiktoken(r"\d+"), from_tiktoken(with_gaps(r"\d+")), from_tiktoken(GPT2)
    (('\\d+', True), ('\\d+', False), ('gpt2', False))
    """
    if regex == WHOLE_TEXT:
        return None, False
    pattern = NAMES.get(regex, regex)
    inner = regex[: (len(regex) - len(with_gaps(""))) // 2]
    if with_gaps(inner) == regex:
        return inner, False
    return pattern, pattern not in COMPLETE


def to_tiktoken(pattern: str | None, *, drops_gaps: bool) -> str:
    """The regular expression that cuts texts in tiktoken as the pattern does here."""
    if pattern is None:
        return WHOLE_TEXT
    if drops_gaps or pattern in COMPLETE:
        return PATTERNS.get(pattern, pattern)
    return with_gaps(pattern)


def refers_to_groups(pattern: str | None) -> bool:
    r"""Does the pattern name or number its groups? Then it cannot be written twice.

    >>> refers_to_groups(r"(\w)\1"), refers_to_groups("gpt2")
    (True, False)
    """
    return pattern is not None and bool(re.search(r"\\[1-9k]|\(\?P?<\w", pattern))
