"""Other libraries: ours read there and theirs read here make the same ids of every text.

A difference is reported as the shortest text that shows it. The texts of `test_interop_full` are
longer.
"""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tiktoken
import tokenizers
from peers import (
    QWEN,
    Encode,
    Peer,
    encoding,
    in_gpt2,
    in_sentencepiece,
    in_tekken,
    in_tiktoken,
    in_tokenizers,
    in_transformers,
    of_tiktoken,
    of_tokenizers,
    ranks_in,
    reduced,
    transformers,
)
from sample_texts import CODE, LANGUAGES, OPTICKS, SPACES, random_text
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers
from vocabularies import vocabulary

import mergewise as mw
from mergewise.errors import ConversionError, FormatError, UnknownTokenError

# Texts.


@cache
def texts() -> list[str]:
    """What everything is compared on."""
    draw = random.Random(1)  # noqa: S311 (not for secrets)
    short = [random_text(draw, draw.randrange(1, 30)) for _ in range(300)]
    return [OPTICKS[:150_000], LANGUAGES, CODE, *SPACES, *short, random_text(draw, 5000)]


# Comparing.


def assert_equal(ours: Encode, theirs: Encode, samples: Sequence[str]) -> int:
    """All samples have the same ids; how many."""
    number = 0
    for sample in samples:
        ids = theirs(sample)
        if ours(sample) != ids:
            text = reduced(lambda text: ours(text) != theirs(text), sample)
            pytest.fail(f"{text!r} is {ours(text)} here and {theirs(text)} there")
        number += len(ids)
    return number


def special(tok: mw.Tokenizer) -> Encode:
    """Encode as tokenizers does: special tokens are found in texts."""
    return lambda text: tok.encode(text, allowed_special="all")


def ordinary(tok: mw.Tokenizer) -> Encode:
    """Encode as SentencePiece does, and tiktoken if asked: special tokens are texts as others."""
    return lambda text: tok.encode(text, disallowed_special=())


def check(tok: mw.Tokenizer, peer: Peer, samples: Sequence[str]) -> int:
    """The same ids, and the same texts of them; how many ids."""
    number = assert_equal(special(tok), peer.encode, samples)
    check_decoding(tok, peer, samples)
    return number


def check_file(
    tok: mw.Tokenizer, path: Path, load: Callable[[Path], Peer], samples: Sequence[str]
) -> None:
    """The same of what a peer loads from a file that we wrote."""
    tok.save(path)
    check(tok, load(path), samples)


def check_decoding(tok: mw.Tokenizer, peer: Peer, samples: Sequence[str]) -> None:
    for sample in samples:
        ids = peer.encode(sample)
        assert tok.decode(ids) == peer.decode(ids)


# Ours, read by them.

SPECIALS = ["<|endoftext|>", "<s>", "[INST]"]
NAMED = ["gpt2", "cl100k", "o200k", "whitespace", None]


@cache
def trained(pattern: str | None, alphabet: Any = "bytes", normalize: Any = None) -> mw.Tokenizer:
    counts = mw.count([OPTICKS, LANGUAGES, CODE], pattern=pattern, normalize=normalize)
    return mw.train(counts, num_merges=1000, alphabet=alphabet, special_tokens=SPECIALS)


@pytest.mark.parametrize("load", [in_tokenizers, in_transformers])
@pytest.mark.parametrize("pattern", NAMED)
def test_bytes_in_tokenizers(
    pattern: str | None, load: Callable[[Path], Peer], tmp_path: Path
) -> None:
    tok = trained(pattern)
    shared = [*texts(), *with_specials(SPECIALS)]
    check_file(tok, tmp_path / "tokenizer.json", load, shared)


@pytest.mark.parametrize("normalize", ["nfc", "nfkc"])
def test_normalized_bytes_in_tokenizers(normalize: str, tmp_path: Path) -> None:
    tok = trained("cl100k", "bytes", normalize)
    check_file(tok, tmp_path / "tokenizer.json", in_tokenizers, texts())


