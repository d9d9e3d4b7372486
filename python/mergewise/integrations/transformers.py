"""transformers' interface: `MergewiseTokenizer` is a fast tokenizer whose work mergewise does.

It reads and writes the folders of models as transformers does, and is accepted wherever
transformers takes a fast tokenizer.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

from mergewise.errors import InputError, UnknownTokenError
from mergewise.framing import Padding, padded
from mergewise.integrations.engine import Engine, Inputs, Rows, inputs_of, state_of
from mergewise.optional import import_optional
from mergewise.tokenizer import Tokenizer

numpy: Any = import_optional("numpy", extra="transformers", package="transformers")
transformers: Any = import_optional("transformers", extra="transformers", package="transformers")

__all__ = ["Encoded", "MergewiseTokenizer"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a call of a tokenizer asks for, by the names that transformers uses within."""

    add_special_tokens: bool = True
    padding_strategy: Any = "do_not_pad"
    truncation_strategy: Any = "do_not_truncate"
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    padding_side: Any = None
    return_tensors: str | None = None
    return_token_type_ids: bool | None = None
    return_attention_mask: bool | None = None
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    verbose: bool = True
    split_special_tokens: bool | None = None


NAMES = {option.name for option in fields(Options)}


class Settings(NamedTuple):
    """What a tokenizer of tokenizers is set to for a call."""

    truncation: dict[str, Any] | None
    padding: dict[str, Any] | None
    encode_special_tokens: bool

    @classmethod
    def of(cls, backend: Any) -> Settings:  # noqa: ANN401 - of tokenizers
        """What a tokenizer is set to."""
        return cls(backend.truncation, backend.padding, backend.encode_special_tokens)

    def apply(self, backend: Any) -> None:  # noqa: ANN401 - of tokenizers
        """Set a tokenizer to it."""
        if self.truncation is None:
            backend.no_truncation()
        else:
            backend.enable_truncation(**self.truncation)
        if self.padding is None:
            backend.no_padding()
        else:
            backend.enable_padding(**self.padding)
        backend.encode_special_tokens = self.encode_special_tokens


class Encoded(transformers.BatchEncoding):  # type: ignore[misc]
    """The result of a call, for which tokenizers makes its encodings only if they are asked for.

    Words, characters and sequences of tokens (`word_ids`, `char_to_token`, `tokens` and others) are
    theirs.
    """

    # The encodings are there when they are asked for.
    is_fast = True
    _make: Callable[[], list[Any]] | None = None
    _made: list[Any] | None = None

    def __init__(
        self, data: dict[str, Any], encodings: Callable[[], list[Any]], tensor_type: str | None
    ) -> None:
        super().__init__(data, tensor_type=tensor_type)
        self._make = encodings

    @property
    def _encodings(self) -> list[Any] | None:
        if self._made is None and self._make is not None:
            self._made = self._make()
        return self._made

    @_encodings.setter
    def _encodings(self, encodings: list[Any] | None) -> None:
        self._made = encodings

    @property
    def n_sequences(self) -> int | None:
        """How many texts each row has; None if there are no rows."""
        return self._encodings[0].n_sequences if self._encodings else None


