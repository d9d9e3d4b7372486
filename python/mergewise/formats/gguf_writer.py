"""Writing GGUF: a file with the header of a vocabulary and no tensors."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from mergewise.config import NO_CONFIG, ModelConfig
from mergewise.errors import ConversionError
from mergewise.formats.gguf_cuts import BY_WHOLE_WORDS, EXPRESSIONS, LINES, LLAMA3, QWEN2
from mergewise.formats.gguf_header import ARRAY, BOOL, FLOAT32, INT32, MAGIC, STRING, UINT32
from mergewise.formats.gguf_keys import (
    BYTE_LEVEL,
    PREFIX,
    ROLE_KEYS,
    TEMPLATE,
    exceptional_ways,
    searches,
    split,
)
from mergewise.formats.naming import names_of, writer_of
from mergewise.formats.regexes import OTHER_NAMES, PATTERNS
from mergewise.formats.sentencepiece_writer import Kind, scores_of
from mergewise.formats.unsupported import named, plain_losses, unmade
from mergewise.vocabulary import NO_FRAME, Vocabulary

Value: TypeAlias = str | bool | int | Sequence[str] | Sequence[float]
VERSION: Final = 3
# Cuts that differ from llama.cpp's only in rare texts; files with them are written if lossy.
NEAR: Final = {
    OTHER_NAMES["llama3"]: LLAMA3,
    OTHER_NAMES["qwen2"]: QWEN2,
    "cl100k": LLAMA3,
    "o200k": EXPRESSIONS["gpt-4o"][0],
}


def losses(vocabulary: Vocabulary) -> list[str]:
    """What GGUF cannot represent of a vocabulary."""
    is_bytes = vocabulary.alphabet == "bytes"
    steps = ("prefix_space", "mark_is_space", "unknown_token") if is_bytes else ()
    held = replace(vocabulary, framing=NO_FRAME, searches={}, normalizer=None, pre_tokenizer=None)
    found = plain_losses(held, vocabulary.alphabet, "normalize", "end_of_word", *steps)
    found += losses_of_bytes(vocabulary) if is_bytes else losses_of_characters(vocabulary)
    texts = {**vocabulary.special_tokens, **vocabulary.added_tokens}
    kept = vocabulary.extras.get("gguf", {})
    if vocabulary.searches != searches(texts, kept.get("pre", ""), kept.get("name", "")):
        found.append(f"it has no options for how tokens are found ({named(vocabulary.searches)})")
    framing, ids = vocabulary.framing, set(texts.values())
    if len(framing.before) > 1 or len(framing.after) > 1 or framing.truncation or framing.padding:
        found.append("it puts one special token before a text and one behind, and nothing else")
    elif not ids >= {*framing.before, *framing.after}:
        found.append("it puts special tokens around a text, not others")
    names = names_of(vocabulary).keys()
    usual = dict.fromkeys(names, "plain")
    usual |= dict.fromkeys(vocabulary.special_tokens, "special")
    usual |= dict.fromkeys(vocabulary.added_tokens, "added")
    ways = exceptional_ways(names)
    wrong = [text for text, way in usual.items() if ways.get(text, way) != way]
    if wrong:
        found.append(f"llama.cpp finds tokens of these texts otherwise ({named(wrong)})")
    return found


def losses_of_bytes(vocabulary: Vocabulary) -> list[str]:
    """The same of one over bytes: it must be cut as one of llama.cpp's names says."""
    found = []
    if name_of_cut(vocabulary) is None:
        cut = named(vocabulary.pattern) if vocabulary.steps is None else "these steps"
        found.append(f"llama.cpp has no name for how texts are cut ({cut})")
    missing = [byte for byte in range(256) if bytes([byte]) not in vocabulary.tokens]
    if missing and not vocabulary.drops_unknown:
        found.append("bytes without a token are left out there")
    return found


def losses_of_characters(vocabulary: Vocabulary) -> list[str]:
    """The same of one over characters: SentencePiece's, or merges within lines."""
    found = []
    if vocabulary.steps is not None or vocabulary.pattern not in {None, LINES}:
        found.append("it does not cut texts into words but lines where symbols are characters")
    if vocabulary.drops_gaps or (vocabulary.prefix_space and vocabulary.pattern == LINES):
        found.append("it keeps lines as they are")
    if vocabulary.prefix_space == "unless_space":
        found.append("it puts a space before every text or before none, whatever their beginning")
    if vocabulary.prefix_space == "once" and vocabulary.added_tokens:
        found.append("it puts a space behind each token that is found in every text, too")
    if not vocabulary.mark_is_space:
        found.append("it reads U+2581 as a space")
    if vocabulary.byte_tokens is None or None in vocabulary.byte_tokens:
        found.append("it has tokens for the bytes of unknown characters")
    return found


def name_of_cut(vocabulary: Vocabulary, *, nearly: bool = False) -> str | None:
    """llama.cpp's name for how a vocabulary cuts texts; None if there is none."""
    kept = vocabulary.extras.get("gguf", {}).get("pre")
    candidates = sorted(EXPRESSIONS, key=lambda name: name != kept)
    pattern = vocabulary.pattern
    if pattern is not None:
        pattern = PATTERNS["gpt2"] if pattern == "gpt2" else pattern
        pattern = NEAR.get(pattern, pattern) if nearly else pattern
    # Where merges make every token, it does not matter whether words are looked up.
    by_whole_words = vocabulary.whole_words if unmade(vocabulary) else None
    for name in candidates:
        expressions = EXPRESSIONS[name]
        is_other = by_whole_words not in {None, name in BY_WHOLE_WORDS}
        if is_other or vocabulary.normalizer:
            continue
        if vocabulary.steps is None and expressions == (pattern,) and not vocabulary.drops_gaps:
            return name
        steps = [*map(split, expressions), BYTE_LEVEL]
        if vocabulary.pre_tokenizer is not None and list(vocabulary.pre_tokenizer) == steps:
            return name
    return None


