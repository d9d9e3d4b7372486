"""HuggingFace's tokenizer.json, with a BPE model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from mergewise.formats import merging
from mergewise.formats.huggingface_steps import Steps, read_steps
from mergewise.formats.json_values import OBJECT_START, Json, Value, parse
from mergewise.formats.letters import BYTE_NAMES, MARK, from_letters
from mergewise.formats.reading import Reading, shown
from mergewise.formats.tokenizer_json_writer import files_of, losses
from mergewise.formats.unsupported import tokens_around
from mergewise.vocabulary import Vocabulary

__all__ = ["files_of", "looks_like", "losses", "read"]

Merge = tuple[str, str]
Speller = Callable[[str], bytes | None]
KEPT: Final = ("truncation", "padding", "post_processor", "decoder")


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file is a JSON object that begins with keys that only tokenizer.json has."""
    keys = (b'"added_tokens"', b'"pre_tokenizer"', b'"model"')
    return bool(OBJECT_START.match(head)) and any(key in head for key in keys)


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a tokenizer.json."""
    document = parse(reading)
    model = document["model"]
    check_model(model)
    steps = read_steps(document)
    special_tokens, added_tokens = read_added_tokens(document, steps)
    added = {**special_tokens, **added_tokens}
    ids = read_ids(model["vocab"], added)
    written = read_merges(model["merges"])
    used = merging.strings_of(written)
    if not used <= ids.keys():
        index, text = merging.first_use(written, used - ids.keys())
        found = f"the token {shown(text)}, which model.vocab does not have"
        raise reading.wrong(f"model.merges[{index}]", found, "tokens of the vocabulary")
    is_bytes = steps.alphabet == "bytes"
    byte_tokens = None if is_bytes else read_byte_tokens(model, ids)
    spelled = spelled_tokens(
        model["vocab"], speller(steps), used, added, with_bytes=byte_tokens is None
    )
    tokens = {string: ids[text] for text, string in spelled.items()}
    if is_bytes:
        merging.check_bytes(reading, tokens, place="model.vocab")
    merges = spelled_merges(model["merges"], written, used, spelled)
    suffix = model.get("end_of_word_suffix")
    end_of_word = suffix.text(default="").encode()
    if end_of_word and end_of_word in tokens:
        # In mergewise it would be a symbol of its own, in tokenizers it is part of the last one.
        raise suffix.wrong("an end of words that is no token by itself")
    symbols = merging.Symbols(steps.alphabet, end_of_word)
    return Vocabulary(
        **vars(steps),
        tokens=tokens,
        merges=merging.live_merges(reading, merges, symbols, place="model.merges"),
        byte_tokens=byte_tokens,
        unknown_token=read_unknown(model, ids, steps),
        fuse_unknown=model.get("fuse_unk").flag(),
        whole_words=model.get("ignore_merges").flag(),
        end_of_word=end_of_word,
        special_tokens=special_tokens,
        added_tokens=added_tokens,
        extras={"tokenizer_json": read_kept(document)},
    )


def check_model(model: Value) -> None:
    """Refuse models of other types, and options of BPE that mergewise does not support."""
    kind = model.get("type")
    if kind.raw != "BPE" and not (kind.raw is None and "merges" in model.object()):
        raise kind.wrong('"BPE"')
    prefix = model.get("continuing_subword_prefix")
    if prefix.text(default=""):
        raise prefix.wrong("null")
    dropout = model.get("dropout")
    if dropout.raw is not None and (isinstance(dropout.raw, bool) or dropout.raw != 0):
        dropout.leave_out("null")


def speller(steps: Steps) -> Speller:
    """A function from a written token to its bytes, or None if no text can have it."""
    if steps.alphabet == "bytes":
        return from_letters
    if steps.mark_is_space:
        # When tokens are looked up, spaces have become marks.
        return lambda text: None if " " in text else text.replace(MARK, " ").encode()
    return str.encode


def read_added_tokens(document: Value, steps: Steps) -> tuple[dict[str, int], dict[str, int]]:
    """The special and the other tokens that are searched in texts before these are cut.

    Options that change how they are found are refused or left out.
    """
    special: dict[str, int] = {}
    others: dict[str, int] = {}
    listed = document.get("added_tokens")
    for item in [] if listed.raw is None else listed.items():
        content = item["content"]
        if not content.text() or content.raw in special or content.raw in others:
            raise content.wrong("a text that is not empty and no other added token has")
        for name in ("lstrip", "rstrip", "single_word"):
            if item.get(name).flag():
                item.get(name).leave_out("false")
        if item.get("normalized").flag(default=True) and steps.changes(content.raw):
            item.get("normalized").leave_out("false, as the normalizer changes the token")
        ids = special if item.get("special").flag() else others
        ids[content.raw] = item["id"].id()
    return special, others


def read_ids(vocab: Value, added: dict[str, int]) -> dict[str, int]:
    """The strings of the model and their ids, which must agree with those of added tokens."""
    ids = vocab.ids()
    if "" in ids:
        raise vocab.wrong("tokens that are not empty")
    for text, token_id in added.items():
        if ids.get(text, token_id) != token_id:
            raise vocab.at(text, ids[text]).wrong(f"the id {token_id} of added_tokens")
    merging.check_ids_differ(vocab.reading, {**ids, **added}, place="model.vocab")
    return ids


def read_merges(merges: Value) -> list[Merge]:
    """The pairs as they are written: as lists, or as strings with a space."""
    pairs: list[Merge] = []
    for index, raw in enumerate(merges.list()):
        match raw.split(" ") if isinstance(raw, str) else raw:
            case [str(left), str(right)]:
                pairs.append((left, right))
            case _:
                raise merges.at(index, raw).wrong("two tokens")
    return pairs


def spelled_tokens(
    vocab: Value, spell: Speller, used: set[str], added: dict[str, int], *, with_bytes: bool
) -> dict[str, bytes]:
    """The bytes of the tokens; not of those that are only added, nor of those for single bytes.

    Args:
        vocab: the tokens as they are written.
        spell: from a written token to its bytes.
        used: the written tokens that merges use.
        added: the added tokens.
        with_bytes: whether names such as <0x41> are tokens like all others.
    """
    spelled: dict[str, bytes] = {}
    for text in vocab.object():
        string = spell(text)
        is_added = text in added and text not in used and (len(text) > 1 or string is None)
        if is_added or (not with_bytes and text in BYTE_NAMES):
            continue
        if string is None:
            vocab.at(text, text).leave_out("a token that a text can have")
        else:
            spelled[text] = string
    return spelled


def spelled_merges(
    merges: Value, written: list[Merge], used: set[str], spelled: dict[str, bytes]
) -> list[tuple[bytes, bytes]]:
    """The merges in the bytes of the tokens."""
    unknown = used - spelled.keys()
    if unknown:
        index, _ = merging.first_use(written, unknown)
        raise merges.at(index, " ".join(written[index])).wrong("tokens that a text can have")
    return [(spelled[left], spelled[right]) for left, right in written]


def read_byte_tokens(model: Value, ids: dict[str, int]) -> tuple[int, ...] | None:
    """The ids of the tokens for bytes, if unknown characters become these."""
    fallback = model.get("byte_fallback")
    if not fallback.flag():
        return None
    missing = [name for name in BYTE_NAMES if name not in ids]
    if missing:
        fallback.leave_out(f"a token for each byte: there is no {missing[0]}")
        return None
    return tuple(ids[name] for name in BYTE_NAMES)


def read_unknown(model: Value, ids: dict[str, int], steps: Steps) -> int | None:
    """The id of the unknown token; None for an alphabet of bytes."""
    name = model.get("unk_token")
    if name.raw is None:
        return None
    if name.text() not in ids:
        raise name.wrong("a token of model.vocab")
    return None if steps.alphabet == "bytes" else ids[name.raw]


def read_kept(document: Value) -> Json:
    """The parts that are only kept to be written back, checked as far as mergewise reads them."""
    kept: Json = {}
    for key in KEPT:
        value = document.get(key)
        if value.raw is not None:
            kept[key] = value.object()
    if "decoder" in kept:
        document["decoder"]["type"].text()
    if "post_processor" in kept:
        # Refuses what `surrounding_tokens` could not read.
        list(tokens_around(document["post_processor"]))
    return kept