@pytest.mark.parametrize("pattern", [*NAMED, r"\p{L}+|\d{2}"])
def test_bytes_in_tiktoken(pattern: str | None, tmp_path: Path) -> None:
    tok = trained(pattern)
    check_file(tok, tmp_path / "x.tiktoken", in_tiktoken, texts())


def test_bytes_in_gpt2s_files(tmp_path: Path) -> None:
    tok = trained("gpt2")
    tok.save(tmp_path)
    check(tok, in_gpt2(tmp_path / "merges.txt"), texts())


def test_transformers_writes_what_it_has_read(tmp_path: Path) -> None:
    tok = trained("cl100k")
    tok.save(tmp_path / "x.json")
    peer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "x.json"))
    peer.save_pretrained(str(tmp_path / "same"))
    assert mw.Tokenizer.from_file(tmp_path / "same" / "tokenizer.json") == tok
    peer.add_special_tokens({"bos_token": "<s>", "pad_token": "<pad>", "unk_token": "<unk>"})
    peer.save_pretrained(str(tmp_path / "more"))
    more = mw.Tokenizer.from_file(tmp_path / "more" / "tokenizer.json")
    assert set(more.special_tokens) == {*SPECIALS, "<pad>", "<unk>"}
    there = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "more"))
    samples = list(with_specials([*SPECIALS, "<pad>", "<unk>"]))
    assert_equal(special(more), there.encode, samples)


# Characters. What was not in the corpus is an error here, and dropped or unknown there.


def known(tok: mw.Tokenizer, *, between: str = "") -> list[str]:
    """The texts without the characters that a tokenizer cannot encode, nor has between words."""
    characters = {*between, *(token.decode() for token in tok.vocabulary.tokens)}
    return ["".join(c for c in text if c in characters) for text in texts()]


@pytest.mark.parametrize("load", [in_tokenizers, in_transformers])
@pytest.mark.parametrize("pattern", [None, "whitespace"])
def test_characters_in_tokenizers(
    pattern: str | None, load: Callable[[Path], Peer], tmp_path: Path
) -> None:
    tok = trained(pattern, "chars")
    check_file(tok, tmp_path / "tokenizer.json", load, known(tok))


def test_unknown_characters_are_an_error_here_alone(tmp_path: Path) -> None:
    tok = trained(None, "chars")
    tok.save(tmp_path / "x.json")
    tok.save(tmp_path / "x.model")
    with pytest.raises(UnknownTokenError, match="'ༀ' at byte 3"):
        tok.encode("lowༀer")
    low, er = tok.encode("low"), tok.encode("er")
    assert in_tokenizers(tmp_path / "x.json").encode("lowༀer") == tok.encode("lower")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "x.model"))
    assert peer.encode("lowༀer") == [*low, peer.unk_id(), *er]
    assert peer.unk_id() == tok.vocab_size


def test_an_unknown_token_among_the_special_ones(tmp_path: Path) -> None:
    counts = mw.count([OPTICKS], pattern=None)
    names = ["<unk>", "<s>", "</s>"]
    tok = mw.train(counts, num_merges=10, alphabet="chars", special_tokens=names)
    tok.save(tmp_path / "x.model")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "x.model"))
    assert peer.unk_id() == tok.special_tokens["<unk>"]


def test_characters_in_sentencepiece(tmp_path: Path) -> None:
    tok = trained(None, "chars")
    tok.save(tmp_path / "x.model")
    peer = in_sentencepiece(tmp_path / "x.model")
    assert_equal(ordinary(tok), peer.encode, known(tok))
    check_decoding(tok, peer, known(tok))


@cache
def trained_on_words(pattern: str) -> mw.Tokenizer:
    """No token of this has a space behind its first character."""
    words = " ".join((OPTICKS + LANGUAGES + CODE).split())
    return mw.train(mw.count([words], pattern=pattern), num_merges=1000, alphabet="chars")


def test_words_of_characters_in_sentencepiece(tmp_path: Path) -> None:
    tok = trained_on_words("whitespace")
    tok.save(tmp_path / "x.model")
    peer = in_sentencepiece(tmp_path / "x.model")
    assert_equal(ordinary(tok), peer.encode, known(tok))
    check_decoding(tok, peer, known(tok))


# subword-nmt cuts words out of lines, and has pieces, no ids.

