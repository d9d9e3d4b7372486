"""Tokens as tokenizer.json writes them: in letters for bytes, with marks for spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mergewise.formats.letters import BYTE_NAMES, MARK, to_letters
from mergewise.vocabulary import Vocabulary

# Stands for the start of a word in tokens of files that mark where no word starts. No text has it.
START_OF_WORD: Final = b"\xff"
# What such files put before a token that does not begin a word.
CONTINUING_PREFIX: Final = "##"


def writer_of(vocabulary: Vocabulary) -> Callable[[bytes], str]:
    """A function from the string of a token to how it is written.

    >>> writer_of(Vocabulary(tokens={}, merges=[]))(b" a")
    'Ġa'
    """
    start, is_marked = vocabulary.start_of_word, vocabulary.mark_is_space

    def written_plainly(token: bytes) -> str:
        if vocabulary.alphabet == "bytes":
            return to_letters(token)
        text = token.decode("utf-8")
        return text.replace(" ", MARK) if is_marked else text

    def written(token: bytes) -> str:
        if token.startswith(start):
            return written_plainly(token.removeprefix(start))
        return CONTINUING_PREFIX + written_plainly(token)

    return written if start else written_plainly


def names_of(vocabulary: Vocabulary) -> dict[str, int]:
    """The ids of all tokens, special ones included, as they are written."""
    written = writer_of(vocabulary)
    ids = {written(token): token_id for token, token_id in vocabulary.tokens.items()}
    by_byte = zip(BYTE_NAMES, vocabulary.byte_tokens or (), strict=False)
    ids |= {name: token_id for name, token_id in by_byte if token_id is not None}
    ids |= {**vocabulary.special_tokens, **vocabulary.added_tokens}
    ids |= {name: token_id for token_id, name in vocabulary.written.items()}
    return ids
