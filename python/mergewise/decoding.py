"""Decoding ids one at a time."""

from __future__ import annotations

import codecs
from typing import Final

from mergewise import _core
from mergewise.errors import UnknownTokenError

NOT_AN_ID: Final = "an id is negative, or has more than 32 bits"


class StreamDecoder:
    """Turns ids into text as they come, in whole characters.

    What comes out is, together, what `Tokenizer.decode` makes of all ids. Text that the next ids
    may still change is kept back: with most tokenizers only a character that is not complete.
    """

    def __init__(
        self, core: _core.Tokenizer, *, skip_special_tokens: bool = False, errors: str = "replace"
    ) -> None:
        self._stream = _core.Stream(
            core, as_text=errors == "replace", skip_special_tokens=skip_special_tokens
        )
        self._characters = codecs.getincrementaldecoder("utf-8")(errors)

    def add(self, *ids: int) -> str:
        """The text that these ids complete."""
        try:
            return self._characters.decode(self._stream.add(ids))
        except OverflowError:
            raise UnknownTokenError(NOT_AN_ID) from None

    def finish(self) -> str:
        """The rest of the text."""
        return self._characters.decode(self._stream.add([], is_end=True), final=True)
