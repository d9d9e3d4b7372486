"""SentencePiece's models, of the type BPE.

The format calls a token a piece. Of all neighbouring pairs, the one whose piece has the best score
merges first, so scores are ranks. Spaces are written as U+2581, and U+2581 in a text is read as a
space. Neighbouring unknown characters become one unknown token.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from mergewise.formats.letters import BYTE_NAMES, MARK
from mergewise.formats.protobuf import BYTES, FIXED32, VARINT, Field, fields
from mergewise.formats.reading import Reading, shown
from mergewise.formats.sentencepiece_writer import BPE, Kind, files_of, losses
from mergewise.vocabulary import Step, Vocabulary

__all__ = ["files_of", "looks_like", "losses", "read"]

MODEL_TYPES: Final = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}


@dataclass
class Piece:
    """A token of the model."""

    text: str = ""
    score: float = 0.0
    kind: int = Kind.NORMAL


Settings: TypeAlias = dict[str, Any]
# The fields of the messages TrainerSpec (2), NormalizerSpec (3) and the denormalizer (5): their
# names, and the defaults of the format.
SETTINGS: Final[dict[tuple[int, int], tuple[str, int | bytes]]] = {
    (2, 3): ("model_type", 1),
    (2, 24): ("treat_whitespace_as_suffix", 0),
    (2, 35): ("byte_fallback", 0),
    (2, 44): ("unk_surface", " \u2047 ".encode()),
    (3, 2): ("charsmap", b""),
    (3, 3): ("add_dummy_prefix", 1),
    (3, 4): ("remove_extra_whitespaces", 1),
    (3, 5): ("escape_whitespaces", 1),
    (5, 2): ("denormalizing_charsmap", b""),
}


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file begins with a piece: a message that begins with a string."""
    return len(head) > 4 and head[0] == 0x0A and head[2] == 0x0A and head[3] < head[1] < 0x80


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a model."""
    pieces, settings = parsed(reading, reading.read_bytes())
    check_settings(reading, settings)
    by_kind: dict[int, dict[str, int]] = {kind: {} for kind in range(1, 7)}
    for token_id, piece in enumerate(pieces):
        by_kind[piece.kind][piece.text] = token_id
    if by_kind[Kind.UNUSED]:
        found = f"{len(by_kind[Kind.UNUSED]):,} unused pieces"
        reading.leave_out("pieces", found, "none: they are made and taken apart again")
    if len(by_kind[Kind.UNKNOWN]) != 1:
        raise reading.wrong("pieces", f"{len(by_kind[Kind.UNKNOWN])} unknown pieces", "one")
    byte_tokens = (
        read_byte_tokens(reading, by_kind[Kind.BYTE]) if settings["byte_fallback"] else None
    )
    normal = {**by_kind[Kind.NORMAL], **by_kind[Kind.UNUSED]}
    unread_bytes = {} if byte_tokens else by_kind[Kind.BYTE]
    # User-defined pieces are searched in the text as it is; those with a space are never found.
    always_found = {text: i for text, i in by_kind[Kind.USER_DEFINED].items() if " " not in text}
    never_found = {text: i for text, i in by_kind[Kind.USER_DEFINED].items() if " " in text}
    scores = {spaced(text): pieces[token_id].score for text, token_id in normal.items()}
    return Vocabulary(
        tokens={spaced(text).encode(): token_id for text, token_id in normal.items()},
        ranks=ranked({text: score for text, score in scores.items() if len(text) > 1}),
        alphabet="chars",
        byte_tokens=byte_tokens,
        unknown_token=next(iter(by_kind[Kind.UNKNOWN].values())),
        fuse_unknown=True,
        prefix_space="once" if settings["add_dummy_prefix"] else None,
        mark_is_space=True,
        special_tokens={
            **by_kind[Kind.UNKNOWN],
            **by_kind[Kind.CONTROL],
            **unread_bytes,
            **never_found,
        },
        added_tokens=always_found,
        decoder=[decoder_of(settings, by_kind)],
        written={token_id: text for text, token_id in normal.items() if " " in text},
        extras={
            "sentencepiece": {
                "trainer_spec": settings["trainer_spec"],
                "scores": {text.encode(): score for text, score in scores.items()},
            }
        },
    )


def decoder_of(settings: Settings, by_kind: dict[int, dict[str, int]]) -> Step:
    """How SentencePiece decodes, as a step of the core."""
    (unknown,) = by_kind[Kind.UNKNOWN]
    flags = ("byte_fallback", "add_dummy_prefix", "remove_extra_whitespaces")
    return {
        "type": "SentencePiece",
        "unk_piece": unknown,
        "unk_surface": settings["unk_surface"].decode("utf-8", "replace"),
        "control": list(by_kind[Kind.CONTROL]),
        **{name: bool(settings[name]) for name in flags},
    }


def spaced(text: str) -> str:
    """A piece with spaces instead of marks."""
    return text.replace(MARK, " ")


def ranked(scores: dict[str, float]) -> dict[bytes, int]:
    """The ranks of scores: the best has rank 0, and equal scores have equal ranks.

    >>> ranked({"ab": -2.0, "bc": -1.0, "cd": -2.0})
    {b'ab': 1, b'bc': 0, b'cd': 1}
    """
    order = sorted(set(scores.values()), reverse=True)
    ranks = {score: rank for rank, score in enumerate(order)}
    return {text.encode(): ranks[score] for text, score in scores.items()}


def parsed(reading: Reading, data: bytes) -> tuple[list[Piece], Settings]:
    """The pieces and the settings of a model."""
    pieces: list[Piece] = []
    texts: set[str] = set()
    settings: Settings = {"trainer_spec": b"", **dict(SETTINGS.values())}
    for message in fields(reading, data):
        if message.number not in {1, 2, 3, 5}:
            continue
        if message.wire != BYTES:
            found = f"field {message.number} of wire type {message.wire}"
            raise reading.wrong("the model", found, "a message")
        if message.number != 1:
            read_settings(reading, settings, data, message)
            continue
        piece = parsed_piece(reading, data, message)
        if not piece.text or spaced(piece.text) in texts:
            place = f"pieces[{len(pieces)}] at offset {message.start}"
            expected = "pieces that are not empty and all different"
            raise reading.wrong(place, shown(piece.text), expected)
        texts.add(spaced(piece.text))
        pieces.append(piece)
    return pieces, settings


def parsed_piece(reading: Reading, data: bytes, message: Field) -> Piece:
    """The piece in a message."""
    piece = Piece()
    place = f"the piece at offset {message.start}"
    for number, wire, start, end, value in fields(reading, data, message):
        if (number, wire) == (1, BYTES):
            try:
                piece.text = data[start:end].decode("utf-8")
            except UnicodeDecodeError:
                raise reading.wrong(place, shown(data[start:end]), "UTF-8") from None
        elif (number, wire) == (2, FIXED32):
            piece.score = struct.unpack("<f", data[start:end])[0]
        elif (number, wire) == (3, VARINT):
            piece.kind = value
        elif number <= 3:
            raise reading.wrong(place, f"field {number} of wire type {wire}", "a piece")
    if not math.isfinite(piece.score) or not Kind.NORMAL <= piece.kind <= Kind.BYTE:
        found = f"the score {piece.score} and the type {piece.kind}"
        raise reading.wrong(place, found, "a finite score and a type from 1 to 6")
    return piece


def read_settings(reading: Reading, settings: Settings, data: bytes, message: Field) -> None:
    """Read the settings of a message."""
    if message.number == 2:
        # A message may be written in several parts, which are concatenated.
        settings["trainer_spec"] += data[message.start : message.end]
    for number, wire, start, end, value in fields(reading, data, message):
        if (message.number, number) in SETTINGS:
            name, default = SETTINGS[message.number, number]
            is_bytes = isinstance(default, bytes)
            if wire != (BYTES if is_bytes else VARINT):
                raise reading.wrong(name, f"wire type {wire}", "bytes" if is_bytes else "a number")
            settings[name] = data[start:end] if is_bytes else value


def check_settings(reading: Reading, settings: Settings) -> None:
    """Refuse models of other types and unsupported changes of texts."""
    model_type = settings["model_type"]
    if model_type != BPE:
        kind = MODEL_TYPES.get(model_type, f"number {model_type}")
        raise reading.wrong("trainer_spec.model_type", f"a model of the kind {kind}", "BPE")
    for name, is_unsupported, place, found in (
        ("charsmap", True, "normalizer_spec", "a map of characters"),
        ("denormalizing_charsmap", True, "denormalizer_spec", "a map of characters"),
        ("remove_extra_whitespaces", True, "normalizer_spec", "remove_extra_whitespaces"),
        ("escape_whitespaces", False, "normalizer_spec", "escape_whitespaces=false"),
        ("treat_whitespace_as_suffix", True, "trainer_spec", "white space as a suffix"),
    ):
        if bool(settings[name]) == is_unsupported:
            reading.leave_out(place, found, "texts that are left as they are")


def read_byte_tokens(reading: Reading, pieces: dict[str, int]) -> tuple[int, ...]:
    """The ids of the pieces for bytes."""
    missing = [name for name in BYTE_NAMES if name not in pieces]
    if missing:
        raise reading.wrong("pieces", f"no piece {missing[0]}", "a piece for each byte")
    return tuple(pieces[name] for name in BYTE_NAMES)
