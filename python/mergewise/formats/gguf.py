"""GGUF, llama.cpp's files of models: the vocabulary in their header.

A vocabulary is one of three kinds: "gpt2" has merges over bytes in GPT-2's letters, "llama" has
SentencePiece's scores, and "gemma4" has merges over characters with SentencePiece's marks. What
llama.cpp does is the reference, not the library from which a file was converted.
"""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mergewise.config import ModelConfig
from mergewise.formats import merging
from mergewise.formats.gguf_cuts import (
    BEGUN,
    BY_WHOLE_WORDS,
    EXPRESSIONS,
    GPT2,
    LINES,
    OF_CHARACTERS,
)
from mergewise.formats.gguf_header import FLOAT32, INT32, MAGIC, Header
from mergewise.formats.gguf_keys import (
    BYTE_LEVEL,
    PREFIX,
    ROLE_KEYS,
    TEMPLATE,
    USUAL_ROLES,
    WAYS,
    exceptional_ways,
    searches,
    split,
)
from mergewise.formats.gguf_writer import files_of, losses
from mergewise.formats.letters import BYTE_NAMES, LETTERS, from_letters
from mergewise.formats.reading import Reading, shown
from mergewise.formats.sentencepiece import ranked, spaced
from mergewise.formats.sentencepiece_writer import Kind
from mergewise.vocabulary import Vocabulary

__all__ = ["files_of", "looks_like", "losses", "read"]


@dataclass(frozen=True)
class Tokens:
    """The tokens of a file.

    Attributes:
        texts: the texts as they are written, by id.
        plain: the texts and ids of those that words become.
        special: those that are found where the caller allows it.
        added: those that are found in every text.
    """

    texts: list[str]
    plain: dict[str, int]
    special: dict[str, int]
    added: dict[str, int]


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file begins as GGUF does."""
    return head.startswith(MAGIC)


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a model."""
    header = Header(reading, lambda key: key.startswith(("tokenizer.", "general.")))
    model = header.text(PREFIX + "model")
    if model not in {"gpt2", "llama", "gemma4"}:
        raise reading.wrong(PREFIX + "model", shown(model), "gpt2, llama or gemma4, which are BPE")
    pre = "gemma4" if model == "gemma4" else header.text(PREFIX + "pre", default="default")
    tokens = read_tokens(header)
    fields: dict[str, Any]
    if model == "llama":
        fields = scored(header, tokens)
    elif pre in OF_CHARACTERS:
        fields = merged_characters(header, tokens)
    else:
        fields = merged_bytes(header, tokens, pre)
    kept = {"pre": pre, "name": header.text("general.name", default="")}
    kept["architecture"] = header.text("general.architecture", default="llama")
    config = read_config(header, tokens, adds_bos=model != "gpt2" or pre in BEGUN)
    return Vocabulary(
        **fields,
        special_tokens=tokens.special,
        added_tokens=tokens.added,
        searches=searches({**tokens.special, **tokens.added}, pre, kept["name"]),
        framing=config.framing({text: i for i, text in enumerate(tokens.texts)}),
        extras={"gguf": kept, "config": config},
    )


def read_tokens(header: Header) -> Tokens:
    """The tokens, by how they are found in texts."""
    texts = [text or f"[EMPTY_{i}]" for i, text in enumerate(header.texts(PREFIX + "tokens"))]
    kinds = header.numbers(PREFIX + "token_type", (INT32,), len(texts)) or [Kind.NORMAL] * len(
        texts
    )
    ids = {text: token_id for token_id, text in enumerate(texts)}
    if len(ids) < len(texts):
        twice = next(text for token_id, text in enumerate(texts) if ids[text] != token_id)
        raise header.reading.wrong(PREFIX + "tokens", f"{shown(twice)} again", "tokens that differ")
    ways: dict[str, dict[str, int]] = {"plain": {}, "special": {}, "added": {}}
    exceptions = exceptional_ways(ids.keys())
    for text, token_id in ids.items():
        way = exceptions.get(text) or WAYS.get(int(kinds[token_id]), "plain")
        ways[way][text] = token_id
    return Tokens(texts, **ways)


def merged_bytes(header: Header, tokens: Tokens, pre: str) -> dict[str, Any]:
    """The fields of a vocabulary with merges over bytes."""
    reading = header.reading
    if pre not in EXPRESSIONS:
        raise reading.wrong(PREFIX + "pre", shown(pre), "the name of one of llama.cpp's cuts")
    written = read_merges(header)
    used = merging.strings_of(written)
    ids = {text: token_id for token_id, text in enumerate(tokens.texts)}
    spelled = {text: from_letters(text) for text in {*tokens.plain, *used, *LETTERS}}
    for index, (left, right) in enumerate(written):
        if not ids.keys() >= {left, right, left + right} or spelled[left + right] is None:
            place = f"{PREFIX}merges[{index}]"
            raise reading.wrong(place, shown(f"{left} {right}"), "tokens in GPT-2's letters")
    merges = [(spelled[left] or b"", spelled[right] or b"") for left, right in written]
    strings = {text: string for text, string in spelled.items() if string and text in ids}
    unread = {token_id: text for text, token_id in tokens.plain.items() if spelled[text] is None}
    expressions = EXPRESSIONS[pre]
    is_one = len(expressions) == 1
    return {
        "tokens": {string: ids[text] for text, string in strings.items()},
        "merges": merges,
        "written": unread,
        "drops_unknown": not ids.keys() >= set(LETTERS),
        "whole_words": pre in BY_WHOLE_WORDS,
        "pattern": {GPT2: "gpt2"}.get(expressions[0], expressions[0]) if is_one else None,
        "pre_tokenizer": None if is_one else [*map(split, expressions), BYTE_LEVEL],
    }


