"""Tokenizers of other libraries as objects, by the readers and writers of their files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from mergewise import _core
from mergewise.config import ROLES, ModelConfig
from mergewise.formats import tiktoken, tokenizer_json
from mergewise.formats.model_config import DEFAULT
from mergewise.formats.reading import Reading
from mergewise.optional import import_optional
from mergewise.saving import checked_files
from mergewise.vocabulary import Vocabulary

RANKS: Final = Path("ranks.tiktoken")
TOKENIZER: Final = Path("tokenizer.json")


def of_huggingface(tokenizer: Any) -> Vocabulary:  # noqa: ANN401 - of an optional package
    """The vocabulary of a `tokenizers.Tokenizer`, or of a fast tokenizer of transformers."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str"):
        found = type(tokenizer).__name__
        raise TypeError(f"expected a tokenizer of tokenizers or transformers, found {found}")
    path, data = Path(f"<{type(tokenizer).__name__}>"), backend.to_str().encode()
    reading = Reading(path=path, data=data, is_live=True)
    vocabulary = tokenizer_json.read(reading)
    if backend is tokenizer:
        return vocabulary
    return replace(vocabulary, extras={**vocabulary.extras, "config": config_of(tokenizer)})


def config_of(tokenizer: Any) -> ModelConfig:  # noqa: ANN401 - of transformers
    """What a tokenizer of transformers knows besides its vocabulary."""
    tokens = {role: getattr(tokenizer, role, None) for role in ROLES}
    roles: dict[str, Any] = {role: token and str(token) for role, token in tokens.items()}
    template = getattr(tokenizer, "chat_template", None)
    templates = {DEFAULT: template} if isinstance(template, str) else dict(template or {})
    return ModelConfig(
        **roles,
        chat_templates=templates,
        clean_up_tokenization_spaces=getattr(tokenizer, "clean_up_tokenization_spaces", None),
    )


def of_tiktoken(encoding: Any) -> Vocabulary:  # noqa: ANN401 - of an optional package
    """The vocabulary of a `tiktoken.Encoding`."""
    try:
        ranks, pattern = encoding._mergeable_ranks, encoding._pat_str  # noqa: SLF001
        special_tokens = encoding._special_tokens  # noqa: SLF001
    except AttributeError:
        found = type(encoding).__name__
        raise TypeError(f"expected an encoding of tiktoken, found {found}") from None
    reading = Reading(path=Path(f"<{type(encoding).__name__} {encoding.name}>"))
    return tiktoken.settled_vocabulary(reading, ranks, pattern, special_tokens)


def to_huggingface(core: _core.Tokenizer, vocabulary: Vocabulary, *, lossy: bool = False) -> Any:  # noqa: ANN401 - of an optional package
    """A `tokenizers.Tokenizer` that encodes alike."""
    tokenizers = import_optional("tokenizers", extra="huggingface", package="tokenizers")
    files = checked_files(core, vocabulary, TOKENIZER, name="tokenizer_json", lossy=lossy)
    return tokenizers.Tokenizer.from_str(files[TOKENIZER].decode())


def to_tiktoken(
    core: _core.Tokenizer, vocabulary: Vocabulary, name: str, *, lossy: bool = False
) -> Any:  # noqa: ANN401 - of an optional package
    """A `tiktoken.Encoding` of this name that encodes alike."""
    package = import_optional("tiktoken", extra="tiktoken", package="tiktoken")
    return package.Encoding(name, **tiktoken_settings(core, vocabulary, lossy=lossy))


def tiktoken_settings(
    core: _core.Tokenizer, vocabulary: Vocabulary, *, lossy: bool = False
) -> dict[str, Any]:
    """The arguments of a `tiktoken.Encoding` that encodes alike."""
    files = checked_files(core, vocabulary, RANKS, name="tiktoken", lossy=lossy)
    settings: dict[str, Any] = json.loads(files[tiktoken.settings_path(RANKS)])
    return {"mergeable_ranks": _core.Ranks(files[RANKS]).tokens.to_dict(), **settings}
