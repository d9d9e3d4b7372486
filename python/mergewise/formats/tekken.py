"""Mistral's Tekken: special tokens, then tiktoken's ranks, in JSON. Read only."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

from mergewise.errors import ConversionError, FormatError
from mergewise.formats.json_values import OBJECT_START, Value, parse
from mergewise.formats.merging import check_bytes
from mergewise.formats.reading import LARGEST_ID, Reading
from mergewise.formats.regexes import from_tiktoken, nameless
from mergewise.formats.tiktoken import ranked_vocabulary
from mergewise.vocabulary import Vocabulary

# The special tokens of files that do not list any: those of versions up to v7.
FIRST_SPECIAL_TOKENS: Final = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file is a JSON object that begins with keys that only Tekken has."""
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
    # Memory is bounded by the file: a size larger than its entries is refused here.
    if not num_special <= size <= min(len(entries.list()) + num_special, LARGEST_ID):
        raise config["default_vocab_size"].wrong(
            f"from {num_special} to {len(entries.list()) + num_special}: special tokens and entries"
        )
    special_tokens = read_special_tokens(document, num_special)
    ranks = read_ranks(entries, size - num_special)
    cut = from_tiktoken(nameless(config["pattern"].text()))
    return ranked_vocabulary(ranks, cut, special_tokens, first_id=num_special)


def read_ranks(entries: Value, number: int) -> dict[bytes, int]:
    """The first `number` tokens of the list, each at the index of its rank."""
    ranks: dict[bytes, int] = {}
    for index, raw in enumerate(entries.list()[:number]):
        # Making a Value for each entry would take most of the time, so only a fault makes one.
        try:
            token = base64.b64decode(raw["token_bytes"], validate=True)
            rank = raw["rank"]
        except (TypeError, KeyError, ValueError):
            token, rank = b"", None
        if not token or token in ranks or type(rank) is not int or rank != index:
            raise fault_of_entry(entries.at(index, raw), index)
        ranks[token] = index
    check_bytes(entries.reading, ranks, place=entries.place)
    return ranks


def fault_of_entry(entry: Value, index: int) -> FormatError:
    """The error for an entry that is not a new token with the rank `index`."""
    entry["token_bytes"].text()
    if entry["rank"].id() != index:
        return entry["rank"].wrong(str(index))
    return entry["token_bytes"].wrong("base64 of a token that no other entry has")


def read_special_tokens(document: Value, number: int) -> dict[str, int]:
    """The special tokens that are listed, and names for the rest of the `number` ids."""
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
    """The reason why nothing can be written."""
    return ["mergewise does not write Tekken files"]


def files_of(_vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """Refuse to write."""
    raise ConversionError(f"{path}: mergewise reads Tekken files and does not write them")