WORDS = r"[^ \r\n]+"
Segment = Callable[[str], list[str]]


def by_subword_nmt(codes: Path) -> Segment:
    """The pieces of a text; the last one of a word ends in `</w>`."""
    goes_on = "\ufffe@@\ufffe"
    with codes.open(encoding="utf-8") as file:
        peer = BPE(file, separator=goes_on)
    return lambda text: [
        piece.removesuffix(goes_on) if piece.endswith(goes_on) else piece + "</w>"
        for line in text.replace("\r", "\n").split("\n")
        for piece in peer.segment(line).split(" ")
        if piece
    ]


def by_mergewise(tok: mw.Tokenizer) -> Segment:
    return lambda text: [tok.token_bytes(token_id).decode() for token_id in tok.encode(text)]


def test_codes_in_subword_nmt(tmp_path: Path) -> None:
    tok = trained_on_words(WORDS)
    with pytest.raises(ConversionError, match="its words lie between spaces, which it drops"):
        tok.save(tmp_path / "x.codes")
    tok = mw.Tokenizer(replace(tok.vocabulary, drops_gaps=True))
    tok.save(tmp_path / "x.codes")
    ours, theirs = by_mergewise(tok), by_subword_nmt(tmp_path / "x.codes")
    for text in known(tok, between=" \r\n"):
        assert ours(text) == [piece.removesuffix("</w>") for piece in theirs(text)]


# Theirs, read by us.


def own_texts(tok: mw.Tokenizer) -> list[str]:
    """The texts, and words of the vocabulary's own tokens, where merges compete."""
    draw = random.Random(5)  # noqa: S311 (not for secrets)
    tokens = [token.strip() for token in tok.vocabulary.tokens]
    words = [b"".join(draw.choices(tokens, k=draw.randrange(1, 9))) for _ in range(1000)]
    return [*texts(), *(word.decode(errors="ignore") for word in words)]


@cache
def read(name: str, **options: Any) -> mw.Tokenizer:
    return mw.Tokenizer.from_file(vocabulary(name), **options)


@cache
def tiktokens(name: str) -> Peer:
    return in_tiktoken(vocabulary(name), **encoding(name))


@cache
def ranks(name: str) -> mw.Tokenizer:
    """A file of ranks; mergewise knows those of OpenAI by themselves."""
    if name != "qwen":
        return read(name)
    pattern, special_tokens = QWEN.values()
    return mw.Tokenizer.from_file(vocabulary(name), pattern=pattern, special_tokens=special_tokens)


@pytest.mark.parametrize("name", ["gpt2", "p50k", "cl100k", "o200k", "qwen"])
def test_ranks_of_tiktoken(name: str) -> None:
    check(ranks(name), tiktokens(name), own_texts(ranks(name)))


@pytest.mark.parametrize("name", ["gpt2", "p50k", "cl100k", "o200k"])
def test_special_tokens_of_openai(name: str) -> None:
    assert ranks(name).special_tokens == encoding(name)["special_tokens"]


def test_ranks_without_a_pattern_are_refused() -> None:
    with pytest.raises(FormatError, match=r"hint: give pattern="):
        mw.Tokenizer.from_file(vocabulary("qwen"))


def test_gpt2s_own_files() -> None:
    there = in_gpt2(vocabulary("gpt2-merges"))
    for name in ("gpt2-encoder", "gpt2-merges"):
        check(read(name), there, own_texts(read(name)))
    assert_equal(special(read("gpt2-encoder")), tiktokens("gpt2").encode, texts())


@cache
def loaded_by_tokenizers(name: str) -> Peer:
    return in_tokenizers(vocabulary(name))


@pytest.mark.parametrize("name", ["qwen2.5", "llama3"])
def test_files_of_tokenizers(name: str) -> None:
    check(read(name), loaded_by_tokenizers(name), own_texts(read(name)))


def test_tekken() -> None:
    peer, first = in_tekken(vocabulary("tekken"))
    check(read("tekken"), peer, own_texts(read("tekken")))
    assert set(read("tekken").special_tokens.values()) == set(range(first))


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])
def test_models_of_sentencepiece(name: str) -> None:
    tok, peer = read(name), in_sentencepiece(vocabulary(name))
    assert_equal(ordinary(tok), peer.encode, own_texts(tok))
    check_decoding(tok, peer, own_texts(tok))


