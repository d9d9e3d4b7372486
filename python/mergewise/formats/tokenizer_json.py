"""HuggingFace's tokenizer.json, with a BPE model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mergewise.formats import merging
from mergewise.formats.huggingface_steps import Steps, read_steps
from mergewise.formats.json_values import OBJECT_START, Json, Value, parse
from mergewise.formats.letters import BYTE_NAMES, MARK, from_letters
from mergewise.formats.naming import START_OF_WORD
from mergewise.formats.post_processors import read_framing
from mergewise.formats.reading import Reading, shown
from mergewise.formats.tokenizer_json_writer import files_of, losses
from mergewise.vocabulary import Search, Vocabulary

__all__ = ["files_of", "looks_like", "losses", "read"]

Merge = tuple[str, str]
KEPT: Final = ("truncation", "padding", "post_processor", "decoder")


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file is a JSON object that begins with keys that only tokenizer.json has."""
    keys = (b'"added_tokens"', b'"pre_tokenizer"', b'"model"')
    return bool(OBJECT_START.match(head)) and any(key in head for key in keys)


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a tokenizer.json."""
    return read_document(parse(reading))


def read_document(document: Value) -> Vocabulary:
    """The vocabulary of what a tokenizer.json has."""
    reading = document.reading
    model = document["model"]
    check_model(model)
    steps = read_steps(document)
    ids = model["vocab"].ids()
    merging.check_ids_differ(reading, ids, place="model.vocab")
    added = read_added_tokens(
        document, ids, is_normalized=document.get("normalizer").raw is not None
    )
    spelling = Spelling(steps, model.get("continuing_subword_prefix").text(default=""))
    written = read_merges(model["merges"])
    used = {part for merge in written for part in merge} | set(map(spelling.product, written))
    if not used <= ids.keys():
        index, text = spelling.first_use(written, used - ids.keys())
        found = f"the token {shown(text)}, which model.vocab does not have"
        raise reading.wrong(f"model.merges[{index}]", found, "tokens of the vocabulary")
    byte_tokens = read_byte_tokens(model, ids, steps)
    spelled = spelled_tokens(ids, spelling, used, added, with_bytes=byte_tokens is None)
    tokens = {string: ids[text] for text, string in spelled.items()}
    suffix = model.get("end_of_word_suffix")
    end_of_word = suffix.text(default="").encode()
    if end_of_word and end_of_word in tokens:
        # In mergewise it would be a symbol of its own, in tokenizers it is part of the last one.
        raise suffix.wrong("an end of words that is no token by itself")
    # Where symbols are bytes and all of them are tokens, no character is unknown.
    is_closed = steps.alphabet == "bytes" and all(bytes([byte]) in tokens for byte in range(256))
    unknown = None if is_closed else read_unknown(model, ids)
    return Vocabulary(
        **vars(steps),
        tokens=tokens,
        merges=spelled_merges(written, spelled, spelling),
        byte_tokens=byte_tokens,
        unknown_token=unknown,
        fuse_unknown=model.get("fuse_unk").flag(),
        drops_unknown=unknown is None and not is_closed,
        whole_words=model.get("ignore_merges").flag(),
        start_of_word=START_OF_WORD if spelling.prefix else b"",
        end_of_word=end_of_word,
        special_tokens={text: token.id for text, token in added.items() if token.special},
        added_tokens={text: token.id for text, token in added.items() if not token.special},
        searches={text: token.search for text, token in added.items() if any(token.search)},
        framing=read_framing(document),
        extras={"tokenizer_json": read_kept(document)},
    )


def check_model(model: Value) -> None:
    """Refuse models of other types, and options of BPE that mergewise does not support."""
    kind = model.get("type")
    if kind.raw != "BPE" and not (kind.raw is None and "merges" in model.object()):
        raise kind.wrong('"BPE"')
    dropout = model.get("dropout")
    if dropout.raw is not None and (isinstance(dropout.raw, bool) or dropout.raw != 0):
        dropout.leave_out("null")


@dataclass(frozen=True)
class Spelling:
    """How tokens are written in the file.

    Attributes:
        steps: the steps before merging.
        prefix: what is before each token that does not begin a word, as in `##ing`.
    """

    steps: Steps
    prefix: str

    def spell(self, text: str) -> bytes | None:
        """The bytes of a written token, or None if no text can have it."""
        if self.prefix:
            is_inside = text.startswith(self.prefix)
            start = b"" if is_inside else START_OF_WORD
            string = self.spell_plainly(text.removeprefix(self.prefix) if is_inside else text)
            return start + string if string else None
        return self.spell_plainly(text)

    def spell_plainly(self, text: str) -> bytes | None:
        """The same without prefixes."""
        if self.steps.alphabet == "bytes":
            return from_letters(text)
        if self.steps.mark_is_space:
            # When tokens are looked up, spaces have become marks.
            return None if " " in text else text.replace(MARK, " ").encode()
        return text.encode()

    def product(self, merge: Merge) -> str:
        """What a merge makes."""
        return merge[0] + merge[1][len(self.prefix) :]

    def first_use(self, merges: list[Merge], texts: set[str]) -> tuple[int, str]:
        """The index of the first merge that has one of the texts, and the text."""
        return next(
            (index, text)
            for index, merge in enumerate(merges)
            for text in (*merge, self.product(merge))
            if text in texts
        )


@dataclass(frozen=True)
class AddedToken:
    """A token that is searched in texts before these are cut."""

    id: int
    special: bool
    search: Search


def read_added_tokens(
    document: Value, ids: Mapping[str, int], *, is_normalized: bool
) -> dict[str, AddedToken]:
    """The tokens that are searched in texts before these are cut.

    They have the ids that tokenizers gives them, whatever the file says: that of the model's token
    with this text, or the next one that is free. Whether a token is searched in the normalised text
    matters if a text is normalised, or if some are and some are not.
    """
    added: dict[str, AddedToken] = {}
    next_id = len(ids)
    listed = document.get("added_tokens")
    for item in [] if listed.raw is None else listed.items():
        content, said = item["content"].text(), item["id"].id()
        if not content:
            continue
        before = added.get(content)
        token_id = before.id if before else ids.get(content, next_id)
        next_id += token_id == next_id
        if token_id != said:
            message = f"{item.reading.path}: {item.place}: {shown(content)} has the id {token_id}"
            warnings.warn(f"{message}, as in tokenizers, not {said}", stacklevel=2)
        search = Search(
            lstrip=item.get("lstrip").flag(),
            rstrip=item.get("rstrip").flag(),
            single_word=item.get("single_word").flag(),
            normalized=item.get("normalized").flag(default=True),
        )
        special = item.get("special").flag() or (before is not None and before.special)
        added[content] = AddedToken(token_id, special, search)
    if not is_normalized and all(token.search.normalized for token in added.values()):
        return {
            text: replace(token, search=token.search._replace(normalized=False))
            for text, token in added.items()
        }
    return added


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
    ids: Mapping[str, int],
    spelling: Spelling,
    used: set[str],
    added: Mapping[str, AddedToken],
    *,
    with_bytes: bool,
) -> dict[str, bytes]:
    """The bytes of the tokens that a text can have.

    Left out are those that are only added, and those for single bytes.

    Args:
        ids: the tokens as they are written.
        spelling: from written tokens to bytes.
        used: the written tokens that merges use.
        added: the added tokens.
        with_bytes: whether names such as <0x41> are tokens like all others.
    """
    spelled: dict[str, bytes] = {}
    for text in ids:
        string = spelling.spell(text)
        is_added = text in added and text not in used and len(text) > 1
        if string and not is_added and (with_bytes or text not in BYTE_NAMES):
            spelled[text] = string
    return spelled


def spelled_merges(
    written: list[Merge], spelled: dict[str, bytes], spelling: Spelling
) -> list[tuple[bytes, bytes]]:
    """The merges in the bytes of the tokens, without those of tokens that no text can have.

    Of a merge that is listed twice, the last place counts, as in tokenizers.
    """
    if len(set(written)) < len(written):
        written = [*dict.fromkeys(reversed(written))][::-1]
    return [
        (spelled[left], spelled[right])
        for left, right in written
        if left in spelled and right in spelled and spelling.product((left, right)) in spelled
    ]


def read_byte_tokens(
    model: Value, ids: dict[str, int], steps: Steps
) -> tuple[int | None, ...] | None:
    """The ids of the tokens for bytes, if unknown characters become these."""
    if not model.get("byte_fallback").flag() or steps.alphabet == "bytes":
        return None
    return tuple(ids.get(name) for name in BYTE_NAMES)


def read_unknown(model: Value, ids: dict[str, int]) -> int | None:
    """The id of the unknown token."""
    name = model.get("unk_token")
    if name.raw is None:
        return None
    if name.text() not in ids:
        raise name.wrong("a token of model.vocab")
    return ids[name.raw]


def read_kept(document: Value) -> Json:
    """The parts that are only kept to be written back."""
    kept: Json = {}
    for key in KEPT:
        value = document.get(key)
        if value.raw is not None:
            kept[key] = value.object()
    if "decoder" in kept:
        document["decoder"]["type"].text()
    return kept
