"""What a format cannot represent of a vocabulary, as reasons for an error message."""

from __future__ import annotations

from collections.abc import Iterable

from mergewise.formats.merging import symbols_of
from mergewise.vocabulary import Alphabet, Vocabulary

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


def plain_losses(vocabulary: Vocabulary, alphabet: Alphabet, *fields: str) -> list[str]:
    """A reason for each of these fields that is set.

    Also one for special tokens around texts, and one for symbols that are not of this alphabet.

    >>> plain_losses(Vocabulary(tokens={}, merges=[], normalize="nfc"), "bytes", "normalize")
    ['it cannot represent that texts are normalised (nfc)']
    """
    found = []
    for field in fields:
        value = getattr(vocabulary, field)
        if field == "whole_words":
            value = value and unmade(vocabulary)
        if value or (field == "unknown_token" and value is not None):
            found.append(REASONS[field].format(named(value)))
    found += losses_of_steps(vocabulary) + losses_of_unused(vocabulary)
    around = surrounding_tokens(vocabulary)
    if around:
        names = named(around)
        found.append(f"it cannot represent that texts are put between special tokens ({names})")
    if vocabulary.alphabet != alphabet:
        symbols = ("bytes", "characters") if alphabet == "bytes" else ("characters", "bytes")
        found.append("its symbols are {}, not {}".format(*symbols))
    return found


def losses_of_steps(vocabulary: Vocabulary) -> list[str]:
    """Reasons for what tokenizer.json alone can say."""
    found = []
    if vocabulary.steps is not None:
        steps = [*(vocabulary.normalizer or ()), *(vocabulary.pre_tokenizer or ())]
        names = named([step["type"] for step in steps])
        found.append(f"it cannot represent the steps before merging ({names})")
    if vocabulary.start_of_word:
        found.append("it cannot mark the start of a word")
    if vocabulary.searches:
        names = named(vocabulary.searches)
        found.append(f"it has no options for how special tokens are found ({names})")
    return found


def losses_of_unused(vocabulary: Vocabulary) -> list[str]:
    """A reason for what models of SentencePiece alone can say of tokens."""
    number = len(vocabulary.unused)
    return [f"it has no tokens that are taken apart again ({number:,})"] if number else []


def unmade(vocabulary: Vocabulary) -> list[bytes]:
    """The tokens that are neither symbols nor made by a merge."""
    made = {left + right for left, right in vocabulary.merges or ()}
    symbols = symbols_of(vocabulary)
    return [t for t in vocabulary.tokens if t not in made and t not in symbols]


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
    """The special tokens that are put around every text."""
    names = {i: text for text, i in vocabulary.special_tokens.items()}
    around = (*vocabulary.framing.before, *vocabulary.framing.after)
    return [names.get(token_id, str(token_id)) for token_id in around]