# Theirs, trained here.

CORPUS = [*OPTICKS[:200_000].splitlines(keepends=True), *LANGUAGES.splitlines(), CODE]


def trained_by_tokenizers(**parts: Any) -> Any:
    peer = tokenizers.Tokenizer(models.BPE(**parts.pop("model", {})))
    options = parts.pop("options", {})
    for name, part in parts.items():
        setattr(peer, name, part)
    trainer = trainers.BpeTrainer(vocab_size=1500, show_progress=False, **options)
    peer.train_from_iterator(CORPUS, trainer)
    return peer


def with_bytes(peer: Any) -> Any:
    """The same with tokens for the bytes of unknown characters, as Llama 2 has them."""
    document = json.loads(peer.to_str())
    model = document["model"]
    size = len(model["vocab"])
    model["vocab"].update((f"<0x{byte:02X}>", size + byte) for byte in range(256))
    model.update(byte_fallback=True, fuse_unk=True)
    return tokenizers.Tokenizer.from_str(json.dumps(document))


BYTE_LETTERS = pre_tokenizers.ByteLevel.alphabet()
UNKNOWN = {"unk_token": "<unk>"}
WITH_UNKNOWN = {"special_tokens": ["<unk>", "<s>", "</s>"]}
MARKS = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
MARKS_BACK = decoders.Sequence(
    [
        decoders.Replace("▁", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
)
TRAINED: dict[str, Callable[[], Any]] = {
    "bytes": lambda: trained_by_tokenizers(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoder=decoders.ByteLevel(),
        options={"initial_alphabet": BYTE_LETTERS, "special_tokens": ["<|endoftext|>"]},
    ),
    "bytes after a space": lambda: trained_by_tokenizers(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
        normalizer=normalizers.NFC(),
        decoder=decoders.ByteLevel(),
        options={"initial_alphabet": BYTE_LETTERS},
    ),
    "metaspace": lambda: trained_by_tokenizers(
        model=UNKNOWN,
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Metaspace(),
        options=WITH_UNKNOWN,
    ),
    "metaspace and bytes": lambda: with_bytes(
        trained_by_tokenizers(
            model=UNKNOWN,
            pre_tokenizer=pre_tokenizers.Metaspace(),
            decoder=MARKS_BACK,
            options=WITH_UNKNOWN,
        )
    ),
    "marks and bytes": lambda: with_bytes(
        trained_by_tokenizers(
            model=UNKNOWN, normalizer=MARKS, decoder=MARKS_BACK, options=WITH_UNKNOWN
        )
    ),
    "ends of words": lambda: trained_by_tokenizers(
        model={**UNKNOWN, "end_of_word_suffix": "</w>"},
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.BPEDecoder(),
        options={**WITH_UNKNOWN, "end_of_word_suffix": "</w>"},
    ),
    "ends of words, and punctuation": lambda: trained_by_tokenizers(
        model={**UNKNOWN, "end_of_word_suffix": "</w>", "fuse_unk": True},
        pre_tokenizer=pre_tokenizers.Whitespace(),
        options={**WITH_UNKNOWN, "end_of_word_suffix": "</w>"},
    ),
}


@pytest.mark.parametrize("name", TRAINED)
def test_trained_by_tokenizers(name: str, tmp_path: Path) -> None:
    peer = TRAINED[name]()
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert_equal(special(tok), of_tokenizers(peer).encode, texts())


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in TRAINED
        if name != "ends of words, and punctuation"  # it has no decoder
    ],
)
def test_decoded_by_tokenizers(name: str, tmp_path: Path) -> None:
    peer = TRAINED[name]()
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    check_decoding(tok, of_tokenizers(peer), texts())


def trained_by_sentencepiece(folder: Path, **options: Any) -> Path:
    model = io.BytesIO()
    settings = {
        "model_type": "bpe",
        "vocab_size": 1500,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "minloglevel": 2,
        **options,
    }
    lines = (line for text in CORPUS for line in text.splitlines())
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines, model_writer=model, **settings
    )
    path = folder / "theirs.model"
    path.write_bytes(model.getvalue())
    return path


