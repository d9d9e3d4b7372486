"""Folders of models, CLIP's file, ranks in JSON, live tokenizers and chat templates."""

from __future__ import annotations

import base64
import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors
from vocabularies import vocabulary

import mergewise as mw
from mergewise import formats
from mergewise.config import ModelConfig
from mergewise.errors import ConversionError, FormatError, InputError

transformers: Any = importlib.import_module("transformers")  # typed in part

TEXTS = ["", "low lower  lowest\n", "it's 12, isn't it?", "é 日本語 🙂", "<s>low</s>", "<pad> low"]
TEMPLATE = (
    "{%- for m in messages %}\n  {%- if m.role == 'stop' %}{% break %}{% endif %}\n"
    "{{ '[' + m.role + ']' }}{{ m.content | tojson }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}{{ bos_token }}{{ extra }}"
)
MESSAGES = [
    {"role": "system", "content": 'Be <brief> & "kind".'},
    {"role": "user", "content": "Zwölf Boxkämpfer?"},
]


def peer_tokenizer(*special: str) -> Any:
    """A small tokenizer of tokenizers, of bytes."""
    tok = mw.train(mw.count(["low low lower lowest it's"], pattern="gpt2"), num_merges=4)
    ids = tok.get_vocab()
    names = {token_id: name for name, token_id in ids.items()}
    merges = [(names[tok.token_id(a)], names[tok.token_id(b)]) for a, b in tok.merges]
    peer = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=merges))
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = decoders.ByteLevel()
    peer.add_special_tokens(list(special))
    return peer


def with_bos(peer: Any) -> Any:
    token = ("<s>", peer.token_to_id("<s>"))
    peer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[token]
    )
    return peer


