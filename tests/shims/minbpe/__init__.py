"""minbpe's classes: mergewise under their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mergewise as mw
from mergewise.integrations.tiktoken import get_encoding
from mergewise.specials import Specials
from shims import GPT4

# What minbpe's words for special tokens are in mergewise: allowed, and disallowed.
SPECIALS: dict[str, tuple[Specials, Specials]] = {
    "all": ("all", "all"),
    "none": ((), ()),
    "none_raise": ((), "all"),
}


class Tokenizer:
    pattern: str | None

    def __init__(self) -> None:
        self._tokenizer = mw.train(mw.count([], pattern=self.pattern), num_merges=0)

    def train(self, text: str, vocab_size: int) -> None:
        counts = mw.count([text], pattern=self.pattern)
        self._tokenizer = mw.train(counts, vocab_size=vocab_size, min_frequency=1, overlaps="count")

    def encode(self, text: str, allowed_special: str = "none_raise") -> list[int]:
        allowed, disallowed = SPECIALS[allowed_special]
        return self._tokenizer.encode(text, allowed_special=allowed, disallowed_special=disallowed)

    def decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)

    def save(self, file_prefix: str) -> None:
        self._tokenizer.save(f"{file_prefix}.model", format="tokenizer_json")
        Path(f"{file_prefix}.vocab").write_text("\n".join(self._tokenizer.get_vocab()), "utf-8")

    def load(self, model_file: str) -> None:
        self._tokenizer = mw.Tokenizer.from_file(model_file)


class BasicTokenizer(Tokenizer):
    pattern = None


class RegexTokenizer(Tokenizer):
    pattern = GPT4

    def register_special_tokens(self, special_tokens: dict[str, int]) -> None:
        vocabulary = replace(self._tokenizer.vocabulary, special_tokens=special_tokens)
        self._tokenizer = mw.Tokenizer(vocabulary)


class GPT4Tokenizer(RegexTokenizer):
    def __init__(self) -> None:
        self._tokenizer = get_encoding("cl100k_base").tokenizer