SENTENCEPIECE: dict[str, dict[str, Any]] = {
    "plain": {},
    "bytes": {"byte_fallback": True},
    "no prefix": {"byte_fallback": True, "add_dummy_prefix": False},
    "covers less": {"character_coverage": 0.98},
    "digits": {"split_digits": True, "byte_fallback": True},
    "across spaces": {"split_by_whitespace": False, "allow_whitespace_only_pieces": True},
    "user-defined": {"user_defined_symbols": ["<b>", "light"], "byte_fallback": True},
}


@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_trained_by_sentencepiece(name: str, tmp_path: Path) -> None:
    path = trained_by_sentencepiece(tmp_path, **SENTENCEPIECE[name])
    tok, peer = mw.Tokenizer.from_file(path), in_sentencepiece(path)
    assert_equal(ordinary(tok), peer.encode, texts())
    for text in texts():
        ids = peer.encode(text)
        # It has a sign of its own for what is unknown.
        assert tok.decode(ids).replace("<unk>", " ⁇ ") == peer.decode(ids)


def test_other_models_are_refused(tmp_path: Path) -> None:
    path = trained_by_sentencepiece(tmp_path, model_type="unigram")
    with pytest.raises(FormatError, match="a model of the kind unigram, expected BPE"):
        mw.Tokenizer.from_file(path)


@pytest.mark.parametrize("text", ["wx yz", "low▁er", "a b▁low▁er"])
def test_spaces_in_user_defined_pieces(text: str, tmp_path: Path) -> None:
    path = trained_by_sentencepiece(tmp_path, user_defined_symbols=["x y", "low▁er"])
    assert_equal(ordinary(mw.Tokenizer.from_file(path)), in_sentencepiece(path).encode, [text])


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("subword-nmt") / "theirs.codes"
    with path.open("w", encoding="utf-8") as file:
        learn_bpe(io.StringIO(OPTICKS[:60_000] + LANGUAGES), file, num_symbols=500)
    return path


def test_trained_by_subword_nmt(codes: Path) -> None:
    tok = mw.Tokenizer.from_file(codes)
    ours, theirs = by_mergewise(tok), by_subword_nmt(codes)
    for text in known(tok, between=" \r\n"):
        assert ours(text) == theirs(text)


def test_clip(tmp_path: Path) -> None:
    """Bytes with ends of words; without the lower case, which mergewise does not do."""
    lines = gzip.decompress(vocabulary("clip").read_bytes()).decode().split("\n")
    merges = [(left, right) for left, right in map(str.split, lines[1 : 49152 - 256 - 2 + 1])]
    letters = sorted(BYTE_LETTERS)
    strings = [*letters, *(letter + "</w>" for letter in letters), *map("".join, merges)]
    model = models.BPE(
        {string: index for index, string in enumerate(strings)},
        merges,
        end_of_word_suffix="</w>",
        fuse_unk=False,
    )
    peer = tokenizers.Tokenizer(model)
    peer.normalizer = normalizers.NFC()
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    split = pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    peer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    peer.add_special_tokens(["<|startoftext|>", "<|endoftext|>"])
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert_equal(special(tok), of_tokenizers(peer).encode, texts())


# From one format to another: their library makes of the new file what the other did of the old.

Source = Callable[[Path], tuple[Path, Peer]]


def by_tokenizers(name: str) -> Source:
    def make(folder: Path) -> tuple[Path, Peer]:
        peer = TRAINED[name]()
        peer.save(str(folder / "theirs.json"))
        return folder / "theirs.json", of_tokenizers(peer)

    return make


def by_sentencepiece(name: str) -> Source:
    def make(folder: Path) -> tuple[Path, Peer]:
        path = trained_by_sentencepiece(folder, **SENTENCEPIECE[name])
        return path, in_sentencepiece(path)

    return make


def by_us(name: str) -> Source:
    def make(folder: Path) -> tuple[Path, Peer]:
        (folder / "ours").mkdir()
        trained("gpt2").save(folder / "ours" / name)
        return folder / "ours" / name, TARGETS[name](folder / "ours" / name)

    return make


