"""Whether `MergewiseTokenizer` answers as `PreTrainedTokenizerFast`, on folders of real models.

    python tests/transformers_calls.py                     # all folders
    python tests/transformers_calls.py llama3.1 gemma2 --calls 2000

Random calls with all options, before and after tokens are added. One line for each folder; the exit
status is 1 unless all answers are alike.
"""

from __future__ import annotations

import argparse
import copy
import logging
import pickle
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import transformers
from models import shown
from sample_texts import NAMES, OPTICKS, random_text, varied_texts
from tokenizers import AddedToken
from vocabularies import VOCABULARIES, vocabulary

from mergewise.integrations.transformers import MergewiseTokenizer

Fast = transformers.PreTrainedTokenizerFast
# The vocabularies that are folders of models: with a tokenizer_config.json.
FOLDERS = [
    name
    for name, file in VOCABULARIES.items()
    if file.package.name.startswith("@lenml/") and file.kept_as.endswith("tokenizer.json")
]
LONGEST = 700


class Difference(NamedTuple):
    """A question to which the two give other answers."""

    question: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.question}: ours {self.ours}, theirs {self.theirs}"


def plain(value: Any) -> Any:
    """A value whose parts can be compared, with their types."""
    if isinstance(value, (list, tuple)):
        return value if is_plain(value) else type(value)(map(plain, value))
    if isinstance(value, np.ndarray):
        kind = plain(value.tolist()) if value.dtype == object else value.tolist()
        return (str(value.dtype), value.shape, kind)
    if type(value).__module__.startswith("torch"):
        return (str(value.dtype), tuple(value.shape), value.tolist())
    if isinstance(value, transformers.BatchEncoding):
        return [(name, plain(column)) for name, column in value.items()]
    return value


def is_plain(values: Sequence[Any]) -> bool:
    """Whether these are numbers and texts, or sequences of them; most are, and there are many."""
    kinds = set(map(type, values))
    if kinds <= {list, tuple}:
        kinds = set(map(type, chain.from_iterable(values)))
    return kinds <= {bool, int, str, type(None)}


