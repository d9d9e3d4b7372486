"""What is put around the ids of a text: special tokens, a greatest length, padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias, TypeVar

Side: TypeAlias = Literal["left", "right"]
Strategy: TypeAlias = Literal["longest_first", "only_first", "only_second"]
Item = TypeVar("Item")
# The places of the first and the second text in the template of a pair.
FIRST, SECOND = "first", "second"


class Padding(NamedTuple):
    """An id that is put beside the ids of texts that have too few.

    Attributes:
        id: the id.
        length: how many ids a text then has; None: as many as the longest of its batch.
        multiple_of: their number is a multiple of this, if it is not 0.
        side: where the id is put.
    """

    id: int
    length: int | None = None
    multiple_of: int = 0
    side: Side = "right"

    @property
    def is_left(self) -> bool:
        """Whether the id is put before the others."""
        return self.side == "left"


class Truncation(NamedTuple):
    """The most ids that a text may have, those around it included.

    Attributes:
        max_length: how many.
        side: where ids are cut off.
        strategy: which of two texts is cut.
    """

    max_length: int
    side: Side = "right"
    strategy: Strategy = "longest_first"


@dataclass(frozen=True, kw_only=True)
class Framing:
    """What is around the ids of a text, as the tokenizer's file says it.

    Attributes:
        before: the ids before a text's.
        after: the ids behind them.
        pair: for two texts: ids, and the places of the texts among them; without a template, the
            second text follows the first.
        truncation: the most ids that there may be.
        padding: what makes the ids of all texts of a batch equally many.
        trims_spaces: whether white space at the ends of tokens is left out of their offsets; if so,
            whether one space that may have been put before the text is kept. None: it is not.
    """

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    pair: tuple[int | str, ...] = (FIRST, SECOND)
    truncation: Truncation | None = None
    padding: Padding | None = None
    trims_spaces: bool | None = None

    def frame(self, *, add_special_tokens: bool) -> Frame:
        """What the core puts around a text."""
        whole = self if add_special_tokens else replace(self, before=(), after=())
        limit = self.truncation
        return Frame(
            before=whole.before,
            after=whole.after,
            max_length=limit and limit.max_length,
            cuts_left=limit is not None and limit.side == "left",
            padding=self.padding,
            trims_spaces=self.trims_spaces,
        )

    @property
    def bare(self) -> Frame:
        """A frame without any ids, which leaves them as they are."""
        return Frame(trims_spaces=self.trims_spaces)

    def joined(
        self, first: Sequence[int], second: Sequence[int], *, add_special_tokens: bool
    ) -> list[int]:
        """The ids of two texts as one sequence."""
        kinds = (int, str) if add_special_tokens else str
        template = [part for part in self.pair if isinstance(part, kinds)]
        num_added = sum(isinstance(part, int) for part in template)
        if self.truncation is not None:
            first, second = truncated(first, second, self.truncation, num_added)
        texts = {FIRST: first, SECOND: second}
        ids: list[int] = []
        for part in template:
            ids += [part] if isinstance(part, int) else texts[part]
        return ids


class Frame(NamedTuple):
    """What the core puts around the ids of each text of a call."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    max_length: int | None = None
    cuts_left: bool = False
    padding: Padding | None = None
    trims_spaces: bool | None = None


def truncated(
    first: Sequence[int], second: Sequence[int], limit: Truncation, num_added: int
) -> tuple[Sequence[int], Sequence[int]]:
    """Two texts with at most as many ids as there is room for.

    >>> truncated([1, 2, 3], [4, 5, 6], Truncation(5), 1)
    ([1, 2], [4, 5])
    """
    room = max(limit.max_length - num_added, 0)
    lengths = [len(first), len(second)]
    excess = sum(lengths) - room
    if excess <= 0:
        return first, second
    if limit.strategy == "longest_first" or room == 0:
        lengths = longest_first(lengths, room)
    else:
        cut = 0 if limit.strategy == "only_first" else 1
        if lengths[cut] <= excess:
            name = ("first", "second")[cut]
            raise ValueError(f"the {name} text is too short to be cut to {limit.max_length} ids")
        lengths[cut] -= excess
    return cut_off(first, lengths[0], limit.side), cut_off(second, lengths[1], limit.side)


def longest_first(lengths: list[int], room: int) -> list[int]:
    """How many ids each of two texts keeps: the longer one gives first."""
    shorter = min(lengths)
    longer = shorter if shorter > room else max(shorter, room - shorter)
    if shorter + longer > room:
        shorter = room // 2
        longer = shorter + room % 2
    return [shorter, longer] if lengths[0] <= lengths[1] else [longer, shorter]


def cut_off(ids: Sequence[int], length: int, side: Side) -> Sequence[int]:
    """The first or the last ids."""
    return ids[len(ids) - length :] if side == "left" else ids[:length]


def padded(batch: list[list[Item]], padding: Padding, value: Item) -> list[list[Item]]:
    """Rows of ids, or of as many other values, filled up to the same length."""
    length = padding.length if padding.length is not None else max(map(len, batch), default=0)
    if padding.multiple_of:
        length += -length % padding.multiple_of
    if padding.is_left:
        return [[value] * (length - len(row)) + row for row in batch]
    return [row + [value] * (length - len(row)) for row in batch]