SOURCES: dict[str, Source] = {
    "our ranks": by_us("x.tiktoken"),
    "our two files": by_us("merges.txt"),
    "ranks of GPT-2": lambda _: (vocabulary("gpt2"), tiktokens("gpt2")),
    "GPT-2's files": lambda _: (vocabulary("gpt2-merges"), in_gpt2(vocabulary("gpt2-merges"))),
    "ranks of cl100k": lambda _: (vocabulary("cl100k"), tiktokens("cl100k")),
    "mistral-v1": lambda _: (vocabulary("mistral-v1"), in_sentencepiece(vocabulary("mistral-v1"))),
    **{f"tokenizers: {name}": by_tokenizers(name) for name in TRAINED},
    **{f"sentencepiece: {name}": by_sentencepiece(name) for name in SENTENCEPIECE},
}
LARGE = {"ranks of GPT-2", "GPT-2's files", "ranks of cl100k", "mistral-v1"}
TARGETS: dict[str, Callable[[Path], Peer]] = {
    "x.json": in_tokenizers,
    "x.tiktoken": in_tiktoken,
    "merges.txt": in_gpt2,
    "x.model": in_sentencepiece,
    "x.codes": in_tokenizers,  # never reached: nothing else is written without a loss
}
BYTES = "its symbols are bytes, not characters"
CHARACTERS = "its symbols are characters, not bytes"
NO_SPECIALS = "it has no special tokens"
OF_BYTES = {"x.model": CHARACTERS, "x.codes": CHARACTERS}
OF_CHARACTERS = {"x.tiktoken": BYTES, "merges.txt": BYTES, "x.codes": NO_SPECIALS}
# A reason for what cannot be converted; all else can.
REFUSED: dict[str, dict[str, str]] = {
    "our ranks": OF_BYTES,
    "our two files": OF_BYTES,
    "ranks of GPT-2": OF_BYTES,
    "GPT-2's files": OF_BYTES,
    "ranks of cl100k": {**OF_BYTES, "merges.txt": "by the pattern gpt2, not cl100k"},
    "mistral-v1": OF_CHARACTERS,
    "tokenizers: bytes": OF_BYTES,
    "tokenizers: bytes after a space": {
        **OF_BYTES,
        "x.tiktoken": r"normalised \(nfc\); .* a space is put before a text",
        "merges.txt": r"normalised \(nfc\); .* a space is put before a text",
    },
    "tokenizers: metaspace": {
        **OF_CHARACTERS,
        "x.model": "whatever their beginning; .* one token of neighbouring unknown",
    },
    "tokenizers: metaspace and bytes": {**OF_CHARACTERS, "x.model": "whatever their beginning"},
    "tokenizers: marks and bytes": OF_CHARACTERS,
    "tokenizers: ends of words": {**OF_CHARACTERS, "x.model": "cannot mark the end of a word"},
    "tokenizers: ends of words, and punctuation": {
        **OF_CHARACTERS,
        "x.model": "cannot mark the end of a word .* does not cut texts into words",
    },
    **{f"sentencepiece: {name}": OF_CHARACTERS for name in SENTENCEPIECE},
    "sentencepiece: user-defined": {
        **OF_CHARACTERS,
        "x.json": "a space behind each token that is found in every text",
    },
}


def convert(tok: mw.Tokenizer, folder: Path, name: str) -> Peer:
    """What another library makes of a tokenizer."""
    tok.save(folder / name)
    return TARGETS[name](folder / name)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(source, marks=[pytest.mark.slow] if source in LARGE else [])
        for source in SOURCES
    ],
)
def test_conversions(source: str, tmp_path: Path) -> None:
    path, peer = SOURCES[source](tmp_path)
    tok = mw.Tokenizer.from_file(path)
    reasons = REFUSED[source]
    for name in TARGETS:
        if name in reasons:
            with pytest.raises(ConversionError, match=reasons[name]):
                tok.save(tmp_path / name)
            assert not (tmp_path / name).exists()
        else:
            assert_equal(convert(tok, tmp_path, name).encode, peer.encode, texts())
            assert mw.Tokenizer.from_file(tmp_path / name).merges == tok.merges


