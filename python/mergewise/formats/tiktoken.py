"""tiktoken's ranks: a line for each token, its bytes in base64 and its id.

The file says neither how texts are cut nor which tokens are special. `x.tiktoken.json` beside
`x.tiktoken` says both, as the arguments of `tiktoken.Encoding`; OpenAI's own files are known by
their SHA-256.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from pathlib import Path
from typing import Final

from mergewise.errors import ConversionError
from mergewise.files import replacing
from mergewise.formats.json_values import parse
from mergewise.formats.merging import check_bytes
from mergewise.formats.reading import UNSET, Reading, Unset, is_id, shown
from mergewise.formats.regexes import from_tiktoken, nameless, refers_to_groups, to_tiktoken
from mergewise.formats.unsayable import plain_losses
from mergewise.vocabulary import Vocabulary

LINE: Final = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)? \d+\r?")
END_OF_TEXT: Final = "<|endoftext|>"
END_OF_PROMPT: Final = "<|endofprompt|>"
# r50k_base (also GPT-2's), p50k_base, cl100k_base, o200k_base.
PUBLISHED: Final[dict[str, tuple[str, dict[str, int]]]] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": (
        "gpt2",
        {END_OF_TEXT: 50256},
    ),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": (
        "gpt2",
        {END_OF_TEXT: 50256},
    ),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": (
        "cl100k",
        {
            END_OF_TEXT: 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            END_OF_PROMPT: 100276,
        },
    ),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": (
        "o200k",
        {END_OF_TEXT: 199999, END_OF_PROMPT: 200018},
    ),
}


def looks_like(head: bytes, _path: Path) -> bool:
    """Are the first lines base64 and a number?"""
    lines = head.split(b"\n")[:10]
    complete = lines[:-1] or lines
    return all(LINE.fullmatch(line) for line in complete)


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a file of ranks."""
    data = reading.path.read_bytes()
    tokens = parsed_ranks(reading, data)
    check_bytes(reading, tokens, place="the tokens")
    pattern, drops_gaps, special_tokens = said_elsewhere(reading, data)
    ids = set(tokens.values())
    for text, token_id in special_tokens.items():
        if token_id in ids:
            found = f"the special token {shown(text)} with the id {token_id} of another token"
            raise reading.wrong("special_tokens", found, "an id of its own")
        ids.add(token_id)
    return Vocabulary(
        tokens=tokens,
        ranks=tokens,
        whole_words=True,
        pattern=pattern,
        drops_gaps=drops_gaps,
        special_tokens=special_tokens,
    )


def parsed_ranks(reading: Reading, data: bytes) -> dict[bytes, int]:
    """The tokens and their ranks."""
    tokens: dict[bytes, int] = {}
    ranks: set[int] = set()
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            written, digits = line.removesuffix(b"\r").split(b" ")
            token = base64.b64decode(written, validate=True)
            rank = int(digits) if digits.isdigit() and len(digits) <= 10 else -1
        except (binascii.Error, ValueError):
            # Whisper has a token without bytes, and this is how it is written.
            token, rank = b"", 0 if line.startswith(b"= ") else -1
        if not is_id(rank):
            raise reading.wrong(f"line {number}", shown(line), "a token in base64 and an id")
        if not token:
            reading.leave_out(f"line {number}", "a token without bytes", "tokens that texts have")
            continue
        if token in tokens or rank in ranks:
            what = "token" if token in tokens else "id"
            found = f"{shown(line)}, whose {what} stands before"
            raise reading.wrong(f"line {number}", found, "tokens and ids that are all different")
        tokens[token] = rank
        ranks.add(rank)
    return tokens


def said_elsewhere(reading: Reading, data: bytes) -> tuple[str | None, bool, dict[str, int]]:
    """The pattern, whether it drops gaps, and the special tokens: by the caller or known."""
    known = None if is_said(reading) else beside(reading) or published(data)
    if known is None and isinstance(reading.pattern, Unset):
        raise reading.wrong(
            "",
            "ranks that are none of OpenAI's, and no file of their settings beside them",
            "a pattern",
            hint="give_pattern",
        )
    regex, special_tokens = known or (None, {})
    pattern, drops_gaps = from_tiktoken(regex) if regex is not None else (None, False)
    if not isinstance(reading.pattern, Unset):
        pattern, drops_gaps = reading.pattern, False
        if reading.pattern is not None:
            pattern, drops_gaps = from_tiktoken(reading.pattern)
    if not isinstance(reading.special_tokens, Unset):
        special_tokens = dict(reading.special_tokens)
    return pattern, drops_gaps, special_tokens


def is_said(reading: Reading) -> bool:
    """Did the caller say both?"""
    return reading.pattern is not UNSET and reading.special_tokens is not UNSET


def published(data: bytes) -> tuple[str, dict[str, int]] | None:
    """What is known of OpenAI's files."""
    return PUBLISHED.get(hashlib.sha256(data).hexdigest())


def settings_path(path: Path) -> Path:
    """Where the settings of a file of ranks are."""
    return path.with_name(path.name + ".json")


def beside(reading: Reading) -> tuple[str, dict[str, int]] | None:
    """The settings in the file beside the ranks, if it is there."""
    path = settings_path(reading.path)
    if not path.exists():
        return None
    settings = parse(Reading(path=path))
    special_tokens = settings["special_tokens"]
    ids = {text: special_tokens.at(text, raw).id() for text, raw in special_tokens.object().items()}
    return nameless(settings["pat_str"].text()), ids


def losses(vocabulary: Vocabulary) -> list[str]:
    """What ranks and the settings beside them cannot say about a vocabulary."""
    fields = ("normalize", "prefix_space", "mark_is_space", "end_of_word", "added_tokens")
    found = plain_losses(vocabulary, *fields)
    if vocabulary.alphabet == "chars":
        found.append("its symbols are bytes, not characters")
    ids = [vocabulary.tokens[left + right] for left, right in vocabulary.merges or ()]
    first = dict.fromkeys(ids)
    if list(first) != sorted(first):
        found.append("its tokens merge in the order of their ids, which is not that of the merges")
    if refers_to_groups(vocabulary.pattern) and not vocabulary.drops_gaps:
        found.append("it cannot keep what a pattern with numbered or named groups does not match")
    return found


def write(vocabulary: Vocabulary, path: Path) -> None:
    """Write the ranks, and their settings beside them."""
    if vocabulary.alphabet == "chars":
        raise ConversionError(f"{path}: ranks of tiktoken are of bytes, found characters")
    by_id = sorted(vocabulary.tokens.items(), key=lambda item: item[1])
    lines = [base64.b64encode(token) + b" %d\n" % token_id for token, token_id in by_id]
    settings = {
        "pat_str": to_tiktoken(vocabulary.pattern, drops_gaps=vocabulary.drops_gaps),
        "special_tokens": dict(vocabulary.special_tokens),
    }
    text = json.dumps(settings, ensure_ascii=False, indent=1) + "\n"
    with replacing(settings_path(path)) as beside_it, replacing(path) as ranks:
        ranks.write_bytes(b"".join(lines))
        beside_it.write_text(text, encoding="utf-8")
