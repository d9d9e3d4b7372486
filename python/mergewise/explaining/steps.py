"""Greedy training one step at a time: the paper's Algorithm 2, with all of its state visible.

`formal.fast_greedy` is the same algorithm; tests compare the two.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Id: TypeAlias = int
Place: TypeAlias = int
Pair: TypeAlias = tuple[Id, Id]
# What the heap orders: minus the count, then the ids, so that the first is the best.
Entry: TypeAlias = tuple[int, Id, Id]
Places: TypeAlias = Mapping[Pair, tuple[Place, ...]]
Kind: TypeAlias = Literal["start", "choose", "replace", "push", "recount", "drop", "end"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """Everything that the algorithm holds after a step.

    Attributes:
        kind: what was done. "start": all was built. "choose": the pair on top of the heap became a
            merge. "replace": it was replaced at one place. "push": the pairs that this made went
            into the heap. "recount": the count of the pair on top was out of date, and the pair
            went back. "drop": it no longer occurs, and left. "end": there are merges enough, or
            no pair is left.
        pair: what it was done with.
        place: where, for "replace".
        old_count: the count that was out of date, for "recount" and "drop".
        tokens: the linked list, from left to right: the place and the id of each token.
        heap: the heap, in the order of its array.
        places: where each pair that occurs begins; all occurrences, overlapping ones too.
        counts: how often each of these pairs occurs without overlap.
        added: the positions that pairs gained in this step.
        removed: the positions that pairs lost in it.
        pushed: the entries that are new in the heap.
        popped: the entries that left it.
        waiting: the places where the pair will still be replaced.
        num_merges: how many merges there are, the one under way included.
    """

    kind: Kind
    pair: Pair | None
    place: Place | None = None
    old_count: int = 0
    tokens: tuple[tuple[Place, Id], ...]
    heap: tuple[Entry, ...]
    places: Places
    counts: Mapping[Pair, int]
    added: Places
    removed: Places
    pushed: tuple[Entry, ...]
    popped: tuple[Entry, ...]
    waiting: tuple[Place, ...] = ()
    num_merges: int


@dataclass
class Greedy:
    """Algorithm 2 on one text, over its characters.

    >>> run = Greedy("abaabbaa", 2)
    >>> [step.kind for step in run.steps()][:4]
    ['start', 'choose', 'replace', 'replace']
    >>> [(run.names[left], run.names[right]) for left, right in run.merges]
    [('a', 'a'), ('b', 'aa')]
    """

    text: str
    num_merges: int
    names: list[str] = field(init=False)
    merges: list[Pair] = field(init=False, default_factory=list)
    gains: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.names = sorted(set(self.text))
        ids = {name: number for number, name in enumerate(self.names)}
        self.ids: list[Id | None] = [ids[symbol] for symbol in self.text]
        self.next: list[Place] = list(range(1, len(self.text) + 1))
        self.previous: list[Place] = list(range(-1, len(self.text) - 1))
        self.places: dict[Pair, set[Place]] = {}
        self.heap: list[Entry] = []
        self.before: tuple[Places, tuple[Entry, ...]] | None = None

    def steps(self) -> Iterator[Step]:
        """Run the algorithm."""
        for place in range(len(self.text) - 1):
            self.add_position(place)
        self.heap = [self.entry(pair) for pair in self.places]
        heapq.heapify(self.heap)
        yield self.seen("start")
        while self.heap and len(self.merges) < self.num_merges:
            old_count, pair = -self.heap[0][0], self.heap[0][1:]
            entry = self.entry(pair)
            if entry[0] == 0:
                heapq.heappop(self.heap)
                yield self.seen("drop", pair, old_count=old_count)
            elif -entry[0] != old_count:
                heapq.heapreplace(self.heap, entry)
                yield self.seen("recount", pair, old_count=old_count)
            else:
                heapq.heappop(self.heap)
                yield from self.merge(pair)
        yield self.seen("end")

    def merge(self, pair: Pair) -> Iterator[Step]:
        """Replace a pair wherever it occurs."""
        waiting = self.separate_places(pair)
        product = len(self.names)
        self.names.append(self.names[pair[0]] + self.names[pair[1]])
        self.merges.append(pair)
        self.gains.append(len(waiting))
        yield self.seen("choose", pair, waiting=tuple(waiting))
        made: set[Pair] = set()
        for index, place in enumerate(waiting):
            made |= self.replace(place, product)
            yield self.seen("replace", pair, place=place, waiting=tuple(waiting[index + 1 :]))
        for new in sorted(made):
            heapq.heappush(self.heap, self.entry(new))
        if made:
            yield self.seen("push", pair)

    def replace(self, place: Place, product: Id) -> set[Pair]:
        """Join the token at a place with the next one; the pairs that this made."""
        before, partner = self.previous[place], self.next[place]
        after = self.next[partner]
        for left in (before, place, partner):
            self.remove_position(left)
        self.ids[place], self.ids[partner] = product, None
        self.next[place] = after
        if after < len(self.text):
            self.previous[after] = place
        return {*self.add_position(before), *self.add_position(place)}

    def pair_at(self, place: Place) -> Pair | None:
        """The pair that begins at a place."""
        if place < 0 or self.next[place] >= len(self.text):
            return None
        left, right = self.ids[place], self.ids[self.next[place]]
        return None if left is None or right is None else (left, right)

    def add_position(self, place: Place) -> list[Pair]:
        """Note the pair that begins at a place, if one does."""
        pair = self.pair_at(place)
        if pair is None:
            return []
        self.places.setdefault(pair, set()).add(place)
        return [pair]

    def remove_position(self, place: Place) -> None:
        """Forget the pair that begins at a place, if one does."""
        pair = self.pair_at(place)
        if pair is not None:
            self.places[pair].discard(place)

    def separate_places(self, pair: Pair) -> list[Place]:
        """Where a pair can be replaced, from left to right, without overlap."""
        kept: list[Place] = []
        for place in sorted(self.places[pair]):
            if not kept or self.next[kept[-1]] != place:
                kept.append(place)
        return kept

    def entry(self, pair: Pair) -> Entry:
        """The entry of a pair in the heap."""
        return -len(self.separate_places(pair)), *pair

    def seen(self, kind: Kind, pair: Pair | None = None, **details: Any) -> Step:  # noqa: ANN401
        """The current state as a step, with the `details` that only some kinds have."""
        tokens = ((at, number) for at, number in enumerate(self.ids) if number is not None)
        places = {key: tuple(sorted(at)) for key, at in sorted(self.places.items()) if at}
        heap = tuple(self.heap)
        # Nothing changes in the first step.
        old_places, old_heap = self.before or (places, heap)
        self.before = places, heap
        return Step(
            kind=kind,
            pair=pair,
            tokens=tuple(tokens),
            heap=heap,
            places=places,
            counts={key: len(self.separate_places(key)) for key in places},
            added=gained(old_places, places),
            removed=gained(places, old_places),
            pushed=tuple(entry for entry in heap if entry not in old_heap),
            popped=tuple(entry for entry in old_heap if entry not in heap),
            num_merges=len(self.merges),
            **details,
        )


def gained(before: Places, now: Places) -> Places:
    """The positions of pairs that they did not have before."""
    new = {pair: sorted({*at} - {*before.get(pair, ())}) for pair, at in now.items()}
    return {pair: tuple(at) for pair, at in new.items() if at}
