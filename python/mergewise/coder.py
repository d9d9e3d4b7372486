"""Coder: texts to ids and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, overload

from mergewise import _core
from mergewise.arguments import check_num_threads
from mergewise.framing import padded
from mergewise.optional import import_optional
from mergewise.sources import Document
from mergewise.specials import Specials, choice_of
from mergewise.token_table import TokenTable
from mergewise.trees import Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Offsets: TypeAlias = list[tuple[int, int]]


class Coder(TokenTable):
    """Encodes texts and decodes ids. Immutable."""

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
        choice = choice_of(self.core, allowed_special, disallowed_special)
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
        return self.core.decode(ids, skip_special_tokens)

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
        return self.core.decode_text(ids, skip_special_tokens)

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
    ) -> _core.StreamDecoder:
        """A decoder that takes ids as they come, and never gives out half a character.

        >>> from mergewise import count, train
        >>> decoder = train(count(["é"]), num_merges=0).stream_decoder()
        >>> decoder.add(0xC3), decoder.add(0xA9), decoder.finish()
        ('', 'é', '')
        """
        return _core.StreamDecoder(
            self.core, skip_special_tokens=skip_special_tokens, errors=errors
        )

    def forest(self, text: Document, *, allowed_special: Specials = ()) -> list[Tree]:
        """The merge trees of a text's tokens, in order."""
        ids = self.encode(text, allowed_special=allowed_special, add_special_tokens=False)
        return [self.tree(token_id) for token_id in ids]

    def _choice(
        self, allowed: Specials, disallowed: Specials, *, add_special_tokens: bool
    ) -> _core.Choice:
        """What a call asks of the core."""
        if not allowed and disallowed == "all" and add_special_tokens:
            return self._usual_choice
        frame = self._framing.frame(add_special_tokens=add_special_tokens)
        return choice_of(self.core, allowed, disallowed, frame)

    @cached_property
    def _usual_choice(self) -> _core.Choice:
        return choice_of(self.core, (), "all", self._framing.frame(add_special_tokens=True))


def documents_of(texts: Iterable[Document]) -> Sequence[Document]:
    """The texts of a batch, which may be an Arrow array; one text alone is a mistake."""
    if isinstance(texts, (str, bytes)):
        kind = type(texts).__name__
        raise TypeError(f"expected an iterable of texts, found one {kind}; hint: encode(text)")
    is_whole = isinstance(texts, (list, tuple)) or hasattr(texts, "__arrow_c_array__")
    return cast("Sequence[Document]", texts) if is_whole else list(texts)
