"""HuggingFace's tokenizer.json: byte-level BPE with a split pattern."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

# How tokenizers' regular expressions write the named patterns.
PATTERNS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "whitespace": r"\s?\S+|\s+(?!\S)",
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def byte_letters() -> list[str]:
    """The letter that GPT-2 writes for each byte: itself where Latin-1 prints it.

    >>> byte_letters()[ord(" ")], byte_letters()[ord("a")]
    ('Ġ', 'a')
    """
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


def dumps(
    tokens: Sequence[bytes],
    merges: Sequence[tuple[bytes, bytes]],
    *,
    pattern: str | None,
    normalize: str | None,
    special_tokens: Mapping[str, int],
) -> str:
    """The file of a tokenizer over bytes; `tokens` in the order of their ids."""
    letters = byte_letters()

    def written(string: bytes) -> str:
        return "".join(letters[byte] for byte in string)

    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    document: Json = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(text, i) for text, i in special_tokens.items()],
        "normalizer": {"type": normalize.upper()} if normalize else None,
        "pre_tokenizer": pre_tokenizer(pattern, {**byte_level, "use_regex": False}),
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {written(token): i for i, token in enumerate(tokens)},
            "merges": [[written(left), written(right)] for left, right in merges],
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def added_token(text: str, token_id: int) -> Json:
    """A special token as tokenizers lists it."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": token_id, "content": text, **flags, "special": True}


def pre_tokenizer(pattern: str | None, byte_level: Json) -> Json:
    """What cuts a text into words and writes its bytes as letters."""
    if pattern is None:
        return byte_level
    split = {
        "type": "Split",
        "pattern": {"Regex": PATTERNS.get(pattern, pattern)},
        "behavior": "Isolated",
        "invert": False,
    }
    return {"type": "Sequence", "pretokenizers": [split, byte_level]}
