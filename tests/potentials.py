"""Greedy beside a rival, step by step: what the proofs of docs/theory/worst_case.md count.

A node is an inner node of the rival's forest over a word, and is known by its word and its gap: the
number of symbols before it. Each check follows the rules of one proof to the letter and returns,
for each step, by how much the proof's inequality holds.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from mergewise import formal
from mergewise.formal import Merge, Tree


class Token(NamedTuple):
    """A token, and the symbols that it covers."""

    tree: Tree
    start: int
    end: int


class Node(NamedTuple):
    """A node of the rival's forest: its kind, and the symbols that it covers."""

    kind: Merge
    start: int
    end: int


Place: TypeAlias = tuple[int, int]  # a word, and a gap in it


@dataclass(frozen=True)
class Step:
    """A merge of greedy: its gain, the tokens of each word before it, and where it replaces."""

    merge: Merge
    gain: int
    tokens: list[list[Token]]
    places: set[Place]

    def neighbours(self) -> Iterator[tuple[Place, Place, Place]]:
        """Each place, with the gaps at the left end and at the right end of its new token."""
        for word, tokens in enumerate(self.tokens):
            for left, right in pairwise(tokens):
                if (word, left.end) in self.places:
                    yield (word, left.end), (word, left.start), (word, right.end)


@dataclass(frozen=True)
class Race:
    """Words with their counts, the rival's nodes, and greedy's steps."""

    counts: list[int]
    nodes: dict[Place, Node]
    steps: list[Step]


def merged(tokens: list[Token], merge: Merge) -> tuple[list[Token], list[int]]:
    """The tokens after a merge, and the gaps that it closed."""
    new: list[Token] = []
    gaps: list[int] = []
    position = 0
    while position < len(tokens):
        pair = tokens[position : position + 2]
        if tuple(token.tree for token in pair) == merge:
            new.append(Token(merge, pair[0].start, pair[1].end))
            gaps.append(pair[0].end)
            position += 2
        else:
            new.append(tokens[position])
            position += 1
    return new, gaps


def race(words: Mapping[str, int], rival: Sequence[Merge], chosen: Sequence[Merge]) -> Race:
    """Greedy, which chooses these merges, beside a rival."""
    symbols = [[Token(s, i, i + 1) for i, s in enumerate(word)] for word in words]
    counts = list(words.values())
    nodes: dict[Place, Node] = {}
    steps: list[Step] = []
    for number, start in enumerate(symbols):
        tokens = start
        for merge in rival:
            tokens, gaps = merged(tokens, merge)
            at = {(t.start, t.end) for t in tokens if t.tree == merge}
            for gap in gaps:
                [(first, last)] = [span for span in at if span[0] < gap < span[1]]
                nodes[number, gap] = Node(merge, first, last)
    state = symbols
    for merge in chosen:
        after = [merged(tokens, merge) for tokens in state]
        places = {(word, gap) for word, (_, gaps) in enumerate(after) for gap in gaps}
        steps.append(Step(merge, sum(counts[word] for word, _ in places), state, places))
        state = [tokens for tokens, _ in after]
    return Race(counts, nodes, steps)


def greedy_lists(words: Mapping[str, int], num_merges: int) -> Iterator[tuple[Merge, ...]]:
    """Every list that greedy can choose on words, one for each way of breaking ties."""

    def extend(
        merges: tuple[Merge, ...], now: dict[formal.Tokens, int]
    ) -> Iterator[tuple[Merge, ...]]:
        tied = formal.best_pairs(now) if len(merges) < num_merges else []
        if not tied:
            yield merges
        for merge in tied:
            after: Counter[formal.Tokens] = Counter()
            for word, count in now.items():
                after[formal.apply_one(merge, word)] += count
            yield from extend((*merges, merge), dict(after))

    return extend((), formal.words_of(words))


def is_flat(kind: Merge) -> bool:
    """Whether a merge joins two symbols."""
    return all(isinstance(part, str) for part in kind)


