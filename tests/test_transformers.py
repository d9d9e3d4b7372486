"""`MergewiseTokenizer` beside transformers' own fast tokenizer, on folders that are made here."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from small_tokenizers import Row, byte_level, characters, then_bytes, with_bytes
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors
from transformers_calls import Comparison, Fast, examine

import mergewise as mw
from mergewise.demo import opticks
from mergewise.errors import InputError, MergewiseError
from mergewise.integrations.transformers import MergewiseTokenizer

CHAT = (
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{{ eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}"
)
# The trainer gives these the ids 0 to 4.
NAMED = ["[UNK]", "<s>", "</s>", "<pad>", "<mask>"]
BERT_LIKE = processors.TemplateProcessing(
    single="<s> $A </s>",
    pair="<s>:0 $A:0 </s>:0 $B:1 </s>:1",
    special_tokens=[("<s>", 1), ("</s>", 2)],
)
MARKED = {
    "pre_tokenizer": pre_tokenizers.Metaspace(prepend_scheme="first"),
    "decoder": decoders.Metaspace(prepend_scheme="first"),
}


def named(row: Row) -> Row:
    """The row with special tokens that have roles."""
    return Row(**{**vars(row), "trainer": {**row.trainer, "special_tokens": NAMED}})


ROWS = {
    "bare": named(byte_level()),
    "around": named(byte_level(post_processor=BERT_LIKE)),
    "roberta": named(
        byte_level(
            post_processor=processors.RobertaProcessing(("</s>", 2), ("<s>", 1)),
            added=[AddedToken("<mask>", lstrip=True, special=True)],
        )
    ),
    "trimmed": named(
        byte_level(
            normalizer=normalizers.NFKC(),
            pre_tokenizer=then_bytes(pre_tokenizers.Digits(individual_digits=True)),
            post_processor=processors.Sequence(
                [processors.ByteLevel(trim_offsets=True), BERT_LIKE]
            ),
            added=[AddedToken("light", normalized=True), AddedToken("<|x|>", rstrip=True)],
        )
    ),
    "marked": named(characters(post_processor=BERT_LIKE, edit=with_bytes(), **MARKED)),
}


def leave_ids_out(document: dict[str, Any]) -> None:
    vocab, added = document["model"]["vocab"], document["added_tokens"]
    vocab["<far>"] = len(vocab) + 9
    added.append({**added[0], "content": "<far>", "id": vocab["<far>"]})


# Tokens that are added later have other ids in memory than in a file.
ROWS["gaps"] = named(byte_level(edit=leave_ids_out))


def write_folder(row: Row, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    row.save(folder / "tokenizer.json")
    config = {
        "unk_token": NAMED[0],
        "bos_token": NAMED[1],
        "eos_token": NAMED[2],
        "pad_token": NAMED[3],
        "mask_token": NAMED[4],
        "model_max_length": 50,
        "chat_template": CHAT,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(ROWS["around"], tmp_path_factory.mktemp("models") / "around")


@pytest.fixture
def ours(folder: Path) -> MergewiseTokenizer:
    return MergewiseTokenizer.from_pretrained(folder)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Without what transformers logs of long texts and unset tokens."""
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity(logging.CRITICAL)
    yield
    transformers.logging.set_verbosity(before)


@pytest.mark.parametrize("name", ROWS)
def test_answers_are_those_of_the_fast_tokenizer(name: str, tmp_path: Path) -> None:
    comparison = examine(write_folder(ROWS[name], tmp_path / "model"), calls=60)
    assert [str(difference) for difference in comparison.differences] == []
    assert comparison.num_errors < comparison.num_asked / 2


