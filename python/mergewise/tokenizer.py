"""Tokenizer: encodes texts and decodes ids."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

from mergewise import _core, formats
from mergewise.arguments import check_num_threads
from mergewise.decoding import NOT_AN_ID, StreamDecoder
from mergewise.encoding import EncodedFile, encode_to_file
from mergewise.errors import ConversionError, FormatError, InputError, UnknownTokenError
from mergewise.files import checked_path, write_files
from mergewise.optional import import_optional
from mergewise.progress import Progress
from mergewise.sources import Document, DocumentMode, PathLike
from mergewise.specials import Specials, choice_of
from mergewise.trees import Tree, grown
from mergewise.vocabulary import Alphabet, Normalize, Vocabulary, vocabulary_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Offsets: TypeAlias = list[tuple[int, int]]


class Tokenizer:
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

    def __init__(self, vocabulary: Vocabulary | _core.Tokenizer) -> None:
        self._extras: Mapping[str, Any] = {}
        if isinstance(vocabulary, Vocabulary):
            self._extras = vocabulary.extras
            try:
                vocabulary = _core.Tokenizer(vocabulary)
            except OverflowError:
                raise ValueError("ids must be from 0 to 2^32 - 1") from None
        self.core = vocabulary

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All that decides how a text is encoded; the merges are those that texts can use."""
        return vocabulary_of(self.core.fields(), self._extras)

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
        name = format or formats.format_of_name(checked_path(path))
        if not lossy:
            formats.check_supported(self.plain_vocabulary, path, name)
        files = formats.files_of(self.plain_vocabulary, path, name)
        if not lossy:
            self._check_conversion(path, name, files)
        write_files(files)

    def _check_conversion(self, path: PathLike, name: str, files: Mapping[Path, bytes]) -> None:
        """Write the files elsewhere, read them back, and refuse them unless they encode alike."""
        with tempfile.TemporaryDirectory(prefix="mergewise-") as folder:
            for file, content in files.items():
                Path(folder, file.name).write_bytes(content)
            copy = Path(folder) if Path(path).is_dir() else Path(folder, Path(path).name)
            try:
                reason = self._difference_from(Tokenizer(formats.load(copy, format=name)))
            except (FormatError, InputError) as error:
                reason = f"the file could not be read: {error.message}"
        if reason is not None:
            raise ConversionError(
                f"this tokenizer would not encode every text as before: {reason}",
                path=os.fspath(path),
                hint="write_lossy",
            )

    def _difference_from(self, other: Tokenizer) -> str | None:
        """Why the other does not encode every text alike; None if it does."""
        if self.merges != other.merges:
            return "its merges would come out differently"
        if self.core.ranks != other.core.ranks and self.core.ties_matter():
            return "merges of one rank would come in another order"
        if self.is_by_whole_words != other.is_by_whole_words:
            return "some of its tokens are made by no merge, and stand for whole words alone"
        return None

    @property
    def is_by_whole_words(self) -> bool:
        """Whether some word becomes a token that its merges would not make."""
        return self.core.is_by_whole_words

    @cached_property
    def plain_vocabulary(self) -> Vocabulary:
        """The vocabulary with the merges that texts can use, in order."""
        return replace(self.vocabulary, merges=self.merges, ranks=None)

    @cached_property
    def _merges(self) -> tuple[tuple[bytes, bytes], ...]:
        return tuple(self.core.merges)

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges in order, each as the two strings that it joins.

        Of an imported vocabulary these are the merges that some text can use.
        """
        return list(self._merges)

    @property
    def vocab_size(self) -> int:
        """One more than the largest id: how many rows an embedding needs."""
        return self.core.vocab_size

    @property
    def pattern(self) -> str | None:
        """What cuts a text into words; None: merges cross everything."""
        return self.core.pattern

    @property
    def normalize(self) -> Normalize:
        """How texts are normalised first: None, "nfc" or "nfkc"."""
        return self.core.normalize

    @property
    def alphabet(self) -> Alphabet:
        """What a word begins as: its "bytes" or its "chars"."""
        return self.core.alphabet

    @cached_property
    def _specials(self) -> tuple[dict[str, int], dict[str, int]]:
        """The special tokens that are found where they are allowed, and those found everywhere."""
        return self.core.specials(always=False), self.core.specials(always=True)

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids."""
        allowed, always = self._specials
        return {**allowed, **always}

    def token_bytes(self, token_id: int) -> bytes:
        """The string of a token."""
        if not isinstance(token_id, int):
            raise TypeError(f"an id must be an int, found {type(token_id).__name__}")
        try:
            return self.core.token_bytes(token_id)
        except OverflowError:
            raise UnknownTokenError(f"no token has the id {token_id}") from None

    def token_id(self, string: bytes) -> int:
        """The id of the token with this string; a special token's text is not found here."""
        if not isinstance(string, bytes):
            raise TypeError(f"a token's string must be bytes, found {type(string).__name__}")
        token_id = self.core.token_id(string)
        if token_id is None:
            raise UnknownTokenError(f"no token is {string!r}")
        return token_id

    @overload
    def encode(
        self,
        text: Document,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        offsets: Literal[False] = ...,
    ) -> list[int]: ...

    @overload
    def encode(
        self,
        text: Document,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        offsets: Literal[True],
    ) -> tuple[list[int], Offsets]: ...

    def encode(
        self,
        text: Document,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        offsets: bool = False,
    ) -> list[int] | tuple[list[int], Offsets]:
        """The ids of a text.

        The text of a special token is an error unless it is allowed, where it becomes that token,
        or not disallowed, where it is encoded like any other text: what a user typed should not
        pass for a special token by accident.

        Args:
            text: `str` or `bytes`.
            allowed_special: special tokens to find in the text, or "all".
            disallowed_special: special tokens to refuse, or "all" that are not allowed.
            offsets: also return where each token begins and ends in the text: in characters of a
                `str`, in `bytes` else.
        """
        choice = self._choice(allowed_special, disallowed_special)
        if offsets:
            return self.core.encode_with_offsets(text, choice)
        return self.core.encode(text, choice)

    def encode_batch(
        self,
        texts: Iterable[Document],
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        num_threads: int = 0,
    ) -> list[list[int]]:
        """The ids of each text; see `encode`. `num_threads=0` means all cores."""
        choice = self._choice(allowed_special, disallowed_special)
        return self.core.encode_batch_lists(
            documents_of(texts), choice, num_threads=check_num_threads(num_threads)
        )

    def encode_batch_numpy(
        self,
        texts: Iterable[Document],
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        num_threads: int = 0,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The ids of all texts, one after the other, and where each text's begin.

        Text `i` has the ids `ids[offsets[i]:offsets[i + 1]]`. No Python integers are made. See
        `encode`; `num_threads=0` means all cores.
        """
        numpy = import_optional("numpy", extra="numpy", package="numpy")
        choice = self._choice(allowed_special, disallowed_special)
        ids, offsets = self.core.encode_batch(
            documents_of(texts), choice, num_threads=check_num_threads(num_threads)
        )
        return numpy.asarray(ids), numpy.asarray(offsets)

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
            choice=self._choice(allowed_special, disallowed_special),
            num_threads=check_num_threads(num_threads),
            progress=progress,
        )

    def count_tokens(
        self,
        text: Document,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> int:
        """How many ids a text has, without making them; see `encode`."""
        return self.core.count(text, self._choice(allowed_special, disallowed_special))

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

    @cached_property
    def _parts(self) -> dict[bytes, tuple[bytes, bytes]]:
        return {left + right: (left, right) for left, right in self._merges}

    def tree(self, token_id: int) -> Tree:
        """How a token is made: a symbol, or the trees of the two that merge.

        >>> from mergewise import count, train
        >>> train(count(["low low"], pattern="whitespace"), num_merges=2).tree(257)
        ((b'l', b'o'), b'w')
        """
        string = self.token_bytes(token_id)
        if self.core.token_id(string) != token_id:
            return string
        # Trees may be deeper than Python's calls: parts are listed before they are joined.
        to_do: list[bytes] = [string]
        listed: list[bytes | None] = []
        while to_do:
            part = to_do.pop()
            parts = self._parts.get(part)
            listed.append(None if parts else part)
            to_do += parts or ()
        return grown(reversed(listed))

    def forest(self, text: Document, *, allowed_special: Specials = ()) -> list[Tree]:
        """The merge trees of a text's tokens, in order."""
        ids = self.encode(text, allowed_special=allowed_special)
        return [self.tree(token_id) for token_id in ids]

    def _choice(self, allowed: Specials, disallowed: Specials) -> _core.Choice:
        """Which special tokens to find and which to refuse, for the core."""
        if not allowed and disallowed == "all":
            return self._usual_choice
        return choice_of(*self._specials, allowed, disallowed)

    @cached_property
    def _usual_choice(self) -> _core.Choice:
        return choice_of(*self._specials, (), "all")

    def _special_id(self, text: str) -> int:
        try:
            return self.special_tokens[text]
        except KeyError:
            known = ", ".join(map(repr, self.special_tokens)) or "none"
            raise ValueError(f"{text!r} is not a special token; there are: {known}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self.core == other.core

    def __hash__(self) -> int:
        return hash((self.vocab_size, self.pattern, self._merges[-8:]))

    def __getstate__(self) -> tuple[bytes, Mapping[str, Any]]:
        return self.core.to_bytes(), self._extras

    def __setstate__(self, state: tuple[bytes, Mapping[str, Any]]) -> None:
        self.core, self._extras = _core.Tokenizer.from_bytes(state[0]), state[1]

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, _: object) -> Tokenizer:
        return self

    def __repr__(self) -> str:
        return f"<Tokenizer: {self.vocab_size:,} tokens, pattern={self.pattern!r}>"


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
