"""Tokenizer: encodes texts and decodes ids."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, overload

from mergewise import _core, formats
from mergewise.arguments import check_num_threads
from mergewise.decoding import StreamDecoder
from mergewise.encoding import EncodedFile, encode_to_file
from mergewise.errors import ConversionError, UnknownTokenError
from mergewise.progress import Progress
from mergewise.sources import Document, DocumentMode, PathLike
from mergewise.vocabulary import Normalize, Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Specials: TypeAlias = Literal["all"] | Collection[str]
Tree: TypeAlias = "bytes | tuple[Tree, Tree]"
Offsets: TypeAlias = list[tuple[int, int]]


class Choice(TypedDict):
    """Which special tokens the core finds, and which it refuses."""

    allowed: list[bool]
    refused: list[bool]


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

    def __init__(self, vocabulary: Vocabulary) -> None:
        # What the caller does with its own dictionaries later changes nothing here.
        self.vocabulary = vocabulary = replace(
            vocabulary,
            tokens=dict(vocabulary.tokens),
            special_tokens=dict(vocabulary.special_tokens),
            added_tokens=dict(vocabulary.added_tokens),
        )
        check_ids(self.vocabulary)
        specials = [(text, i, False) for text, i in vocabulary.special_tokens.items()]
        specials += [(text, i, True) for text, i in vocabulary.added_tokens.items()]
        self.core = _core.Encoder(
            list(vocabulary.tokens.items()),
            merges=None if vocabulary.merges is None else list(vocabulary.merges),
            ranks=None if vocabulary.ranks is None else list(vocabulary.ranks.items()),
            alphabet=vocabulary.alphabet,
            end_of_word=vocabulary.end_of_word,
            byte_tokens=vocabulary.byte_tokens,
            unknown_token=vocabulary.unknown_token,
            fuse_unknown=vocabulary.fuse_unknown,
            whole_words=vocabulary.whole_words,
            pattern=vocabulary.pattern,
            drops_gaps=vocabulary.drops_gaps,
            normalize=vocabulary.normalize,
            prefix_space=vocabulary.prefix_space,
            mark_is_space=vocabulary.mark_is_space,
            specials=specials,
        )

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
            lossy: go on where the file asks for something that mergewise does not do.
        """
        return cls(
            formats.load(
                path, format=format, pattern=pattern, special_tokens=special_tokens, lossy=lossy
            )
        )

    def save(
        self,
        path: PathLike,
        *,
        format: str | None = None,  # noqa: A002 - the word that users know
        lossy: bool = False,
    ) -> None:
        """Write a file, whole or not at all; its name says the format.

        What the file would encode differently, or cannot say, is refused with the reason.

        Args:
            path: tokenizer.json, *.tiktoken, *.model, a folder (or vocab.json or merges.txt) for
                GPT-2's two files, or *.codes.
            format: the name of the format, if the file's name does not say it.
            lossy: write what can be written.
        """
        name = format or formats.format_of_name(Path(path))
        if not lossy:
            formats.check_supported(self.plain_vocabulary, path, name)
            self._check_conversion(path, name)
        formats.save(self.plain_vocabulary, path, format=name, lossy=True)

    def _check_conversion(self, path: PathLike, name: str) -> None:
        """Write the file elsewhere, read it back, and refuse it unless it encodes alike."""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / Path(path).name
            if Path(path).is_dir():
                copy.mkdir()
            formats.save(self.plain_vocabulary, copy, format=name, lossy=True)
            read = Tokenizer(formats.load(copy, format=name))
        if self.merges != read.merges:
            reason = "its merges would come out differently"
        elif self.core.merges != read.core.merges and self.core.ties_matter():
            reason = "merges of one rank would come in another order"
        elif self.is_by_whole_words != read.is_by_whole_words:
            reason = "some of its tokens are made by no merge, and stand for whole words alone"
        else:
            return
        raise ConversionError(
            f"{os.fspath(path)}: this tokenizer would not encode every text as before: {reason}; "
            "hint: lossy=True"
        )

    @property
    def is_by_whole_words(self) -> bool:
        """Does a word become a token that its merges would not make?"""
        return self.vocabulary.whole_words and bool(
            self.core.unreachable or self.vocabulary.end_of_word
        )

    @cached_property
    def plain_vocabulary(self) -> Vocabulary:
        """The vocabulary with the merges that texts can use, in order."""
        return replace(self.vocabulary, merges=self.merges, ranks=None)

    @cached_property
    def _merges(self) -> tuple[tuple[bytes, bytes], ...]:
        return tuple((left, right) for left, right, _ in self.core.merges)

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges in order, each as the two strings that it joins.

        Of an imported vocabulary these are the merges that some text can use.
        """
        return list(self._merges)

    @cached_property
    def vocab_size(self) -> int:
        """One more than the largest id: how many rows an embedding needs."""
        return max(all_ids(self.vocabulary), default=-1) + 1

    @property
    def pattern(self) -> str | None:
        """What cuts a text into words; None: merges cross everything."""
        return self.vocabulary.pattern

    @property
    def normalize(self) -> Normalize:
        """How texts are normalised first: None, "nfc" or "nfkc"."""
        return self.vocabulary.normalize

    @property
    def alphabet(self) -> str:
        """What a word begins as: its "bytes" or its "chars"."""
        return self.vocabulary.alphabet

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids."""
        return {**self.vocabulary.special_tokens, **self.vocabulary.added_tokens}

    @cached_property
    def _strings(self) -> dict[int, bytes]:
        vocabulary = self.vocabulary
        strings = {token_id: string for string, token_id in vocabulary.tokens.items()}
        strings.update((i, bytes([byte])) for byte, i in enumerate(vocabulary.byte_tokens or ()))
        strings.update((i, text.encode()) for text, i in self.special_tokens.items())
        if vocabulary.unknown_token is not None:
            strings.setdefault(vocabulary.unknown_token, "\ufffd".encode())
        return strings

    def token_bytes(self, token_id: int) -> bytes:
        """The string of a token."""
        if not isinstance(token_id, int):
            raise TypeError(f"an id must be an int, found {type(token_id).__name__}")
        try:
            return self._strings[token_id]
        except KeyError:
            raise UnknownTokenError(
                f"no token has the id {token_id}: there are {len(self._strings):,} tokens, "
                f"with ids below {self.vocab_size:,}"
            ) from None

    def token_id(self, string: bytes) -> int:
        """The id of the token with this string; a special token's text is not found here."""
        if not isinstance(string, bytes):
            raise TypeError(f"a token's string must be bytes, found {type(string).__name__}")
        try:
            return self.vocabulary.tokens[string]
        except KeyError:
            raise UnknownTokenError(f"no token is {string!r}") from None

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
            return self.core.encode_with_offsets(text, **choice)
        return self.core.encode(text, **choice)

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
            documents_of(texts), num_threads=checked_threads(num_threads), **choice
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
        numpy = import_numpy()
        choice = self._choice(allowed_special, disallowed_special)
        ids, offsets = self.core.encode_batch(
            documents_of(texts), num_threads=checked_threads(num_threads), **choice
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
        choice = self._choice(allowed_special, disallowed_special)
        return encode_to_file(
            self.core,
            paths,
            output,
            separator=None if end_of_document is None else self._special_id(end_of_document),
            documents=documents,
            field=field,
            dtype=dtype or ("uint16" if self.vocab_size <= 2**16 else "uint32"),
            vocab_size=self.vocab_size,
            options={**choice, "num_threads": checked_threads(num_threads)},
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
        return self.core.count(text, **self._choice(allowed_special, disallowed_special))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes that ids stand for."""
        decoded = self._decode(ids.tolist() if hasattr(ids, "tolist") else list(ids))
        if self.hides_first_space:
            decoded = decoded.removeprefix(b" ")
        return decoded.removesuffix(b" ") if self.vocabulary.end_of_word else decoded

    def _decode(self, ids: list[int]) -> bytes:
        try:
            return self.core.decode(ids)
        except OverflowError:
            raise UnknownTokenError("an id is negative, or has more than 32 bits") from None

    @property
    def hides_first_space(self) -> bool:
        """Does decoding take away a first space, which is not the text's own?"""
        prefix_space, is_marked = self.vocabulary.prefix_space, self.vocabulary.mark_is_space
        return prefix_space in {"always", "once"} or (is_marked and prefix_space is not None)

    def decode(self, ids: Iterable[int], *, errors: str = "replace") -> str:
        """The text that ids stand for; `errors` is for bytes that are not UTF-8."""
        return self.decode_bytes(ids).decode(errors=errors)

    def decode_batch(self, batch: Iterable[Iterable[int]], *, errors: str = "replace") -> list[str]:
        """The text of each sequence of ids."""
        return [self.decode(ids, errors=errors) for ids in batch]

    def stream_decoder(self, *, errors: str = "replace") -> StreamDecoder:
        """A decoder that takes ids as they come, and never gives out half a character.

        >>> from mergewise import count, train
        >>> decoder = train(count(["é"]), num_merges=0).stream_decoder()
        >>> decoder.add(0xC3), decoder.add(0xA9), decoder.finish()
        ('', 'é', '')
        """
        return StreamDecoder(
            self._decode,
            skips_first_space=self.hides_first_space,
            skips_last_space=bool(self.vocabulary.end_of_word),
            errors=errors,
        )

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
        if self.vocabulary.tokens.get(string) != token_id:
            return string
        # Trees may be deeper than Python's calls: parts are listed before they are joined.
        to_do: list[bytes] = [string]
        listed: list[bytes] = []
        while to_do:
            listed.append(to_do.pop())
            to_do += self._parts.get(listed[-1], ())
        grown: list[Tree] = []
        for part in reversed(listed):
            if part in self._parts:
                right, left = grown.pop(), grown.pop()
                grown.append((left, right))
            else:
                grown.append(part)
        return grown[0]

    def forest(self, text: Document, *, allowed_special: Specials = ()) -> list[Tree]:
        """The merge trees of a text's tokens, in order."""
        ids = self.encode(text, allowed_special=allowed_special)
        return [self.tree(token_id) for token_id in ids]

    def _choice(self, allowed: Specials, disallowed: Specials) -> Choice:
        """Which special tokens to find and which to refuse, for the core."""
        if not allowed and disallowed == "all":
            return self._usual_choice
        names = [*self.vocabulary.special_tokens, *self.vocabulary.added_tokens]
        num_special = len(self.vocabulary.special_tokens)
        for argument, given in (("allowed", allowed), ("disallowed", disallowed)):
            if isinstance(given, str) and given != "all":
                raise TypeError(
                    f'{argument}_special must be "all" or a collection of strings, found {given!r}'
                )
            unknown = set(given) - set(names) if given != "all" else None
            if unknown:
                raise ValueError(f"{argument}_special: {min(unknown)!r} is not a special token")
        is_allowed = [allowed == "all" or name in allowed for name in names]
        is_refused = [
            index < num_special
            and (not is_allowed[index] if disallowed == "all" else name in disallowed)
            for index, name in enumerate(names)
        ]
        return {"allowed": is_allowed, "refused": is_refused}

    @cached_property
    def _usual_choice(self) -> Choice:
        is_special = [True] * len(self.vocabulary.special_tokens)
        is_added = [False] * len(self.vocabulary.added_tokens)
        return {"allowed": [False] * len(is_special + is_added), "refused": is_special + is_added}

    def _special_id(self, text: str) -> int:
        try:
            return self.special_tokens[text]
        except KeyError:
            known = ", ".join(map(repr, self.special_tokens)) or "none"
            raise ValueError(f"{text!r} is not a special token; there are: {known}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self._meaning == other._meaning and self.core.merges == other.core.merges

    def __hash__(self) -> int:
        return hash((self.vocab_size, self.pattern, self._merges[-8:]))

    @property
    def _meaning(self) -> Vocabulary:
        """The vocabulary without what encoding does not depend on."""
        return replace(
            self.vocabulary,
            tokens=dict(self.vocabulary.tokens),
            merges=None,
            ranks=None,
            whole_words=self.is_by_whole_words,
            extras={},
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tokenizer, (self.vocabulary,))

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, _: object) -> Tokenizer:
        return self

    def __repr__(self) -> str:
        return f"<Tokenizer: {self.vocab_size:,} tokens, pattern={self.pattern!r}>"


def all_ids(vocabulary: Vocabulary) -> list[int]:
    """Every id of a vocabulary."""
    ids = [*vocabulary.tokens.values(), *(vocabulary.byte_tokens or ())]
    ids += [*vocabulary.special_tokens.values(), *vocabulary.added_tokens.values()]
    return ids if vocabulary.unknown_token is None else [*ids, vocabulary.unknown_token]


def check_ids(vocabulary: Vocabulary) -> None:
    """Refuse ids that are none, and special tokens that would be found everywhere."""
    ids = all_ids(vocabulary)
    if ids and not 0 <= min(ids) <= max(ids) < 2**32:
        raise ValueError(f"ids must be from 0 to 2^32 - 1, found {min(ids)} to {max(ids)}")
    if "" in vocabulary.special_tokens or "" in vocabulary.added_tokens:
        raise ValueError("a special token must not be empty")


def documents_of(texts: Iterable[Document]) -> Sequence[Document]:
    """The texts of a batch; one text alone is a mistake."""
    if isinstance(texts, (str, bytes)):
        kind = type(texts).__name__
        raise TypeError(f"expected an iterable of texts, found one {kind}; hint: encode(text)")
    return texts if isinstance(texts, (list, tuple)) else list(texts)


def checked_threads(num_threads: int) -> int:
    """The number of threads, if it can be one."""
    check_num_threads(num_threads)
    return num_threads


def import_numpy() -> Any:  # noqa: ANN401 - a module
    """The package numpy, which is optional."""
    try:
        import numpy  # noqa: ICN001, PLC0415
    except ImportError:
        raise ImportError('this needs numpy: pip install "mergewise[numpy]"') from None
    return numpy
