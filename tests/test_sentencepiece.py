"""Models of SentencePiece, trained here with many settings: ids and texts as in its own library."""

from __future__ import annotations

import io
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from peers import reduced
from sample_texts import CODE, LANGUAGES, OPTICKS, random_text, texts_around, varied_texts

import mergewise as mw
from mergewise.errors import ConversionError
from mergewise.formats.protobuf import bytes_field, fields, number_field
from mergewise.formats.reading import Reading
from mergewise.formats.sentencepiece_writer import Kind, written_piece

Edit = Callable[[bytes], bytes]

CORPUS = [*OPTICKS[:60_000].splitlines(), *LANGUAGES.splitlines() * 3, *CODE.splitlines() * 3]


def trained(rules: Path | None = None, **options: Any) -> bytes:
    """A model; `rules` is a map of characters in the library's own format."""
    model = io.BytesIO()
    if rules is not None:
        rules.write_text("41\t61 61\n62 63\t42\nFB01\t66 69\n78\t\n7A 7A\t20\n79\t20 79 20\n")
        options = {"normalization_rule_tsv": str(rules), **options}
    settings = {"model_type": "bpe", "vocab_size": 1200, "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, **settings
    )
    return model.getvalue()


def with_kinds(change: Callable[[int, str, int], int]) -> Edit:
    """An edit of a model: each piece has the kind that `change` makes of its id, text and kind."""

    def edit(model: bytes) -> bytes:
        reading = Reading(path=Path())
        edited = []
        num_pieces = 0
        for message in fields(reading, model):
            content = model[message.start : message.end]
            if message.number == 1:
                parts = {part.number: part for part in fields(reading, model, message)}
                text = model[parts[1].start : parts[1].end].decode()
                kind = parts[3].value if 3 in parts else Kind.NORMAL
                # Of a field that is there twice the last one counts.
                content += number_field(3, change(num_pieces, text, kind))
                num_pieces += 1
            edited.append(bytes_field(message.number, content))
        return b"".join(edited)

    return edit


def some_unused(token_id: int, text: str, kind: int) -> int:
    """Every third piece of more than one character is unused."""
    is_long = kind == Kind.NORMAL and len(text) > 1
    return Kind.UNUSED if is_long and token_id % 3 == 0 else kind


def with_settings(number: int, *settings: bytes) -> Edit:
    """An edit of a model: these fields are added to one of its messages."""
    return lambda model: model + bytes_field(number, b"".join(settings))


def with_denormalizer(model: bytes) -> bytes:
    """The map of characters that encoding uses, for decoding, too."""
    reading = Reading(path=Path())
    messages = [message for message in fields(reading, model) if message.number == 3]
    settings = fields(reading, model, messages[-1])
    charsmap = next(model[part.start : part.end] for part in settings if part.number == 2)
    flags = number_field(3, 0) + number_field(4, 1) + number_field(5, 0)
    return model + bytes_field(5, bytes_field(2, charsmap) + flags)