def test_codes_become_a_tokenizer_json_and_come_back(codes: Path, tmp_path: Path) -> None:
    tok = mw.Tokenizer.from_file(codes)
    tok.save(tmp_path / "x.json")
    mw.Tokenizer.from_file(tmp_path / "x.json").save(tmp_path / "x.codes")
    there, theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json")), by_subword_nmt(codes)
    back = by_subword_nmt(tmp_path / "x.codes")
    for text in known(tok, between=" \r\n"):
        assert there.encode(text).tokens == theirs(text) == back(text)
    for name, reason in (("x.tiktoken", BYTES), ("merges.txt", BYTES), ("x.model", "end of a")):
        with pytest.raises(ConversionError, match=reason):
            tok.save(tmp_path / name)


def test_tekken_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="does not write Tekken"):
        trained("gpt2").save(tmp_path / "tekken.json", format="tekken")


# Special tokens.


def with_specials(names: Sequence[str], number: int = 300) -> Iterator[str]:
    """Texts with special tokens at their ends, side by side, in words, and damaged."""
    draw = random.Random(2)  # noqa: S311 (not for secrets)
    for _ in range(number):
        parts = []
        for _ in range(draw.randrange(1, 6)):
            name = draw.choice(names)
            damaged = name[: draw.randrange(len(name))] + draw.choice(["", name, name[1:]])
            parts += [random_text(draw, draw.randrange(4)), draw.choice([name, name, damaged])]
        yield "".join([*parts, random_text(draw, draw.randrange(3))])


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "qwen"])
def test_special_tokens_as_in_tiktoken(name: str) -> None:
    peer = tiktoken.Encoding(name, mergeable_ranks=ranks_in(vocabulary(name)), **encoding(name))
    tok = ranks(name)
    names = list(tok.special_tokens)
    samples = list(with_specials(names))
    check(tok, of_tiktoken(peer), samples)
    assert_equal(ordinary(tok), peer.encode_ordinary, samples)
    some = set(names[:1])
    assert_equal(
        lambda text: tok.encode(text, allowed_special=some, disallowed_special=()),
        lambda text: peer.encode(text, allowed_special=some, disallowed_special=()),
        samples,
    )
    for sample in samples[:50]:
        refused = any(name in sample for name in names)
        for encode in (tok.encode, peer.encode):
            if refused:
                with pytest.raises(ValueError, match="special"):
                    encode(sample)
            else:
                encode(sample)


@pytest.mark.parametrize("name", ["llama3", "qwen2.5"])
def test_special_tokens_as_in_tokenizers(name: str) -> None:
    tok = read(name)
    names = list(tok.special_tokens)
    check(tok, loaded_by_tokenizers(name), list(with_specials(names[:5] + names[-5:])))


@pytest.mark.parametrize("pattern", NAMED)
def test_our_special_tokens_in_tiktoken(pattern: str | None, tmp_path: Path) -> None:
    tok = trained(pattern)
    check_file(tok, tmp_path / "x.tiktoken", in_tiktoken, list(with_specials(SPECIALS)))


@pytest.mark.parametrize("name", TRAINED)
def test_special_tokens_beside_every_step(name: str, tmp_path: Path) -> None:
    peer = TRAINED[name]()
    peer.add_special_tokens(["<s>", "[INST]"])
    peer.add_tokens([tokenizers.AddedToken("<added>", normalized=False)])
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    samples = list(with_specials(["<s>", "[INST]", "<added>"]))
    assert_equal(special(tok), of_tokenizers(peer).encode, samples)


def test_special_tokens_that_begin_alike_or_overlap(tmp_path: Path) -> None:
    names = ["<a", "<a>", "<a><b", "a><b>", "b>", "<a>\n", " <c> "]
    tok = mw.train(mw.count([OPTICKS]), num_merges=100, special_tokens=names)
    draw = random.Random(3)  # noqa: S311 (not for secrets)
    samples = ["".join(draw.choices([*names, *"<ab>\n c"], k=8)) for _ in range(500)]
    check_file(tok, tmp_path / "tokenizer.json", in_tokenizers, samples)


