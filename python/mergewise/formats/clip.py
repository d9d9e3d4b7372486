"""CLIP's file of merges, which OpenAI's and open_clip's programs have. Read only.

The first merges of the file make the vocabulary. What CLIP's programs do to a text before (repair
it, undo HTML's escapes, strip it) is theirs; lower case and single spaces are the tokenizer's.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any, Final

from mergewise.errors import ConversionError
from mergewise.formats import tokenizer_json
from mergewise.formats.huggingface_tokens import TokensOfDocument
from mergewise.formats.json_values import Value
from mergewise.formats.letters import LETTERS
from mergewise.formats.merging import pair_of
from mergewise.formats.reading import Reading, decoded
from mergewise.vocabulary import Vocabulary

GZIP: Final = b"\x1f\x8b"
FIRST_LINE: Final = b'"bpe_simple_vocab_16e6.txt#version: 0.2'
END: Final = "</w>"
SPECIAL: Final = ("<|startoftext|>", "<|endoftext|>")
VOCAB_SIZE: Final = 49408
NUM_MERGES: Final = VOCAB_SIZE - 2 * 256 - len(SPECIAL)
# More than the file has, and less than a small file could be made to have.
MOST_BYTES: Final = 1 << 24
CUT: Final = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)
BYTE_LEVEL: Final = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
STEPS: Final[dict[str, Any]] = {
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFC"},
            {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
            {"type": "Lowercase"},
        ],
    },
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": CUT}, "behavior": "Removed", "invert": True},
            BYTE_LEVEL,
        ],
    },
    "post_processor": {
        "type": "RobertaProcessing",
        "sep": [SPECIAL[1], VOCAB_SIZE - 1],
        "cls": [SPECIAL[0], VOCAB_SIZE - 2],
        "trim_offsets": False,
        "add_prefix_space": False,
    },
    # The ends of words become spaces, that of the last word, too.
    "decoder": {
        "type": "Sequence",
        "decoders": [
            BYTE_LEVEL,
            {"type": "Replace", "pattern": {"String": END}, "content": " "},
        ],
    },
}


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file begins as CLIP's does, compressed or not."""
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, len(FIRST_LINE))
        except zlib.error:
            return False
    return head.startswith(FIRST_LINE)


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of the first merges, as tokenizers would read it."""
    lines = decoded(reading, content_of(reading)).split("\n")[1 : NUM_MERGES + 1]
    if len(lines) < NUM_MERGES:
        raise reading.wrong("", f"{len(lines):,} merges", f"at least {NUM_MERGES:,}")
    merges = [pair_of(reading, line, number) for number, line in enumerate(lines, 2)]
    letters = sorted(LETTERS)
    tokens = [*letters, *(letter + END for letter in letters), *map("".join, merges), *SPECIAL]
    vocab = {token: token_id for token_id, token in enumerate(tokens)}
    if len(vocab) < len(tokens):
        raise reading.wrong("", "merges that make one token twice", "tokens that differ")
    content = {
        **STEPS,
        "added_tokens": [
            {"id": vocab[text], "content": text, "special": True, "normalized": False}
            for text in SPECIAL
        ],
        "model": {
            "type": "BPE",
            "unk_token": SPECIAL[1],
            "end_of_word_suffix": END,
            "vocab": vocab,
            "merges": [list(merge) for merge in merges],
        },
    }
    document = Value(reading, content)
    return tokenizer_json.vocabulary_of(document, TokensOfDocument(document["model"]))


def content_of(reading: Reading) -> bytes:
    """The content of the file, decompressed."""
    with reading.open() as file:
        if file.read(len(GZIP)) != GZIP:
            file.seek(0)
            return file.read()
        file.seek(0)
        try:
            data = gzip.GzipFile(fileobj=file).read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise reading.wrong("", f"no gzip ({error})", "a compressed file") from None
    if len(data) > MOST_BYTES:
        raise reading.wrong("", "a larger file", f"at most {MOST_BYTES:,} bytes, decompressed")
    return data


def losses(_vocabulary: Vocabulary) -> list[str]:
    """The reason why nothing can be written."""
    return ["mergewise does not write CLIP's file"]


def files_of(_vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """Refuse to write."""
    raise ConversionError(f"{path}: mergewise reads CLIP's file and does not write it")
