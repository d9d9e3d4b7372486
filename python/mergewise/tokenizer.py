"""Tokenizer: a merge list with the way it cuts texts into words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

from mergewise import _core
from mergewise.errors import UnknownTokenError
from mergewise.files import replacing
from mergewise.formats import tokenizer_json


class Tokenizer:
    """Merges, the pattern that cuts texts into words, and special tokens. Immutable.

    >>> from mergewise import count, train
    >>> tok = train(count(["low lower lowest"], pattern="whitespace"), num_merges=3)
    >>> tok.merges
    [(b'l', b'o'), (b'lo', b'w'), (b' ', b'low')]
    >>> tok.token_bytes(258), tok.token_id(b" low")
    (b' low', 258)
    """

    def __init__(
        self,
        merge_list: _core.MergeList,
        *,
        pattern: str | None,
        normalize: str | None = None,
        special_tokens: Sequence[str] = (),
    ) -> None:
        self.core = merge_list
        self._pattern = pattern
        self._normalize = normalize
        self._special_tokens = tuple(special_tokens)

    @cached_property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges in order, each as the two strings that it joins."""
        string = self.core.token_bytes
        return [(string(left), string(right)) for left, right in self.core.pairs]

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones included."""
        return self.core.num_tokens + len(self._special_tokens)

    @property
    def pattern(self) -> str | None:
        """What cuts a text into words; None: merges cross everything."""
        return self._pattern

    @property
    def normalize(self) -> str | None:
        """How texts are normalised first: None, "nfc" or "nfkc"."""
        return self._normalize

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, which come after all others."""
        first = self.core.num_tokens
        return {token: first + index for index, token in enumerate(self._special_tokens)}

    def token_bytes(self, token_id: int) -> bytes:
        """The string of a token."""
        index = token_id - self.core.num_tokens
        if 0 <= index < len(self._special_tokens):
            return self._special_tokens[index].encode()
        if not 0 <= token_id < self.vocab_size:
            size = self.vocab_size
            raise UnknownTokenError(f"no token has the id {token_id}: there are {size} tokens")
        return self.core.token_bytes(token_id)

    def token_id(self, string: bytes) -> int:
        """The id of the token with this string; a special token's text is not found here."""
        token_id = self.core.token_id(string)
        if token_id is None:
            raise UnknownTokenError(f"no token is {string!r}")
        return token_id

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write tokenizer.json, whole or not at all."""
        if self.core.alphabet == "chars":
            raise ValueError("tokenizer.json cannot be written yet for an alphabet of characters")
        strings = [self.core.token_bytes(i) for i in range(self.core.num_tokens)]
        text = tokenizer_json.dumps(
            strings,
            self.merges,
            pattern=self.pattern,
            normalize=self.normalize,
            special_tokens=self.special_tokens,
        )
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Tokenizer: {self.vocab_size:,} tokens, pattern={self.pattern!r}>"