class Backend:
    """A tokenizer of tokenizers that encodes and decodes nothing, except for a few."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("encode_batch", "enable_", "no_")):
            pytest.fail(f"tokenizers is asked to {name}")
        return getattr(self.backend, name)


def test_mergewise_does_the_work(ours: MergewiseTokenizer) -> None:
    theirs = ours.to_transformers()
    pair = {"text": ["the light", "of"], "text_pair": ["a b", "c d e"]}
    calls: list[dict[str, Any]] = [
        {"text": "the light"},
        {"text": ["the light", "of"], "padding": True, "return_tensors": "np"},
        {"text": "light " * 30, "truncation": True, "max_length": 9, "return_length": True},
        {"text": ["the light", "of"], "return_offsets_mapping": True, "padding": True},
        {"text": [["the", "light"], ["of"]], "is_split_into_words": True},
        {**pair, "return_special_tokens_mask": True, "return_token_type_ids": True},
        {**pair, "truncation": "only_second", "max_length": 12},
    ]
    expected = [str(theirs(**call)) for call in calls]
    ours._tokenizer = Backend(ours.backend_tokenizer)  # noqa: SLF001
    assert [str(ours(**call)) for call in calls] == expected


def test_a_changed_step_is_noticed(ours: MergewiseTokenizer) -> None:
    assert ours.encode("The LIGHT") != ours.encode("the light")
    ours.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert ours.encode("The LIGHT") == ours.encode("the light")
    ours.add_bos_token = True
    ours.add_eos_token = False
    assert ours("a")["input_ids"] == [1, *ours("a", add_special_tokens=False)["input_ids"]]


@pytest.mark.parametrize("step", [None, normalizers.NFC(), normalizers.Sequence([])])
def test_a_step_that_stays_costs_nothing(ours: MergewiseTokenizer, step: Any) -> None:
    ours.backend_tokenizer.normalizer = step
    assert ours.engine() is ours.engine()


def test_a_panic_of_tokenizers_is_an_error(ours: MergewiseTokenizer) -> None:
    pair = ("the light of " * 9, "of the light " * 9)
    long = {"max_length": 9, "stride": 4, "truncation": True, "return_overflowing_tokens": True}
    with pytest.raises(InputError, match="stride"):
        ours(*pair, **long)
    assert ours.backend_tokenizer.truncation is None
    with pytest.raises(BaseException, match="stride") as panic:
        ours.to_transformers()(*pair, **long)
    assert not isinstance(panic.value, Exception)


def test_a_token_that_becomes_special_is_noticed(ours: MergewiseTokenizer) -> None:
    ours.add_tokens(["light"])
    ids = ours.encode("light", add_special_tokens=False)
    assert ours.decode(ids, skip_special_tokens=True) == "light"
    ours.add_special_tokens({"extra_special_tokens": ["light"]})
    assert ours.decode(ids, skip_special_tokens=True) == ""


def test_words_of_an_old_vocabulary_are_refused(ours: MergewiseTokenizer) -> None:
    result = ours("the light")
    before = ours("the light")
    assert before.word_ids()[1:-1]
    ours.add_tokens(["the light"])
    with pytest.raises(RuntimeError, match="has changed since"):
        result.word_ids()
    assert before.word_ids()[1:-1]


def test_words_are_those_of_the_call(ours: MergewiseTokenizer) -> None:
    """Also if sides and settings are others by then."""
    result = ours(["the light of", "a"], padding=True, truncation=True, max_length=4)
    ours.padding_side = ours.truncation_side = "left"
    assert [row.ids for row in result.encodings] == result["input_ids"]
    assert ours.backend_tokenizer.truncation is None


def test_threads_do_not_disturb_each_other(ours: MergewiseTokenizer) -> None:
    text = opticks()[:3000]
    lengths = [5 + index % 40 for index in range(400)]

    def encode(length: int) -> int:
        ids = ours(text, truncation=True, max_length=length)["input_ids"]
        padded = ours("a", padding="max_length", max_length=length)["input_ids"]
        return max(len(ids), len(padded))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(encode, lengths)) == lengths


def test_use_changes_nothing_that_is_pickled(ours: MergewiseTokenizer) -> None:
    """datasets takes what it has computed from its cache only if the pickle is the same."""
    before = pickle.dumps(ours)
    ours(["a", "b c"], padding=True, truncation=True, max_length=7).word_ids()
    ours("a b c d e", truncation=True, max_length=3, return_overflowing_tokens=True)
    assert pickle.dumps(ours) == before
    copied = pickle.loads(before)  # noqa: S301
    assert copied("a b")["input_ids"] == ours("a b")["input_ids"]


def test_the_folder_is_for_everybody(ours: MergewiseTokenizer, tmp_path: Path) -> None:
    ours.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text("utf-8"))
    assert config["tokenizer_class"] == "TokenizersBackend"
    assert type(transformers.AutoTokenizer.from_pretrained(tmp_path)) is Fast


def test_what_mergewise_cannot_do_is_refused_by_name(tmp_path: Path) -> None:
    pieces = tokenizers.Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    pieces.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(MergewiseError, match="WordPiece"):
        MergewiseTokenizer.from_pretrained(tmp_path)


class Loud(Fast):
    """A fast tokenizer with ways of its own."""

    def _decode(self, *arguments: Any, **options: Any) -> str:
        return str(super()._decode(*arguments, **options)).upper()


def test_a_class_with_ways_of_its_own_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="Loud has a method _decode of its own"):
        MergewiseTokenizer.from_transformers(Loud.from_pretrained(folder))
    with pytest.raises(TypeError, match="found str"):
        MergewiseTokenizer.from_transformers("around")


def test_a_tokenizer_of_mergewise() -> None:
    text = opticks()[:20_000]
    tok = mw.train(mw.count([text], pattern="gpt2"), vocab_size=400, special_tokens=["<end>"])
    ours = MergewiseTokenizer.from_tokenizer(tok, eos_token="<end>", pad_token="<end>")
    assert ours(text[:500])["input_ids"] == tok.encode(text[:500])
    assert ours.decode(tok.encode(text[:500])) == text[:500]
    assert ours.eos_token_id == tok.special_tokens["<end>"]
    theirs: Any = Fast(  # type: ignore[no-untyped-call]
        tokenizer_object=tok.to_huggingface(), eos_token="<end>", pad_token="<end>"
    )
    comparison = Comparison(ours, theirs)
    comparison.calls(50)
    assert comparison.differences == []
