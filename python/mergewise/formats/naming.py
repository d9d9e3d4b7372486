"""Tokens as tokenizer.json writes them: in letters for bytes, with marks for spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mergewise.formats.letters import BYTE_NAMES, MARK, to_letters
from mergewise.vocabulary import Vocabulary

# Stands for the start of a word in tokens of files that mark where no word starts. No text has it.
START_OF_WORD: Final = b"\xff"
# What such files usually put before a token that does not begin a word.
USUAL_PREFIX: Final = "##"


def writer_of(vocabulary: Vocabulary) -> Callable[[bytes], str]:
    """A function from the string of a token to how it is written.

    >>> writer_of(Vocabulary(tokens={}, merges=[]))(b" a")
    'Ġa'
    """
    start, prefix = vocabulary.start_of_word, prefix_of(vocabulary)

    def written(token: bytes) -> str:
        if token.startswith(start):
            return written_plainly(vocabulary, token.removeprefix(start))
        return prefix + written_plainly(vocabulary, token)

    return written


def written_plainly(vocabulary: Vocabulary, token: bytes) -> str:
    """How the string of a token is written, without a mark of where it stands in a word."""
    if vocabulary.alphabet == "bytes":
        return to_letters(token)
    text = token.decode("utf-8")
    return text.replace(" ", MARK) if vocabulary.mark_is_space else text


def prefix_of(vocabulary: Vocabulary) -> str:
    """What is written before a token that does not begin a word: as in the file, or as usual."""
    if not vocabulary.start_of_word:
        return ""
    for token, token_id in vocabulary.tokens.items():
        text = vocabulary.written.get(token_id)
        if text is not None and not token.startswith(vocabulary.start_of_word):
            return text.removesuffix(written_plainly(vocabulary, token))
    return USUAL_PREFIX


def names_of(vocabulary: Vocabulary) -> dict[str, int]:
    """The ids of all tokens, special ones included, as they are written."""
    found = {**vocabulary.special_tokens, **vocabulary.added_tokens}
    written = {text: token_id for token_id, text in vocabulary.written.items()}
    return {**names_of_words(vocabulary), **found, **written}


def names_of_words(vocabulary: Vocabulary) -> dict[str, int]:
    """The ids of the tokens that are more than found in texts, as they are written."""
    name = writer_of(vocabulary)
    ids = {name(token): token_id for token, token_id in vocabulary.tokens.items()}
    by_byte = zip(BYTE_NAMES, vocabulary.byte_tokens or (), strict=False)
    ids |= {text: token_id for text, token_id in by_byte if token_id is not None}
    return {**ids, **{text: token_id for token_id, text in vocabulary.written.items()}}
