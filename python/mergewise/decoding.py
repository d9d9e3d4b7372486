"""Decoding ids one at a time."""

from __future__ import annotations

import codecs
from collections.abc import Callable


class StreamDecoder:
    """Turns ids into text as they come, in whole characters."""

    def __init__(
        self,
        decode: Callable[[list[int]], bytes],
        *,
        skips_first_space: bool = False,
        skips_last_space: bool = False,
        errors: str = "replace",
    ) -> None:
        self._decode = decode
        self._skips_first_space = skips_first_space
        self._skips_last_space = skips_last_space
        self._held = b""
        self._characters = codecs.getincrementaldecoder("utf-8")(errors)

    def add(self, *ids: int) -> str:
        """The text that these ids complete."""
        string = self._held + self._decode([*ids])
        if self._skips_first_space and string:
            # The space that was put before the text.
            string = string.removeprefix(b" ")
            self._skips_first_space = False
        if self._skips_last_space:
            # The space behind a word is not the text's own if the text ends here.
            self._held = b" " if string.endswith(b" ") else b""
            string = string.removesuffix(b" ")
        return self._characters.decode(string)

    def finish(self) -> str:
        """The rest of the text: empty unless the last character is incomplete."""
        return self._characters.decode(b"", final=True)
