"""HuggingFace's tokenizer.json, with a BPE model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mergewise.formats.huggingface_steps import Steps, read_steps
from mergewise.formats.json_values import OBJECT_START, Json, Value, parse
from mergewise.formats.letters import BYTE_NAMES, MARK, from_letters
from mergewise.formats.merging import (
    check_bytes,
    check_ids_differ,
    first_use,
    live_merges,
    strings_of,
)
from mergewise.formats.reading import Reading, shown
from mergewise.formats.tokenizer_json_writer import losses, write
from mergewise.vocabulary import Alphabet, Vocabulary

__all__ = ["looks_like", "losses", "read", "write"]

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
    alphabet: Alphabet = "bytes" if steps.is_byte_level else "chars"
    spell = speller(steps)
    added = read_added_tokens(document, steps)
    ids = read_ids(model["vocab"], added)
    written = read_merges(model["merges"])
    used = strings_of(written)
    if not used <= ids.keys():
        index, text = first_use(written, used - ids.keys())
        found = f"the token {shown(text)}, which model.vocab does not have"
        raise reading.wrong(f"model.merges[{index}]", found, "tokens of the vocabulary")
    byte_tokens = None if steps.is_byte_level else read_byte_tokens(model, ids)
    spelled = spelled_tokens(model["vocab"], spell, used, added, with_bytes=byte_tokens is None)
    tokens = {string: ids[text] for text, string in spelled.items()}
    if steps.is_byte_level:
        check_bytes(reading, tokens, place="model.vocab")
    merges = spelled_merges(model["merges"], written, used, spelled)
    end_of_word = (model.get("end_of_word_suffix").raw or "").encode()
    if end_of_word and end_of_word in tokens:
        # In mergewise it would be a symbol of its own, in tokenizers it is part of the last one.
        raise model.get("end_of_word_suffix").wrong("an end of words that is no token by itself")
    live = live_merges(
        reading,
        merges,
        alphabet=alphabet,
        end_of_word=end_of_word,
        place="model.merges",
    )
    return Vocabulary(
        tokens=tokens,
        merges=live,
        alphabet=alphabet,
        byte_tokens=byte_tokens,
        unknown_token=read_unknown(model, ids, steps),
        fuse_unknown=model.get("fuse_unk").flag(),
        whole_words=model.get("ignore_merges").flag(),
        end_of_word=end_of_word,
        pattern=steps.pattern,
        drops_gaps=steps.drops_gaps,
        normalize=steps.normalize,
        prefix_space=steps.prefix_space,
        mark_is_space=steps.mark_is_space,
        special_tokens=added.special,
        added_tokens=added.plain,
        extras={"tokenizer_json": read_kept(document)},
    )


@dataclass
class Added:
    """The tokens that are searched in texts before these are cut."""

    special: dict[str, int] = field(default_factory=dict)
    plain: dict[str, int] = field(default_factory=dict)

    def __contains__(self, text: str) -> bool:
        return text in self.special or text in self.plain


def check_model(model: Value) -> None:
    """Refuse models of other types, and options of BPE that mergewise does not support."""
    kind = model.get("type")
    if kind.raw != "BPE" and not (kind.raw is None and "merges" in model.object()):
        raise kind.wrong('"BPE"')
    prefix = model.get("continuing_subword_prefix")
    if prefix.raw is not None and prefix.text():
        raise prefix.wrong("null")
    suffix = model.get("end_of_word_suffix")
    if suffix.raw is not None:
        suffix.text()
    dropout = model.get("dropout")
    if dropout.raw is not None and (isinstance(dropout.raw, bool) or dropout.raw != 0):
        dropout.leave_out("null")


def speller(steps: Steps) -> Speller:
    """A function from a written token to its bytes, or None if no text can have it."""
    if steps.is_byte_level:
        return from_letters
    if steps.mark_is_space:
        # When tokens are looked up, spaces have become marks.
        return lambda text: None if " " in text else text.replace(MARK, " ").encode()
    return str.encode


def read_added_tokens(document: Value, steps: Steps) -> Added:
    """The added tokens; options that change how they are found are refused or left out."""
    added = Added()
    listed = document.get("added_tokens")
    for item in [] if listed.raw is None else listed.items():
        content = item["content"]
        if not content.text() or content.raw in added:
            raise content.wrong("a text that is not empty and no other added token has")
        for name in ("lstrip", "rstrip", "single_word"):
            if item.get(name).flag():
                item.get(name).leave_out("false")
        if item.get("normalized").flag(default=True) and steps.changes(content.raw):
            item.get("normalized").leave_out("false, as the normalizer changes the token")
        ids = added.special if item.get("special").flag() else added.plain
        ids[content.raw] = item["id"].id()
    return added


def read_ids(vocab: Value, added: Added) -> dict[str, int]:
    """The strings of the model and their ids, which must agree with those of added tokens."""
    ids = vocab.ids()
    if "" in ids:
        raise vocab.wrong("tokens that are not empty")
    others = {**added.special, **added.plain}
    for text, token_id in others.items():
        if ids.get(text, token_id) != token_id:
            raise vocab.at(text, ids[text]).wrong(f"the id {token_id} of added_tokens")
    check_ids_differ(vocab.reading, {**ids, **others}, place="model.vocab")
    return ids


def read_merges(merges: Value) -> list[Merge]:
    """The pairs as they are written: as lists, or as strings with a space."""
    pairs: list[Merge] = []
    for index, raw in enumerate(merges.list()):
        pair = raw.split(" ") if isinstance(raw, str) else raw
        if not isinstance(pair, list) or len(pair) != 2:
            raise merges.at(index, raw).wrong("two tokens")
        left, right = pair
        if not isinstance(left, str) or not isinstance(right, str):
            raise merges.at(index, raw).wrong("two tokens")
        pairs.append((left, right))
    return pairs


def spelled_tokens(
    vocab: Value, spell: Speller, used: set[str], added: Added, *, with_bytes: bool
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
        index, _ = first_use(written, unknown)
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
    return None if steps.is_byte_level else ids[name.raw]


def read_kept(document: Value) -> Json:
    """The parts that are only kept to be written back, checked as far as mergewise reads them."""
    kept: Json = {}
    for key in KEPT:
        value = document.get(key)
        if value.raw is not None:
            value.object()
            kept[key] = value.raw
    if "decoder" in kept:
        document["decoder"]["type"].text()
    if "post_processor" in kept:
        check_post_processor(document["post_processor"])
    return kept


def check_post_processor(step: Value) -> None:
    """Refuse a post-processor whose special tokens `surrounding_tokens` could not read."""
    kind = step["type"].text()
    if kind == "Sequence":
        for item in step["processors"].items():
            check_post_processor(item)
    elif kind == "TemplateProcessing":
        for part in step["single"].items():
            if "SpecialToken" in part.object():
                part["SpecialToken"]["id"].text()
    elif kind in {"BertProcessing", "RobertaProcessing"}:
        for key in ("cls", "sep"):
            if [type(part) for part in step[key].list()] != [str, int]:
                raise step[key].wrong("a token and its id")
