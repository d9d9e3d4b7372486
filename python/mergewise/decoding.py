"""Decoding ids one at a time."""

from __future__ import annotations

import codecs
from collections.abc import Callable


class StreamDecoder:
    """Takes ids as they come and gives out text, never half a character."""

    def __init__(
        self,
        token_bytes: Callable[[int], bytes],
        *,
        skips_space: bool = False,
        errors: str = "replace",
    ) -> None:
        self._token_bytes = token_bytes
        self._skips_space = skips_space
        self._characters = codecs.getincrementaldecoder("utf-8")(errors)

    def add(self, token_id: int) -> str:
        """The text that this id completes, often all of its own."""
        string = self._token_bytes(token_id)
        if self._skips_space and string:
            # The space that was put before the text.
            string = string.removeprefix(b" ")
            self._skips_space = False
        return self._characters.decode(string)

    def finish(self) -> str:
        """What is left at the end: nothing, unless the last character is broken."""
        return self._characters.decode(b"", final=True)
