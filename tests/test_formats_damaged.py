"""Damaged files: whatever is wrong is said in one line that names the place."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mergewise import formats
from mergewise.errors import FormatError, InvalidMergesError
from mergewise.formats.letters import byte_letters
from mergewise.formats.protobuf import bytes_field, number_field
from mergewise.tokenizer import Tokenizer

Json = dict[str, Any]

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
CHAR_DOCUMENT: Json = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [{"id": 5, "content": "<s>", "special": True, **FLAGS}],
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFC"},
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    },
    "pre_tokenizer": None,
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A"}}],
        "pair": [{"Sequence": {"id": "A"}}, {"Sequence": {"id": "B"}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [5], "tokens": ["<s>"]}},
    },
    "decoder": {"type": "Fuse"},
    "model": {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": "",
        "end_of_word_suffix": "",
        "fuse_unk": True,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {"<unk>": 0, "a": 1, "b": 2, "▁": 3, "ab": 4},
        "merges": [["a", "b"]],
    },
}
STEPS: list[Json] = [
    {
        "type": "Sequence",
        "pretokenizers": [
            {
                "type": "Split",
                "pattern": {"Regex": "a+"},
                "behavior": "Isolated",
                "invert": False,
            }
        ],
    },
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Split", "pattern": {"String": "a"}, "behavior": "Removed", "invert": True},
]
BYTE_STEP = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
LETTERS = {letter: byte for byte, letter in enumerate(byte_letters())}
IDS: Json = {**LETTERS, "ab": 256, "abc": 257, "<|endoftext|>": 258}
TEKKEN: Json = {
    "config": {
        "pattern": "a+",
        "num_vocab_tokens": 257,
        "default_vocab_size": 260,
        "default_num_special_tokens": 3,
        "version": "v3",
    },
    "vocab": [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate([*(bytes([byte]) for byte in range(256)), b"ab"])
    ],
    "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}],
}
RANKS = b"".join(
    base64.b64encode(token) + b" %d\n" % rank
    for rank, token in enumerate([*(bytes([byte]) for byte in range(256)), b"ab"])
)
SETTINGS: Json = {"pat_str": "a+", "special_tokens": {"<s>": 300}}


def piece(text: bytes, kind: int = 1, score: bytes = b"\0\0\0\0") -> bytes:
    return bytes_field(1, bytes_field(1, text) + b"\x15" + score + number_field(3, kind))


SPECS = bytes_field(2, number_field(3, 2)) + bytes_field(3, number_field(4, 0))
MODEL = piece(b"<unk>", 2) + piece(b"a") + piece(b"b") + piece(b"ab") + SPECS
CODES = b"#version: 0.2\na b\nab c</w>\n"


def written(folder: Path, name: str, content: bytes | Json) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


FILES: dict[str, tuple[str, bytes | Json]] = {
    "tokenizer_json": ("x.json", CHAR_DOCUMENT),
    "gpt2": ("vocab.json", IDS),
    "tekken": ("tekken.json", TEKKEN),
    "tiktoken": ("x.tiktoken", RANKS),
    "sentencepiece": ("x.model", MODEL),
    "subword_nmt": ("codes", CODES),
}


def whole_file(folder: Path, format_name: str) -> Path:
    """A valid file, with the one that belongs to it."""
    if format_name == "tiktoken":
        written(folder, "x.tiktoken.json", SETTINGS)
    if format_name == "gpt2":
        written(folder, "merges.txt", b"#version: 0.2\na b\nab c\n")
    return written(folder, *FILES[format_name])


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value of a document."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def replaced(document: Json, path: tuple[str | int, ...], value: Any) -> tuple[Any, Any]:
    """The document with another value there, and the value that was there."""
    if not path:
        return value, document
    changed = copy.deepcopy(document)
    parent: Any = changed
    for step in path[:-1]:
        parent = parent[step]
    before, parent[path[-1]] = parent[path[-1]], value
    return changed, before


OTHER_VALUES: list[Any] = [None, 97, -1, 1.5, True, "x", [], {}, ["x"], {"x": "x"}, 2**32]
# What no reader looks at, and where the type of a value is free.
UNREAD = {"version", "type_id", "Sequence", "num_vocab_tokens", "token_str", "is_control"}


def check_every_type(document: Json, folder: Path, name: str, format_name: str) -> int:
    """Replace every value by one of each type; returns how many are refused."""
    refused = 0
    for path in places(document):
        if path[:1] == ("vocab",) and path[1:2] not in {(), (0,), (256,)}:
            continue  # 256 bytes are all alike
        for value in OTHER_VALUES:
            changed, before = replaced(document, path, value)
            file = folder / name
            file.write_text(json.dumps(changed))
            is_other = before is not None and value is not None and type(before) is not type(value)
            message = loads_or_says_why(file, format_name)
            refused += bool(message)
            if is_other and UNREAD.isdisjoint(path):
                assert message, f"{path}: {value!r} passed for {before!r}"
    return refused


def loads_or_says_why(path: Path, format_name: str) -> str:
    """The message of the error if there is one, which must be of the two kinds."""
    try:
        with warnings.catch_warnings():
            # Ids that tokenizers gives otherwise than the file says.
            warnings.simplefilter("ignore")
            formats.load(path, format=format_name)
    except (FormatError, InvalidMergesError) as error:
        message = str(error)
    else:
        return ""
    assert all(word in message for word in (str(path.parent), "found ", "expected "))
    return message


def test_every_type_in_tokenizer_json(tmp_path: Path) -> None:
    assert check_every_type(CHAR_DOCUMENT, tmp_path, "x.json", "tokenizer_json") > 300


@pytest.mark.parametrize("step", STEPS)
def test_every_type_in_a_pre_tokenizer(step: Json, tmp_path: Path) -> None:
    document = {**CHAR_DOCUMENT, "normalizer": None, "pre_tokenizer": step}
    for path in places(step):
        for value in OTHER_VALUES:
            changed, before = replaced(step, path, value)
            file = written(tmp_path, "x.json", {**document, "pre_tokenizer": changed})
            if value is None or type(before) is type(value):
                continue
            with pytest.raises(FormatError, match=r"pre_tokenizer.*found .*, expected "):
                formats.load(file)


def test_every_type_in_tekken(tmp_path: Path) -> None:
    assert check_every_type(TEKKEN, tmp_path, "x.json", "tekken") > 80


def test_every_type_in_gpt2_ids(tmp_path: Path) -> None:
    whole_file(tmp_path, "gpt2")
    for value in OTHER_VALUES:
        file = written(tmp_path, "vocab.json", {**IDS, "ab": value})
        with pytest.raises(FormatError, match=r"vocab.json: (ab|the ids): found"):
            formats.load(file)


def test_every_type_in_settings_of_ranks(tmp_path: Path) -> None:
    ranks = whole_file(tmp_path, "tiktoken")
    for path in places(SETTINGS):
        for value in OTHER_VALUES:
            changed, before = replaced(SETTINGS, path, value)
            written(tmp_path, "x.tiktoken.json", changed)
            if type(value) is type(before):
                continue
            with pytest.raises(FormatError, match=r"x.tiktoken.json: .*found .*, expected "):
                formats.load(ranks)


# Whatever the bytes.


@pytest.mark.parametrize("name", FILES)
def test_truncated_files(name: str, tmp_path: Path) -> None:
    path = whole_file(tmp_path, name)
    content = path.read_bytes()
    formats.load(path)
    for end in sorted({*range(0, len(content), max(len(content) // 200, 1)), len(content) - 1}):
        path.write_bytes(content[:end])
        loads_or_says_why(path, name)
        if path.suffix == ".json":
            with pytest.raises(FormatError):
                formats.load(path)


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_that_changed(name: str, data: st.DataObject, tmp_path: Path) -> None:
    path = whole_file(tmp_path, name)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    loads_or_says_why(path, name)


@pytest.mark.parametrize("name", FILES)
@given(content=st.binary(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_bytes(name: str, content: bytes, tmp_path: Path) -> None:
    path = whole_file(tmp_path, name)
    path.write_bytes(content)
    loads_or_says_why(path, name)
    with contextlib.suppress(FormatError):
        assert formats.detect(path) in formats.FORMATS


@pytest.mark.parametrize("name", FILES)
def test_files_of_another_format(name: str, tmp_path: Path) -> None:
    for other in FILES:
        path = whole_file(tmp_path, other)
        assert formats.detect(path) == other
        if other != name:
            with pytest.raises((FormatError, InvalidMergesError)):
                formats.load(path, format=name)


@pytest.mark.parametrize("content", [b"", b" \n", b"\0" * 100, b"hello\n", b"\xff\xfe"])
def test_files_of_no_format(content: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, "x", content)
    with pytest.raises(FormatError, match=r"found .*expected "):
        formats.load(path)
    for name in FILES:
        with pytest.raises(FormatError):
            formats.load(path, format=name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        formats.load(tmp_path / "x.json")
    with pytest.raises(FormatError, match="a directory of other files"):
        formats.load(tmp_path)


def test_brackets_without_end_are_not_read(tmp_path: Path) -> None:
    path = written(tmp_path, "x.json", b"[" * 100_000)
    with path.open("r+b") as file:
        file.truncate(10**9)
    tracemalloc.start()
    for format_name in (None, "tokenizer_json", "gpt2", "tekken"):
        with pytest.raises(FormatError):
            formats.load(path, format=format_name)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


@pytest.mark.parametrize("opening", [b'{"model":' * 100_000, b'{"model":' + b"[" * 100_000])
def test_deep_brackets(opening: bytes, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nested too deeply"):
        formats.load(written(tmp_path, "x.json", opening))


# Single faults, each with the place that the message names.


def in_model(**changes: Any) -> Json:
    return {**CHAR_DOCUMENT, "model": {**CHAR_DOCUMENT["model"], **changes}}


def with_vocab(**changes: Any) -> Json:
    return in_model(vocab={**CHAR_DOCUMENT["model"]["vocab"], **changes})


FAULTS: list[tuple[Json, str]] = [
    (in_model(merges=[["a", "c"]]), r"model.merges\[0\]: found the token 'c'"),
    (in_model(merges=[["b", "a"]]), r"model.merges\[0\]: found the token 'ba'"),
    (in_model(merges=["ab"]), r"model.merges\[0\]: found 'ab', expected two tokens"),
    (in_model(merges=["a b c"]), r"model.merges\[0\]: found 'a b c'"),
    (
        in_model(unk_token="?"),
        "model.unk_token: found '[?]', expected a token of model.vocab",
    ),
    (in_model(type="Unigram"), "model.type: found 'Unigram', expected \"BPE\""),
    (in_model(dropout=0.1), "model.dropout: found 0.1"),
    (with_vocab(b=1), "model.vocab: found the id 1 for both 'a' and 'b'"),
    (with_vocab(b=-1), "model.vocab.b: found -1, expected an id from 0 to 4294967295"),
    (with_vocab(b=2**32), "model.vocab.b: found 4294967296"),
]


@pytest.mark.parametrize(("document", "message"), FAULTS)
def test_faults_of_tokenizer_json(document: Json, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message):
        formats.load(written(tmp_path, "x.json", document))


def test_a_merge_of_what_no_merge_makes(tmp_path: Path) -> None:
    document = with_vocab(abb=6, abbb=7)
    document["model"]["merges"] = [["a", "b"], ["abb", "b"]]
    document["post_processor"] = None
    path = written(tmp_path, "x.json", document)
    with pytest.warns(UserWarning, match="has the id 7"):
        assert Tokenizer.from_file(path).merges == [(b"a", b"b")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"model": {"a": 1, "a": 2}}', "the key 'a' twice"),
        ('{"model": {"type": "BPE", "vocab": {"\\ud800": 1}, "merges": []}}', "whole characters"),
        ('{"model": ' + "9" * 5000 + "}", "found "),
        ('{"model": NaN}', "model: found nan, expected an object"),
        ('{"model": {"type": "BPE", "vocab": {}', "line 1, column 38: found no JSON"),
        ("{}", "model: found nothing"),
    ],
)
def test_faults_of_json(content: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, "x.json", content.encode())
    with pytest.raises(FormatError, match=message):
        formats.load(path, format="tokenizer_json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.replace(b"YWI= 256", b"YWI= 255"), "line 257: .*whose id stands"),
        (lambda data: data + b"YWI= 300\n", "line 258: .*whose token stands"),
        (lambda data: data + b"YW= 300\n", "line 258: found b'YW= 300', expected a token in base"),
        (lambda data: data + b"YWI=\n", "line 258"),
        (lambda data: data + b"YWJj -1\n", "line 258"),
        (lambda data: data + b"YWJj 1_0\n", "line 258"),
        (lambda data: data + b"YWJj 4294967296\n", "line 258"),
        (lambda data: data + b"YWJj 300 1\n", "line 258"),
        (lambda data: data + b"\n", "line 258"),
        (lambda data: data.replace(b"YQ== 97\n", b""), "no token for the byte 0x61"),
        (lambda data: data + b"YWJj 300\n", "special token '<s>' with the id 300"),
    ],
)
def test_faults_of_ranks(change: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    path = whole_file(tmp_path, "tiktoken")
    path.write_bytes(change(RANKS))
    with pytest.raises(FormatError, match=message):
        formats.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (MODEL[:-1], "offset .*found "),
        (b"\x0a\xff\xff\xff\xff\x0f", "a field of 4294967295 bytes where 0 are left"),
        (b"\x0a" + b"\xff" * 11, "a number of more than 10 bytes"),
        (b"\x0b\x00", "field 1 of wire type 3"),
        (b"\x08\x01", "field 1 of wire type 0"),
        (bytes_field(1, bytes_field(2, b"x")), "field 2 of wire type 2"),
        (piece(b"\xff") + SPECS, "UTF-8"),
        (piece(b"a") + piece(b"a") + SPECS, r"pieces\[1\] at offset 14: found 'a'"),
        (piece(b"") + SPECS, r"pieces\[0\]"),
        (piece(b"a", 9) + SPECS, "the type 9"),
        (piece(b"a", 1, b"\0\0\xc0\x7f") + SPECS, "the score nan"),
        (piece(b"a") + SPECS, "0 unknown pieces"),
        (piece(b"a", 2) + piece(b"b", 2) + SPECS, "2 unknown pieces"),
        (piece(b"a", 2), "trainer_spec.model_type: found a model of the kind unigram"),
        (piece(b"a", 2) + bytes_field(2, bytes_field(3, b"x")), "model_type: found wire type 2"),
        (MODEL + bytes_field(2, number_field(35, 1)), "no piece <0x00>"),
        (
            MODEL + bytes_field(3, bytes_field(2, b"map")),
            "normalizer_spec.precompiled_charsmap: .* damaged: it is shorter than 4 bytes",
        ),
        (
            MODEL + bytes_field(5, bytes_field(2, b"\x08\0\0\0map")),
            "denormalizer_spec.precompiled_charsmap: .* damaged: its trie is longer",
        ),
        (MODEL + bytes_field(3, bytes_field(4, b"1")), "remove_extra_whitespaces: found wire type"),
    ],
)
def test_faults_of_models(content: bytes, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, "x.model", content)
    with pytest.raises(FormatError, match=message):
        formats.load(path, format="sentencepiece")


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (b"a b c\n", "line 1: found 'a b c'"),
        (b"#version: 0.2\na b\n\nab c\n", "line 3: found ''"),
        (b"a x\n", "line 1: found the token 'ax', which has no id"),
        (b"a b\na \xff\n", "offset 6: found the byte 0xff"),
        (b"a b\na b\n", r"merges\[1\]: found the merge of b'a' and b'b' again"),
    ],
)
def test_faults_of_gpt2_merges(merges: bytes, message: str, tmp_path: Path) -> None:
    path = whole_file(tmp_path, "gpt2")
    written(tmp_path, "merges.txt", merges)
    with pytest.raises(FormatError, match=f"merges.txt: {message}"):
        formats.load(path)


def test_one_gpt2_file_alone(tmp_path: Path) -> None:
    path = whole_file(tmp_path, "gpt2")
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(FormatError, match=r"expected merges.txt beside it"):
        formats.load(path)
    written(tmp_path, "merges.txt", b"ab c\n")
    with pytest.raises(InvalidMergesError, match="found the token b'ab'"):
        formats.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"#version: 0.3\na b\n", "line 1: found '#version: 0.3', expected version 0.1 or 0.2"),
        (b"#version: 0.2\na\n", "line 2: found 'a', expected two tokens"),
        (b"#version: 0.2\na b\nab\xff c\n", "offset 20: found the byte 0xff"),
        (b"#version: 0.2\na b\na b\n", r"merges\[1\]: .* again"),
        (b"#version: 0.2\nxy c\n", r"merges\[0\]: found the token b'xy'"),
    ],
)
def test_faults_of_codes(content: bytes, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, "codes", content)
    with pytest.raises((FormatError, InvalidMergesError), match=message):
        formats.load(path, format="subword_nmt")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("vocab", 5, "rank"), 6, r"vocab\[5\].rank: found 6, expected 5"),
        (("vocab", 5, "token_bytes"), "BA==", r"vocab\[5\].token_bytes: found 'BA=='"),
        (("vocab", 5, "token_bytes"), "B", r"vocab\[5\].token_bytes: found 'B'"),
        (("config", "default_vocab_size"), 10**6, "config.default_vocab_size: found 1000000"),
        (("config", "default_vocab_size"), 200, "no token for the byte 0xc5"),
        (("config", "default_num_special_tokens"), 0, "at least the 1 special tokens|vocab_size"),
        (("special_tokens", 0, "rank"), 2, r"special_tokens\[0\].rank: found 2, expected 0"),
        (("special_tokens", 0, "token_str"), "<SPECIAL_1>", "special_tokens: .*all different"),
    ],
)
def test_faults_of_tekken(
    path: tuple[str | int, ...], value: Any, message: str, tmp_path: Path
) -> None:
    document, _ = replaced(TEKKEN, path, value)
    with pytest.raises(FormatError, match=message):
        formats.load(written(tmp_path, "tekken.json", document))