def over_letters(added: list[AddedToken], **options: Any) -> tokenizers.Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    peer = tokenizers.Tokenizer(models.BPE({c: i for i, c in enumerate(letters)}, [], **options))
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = decoders.ByteLevel()
    peer.add_tokens(added)
    return peer


@pytest.mark.parametrize(
    "added",
    [
        {"<s>": ["rstrip"], "\n": ["lstrip", "rstrip"]},
        {"<s>": ["rstrip"], " x": ["lstrip"], "\n": []},
        {" ": ["lstrip", "rstrip"]},
        {" ": ["rstrip", "single_word"], "\n\n": ["rstrip"]},
    ],
    ids=str,
)
def test_white_space_that_two_special_tokens_strip(
    added: dict[str, list[str]], tmp_path: Path
) -> None:
    tokens = [
        AddedToken(text, normalized=False, **dict.fromkeys(flags, True))
        for text, flags in added.items()
    ]
    peer = over_letters(tokens)
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    draw = random.Random(4)  # noqa: S311 (not for secrets)
    for _ in range(500):
        text = "".join(draw.choices(["<s>", *" \n x"], k=8))
        expected = peer.encode(text)
        found = tok.encode(text, allowed_special="all", offsets=True)
        assert found == (expected.ids, expected.offsets), text


def test_white_space_of_a_token_before_holds_none_that_strip_before_them(tmp_path: Path) -> None:
    # Where tokenizers panics.
    tokens = [AddedToken("<s>", normalized=False, rstrip=True)]
    tokens.append(AddedToken("\n", normalized=False, lstrip=True))
    over_letters(tokens).save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    ids = [tok.vocabulary.added_tokens["<s>"], *tok.encode("x")]
    assert tok.encode("<s>\n\nx", offsets=True) == (ids, [(0, 5), (5, 6)])


@pytest.mark.parametrize("is_live", [False, True])
def test_whole_words_that_are_added_tokens(is_live: bool, tmp_path: Path) -> None:  # noqa: FBT001
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {text: i for i, text in enumerate(["<s>", *letters, "hello", "Ġyou"])}
    peer = over_letters([])
    peer.model = models.BPE(vocab, [], ignore_merges=True)
    peer.normalizer = normalizers.Lowercase()
    peer.add_special_tokens(["<s>"])
    single = AddedToken("Ġyou", normalized=False, single_word=True)
    peer.add_tokens([AddedToken("hello", normalized=False), single])
    peer.save(str(tmp_path / "tokenizer.json"))
    if is_live:
        tok = mw.Tokenizer.from_huggingface(peer)
    else:
        tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    samples = ["HELLO", "hello", "HELLO YOU", "hello you<s>HELLO", "Ġyou", "xĠyou you", "<S>"]
    check(tok, of_tokenizers(peer), samples)
    check_file(tok, tmp_path / "again.json", in_tokenizers, samples)


def test_added_tokens_become_no_whole_words(tmp_path: Path) -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    peer = over_letters([])
    vocab = {text: i for i, text in enumerate(["<s>", *letters])}
    peer.model = models.BPE(vocab, [], ignore_merges=True)
    peer.normalizer = normalizers.Lowercase()
    peer.add_special_tokens(["<s>"])
    peer.add_tokens([AddedToken("hello", normalized=False)])
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    check_file(tok, tmp_path / "again.json", in_tokenizers, ["HELLO", "hello", "<s>HELLO"])
    moved = replace(tok.vocabulary, added_tokens={"hello": 300})
    with pytest.raises(ConversionError, match="would be a word"):
        mw.Tokenizer(moved).save(tmp_path / "moved.json")


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])
def test_control_pieces_are_texts_in_sentencepiece(name: str) -> None:
    tok, peer = read(name), in_sentencepiece(vocabulary(name))
    names = list(tok.vocabulary.special_tokens)[:10] + list(tok.vocabulary.added_tokens)[:5]
    samples = list(with_specials(names))
    assert_equal(ordinary(tok), peer.encode, samples)
    check_decoding(tok, peer, samples)
