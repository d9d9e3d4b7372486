"""Tokenizer: encodes texts and decodes ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

from mergewise import _core, formats, live
from mergewise.arguments import check_choice, check_num_threads
from mergewise.chat import Message, rendered
from mergewise.config import NO_CONFIG, ModelConfig
from mergewise.decoding import NOT_AN_ID, StreamDecoder
from mergewise.encoding import EncodedFile, encode_to_file
from mergewise.errors import UnknownTokenError
from mergewise.framing import Framing, Padding, Side, Strategy, Truncation, padded
from mergewise.optional import import_optional
from mergewise.progress import Progress
from mergewise.saving import save
from mergewise.sources import Document, DocumentMode, PathLike
from mergewise.specials import Specials, choice_of
from mergewise.token_table import TokenTable
from mergewise.trees import Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Offsets: TypeAlias = list[tuple[int, int]]


class Tokenizer(TokenTable):
    """A vocabulary at work. Immutable.

    >>> from mergewise import count, train
    >>> tok = train(count(["low lower lowest"], pattern="whitespace"), num_merges=3)
    >>> tok.merges
    [(b'l', b'o'), (b'lo', b'w'), (b' ', b'low')]
    >>> tok.encode("lowest low")
    [257, 101, 115, 116, 258]
    >>> tok.decode([257, 101, 115, 116, 258])
    'lowest low'
    """

    @classmethod
    def from_file(
        cls,
        path: PathLike,
        *,
        format: str | None = None,  # noqa: A002 - the word that users know
        pattern: str | formats.Unset | None = formats.UNSET,
        special_tokens: dict[str, int] | formats.Unset = formats.UNSET,
        lossy: bool = False,
    ) -> Tokenizer:
        """Read a tokenizer of any known format; the format is found by the file's content.

        Args:
            path: a tokenizer.json, tiktoken ranks, a SentencePiece .model, GPT-2's vocab.json or
                merges.txt or their folder, subword-nmt codes, or Tekken's JSON.
            format: the name of the format, if it should not be guessed.
            pattern: for files that do not say how texts are cut: see `mergewise.count`.
            special_tokens: for files that do not list them: texts and ids.
            lossy: read the file without what mergewise does not support.
        """
        vocabulary = formats.load(
            path, format=format, pattern=pattern, special_tokens=special_tokens, lossy=lossy
        )
        return cls(vocabulary)

    def save(
        self,
        path: PathLike,
        *,
        format: str | None = None,  # noqa: A002 - the word that users know
        lossy: bool = False,
    ) -> None:
        """Write a file, whole or not at all; its name says the format.

        What the file would encode differently, or cannot hold, is refused with the reason.

        Args:
            path: tokenizer.json, *.tiktoken, *.model, a folder (or vocab.json or merges.txt) for
                GPT-2's two files, or *.codes.
            format: the name of the format, if the file's name does not say it.
            lossy: write what the format can hold.
        """
        save(self.core, self.plain_vocabulary, path, name=format, lossy=lossy)

    @overload
    def encode(
        self,
        text: Document,
        *,
        pair: Document | None = ...,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = ...,
        offsets: Literal[False] = ...,
    ) -> list[int]: ...

    @overload
    def encode(
        self,
        text: Document,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = ...,
        offsets: Literal[True],
    ) -> tuple[list[int], Offsets]: ...

    def encode(
        self,
        text: Document,
        *,
        pair: Document | None = None,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
        offsets: bool = False,
    ) -> list[int] | tuple[list[int], Offsets]:
        """The ids of a text.

        The text of a special token is an error unless it is allowed, where it becomes that token,
        or not disallowed, where it is encoded like any other text: what a user typed should not
        pass for a special token by accident.

        Args:
            text: `str` or `bytes`.
            pair: a second text, which follows the first as the tokenizer's file says.
            allowed_special: special tokens to find in the text, or "all".
            disallowed_special: special tokens to refuse, or "all" that are not allowed.
            add_special_tokens: put the special tokens around the text that the tokenizer's file
                asks for. A tokenizer that was trained here asks for none.
            offsets: also return where each token begins and ends in the text: in characters of a
                `str`, in `bytes` else.
        """
        if pair is not None:
            if offsets:
                raise ValueError("offsets are of one text, not of a pair")
            return self.encode_batch(
                [text],
                pairs=[pair],
                allowed_special=allowed_special,
                disallowed_special=disallowed_special,
                add_special_tokens=add_special_tokens,
                num_threads=1,
            )[0]
        choice = self._choice(
            allowed_special, disallowed_special, add_special_tokens=add_special_tokens
        )
        if offsets:
            return self.core.encode_with_offsets(text, choice)
        return self.core.encode(text, choice)

    def encode_batch(
        self,
        texts: Iterable[Document],
        *,
        pairs: Iterable[Document] | None = None,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
        num_threads: int = 0,
    ) -> list[list[int]]:
        """The ids of each text; see `encode`. `num_threads=0` means all cores.

        With `pairs`, a second text for each.
        """
        num_threads = check_num_threads(num_threads)
        if pairs is None:
            choice = self._choice(
                allowed_special, disallowed_special, add_special_tokens=add_special_tokens
            )
            return self.core.encode_batch_lists(
                documents_of(texts), choice, num_threads=num_threads
            )
        choice = choice_of(*self._specials, allowed_special, disallowed_special)
        first, second = (
            self.core.encode_batch_lists(documents_of(documents), choice, num_threads=num_threads)
            for documents in (texts, pairs)
        )
        batch = [
            self._framing.joined(*ids, add_special_tokens=add_special_tokens)
            for ids in zip(first, second, strict=True)
        ]
        padding = self._framing.padding
        return batch if padding is None else padded(batch, padding)

    def encode_batch_numpy(
        self,
        texts: Iterable[Document],
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
        num_threads: int = 0,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The ids of all texts, one after the other, and where each text's begin.

        Text `i` has the ids `ids[offsets[i]:offsets[i + 1]]`. No Python integers are made. See
        `encode`; `num_threads=0` means all cores.
        """
        numpy = import_optional("numpy", extra="numpy", package="numpy")
        choice = self._choice(
            allowed_special, disallowed_special, add_special_tokens=add_special_tokens
        )
        ids, offsets = self.core.encode_batch(
            documents_of(texts), choice, num_threads=check_num_threads(num_threads)
        )
        return numpy.asarray(ids), numpy.asarray(offsets)

    def encode_batch_offsets(
        self,
        texts: Iterable[Document],
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
    ) -> list[tuple[list[int], Offsets]]:
        """The ids of each text, and where each token begins and ends in it; see `encode`."""
        choice = self._choice(
            allowed_special, disallowed_special, add_special_tokens=add_special_tokens
        )
        return [self.core.encode_with_offsets(text, choice) for text in documents_of(texts)]

    def encode_files(
        self,
        paths: PathLike | Iterable[PathLike],
        output: PathLike,
        *,
        end_of_document: str | None = None,
        documents: DocumentMode = "file",
        field: str = "text",
        dtype: Literal["uint16", "uint32"] | None = None,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        num_threads: int = 0,
        progress: Progress = False,
    ) -> EncodedFile:
        """Write the ids of files as one array on disk, for `numpy.load` or `numpy.memmap`.

        Args:
            paths: files, folders and globs, as for `mergewise.count_files`.
            output: a .npy file, or, with any other name, the bare numbers (little-endian).
            end_of_document: the special token to put behind each document.
            documents: where a document ends in a file of text.
            field: the field or column of .jsonl and .parquet that holds the text.
            dtype: the smallest that holds every id, unless given.
            allowed_special: see `encode`.
            disallowed_special: see `encode`.
            num_threads: 0 means all cores.
            progress: show a bar, or call this with the bytes done and their total.
        """
        return encode_to_file(
            self.core,
            paths,
            output,
            separator=None if end_of_document is None else self._special_id(end_of_document),
            documents=documents,
            field=field,
            dtype=dtype or ("uint16" if self.vocab_size <= 2**16 else "uint32"),
            choice=choice_of(*self._specials, allowed_special, disallowed_special),
            num_threads=check_num_threads(num_threads),
            progress=progress,
        )

    def count_tokens(
        self,
        text: Document,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
    ) -> int:
        """How many ids a text has, without making them; see `encode`."""
        choice = self._choice(
            allowed_special, disallowed_special, add_special_tokens=add_special_tokens
        )
        return self.core.count(text, choice)

    def decode_bytes(self, ids: Iterable[int], *, skip_special_tokens: bool = False) -> bytes:
        """The bytes that ids stand for.

        With a decoder that makes texts of more than the bytes of tokens, those of the text.
        """
        try:
            return self.core.decode(list_of(ids), skip_special_tokens=skip_special_tokens)
        except OverflowError:
            raise UnknownTokenError(NOT_AN_ID) from None

    def decode(
        self, ids: Iterable[int], *, skip_special_tokens: bool = False, errors: str = "replace"
    ) -> str:
        """The text that ids stand for, as the library of the tokenizer's file decodes them.

        Args:
            ids: the ids.
            skip_special_tokens: leave out special tokens.
            errors: for bytes that are not UTF-8; "replace" is what the library does.
        """
        if errors != "replace":
            return self.decode_bytes(ids, skip_special_tokens=skip_special_tokens).decode(
                errors=errors
            )
        try:
            return self.core.decode_text(list_of(ids), skip_special_tokens=skip_special_tokens)
        except OverflowError:
            raise UnknownTokenError(NOT_AN_ID) from None

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        skip_special_tokens: bool = False,
        errors: str = "replace",
    ) -> list[str]:
        """The text of each sequence of ids; see `decode`."""
        return [
            self.decode(ids, skip_special_tokens=skip_special_tokens, errors=errors)
            for ids in batch
        ]

    def stream_decoder(
        self, *, skip_special_tokens: bool = False, errors: str = "replace"
    ) -> StreamDecoder:
        """A decoder that takes ids as they come, and never gives out half a character.

        >>> from mergewise import count, train
        >>> decoder = train(count(["é"]), num_merges=0).stream_decoder()
        >>> decoder.add(0xC3), decoder.add(0xA9), decoder.finish()
        ('', 'é', '')
        """
        return StreamDecoder(self.core, skip_special_tokens=skip_special_tokens, errors=errors)

    def forest(self, text: Document, *, allowed_special: Specials = ()) -> list[Tree]:
        """The merge trees of a text's tokens, in order."""
        ids = self.encode(text, allowed_special=allowed_special, add_special_tokens=False)
        return [self.tree(token_id) for token_id in ids]

    def with_special_tokens(self, tokens: Iterable[str]) -> Tokenizer:
        """The tokenizer with more special tokens; `special_tokens` has their ids.

        Each gets the next id that is free, unless it is a special token already.

        >>> from mergewise import count, train
        >>> tok = train(count(["a a"]), num_merges=0).with_special_tokens(["<pad>", "<end>"])
        >>> tok.special_tokens
        {'<pad>': 256, '<end>': 257}
        """
        if isinstance(tokens, str):
            raise TypeError(f"expected a list of texts, found one text; hint: [{tokens!r}]")
        new = [text for text in dict.fromkeys(tokens) if text not in self.special_tokens]
        ids = dict(zip(new, range(self.vocab_size, self.vocab_size + len(new)), strict=True))
        special = {**self.vocabulary.special_tokens, **ids}
        return Tokenizer(replace(self.vocabulary, special_tokens=special))

    def with_truncation(
        self,
        max_length: int | None,
        *,
        side: Side = "right",
        strategy: Strategy = "longest_first",
    ) -> Tokenizer:
        """The tokenizer that gives at most so many ids a text, special tokens included.

        Args:
            max_length: how many; None: any number, also if the tokenizer's file says otherwise.
            side: where ids are cut off.
            strategy: which of two texts is cut.
        """
        check_choice("side", side, "left", "right")
        check_choice("strategy", strategy, "longest_first", "only_first", "only_second")
        limit = None if max_length is None else Truncation(max_length, side, strategy)
        return self._framed(replace(self._framing, truncation=limit))

    def with_padding(
        self,
        token: str | None,
        *,
        length: int | None = None,
        multiple_of: int = 0,
        side: Side = "right",
    ) -> Tokenizer:
        """The tokenizer that gives equally many ids for all texts of a batch.

        Args:
            token: the special token that is put beside the others; None: no padding, also if the
                tokenizer's file asks for it.
            length: how many ids; None: as many as the longest text of the batch has.
            multiple_of: their number is a multiple of this, if it is not 0.
            side: where the token is put.
        """
        check_choice("side", side, "left", "right")
        padding = token and Padding(self._special_id(token), length, multiple_of, side)
        return self._framed(replace(self._framing, padding=padding or None))

    def _framed(self, framing: Framing) -> Tokenizer:
        framed = Tokenizer(self.core)
        framed._framing, framed._extras = framing, self._extras
        return framed

    def _choice(
        self, allowed: Specials, disallowed: Specials, *, add_special_tokens: bool
    ) -> _core.Choice:
        """What a call asks of the core."""
        if not allowed and disallowed == "all" and add_special_tokens:
            return self._usual_choice
        frame = self._framing.frame(add_special_tokens=add_special_tokens)
        return choice_of(*self._specials, allowed, disallowed, frame)

    @cached_property
    def _usual_choice(self) -> _core.Choice:
        return choice_of(*self._specials, (), "all", self._framing.frame(add_special_tokens=True))

    def _special_id(self, text: str) -> int:
        try:
            return self.special_tokens[text]
        except KeyError:
            known = ", ".join(map(repr, self.special_tokens)) or "none"
            raise ValueError(f"{text!r} is not a special token; there are: {known}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self.core == other.core and self._framing == other._framing

    def __hash__(self) -> int:
        return hash((self.vocab_size, self.pattern, self._merges[-8:]))

    def __getstate__(self) -> tuple[bytes, Framing, Mapping[str, Any]]:
        return self.core.to_bytes(), self._framing, self._extras

    def __setstate__(self, state: tuple[bytes, Framing, Mapping[str, Any]]) -> None:
        self.core = _core.Tokenizer.from_bytes(state[0])
        self._framing, self._extras = state[1:]

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, _: object) -> Tokenizer:
        return self

    def __repr__(self) -> str:
        return f"<Tokenizer: {self.vocab_size:,} tokens, pattern={self.pattern!r}>"

    @classmethod
    def from_huggingface(cls, tokenizer: Any) -> Tokenizer:  # noqa: ANN401 - of optional packages
        """The tokenizer that a `tokenizers.Tokenizer` or a fast tokenizer of transformers is."""
        return cls(live.of_huggingface(tokenizer))

    @classmethod
    def from_tiktoken(cls, encoding: Any) -> Tokenizer:  # noqa: ANN401 - of an optional package
        """The tokenizer that a `tiktoken.Encoding` is."""
        return cls(live.of_tiktoken(encoding))

    def to_huggingface(self, *, lossy: bool = False) -> Any:  # noqa: ANN401
        """A `tokenizers.Tokenizer` that encodes alike; see `save`."""
        return live.to_huggingface(self.core, self.plain_vocabulary, lossy=lossy)

    def to_tiktoken(self, name: str = "mergewise", *, lossy: bool = False) -> Any:  # noqa: ANN401
        """A `tiktoken.Encoding` of this name that encodes alike; see `save`."""
        return live.to_tiktoken(self.core, self.plain_vocabulary, name, lossy=lossy)

    @property
    def config(self) -> ModelConfig:
        """What the model's files say besides the vocabulary: roles of tokens, chat templates."""
        config: ModelConfig = self._extras.get("config", NO_CONFIG)
        return config

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Message] | None = ...,
        add_generation_prompt: bool = ...,
        tokenize: Literal[False],
        chat_template: str | None = ...,
        **variables: object,
    ) -> str: ...

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Message] | None = ...,
        add_generation_prompt: bool = ...,
        tokenize: Literal[True] = ...,
        chat_template: str | None = ...,
        **variables: object,
    ) -> list[int]: ...

    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Message] | None = None,
        add_generation_prompt: bool = False,
        tokenize: bool = True,
        chat_template: str | None = None,
        **variables: object,
    ) -> list[int] | str:
        """The ids of a conversation, as the model's chat template writes it; needs jinja2.

        Args:
            messages: mappings with "role" and "content", and what else the template knows.
            tools: JSON schemas of functions that the model may call.
            add_generation_prompt: end with what begins an answer of the model.
            tokenize: False returns the text instead of its ids.
            chat_template: the name of one of the model's templates, or a template.
            variables: what else the template knows by name.
        """
        text = rendered(
            self.config,
            messages,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            chat_template=chat_template,
            **variables,
        )
        if not tokenize:
            return text
        return self.encode(text, allowed_special="all", add_special_tokens=False)


def documents_of(texts: Iterable[Document]) -> Sequence[Document]:
    """The texts of a batch, which may be an Arrow array; one text alone is a mistake."""
    if isinstance(texts, (str, bytes)):
        kind = type(texts).__name__
        raise TypeError(f"expected an iterable of texts, found one {kind}; hint: encode(text)")
    is_whole = isinstance(texts, (list, tuple)) or hasattr(texts, "__arrow_c_array__")
    return cast("Sequence[Document]", texts) if is_whole else list(texts)


def list_of(ids: Iterable[int]) -> list[int]:
    """Ids of any kind, also in an array, as a list."""
    return ids.tolist() if hasattr(ids, "tolist") else list(ids)