PLAIN = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
SYMBOLS = ["▁▁", "▁▁▁▁", "x y", "low▁er", "ﬁ", "<b>", "<b><c", "b>", " \t", "A  B", "é"]
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "plain": PLAIN,
    "plain, bytes": {**PLAIN, "byte_fallback": True},
    "identity": {"normalization_rule_name": "identity"},
    "nfkc": {"normalization_rule_name": "nfkc", "remove_extra_whitespaces": False},
    "nfkc_cf": {"normalization_rule_name": "nfkc_cf"},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf", "byte_fallback": True},
    "keeps spaces": {"remove_extra_whitespaces": False, "byte_fallback": True},
    "bytes": {"byte_fallback": True},
    "symbols": {"user_defined_symbols": SYMBOLS},
    "symbols, plain": {**PLAIN, "user_defined_symbols": SYMBOLS, "byte_fallback": True},
    "symbols, no marks": {**PLAIN, "user_defined_symbols": ["<b>", "<b><c", "b>", "light"]},
    "symbols, suffix": {"user_defined_symbols": SYMBOLS, "treat_whitespace_as_suffix": True},
    "control": {"control_symbols": ["<c>", "[SEP]", "<a b>", "light"], "pad_id": 3},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix, keeps spaces": {**PLAIN, "treat_whitespace_as_suffix": True},
    "no prefix": {"add_dummy_prefix": False},
    "no prefix, keeps spaces": {**PLAIN, "add_dummy_prefix": False},
    "unknown surface": {"unk_surface": "<?>", "unk_piece": "[UNK]", "character_coverage": 0.98},
    "no unknown surface": {"unk_surface": "", "character_coverage": 0.98},
    "covers less": {**PLAIN, "character_coverage": 0.98},
    "splits less": {
        "split_by_whitespace": False,
        "split_by_unicode_script": False,
        "split_by_number": False,
        "max_sentencepiece_length": 30,
    },
    "splits more": {"split_digits": True, "allow_whitespace_only_pieces": True, **PLAIN},
    "other ids": {
        "bos_id": 5,
        "eos_id": 0,
        "unk_id": 2,
        "pad_id": 1,
        "byte_fallback": True,
        "bos_piece": "[B]",
        "eos_piece": "[E]",
        "pad_piece": "[P]",
        "unk_piece": "[U]",
        "control_symbols": ["[3]", "[4]"],
    },
}
EDITS: dict[str, tuple[dict[str, Any], Edit]] = {
    "unused": ({}, with_kinds(some_unused)),
    "unused, plain": ({**PLAIN, "byte_fallback": True}, with_kinds(some_unused)),
    "unused, symbols": ({"user_defined_symbols": SYMBOLS}, with_kinds(some_unused)),
    "not escaped": ({}, with_settings(3, number_field(5, 0))),
    "not escaped, symbols": (
        {"user_defined_symbols": SYMBOLS},
        with_settings(3, number_field(5, 0)),
    ),
    "equal scores": (
        PLAIN,
        lambda model: b"".join(
            bytes_field(1, equal) if equal else bytes_field(message.number, content)
            for message in fields(Reading(path=Path()), model)
            for content in [model[message.start : message.end]]
            for equal in [content + b"\x15\0\0\x80\xbf" if message.number == 1 else b""]
        ),
    ),
    "denormalizer": ({"normalization_rule_name": "nfkc_cf"}, with_denormalizer),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The model of each name, trained when it is asked for first."""
    folder = tmp_path_factory.mktemp("models")

    def model(name: str) -> Path:
        path = folder / f"{name}.model"
        if path.exists():
            return path
        if name in EDITS:
            options, edit = EDITS[name]
            path.write_bytes(edit(trained(**options)))
        elif name == "own map":
            path.write_bytes(trained(folder / "rules.tsv"))
        else:
            path.write_bytes(trained(**OPTIONS[name]))
        return path

    return model


def texts_for(pieces: list[str]) -> list[str]:
    """Texts of all kinds, some of them with these special pieces."""
    draw = random.Random(20)  # noqa: S311 (not for secrets)
    texts = [*varied_texts()[::9], "\u2581", " \u2581 a\u2581", "AxzzbcﬁyyA", "zz a zz", "é\u0301"]
    texts += [around for piece in pieces for around in texts_around(piece)]
    for _ in range(150):
        parts = [draw.choice([*pieces, "  ", "\u2581", random_text(draw, 2)]) for _ in range(5)]
        texts.append("".join(parts))
    return texts


def assert_alike(path: Path, tok: mw.Tokenizer) -> None:
    """The same ids for every text, and the same text for ids of all kinds."""
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    size = peer.get_piece_size()
    pieces = [i for i in range(size) if peer.is_control(i) or peer.get_score(i) == 0]
    special = [peer.id_to_piece(i) for i in pieces if not peer.is_byte(i)][:25]

    def encode(text: str) -> list[int]:
        return tok.encode(text, disallowed_special=())

    def differ(text: str) -> bool:
        return bool(encode(text) != peer.encode(text))

    for text in texts_for(special):
        if differ(text):
            smallest = reduced(differ, text)
            assert encode(smallest) == peer.encode(smallest), ascii(smallest)
        ids = peer.encode(text)
        assert tok.decode(ids) == peer.decode(ids), ascii(text)
        assert tok.count_tokens(text, disallowed_special=()) == len(ids)
        placed, places = tok.encode(text, disallowed_special=(), offsets=True)
        assert placed == ids
        assert all(0 <= start <= end <= len(text) for start, end in places)
    draw = random.Random(21)  # noqa: S311 (not for secrets)
    for _ in range(200):
        ids = draw.choices(range(size), k=draw.randrange(6)) + draw.choices(pieces, k=2)
        draw.shuffle(ids)
        assert tok.decode(ids) == peer.decode(ids), ids
    for token_id in range(size):
        assert tok.decode([token_id]) == peer.decode([token_id]), token_id
    roles = {"bos": peer.bos_id(), "eos": peer.eos_id(), "pad": peer.pad_id(), "unk": peer.unk_id()}
    assert tok.vocabulary.roles == {role: i for role, i in roles.items() if i >= 0}


@pytest.mark.parametrize("name", [*OPTIONS, *EDITS, "own map"])
def test_models_behave_as_in_their_library(
    name: str, models: Callable[[str], Path], tmp_path: Path
) -> None:
    tok = mw.Tokenizer.from_file(models(name))
    assert_alike(models(name), tok)
    # Written and read again, there and here.
    tok.save(tmp_path / "x.model")
    back = mw.Tokenizer.from_file(tmp_path / "x.model")
    assert back == tok
    assert back.vocabulary.roles == tok.vocabulary.roles
    assert_alike(tmp_path / "x.model", tok)
    assert pickle.loads(pickle.dumps(tok)) == tok  # noqa: S301


def test_special_tokens_end_texts(models: Callable[[str], Path]) -> None:
    """What is between special tokens that are allowed is encoded as if it were the whole text."""
    for name in ("default", "plain", "nmt_nfkc_cf", "symbols", "symbols, no marks", "unused"):
        tok = mw.Tokenizer.from_file(models(name))
        peer = sentencepiece.SentencePieceProcessor(model_file=str(models(name)))
        for parts in (["", ""], ["a", "b"], [" The  light ", "<b>"], ["<b>", "", "x ▁▁<b>"]):
            expected = peer.encode(parts[0])
            for part in parts[1:]:
                expected += [peer.bos_id(), *peer.encode(part)]
            assert tok.encode("<s>".join(parts), allowed_special="all") == expected


def test_new_special_tokens(models: Callable[[str], Path]) -> None:
    tok = mw.Tokenizer.from_file(models("nmt_nfkc_cf")).with_special_tokens(["<NEW>"])
    (new,) = {tok.special_tokens["<NEW>"]}
    ids = tok.encode("Light<NEW> Light", allowed_special={"<NEW>"})
    assert ids == [*tok.encode("light"), new, *tok.encode("light")]


@pytest.mark.parametrize("name", ["default", "nmt_nfkc_cf", "symbols", "not escaped", "suffix"])
def test_bytes_that_are_not_utf8(name: str, models: Callable[[str], Path]) -> None:
    tok = mw.Tokenizer.from_file(models(name))
    peer = sentencepiece.SentencePieceProcessor(model_file=str(models(name)))
    for text in (b"\xff", b"a\xc3", b" \xe2\x96 b\xed\xa0\x80", "é�".encode()[1:], b"\0a\0"):
        assert tok.encode(text) == peer.encode(text), text


def test_special_tokens_in_tokenizer_json(models: Callable[[str], Path], tmp_path: Path) -> None:
    tok = mw.Tokenizer.from_file(models("plain, bytes"))
    tok.save(tmp_path / "tokenizer.json")
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in [*texts_around("<s>"), *texts_around("</s>"), "a<s></s> b<s>c", "", "<s> <s>"]:
        assert tok.encode(text, allowed_special="all") == peer.encode(text).ids, text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("default", "SentencePiece"),
        ("suffix, keeps spaces", "SentencePiece"),
        ("symbols, plain", "SentencePiece"),
        ("unused, plain", "taken apart again"),
    ],
)
def test_what_other_formats_cannot_hold(
    name: str, reason: str, models: Callable[[str], Path], tmp_path: Path
) -> None:
    tok = mw.Tokenizer.from_file(models(name))
    for file in ("tokenizer.json", "x.tiktoken", "x.codes"):
        with pytest.raises(ConversionError, match=reason):
            tok.save(tmp_path / file)


def test_the_nearest_tokenizer_json(models: Callable[[str], Path], tmp_path: Path) -> None:
    """With lossy=True; simple texts are encoded and decoded alike."""
    tok = mw.Tokenizer.from_file(models("default"))
    tok.save(tmp_path / "tokenizer.json", lossy=True)
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (" The  light is bent ", "ﬁ ＡＢＣ № 5", "", "Der Zug fährt über die Brücke"):
        ids = tok.encode(text)
        assert peer.encode(text).ids == ids
        assert peer.decode(ids) == tok.decode(ids)


@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("drops_spaces", [False, True])
def test_unused_pieces_of_random_models(
    *, byte_fallback: bool, drops_spaces: bool, tmp_path: Path
) -> None:
    """Scores without an order, many of them equal, and many ways to make each piece."""
    draw = random.Random(5)  # noqa: S311 (not for secrets)
    for _ in range(10):
        strings = {
            *"ab▁é",
            *("".join(draw.choices("abc▁é", k=draw.randrange(2, 7))) for _ in range(40)),
        }
        model = bytes_field(1, written_piece("<unk>", 0.0, Kind.UNKNOWN))
        for byte in range(256 if byte_fallback else 0):
            model += bytes_field(1, written_piece(f"<0x{byte:02X}>", 0.0, Kind.BYTE))
        for text in sorted(strings):
            kind = draw.choice([Kind.UNUSED, Kind.NORMAL])
            model += bytes_field(1, written_piece(text, -float(draw.randrange(15)), kind))
        model += bytes_field(2, number_field(3, 2) + number_field(35, byte_fallback))
        model += bytes_field(3, number_field(4, drops_spaces))
        path = tmp_path / "x.model"
        path.write_bytes(model)
        tok = mw.Tokenizer.from_file(path)
        peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
        for _ in range(100):
            text = "".join(draw.choices("aaabbbcxé ", k=draw.randrange(40)))
            ids = peer.encode(text)
            assert tok.encode(text) == ids, text
            assert tok.decode(ids) == peer.decode(ids), text