def files_of(vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """The file."""
    names = names_of(vocabulary)
    texts = {token_id: text for text, token_id in names.items()}
    if len(texts) < len(names):
        twice = named([text for text, token_id in names.items() if texts[token_id] != text])
        raise ConversionError(f"{path}: tokens of one id are written in two ways: {twice}")
    size = max(texts, default=-1) + 1
    if size > 4 * len(texts) + 65_536:
        raise ConversionError(f"{path}: its ids begin at 0 and have few holes; here is {size - 1}")
    kept = vocabulary.extras.get("gguf", {})
    values: dict[str, Value] = {
        "general.architecture": kept.get("architecture", "llama"),
        "general.name": kept.get("name", ""),
        PREFIX + "tokens": [texts.get(token_id, f"[PAD{token_id}]") for token_id in range(size)],
        PREFIX + "token_type": kinds_of(vocabulary, size),
        **model_of(vocabulary, size),
        **config_of(vocabulary),
    }
    return {path: written(values)}


def kinds_of(vocabulary: Vocabulary, size: int) -> list[int]:
    """The kind of each token, by id."""
    kinds = [int(Kind.UNUSED)] * size
    for token_id in vocabulary.tokens.values():
        kinds[token_id] = Kind.NORMAL
    for token_id in vocabulary.written:
        kinds[token_id] = Kind.NORMAL
    for byte_token in vocabulary.byte_tokens or ():
        if byte_token is not None:
            kinds[byte_token] = Kind.BYTE
    for token_id in vocabulary.special_tokens.values():
        kinds[token_id] = Kind.CONTROL
    for token_id in vocabulary.added_tokens.values():
        kinds[token_id] = Kind.USER_DEFINED
    if vocabulary.unknown_token is not None:
        kinds[vocabulary.unknown_token] = Kind.UNKNOWN
    return kinds


def model_of(vocabulary: Vocabulary, size: int) -> dict[str, Value]:
    """How words become tokens: by merges, or by SentencePiece's scores."""
    write = writer_of(vocabulary)
    merges = [f"{write(left)} {write(right)}" for left, right in vocabulary.merges or ()]
    if vocabulary.alphabet == "bytes":
        pre = name_of_cut(vocabulary) or name_of_cut(vocabulary, nearly=True) or "default"
        return {PREFIX + "model": "gpt2", PREFIX + "pre": pre, PREFIX + "merges": merges}
    if vocabulary.pattern == LINES:
        return {PREFIX + "model": "gemma4", PREFIX + "merges": merges}
    scores = [0.0] * size
    for token, score in scores_of(vocabulary).items():
        scores[vocabulary.tokens[token]] = score
    return {
        PREFIX + "model": "llama",
        PREFIX + "pre": "default",
        PREFIX + "scores": scores,
        PREFIX + "add_space_prefix": vocabulary.prefix_space is not None,
    }


def config_of(vocabulary: Vocabulary) -> dict[str, Value]:
    """The tokens that have a role, those around a text, and the templates of conversations."""
    config: ModelConfig = vocabulary.extras.get("config", NO_CONFIG)
    ids = names_of(vocabulary)
    framing = vocabulary.framing
    roles = {role: ids[text] for role, text in config.roles.items() if text in ids}
    roles |= {"bos_token": framing.before[0]} if framing.before else {}
    roles |= {"eos_token": framing.after[0]} if framing.after else {}
    values: dict[str, Value] = {
        f"{PREFIX}{ROLE_KEYS[role]}_token_id": token_id for role, token_id in roles.items()
    }
    values[PREFIX + "add_bos_token"] = bool(framing.before)
    values[PREFIX + "add_eos_token"] = bool(framing.after)
    for name, template in config.chat_templates.items():
        values[TEMPLATE if name == "default" else f"{TEMPLATE}.{name}"] = template
    return values


def written(values: Mapping[str, Value]) -> bytes:
    """The file of these key-values."""
    parts = [struct.pack("<4sIQQ", MAGIC, VERSION, 0, len(values))]
    for key, value in values.items():
        parts += (written_string(key), *written_value(value))
    return b"".join(parts)


def written_string(text: str) -> bytes:
    """A string: its length and its bytes."""
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def written_value(value: Value) -> list[bytes]:
    """A value: its type and its bytes."""
    if isinstance(value, bool):
        return [struct.pack("<I?", BOOL, value)]
    if isinstance(value, int):
        return [struct.pack("<II", UINT32, value)]
    if isinstance(value, str):
        return [struct.pack("<I", STRING), written_string(value)]
    first = value[0] if value else ""
    kind = {str: STRING, float: FLOAT32}.get(type(first), INT32)
    start = struct.pack("<IIQ", ARRAY, kind, len(value))
    if kind == STRING:
        return [start, *(written_string(str(text)) for text in value)]
    letter = "f" if kind == FLOAT32 else "i"
    return [start, struct.pack(f"<{len(value)}{letter}", *value)]
