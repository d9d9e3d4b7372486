"""Tokens and merges of a file that become Python's objects only once they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from mergewise import _core

Merge = tuple[bytes, bytes]


class StringTable(Mapping[bytes, int]):
    """The strings of tokens, and their ids or ranks."""

    def __init__(self, core: _core.Tokens) -> None:
        self.core = core

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return self.core.to_dict()

    def __getitem__(self, token: bytes) -> int:
        return self._numbers[token]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class PairTable(Sequence[Merge]):
    """The merges of a file."""

    def __init__(self, core: _core.Pairs) -> None:
        self.core = core

    @cached_property
    def _pairs(self) -> list[Merge]:
        return self.core.to_list()

    @overload
    def __getitem__(self, index: int) -> Merge: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Merge]: ...

    def __getitem__(self, index: int | slice) -> Merge | Sequence[Merge]:
        return self._pairs[index]

    def __len__(self) -> int:
        return len(self._pairs)

    def __eq__(self, other: object) -> bool:
        return self._pairs == (other._pairs if isinstance(other, PairTable) else other)

    __hash__ = None  # type: ignore[assignment]
