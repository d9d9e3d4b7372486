"""The decoder of tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from mergewise import _core
from mergewise.errors import InputError
from mergewise.formats.huggingface_steps import flattened
from mergewise.formats.json_values import Value
from mergewise.formats.letters import from_letters
from mergewise.vocabulary import Step

# What tokenizers does without a decoder: it puts a space between tokens.
SPACED: Final = [{"type": "Spaced"}]


def read_decoder(decoder: Value) -> list[Step]:
    """The steps of a decoder; refuses those that the core does not know."""
    if decoder.raw is None:
        return [*SPACED]
    steps = flattened(decoder, "decoders")
    for step in steps:
        check_decoder(step)
    return [step.raw for step in steps]


def check_decoder(step: Value) -> None:
    """Refuse a step that the core does not know, with the reason."""
    try:
        _core.decode_tokens(json.dumps([step.raw]), [])
    except InputError as error:
        raise step.reading.wrong(step.place, str(error), "another step") from None


def is_of_bytes(steps: Sequence[Step], texts: Iterable[str]) -> bool:
    """Whether the steps make of all tokens their bytes.

    Args:
        steps: the steps.
        texts: the tokens that are not written in letters.
    """
    return [step["type"] for step in steps] == ["ByteLevel"] and all(
        from_letters(text) in {None, text.encode()} for text in texts
    )


def is_sentencepiece(steps: Sequence[Step]) -> bool:
    """Whether these are not steps of tokenizer.json, but what a model of SentencePiece says."""
    return any(step["type"] == "SentencePiece" for step in steps)


def written_decoder(steps: Sequence[Step]) -> Step | None:
    """The decoder with these steps, as the file has it."""
    if list(steps) == SPACED:
        return None
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "decoders": list(steps)}
