"""Ranks in JSON, as tiktoken's packages for JavaScript have them. Read only.

Anthropic has published one, of its first models. A line of `bpe_ranks` is a mark, the rank of its
first token, and tokens in base64 whose ranks follow one another.
"""

from __future__ import annotations

import base64
from pathlib import Path

from mergewise.errors import ConversionError
from mergewise.formats.json_values import OBJECT_START, Value, parse
from mergewise.formats.reading import LARGEST_ID, Reading, shown
from mergewise.formats.tiktoken import settled_vocabulary
from mergewise.vocabulary import Vocabulary


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file is a JSON object that begins with keys that only such files have."""
    return bool(OBJECT_START.match(head)) and b'"pat_str"' in head and b'"bpe_ranks"' in head


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a file."""
    document = parse(reading)
    ranks = read_ranks(document["bpe_ranks"])
    pattern, special_tokens = document["pat_str"].text(), document["special_tokens"].ids()
    return settled_vocabulary(reading, ranks, pattern, special_tokens)


def read_ranks(value: Value) -> dict[bytes, int]:
    """The tokens and their ranks."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(value.text().split("\n"), 1):
        parts = line.split(" ")
        if len(parts) < 3 or not (parts[1].isascii() and parts[1].isdecimal()):
            found = f"{shown(line)} in line {number}"
            raise value.reading.wrong(value.place, found, "a mark, a rank and tokens")
        for index, written in enumerate(parts[2:]):
            try:
                token = base64.b64decode(written, validate=True)
            except ValueError:
                token = b""
            if not token or token in ranks:
                found = f"{shown(written)} in line {number}"
                raise value.reading.wrong(value.place, found, "base64 of tokens that differ")
            ranks[token] = int(parts[1]) + index
    if len(set(ranks.values())) < len(ranks) or max(ranks.values()) >= LARGEST_ID:
        raise value.reading.wrong(value.place, "a rank twice or too large", "ranks that differ")
    return ranks


def losses(_vocabulary: Vocabulary) -> list[str]:
    """The reason why nothing can be written."""
    return ["mergewise writes ranks as tiktoken itself reads them, not in JSON"]


def files_of(_vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """Refuse to write."""
    raise ConversionError(f"{path}: mergewise reads ranks in JSON and does not write them")
