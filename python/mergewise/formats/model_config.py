"""The files beside a tokenizer in a folder of HuggingFace: what they say of its tokens and texts.

tokenizer_config.json has all of it today; older folders have special_tokens_map.json and
added_tokens.json, newer ones have templates of conversations in files of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from mergewise.config import ROLES, ModelConfig
from mergewise.formats.json_values import Json, Value, parse
from mergewise.formats.reading import Reading, decoded
from mergewise.framing import Framing
from mergewise.vocabulary import Search, Vocabulary

CONFIG: Final = "tokenizer_config.json"
SPECIAL_TOKENS: Final = "special_tokens_map.json"
ADDED_TOKENS: Final = "added_tokens.json"
TEMPLATE: Final = "chat_template.jinja"
OLDER_TEMPLATE: Final = "chat_template.json"
TEMPLATES: Final = "additional_chat_templates"
DEFAULT: Final = "default"
# Libraries write a number like this one for "as many as there are".
NO_LENGTH: Final = 10**12


def configured(
    vocabulary: Vocabulary, folder: Path, settled: Mapping[str, str] | None = None
) -> Vocabulary:
    """The vocabulary with what the files of its folder say.

    It has all tokens of these files already if the ones with a role are `settled`.
    """
    document = document_in(folder / CONFIG)
    older = document_in(folder / SPECIAL_TOKENS)
    roles = {role: document.get(role) for role in ROLES}
    roles |= {role: older.get(role) for role, value in roles.items() if value.raw is None}
    tokens = {role: token_text(value) for role, value in roles.items() if value.raw is not None}
    length = document.get("model_max_length").raw
    config = ModelConfig(
        **(tokens if settled is None else settled),
        chat_templates=read_templates(document, folder),
        add_bos_token=flag_of(document.get("add_bos_token")),
        add_eos_token=flag_of(document.get("add_eos_token")),
        model_max_length=int(length)
        if isinstance(length, (int, float)) and length < NO_LENGTH
        else None,
        clean_up_tokenization_spaces=flag_of(document.get("clean_up_tokenization_spaces")),
    )
    named = [value for value in roles.values() if value.raw is not None]
    if settled is None:
        vocabulary = with_tokens(vocabulary, document, named, folder)
    return replace(
        vocabulary,
        framing=framing_of(vocabulary, config),
        extras={**vocabulary.extras, "config": config},
    )


def document_in(path: Path) -> Value:
    """The JSON object in a file; an empty one if there is no such file."""
    reading = Reading(path=path)
    return parse(reading) if path.exists() else Value(reading, {})


def flag_of(value: Value) -> bool | None:
    """The boolean that a value is, if it is not null."""
    return None if value.raw is None else value.flag()


def token_text(value: Value) -> str:
    """The text of a token: a string, or an object with its flags."""
    return value["content"].text() if isinstance(value.raw, dict) else value.text()


def read_templates(document: Value, folder: Path) -> dict[str, str]:
    """The templates of conversations: one, or a list of them with names, or files."""
    value = document.get("chat_template")
    if value.raw is None:
        value = document_in(folder / OLDER_TEMPLATE).get("chat_template")
    templates: dict[str, str] = {}
    if isinstance(value.raw, list):
        templates = {each["name"].text(): each["template"].text() for each in value.items()}
    elif isinstance(value.raw, dict):
        templates = {name: value.get(name).text() for name in value.raw}
    elif value.raw is not None:
        templates = {DEFAULT: value.text()}
    for path in sorted((folder / TEMPLATES).glob("*.jinja")):
        templates[path.stem] = text_in(path)
    if (folder / TEMPLATE).exists():
        templates[DEFAULT] = text_in(folder / TEMPLATE)
    return templates


def text_in(path: Path) -> str:
    """The text of a file."""
    reading = Reading(path=path)
    return decoded(reading, reading.read_bytes())


def with_tokens(
    vocabulary: Vocabulary, document: Value, named: list[Value], folder: Path
) -> Vocabulary:
    """The vocabulary with the tokens that only its configuration has.

    Those of `added_tokens_decoder` and added_tokens.json have their ids there; tokens that have a
    role become special, and get the next id if they are in no list. How tokens are found is said in
    a tokenizer.json, and by the configuration where there is none.
    """
    says_searches = "tokenizer_json" not in vocabulary.extras
    special, added = dict(vocabulary.special_tokens), dict(vocabulary.added_tokens)
    searches = dict(vocabulary.searches)
    ids = {text.decode("utf-8", "replace"): i for text, i in vocabulary.tokens.items()}
    taken = {*ids.values(), *special.values(), *added.values(), *(vocabulary.byte_tokens or ())}
    for token in listed_tokens(document, named, folder):
        if token.text in special or token.text in added:
            if says_searches and any(token.search):
                searches.setdefault(token.text, token.search)
            continue
        token_id, known = token.id, ids.get(token.text)
        if token_id is None:
            token_id = next_id(taken) if known is None else known
        if token_id in taken and known != token_id:
            continue
        taken.add(token_id)
        (special if token.is_special else added)[token.text] = token_id
        if any(token.search):
            searches[token.text] = token.search
    return replace(vocabulary, special_tokens=special, added_tokens=added, searches=searches)


def next_id(taken: Iterable[int | None]) -> int:
    """The id behind all others."""
    return max((token_id for token_id in taken if token_id is not None), default=-1) + 1


class Listed(NamedTuple):
    """A token that a file lists: with its id if that is said, and how it is found."""

    text: str
    id: int | None
    search: Search
    is_special: bool


def listed_tokens(document: Value, named: list[Value], folder: Path) -> Iterator[Listed]:
    """The tokens of the files."""
    decoder = document.get("added_tokens_decoder")
    for key in [] if decoder.raw is None else decoder.object():
        value = decoder.get(key)
        if not key.isdecimal():
            raise value.wrong("an id before it")
        is_special = value.get("special").flag()
        yield Listed(token_text(value), int(key), search_of(value), is_special)
    texts = {token_text(value) for value in named}
    for text, token_id in document_in(folder / ADDED_TOKENS).ids().items():
        yield Listed(text, token_id, Search(), text in texts)
    for value in named:
        yield Listed(token_text(value), None, search_of(value), is_special=True)


def search_of(value: Value) -> Search:
    """How a token is found, as an object with its flags says it."""
    if not isinstance(value.raw, dict):
        return Search()
    return Search(*(value.get(name).flag() for name in ("lstrip", "rstrip", "single_word")))


def framing_of(vocabulary: Vocabulary, config: ModelConfig) -> Framing:
    """What is around a text: as tokenizer.json says; other files leave it to the configuration."""
    if "tokenizer_json" in vocabulary.extras:
        return vocabulary.framing
    framing = config.framing({**vocabulary.special_tokens, **vocabulary.added_tokens})
    said = vocabulary.framing
    return replace(framing, truncation=said.truncation, padding=said.padding)


def written_config(config: ModelConfig) -> Json:
    """The content of a tokenizer_config.json."""
    document: dict[str, Any] = {**config.roles}
    for name in (
        "add_bos_token",
        "add_eos_token",
        "clean_up_tokenization_spaces",
        "model_max_length",
    ):
        if getattr(config, name) is not None:
            document[name] = getattr(config, name)
    templates = config.chat_templates
    if list(templates) == [DEFAULT]:
        document["chat_template"] = templates[DEFAULT]
    elif templates:
        document["chat_template"] = [
            {"name": name, "template": text} for name, text in templates.items()
        ]
    return document
