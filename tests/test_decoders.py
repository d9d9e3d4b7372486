"""Decoding as the library of each file does: tokenizers' decoders, and SentencePiece."""

from __future__ import annotations

import io
import itertools
import json
import random
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Peer
from vocabularies import vocabulary

import mergewise as mw
from mergewise import _core
from mergewise.errors import InputError

Decode = Callable[[list[int]], str]
# Strings that the steps treat in ways of their own, and some that they should not.
STRINGS = [
    "",
    "a",
    "b",
    "ab",
    "the",
    "é",
    "Ã©",
    "Ã",
    "©",
    "Ġthe",
    "Ġ",
    "Ċ",
    "▁",
    "▁▁",
    "▁the",
    "a▁b",
    " ",
    "  ",
    " a",
    "a ",
    " n't",
    "n't",
    "'s",
    ".",
    " .",
    "?",
    "do not",
    "##",
    "##ing",
    "a##",
    "ing</w>",
    "</w>",
    "a</w>b",
    "<0x41>",
    "<0xC3>",
    "<0xA9>",
    "<0xa9>",
    "<0xE5>",
    "<0x8F>",
    "<0xAB>",
    "<0xF0>",
    "<0x9F>",
    "<0xFF>",
    "<0x+F>",
    "<0xG1>",
    "<pad>",
    "|",
    "H",
    "HH",
    "aH",
    "Ha",
    "\U0001f600",
    "￿",
    "漢字",
    "ĠÃ",
    "<s>",
    "[UNK]",
]
MARKS_BACK = [
    decoders.Replace("▁", " "),
    decoders.ByteFallback(),
    decoders.Fuse(),
    decoders.Strip(" ", 1, 0),
]
DECODERS: dict[str, Any] = {
    "nothing": None,
    "ByteLevel": decoders.ByteLevel(),
    "ByteLevel, other options": decoders.ByteLevel(),
    "Replace": decoders.Replace("▁", " "),
    "Replace with nothing": decoders.Replace("th", ""),
    "Replace of nothing": decoders.Replace("", "-"),
    "Replace by a regular expression": decoders.Replace(Regex(r"[aeiou]+"), "_"),
    "Replace by one that matches nothing": decoders.Replace(Regex("x*"), "-"),
    "ByteFallback": decoders.ByteFallback(),
    "Fuse": decoders.Fuse(),
    "Strip": decoders.Strip("H", 1, 0),
    "Strip, both ends": decoders.Strip(" ", 2, 1),
    "Strip, nothing": decoders.Strip(" ", 0, 0),
    "Metaspace": decoders.Metaspace(),
    "Metaspace never": decoders.Metaspace(prepend_scheme="never"),
    "Metaspace first": decoders.Metaspace(prepend_scheme="first", split=False),
    "Metaspace of another mark": decoders.Metaspace(replacement="H"),
    "WordPiece": decoders.WordPiece(),
    "WordPiece, as it is": decoders.WordPiece(prefix="##", cleanup=False),
    "WordPiece without a prefix": decoders.WordPiece(prefix="", cleanup=True),
    "BPEDecoder": decoders.BPEDecoder(),
    "BPEDecoder of another suffix": decoders.BPEDecoder(suffix="H"),
    "CTC": decoders.CTC(),
    "CTC, as it is": decoders.CTC(cleanup=False),
    "CTC of other tokens": decoders.CTC(pad_token="a", word_delimiter_token="H"),
    "Sequence of nothing": decoders.Sequence([]),
    "Llama": decoders.Sequence(MARKS_BACK),
    "Gemma": decoders.Sequence(MARKS_BACK[:3]),
    "InternLM, without Fuse": decoders.Sequence(MARKS_BACK[:2]),
    "Strip before Fuse": decoders.Sequence([decoders.Strip(" ", 1, 1), decoders.Fuse()]),
    "Strip of both ends of the text": decoders.Sequence(
        [decoders.Fuse(), decoders.Strip(" ", 1, 1)]
    ),
    "Strip of many": decoders.Sequence([*MARKS_BACK[:3], decoders.Strip(" ", 3, 0)]),
    "Strip twice": decoders.Sequence([*MARKS_BACK, decoders.Strip("t", 1, 0)]),
    "ByteLevel and Strip": decoders.Sequence(
        [decoders.ByteLevel(), decoders.Strip(" ", 1, 0), decoders.Fuse()]
    ),
    "ByteLevel and Replace": decoders.Sequence(
        [decoders.ByteLevel(), decoders.Replace("</w>", " ")]
    ),
    "Replace and ByteLevel": decoders.Sequence(
        [decoders.Replace("</w>", "Ġ"), decoders.ByteLevel()]
    ),
    "CTC and Metaspace": decoders.Sequence([decoders.CTC(), decoders.Metaspace()]),
    "WordPiece behind BPEDecoder": decoders.Sequence(
        [decoders.BPEDecoder(), decoders.WordPiece(cleanup=False)]
    ),
    "bytes that later steps see": decoders.Sequence(
        [decoders.ByteFallback(), decoders.WordPiece(), decoders.Sequence([decoders.Fuse()])]
    ),
    "ByteFallback of one text": decoders.Sequence([decoders.Fuse(), decoders.ByteFallback()]),
}


