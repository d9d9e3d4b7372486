"""rustbpe's class: mergewise under its name."""

from __future__ import annotations

from collections.abc import Iterable

import mergewise as mw
from mergewise.errors import UnknownTokenError
from shims import GPT4


class Tokenizer:
    def __init__(self) -> None:
        self._tokenizer = mw.train(mw.count([]), num_merges=0)
        self._pattern = ""

    def train_from_iterator(
        self, iterator: Iterable[str], vocab_size: int, pattern: str | None = None
    ) -> None:
        self._pattern = pattern or GPT4
        counts = mw.count(iterator, pattern=self._pattern)
        self._tokenizer = mw.train(counts, vocab_size=vocab_size, like="rustbpe")

    def get_pattern(self) -> str:
        return self._pattern

    @property
    def vocab_size(self) -> int:
        return self._tokenizer.vocab_size

    def get_mergeable_ranks(self) -> list[tuple[bytes, int]]:
        return [(self._tokenizer.token_bytes(i), i) for i in range(self.vocab_size)]

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)

    def batch_encode(self, texts: list[str]) -> list[list[int]]:
        return self._tokenizer.encode_batch(texts)

    def decode(self, ids: list[int]) -> str:
        try:
            return self._tokenizer.decode(ids, errors="strict")
        except UnknownTokenError as error:
            raise ValueError(f"Unknown token id: {error}") from None
