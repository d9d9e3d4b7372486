"""Other libraries that read a vocabulary: what they make of texts and ids."""

from __future__ import annotations

import base64
import gzip
import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pytest
import sentencepiece
import tiktoken
import tokenizers
from tiktoken_ext import openai_public
from tokenizers import pre_tokenizers

transformers: Any = importlib.import_module("transformers")  # typed in part

Encode: TypeAlias = Callable[[str], list[int]]
Decode: TypeAlias = Callable[[list[int]], str]
Offsets: TypeAlias = list[tuple[int, int]]
Part = TypeVar("Part", str, list[int])


@dataclass(frozen=True)
class Peer:
    """A library that has read a vocabulary.

    `encode` finds special tokens in texts if `finds_specials`, and adds none; what is called "with
    added" is as the library does it unless told otherwise. `encode_halves` encodes the halves of a
    text as a pair. `specials` are texts that may be treated in a way of their own, and `ids` those
    that have a text.
    """

    encode: Encode
    decode: Decode
    encode_with_added: Encode | None = None
    encode_halves: Encode | None = None
    offsets: Callable[[str], Offsets] | None = None
    offsets_with_added: Callable[[str], Offsets] | None = None
    decode_without_specials: Decode | None = None
    specials: Sequence[str] = ()
    ids: Sequence[int] = ()
    finds_specials: bool = True


def reduced(differs: Callable[[Part], bool], whole: Part) -> Part:
    """As short as leaving out parts of a text or of ids makes it, and still different."""
    size = len(whole)
    while size:
        size //= 2
        start = 0
        while size and start < len(whole):
            shorter = whole[:start] + whole[start + size :]
            if differs(shorter):
                whole = shorter
            else:
                start += size
    return whole


def in_tokenizers(path: Path) -> Peer:
    return of_tokenizers(tokenizers.Tokenizer.from_file(str(path)))


def of_tokenizers(peer: Any) -> Peer:
    added = peer.get_added_tokens_decoder().values()
    return Peer(
        encode=lambda text: peer.encode(text, add_special_tokens=False).ids,
        decode=lambda ids: peer.decode(ids, skip_special_tokens=False),
        encode_with_added=lambda text: peer.encode(text).ids,
        encode_halves=lambda text: peer.encode(*halves(text)).ids,
        offsets=lambda text: peer.encode(text, add_special_tokens=False).offsets,
        offsets_with_added=lambda text: peer.encode(text).offsets,
        decode_without_specials=peer.decode,
        specials=[token.content for token in of_each_kind(added)],
        ids=sorted(peer.get_vocab(with_added_tokens=True).values()),
    )


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def of_each_kind(added: Sequence[Any], most: int = 15) -> list[Any]:
    """At most so many added tokens of each combination of flags."""
    kinds: dict[tuple[bool, ...], list[Any]] = {}
    for token in added:
        flags = (token.lstrip, token.rstrip, token.single_word, token.normalized, token.special)
        kinds.setdefault(flags, []).append(token)
    return [token for kind in kinds.values() for token in spread(kind, most)]


