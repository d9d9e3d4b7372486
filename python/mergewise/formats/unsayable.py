"""Reasons why a format cannot say all that a vocabulary is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from mergewise.formats.merging import is_symbol
from mergewise.vocabulary import Vocabulary

REASONS = {
    "normalize": "it cannot say that texts are normalised ({})",
    "prefix_space": "it cannot say that a space is put before a text ({})",
    "mark_is_space": "it cannot say that U+2581 is read as a space",
    "byte_tokens": "it has no tokens that stand for the bytes of unknown characters",
    "unknown_token": "it has no token for unknown characters (id {})",
    "whole_words": "it cannot say that words become tokens which no merge makes ({})",
    "end_of_word": "it cannot mark the end of a word ({})",
    "special_tokens": "it has no special tokens ({})",
    "added_tokens": "it has no tokens that are found in every text ({})",
}


def plain_losses(vocabulary: Vocabulary, *fields: str) -> list[str]:
    """A reason for each of these fields that says something, and for tokens that are put around.

    >>> plain_losses(Vocabulary(tokens={}, merges=[], normalize="nfc"), "normalize", "prefix_space")
    ['it cannot say that texts are normalised (nfc)']
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
        found.append(f"it cannot say that texts are put between special tokens ({named(around)})")
    return found


def unmade(vocabulary: Vocabulary) -> list[bytes]:
    """The tokens that no merge makes and that are no symbols."""
    made = {left + right for left, right in vocabulary.merges or ()}
    others = (token for token in vocabulary.tokens if token not in made)
    is_a_symbol = partial(
        is_symbol,
        alphabet=vocabulary.alphabet,
        end_of_word=vocabulary.end_of_word,
        end_is_symbol=vocabulary.end_of_word in vocabulary.tokens,
    )
    return [token for token in others if not is_a_symbol(token)]


def named(value: object) -> str:
    """A value in a reason; of many, the first few.

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
    """The special tokens that tokenizers' post-processor puts around every text."""
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
