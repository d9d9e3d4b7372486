"""Writing SentencePiece's models."""

from __future__ import annotations

import base64
import struct
from dataclasses import replace
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

from mergewise.errors import ConversionError
from mergewise.formats.letters import BYTE_NAMES, MARK
from mergewise.formats.protobuf import FIXED32, bytes_field, number_field, written_varint
from mergewise.formats.regexes import METASPACE
from mergewise.formats.unsupported import named, plain_losses
from mergewise.vocabulary import Step, Vocabulary

# The types of pieces.
Kind = IntEnum("Kind", ["NORMAL", "UNKNOWN", "CONTROL", "USER_DEFINED", "UNUSED", "BYTE"])
BPE: Final = 2
UNKNOWN_PIECE: Final = "<unk>"
ROLES: Final = {"bos": "<s>", "eos": "</s>", "pad": "<pad>"}


def losses(vocabulary: Vocabulary) -> list[str]:
    """What a model cannot represent of a vocabulary."""
    model = normalizer_of(vocabulary)
    vocabulary = replace(vocabulary, unused=())
    if model is not None:
        vocabulary = replace(vocabulary, normalizer=None, pre_tokenizer=None)
    found = plain_losses(vocabulary, "chars", "normalize", "whole_words", "end_of_word")
    if vocabulary.prefix_space == "unless_space":
        found.append("it puts a space before every text or before none, whatever their beginning")
    if vocabulary.prefix_space == "always" and vocabulary.added_tokens:
        found.append("it puts no space behind tokens that are found in every text")
    if model is None:
        found += losses_of_spaces(vocabulary)
    if vocabulary.drops_unknown and not vocabulary.byte_tokens:
        found.append("it makes a token of characters that are none, and leaves none out")
    if vocabulary.unknown_token is not None and not vocabulary.fuse_unknown:
        found.append("it makes one token of neighbouring unknown characters")
    if not is_cut_by_tokens(vocabulary):
        pattern = named(vocabulary.pattern)
        found.append(f"it does not cut texts into words; the pattern {pattern} does")
    if vocabulary.byte_tokens and None in vocabulary.byte_tokens:
        found.append("it has a token for each byte or for none")
    holes = max(all_ids(vocabulary), default=-1) + 1 - len(all_ids(vocabulary))
    if holes:
        found.append(f"its ids have no holes; here are {holes:,}")
    return found


def losses_of_spaces(vocabulary: Vocabulary) -> list[str]:
    """What a model would read otherwise, since it writes spaces as marks."""
    found = []
    spaced = [text for text in vocabulary.added_tokens if " " in text or MARK in text]
    if spaced:
        found.append(f"it does not find tokens with a space in a text ({named(spaced)})")
    marked = [token for token in vocabulary.tokens if MARK.encode() in token]
    if marked:
        found.append(f"it writes a space as U+2581, which these tokens have ({named(marked)})")
    return found


def normalizer_of(vocabulary: Vocabulary) -> Step | None:
    """The normalizer of a model, if that is all that happens to a text before merging."""
    steps = [*(vocabulary.normalizer or ()), *(vocabulary.pre_tokenizer or ())]
    return steps[0] if [step["type"] for step in steps] == ["SentencePiece"] else None


def is_cut_by_tokens(vocabulary: Vocabulary) -> bool:
    """Whether the pattern never cuts a text within a token, so that it can be left out."""
    if vocabulary.pattern is None:
        return True
    if vocabulary.drops_gaps or vocabulary.pattern not in {"whitespace", METASPACE}:
        return False
    space = str.isspace if vocabulary.pattern == "whitespace" else " ".__eq__
    texts = (token.decode("utf-8", "replace") for token in vocabulary.tokens)
    return not any(space(character) for text in texts for character in text[1:])


def all_ids(vocabulary: Vocabulary) -> set[int]:
    """The ids of all tokens."""
    unknown = () if vocabulary.unknown_token is None else (vocabulary.unknown_token,)
    return {
        *vocabulary.tokens.values(),
        *vocabulary.special_tokens.values(),
        *vocabulary.added_tokens.values(),
        *(token_id for token_id in vocabulary.byte_tokens or () if token_id is not None),
        *unknown,
    }