# Theorem 2


def one_kind_beside(ran: Race, *, mirrored: bool = False) -> bool:
    """The hypothesis of Theorem 2: (i) or (ii) for each kind [a, r] whose left part is a symbol."""
    beside: dict[Merge, set[Merge]] = defaultdict(set)
    inside: set[Merge] = set()  # kinds for which (ii) fails
    for (word, _), node in ran.nodes.items():
        near, far = (node.end, node.start) if mirrored else (node.start, node.end)
        if isinstance(node.kind[1 if mirrored else 0], str) and (word, near) in ran.nodes:
            beside[node.kind].add(ran.nodes[word, near].kind)
            if not is_flat(node.kind) or (word, far) in ran.nodes:
                inside.add(node.kind)
    return all(len(kinds) <= 1 or kind not in inside for kind, kinds in beside.items())


def potential_of_theorem_2(level: float) -> Callable[[float], float]:
    """ψ of Theorem 2."""
    return lambda size: 0.0 if size <= level else size - level - level * math.log(size / level)


def one_sided(ran: Race, level: float, *, mirrored: bool = False) -> list[float]:
    """How far each step is from losing 2(g - L), by the rules of Theorem 2."""
    psi = potential_of_theorem_2(level)
    # A tracked node's class: its kind, and the token at the gap that may have changed.
    tracked: dict[Place, object] = {place: node.kind for place, node in ran.nodes.items()}
    slacks = []
    for step in ran.steps:
        before = total(ran, tracked, psi, step.gain)
        closes = {place for place in step.places if place in tracked}
        hit_near, hit_far = set(), set()  # at the symbol that is kept; at the other side
        for place, left, right in step.neighbours():
            near, far = (left, right) if mirrored else (right, left)
            hit_near.add(near)
            hit_far.add((far, place in closes))
        for place in closes:
            del tracked[place]
        for place in hit_near:
            tracked.pop(place, None)
        for place, by_closing in hit_far:
            if place in tracked:
                if by_closing:
                    tracked[place] = (ran.nodes[place].kind, step.merge)
                else:
                    del tracked[place]
        slacks.append(2 * (step.gain - level) - before + total(ran, tracked, psi, step.gain))
    return slacks


def total(
    ran: Race, tracked: Mapping[Place, object], psi: Callable[[float], float], gain: int
) -> float:
    """Φ: the sum of ψ over classes; none has more nodes than greedy gains."""
    sizes: Counter[object] = Counter()
    for (word, gap), name in tracked.items():
        sizes[ran.nodes[word, gap].kind, name] += ran.counts[word]
    assert all(size <= gain for size in sizes.values()), (sizes, gain)
    return sum(map(psi, sizes.values()))


# Theorem 3

BETA, GAMMA = 3 / 7, 1 / 7


def potential_of_theorem_3(
    level: float,
) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """ψ of Theorem 3, and its slope."""
    factor = 224 / 57 * math.pow(level, 19 / 16)

    def psi(size: float) -> float:
        if size <= level:
            return 0.0
        return 14 / 19 * size - 14 / 3 * level + factor * math.pow(size, -3 / 16)

    def slope(size: float) -> float:
        return 0.0 if size <= level else 14 / 19 - 3 / 16 * factor * math.pow(size, -19 / 16)

    return psi, slope