def answer(ask: Callable[[Any], Any], tokenizer: Any) -> Any:
    """What a tokenizer answers, or its error: also a panic, which is no Exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(ask(tokenizer))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return f"{type(error).__name__}: {error}"


class Comparison:
    """Questions to both, and the answers that differ."""

    def __init__(self, ours: Any, theirs: Any, seed: int = 0) -> None:
        self.ours = ours
        self.theirs = theirs
        self.draw = random.Random(seed)  # noqa: S311 (not for secrets)
        self.num_asked = self.num_errors = 0
        self.differences: list[Difference] = []

    def ask(self, question: str, ask: Callable[[Any], Any]) -> None:
        ours, theirs = answer(ask, self.ours), answer(ask, self.theirs)
        if isinstance(theirs, str) and theirs.startswith("PanicException: "):
            # tokenizers panics; ours is never one.
            theirs = theirs.replace("PanicException", "InputError", 1)
        self.num_asked += 1
        self.num_errors += isinstance(theirs, str) and "Error: " in theirs
        if ours != theirs:
            self.differences.append(Difference(shown(question, 600), shown(ours), shown(theirs)))

    def ask_method(self, name: str, *arguments: Any, **options: Any) -> None:
        self.ask(f"{name}{arguments} {options}", methodcaller(name, *arguments, **options))

    def some_of(self, values: dict[str, Sequence[Any]], share: float) -> dict[str, Any]:
        """Some of the options, each with one of its values."""
        draw = self.draw
        return {name: draw.choice(each) for name, each in values.items() if draw.random() < share}

    def text(self) -> str:
        draw = self.draw
        specials = self.theirs.all_special_tokens + list(self.theirs.get_added_vocab())[:20]
        kind = draw.randrange(8)
        if kind < 3:
            return draw.choice(short_texts())
        if kind < 5:
            start = draw.randrange(len(OPTICKS) - LONGEST)
            return OPTICKS[start : start + draw.randrange(LONGEST)]
        if kind < 6:
            return random_text(draw, draw.randrange(12))
        parts = [*specials, *NAMES, " ", "  ", "\n", "a", " b", "the light", ".", "x " * 30]
        return "".join(draw.choices(parts, k=draw.randrange(1, 6)))

    def words(self) -> list[str]:
        cut = self.text().split() if self.draw.random() < 0.6 else [self.text()[:40]]
        extra = [self.draw.choice(["", " ", " a", "b ", "é", *self.theirs.all_special_tokens])]
        return (cut + extra)[: self.draw.randrange(30)]

    def inputs(self, *, is_split: bool) -> tuple[Any, ...]:
        """The first argument of a call, and the second if there is one."""
        draw = self.draw
        one = self.words if is_split else self.text
        number = draw.choice([1, 2, 3, 7])
        match draw.randrange(6):
            case 0 | 1:
                return (one(),)
            case 2:
                return one(), one()
            case 3 | 4:
                return ([one() for _ in range(number)],)
            case _:
                return [one() for _ in range(number)], [one() for _ in range(number)]

    def options(self) -> dict[str, Any]:
        """Options of a call, each of which is left out in most."""
        often: dict[str, Sequence[Any]] = {
            "padding": [True, False, "longest", "max_length", "do_not_pad"],
            "truncation": [True, False, "longest_first", "only_first", "only_second"],
            "max_length": [1, 2, 3, 5, 8, 16, 17, 32, 64, 300],
            "return_offsets_mapping": [True, False],
        }
        some: dict[str, Sequence[Any]] = {
            "add_special_tokens": [True, False],
            "pad_to_multiple_of": [1, 4, 8],
            "padding_side": ["left", "right"],
            "return_token_type_ids": [True, False],
            "return_attention_mask": [True, False],
            "return_special_tokens_mask": [True, False],
            "return_length": [True],
            "split_special_tokens": [True, False],
        }
        rare: dict[str, Sequence[Any]] = {
            "return_overflowing_tokens": [True],
            "return_tensors": ["np", *(["pt"] if transformers.is_torch_available() else [])],
            "stride": [0, 1, 2, 7],
            "text_target": ["a target", ["several", "targets"]],
        }
        return {**self.some_of(rare, 0.1), **self.some_of(some, 0.25), **self.some_of(often, 0.5)}

    def calls(self, number: int) -> None:
        """Random calls, and what words and characters their results know."""
        for _ in range(number):
            is_split = self.draw.random() < 0.2
            inputs = self.inputs(is_split=is_split)
            options = self.options()
            if is_split:
                options["is_split_into_words"] = True
            for name in ("padding_side", "truncation_side"):
                side = self.draw.choice(["left", "right"])
                setattr(self.ours, name, side)
                setattr(self.theirs, name, side)
            if self.draw.random() < 0.2:
                self.ask(f"details {inputs} {options}", partial(details, inputs, options))
            else:
                self.ask_method("__call__", *inputs, **options)

    def refusals(self) -> None:
        """Calls that are mistakes, or nearly so."""
        odd: list[tuple[Any, ...]] = [
            *((), ([],), ([""],), ("",), ("", ""), ("a", ""), (["a"], "b"), (["a"], ["b", "c"])),
            *((7,), (None,), ([7],), ([None],), ([["a", "b"]],), ([("a", "b"), ("c", "d")],)),
            *(("\ud800",), (["a", "\udfff b"],), (["a", 7],), (b"bytes",), (("a", "b"),)),
            *(([["a"], [7]],), ([[]],), ([["a"], []],)),
        ]
        for inputs in odd:
            self.ask_method("__call__", *inputs)
            self.ask_method("__call__", *inputs, is_split_into_words=True)
            self.ask_method("__call__", *inputs, return_tensors="np")
        self.ask_method("__call__", "a", return_tensors="nothing")

    def tokens(self) -> None:
        """The vocabulary, and texts as tokens."""
        for name in (
            *("vocab_size", "vocab", "special_tokens_map", "all_special_tokens", "is_fast"),
            *("all_special_ids", "added_tokens_encoder", "model_max_length", "model_input_names"),
            *("max_len_single_sentence", "max_len_sentences_pair", "add_bos_token"),
        ):
            self.ask(name, attrgetter(name))
        self.ask("added_tokens_decoder", lambda tok: str(tok.added_tokens_decoder))
        self.ask_method("__len__")
        for text in [self.text() for _ in range(20)]:
            self.ask_method("tokenize", text)
            self.ask_method("encode", text)
        for is_pair in (False, True):
            self.ask_method("num_special_tokens_to_add", is_pair)

    def decoding(self, number: int) -> None:
        """Ids to texts."""
        most = len(self.theirs)
        values: dict[str, Sequence[Any]] = {
            "skip_special_tokens": [True, False],
            "clean_up_tokenization_spaces": [True, False, None],
        }
        for _ in range(number):
            ids = self.theirs.encode(self.text())
            if self.draw.random() < 0.6:
                ids = [self.draw.randrange(most) for _ in range(self.draw.randrange(20))]
            self.ask_method("decode", ids, **self.some_of(values, 0.6))
        odd: list[Any] = [0, [], [[]], [[1, 2], [3]], np.array([3, 4]), [most + 9], [-1], [1.5]]
        for ids in [*odd, ["a"]]:
            self.ask_method("decode", ids)
            self.ask_method("batch_decode", ids)
            self.ask_method("convert_ids_to_tokens", ids)

    def chats(self, number: int) -> None:
        """Conversations, if the model has a template."""
        if self.theirs.chat_template is None:
            return
        values: dict[str, Sequence[Any]] = {
            "add_generation_prompt": [True],
            "return_dict": [True, False],
            "truncation": [True],
            "max_length": [9, 50],
            "return_tensors": ["np"],
            "padding": [True],
        }
        for _ in range(number):
            chats = [
                [
                    {"role": ("user", "assistant")[turn % 2], "content": self.text()}
                    for turn in range(self.draw.randrange(1, 6))
                ]
                for _ in range(self.draw.randrange(1, 4))
            ]
            given = chats if self.draw.random() < 0.5 else chats[0]
            self.ask_method("apply_chat_template", given, **self.some_of(values, 0.3))

    def add_tokens(self) -> None:
        """Tokens of all kinds, and others for roles; both have them then."""
        added = [
            "<|added|>",
            AddedToken("<wide>", lstrip=True, rstrip=True, special=True),
            AddedToken("light", single_word=True, normalized=True),
            AddedToken("Ünd", normalized=True),
        ]
        self.ask("add_tokens", lambda tok: tok.add_tokens(added))
        self.ask("add", lambda tok: tok.add_tokens(["<special>"], special_tokens=True))
        named = {"pad_token": "<pad me>", "extra_special_tokens": ["<one>", "<two>"]}
        self.ask("add_special_tokens", lambda tok: tok.add_special_tokens(dict(named)))

    def ask_all(self, calls: int) -> None:
        """Every kind of question."""
        self.tokens()
        self.refusals()
        self.calls(calls)
        self.decoding(max(calls // 5, 20))
        self.chats(max(calls // 20, 5))


def details(inputs: tuple[Any, ...], options: dict[str, Any], tokenizer: Any) -> list[Any]:
    """What the result of a call knows of words, characters and sequences."""
    result = tokenizer(*inputs, **options)
    known = [result, result.is_fast, result.n_sequences, len(result.encodings)]
    for index, row in enumerate(result.encodings):
        known += [result.tokens(index), result.word_ids(index), result.sequence_ids(index)]
        known += [row.ids, row.offsets, row.special_tokens_mask, row.attention_mask, row.type_ids]
        for place in range(0, 40, 7):
            known += [result.char_to_token(index, place), result.char_to_word(index, place)]
    return known


@cache
def short_texts() -> list[str]:
    return [text for text in varied_texts() if len(text) <= LONGEST]


def padded(tokenizer: Any) -> Any:
    """The tokenizer with a token for padding, if it has none: the last of its vocabulary."""
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(tokenizer.vocab_size - 1)
    return tokenizer


def files_of(tokenizer: Any) -> dict[str, bytes]:
    """What a tokenizer writes."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def saved_and_read(tokenizer: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        return type(tokenizer).from_pretrained(folder)


