"""A folder of a model: its tokenizer in one of several formats, and the configuration beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from mergewise.config import NO_CONFIG, ModelConfig
from mergewise.formats import class_folder, gguf, gpt2, sentencepiece, tokenizer_json
from mergewise.formats.model_config import CONFIG, configured, written_config
from mergewise.formats.reading import Reading
from mergewise.formats.tokenizer_json_writer import losses
from mergewise.vocabulary import Vocabulary

__all__ = ["files_of", "looks_like", "losses", "read"]

TOKENIZER = "tokenizer.json"
MODEL = "tokenizer.model"
RANKS = "tiktoken.model"


def looks_like(_head: bytes, path: Path) -> bool:
    """Whether this is a directory with a tokenizer."""
    return path.is_dir() and (tokenizer_in(path) is not None or (path / RANKS).exists())


def tokenizer_in(folder: Path) -> tuple[ModuleType, Path] | None:
    """The format of the tokenizer in a folder, and its file, the first that is there."""
    if (folder / TOKENIZER).exists():
        return tokenizer_json, folder / TOKENIZER
    if gpt2.looks_like(b"", folder) and (folder / CONFIG).exists():
        return gpt2, folder
    if (folder / MODEL).exists():
        return sentencepiece, folder / MODEL
    models = sorted(folder.glob("*.gguf"))
    return (gguf, models[0]) if len(models) == 1 else None


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of the tokenizer, with what the files beside it say."""
    found = tokenizer_in(reading.path)
    if found is None and (reading.path / RANKS).exists():
        raise reading.wrong(
            "",
            f"{RANKS}, for which no file of the folder says how texts are cut",
            "that file and its pattern",
            hint=f"give {RANKS} itself, with pattern= and special_tokens=",
        )
    if found is None:
        expected = f"{TOKENIZER}, {MODEL}, GPT-2's two files or one .gguf"
        raise reading.wrong("", "a directory of other files", expected)
    module, path = found
    name = class_folder.class_in(reading.path) if module is gpt2 else None
    if name is not None:
        found_here, roles = class_folder.read(reading, name)
        return configured(found_here, reading.path, roles)
    vocabulary: Vocabulary = module.read(replace(reading, path=path))
    return vocabulary if module is gguf else configured(vocabulary, reading.path)


def files_of(vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """A tokenizer.json and a tokenizer_config.json."""
    config: ModelConfig = vocabulary.extras.get("config", NO_CONFIG)
    text = json.dumps(written_config(config), ensure_ascii=False, indent=1) + "\n"
    files = tokenizer_json.files_of(vocabulary, path / TOKENIZER)
    return {**files, path / CONFIG: text.encode()}
