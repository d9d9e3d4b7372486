"""A folder with GPT-2's two files that names a class of transformers, which knows the steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from mergewise.config import ROLES
from mergewise.formats import gpt2, tokenizer_json
from mergewise.formats.json_values import Json, Value, parse
from mergewise.formats.model_config import (
    ADDED_TOKENS,
    CONFIG,
    SPECIAL_TOKENS,
    document_in,
    token_text,
)
from mergewise.formats.reading import Reading
from mergewise.formats.tokenizer_classes import CLASSES, OF_MODELS, Setting, TokenizerClass
from mergewise.vocabulary import Search, Vocabulary

MODEL_CONFIG: Final = "config.json"
# The order in which transformers adds tokens that the vocabulary does not have.
ORDER: Final = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
EXTRA: Final = ("extra_special_tokens", "additional_special_tokens")


def class_in(folder: Path) -> Value | None:
    """The name of the class that a folder names, or that its model has; None if there is none."""
    config, model = document_in(folder / CONFIG), document_in(folder / MODEL_CONFIG)
    for document in (config, model):
        name = document.get("tokenizer_class")
        if name.raw is not None:
            return name
    kind = model.get("model_type")
    known = OF_MODELS.get(kind.raw) if isinstance(kind.raw, str) else None
    return None if known is None else kind.at("tokenizer_class", known)


def read(reading: Reading, name: Value) -> tuple[Vocabulary, dict[str, str]]:
    """The vocabulary as the class has it, and the tokens that have a role."""
    known = CLASSES.get(name.text().removesuffix("Fast"))
    if known is None:
        raise name.wrong(
            "a class whose steps mergewise knows",
            hint="with transformers, AutoTokenizer.from_pretrained(folder).save_pretrained(folder) "
            "writes a tokenizer.json, which says them; merges.txt itself is read as GPT-2's",
        )
    vocab_path, merges_path = gpt2.checked_paths(reading)
    ids = gpt2.read_ids(parse(Reading(path=vocab_path)))
    merges = gpt2.read_pairs(Reading(path=merges_path, lossy=reading.lossy), ids, in_letters=False)
    config = settled_config(reading.path)
    roles = roles_of(config, known)
    added = list(with_ids(added_tokens(config, roles, known, reading.path), ids))
    all_ids = {**ids, **{token["content"]: token["id"] for token in added}}
    document = known.written(Setting(config, roles, all_ids))
    document["added_tokens"] = added
    document["model"] |= {"vocab": ids, "merges": merges}
    content = json.dumps(document, ensure_ascii=False).encode()
    vocabulary = tokenizer_json.read(replace(reading, data=content))
    return vocabulary, {role: roles[role] for role in ROLES if role in roles}


def settled_config(folder: Path) -> Value:
    """What the configuration says, with that of older files, which no list of tokens replaces."""
    config = document_in(folder / CONFIG)
    if config.get("added_tokens_decoder").raw is not None:
        return config
    older = document_in(folder / SPECIAL_TOKENS).object()
    return Value(config.reading, {**config.object(), **older})


def roles_of(config: Value, known: TokenizerClass) -> dict[str, str]:
    """The tokens that have a role: those of the class, where the configuration says nothing."""
    roles = dict(known.roles)
    for role in ROLES:
        if role in config.object():
            value = config.get(role)
            if value.raw is None:
                roles.pop(role, None)
            else:
                roles[role] = token_text(value)
    return {role: roles[role] for role in ORDER if role in roles}


class Added(NamedTuple):
    """A token that is searched in texts as tokenizer.json writes it, and its id if that is said."""

    token: Json
    id: int | None = None


def added_tokens(
    config: Value, roles: Mapping[str, str], known: TokenizerClass, folder: Path
) -> list[Added]:
    """The tokens that are searched in texts, in the order in which transformers adds them.

    First those of a list with ids, then those with a role, then others.
    """
    listed = {added.token["content"]: added for added in listed_tokens(config, roles, folder)}
    named = [
        *(named_token(config.get(role), text) for role, text in roles.items()),
        *(named_token(value) for value in named_tokens(config)),
    ]
    extra = [token_of(value) for value in extra_tokens(config)]
    names = {token["content"] for token in named}
    for token in (*(added.token for added in listed.values()), *extra):
        # A name makes a token special, however it is listed.
        token["special"] |= token["content"] in names
    others: list[Json] = []
    for token in (*named, *extra):
        if token["content"] not in listed and token not in others:
            others.append(token)
    # Of those with one text, the last says how it is found.
    added = [*listed.values(), *{token["content"]: Added(token) for token in others}.values()]
    if not known.finds_plainly:
        return added
    plain = {token["content"]: written_token(token["content"]) for token in (*named, *extra)}
    return [Added(plain.get(token["content"], token), token_id) for token, token_id in added]


def listed_tokens(config: Value, roles: Mapping[str, str], folder: Path) -> Iterator[Added]:
    """The tokens of a list with ids, by id: in the configuration, or in an older file."""
    decoder = config.get("added_tokens_decoder")
    if decoder.raw is not None:
        for key in decoder.object():
            if not key.isdecimal():
                raise decoder.get(key).wrong("an id before it")
        for key in sorted(decoder.object(), key=int):
            yield Added(token_of(decoder.get(key)), int(key))
        return
    older = document_in(folder / ADDED_TOKENS).ids()
    said = {role: config.get(role).raw for role in roles}
    # The older file is read before objects that say a type are tokens.
    special = {text for role, text in roles.items() if not is_typed(said[role])}
    more = (*named_tokens(config), *extra_tokens(config))
    special |= {value.raw for value in more if isinstance(value.raw, str)}
    for text, token_id in sorted(older.items(), key=lambda item: item[1]):
        is_special = text in special
        token = written_token(text, special=is_special)
        yield Added({**token, "normalized": not is_special}, token_id)


def is_typed(raw: object) -> bool:
    """Whether this is an object that says its type."""
    return isinstance(raw, dict) and "__type" in raw


def named_token(value: Value, text: str | None = None) -> Json:
    """A token that is special by its name: found as the configuration says, if it says it."""
    if not isinstance(value.raw, dict):
        return written_token(value.text() if text is None else text)
    return {**token_of(value), "special": True}


def named_tokens(config: Value) -> Iterator[Value]:
    """The tokens with names that are none of the usual roles."""
    for name in config.object():
        value = config.get(name)
        if name.endswith("_token") and name not in ROLES and isinstance(value.raw, (str, dict)):
            yield value
    extra = config.get(EXTRA[0])
    if isinstance(extra.raw, dict):
        yield from map(extra.get, extra.raw)


def extra_tokens(config: Value) -> list[Value]:
    """The tokens without a name."""
    lists = (config.get(name) for name in EXTRA)
    return next((value.items() for value in lists if isinstance(value.raw, list)), [])


def token_of(value: Value) -> Json:
    """A token as tokenizer.json writes it: special if it is a text alone."""
    if not isinstance(value.raw, dict):
        return written_token(value.text())
    token = written_token(token_text(value), special=value.get("special").flag())
    said = [name for name in Search._fields if value.get(name).raw is not None]
    return {**token, **{name: value.get(name).flag() for name in said}}


def written_token(text: str, *, special: bool = True) -> Json:
    """A token without flags as tokenizer.json writes it."""
    return {"content": text, "special": special}


def with_ids(added: list[Added], ids: Mapping[str, int]) -> Iterator[Json]:
    """The tokens with their ids: as the list says, or as tokenizers gives them."""
    given = dict(ids)
    next_id = len(ids)
    for token, said in added:
        token_id = given.setdefault(token["content"], next_id)
        next_id += token_id == next_id
        # Where nothing else is said, special tokens alone are found as they are.
        yield {
            "normalized": not token["special"],
            **token,
            "id": token_id if said is None else said,
        }
