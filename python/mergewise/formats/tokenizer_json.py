"""HuggingFace's tokenizer.json, with a BPE model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mergewise import _core
from mergewise.formats.huggingface_decoders import is_of_bytes, read_decoder
from mergewise.formats.huggingface_steps import read_steps
from mergewise.formats.huggingface_tokens import (
    Spelling,
    TokensOfCore,
    TokensOfDocument,
    UnusualError,
    WrittenTokens,
)
from mergewise.formats.json_values import OBJECT_START, Json, Value, parse_text, read_object
from mergewise.formats.letters import BYTE_NAMES
from mergewise.formats.naming import START_OF_WORD
from mergewise.formats.post_processors import read_framing
from mergewise.formats.reading import Reading, decoded, shown
from mergewise.formats.tokenizer_json_writer import files_of, losses
from mergewise.framing import Framing
from mergewise.vocabulary import Search, Step, Vocabulary

__all__ = ["files_of", "looks_like", "losses", "read"]


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the file is a JSON object that begins with keys that only tokenizer.json has."""
    keys = (b'"added_tokens"', b'"pre_tokenizer"', b'"model"')
    return bool(OBJECT_START.match(head)) and any(key in head for key in keys)


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a tokenizer.json."""
    data = read_object(reading)
    table = _core.TokenizerJson.parse(data)
    if table is not None:
        document = parse_text(reading, table.rest)
        try:
            return vocabulary_of(document, TokensOfCore(table))
        except UnusualError:
            pass
    # Slower, and with words for all that can be wrong.
    return read_document(parse_text(reading, decoded(reading, data)))


def read_document(document: Value) -> Vocabulary:
    """The vocabulary of a document that was parsed in Python."""
    return vocabulary_of(document, TokensOfDocument(document["model"]))


def vocabulary_of(document: Value, written: WrittenTokens) -> Vocabulary:
    """The vocabulary of a document with these tokens."""
    model = document["model"]
    check_model(model)
    steps = read_steps(document)
    added = read_added_tokens(document, written)
    refuse_nothing(document.get("normalizer"), added)
    prefix = model.get("continuing_subword_prefix").text(default="")
    spelling = Spelling(
        has_letters=steps.alphabet == "bytes",
        mark_is_space=steps.mark_is_space,
        prefix=prefix,
        start_of_word=START_OF_WORD if prefix else b"",
        has_byte_names=steps.alphabet == "chars" and model.get("byte_fallback").flag(),
    )
    whole_words = model.get("ignore_merges").flag()
    # A special token is no text unless it is asked for; any other may be what a whole word is.
    found_alone = {text: token.special or not whole_words for text, token in added.items()}
    tokens, merges, single_bytes, unspelled = written.spelled(spelling, found_alone)
    suffix = model.get("end_of_word_suffix")
    end_of_word = suffix.text(default="").encode()
    if end_of_word and end_of_word in tokens:
        # In mergewise it would be a symbol of its own, in tokenizers it is part of the last one.
        raise suffix.wrong("an end of words that is no token by itself")
    # Where symbols are bytes and all of them are tokens, no character is unknown.
    marks_words = bool(prefix or end_of_word)
    is_closed = spelling.has_letters and len(single_bytes) == 256 and not marks_words
    if marks_words or (spelling.has_letters and not is_closed):
        refuse_fallback(model, written)
    unknown = None if is_closed else read_unknown(model, written)
    kept: Json = {"post_processor": document.get("post_processor").raw}
    decoder: list[Step] | None = read_decoder(document.get("decoder"))
    has_marks = prefix or end_of_word or steps.prefix_space == "always"
    if (
        spelling.has_letters
        and not has_marks
        and is_of_bytes(decoder or [], [*added, *unspelled.values()])
    ):
        # What `Vocabulary` says without a decoder.
        kept["decoder"], decoder = document["decoder"].raw, None
    return Vocabulary(
        **vars(steps),
        tokens=tokens,
        merges=merges,
        byte_tokens=tuple(map(written.get, BYTE_NAMES)) if spelling.has_byte_names else None,
        unknown_token=unknown,
        fuse_unknown=model.get("fuse_unk").flag(),
        drops_unknown=unknown is None and not is_closed,
        whole_words=whole_words,
        start_of_word=spelling.start_of_word,
        end_of_word=end_of_word,
        special_tokens={text: token.id for text, token in added.items() if token.special},
        added_tokens={text: token.id for text, token in added.items() if not token.special},
        searches={text: token.search for text, token in added.items() if any(token.search)},
        framing=checked_framing(document, written, added),
        decoder=decoder,
        written=unspelled,
        extras={"tokenizer_json": kept},
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
class AddedToken:
    """A token that is searched in texts before these are cut."""

    id: int
    special: bool
    search: Search


def read_added_tokens(document: Value, written: WrittenTokens) -> dict[str, AddedToken]:
    """The tokens that are searched in texts before these are cut.

    They have the ids that tokenizers gives them, whatever the file says: that of the model's token
    with this text, or the next one that is free. A tokenizer in memory has given them already, and
    may give others when it is read back from a file.

    Whether a token is searched in the normalised text matters if a text is normalised, or if some
    are and some are not.
    """
    added: dict[str, AddedToken] = {}
    next_id = len(written)
    listed = document.get("added_tokens")
    for item in [] if listed.raw is None else listed.items():
        content, said = item["content"].text(), item["id"].id()
        if not content:
            continue
        before = added.get(content)
        known = before.id if before else written.get(content)
        if item.reading.is_live:
            known = said
        token_id = next_id if known is None else known
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
    is_normalized = document.get("normalizer").raw is not None
    if not is_normalized and all(token.search.normalized for token in added.values()):
        return {
            text: replace(token, search=token.search._replace(normalized=False))
            for text, token in added.items()
        }
    return added


def refuse_fallback(model: Value, written: WrittenTokens) -> None:
    """Refuse that unknown symbols become bytes where tokenizers has other bytes than the text.

    The marks of symbols become bytes there, too, and the letters that stand for bytes.
    """
    falls_back = model.get("byte_fallback")
    if falls_back.flag() and any(written.get(name) is not None for name in BYTE_NAMES):
        falls_back.leave_out("false where symbols have marks or are letters for bytes")


def refuse_nothing(normalizer: Value, added: Mapping[str, AddedToken]) -> None:
    """Refuse added tokens of which the normalizer leaves nothing: they would be everywhere."""
    texts = [text for text, token in added.items() if token.search.normalized]
    if normalizer.raw is None or not texts:
        return
    pipeline = _core.Pipeline(json.dumps({"normalizer": normalizer.raw}))
    for text in texts:
        if not pipeline.normalized(text):
            found = f"{shown(text)}, of which the normalizer leaves nothing"
            expected = "tokens that are in normalised texts"
            raise normalizer.reading.wrong("added_tokens", found, expected)


def checked_framing(
    document: Value, written: WrittenTokens, added: Mapping[str, AddedToken]
) -> Framing:
    """What is put around texts; refuses ids that no token has."""
    framing = read_framing(document)
    padding = () if framing.padding is None else (framing.padding.id,)
    ids = {token.id for token in added.values()}
    for part in (*framing.before, *framing.after, *framing.pair, *padding):
        if isinstance(part, int) and part not in ids and not written.has(part):
            found = f"the id {part}, which no token has"
            place = "padding" if part in padding else "post_processor"
            raise document.reading.wrong(place, found, "ids of tokens")
    return framing


def read_unknown(model: Value, written: WrittenTokens) -> int | None:
    """The id of the unknown token."""
    name = model.get("unk_token")
    if name.raw is None:
        return None
    token_id = written.get(name.text())
    if token_id is None:
        raise name.wrong("a token of model.vocab")
    return token_id
