"""Coder: texts to ids and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias, cast

from mergewise import _core
from mergewise.arguments import check_num_threads
from mergewise.framing import Framing, padded
from mergewise.optional import import_optional
from mergewise.sources import Document
from mergewise.specials import Specials, choice_of
from mergewise.token_table import TokenTable
from mergewise.trees import Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Offsets: TypeAlias = list[tuple[int, int]]


class Coder(_core.Calls, TokenTable):
    """Encodes texts and decodes ids. Immutable."""

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

    def decode_bytes(self, ids: Iterable[int], *, skip_special_tokens: bool = False) -> bytes:
        """The bytes that ids stand for.

        With a decoder that makes texts of more than the bytes of tokens, those of the text.
        """
        return self.core.decode(ids, skip_special_tokens)

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

    def _encode_pair(
        self,
        text: Document,
        pair: Document,
        *,
        allowed_special: Specials,
        disallowed_special: Specials,
        add_special_tokens: bool,
        offsets: bool,
    ) -> list[int]:
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

    def _choice(
        self, allowed: Specials, disallowed: Specials, *, add_special_tokens: bool
    ) -> _core.Choice:
        """What a call asks of the core."""
        return self._choices(
            keyed(allowed or ()), keyed(disallowed), add_special_tokens=add_special_tokens
        )

    @cached_property
    def _choices(self) -> Callable[..., _core.Choice]:
        """Makes the choices of calls, and keeps the last ones."""
        return lru_cache(maxsize=32)(partial(framed_choice, self.core, self._framing))


def framed_choice(
    core: _core.Tokenizer,
    framing: Framing,
    allowed: Specials,
    disallowed: Specials,
    *,
    add_special_tokens: bool,
) -> _core.Choice:
    """What a call asks of the core, if it asks for a frame."""
    frame = framing.frame(add_special_tokens=add_special_tokens)
    return choice_of(core, allowed, disallowed, frame)


def keyed(specials: Specials) -> Specials:
    """The same special tokens, as a key of a dictionary."""
    return specials if isinstance(specials, str) else frozenset(specials)


def documents_of(texts: Iterable[Document]) -> Sequence[Document]:
    """The texts of a batch, which may be an Arrow array; one text alone is a mistake."""
    if isinstance(texts, (str, bytes)):
        kind = type(texts).__name__
        raise TypeError(f"expected an iterable of texts, found one {kind}; hint: encode(text)")
    is_whole = isinstance(texts, (list, tuple)) or hasattr(texts, "__arrow_c_array__")
    return cast("Sequence[Document]", texts) if is_whole else list(texts)
