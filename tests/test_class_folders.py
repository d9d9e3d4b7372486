"""Folders with GPT-2's two files that name a class of transformers: read as that class does."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import pre_tokenizers

import mergewise as mw
from mergewise import formats
from mergewise.errors import FormatError

transformers: Any = importlib.import_module("transformers")  # typed in part

CONFIG = "tokenizer_config.json"
LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
SPECIAL = (
    *("<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|startoftext|>", "<|endoftext|>"),
    *("<|startoftranscript|>", "<|transcribe|>", "<|notimestamps|>", "[CLS]", "[SEP]"),
)
TEXTS = (
    *("", "ab", " ab", "ab  ab\n", "AB's 12", "e\u0301 é", "a<s>b </s>ab", "<mask>ab <mask> <pad>"),
    *("<|endoftext|>ab <|ENDOFTEXT|>", "[CLS] ab[SEP]", "x <|new|> y", "日本 🙂"),
)
# For each class, whether its files are in letters of bytes, and whether they mark ends of words.
CLASSES = {
    **dict.fromkeys(("GPT2Tokenizer", "CodeGenTokenizer", "WhisperTokenizer"), (True, False)),
    **dict.fromkeys(("GPTNeoXTokenizerFast", "Qwen2Tokenizer"), (True, False)),
    **dict.fromkeys(("RobertaTokenizer", "BartTokenizerFast"), (True, False)),
    **dict.fromkeys(("LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"), (True, False)),
    "DebertaTokenizer": (True, False),
    "CLIPTokenizer": (True, True),
    "OpenAIGPTTokenizer": (False, True),
    "HerbertTokenizer": (False, True),
}
MASK = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": False}
NEW = "<|new|>"
WHISPER = {"tokenizer_class": "WhisperTokenizer"}


def plain(_ids: dict[str, int]) -> dict[str, Any]:
    return {CONFIG: {}}


def said(_ids: dict[str, int]) -> dict[str, Any]:
    config = {
        "add_prefix_space": True,
        "add_bos_token": True,
        "trim_offsets": False,
        "bos_token": "<s>",
        "mask_token": MASK,
        "additional_special_tokens": [NEW],
        "task": "transcribe",
        "language": "de",
    }
    return {CONFIG: config}


def listed(ids: dict[str, int]) -> dict[str, Any]:
    tokens = {
        ids["<pad>"]: {"content": "<pad>", "rstrip": True, "normalized": False, "special": True},
        ids["<mask>"]: {"content": "<mask>", "lstrip": True, "special": False},
        len(ids): {"content": NEW, "single_word": True, "special": False},
    }
    return {CONFIG: {"pad_token": "<pad>", "image_token": "</s>", "added_tokens_decoder": tokens}}


def older(ids: dict[str, int]) -> dict[str, Any]:
    return {
        CONFIG: {},
        "special_tokens_map.json": {"pad_token": {"content": "<pad>", "lstrip": True}},
        "added_tokens.json": {NEW: len(ids), "<pad>": ids["<pad>"]},
    }


def folder_of(
    path: Path,
    *,
    files: Callable[[dict[str, int]], dict[str, Any]] | None = None,
    config: dict[str, Any] | None = None,
    in_letters: bool = True,
    has_ends: bool = False,
    more: tuple[str, ...] = (),
) -> Path:
    """A folder with the two files, and with others that know the ids."""
    letters = LETTERS if in_letters else list("abcdexABé12'<>s/|[]")
    end = "</w>" if has_ends else ""
    strings = [*letters, *(letter + end for letter in letters), "ab" + end, *SPECIAL, *more]
    ids = {string: index for index, string in enumerate(dict.fromkeys(strings))}
    contents = {} if files is None else files(ids)
    if config is not None:
        contents[CONFIG] = contents.get(CONFIG, {}) | config
    path.mkdir()
    for name, content in {**contents, "vocab.json": ids}.items():
        (path / name).write_text(json.dumps(content), encoding="utf-8")
    (path / "merges.txt").write_text(f"#version: 0.2\na b{end}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("files", [plain, said, listed, older])
def test_a_folder_is_read_as_its_class_reads_it(
    name: str, files: Callable[[dict[str, int]], dict[str, Any]], tmp_path: Path
) -> None:
    in_letters, has_ends = CLASSES[name]
    folder = folder_of(
        tmp_path / "model",
        files=files,
        config={"tokenizer_class": name},
        in_letters=in_letters,
        has_ends=has_ends,
    )
    tok = mw.Tokenizer.from_file(folder)
    theirs = transformers.AutoTokenizer.from_pretrained(str(folder))
    assert tok.get_vocab() == theirs.get_vocab()
    for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"):
        assert getattr(tok.config, f"{role}_token") == getattr(theirs, f"{role}_token"), role
    tok.save(tmp_path / "again.json")
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "again.json"))
    for text in TEXTS:
        expected = theirs(text, return_offsets_mapping=True)
        ids, offsets = tok.encode(text, allowed_special="all", offsets=True)
        assert ids == expected["input_ids"] == again.encode(text).ids, text
        assert offsets == expected["offset_mapping"], text
        text_again = theirs.backend_tokenizer.decode(ids, skip_special_tokens=False)
        assert tok.decode(ids) == text_again, text
        if text:
            both = tok.encode("ab", pair=text, allowed_special="all")
            assert both == theirs("ab", text)["input_ids"], text


def test_a_class_that_is_not_known_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", config={"tokenizer_class": "BlenderbotTokenizer"})
    with pytest.raises(FormatError, match=r"found 'BlenderbotTokenizer'.*save_pretrained"):
        mw.Tokenizer.from_file(folder)
    assert mw.Tokenizer.from_file(folder / "merges.txt").encode("ab")


@pytest.mark.parametrize(
    ("model", "length"),
    [
        ({"model_type": "roberta"}, 3),
        ({"tokenizer_class": "BartTokenizer"}, 3),
        ({"model_type": "new"}, 1),
    ],
)
def test_the_model_says_the_class(model: dict[str, str], length: int, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", config={})
    (folder / "config.json").write_text(json.dumps(model))
    assert len(mw.Tokenizer.from_file(folder).encode("ab")) == length


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tokenizer_class": 3}, "tokenizer_class: found 3"),
        ({**WHISPER, "language": "german"}, "language: found 'german'"),
        ({**WHISPER, "task": "x"}, "task: found 'x'"),
        ({"tokenizer_class": "RobertaTokenizer", "sep_token": None}, "sep_token: found None"),
        ({**WHISPER, "added_tokens_decoder": {"x": {}}}, "expected an id before it"),
    ],
)
def test_faults_of_folders_with_a_class(
    config: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "model", config=config)
    with pytest.raises(FormatError, match=message):
        mw.Tokenizer.from_file(folder)


def test_two_files_that_mark_the_ends_of_words(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", has_ends=True)
    with pytest.raises(FormatError, match=r"found the token 'b</w>'.*CLIPTokenizer"):
        mw.Tokenizer.from_file(folder)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "CLIPTokenizer"}')
    tok = mw.Tokenizer.from_file(folder)
    assert tok.decode(tok.encode(" AB b"), skip_special_tokens=True) == "ab b"


def test_a_vocabulary_with_an_empty_token(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", more=("",))
    tok = mw.Tokenizer.from_file(folder)
    (empty_id,) = formats.load(folder).written
    assert tok.decode([*tok.encode("ab"), empty_id]) == "ab"
    tok.save(tmp_path / "again-vocab.json")
    assert formats.load(tmp_path / "again-vocab.json").written == {empty_id: ""}


def test_how_a_token_with_a_role_is_found(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", config={"mask_token": MASK})
    tok = mw.Tokenizer.from_file(folder)
    ids = tok.encode("ab <mask>ab", allowed_special="all")
    assert ids == [256, tok.special_tokens["<mask>"], 256]


def test_the_line_with_the_version(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model")
    (folder / "merges.txt").write_text("#version-2\na b\n", encoding="utf-8")
    assert mw.Tokenizer.from_file(folder / "merges.txt").encode("ab") == [256]