def draws(name: str) -> random.Random:
    """Random choices, the same in each run."""
    return random.Random(name)  # noqa: S311 (not for secrets)


@cache
def lines() -> list[str]:
    """Some text."""
    text = resources.files("mergewise").joinpath("data/opticks.txt").read_text("utf-8")
    return text.splitlines()[:400]


def steps_of(decoder: Any) -> list[Any]:
    """The steps of a decoder of tokenizers, in one list."""
    state = json.loads(decoder.__getstate__())
    pending, steps = [state], []
    while pending:
        step = pending.pop(0)
        if step["type"] == "Sequence":
            pending = [*step["decoders"], *pending]
        else:
            steps.append(step)
    return steps


def panics(error: BaseException) -> bool:
    """Whether a step of tokenizers fails on tokens that are too short for it."""
    return type(error).__name__ == "PanicException"


@pytest.mark.parametrize("name", [name for name in DECODERS if DECODERS[name]])
def test_steps(name: str) -> None:
    decoder, rng = DECODERS[name], draws(name)
    steps = json.dumps(steps_of(decoder))
    num_compared = 0
    for _ in range(1000):
        tokens = rng.choices(STRINGS, k=rng.randrange(1, 9))
        try:
            expected = decoder.decode(tokens)
        except BaseException as error:
            if not panics(error):
                raise
            _core.decode_tokens(steps, tokens)
            continue
        assert _core.decode_tokens(steps, tokens) == expected, tokens
        num_compared += 1
    assert num_compared > 100


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"type": "Shout"}, "Shout.: no step of this name"),
        ({"type": "WordPiece", "prefix": "##"}, "missing field `cleanup`"),
        ({"type": "Strip", "content": "ab", "start": 0, "stop": 0}, "expected a character"),
        ({"type": "Replace", "pattern": {"Regex": "("}, "content": ""}, "without its"),
        ({"no": "type"}, "without a type"),
    ],
)
def test_a_step_that_is_none(step: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        _core.decode_tokens(json.dumps([step]), [])


def plain_file(path: Path, decoder: Any, strings: list[str]) -> Peer:
    """A tokenizer.json with these tokens and this decoder."""
    vocab = {string: token_id for token_id, string in enumerate(strings)}
    peer = Peer(models.BPE(vocab=vocab, merges=[], unk_token="[UNK]", byte_fallback=True))
    if decoder is not None:
        peer.decoder = decoder
    peer.add_special_tokens(["<s>", "</s>", "▁x▁", "Ã©"])
    peer.add_tokens(["▁▁▁", "<0x42>", "a b", AddedToken("é é", normalized=False)])
    peer.save(str(path))
    return Peer.from_file(str(path))


def check_decoding(
    tok: mw.Tokenizer, decode: Decode, ids: list[int], rng: random.Random, *, skips: bool = False
) -> None:
    """The text of ids is that of the peer, at once and as they come."""
    expected = decode(ids)
    assert tok.decode(ids, skip_special_tokens=skips) == expected, ids
    assert tok.decode_batch([ids, ids], skip_special_tokens=skips) == [expected, expected]
    stream = tok.stream_decoder(skip_special_tokens=skips)
    parts = []
    rest = ids
    while rest:
        size = rng.randrange(1, 4)
        parts.append(stream.add(*rest[:size]))
        rest = rest[size:]
    parts.append(stream.finish())
    assert "".join(parts) == expected, (ids, parts)
    raw = tok.stream_decoder(skip_special_tokens=skips, errors="surrogateescape")
    text = "".join([*(raw.add(token_id) for token_id in ids), raw.finish()])
    in_bytes = tok.decode_bytes(ids, skip_special_tokens=skips)
    assert text.encode(errors="surrogateescape") == in_bytes
    try:
        assert in_bytes.decode() == expected or "�" in expected
    except UnicodeDecodeError:
        assert "�" in expected


def check_file(tok: mw.Tokenizer, peer: Peer, rng: random.Random, num_lists: int) -> None:
    """Random ids of a tokenizer.json become the same text as with tokenizers."""
    ids = sorted(peer.get_vocab().values())
    num_compared = 0
    for _ in range(num_lists):
        chosen = rng.choices(ids, k=rng.randrange(9))
        for skips in (False, True):

            def decode(ids: list[int], *, skips: bool = skips) -> str:
                return str(peer.decode(ids, skip_special_tokens=skips))

            try:
                decode(chosen)
            except BaseException as error:
                if not panics(error):
                    raise
                tok.decode(chosen)
                continue
            check_decoding(tok, decode, chosen, rng, skips=skips)
            num_compared += 1
    assert num_compared > num_lists // 4


@pytest.mark.parametrize("name", DECODERS)
def test_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    peer = plain_file(path, DECODERS[name], STRINGS)
    tok = mw.Tokenizer.from_file(path)
    check_file(tok, peer, draws(name), 150)
    tok.save(tmp_path / "copy.json", format="tokenizer_json", lossy=True)
    copy = mw.Tokenizer.from_file(tmp_path / "copy.json", format="tokenizer_json")
    again = Peer.from_file(str(tmp_path / "copy.json"))
    check_file(copy, again, draws(name), 20)
    assert copy.vocabulary.decoder == tok.vocabulary.decoder


def trained_peer(**parts: Any) -> Peer:
    """A tokenizer of tokenizers' own trainer."""
    options = parts.pop("options", {})
    peer = Peer(models.BPE(**parts.pop("model", {})))
    for name, part in parts.items():
        setattr(peer, name, part)
    trainer = trainers.BpeTrainer(
        vocab_size=400, show_progress=False, special_tokens=["[UNK]", "<s>"], **options
    )
    peer.train_from_iterator(lines(), trainer)
    return peer


LETTERS = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
UNKNOWN = {"unk_token": "[UNK]"}
TRAINED: dict[str, Callable[[], Peer]] = {
    "ByteLevel": lambda: trained_peer(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoder=decoders.ByteLevel(),
        options=LETTERS,
    ),
    "ByteLevel without a decoder": lambda: trained_peer(
        pre_tokenizer=pre_tokenizers.ByteLevel(), options=LETTERS
    ),
    "Metaspace": lambda: trained_peer(
        pre_tokenizer=pre_tokenizers.Metaspace(), decoder=decoders.Metaspace(), model=UNKNOWN
    ),
    "marks": lambda: trained_peer(
        normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        decoder=decoders.Sequence(MARKS_BACK),
        model=UNKNOWN,
    ),
    "ends of words": lambda: trained_peer(
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.BPEDecoder(),
        model={**UNKNOWN, "end_of_word_suffix": "</w>"},
        options={"end_of_word_suffix": "</w>"},
    ),
    "starts of words": lambda: trained_peer(
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.WordPiece(),
        model={**UNKNOWN, "continuing_subword_prefix": "##"},
        options={"continuing_subword_prefix": "##"},
    ),
}


@pytest.mark.parametrize("name", TRAINED)
def test_trained_files(name: str, tmp_path: Path) -> None:
    peer = TRAINED[name]()
    peer.add_tokens(["▁▁", "Ġword", "é", "Ã", " ."])
    path = tmp_path / "tokenizer.json"
    peer.save(str(path))
    tok = mw.Tokenizer.from_file(path)
    check_file(tok, peer, draws(name), 200)


def test_plain_bytes_have_no_steps(tmp_path: Path) -> None:
    """What every ByteLevel file has is not decoded step by step."""
    path = tmp_path / "tokenizer.json"
    TRAINED["ByteLevel"]().save(str(path))
    assert mw.Tokenizer.from_file(path).vocabulary.decoder is None


@cache
def model(**options: Any) -> bytes:
    """A model of SentencePiece's own trainer, over the characters of the text alone."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines()),
        model_writer=written,
        model_type="bpe",
        vocab_size=600,
        minloglevel=9,
        normalization_rule_name="identity",
        user_defined_symbols=["▁▁", "<x>", "<y>▁"],
        control_symbols=["<c>"],
        **options,
    )
    return written.getvalue()


FLAGS = ("byte_fallback", "add_dummy_prefix", "remove_extra_whitespaces")


MODELS: list[dict[str, Any]] = [
    *(dict(zip(FLAGS, flags, strict=True)) for flags in itertools.product([False, True], repeat=3)),
    {"treat_whitespace_as_suffix": True},
    {"unk_surface": "?", "remove_extra_whitespaces": False},
    {"unk_surface": "", "remove_extra_whitespaces": False},
]


def ids_of_pieces(peer: sentencepiece.SentencePieceProcessor, rng: random.Random) -> list[int]:
    """Random ids, many of them such that SentencePiece treats in a way of its own."""
    marks = [peer.piece_to_id(piece) for piece in ("▁", "▁▁", "<y>▁", "<c>", "<unk>", "<s>")]
    any_id = range(peer.get_piece_size())
    known = [rng.choice(any_id), rng.choice(range(300))]
    return [rng.choice([*known, rng.choice(marks)]) for _ in range(rng.randrange(9))]


def step_of_model(peer: sentencepiece.SentencePieceProcessor, options: dict[str, Any]) -> str:
    """The step that decodes what a model makes."""
    ids = range(peer.get_piece_size())
    return json.dumps(
        [
            {
                "type": "SentencePiece",
                "unk_piece": "<unk>",
                "unk_surface": options.get("unk_surface", " ⁇ "),
                "control": [peer.id_to_piece(i) for i in ids if peer.is_control(i)],
                "byte_fallback": False,
                "add_dummy_prefix": True,
                "remove_extra_whitespaces": True,
                **{name: options[name] for name in FLAGS if name in options},
            }
        ]
    )


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_pieces(options: dict[str, Any]) -> None:
    peer = sentencepiece.SentencePieceProcessor(model_proto=model(**options))
    step, rng = step_of_model(peer, options), draws(str(options))
    for _ in range(1000):
        ids = ids_of_pieces(peer, rng)
        pieces = [peer.id_to_piece(token_id) for token_id in ids]
        assert _core.decode_tokens(step, pieces) == peer.decode(ids), pieces


@pytest.mark.parametrize(
    "options",
    [options for options in MODELS if not options.get(FLAGS[2], True)],
    ids=str,
)
def test_models(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model(**options))
    peer, tok = sentencepiece.SentencePieceProcessor(str(path)), mw.Tokenizer.from_file(path)
    rng = draws(str(options))
    for _ in range(400):
        check_decoding(tok, peer.decode, ids_of_pieces(peer, rng), rng)
    control = [peer.piece_to_id(piece) for piece in ("<s>", "</s>", "<c>", "<unk>")]
    letter = peer.piece_to_id("e")
    assert tok.decode([*control, letter, *control], skip_special_tokens=True) == "e"


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])
def test_real_models(name: str) -> None:
    path = vocabulary(name)
    peer, tok = sentencepiece.SentencePieceProcessor(str(path)), mw.Tokenizer.from_file(path)
    rng = draws(name)
    for _ in range(200):
        check_decoding(tok, peer.decode, ids_of_pieces(peer, rng), rng)
    for line in lines()[:50]:
        check_decoding(tok, peer.decode, peer.encode(line), rng)


def test_no_half_character_and_no_delay() -> None:
    """A stream gives out what is certain at once."""
    tok = mw.train(mw.count(["é"]), num_merges=0)
    stream = tok.stream_decoder()
    assert [stream.add(byte) for byte in "aé漢".encode()] == ["a", "", "é", "", "", "漢"]
    assert stream.add(0xE6) + stream.finish() == "�"