def spread(items: Sequence[Any], most: int) -> Sequence[Any]:
    """At most so many of the items, from the first to the last."""
    return items[:: -(-len(items) // most)] if items else items


def in_transformers(path: Path) -> Peer:
    peer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    return Peer(
        encode=lambda text: peer(text, add_special_tokens=False)["input_ids"],
        decode=lambda ids: peer.decode(ids, clean_up_tokenization_spaces=False),
    )


def in_gpt2(merges: Path, specials: Sequence[str] = ("<|endoftext|>", "<s>", "[INST]")) -> Peer:
    """Two files, which do not say what is special."""
    vocab = merges.with_name("encoder.json" if merges.name == "vocab.bpe" else "vocab.json")
    # By itself the class adds GPT-2's own special token to vocabularies that lack it.
    unknown = dict.fromkeys(("unk_token", "bos_token", "eos_token"))
    peer = transformers.GPT2TokenizerFast(vocab=str(vocab), merges=str(merges), **unknown)
    known = json.loads(vocab.read_text("utf-8"))
    named = [text for text in specials if text in known]
    peer.add_special_tokens({"additional_special_tokens": named})
    return Peer(
        encode=peer.encode,
        decode=lambda ids: peer.decode(ids, clean_up_tokenization_spaces=False),
        specials=named,
        ids=sorted(known.values()),
    )


def in_clip(path: Path) -> Peer:
    """The merges of CLIP's own file, of which it uses the first ones; the vocabulary follows.

    Decoding is CLIP's own: that of transformers strips the text besides.
    """
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    merges = [(left, right) for left, right in map(str.split, lines[1 : 49152 - 256 - 2 + 1])]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*letters, *(letter + "</w>" for letter in letters), *map("".join, merges)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    themselves = [ord(letter) for letter in letters if ord(letter) < 256]
    others = sorted(set(range(256)) - set(themselves))
    byte_of = dict(zip(letters, themselves + others, strict=True))

    def decode(ids: list[int]) -> str:
        string = bytes(byte_of[letter] for token_id in ids for letter in tokens[token_id])
        return string.decode(errors="replace").replace("</w>", " ")

    vocab = {token: index for index, token in enumerate(tokens)}
    peer = of_tokenizers(transformers.CLIPTokenizer(vocab=vocab, merges=merges).backend_tokenizer)
    return replace(peer, decode=decode, decode_without_specials=None)


# Ranks.


def ranks_in(path: Path) -> dict[bytes, int]:
    lines = map(bytes.split, path.read_bytes().splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def in_tiktoken(path: Path, **settings: Any) -> Peer:
    """Ranks with the settings beside them, unless they are given."""
    settings = settings or json.loads(path.with_name(path.name + ".json").read_text("utf-8"))
    return of_tiktoken(tiktoken.Encoding(path.name, mergeable_ranks=ranks_in(path), **settings))


def in_ranks_of_npm(path: Path) -> Peer:
    """A file of tiktoken's package for JavaScript: lines of tokens that have consecutive ranks."""
    document = json.loads(path.read_text("utf-8"))
    ranks: dict[bytes, int] = {}
    for line in document["bpe_ranks"].split("\n"):
        _, first, *tokens = line.split(" ")
        ranks.update((base64.b64decode(token), int(first) + i) for i, token in enumerate(tokens))
    settings = {key: document[key] for key in ("pat_str", "special_tokens")}
    return of_tiktoken(tiktoken.Encoding(path.name, mergeable_ranks=ranks, **settings))


def of_tiktoken(peer: tiktoken.Encoding) -> Peer:
    def encode(text: str) -> list[int]:
        return peer.encode(text, allowed_special="all")

    return Peer(
        encode=encode,
        decode=peer.decode,
        encode_with_added=encode,
        specials=sorted(peer.special_tokens_set),
        ids=sorted(
            {peer.encode_single_token(token) for token in peer.token_byte_values()}
            | {peer.encode_single_token(token) for token in peer.special_tokens_set}
        ),
    )


def numbered(first: int, names: Sequence[str]) -> dict[str, int]:
    return {name: first + index for index, name in enumerate(names)}


CHAT = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
QWEN: dict[str, Any] = {  # of its tokenization_qwen.py
    "pat_str": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "special_tokens": numbered(151643, CHAT),
}
QWEN_3_6: dict[str, Any] = {
    "pat_str": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "special_tokens": numbered(248044, CHAT),
}


def of_openai(make: Callable[[], dict[str, Any]], specials: dict[str, int]) -> dict[str, Any]:
    """The pattern of one of OpenAI's encodings with special tokens of another."""
    return {**without_ranks(make), "special_tokens": specials}


def without_ranks(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The settings of an encoding as its authors have published them."""
    with pytest.MonkeyPatch.context() as patch:  # the ranks are here, not on the net
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
        settings = make()
    return {key: settings[key] for key in ("pat_str", "special_tokens")}


OF_WHISPER = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|zh|>"]
OF_LLAMA = ["<|begin_of_text|>", "<|end_of_text|>"]
ENCODINGS: dict[str, Callable[[], dict[str, Any]]] = {
    "gpt2": lambda: without_ranks(openai_public.r50k_base),
    "p50k": lambda: without_ranks(openai_public.p50k_base),
    "cl100k": lambda: without_ranks(openai_public.cl100k_base),
    "o200k": lambda: without_ranks(openai_public.o200k_base),
    "qwen": lambda: QWEN,
    "qwen3.6": lambda: QWEN_3_6,
    "whisper": lambda: of_openai(openai_public.r50k_base, numbered(50257, OF_WHISPER)),
    "llama3-ranks": lambda: of_openai(openai_public.cl100k_base, numbered(128000, OF_LLAMA)),
    "llama4": lambda: of_openai(openai_public.o200k_base, numbered(200000, OF_LLAMA)),
}


def encoding(name: str) -> dict[str, Any]:
    """The pattern and the special tokens that a file of ranks does not have."""
    return ENCODINGS[name]()


def in_tekken(path: Path) -> tuple[Peer, int]:
    """Tekken as mistral-common reads it, and how many special tokens are before the others."""
    document = json.loads(path.read_text("utf-8"))
    config = document["config"]
    first = config["default_num_special_tokens"]
    entries = document["vocab"][: config["default_vocab_size"] - first]
    peer = tiktoken.Encoding(
        "tekken",
        pat_str=config["pattern"],
        mergeable_ranks={base64.b64decode(e["token_bytes"]): e["rank"] for e in entries},
        special_tokens={},
    )
    return Peer(
        encode=lambda text: [first + token_id for token_id in peer.encode_ordinary(text)],
        decode=lambda ids: peer.decode([token_id - first for token_id in ids]),
        specials=[token["token_str"] for token in document.get("special_tokens") or []][:20],
        ids=range(first, first + len(entries)),
        finds_specials=False,
    ), first


# Pieces.


def in_sentencepiece(path: Path) -> Peer:
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ids = range(peer.get_piece_size())
    is_special = [i for i in ids if peer.get_score(i) == 0]  # pieces of merges have others
    return Peer(
        encode=peer.encode,
        decode=peer.decode,
        encode_with_added=peer.encode,
        specials=[peer.id_to_piece(token_id) for token_id in spread(is_special, 40)],
        ids=ids,
        finds_specials=False,
    )


def recorded_by_llama_cpp(path: Path) -> dict[str, list[int]]:
    """Texts and their ids, which llama.cpp has beside some of its vocabularies."""
    texts, ids = (path.with_name(path.name + end) for end in (".inp", ".out"))
    if not texts.exists():
        return {}
    between = "\n__ggml_vocab_test__\n"
    recorded = texts.read_bytes().decode().removesuffix(between).split(between)
    lines = ids.read_text("utf-8").splitlines()
    return {text: [*map(int, line.split())] for text, line in zip(recorded, lines, strict=True)}
