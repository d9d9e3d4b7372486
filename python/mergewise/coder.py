"""Coder: texts to ids and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

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


class Chunk(NamedTuple):
    """Neighbouring ids of a text.

    Attributes:
        ids: the ids.
        start: where what they stand for begins in the text: in characters of a `str`, in `bytes`
            else.
        end: where it ends.
    """

    ids: list[int]
    start: int
    end: int


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
        return batch if padding is None else padded(batch, padding, padding.id)

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

    def session(
        self,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
    ) -> _core.Session:
        """A text that grows, and its ids; see `encode` for the options.

        At every moment they are the ids that `encode` makes of the whole text. `append` returns how
        many ids stay, and those that follow; `truncate` cuts the text off behind a number of
        characters; `fork` is a session of its own that shares the history.

        The cost of an `append` follows the appended text and the last, unfinished word. Where
        nothing tells which ids stay, it follows all that stands behind the last special token: with
        steps of a tokenizer.json that the fields of a vocabulary cannot say, and with expressions
        that no automaton matches.

        >>> from mergewise import count, train
        >>> session = train(count(["low lower lowest"]), num_merges=3).session()
        >>> session.append("a lo"), session.append("w")
        ((0, [97, 32, 256]), (1, [258]))
        >>> session.text, session.ids
        ('a low', [97, 258])
        >>> other = session.fork()
        >>> other.truncate(1)
        >>> other.ids, session.ids
        ([97], [97, 258])
        """
        return _core.Session(
            self.core,
            self._choice(
                allowed_special, disallowed_special, add_special_tokens=add_special_tokens
            ),
        )

    def stream_encoder(
        self,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
    ) -> _core.StreamEncoder:
        """An encoder that takes a text in parts, and gives out ids that no further text changes.

        >>> from mergewise import count, train
        >>> encoder = train(count(["low lower lowest"]), num_merges=3).stream_encoder()
        >>> encoder.add("a lo"), encoder.add("w"), encoder.finish()
        ([97], [], [258])
        """
        return _core.StreamEncoder(
            self.core,
            self._choice(
                allowed_special, disallowed_special, add_special_tokens=add_special_tokens
            ),
        )

    def encode_stream(
        self,
        chunks: Iterable[Document],
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
    ) -> Iterator[int]:
        """The ids of a text that comes in parts, each as soon as no further text changes it.

        Together they are those that `encode` makes of the joined text.

        >>> from mergewise import count, train
        >>> tok = train(count(["low lower lowest"]), num_merges=3)
        >>> list(tok.encode_stream(["a l", "ow", "er"]))
        [97, 258, 101, 114]
        """
        encoder = self.stream_encoder(
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            add_special_tokens=add_special_tokens,
        )
        for chunk in chunks:
            yield from encoder.add(chunk)
        yield from encoder.finish()

    def chunk(
        self,
        text: Document,
        max_tokens: int,
        *,
        overlap: int = 0,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> list[Chunk]:
        """The ids of a text in chunks of at most `max_tokens`, and where each stands in the text.

        The chunks are parts of the ids that `encode` makes of the whole text, without special
        tokens around it; each begins with the last `overlap` ids of the one before.
        `text[start:end]` is what a chunk stands for. A character whose tokens are in two chunks is
        in both.

        >>> from mergewise import count, train
        >>> tok = train(count(["low lower lowest"]), num_merges=3)
        >>> tok.chunk("lowest low", 4)
        [Chunk(ids=[257, 101, 115, 116], start=0, end=6), Chunk(ids=[258], start=6, end=10)]
        """
        if max_tokens < 1 or not 0 <= overlap < max_tokens:
            raise ValueError(
                f"expected 0 <= overlap < max_tokens, found {overlap} and {max_tokens}"
            )
        ids, places = self.core.encode_with_offsets(
            text, choice_of(self.core, allowed_special, disallowed_special)
        )
        step = max_tokens - overlap
        starts = range(0, max(len(ids) - overlap, 1), step)
        return [chunk_of(ids, places, start, start + max_tokens) for start in starts]

    def truncate(
        self,
        text: Document,
        max_tokens: int,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> Chunk:
        """The first `max_tokens` ids of a text, and which beginning of it they stand for.

        They are the first of those that `encode` makes of the whole text, without special tokens
        around it. A character only some of whose tokens are among them is in `text[:end]`.

        >>> from mergewise import count, train
        >>> train(count(["low lower lowest"]), num_merges=3).truncate("lowest low", 2)
        Chunk(ids=[257, 101], start=0, end=4)
        """
        if max_tokens < 0:
            raise ValueError(f"expected max_tokens of at least 0, found {max_tokens}")
        ids, places = self.core.encode_with_offsets(
            text, choice_of(self.core, allowed_special, disallowed_special)
        )
        return chunk_of(ids, places, 0, max_tokens)

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


def chunk_of(ids: Sequence[int], places: Offsets, start: int, end: int) -> Chunk:
    """The ids from one to another, and where they stand in the text."""
    places = places[start:end]
    return Chunk(
        list(ids[start:end]),
        min((place[0] for place in places), default=0),
        max((place[1] for place in places), default=0),
    )


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
