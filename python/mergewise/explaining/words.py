"""Descriptions of steps, and the changes between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from mergewise.drawing import shown
from mergewise.explaining.steps import Entry, Greedy, Pair, Place, Step

DOT = "·"


@dataclass(frozen=True)
class Changes:
    """The differences from the step before.

    Attributes:
        added: the positions that each pair gained.
        removed: the positions that it lost.
        pushed: the entries that are new in the heap.
        popped: the entries that left it.
    """

    added: dict[Pair, tuple[Place, ...]]
    removed: dict[Pair, tuple[Place, ...]]
    pushed: tuple[Entry, ...]
    popped: tuple[Entry, ...]


def changes_between(before: Step | None, step: Step) -> Changes:
    """The changes of a step; none if it is the first."""
    if before is None:
        return Changes({}, {}, (), ())
    return Changes(
        added=gained(before, step),
        removed=gained(step, before),
        pushed=tuple(entry for entry in step.heap if entry not in before.heap),
        popped=tuple(entry for entry in before.heap if entry not in step.heap),
    )


def gained(before: Step, step: Step) -> dict[Pair, tuple[Place, ...]]:
    """The positions of `step` that `before` does not have."""
    found: dict[Pair, tuple[Place, ...]] = {}
    for pair, places in step.places.items():
        new = sorted(set(places) - set(before.places.get(pair, ())))
        if new:
            found[pair] = tuple(new)
    return found


def pairs_in_order(step: Step, changes: Changes) -> list[Pair]:
    """The pairs that occur or have just left; changed ones first."""
    return list(dict.fromkeys([*changes.removed, *changes.added, *step.places]))


def signed_places(step: Step, pair: Pair, changes: Changes) -> Iterator[tuple[str, Place]]:
    """The positions of a pair in order: with "+" if it gained them, with "−" if it lost them."""
    added, removed = changes.added.get(pair, ()), changes.removed.get(pair, ())
    for place in sorted({*step.places.get(pair, ()), *removed}):
        yield "+" if place in added else "−" if place in removed else "", place


def following_places(step: Step) -> dict[Place, Place]:
    """For each token but the last, the place of the next one."""
    places = [place for place, _ in step.tokens]
    return dict(pairwise(places))


def name_of(run: Greedy, number: int) -> str:
    """A token as it is shown."""
    return shown(run.names[number].encode())


def pair_name(run: Greedy, pair: Pair) -> str:
    """A pair as it is shown: its tokens with a dot between them."""
    return name_of(run, pair[0]) + DOT + name_of(run, pair[1])


def product_name(run: Greedy, pair: Pair) -> str:
    """The token that a pair becomes."""
    return shown((run.names[pair[0]] + run.names[pair[1]]).encode())


def count_of(step: Step, pair: Pair) -> int:
    """The current count of a pair: its positions without overlap.

    Only equal neighbours overlap, and then a position of the pair begins where the other ends.
    """
    places = step.places.get(pair, ())
    if pair[0] != pair[1]:
        return len(places)
    following = following_places(step)
    kept: list[Place] = []
    for place in places:
        if not kept or following[kept[-1]] != place:
            kept.append(place)
    return len(kept)


def times(number: int) -> str:
    """A number of times, in words.

    >>> times(1), times(3)
    ('once', '3 times')
    """
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "merge"), counted(2, "merge")
    ('1 merge', '2 merges')
    """
    return f"{number} {noun}" + "s" * (number != 1)


def title_of(run: Greedy, step: Step) -> str:
    """The title of a step."""
    if step.kind == "start":
        return "The start"
    if step.kind == "end":
        return "The end"
    assert step.pair is not None  # noqa: S101 - only the first and the last step have none
    pair = pair_name(run, step.pair)
    return {
        "choose": f"Merge {step.num_merges}: {pair}",
        "replace": f"{pair} becomes {product_name(run, step.pair)} at {step.place}",
        "push": f"New pairs with {product_name(run, step.pair)}",
        "recount": f"{pair} goes back",
        "drop": f"{pair} leaves",
    }[step.kind]


def sentence_of(run: Greedy, step: Step, changes: Changes) -> str:
    """A step and its reason, in a sentence."""
    if step.pair is None:
        return sentence_of_edge(run, step)
    pair, product = pair_name(run, step.pair), product_name(run, step.pair)
    was, now = times(step.old_count), times(count_of(step, step.pair))
    gain = times(run.gains[step.num_merges - 1]) if step.num_merges else ""
    changed = counted(len({*changes.added, *changes.removed}), "pair")
    pushed = counted(len(changes.pushed), "new pair")
    return {
        "choose": f"{pair} is on top of the heap and its count is right: it occurs {gain}. It "
        f"becomes merge {step.num_merges}.",
        "replace": f"At {step.place}, {pair} becomes {product}: the list is relinked past the "
        f"second token, and the positions of {changed} change. The counts in the heap are not "
        "touched.",
        "push": f"{pushed} with {product}: into the heap, with the right counts.",
        "recount": f"{pair} is on top, but its count is out of date: it was there {was}, and is "
        f"there {now}. It goes back with the right count.",
        "drop": f"{pair} is on top, but no longer occurs: it was there {was}. It leaves the heap.",
    }[step.kind]


def sentence_of_edge(run: Greedy, step: Step) -> str:
    """The first and the last step."""
    tokens = len(step.tokens)
    if step.kind == "start":
        return (
            f"The text is a linked list of {counted(tokens, 'symbol')}. The positions of its "
            f"{counted(len(step.places), 'pair')} are noted, and the pairs stand in a heap, the "
            "most frequent on top."
        )
    why = "" if step.num_merges == run.num_merges else " No pair is left."
    made = f"{counted(step.num_merges, 'merge')} made {counted(tokens, 'token')}"
    return f"{made} of {counted(len(run.text), 'symbol')}.{why}"
