"""Mistral's Tekken: tiktoken's ranks in JSON, after a block of special tokens. Read only."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Final

from mergewise.errors import ConversionError
from mergewise.formats.json_values import OBJECT_START, Value, parse
from mergewise.formats.merging import check_bytes
from mergewise.formats.reading import LARGEST_ID, Reading
from mergewise.formats.regexes import from_tiktoken, nameless
from mergewise.vocabulary import Vocabulary

# The special tokens of files that do not list any: those of versions up to v7.
FIRST_SPECIAL_TOKENS: Final = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)


def looks_like(head: bytes, _path: Path) -> bool:
    """Does a JSON object begin with what only Tekken has?"""
    return bool(OBJECT_START.match(head)) and (
        b'"token_bytes"' in head or b'"default_num_special_tokens"' in head
    )


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a Tekken file."""
    document = parse(reading)
    config = document["config"]
    num_special = config["default_num_special_tokens"].id()
    size = config["default_vocab_size"].id()
    entries = document["vocab"]
    # Memory follows the file: a size that its entries do not bear out is refused here.
    if not num_special <= size <= min(len(entries.list()) + num_special, LARGEST_ID):
        raise config["default_vocab_size"].wrong(
            f"from {num_special} to {len(entries.list()) + num_special}: special tokens and entries"
        )
    special_tokens = read_special_tokens(document, num_special)
    ranks = read_ranks(entries, size - num_special)
    pattern, drops_gaps = from_tiktoken(nameless(config["pattern"].text()))
    return Vocabulary(
        tokens={token: rank + num_special for token, rank in ranks.items()},
        ranks=ranks,
        whole_words=True,
        pattern=pattern,
        drops_gaps=drops_gaps,
        special_tokens=special_tokens,
    )


def read_ranks(entries: Value, number: int) -> dict[bytes, int]:
    """The first tokens of the list, each at the place of its rank."""
    ranks: dict[bytes, int] = {}
    for index, raw in enumerate(entries.list()[:number]):
        entry = entries.at(index, raw)
        try:
            token = base64.b64decode(entry["token_bytes"].text(), validate=True)
        except (binascii.Error, ValueError):
            token = b""
        if not token or token in ranks:
            raise entry["token_bytes"].wrong("base64 of a token that no other entry has")
        if entry["rank"].id() != index:
            raise entry["rank"].wrong(str(index))
        ranks[token] = index
    check_bytes(entries.reading, ranks, place=entries.place)
    return ranks


def read_special_tokens(document: Value, number: int) -> dict[str, int]:
    """The special tokens that are listed, and names for the rest of their ids."""
    listed = document.get("special_tokens")
    if listed.raw is None:
        texts = list(FIRST_SPECIAL_TOKENS)
    else:
        texts = []
        for index, entry in enumerate(listed.items()):
            if entry["rank"].id() != index:
                raise entry["rank"].wrong(str(index))
            texts.append(entry["token_str"].text())
    if len(texts) > number:
        expected = f"at least the {len(texts)} special tokens"
        raise document["config"]["default_num_special_tokens"].wrong(expected)
    texts.extend(f"<SPECIAL_{index}>" for index in range(len(texts), number))
    ids = {text: index for index, text in enumerate(texts)}
    if len(ids) < number or "" in ids:
        raise listed.wrong("special tokens that are not empty and all different")
    return ids


def losses(_vocabulary: Vocabulary) -> list[str]:
    """Nothing can be written."""
    return ["mergewise does not write Tekken files"]


def write(_vocabulary: Vocabulary, path: Path) -> None:
    """Refuse to write."""
    raise ConversionError(f"{path}: mergewise reads Tekken files and does not write them")