class TwoSided:
    """The rules of Theorem 3: nodes O and N, and the reserves of kinds that join two symbols."""

    def __init__(self, ran: Race, level: float, *, gamma: float = GAMMA) -> None:
        self.ran = ran
        self.level = level
        self.gamma = gamma
        self.psi, self.slope = potential_of_theorem_3(level)
        self.whole = set(ran.nodes)  # O: both symbols at the gap are tokens
        self.hit_once: dict[Place, tuple[int, str]] = {}  # N: in which step, on which side
        self.paid: dict[Place, float] = defaultdict(float)
        self.reserve: dict[Merge, float] = defaultdict(float)
        self.withdrawn = 0.0

    def potential(self, gain: int) -> float:
        """Φ, with the weight β for nodes N."""
        sizes: Counter[tuple[Merge, tuple[int, str] | None]] = Counter()
        for place in self.whole | set(self.hit_once):
            name = self.ran.nodes[place].kind, self.hit_once.get(place)
            sizes[name] += self.ran.counts[place[0]]
        assert all(size <= gain for size in sizes.values()), (sizes, gain)
        return sum(
            (1 if hit is None else BETA) * self.psi(size) for (_, hit), size in sizes.items()
        )

    def slacks(self) -> list[float]:
        """How far each step is from losing 2(g - L), payments and withdrawals counted."""
        return [self.take(number, step) for number, step in enumerate(self.ran.steps)]

    def take(self, number: int, step: Step) -> float:
        """One step."""
        before, price = self.potential(step.gain), self.gamma * self.slope(step.gain)
        closed = step.places & self.whole
        hits: dict[Place, list[tuple[str, bool]]] = defaultdict(list)
        for place, left, right in step.neighbours():
            hits[left].append(("right", place in closed))
            hits[right].append(("left", place in closed))
        whole_before = set(self.whole)
        self.whole -= step.places
        for place in step.places:
            self.hit_once.pop(place, None)
        payments = 0.0
        for place, found in hits.items():
            self.hit_once.pop(place, None)
            if place in self.whole:
                self.whole.remove(place)
                kind = self.ran.nodes[place].kind
                if is_flat(kind):
                    self.paid[place] += price * len(found)
                    amount = price * len(found) * self.ran.counts[place[0]]
                    self.reserve[kind] += amount
                    payments += amount
                if len(found) == 1 and found[0][1]:
                    self.hit_once[place] = (number, found[0][0])
        withdrawals = self.withdraw(closed, whole_before, hits, price)
        lost = before - self.potential(step.gain) + payments - withdrawals
        return 2 * (step.gain - self.level) - lost

    def withdraw(
        self,
        closed: set[Place],
        whole_before: set[Place],
        hits: Mapping[Place, list[tuple[str, bool]]],
        price: float,
    ) -> float:
        """What the reserve gives where nodes u = [a, x] are closed.

        It gives γ s for each node u that stays, beside a node O on its left that is not hit on its
        right, or the mirror image; every such u has paid, and none is taken twice.
        """
        kinds = {self.ran.nodes[place].kind for place in closed}
        total = 0.0
        for kind in filter(is_flat, kinds):
            for (word, gap), node in self.ran.nodes.items():
                if node.kind != kind or (word, gap) in closed:
                    continue
                left, right = (word, node.start), (word, node.end)
                # In a a a the gap on the left, if it is hit, is hit on both sides: it needs none.
                repeats = kind[0] == kind[1] and self.symbol_before(left) == kind[0]
                asks = [
                    side
                    for side, place in (("right", left), ("left", right))
                    if place in whole_before
                    and [found[0] for found in hits.get(place, [])] in ([], [opposite(side)])
                    and not (side == "right" and repeats)
                ]
                assert len(asks) <= 1, "a node u is asked for twice"
                if asks:
                    assert self.paid[word, gap] >= price - 1e-12, "a node u that has not paid"
                    total += price * self.ran.counts[word]
            self.reserve[kind] -= total  # one kind at most joins the two symbols of the merge
            assert self.reserve[kind] >= -1e-9, "the reserve is short"
        self.withdrawn += total
        return total

    def symbol_before(self, place: Place) -> Tree | None:
        """The symbol to the left of a gap."""
        word, gap = place
        found = [t.tree for t in self.ran.steps[0].tokens[word] if t.end == gap]
        return found[0] if found else None


def opposite(side: str) -> str:
    """The other side."""
    return "left" if side == "right" else "right"
