"""What a format cannot represent of a vocabulary, as reasons for an error message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mergewise.formats.merging import symbols_among
from mergewise.vocabulary import Vocabulary

REASONS = {
    "normalize": "it cannot represent that texts are normalised ({})",
    "prefix_space": "it cannot represent that a space is put before a text ({})",
    "mark_is_space": "it cannot represent that U+2581 is read as a space",
    "byte_tokens": "it has no tokens for the bytes of unknown characters",
    "unknown_token": "it has no token for unknown characters (id {})",
    "whole_words": "it cannot represent that words become tokens which no merge makes ({})",
    "end_of_word": "it cannot mark the end of a word ({})",
    "special_tokens": "it has no special tokens ({})",
    "added_tokens": "it has no tokens that are found in every text ({})",
}


def plain_losses(vocabulary: Vocabulary, *fields: str) -> list[str]:
    """A reason for each of these fields that is set, and one for special tokens around texts.

    >>> plain_losses(Vocabulary(tokens={}, merges=[], normalize="nfc"), "normalize", "prefix_space")
    ['it cannot represent that texts are normalised (nfc)']
    """
    found = []
    for field in fields:
        value = getattr(vocabulary, field)
        if field == "whole_words":
            value = value and unmade(vocabulary)
        if value or (field == "unknown_token" and value is not None):
            found.append(REASONS[field].format(named(value)))
    around = surrounding_tokens(vocabulary)
    if around:
        names = named(around)
        found.append(f"it cannot represent that texts are put between special tokens ({names})")
    return found


def unmade(vocabulary: Vocabulary) -> list[bytes]:
    """The tokens that are neither symbols nor made by a merge."""
    made = {left + right for left, right in vocabulary.merges or ()}
    others = [token for token in vocabulary.tokens if token not in made]
    symbols = set(symbols_among(others, vocabulary))
    return [token for token in others if token not in symbols]


def named(value: object) -> str:
    """A value as a reason quotes it; the first few values of a collection.

    >>> named(["<s>", "</s>", "<a>", "<b>"])
    "'<s>', '</s>', '<a>' and 1 more"
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    names = [repr(name) for name in value]
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def surrounding_tokens(vocabulary: Vocabulary) -> list[str]:
    """The special tokens that the post-processor of tokenizers puts around every text."""
    found: list[str] = []
    pending = [vocabulary.extras.get("tokenizer_json", {}).get("post_processor")]
    while pending:
        step: Any = pending.pop()
        if not isinstance(step, dict):
            continue
        if step.get("type") == "Sequence":
            pending.extend(step["processors"])
        elif step.get("type") == "TemplateProcessing":
            parts = [part.get("SpecialToken") for part in step.get("single") or []]
            found.extend(part["id"] for part in parts if part)
        elif step.get("type") in {"BertProcessing", "RobertaProcessing"}:
            found.extend([step["cls"][0], step["sep"][0]])
    return found
