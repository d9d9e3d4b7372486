"""Templates: what a post-processor of tokenizers puts around texts, and the types of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mergewise.coder import Offsets
from mergewise.framing import Frame, Truncation
from mergewise.optional import import_optional

# The texts of which a post-processor shows what it puts around them.
SAMPLES = ("a", "b")


class Part(NamedTuple):
    """A special token, or the place of a text.

    Attributes:
        text: which of the texts stands here, from 0; None: a special token.
        id: that of the special token.
        type: the number in `token_type_ids`, for each token.
    """

    text: int | None
    id: int
    type: int


class Template(NamedTuple):
    """The parts of a row of ids."""

    parts: tuple[Part, ...]

    @property
    def num_added(self) -> int:
        """How many special tokens there are."""
        return sum(part.text is None for part in self.parts)

    def frame(self, limit: Truncation | None, bare: Frame) -> Frame:
        """What the core puts around one text, beside what `bare` asks for."""
        place = next(index for index, part in enumerate(self.parts) if part.text is not None)
        return bare._replace(
            before=tuple(part.id for part in self.parts[:place]),
            after=tuple(part.id for part in self.parts[place + 1 :]),
            max_length=limit and limit.max_length,
            cuts_left=limit is not None and limit.side == "left",
        )

    def ids(self, texts: Sequence[Sequence[int]]) -> list[int]:
        """A row of ids, of those of each text."""
        row: list[int] = []
        for part in self.parts:
            row += [part.id] if part.text is None else texts[part.text]
        return row

    def offsets(self, texts: Sequence[Offsets]) -> Offsets:
        """A row of offsets; special tokens are nowhere, which is (0, 0)."""
        row: Offsets = []
        for part in self.parts:
            row += [(0, 0)] if part.text is None else texts[part.text]
        return row

    def types(self, lengths: Sequence[int]) -> list[int]:
        """The types of the tokens of a row, by how many each text has."""
        row: list[int] = []
        for part in self.parts:
            row += [part.type] * (1 if part.text is None else lengths[part.text])
        return row

    def specials(self, lengths: Sequence[int]) -> list[int]:
        """1 for each special token of a row that the template puts there, 0 for others."""
        row: list[int] = []
        for part in self.parts:
            row += [1] if part.text is None else [0] * lengths[part.text]
        return row


def template_of(post_processor: Any, *, is_pair: bool, add_special_tokens: bool) -> Template:  # noqa: ANN401 - of tokenizers
    """The template of a post-processor, which is shown one token for each text.

    >>> template_of(None, is_pair=True, add_special_tokens=True)
    Template(parts=(Part(text=0, id=0, type=0), Part(text=1, id=1, type=1)))
    """
    tokenizers = import_optional("tokenizers", extra="huggingface", package="tokenizers")
    vocabulary = {text: index for index, text in enumerate(SAMPLES)}
    shown = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=SAMPLES[0]))
    if post_processor is not None:
        shown.post_processor = post_processor
    texts = SAMPLES if is_pair else SAMPLES[:1]
    row = shown.encode(*texts, add_special_tokens=add_special_tokens)
    return Template(tuple(parts(row.ids, row.type_ids, row.special_tokens_mask)))


def parts(ids: Iterable[int], types: Iterable[int], specials: Iterable[int]) -> Iterable[Part]:
    """The parts of a row; the ids of texts are their numbers."""
    for token_id, type_, special in zip(ids, types, specials, strict=True):
        yield Part(None if special else token_id, token_id, type_)