class MergewiseTokenizer(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]
    """A fast tokenizer of transformers whose ids, offsets, masks and texts mergewise makes.

    All that a call returns is what `PreTrainedTokenizerFast` returns for the same folder. The
    tokenizer of tokenizers is kept beside it: it has the vocabulary, and makes what mergewise does
    not, which is `return_overflowing_tokens`, and `word_ids` and its like once they are asked for.

    Calls change no state and may come from several threads at once. A folder with something that
    mergewise cannot do alike is refused by an error that names it.
    """

    @classmethod
    def from_pretrained(cls, *arguments: Any, **options: Any) -> MergewiseTokenizer:  # noqa: ANN401 - transformers' own
        """Read the folder of a model, as `PreTrainedTokenizerFast` does, or fetch it."""
        tokenizer: MergewiseTokenizer = super().from_pretrained(*arguments, **options)
        # What cannot be done alike is refused here, not when the first text comes.
        tokenizer.engine()
        return tokenizer

    @classmethod
    def from_transformers(cls, tokenizer: Any) -> MergewiseTokenizer:  # noqa: ANN401 - of transformers
        """The same as a fast tokenizer, such as `AutoTokenizer` returns.

        The two share the tokenizer of tokenizers, and so the tokens that are added to one of them.
        """
        fast = transformers.PreTrainedTokenizerFast
        kind = type(tokenizer)
        if not isinstance(tokenizer, fast):
            raise TypeError(f"expected a fast tokenizer of transformers, found {kind.__name__}")
        for name in ("__call__", "_encode_plus", "_decode", "decode", "_add_tokens"):
            if getattr(kind, name) is not getattr(fast, name):
                raise InputError(f"{kind.__name__} has a method {name} of its own")
        made = cls.__new__(cls)
        backend = tokenizer.backend_tokenizer
        # Copies of backends may have other ids, where ids are left out between those of tokens.
        made.__dict__.update(copy.deepcopy(tokenizer.__dict__, {id(backend): backend}))
        made.engine()
        return made

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, **options: Any) -> MergewiseTokenizer:  # noqa: ANN401 - transformers' own
        """The tokenizer of mergewise in transformers' shape.

        Args:
            tokenizer: what is to be encoded with.
            options: see `PreTrainedTokenizerFast`; special tokens, the chat template and the like
                are those of `tokenizer.config` where none are given.
        """
        config = tokenizer.config
        said = {
            "chat_template": config.chat_templates.get("default"),
            "model_max_length": config.model_max_length,
            "clean_up_tokenization_spaces": config.clean_up_tokenization_spaces,
            **config.roles,
        }
        known = {name: value for name, value in said.items() if value is not None}
        return cls(tokenizer_object=tokenizer.to_huggingface(), **{**known, **options})

    def to_transformers(self) -> Any:  # noqa: ANN401 - of transformers
        """The same as a `PreTrainedTokenizerFast`; see `from_transformers` for what they share."""
        fast = transformers.PreTrainedTokenizerFast
        made = fast.__new__(fast)
        made.__dict__.update(self.__getstate__())
        return made

    def save_pretrained(
        self,
        save_directory: str | PathLike[str],
        *arguments: Any,  # noqa: ANN401
        **options: Any,  # noqa: ANN401
    ) -> tuple[str, ...]:
        """Write the folder that `PreTrainedTokenizerFast` writes, for everybody to read."""
        files: tuple[str, ...] = self.to_transformers().save_pretrained(
            save_directory, *arguments, **options
        )
        return files

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_engine"}

    def engine(self) -> Engine:
        """What encodes and decodes, made anew if the vocabulary or a step has changed."""
        state = state_of(self.backend_tokenizer)
        engine: Engine | None = self.__dict__.get("_engine")
        if engine is None or engine.state != state:
            engine = self._engine = Engine(self.backend_tokenizer, state)
        return engine

    def _add_tokens(self, new_tokens: Any, special_tokens: bool = False) -> int:  # noqa: ANN401, FBT001, FBT002 - transformers' own
        # Flags of tokens that are there already may change, which the state does not show.
        self.__dict__.pop("_engine", None)
        added: int = super()._add_tokens(new_tokens, special_tokens=special_tokens)
        return added

    def _encode_plus(self, text: Any, text_pair: Any = None, **options: Any) -> Any:  # noqa: ANN401
        asked = Options(**{name: options[name] for name in NAMES & options.keys()})
        inputs = inputs_of(text, text_pair, is_split=asked.is_split_into_words)
        if inputs is None or asked.return_overflowing_tokens:
            return self._encoded_there(text, text_pair, **options)
        engine = self.engine()
        settings = self._settings(asked)
        try:
            rows = engine.rows(
                inputs,
                settings.truncation,
                add_special_tokens=asked.add_special_tokens,
                finds_specials=not settings.encode_special_tokens,
                with_offsets=asked.return_offsets_mapping,
            )
        except ValueError:
            # Half of a surrogate pair, or no room for a text: transformers has its own errors.
            return self._encoded_there(text, text_pair, **options)
        data = self._columns(rows, settings.padding, asked)
        for ids in data["input_ids"]:
            self._eventual_warn_about_too_long_sequence(ids, asked.max_length, asked.verbose)
        encodings = partial(self._encodings_of, engine, inputs, settings, asked)
        if asked.return_tensors in ("np", "pt"):
            data = {name: arrays_of(column) for name, column in data.items()}
        elif not inputs.is_batch and asked.return_tensors is None:
            data = {name: unbatched(column) for name, column in data.items()}
        return Encoded(data, encodings, asked.return_tensors)

    def _encoded_there(self, text: Any, text_pair: Any, **options: Any) -> Any:  # noqa: ANN401
        """What transformers makes of the same call, whose settings do not stay."""
        before = Settings.of(self.backend_tokenizer)
        try:
            return super()._encode_plus(text, text_pair, **options)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            # tokenizers panics at some strides, and a panic is no Exception.
            raise InputError(str(error)) from None
        finally:
            before.apply(self.backend_tokenizer)

    def _settings(self, asked: Options) -> Settings:
        """What tokenizers would be set to for a call."""
        truncation = padding = None
        if asked.truncation_strategy != "do_not_truncate":
            truncation = {
                "max_length": asked.max_length,
                "stride": asked.stride,
                "strategy": asked.truncation_strategy.value,
                "direction": self.truncation_side,
            }
        if asked.padding_strategy != "do_not_pad":
            padding = {
                "length": asked.max_length if asked.padding_strategy == "max_length" else None,
                "direction": asked.padding_side or self.padding_side,
                "pad_id": self.pad_token_id,
                "pad_token": self.pad_token,
                "pad_type_id": self.pad_token_type_id,
                "pad_to_multiple_of": asked.pad_to_multiple_of,
            }
        split = asked.split_special_tokens
        return Settings(truncation, padding, self.split_special_tokens if split is None else split)

    def _columns(
        self, rows: Rows, padding: dict[str, Any] | None, asked: Options
    ) -> dict[str, list[Any]]:
        """The columns of the result, in the order that transformers gives them."""
        returns_types, returns_mask = asked.return_token_type_ids, asked.return_attention_mask
        if returns_types is None:
            returns_types = "token_type_ids" in self.model_input_names
        if returns_mask is None:
            returns_mask = "attention_mask" in self.model_input_names
        fill = partial(filled, padding=padding)
        data = {"input_ids": fill(rows.ids, padding and padding["pad_id"])}
        if returns_types:
            types = [rows.template.types(lengths) for lengths in rows.lengths]
            data["token_type_ids"] = fill(types, padding and padding["pad_type_id"])
        if returns_mask:
            data["attention_mask"] = fill([[1] * len(ids) for ids in rows.ids], 0)
        if asked.return_special_tokens_mask:
            specials = [rows.template.specials(lengths) for lengths in rows.lengths]
            data["special_tokens_mask"] = fill(specials, 1)
        if rows.offsets is not None:
            data["offset_mapping"] = fill(rows.offsets, (0, 0))
        if asked.return_length:
            data["length"] = [len(ids) for ids in data["input_ids"]]
        return data

    def _encodings_of(
        self, engine: Engine, inputs: Inputs, settings: Settings, asked: Options
    ) -> list[Any]:
        """What tokenizers makes of the texts of a call."""
        if self.engine() is not engine:
            raise RuntimeError(
                "the tokenizer has changed since this result was made: ask it for words and "
                "characters before tokens are added"
            )
        backend = self.backend_tokenizer
        before = Settings.of(backend)
        settings.apply(backend)
        try:
            encodings: list[Any] = backend.encode_batch(
                inputs.together,
                add_special_tokens=asked.add_special_tokens,
                is_pretokenized=inputs.is_split,
            )
        finally:
            before.apply(backend)
        return encodings

    def _decode(
        self,
        token_ids: Any,  # noqa: ANN401
        skip_special_tokens: bool = False,  # noqa: FBT001, FBT002 - transformers' own
        clean_up_tokenization_spaces: bool | None = None,  # noqa: FBT001
        **options: Any,  # noqa: ANN401
    ) -> str:
        decode = partial(
            super()._decode,
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            **options,
        )
        text: str
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        if self.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output:
            text = decode(ids)
            return text
        try:
            text = self.engine().core.decode_text(ids, skip_special_tokens)
        except (OverflowError, TypeError, UnknownTokenError):
            # Unknown ids are left out there, and what is no id has its own errors.
            text = decode(ids)
            return text
        # It warns if spaces should be cleaned up, which is not done to texts of BPE.
        decode([])
        return text


def filled(column: list[Any], value: object, padding: dict[str, Any] | None) -> list[Any]:
    """The rows of a column, filled up to the same length if there is padding."""
    if padding is None:
        return column
    multiple_of = padding["pad_to_multiple_of"] or 0
    to = Padding(padding["pad_id"], padding["length"], multiple_of, padding["direction"])
    return padded(column, to, value)


def arrays_of(column: list[Any]) -> list[Any]:
    """Rows of numbers as arrays, which become tensors faster; others as they are."""
    if not all(isinstance(row, list) and row and isinstance(row[0], int) for row in column):
        return column
    return [numpy.array(row, dtype=numpy.int64) for row in column]


def unbatched(column: list[Any]) -> Any:  # noqa: ANN401
    """The one row of a column."""
    return column[0] if isinstance(column[0], list) else column
