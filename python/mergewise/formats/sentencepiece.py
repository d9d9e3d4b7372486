"""SentencePiece's models, of the type BPE.

The format calls a token a piece. Of all neighbouring pairs, the one whose piece has the best score
merges first, so scores are ranks. Spaces are written as U+2581, and U+2581 in a text is read as a
space. Neighbouring unknown characters become one unknown token.

Many models leave a text as it is, but for a space before it: the fields of Vocabulary say so, and
texts are encoded by the faster means that the core has for these. What other models do to a text is
one step of the core.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from mergewise import _core
from mergewise.errors import InputError
from mergewise.formats.letters import BYTE_NAMES, MARK
from mergewise.formats.protobuf import BYTES, FIXED32, VARINT, Field, fields
from mergewise.formats.reading import Reading, shown
from mergewise.formats.sentencepiece_writer import BPE, ROLES, Kind, files_of, losses
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
    (2, 46): ("bos_piece", b"<s>"),
    (2, 47): ("eos_piece", b"</s>"),
    (2, 48): ("pad_piece", b"<pad>"),
    (3, 1): ("normalizer", b""),
    (3, 2): ("charsmap", b""),
    (3, 3): ("add_dummy_prefix", 1),
    (3, 4): ("remove_extra_whitespaces", 1),
    (3, 5): ("escape_whitespaces", 1),
    (5, 2): ("denormalizing_charsmap", b""),
    (5, 3): ("denormalizing_add_dummy_prefix", 1),
    (5, 4): ("denormalizing_remove_extra_whitespaces", 1),
    (5, 5): ("denormalizing_escape_whitespaces", 1),
}


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file begins with a piece: a message that begins with a string."""
    return len(head) > 4 and head[0] == 0x0A and head[2] == 0x0A and head[3] < head[1] < 0x80


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a model."""
    pieces, settings = parsed(reading, reading.read_bytes())
    check_model_type(reading, settings)
    by_kind: dict[int, dict[str, int]] = {kind: {} for kind in range(1, 7)}
    for token_id, piece in enumerate(pieces):
        by_kind[piece.kind][piece.text] = token_id
    if len(by_kind[Kind.UNKNOWN]) != 1:
        raise reading.wrong("pieces", f"{len(by_kind[Kind.UNKNOWN])} unknown pieces", "one")
    (unknown,) = by_kind[Kind.UNKNOWN].values()
    byte_tokens = (
        read_byte_tokens(reading, by_kind[Kind.BYTE]) if settings["byte_fallback"] else None
    )
    normal = {**by_kind[Kind.NORMAL], **by_kind[Kind.UNUSED]}
    is_plain = is_plainly_spaced(settings, by_kind)
    written = spaced if is_plain else str
    scores = {written(text).encode(): pieces[token_id].score for text, token_id in normal.items()}
    return Vocabulary(
        tokens={written(text).encode(): token_id for text, token_id in normal.items()},
        ranks=ranked({token: scores[token] for token in scores if len(token.decode()) > 1}),
        alphabet="chars",
        byte_tokens=byte_tokens,
        unknown_token=unknown,
        fuse_unknown=True,
        unused=tuple(by_kind[Kind.UNUSED].values()),
        prefix_space="once" if is_plain and settings["add_dummy_prefix"] else None,
        mark_is_space=is_plain,
        normalizer=None if is_plain else [read_normalizer(reading, settings)],
        special_tokens={
            **by_kind[Kind.UNKNOWN],
            **by_kind[Kind.CONTROL],
            **({} if byte_tokens else by_kind[Kind.BYTE]),
        },
        added_tokens=by_kind[Kind.USER_DEFINED],
        decoder=[decoder_of(settings, by_kind), *read_denormalizer(reading, settings)],
        roles={"unk": unknown, **roles_of(settings, by_kind[Kind.CONTROL])},
        extras={
            "sentencepiece": {
                "trainer_spec": settings["trainer_spec"],
                "normalizer": settings["normalizer"],
                "scores": scores,
            }
        },
    )


def is_plainly_spaced(settings: Settings, by_kind: dict[int, dict[str, int]]) -> bool:
    """Whether a text stays as it is, but for a space before it and marks, which are spaces.

    In pieces marks are then spaces, too, so no piece may have a space of its own; user-defined
    pieces are searched in the text as it is, so they may have neither; and the mark must not be
    unknown where bytes stand for what is: its bytes are not a space's.
    """
    others = ("charsmap", "remove_extra_whitespaces", "treat_whitespace_as_suffix")
    if any(settings[name] for name in others) or not settings["escape_whitespaces"]:
        return False
    if settings["byte_fallback"] and MARK not in by_kind[Kind.NORMAL]:
        return False
    found = (*by_kind[Kind.NORMAL], *by_kind[Kind.UNUSED])
    return not any(" " in text for text in found) and not any(
        " " in text or MARK in text for text in by_kind[Kind.USER_DEFINED]
    )


def roles_of(settings: Settings, control: dict[str, int]) -> dict[str, int]:
    """The ids of the pieces that begin and end texts and fill batches, where there are such."""
    names = {
        role: settings[f"{role}_piece"].decode("utf-8", "replace") or default
        for role, default in ROLES.items()
    }
    return {role: control[name] for role, name in names.items() if name in control}


FLAGS: Final = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")


def normalizer_of(settings: Settings, prefix: str = "") -> Step:
    """What the normalizer of a model, or with a prefix its denormalizer, does."""
    charsmap = settings[f"{prefix}charsmap"]
    return {
        "charsmap": base64.b64encode(charsmap).decode() if charsmap else None,
        **{name: bool(settings[prefix + name]) for name in FLAGS},
        "treat_whitespace_as_suffix": bool(not prefix and settings["treat_whitespace_as_suffix"]),
    }


def read_normalizer(reading: Reading, settings: Settings) -> Step:
    """The normalizer as a step of the core; refuses a damaged map of characters."""
    step = {"type": "SentencePiece", **normalizer_of(settings)}
    try:
        _core.Pipeline(json.dumps({"normalizer": [step]}))
    except InputError as error:
        place = "normalizer_spec.precompiled_charsmap"
        raise reading.wrong(place, str(error), "a map of characters") from None
    return step


def read_denormalizer(reading: Reading, settings: Settings) -> list[Step]:
    """The step that changes a decoded text, if there is one."""
    if not settings["denormalizing_charsmap"]:
        return []
    step = {"type": "Denormalizer", **normalizer_of(settings, "denormalizing_")}
    try:
        _core.decode_tokens(json.dumps([step]), [])
    except InputError as error:
        place = "denormalizer_spec.precompiled_charsmap"
        raise reading.wrong(place, str(error), "a map of characters") from None
    return [step]


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


def ranked(scores: dict[bytes, float]) -> dict[bytes, int]:
    """The ranks of scores: the best has rank 0, and equal scores have equal ranks.

    Of the two zeros, 0.0 is better than -0.0.

    >>> ranked({b"ab": -2.0, b"bc": -1.0, b"cd": -2.0})
    {b'ab': 1, b'bc': 0, b'cd': 1}
    """
    signed = {token: (score, math.copysign(1.0, score)) for token, score in scores.items()}
    order = sorted(set(signed.values()), reverse=True)
    ranks = {score: rank for rank, score in enumerate(order)}
    return {token: ranks[score] for token, score in signed.items()}


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
        if not piece.text or piece.text in texts:
            place = f"pieces[{len(pieces)}] at offset {message.start}"
            expected = "pieces that are not empty and all different"
            raise reading.wrong(place, shown(piece.text), expected)
        texts.add(piece.text)
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
    if math.isnan(piece.score) or not Kind.NORMAL <= piece.kind <= Kind.BYTE:
        found = f"the score {piece.score} and the type {piece.kind}"
        raise reading.wrong(place, found, "a number as score and a type from 1 to 6")
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


def check_model_type(reading: Reading, settings: Settings) -> None:
    """Refuse models of other types."""
    model_type = settings["model_type"]
    if model_type != BPE:
        kind = MODEL_TYPES.get(model_type, f"number {model_type}")
        raise reading.wrong("trainer_spec.model_type", f"a model of the kind {kind}", "BPE")


def read_byte_tokens(reading: Reading, pieces: dict[str, int]) -> tuple[int, ...]:
    """The ids of the pieces for bytes."""
    missing = [name for name in BYTE_NAMES if name not in pieces]
    if missing:
        raise reading.wrong("pieces", f"no piece {missing[0]}", "a piece for each byte")
    return tuple(pieces[name] for name in BYTE_NAMES)