def merged_characters(header: Header, tokens: Tokens) -> dict[str, Any]:
    """The fields of a vocabulary with merges over characters, with marks for spaces."""
    byte_tokens = tuple(tokens.plain.pop(name, None) for name in BYTE_NAMES)
    strings = {text: spaced(text).encode() for text in tokens.plain}
    known = set(tokens.texts)
    merges = []
    for index, (left, right) in enumerate(read_merges(header)):
        first, second = strings.get(left), strings.get(right)
        # Tokens of other kinds are not made of words.
        if first and second and left + right in strings:
            merges.append((first, second))
        elif not known.issuperset((left, right, left + right)):
            place = f"{PREFIX}merges[{index}]"
            raise header.reading.wrong(place, shown(f"{left} {right}"), "tokens of the vocabulary")
    return {
        "tokens": {strings[text]: token_id for text, token_id in tokens.plain.items()},
        "merges": merges,
        "alphabet": "chars",
        "byte_tokens": byte_tokens,
        "drops_unknown": True,
        "pattern": LINES,
        "mark_is_space": True,
    }


def scored(header: Header, tokens: Tokens) -> dict[str, Any]:
    """The fields of a vocabulary with SentencePiece's scores."""
    byte_tokens = tuple(tokens.plain.pop(name, None) for name in BYTE_NAMES)
    count = len(tokens.texts)
    scores = header.numbers(PREFIX + "scores", (FLOAT32, INT32), count) or [0.0] * count
    if not all(map(math.isfinite, scores)):
        raise header.wrong(PREFIX + "scores", "finite numbers")
    ids = {spaced(text): token_id for token_id, text in enumerate(tokens.texts)}
    plain = {spaced(text): token_id for text, token_id in tokens.plain.items()}
    # Any two neighbours become the token of their text, of whatever kind it is.
    for text, token_id in ids.items():
        if text not in plain and any(
            is_made(text[:cut], ids) and is_made(text[cut:], ids) for cut in range(1, len(text))
        ):
            plain[text] = token_id
    return {
        "tokens": {text.encode(): token_id for text, token_id in plain.items()},
        # The two zeros are equal here.
        "ranks": ranked({text.encode(): scores[i] + 0 for text, i in plain.items() if text[1:]}),
        "alphabet": "chars",
        "byte_tokens": byte_tokens,
        "prefix_space": "always"
        if header.flag(PREFIX + "add_space_prefix", default=True)
        else None,
        "mark_is_space": True,
    }


def is_made(text: str, ids: Container[str]) -> bool:
    """Whether a text may be a symbol of a word: a character or a token."""
    return len(text) == 1 or text in ids


def read_merges(header: Header) -> list[tuple[str, str]]:
    """The pairs, each once; a space, which may not be the first character, lies between."""
    lines = header.texts(PREFIX + "merges")
    pairs: list[tuple[str, str]] = []
    for line in dict.fromkeys(lines):
        middle = line.find(" ", 1)
        if not 0 < middle < len(line) - 1:
            place = f"{PREFIX}merges[{lines.index(line)}]"
            raise header.reading.wrong(place, shown(line), "two tokens and a space between")
        pairs.append((line[:middle], line[middle + 1 :]))
    return pairs


def read_config(header: Header, tokens: Tokens, *, adds_bos: bool) -> ModelConfig:
    """The tokens that have a role, and the templates of conversations."""
    is_scored = header.text(PREFIX + "model") == "llama"
    roles: dict[str, Any] = {}
    for role, name in ROLE_KEYS.items():
        token_id = header.id(f"{PREFIX}{name}_token_id")
        if token_id is None and is_scored:
            token_id = USUAL_ROLES.get(role)
        if token_id is not None and token_id < len(tokens.texts):
            roles[role] = tokens.texts[token_id]
    templates = {
        key.removeprefix(TEMPLATE).removeprefix(".") or "default": header.text(key)
        for key in header.values
        if key == TEMPLATE or key.startswith(TEMPLATE + ".")
    }
    return ModelConfig(
        **roles,
        chat_templates=templates,
        add_bos_token=header.flag(PREFIX + "add_bos_token", default=adds_bos),
        add_eos_token=header.flag(PREFIX + "add_eos_token", default=False),
    )