def files_of(vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """The model."""
    if vocabulary.alphabet == "bytes":
        raise ConversionError(f"{path}: models of SentencePiece are of characters, found bytes")
    pieces = pieces_by_id(vocabulary)
    texts = [text for text, _, _ in pieces.values()]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ConversionError(f"{path}: two tokens would be the piece {twice!r}")
    size = max(pieces) + 1
    filled = [pieces.get(i, (f"<unused_{i}>", 0.0, Kind.UNUSED)) for i in range(size)]
    model = [bytes_field(1, written_piece(*piece)) for piece in filled]
    model += [
        bytes_field(2, trainer_spec(vocabulary, filled)),
        bytes_field(3, normalizer_spec(vocabulary)),
    ]
    for step in vocabulary.decoder or ():
        if step["type"] == "Denormalizer":
            model.append(bytes_field(5, spec_of(step)))
    return {path: b"".join(model)}


def normalizer_spec(vocabulary: Vocabulary) -> bytes:
    """The message NormalizerSpec."""
    step = normalizer_of(vocabulary)
    if step is None:
        step = {
            "charsmap": None,
            "add_dummy_prefix": vocabulary.prefix_space is not None,
            "remove_extra_whitespaces": False,
            "escape_whitespaces": True,
        }
    name = vocabulary.extras.get("sentencepiece", {}).get("normalizer")
    return bytes_field(1, name or b"identity") + spec_of(step)


def spec_of(step: Step) -> bytes:
    """The settings of a normalizer in a message NormalizerSpec."""
    charsmap = base64.b64decode(step["charsmap"] or "")
    return b"".join(
        (
            bytes_field(2, charsmap) if charsmap else b"",
            number_field(3, int(step["add_dummy_prefix"])),
            number_field(4, int(step["remove_extra_whitespaces"])),
            number_field(5, int(step["escape_whitespaces"])),
        )
    )


def pieces_by_id(vocabulary: Vocabulary) -> dict[int, tuple[str, float, int]]:
    """The string, score and type of each piece, by id; an unknown piece is added if needed."""
    scores = scores_of(vocabulary)
    unused = set(vocabulary.unused)
    written = marked if normalizer_of(vocabulary) is None else str
    pieces: dict[int, tuple[str, float, int]] = {
        token_id: (
            written(token.decode("utf-8")),
            scores[token],
            Kind.UNUSED if token_id in unused else Kind.NORMAL,
        )
        for token, token_id in vocabulary.tokens.items()
    }
    for text, token_id in vocabulary.special_tokens.items():
        pieces[token_id] = (text, 0.0, Kind.CONTROL)
    for text, token_id in vocabulary.added_tokens.items():
        pieces[token_id] = (text, 0.0, Kind.USER_DEFINED)
    by_byte = zip(BYTE_NAMES, vocabulary.byte_tokens or (), strict=False)
    pieces |= {i: (name, 0.0, Kind.BYTE) for name, i in by_byte if i is not None}
    unknown = vocabulary.unknown_token
    if unknown is None:
        unknown = vocabulary.roles.get("unk")
    if unknown is None:
        new = max(pieces, default=-1) + 1
        unknown = vocabulary.special_tokens.get(UNKNOWN_PIECE, new)
    text = pieces[unknown][0] if unknown in pieces else UNKNOWN_PIECE
    pieces[unknown] = (text, 0.0, Kind.UNKNOWN)
    return pieces


def scores_of(vocabulary: Vocabulary) -> dict[bytes, float]:
    """The scores that were read, if they agree with the merges; else minus the rank of each token.

    Only scores that were read can be equal.
    """
    made = list(dict.fromkeys(left + right for left, right in vocabulary.merges or ()))
    kept = vocabulary.extras.get("sentencepiece", {}).get("scores", {})
    if kept.keys() == vocabulary.tokens.keys() and all(
        kept[token] >= kept[following] for token, following in pairwise(made)
    ):
        return dict(kept)
    known = set(made)
    others = [token for token in vocabulary.tokens if token not in known]
    return {token: -float(place) for place, token in enumerate(made + others)}


def marked(text: str) -> str:
    """A token with marks instead of spaces."""
    return text.replace(" ", MARK)


def written_piece(text: str, score: float, kind: int) -> bytes:
    """The message of a piece."""
    written_score = written_varint(2 << 3 | FIXED32) + struct.pack("<f", score)
    return bytes_field(1, text.encode()) + written_score + number_field(3, kind)


def trainer_spec(vocabulary: Vocabulary, pieces: list[tuple[str, float, int]]) -> bytes:
    """The message TrainerSpec: the one that was read, or what SentencePiece requires."""
    kept = vocabulary.extras.get("sentencepiece", {}).get("trainer_spec")
    if isinstance(kept, bytes):
        return kept
    names = {
        text: token_id for token_id, (text, _, kind) in enumerate(pieces) if kind == Kind.CONTROL
    }
    ids = {role: names.get(name, -1) for role, name in ROLES.items()}
    ids |= {role: i for role, i in vocabulary.roles.items() if role in ids}
    unknown = next(i for i, (_, _, kind) in enumerate(pieces) if kind == Kind.UNKNOWN)
    steps = {step["type"]: step for step in vocabulary.decoder or ()}
    surface = steps.get("SentencePiece", {}).get("unk_surface", " \u2047 ")
    normalizer = normalizer_of(vocabulary) or {}
    return b"".join(
        (
            number_field(3, BPE),
            number_field(4, len(pieces)),
            number_field(24, int(normalizer.get("treat_whitespace_as_suffix", False))),
            number_field(35, int(vocabulary.byte_tokens is not None)),
            number_field(40, unknown),
            *(number_field(41 + place, ids[role]) for place, role in enumerate(ROLES)),
            bytes_field(44, surface.encode()),
            bytes_field(45, pieces[unknown][0].encode()),
            *(
                bytes_field(46 + place, pieces[ids[role]][0].encode())
                for place, role in enumerate(ROLES)
                if ids[role] >= 0
            ),
        )
    )
