"""Descriptions of steps."""

from __future__ import annotations

from collections.abc import Iterator

from mergewise.drawing import shown
from mergewise.explaining.steps import Entry, Greedy, Pair, Place, Step

DOT = "·"


def pairs_in_order(step: Step) -> list[Pair]:
    """The pairs that occur or have just left; changed ones first."""
    return list(dict.fromkeys([*step.removed, *step.added, *step.places]))


def signed_places(step: Step, pair: Pair) -> Iterator[tuple[str, Place]]:
    """The positions of a pair in order: with "+" if it gained them, with "−" if it lost them."""
    added, removed = step.added.get(pair, ()), step.removed.get(pair, ())
    for place in sorted({*step.places.get(pair, ()), *removed}):
        yield "+" if place in added else "−" if place in removed else "", place


def name_of(run: Greedy, number: int) -> str:
    """A token as it is shown."""
    return shown(run.names[number].encode())


def pair_name(run: Greedy, pair: Pair) -> str:
    """A pair as it is shown: its tokens with a dot between them."""
    return name_of(run, pair[0]) + DOT + name_of(run, pair[1])


def product_name(run: Greedy, pair: Pair) -> str:
    """The token that a pair becomes."""
    return shown((run.names[pair[0]] + run.names[pair[1]]).encode())


def entry_name(run: Greedy, entry: Entry) -> str:
    """An entry of the heap as it is shown: its count and its pair."""
    return f"{-entry[0]} {pair_name(run, entry[1:])}"


def state_of(step: Step, entry: Entry) -> str:
    """Whether an entry of the heap is "new", or its count "stale": out of date; else empty."""
    if entry in step.pushed:
        return "new"
    return "" if -entry[0] == step.counts.get(entry[1:], 0) else "stale"


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
    if step.pair is None:
        return f"The {step.kind}"
    pair = pair_name(run, step.pair)
    return {
        "choose": f"Merge {step.num_merges}: {pair}",
        "replace": f"{pair} becomes {product_name(run, step.pair)} at {step.place}",
        "push": f"New pairs with {product_name(run, step.pair)}",
        "recount": f"{pair} goes back",
        "drop": f"{pair} leaves",
    }[step.kind]


def sentence_of(run: Greedy, step: Step) -> str:
    """A step and its reason, in a sentence."""
    if step.pair is None:
        return sentence_of_edge(run, step)
    pair, product = pair_name(run, step.pair), product_name(run, step.pair)
    was, now = times(step.old_count), times(step.counts.get(step.pair, 0))
    gain = times(run.gains[step.num_merges - 1]) if step.num_merges else ""
    changed = counted(len({*step.added, *step.removed}), "pair")
    pushed = counted(len(step.pushed), "new pair")
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
