"""Tokenizer: encodes texts and decodes ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

from mergewise import _core, formats, live
from mergewise.arguments import check_choice, check_count, check_num_threads, check_optional
from mergewise.chat import Message, rendered
from mergewise.coder import Coder
from mergewise.encoding import Dtype, EncodedFile, Layout, Reading, encode_to_file
from mergewise.errors import UnknownTokenError
from mergewise.framing import Framing, Padding, Side, Strategy, Truncation
from mergewise.progress import Progress
from mergewise.saving import save
from mergewise.sources import DocumentMode, PathLike
from mergewise.specials import Specials, choice_of
from mergewise.token_files import TokenFormat
from mergewise.vocabulary import brief_pattern

# What a notebook shows in its tokens, and how many special tokens.
SAMPLE = "The quick brown fox doesn't jump over 1,234 lazy dogs: naïve, 日本語."
MOST_SHOWN = 8


class Tokenizer(Coder):
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
                merges.txt or their folder, subword-nmt codes, GGUF, Tekken's JSON, CLIP's merges,
                ranks in JSON, or the folder of a model.
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
                GPT-2's two files, *.codes, or *.gguf.
            format: the name of the format, if the file's name does not say it.
            lossy: write what the format can hold.
        """
        save(self.core, self.plain_vocabulary, path, name=format, lossy=lossy)

    def encode_files(
        self,
        paths: PathLike | Iterable[PathLike],
        output: PathLike,
        *,
        end_of_document: str | None = None,
        add_special_tokens: bool = False,
        documents: DocumentMode = "file",
        field: str = "text",
        dtype: Dtype | None = None,
        format: TokenFormat | None = None,  # noqa: A002 - the word that users know
        offsets: bool = False,
        shards: int | None = None,
        shard_tokens: int | None = None,
        validation: float | None = None,
        skip_bad: bool = False,
        manifest: bool = False,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        num_threads: int = 0,
        progress: Progress = False,
    ) -> EncodedFile:
        """Write the ids of files as arrays on disk; `mergewise.open_tokens` reads them.

        With `shards`, `shard_tokens` or `validation` there are several files, whose names begin
        like `output`, and a manifest in JSON. A run of the same inputs and options that was killed
        goes on behind the shards that are whole; the files are the same as of one run.

        Args:
            paths: files, folders and globs, as for `mergewise.count_files`.
            output: a .npy file, or, with any other name, the bare numbers (little-endian).
            end_of_document: the special token to put behind each document.
            add_special_tokens: put the special tokens around each document that the tokenizer's
                file asks for.
            documents: where a document ends in a file of text.
            field: the field or column of .jsonl and .parquet that holds the text.
            dtype: the smallest that holds every id, unless given.
            format: "npy", "bin" or "megatron" (.bin and .idx), whatever the name.
            offsets: also write where each document's ids begin and the last one's end, to a file
                in .offsets.npy; not for Megatron, whose .idx says it.
            shards: write this many files, each with about the same share of the inputs' bytes.
            shard_tokens: or begin another file behind the document that makes one this long.
            validation: the part of the documents, between 0 and 1, that is written to files of its
                own; a hash of its text decides for each document.
            skip_bad: leave out lines of .jsonl that are no records, and documents that cannot be
                encoded: they hold what the tokenizer has no token for, or a special token that is
                refused, or take the pattern too many steps; say how many. A long document (more
                than 256 kB of a text, or 512 kB of a line of .jsonl) may be read in parts: then it
                is an error still, as its beginning may be written already.
            manifest: write a manifest also for one file, to `output` with the suffix .json.
            allowed_special: see `encode`.
            disallowed_special: see `encode`.
            num_threads: 0 means all cores.
            progress: show a bar, or call this with the bytes done and their total.
        """
        return encode_to_file(
            self.core,
            paths,
            output,
            layout=self.layout_of(
                output,
                end_of_document=end_of_document,
                add_special_tokens=add_special_tokens,
                dtype=dtype,
                format=format,
                offsets=offsets,
                shards=shards,
                shard_tokens=shard_tokens,
                validation=validation,
                skip_bad=skip_bad,
                manifest=manifest,
            ),
            reading=Reading(
                documents=documents, field=field, num_threads=check_num_threads(num_threads)
            ),
            choice=choice_of(self.core, allowed_special, disallowed_special),
            progress=progress,
        )

    def layout_of(
        self,
        output: PathLike,
        *,
        end_of_document: str | None = None,
        add_special_tokens: bool = False,
        dtype: Dtype | None = None,
        format: TokenFormat | None = None,  # noqa: A002 - the word that users know
        offsets: bool = False,
        shards: int | None = None,
        shard_tokens: int | None = None,
        validation: float | None = None,
        skip_bad: bool = False,
        manifest: bool = False,
    ) -> Layout:
        """What `encode_files` writes to this output with these arguments."""
        framing = self._framing if add_special_tokens else Framing()
        end = [] if end_of_document is None else [self._special_id(end_of_document)]
        return Layout(
            before=framing.before,
            behind=[*framing.after, *end],
            dtype=dtype or ("uint16" if self.vocab_size <= 2**16 else "uint32"),
            format=format or ("npy" if Path(output).suffix == ".npy" else "bin"),
            offsets=offsets,
            shards=shards,
            shard_tokens=shard_tokens,
            validation=validation,
            skip_bad=skip_bad,
            manifest=manifest,
        )

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
        check_optional(max_length=max_length)
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
        check_optional(length=length)
        check_count("multiple_of", multiple_of)
        padding = None
        if token is not None:
            padding = Padding(self._special_id(token), length, multiple_of, side)
        return self._framed(replace(self._framing, padding=padding))

    def _framed(self, framing: Framing) -> Tokenizer:
        framed = Tokenizer(self.core)
        framed._framing, framed._roles, framed._extras = framing, self._roles, self._extras
        return framed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self.core == other.core and self._framing == other._framing

    def __hash__(self) -> int:
        return hash((self.vocab_size, self.pattern, self._merges[-8:]))

    def __getstate__(self) -> tuple[bytes, Framing, Mapping[str, int], Mapping[str, Any]]:
        return self.core.to_bytes(), self._framing, self._roles, self._extras

    def __setstate__(
        self, state: tuple[bytes, Framing, Mapping[str, int], Mapping[str, Any]]
    ) -> None:
        self.core = _core.Tokenizer.from_bytes(state[0])
        self._framing, self._roles, self._extras = state[1:]

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, _: object) -> Tokenizer:
        return self

    def __repr__(self) -> str:
        return f"<Tokenizer: {self.vocab_size:,} tokens, pattern={brief_pattern(self.pattern)}>"

    def _repr_html_(self) -> str:
        from mergewise.pages.notebook import coloured, facts  # noqa: PLC0415 - for notebooks alone

        special = ", ".join(list(self.special_tokens)[:MOST_SHOWN])
        more = len(self.special_tokens) - MOST_SHOWN
        values = {
            "tokens": f"{self.vocab_size:,}",
            "merges": f"{len(self._merges):,}",
            "pattern": brief_pattern(self.pattern),
            "special tokens": f"{special} and {more:,} more" if more > 0 else special or "none",
        }
        try:
            ids = self.encode(SAMPLE, add_special_tokens=False)
        except UnknownTokenError:  # an alphabet without some letter of the sample
            return facts("Tokenizer", values)
        return facts("Tokenizer", values, coloured(map(self.token_bytes, ids)))

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