def examine(folder: Path, *, calls: int, seed: int = 0) -> Comparison:
    """Everything about the folder of a model."""
    ours, theirs = MergewiseTokenizer.from_pretrained(folder), Fast.from_pretrained(folder)
    comparison = Comparison(ours, theirs, seed)
    comparison.ask("files", files_of)
    padded(ours), padded(theirs)
    comparison.ask_all(calls)
    comparison.add_tokens()
    comparison.ask_all(calls // 4)
    few = max(calls // 10, 10)
    for again in (saved_and_read, lambda tok: pickle.loads(pickle.dumps(tok)), copy.deepcopy):  # noqa: S301
        comparison.ours, comparison.theirs = again(ours), again(theirs)
        comparison.calls(few)
    comparison.ours, comparison.theirs = MergewiseTokenizer.from_transformers(theirs), theirs
    comparison.ask_all(few)
    return comparison


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=FOLDERS, metavar="NAME")
    parser.add_argument("--calls", type=int, default=1000, help="random calls a folder")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    transformers.logging.set_verbosity(logging.CRITICAL)
    num_alike = 0
    for name in arguments.names:
        found = examine(vocabulary(name).parent, calls=arguments.calls, seed=arguments.seed)
        num_alike += not found.differences
        told = f"{found.num_asked:,} answers, {found.num_errors:,} of them errors"
        sys.stdout.write(f"{name:18} {told}; {len(found.differences):,} differ\n")
        sys.stdout.writelines(f"    {each}\n" for each in found.differences[:8])
        sys.stdout.flush()
    sys.stdout.write(f"{num_alike} of {len(arguments.names)} folders alike\n")
    return 0 if num_alike == len(arguments.names) else 1


if __name__ == "__main__":
    sys.exit(main())
