"""Small tokenizers that tokenizers itself trains, with any parts of a pipeline."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
from sample_texts import CODE, LANGUAGES, OPTICKS
from tokenizers import AddedToken, decoders, models, pre_tokenizers, trainers

CORPUS = [*OPTICKS.splitlines()[:250], *LANGUAGES.splitlines(), *CODE.splitlines()]
LETTERS = pre_tokenizers.ByteLevel.alphabet()
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
Document = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A tokenizer to train: parts of the pipeline, the model's and the trainer's options.

    Then `edit` changes its file, tokens are added, and `prepare` does what else there is to do.
    """

    normalizer: Any = None
    pre_tokenizer: Any = None
    decoder: Any = None
    post_processor: Any = None
    model: Document = field(default_factory=dict)
    trainer: Document = field(default_factory=dict)
    added: Sequence[AddedToken] = ()
    prepare: Callable[[Any], None] | None = None
    edit: Callable[[Document], None] | None = None

    def save(self, path: Path) -> None:
        peer = tokenizers.Tokenizer(models.BPE(**self.model))
        for name in ("normalizer", "pre_tokenizer", "decoder", "post_processor"):
            if (part := getattr(self, name)) is not None:
                setattr(peer, name, part)
        options = {"vocab_size": 600, "special_tokens": ["[UNK]"], **self.trainer}
        # Without words each line is one, and merges take long.
        corpus = CORPUS[::5] if self.pre_tokenizer is None else CORPUS
        peer.train_from_iterator(corpus, trainers.BpeTrainer(show_progress=False, **options))
        if self.edit:
            document = json.loads(peer.to_str())
            self.edit(document)
            peer = tokenizers.Tokenizer.from_str(json.dumps(document))
        peer.add_tokens(list(self.added))
        if self.prepare:
            self.prepare(peer)
        peer.save(str(path))


def byte_level(**parts: Any) -> Row:
    """Bytes as letters, cut by GPT-2's pattern unless something else is given."""
    defaults: Document = {
        "pre_tokenizer": pre_tokenizers.ByteLevel(add_prefix_space=False),
        "decoder": decoders.ByteLevel(),
        "trainer": {"initial_alphabet": LETTERS},
    }
    return Row(**{**defaults, **parts})


def then_bytes(*first: Any) -> Any:
    """Steps that cut, and then bytes as letters without a pattern."""
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([*first, last])


def characters(**parts: Any) -> Row:
    """Characters, and a token for unknown ones."""
    return Row(**{"model": {"unk_token": "[UNK]"}, **parts})


def end_of_word(**parts: Any) -> Row:
    suffix = {"end_of_word_suffix": "</w>"}
    return Row(model={"unk_token": "[UNK]", **suffix}, trainer=suffix, **parts)


def with_bytes(tokens: Sequence[str] = BYTES) -> Callable[[Document], None]:
    """Give the vocabulary tokens for the bytes of unknown characters, or for some of them."""

    def edit(document: Document) -> None:
        vocab = document["model"]["vocab"]
        vocab.update((token, len(vocab) + index) for index, token in enumerate(tokens))
        document["model"].update(byte_fallback=True, fuse_unk=True)

    return edit


def in_model(**options: Any) -> Callable[[Document], None]:
    return lambda document: document["model"].update(options)


def with_token(token: str, **options: Any) -> Callable[[Document], None]:
    """Give the vocabulary a token that no merge makes."""

    def edit(document: Document) -> None:
        vocab = document["model"]["vocab"]
        vocab[token] = len(vocab)
        document["model"].update(options)

    return edit


def without_making(document: Document) -> None:
    """Leave out the merge that makes a token which other merges join."""
    merges = document["model"]["merges"]
    used = {part for merge in merges for part in merge if len(part) > 1}
    merges.remove(next(merge for merge in merges[20:] if "".join(merge) in used))


@cache
def compiled_map(rules: str) -> bytes:
    """SentencePiece's map of characters: field 2 of its model's field 3, the normalizer."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a few words are enough for the map of any model"]),
        model_writer=model,
        vocab_size=30,
        model_type="bpe",
        normalization_rule_name=rules,
        minloglevel=2,
    )
    return field_of(field_of(model.getvalue(), 3), 2)


def field_of(message: bytes, wanted: int) -> bytes:
    """The string of a field of a message of Protocol Buffers."""
    stream = io.BytesIO(message)
    while (key := varint_in(stream)) >> 3 != wanted:
        match key & 7:
            case 0:
                varint_in(stream)
            case 2:
                stream.seek(varint_in(stream), io.SEEK_CUR)
            case kind:
                stream.seek({1: 8, 5: 4}[kind], io.SEEK_CUR)
    return stream.read(varint_in(stream))


def varint_in(stream: io.BytesIO) -> int:
    value = shift = 0
    while (byte := stream.read(1)[0]) >= 0x80:
        value |= (byte & 0x7F) << shift
        shift += 7
    return value | byte << shift
