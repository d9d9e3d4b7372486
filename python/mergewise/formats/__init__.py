"""Files of tokenizers: each module reads and writes one format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

from mergewise import _core
from mergewise.arguments import check_text
from mergewise.errors import ConversionError, InputError
from mergewise.files import checked_path, complete_writes, write_files
from mergewise.formats import (
    clip,
    gguf,
    gpt2,
    model_folder,
    sentencepiece,
    subword_nmt,
    tekken,
    tiktoken,
    tiktoken_json,
    tokenizer_json,
)
from mergewise.formats.merging import check_special_ids
from mergewise.formats.naming import names_of
from mergewise.formats.reading import HEAD_BYTES, UNSET, Reading, Unset, is_id, shown
from mergewise.vocabulary import Vocabulary

__all__ = [
    "FORMATS",
    "UNSET",
    "Unset",
    "check_supported",
    "detect",
    "files_of",
    "format_of_name",
    "load",
    "names_of",
    "save",
]

PathLike = str | os.PathLike[str]

# In the order in which a file is tested: the test for codes accepts any list of pairs.
FORMATS: Final[dict[str, ModuleType]] = {
    "model_folder": model_folder,
    "gguf": gguf,
    "clip": clip,
    "tiktoken_json": tiktoken_json,
    "gpt2": gpt2,
    "tekken": tekken,
    "tokenizer_json": tokenizer_json,
    "sentencepiece": sentencepiece,
    "tiktoken": tiktoken,
    "subword_nmt": subword_nmt,
}
# How .gz and .zst begin; CLIP's merges alone are read out of one.
COMPRESSED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
# The end of a file name, and the format that is written to such a file.
NAMES: Final = {
    "vocab.json": "gpt2",
    "merges.txt": "gpt2",
    "encoder.json": "gpt2",
    "vocab.bpe": "gpt2",
    ".json": "tokenizer_json",
    ".tiktoken": "tiktoken",
    ".model": "sentencepiece",
    ".gguf": "gguf",
    ".codes": "subword_nmt",
    "codes.txt": "subword_nmt",
}


def detect(path: PathLike) -> str:
    """The name of a file's format, by its content; a directory holds GPT-2's two files."""
    reading = Reading(path=Path(path))
    head = b""
    if not reading.path.is_dir():
        with reading.open() as file:
            head = file.read(HEAD_BYTES)
        if not head.strip():
            raise reading.wrong("", "an empty file", "a tokenizer")
    for name, module in FORMATS.items():
        if module.looks_like(head, reading.path):
            return name
    if head.startswith(COMPRESSED):
        raise reading.wrong("", "a compressed file", "a tokenizer", hint="decompress it first")
    found = "a directory of other files" if reading.path.is_dir() else shown(head[:30])
    raise reading.wrong("", found, f"one of {', '.join(sorted(FORMATS))}")


def load(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002
    pattern: str | Unset | None = UNSET,
    special_tokens: Mapping[str, int] | Unset = UNSET,
    lossy: bool = False,
) -> Vocabulary:
    """The vocabulary in a file.

    Args:
        path: the file, or the directory of GPT-2's two files.
        format: its format, if the content is not enough to detect it.
        pattern: the pattern, instead of the file's; tiktoken's ranks have none.
        special_tokens: the special tokens and their ids, instead of the file's.
        lossy: leave out what mergewise does not support, with a warning.
    """
    if not isinstance(special_tokens, Unset):
        check_special_tokens(special_tokens)
    check_text("pattern", None if isinstance(pattern, Unset) else pattern)
    complete_writes(checked_path(path))
    module = module_named(format or detect(path))
    reading = Reading(path=Path(path), pattern=pattern, special_tokens=special_tokens, lossy=lossy)
    try:
        vocabulary: Vocabulary = module.read(reading)
    except RecursionError:
        raise reading.wrong("", "steps that are nested too deeply", "a tokenizer") from None
    if isinstance(pattern, Unset) and vocabulary.pattern is not None:
        try:
            _core.check_pattern(vocabulary.pattern)
        except ValueError as error:
            found = f"the pattern {shown(vocabulary.pattern)}"
            raise reading.wrong("", found, f"another: {error}") from None
    if module is tiktoken:
        return vocabulary
    if not isinstance(pattern, Unset):
        vocabulary = replace(vocabulary, pattern=pattern, drops_gaps=False)
    if not isinstance(special_tokens, Unset):
        taken = (*vocabulary.tokens.values(), *vocabulary.added_tokens.values())
        check_special_ids(reading, special_tokens, taken)
        vocabulary = replace(vocabulary, special_tokens=dict(special_tokens))
    return vocabulary


def check_special_tokens(special_tokens: object) -> None:
    """Refuse special tokens of the caller that are no texts with ids, or share an id."""
    if not isinstance(special_tokens, Mapping):
        kind = type(special_tokens).__name__
        raise TypeError(f"special_tokens must map texts to ids, found {kind}")
    for text, token_id in special_tokens.items():
        if not isinstance(text, str) or not text or not is_id(token_id):
            found = f"{shown(text)}: {shown(token_id)}"
            raise ValueError(f"special_tokens must map texts to ids, found {found}")
    if len(set(special_tokens.values())) < len(special_tokens):
        raise ValueError("special_tokens must have ids that are all different")


def save(
    vocabulary: Vocabulary,
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002
    lossy: bool = False,
) -> None:
    """Write a vocabulary, whole or not at all.

    Args:
        vocabulary: the vocabulary; it must have merges.
        path: the file, or a directory for GPT-2's two files.
        format: the format; by default the name of the file decides.
        lossy: write even if the format cannot represent all of the vocabulary.
    """
    if vocabulary.merges is None:
        raise TypeError("expected a vocabulary with merges, found one with ranks alone")
    name = format or format_of_name(checked_path(path))
    if not lossy:
        check_supported(vocabulary, path, name)
    write_files(files_of(vocabulary, path, name))


def files_of(vocabulary: Vocabulary, path: PathLike, name: str) -> dict[Path, bytes]:
    """The files of a vocabulary in the format of this name, and what they hold."""
    try:
        files: dict[Path, bytes] = module_named(name).files_of(vocabulary, Path(path))
    except RecursionError:
        raise ConversionError(
            f"{os.fspath(path)}: what the tokenizer's own file says is nested too deeply"
        ) from None
    return files


def check_supported(vocabulary: Vocabulary, path: PathLike, name: str) -> None:
    """Refuse a vocabulary that the format cannot represent in full."""
    lost: list[str] = module_named(name).losses(vocabulary)
    if lost:
        reasons = "; ".join(lost)
        raise ConversionError(
            f"{name} cannot represent all of this tokenizer: {reasons}",
            path=os.fspath(path),
            hint="write_lossy",
        )


def format_of_name(path: Path) -> str:
    """The format that is written to a file of this name.

    >>> format_of_name(Path("my-vocab.json")), format_of_name(Path("x.tiktoken"))
    ('gpt2', 'tiktoken')
    """
    if path.is_dir():
        return "gpt2"
    for ending, name in NAMES.items():
        if path.name.endswith(ending):
            return name
    endings = ", ".join(NAMES)
    raise InputError(
        f"no format is written to a file named {path.name!r}; expected a name that ends in one of "
        f"{endings}",
        hint="give_format",
    )


def module_named(name: str) -> ModuleType:
    """The module of a format."""
    if name not in FORMATS:
        raise ValueError(f"no format is named {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]
