"""The steps of tokenizer.json before merging: its normalizer and pre_tokenizer."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from mergewise.formats.json_values import Value
from mergewise.formats.letters import MARK
from mergewise.formats.regexes import METASPACE, from_oniguruma, nameless
from mergewise.vocabulary import Alphabet, Normalize, PrefixSpace

META: Final = re.compile(r"[\\.+*?()|\[\]{}^$]")
NORMALIZERS: Final = "NFC, NFKC, Prepend of a space or U+2581, then Replace of spaces by U+2581"
# The words of the pre-tokenizers that drop white space.
WORDS: Final = {"WhitespaceSplit": r"\S+", "Whitespace": r"\w+|[^\w\s]+"}
PRE_TOKENIZERS: Final = "ByteLevel, Split, Metaspace, WhitespaceSplit or Whitespace"


@dataclass
class Steps:
    """The steps, as fields of Vocabulary."""

    alphabet: Alphabet = "chars"
    normalize: Normalize = None
    pattern: str | None = None
    drops_gaps: bool = False
    prefix_space: PrefixSpace = None
    mark_is_space: bool = False

    def cut(self, pattern: str | None, *, drops_gaps: bool = False) -> None:
        """Set the pattern."""
        self.pattern = pattern
        self.drops_gaps = drops_gaps

    def changes(self, text: str) -> bool:
        """Whether the normalizer changes this text."""
        form = self.normalize.upper() if self.normalize else None
        normal = unicodedata.normalize(form, text) if form else text  # type: ignore[arg-type]
        marks = self.mark_is_space and " " in text
        return normal != text or marks or self.prefix_space == "always"


def read_steps(document: Value) -> Steps:
    """The steps of a document; those that mergewise does not support are refused or left out."""
    steps = Steps()
    read_normalizers(flattened(document.get("normalizer"), "normalizers"), steps)
    has_added_tokens = bool(document.get("added_tokens").raw)
    for value in flattened(document.get("pre_tokenizer"), "pretokenizers"):
        if not read_pre_tokenizer(value, steps, has_added_tokens=has_added_tokens):
            value.leave_out(PRE_TOKENIZERS)
    if steps.alphabet == "bytes" and steps.mark_is_space:
        raise document["normalizer"].wrong("no marks for spaces where symbols are bytes")
    return steps


def flattened(value: Value, members: str) -> list[Value]:
    """The steps in a value: none, one, or those of a sequence."""
    if value.raw is None:
        return []
    if value["type"].text() != "Sequence":
        return [value]
    return [step for item in value[members].items() for step in flattened(item, members)]


def read_normalizers(values: list[Value], steps: Steps) -> None:
    """Read the steps of the normalizer; only some orders of them are supported."""
    prepended = None
    for index, value in enumerate(values):
        kind = value["type"].text()
        if kind in {"NFC", "NFKC"} and index == 0:
            steps.normalize = "nfc" if kind == "NFC" else "nfkc"
        elif kind == "Prepend" and prepended is None:
            prepended = value["prepend"]
            prepended.text()
        elif kind == "Replace" and is_marking(value) and not steps.mark_is_space:
            steps.mark_is_space = True
        else:
            value.leave_out(NORMALIZERS)
    if prepended is not None:
        # A mark at the start stands for a space only if all spaces become marks.
        if prepended.raw == (MARK if steps.mark_is_space else " "):
            steps.prefix_space = "always"
        else:
            prepended.leave_out(NORMALIZERS)


def is_marking(value: Value) -> bool:
    """Whether this step of the normalizer turns spaces into marks."""
    return value["pattern"].object() == {"String": " "} and value["content"].text() == MARK


def read_pre_tokenizer(value: Value, steps: Steps, *, has_added_tokens: bool) -> bool:
    """Read a step of the pre-tokenizer; whether it is supported after the steps before it."""
    kind = value["type"].text()
    is_first = steps.pattern is None and steps.alphabet == "chars"
    if kind == "Split" and value["pattern"].object() == {"String": " "} and steps.mark_is_space:
        return True  # no space is left to split at
    if kind == "ByteLevel":
        return read_byte_level(value, steps)
    if not is_first or (steps.mark_is_space and kind != "Split"):
        return False
    if kind == "Split":
        return read_split(value, steps)
    if kind == "Metaspace":
        return read_metaspace(value, steps, has_added_tokens=has_added_tokens)
    if kind in WORDS:
        steps.cut(WORDS[kind], drops_gaps=True)
    return kind in WORDS


def read_byte_level(value: Value, steps: Steps) -> bool:
    """Read ByteLevel: bytes as letters, optionally a space first and GPT-2's pattern."""
    is_cut = steps.pattern is not None
    uses_regex = value.get("use_regex").flag(default=True)
    prefixes = value.get("add_prefix_space").flag(default=True)
    is_known = steps.alphabet == "chars" and not (is_cut and (uses_regex or prefixes))
    steps.alphabet = "bytes"  # tokens are written in letters even if the rest is left out
    if not is_known:
        return False
    if uses_regex:
        steps.cut("gpt2")
    if prefixes and steps.prefix_space is None:
        steps.prefix_space = "unless_space"
    return True


def read_split(value: Value, steps: Steps) -> bool:
    """Read Split: its words are the matches and the gaps, or the matches alone."""
    behavior = value["behavior"].text()
    invert = value.get("invert").flag()
    regex = value["pattern"].get("Regex")
    if regex.raw is None:
        escaped = META.sub(r"\\\g<0>", value["pattern"]["String"].text())
        pattern: str | None = nameless(escaped)
    else:
        pattern = from_oniguruma(regex.text())
    keeps_matches = behavior == "Isolated" or (behavior == "Removed" and invert)
    if not pattern or steps.mark_is_space or not keeps_matches:
        return False
    steps.cut(pattern, drops_gaps=behavior == "Removed")
    return True


def read_metaspace(value: Value, steps: Steps, *, has_added_tokens: bool) -> bool:
    """Read Metaspace: spaces become marks, optionally with one first, and may begin words."""
    older = "always" if value.get("add_prefix_space").flag(default=True) else "never"
    scheme = value.get("prepend_scheme")
    prepends = scheme.text(default=older)
    splits = value.get("split").flag(default=True)
    if value["replacement"].text() != MARK or prepends not in {"always", "never", "first"}:
        return False
    if prepends == "first" and has_added_tokens:
        scheme.leave_out("always or never where there are added tokens")
    steps.mark_is_space = True
    if prepends != "never" and steps.prefix_space is None:
        steps.prefix_space = "unless_space"
    if splits:
        steps.cut(METASPACE)
    return True
