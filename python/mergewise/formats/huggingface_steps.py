"""The steps of tokenizer.json before merging: its normalizer and pre_tokenizer.

Where they amount to a normal form, a space before the text and one pattern, the fields of
Vocabulary say so, and texts are encoded by the faster means that the core has for these. All other
steps are kept as the file has them, and the core does one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mergewise import _core
from mergewise.errors import InputError
from mergewise.formats.json_values import Value
from mergewise.formats.letters import MARK
from mergewise.formats.regexes import METASPACE, from_oniguruma, nameless
from mergewise.vocabulary import Alphabet, Normalize, PrefixSpace, Step

META: Final = re.compile(r"[\\.+*?()|\[\]{}^$]")
# The words of the pre-tokenizers that drop white space.
WORDS: Final = {"WhitespaceSplit": r"\S+", "Whitespace": r"\w+|[^\w\s]+"}


@dataclass
class Steps:
    """The steps, as fields of Vocabulary."""

    alphabet: Alphabet = "chars"
    normalize: Normalize = None
    pattern: str | None = None
    drops_gaps: bool = False
    prefix_space: PrefixSpace = None
    mark_is_space: bool = False
    normalizer: Sequence[Step] | None = None
    pre_tokenizer: Sequence[Step] | None = None

    def cut(self, pattern: str | None, *, drops_gaps: bool = False) -> None:
        """Set the pattern."""
        self.pattern = pattern
        self.drops_gaps = drops_gaps


def read_steps(document: Value) -> Steps:
    """The steps of a document."""
    normalizers = flattened(document.get("normalizer"), "normalizers")
    cuts = flattened(document.get("pre_tokenizer"), "pretokenizers")
    added = document.get("added_tokens")
    tokens = [] if added.raw is None else added.items()
    # Such tokens are searched in the text as it is between the normalizer and the pre-tokenizer.
    has_normalized = any(token.get("normalized").flag(default=True) for token in tokens)
    if not (normalizers and has_normalized):
        simple = Steps()
        if read_normalizers(normalizers, simple) and all(
            read_pre_tokenizer(value, simple, has_added_tokens=bool(tokens)) for value in cuts
        ):
            return simple
    return literal_steps(normalizers, cuts)


def literal_steps(normalizers: list[Value], cuts: list[Value]) -> Steps:
    """The steps as the file has them; refuses those that the core does not know."""
    rewriting = [value for value in cuts if value["type"].text() in {"ByteLevel", "Metaspace"}]
    last = (rewriting or normalizers)[-1:]
    spelled = any(value["type"].text() == "ByteLevel" for value in last)
    steps = Steps(
        alphabet="bytes" if spelled else "chars",
        normalizer=[value.raw for value in normalizers],
        pre_tokenizer=[value.raw for value in cuts],
    )
    for value in normalizers:
        check_step("normalizer", value)
    for value in cuts:
        check_step("pre_tokenizer", value)
    return steps


def check_step(field: str, value: Value) -> None:
    """Refuse a step that the core does not know, with the reason."""
    try:
        _core.Pipeline(json.dumps({field: [value.raw]}))
    except InputError as error:
        raise value.reading.wrong(value.place, str(error), "another step") from None


def flattened(value: Value, members: str) -> list[Value]:
    """The steps in a value: none, one, or those of a sequence."""
    if value.raw is None:
        return []
    if value["type"].text() != "Sequence":
        return [value]
    return [step for item in value[members].items() for step in flattened(item, members)]


def read_normalizers(values: list[Value], steps: Steps) -> bool:
    """Read the steps of the normalizer; whether the fields can say them."""
    prepended = None
    for index, value in enumerate(values):
        kind = value["type"].text()
        if kind in {"NFC", "NFKC"} and index == 0:
            steps.normalize = "nfc" if kind == "NFC" else "nfkc"
        elif kind == "Prepend" and prepended is None and not steps.mark_is_space:
            prepended = value["prepend"].text()
        elif kind == "Replace" and is_marking(value) and not steps.mark_is_space:
            steps.mark_is_space = True
        else:
            return False
    if prepended is None:
        return True
    steps.prefix_space = "always"
    # A mark at the start stands for a space only if all spaces become marks.
    return prepended == (MARK if steps.mark_is_space else " ")


def is_marking(value: Value) -> bool:
    """Whether this step of the normalizer turns spaces into marks."""
    return value["pattern"].object() == {"String": " "} and value["content"].text() == MARK


def read_pre_tokenizer(value: Value, steps: Steps, *, has_added_tokens: bool) -> bool:
    """Read a step of the pre-tokenizer; whether the fields can say it after those before it."""
    kind = value["type"].text()
    is_first = steps.pattern is None and steps.alphabet == "chars"
    if kind == "Split" and value["pattern"].object() == {"String": " "} and steps.mark_is_space:
        return True  # no space is left to split at
    if steps.mark_is_space or (not is_first and kind != "ByteLevel"):
        return False
    if kind == "ByteLevel":
        return read_byte_level(value, steps)
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
    if steps.alphabet == "bytes" or (is_cut and (uses_regex or prefixes)):
        return False
    steps.alphabet = "bytes"
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
    if not pattern or not keeps_matches:
        return False
    steps.cut(pattern, drops_gaps=behavior == "Removed")
    return True


def read_metaspace(value: Value, steps: Steps, *, has_added_tokens: bool) -> bool:
    """Read Metaspace: spaces become marks, optionally with one first, and may begin words."""
    older = "always" if value.get("add_prefix_space").flag(default=True) else "never"
    prepends = value.get("prepend_scheme").text(default=older)
    is_plain = prepends in {"always", "never"} or (prepends == "first" and not has_added_tokens)
    if value["replacement"].text() != MARK or not is_plain:
        return False
    steps.mark_is_space = True
    if prepends != "never" and steps.prefix_space is None:
        steps.prefix_space = "unless_space"
    if value.get("split").flag(default=True):
        steps.cut(METASPACE)
    return True