def folder_of(path: Path, config: dict[str, Any] | None, peer: Any, **files: Any) -> Path:
    path.mkdir()
    peer.save(str(path / "tokenizer.json"))
    if config is not None:
        (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return path


# Folders.


def test_a_folder_and_its_configuration(tmp_path: Path) -> None:
    peer = with_bos(peer_tokenizer("<s>", "</s>"))
    config = {
        "bos_token": {"__type": "AddedToken", "content": "<s>", "lstrip": False},
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "model_max_length": 1e30,
        "chat_template": [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}],
        "clean_up_tokenization_spaces": False,
        "added_tokens_decoder": {
            str(peer.get_vocab_size()): {"content": "<pad>", "special": True},
            str(peer.get_vocab_size() + 1): {"content": "<x>", "special": False},
        },
    }
    tok = mw.Tokenizer.from_file(folder_of(tmp_path / "model", config, peer))
    assert tok.config == ModelConfig(
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        chat_templates={"default": "a", "rag": "b"},
        clean_up_tokenization_spaces=False,
    )
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(str(tmp_path / "model"))
    for text in [*TEXTS, "low<x>er"]:
        assert tok.encode(text, allowed_special="all") == theirs(text)["input_ids"], text
        ids = theirs(text)["input_ids"]
        assert tok.decode(ids) == theirs.decode(ids, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("flags", [(True, True), (False, True), (False, False)])
def test_the_tokenizer_decides_what_is_around_a_text(
    tmp_path: Path, flags: tuple[bool, bool]
) -> None:
    config: dict[str, Any] = {"bos_token": "<s>", "eos_token": "</s>"}
    config |= dict(zip(("add_bos_token", "add_eos_token"), flags, strict=True))
    plain, framed = peer_tokenizer("<s>", "</s>"), with_bos(peer_tokenizer("<s>", "</s>"))
    for name, peer in (("plain", plain), ("framed", framed)):
        folder = folder_of(tmp_path / name, config, peer)
        tok = mw.Tokenizer.from_file(folder)
        theirs = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
        for text in TEXTS:
            assert tok.encode(text, allowed_special="all") == theirs(text)["input_ids"], text
        assert tok.encode("low", pair="lower") == theirs("low", "lower")["input_ids"]


def test_a_configuration_decides_for_files_that_do_not(tmp_path: Path) -> None:
    tok = mw.train(
        mw.count(["low low lower"], pattern="gpt2"), num_merges=2, special_tokens=["<s>", "</s>"]
    )
    tok.save(tmp_path)
    config = {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    found = mw.Tokenizer.from_file(tmp_path)
    assert found.encode("low") == [258, *tok.encode("low")]
    assert found.encode("low", pair="low") == 2 * [258, *tok.encode("low")]


def test_older_and_newer_files_of_a_folder(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path / "model",
        {"eos_token": "</s>", "chat_template": "old"},
        peer_tokenizer("<s>", "</s>"),
        special_tokens_map__json={"bos_token": "<s>", "eos_token": "ignored"},
        added_tokens__json={"<x>": 400},
        chat_template__jinja="new",
    )
    tok = mw.Tokenizer.from_file(folder)
    assert (tok.config.bos_token, tok.config.eos_token) == ("<s>", "</s>")
    assert tok.config.chat_templates == {"default": "new"}
    assert tok.encode("<x>") == [400]


def test_which_tokenizer_of_a_folder(tmp_path: Path) -> None:
    tok = mw.train(mw.count(["low low lower"], pattern="gpt2"), num_merges=2)
    folder = tmp_path / "two"
    folder.mkdir()
    tok.save(folder)
    assert formats.detect(folder) == "gpt2"
    (folder / "tokenizer_config.json").write_text('{"eos_token": "</s>"}', encoding="utf-8")
    assert formats.detect(folder) == "model_folder"
    again = mw.Tokenizer.from_file(folder)
    assert again.merges == tok.merges
    assert again.special_tokens == {"</s>": 258}
    other = tmp_path / "model"
    other.mkdir()
    with pytest.raises(FormatError, match="a directory of other files"):
        mw.Tokenizer.from_file(other)
    tok.save(other / "x.gguf")
    assert mw.Tokenizer.from_file(other).merges == tok.merges
    tok.save(other / "tokenizer.json")
    assert mw.Tokenizer.from_file(other) == tok


def test_a_folder_is_written(tmp_path: Path) -> None:
    config = {"bos_token": "<s>", "chat_template": "a", "model_max_length": 512}
    folder = folder_of(tmp_path / "model", config, peer_tokenizer("<s>"))
    tok = mw.Tokenizer.from_file(folder)
    again = tmp_path / "again"
    again.mkdir()
    tok.save(again, format="model_folder")
    assert mw.Tokenizer.from_file(again) == tok
    assert mw.Tokenizer.from_file(again).config == tok.config


# Other files.


def test_clips_file(tmp_path: Path) -> None:
    tok = mw.Tokenizer.from_file(vocabulary("clip"))
    assert tok.encode("A photo of a  CAT") == [49406, 320, 1125, 539, 320, 2368, 49407]
    data = gzip.decompress(vocabulary("clip").read_bytes())
    (tmp_path / "plain.txt").write_bytes(data)
    assert mw.Tokenizer.from_file(tmp_path / "plain.txt") == tok
    tok.save(tmp_path / "tokenizer.json")
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert peer.encode("A photo of a  CAT").ids == tok.encode("A photo of a  CAT")
    for name, wrong in (
        ("cut.gz", gzip.compress(data)[:-9]),
        ("few.gz", gzip.compress(data[:999])),
    ):
        (tmp_path / name).write_bytes(wrong)
        with pytest.raises(FormatError, match=name):
            mw.Tokenizer.from_file(tmp_path / name)


def ranks_in_json(path: Path, ranks: str, **special: int) -> Path:
    document = {"pat_str": r"\w+|\W", "special_tokens": special, "bpe_ranks": ranks}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_ranks_in_json(tmp_path: Path) -> None:
    single = " ".join(base64.b64encode(bytes([byte])).decode() for byte in range(256))
    two = f"! 5 {single}\n! 300 {base64.b64encode(b'lo').decode()}"
    tok = mw.Tokenizer.from_file(ranks_in_json(tmp_path / "x.json", two, end=0))
    assert formats.detect(tmp_path / "x.json") == "tiktoken_json"
    assert tok.encode("loend", allowed_special="all") == [300, 0]
    for wrong in ("", "! x IA==", f"! 5 {single} IA==", f"! 5 {single}\n! 5 bG8=", "! 0 IA=="):
        with pytest.raises(FormatError, match=r"y\.json"):
            mw.Tokenizer.from_file(ranks_in_json(tmp_path / "y.json", wrong))
    with pytest.raises(FormatError, match="the id 5 of another token"):
        mw.Tokenizer.from_file(ranks_in_json(tmp_path / "y.json", two, end=5))


def test_whispers_special_tokens() -> None:
    tok = mw.Tokenizer.from_file(vocabulary("whisper"))
    text = "<|startoftranscript|><|de|><|transcribe|><|0.00|> Ja<|30.00|><|endoftext|>"
    ids = tok.encode(text, allowed_special="all")
    assert ids[:4] == [50258, 50261, 50359, 50364]
    assert ids[-2:] == [51864, 50257]
    assert tok.decode([50256]) == ""


@pytest.mark.parametrize("name", ["x.model", "tokenizer.json", "vocab.json", ""])
def test_a_pointer_in_place_of_a_file(name: str, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:9e556afd\nsize 499723\n"
    (tmp_path / (name or "vocab.json")).write_text(pointer)
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    with pytest.raises(FormatError, match=r"a pointer that Git LFS left.*git lfs pull"):
        mw.Tokenizer.from_file(tmp_path / name)


def test_what_is_read_only_with_help(tmp_path: Path) -> None:
    ranks = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))
    (tmp_path / "tiktoken.model").write_bytes(ranks)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    with pytest.raises(FormatError, match=r"found tiktoken.model, .*give tiktoken.model itself"):
        mw.Tokenizer.from_file(tmp_path)
    assert mw.Tokenizer.from_file(tmp_path / "tiktoken.model", pattern=None).encode("a") == [97]
    (tmp_path / "x.tiktoken.gz").write_bytes(gzip.compress(ranks))
    with pytest.raises(FormatError, match=r"found a compressed file.*decompress it first"):
        mw.Tokenizer.from_file(tmp_path / "x.tiktoken.gz", pattern=None)
    letters = "".join(f"{97 + index} {4 + index}\n" for index in range(12))
    youtokentome = f"12 1\n{letters}4 5 16\n0 1 2 3\n"
    (tmp_path / "x.yttm").write_text(youtokentome)
    with pytest.raises(FormatError, match=r"found a model of YouTokenToMe"):
        mw.Tokenizer.from_file(tmp_path / "x.yttm")


# Live tokenizers.


def test_tokenizers_of_huggingface() -> None:
    peer = with_bos(peer_tokenizer("<s>", "</s>"))
    tok = mw.Tokenizer.from_huggingface(peer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=peer, eos_token="</s>", chat_template=TEMPLATE
    )
    wrapped = mw.Tokenizer.from_huggingface(fast)
    assert (wrapped.config.eos_token, wrapped.config.chat_templates["default"]) == (
        "</s>",
        TEMPLATE,
    )
    back = tok.to_huggingface()
    for text in TEXTS:
        ids = peer.encode(text).ids
        assert tok.encode(text, allowed_special="all") == ids
        assert wrapped.encode(text, allowed_special="all") == fast(text)["input_ids"]
        assert back.encode(text).ids == ids
        assert tok.decode(ids) == peer.decode(ids, skip_special_tokens=False)
    with pytest.raises(TypeError, match="found str"):
        mw.Tokenizer.from_huggingface("gpt2")


def test_encodings_of_tiktoken() -> None:
    trained = mw.train(mw.count(["low low lower lowest"], pattern="gpt2"), num_merges=4)
    ranks = {trained.token_bytes(i): i for i in range(trained.vocab_size)}
    special = {"<s>": 300, "</s>": 301}
    peer = tiktoken.Encoding(
        "small", pat_str=r"\w+|\s", mergeable_ranks=ranks, special_tokens=special
    )
    tok = mw.Tokenizer.from_tiktoken(peer)
    back = tok.to_tiktoken("again")
    assert back.name == "again"
    for text in TEXTS:
        ids = peer.encode(text, allowed_special="all")
        assert tok.encode(text, allowed_special="all") == ids
        assert back.encode(text, allowed_special="all") == ids
        assert tok.decode(ids) == peer.decode(ids)
    with pytest.raises(TypeError, match="found str"):
        mw.Tokenizer.from_tiktoken("gpt2")
    normal = mw.train(mw.count(["low"], normalize="nfc"), num_merges=0)
    with pytest.raises(ConversionError, match="normalised"):
        normal.to_tiktoken()


# Chat templates.


def rendered_by_peer(config: ModelConfig, messages: Any, **options: Any) -> str:
    peer = transformers.PreTrainedTokenizerFast(tokenizer_object=peer_tokenizer(), **config.roles)
    templates = dict(config.chat_templates)
    peer.chat_template = templates["default"] if list(templates) == ["default"] else templates
    text: str = peer.apply_chat_template(messages, tokenize=False, **options)
    return text


def test_a_chat_template(tmp_path: Path) -> None:
    config = {"eos_token": "</s>", "bos_token": "<s>", "chat_template": TEMPLATE}
    folder = folder_of(tmp_path / "model", config, peer_tokenizer("<s>", "</s>"))
    tok = mw.Tokenizer.from_file(folder)
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
    messages = [*MESSAGES, {"role": "stop", "content": ""}, MESSAGES[0]]
    for options in ({}, {"add_generation_prompt": True}, {"extra": "!"}):
        ours = tok.apply_chat_template(messages, tokenize=False, **options)
        assert ours == theirs.apply_chat_template(messages, tokenize=False, **options)
        ids = theirs.apply_chat_template(messages, return_dict=False, **options)
        assert tok.apply_chat_template(messages, **options) == ids


REAL = ["qwen2.5", "llama3", "gemma3", "deepseek-v3", "mistral-nemo", "command-r-plus", "qwen3"]


@pytest.mark.parametrize("name", REAL)
def test_templates_of_real_models(name: str) -> None:
    folder = vocabulary(name).parent
    config = formats.model_config.configured(
        mw.Tokenizer.from_huggingface(peer_tokenizer()).vocabulary, folder
    ).extras["config"]
    if not config.chat_templates:
        pytest.skip("no template")
    user, answer = MESSAGES[1], {"role": "assistant", "content": "Ja.", "reasoning": "Hm."}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"a": "ü<"}}}]
    for options in ({}, {"add_generation_prompt": True}, {"tools": tools}):
        for messages in ([user], [user, answer, user]):
            ours = outcome(mw.chat.rendered, config, messages, options)
            assert ours == outcome(rendered_by_peer, config, messages, options)


