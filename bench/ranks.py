"""Vocabularies as files of ranks: read one, write it as HuggingFace's tokenizer.json."""

import base64
import json
from pathlib import Path


def read_ranks(path: Path) -> dict[bytes, int]:
    """The rank of each token, from tiktoken's lines of base64 and number."""
    pairs = (line.split() for line in path.read_bytes().splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def gpt2_letters() -> list[str]:
    """The letter by which GPT-2's files write each of the 256 bytes."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def merges_of(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Every way to make a token of two others, by the token's rank and then by its parts'.

    A file of ranks says only what results: a pair may be merged whenever its string is a token.

    >>> merges_of({b"a": 0, b"b": 1, b"ab": 2, b"aba": 3, b"ba": 4})
    [(b'a', b'b'), (b'a', b'ba'), (b'ab', b'a'), (b'b', b'a')]
    """
    merges = []
    for token in sorted(ranks, key=lambda token: ranks[token]):
        splits = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        known = [(left, right) for left, right in splits if left in ranks and right in ranks]
        merges += sorted(known, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    return merges


def tokenizer_json(ranks: dict[bytes, int], pattern: str, special_tokens: dict[str, int]) -> str:
    """The same vocabulary as a tokenizer.json; words that are tokens are not merged."""
    letters = gpt2_letters()

    def spelled(token: bytes) -> str:
        return "".join(letters[byte] for byte in token)

    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    steps = [{**split, "invert": False}, {**byte_level, "use_regex": False}]
    model = {
        "type": "BPE",
        "ignore_merges": True,
        "vocab": {spelled(token): rank for token, rank in ranks.items()},
        "merges": [[spelled(left), spelled(right)] for left, right in merges_of(ranks)],
    }
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [
                {"id": number, "content": text, "special": True, **flags}
                for text, number in special_tokens.items()
            ],
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
            "decoder": {**byte_level, "use_regex": True},
            "model": model,
        }
    )