def outcome(render: Any, config: ModelConfig, messages: Any, options: dict[str, Any]) -> str:
    try:
        return str(render(config, messages, **options))
    except Exception as error:  # noqa: BLE001 - templates refuse what they do not know
        return str(error).removeprefix("the chat template: ")


def test_templates_are_kept_in_their_sandbox() -> None:
    messages = [{"role": "user", "content": "x", "object": Path()}]
    for template, expected in (
        ("{{ messages[0].object }}", "<PosixPath>"),
        ("{% generation %}a{% endgeneration %}", "a"),
        ("{{ dict(a=1).a }}{% set n = namespace(b=2) %}{{ n.b }}", "12"),
    ):
        config = ModelConfig(chat_templates={"default": template})
        assert mw.chat.rendered(config, messages) == expected
    for template in (
        "{{ messages.append(1) }}",
        "{{ ''.__class__.__mro__ }}",
        "{% set n = namespace(_a=2) %}",
        "{{ raise_exception('no') }}",
        "{{ 1 +",
    ):
        with pytest.raises(InputError, match="the chat template"):
            mw.chat.rendered(ModelConfig(), messages, chat_template=template)
    with pytest.raises(InputError, match="no chat template is the usual one; known: none"):
        mw.chat.rendered(ModelConfig(), messages)
