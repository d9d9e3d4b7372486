"""The least that greedy attains with M merges: linear programs over words, local search over lists.

    python paper/worst_lists.py search --merges 4 --letters 4 [--length 4] [--moves 500] [--seed 1]
    python paper/worst_lists.py all --merges 2 --letters 3 --length 5
    python paper/worst_lists.py kept

Two lists of M merges are given, greedy's and a rival's. Over weights of all words up to a length,
what greedy saves is minimised where the rival saves 1, under the condition that greedy may choose
its list: a linear program, which needs highspy. `search` changes the lists, from those kept in
worst_lists.json, where better ones go; `all` takes every two lists, up to the names of letters;
`kept` solves those of the file again, and writes their words anew.
"""

import argparse
import importlib
import json
import random
import string
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, NamedTuple

from claims import PAPER

from mergewise import formal
from mergewise.files import replacing
from mergewise.formal import Merge, Tree

KEPT = PAPER / "worst_lists.json"
INFINITY = float("inf")
# Small programs have solutions with small denominators.
LARGEST_DENOMINATOR = 20_000
# Of others the counts are rounded; then each choice of greedy has this advantage before.
SCALE, MARGIN = 10**9, 1e-6
# The search also takes lists whose ratio is a little larger.
WARMTH = 0.002


class Lists(NamedTuple):
    """Greedy's merges, and as many of a rival."""

    chosen: tuple[Merge, ...]
    rival: tuple[Merge, ...]


class Instance(NamedTuple):
    """Two lists, and words with counts on which greedy may choose its list."""

    lists: Lists
    words: dict[str, int]

    @property
    def ratio(self) -> Fraction:
        """What greedy's list saves, over what the rival's saves."""
        saved = (formal.utility(merges, self.words) for merges in self.lists)
        return Fraction(*saved)

    def is_greedy(self) -> bool:
        """Whether no pair is more frequent than the one chosen, at every step, by definition."""
        words = formal.words_of(self.words)
        for merge in self.lists.chosen:
            if merge not in formal.best_pairs(words):
                return False
            words = {formal.apply_one(merge, word): count for word, count in words.items()}
        return True


def words_up_to(letters: str, length: int) -> list[str]:
    """All words of two letters or more.

    >>> words_up_to("ab", 2)
    ['aa', 'ab', 'ba', 'bb']
    """
    sizes = range(2, length + 1)
    return ["".join(word) for size in sizes for word in product(letters, repeat=size)]


class Program:
    """Minimise greedy's savings over weights of words, of which the rival saves 1.

    The first variables are what greedy saves at each step, the others the weights of words.
    """

    def __init__(self, lists: Lists, words: Sequence[str], margin: float = 0.0) -> None:
        """The rows: (lowest, highest, variables with their factors).

        What greedy chooses counts more than any other pair, by `margin` at least.
        """
        self.words = words
        self.num_steps = len(lists.chosen)
        counts: dict[tuple[int, Merge], dict[int, float]] = {}
        goal: dict[int, float] = {}
        for variable, word in enumerate(words, start=self.num_steps):
            tokens: formal.Tokens = tuple(word)
            for step, merge in enumerate(lists.chosen):
                for pair, count in formal.pair_counts(tokens).items():
                    counts.setdefault((step, pair), {})[variable] = float(count)
                tokens = formal.apply_one(merge, tokens)
            if saved := formal.utility(lists.rival, word):
                goal[variable] = float(saved)
        self.rows: list[tuple[float, float, dict[int, float]]] = [(1.0, 1.0, goal)]
        for step, merge in enumerate(lists.chosen):
            counts.setdefault((step, merge), {})
        for (step, pair), row in counts.items():
            lowest, highest = (0.0, 0.0) if pair == lists.chosen[step] else (-INFINITY, -margin)
            self.rows.append((lowest, highest, {step: -1.0, **row}))

    def solve(self) -> tuple[float, dict[str, float]] | None:
        """The least that greedy saves, and the weights; None where it cannot choose its list."""
        highs: Any = importlib.import_module("highspy").Highs()
        highs.setOptionValue("output_flag", False)  # noqa: FBT003 (a foreign function)
        highs.setOptionValue("threads", 1)
        num_variables = self.num_steps + len(self.words)
        highs.addVars(num_variables, [0.0] * num_variables, [highs.getInfinity()] * num_variables)
        for step in range(self.num_steps):
            highs.changeColCost(step, 1.0)
        starts: list[int] = []
        indices: list[int] = []
        values: list[float] = []
        for _, _, row in self.rows:
            starts.append(len(indices))
            indices.extend(row)
            values.extend(row.values())
        lowest, highest, _ = zip(*self.rows, strict=True)
        highs.addRows(
            len(self.rows), list(lowest), list(highest), len(indices), starts, indices, values
        )
        highs.run()
        if highs.modelStatusToString(highs.getModelStatus()) != "Optimal":
            return None
        weights = highs.getSolution().col_value[self.num_steps :]
        used = {word: weight for word, weight in zip(self.words, weights, strict=True) if weight}
        return highs.getInfo().objective_function_value, used


def least(lists: Lists, words: Sequence[str]) -> float:
    """The least ratio; infinite where greedy cannot choose its list."""
    found = Program(lists, words).solve()
    return INFINITY if found is None else found[0]


def instance_of(lists: Lists, words: Sequence[str]) -> Instance:
    """The words of the least ratio, with whole counts, checked by definition.

    Ties are allowed where the fractions of the solution are recognised; else no choice is a tie.
    """
    for margin in (0.0, MARGIN):
        found = Program(lists, words, margin).solve()
        if found is not None:
            ratio, weights = found
            instance = Instance(lists, rounded(weights) if margin else whole(weights))
            if instance.is_greedy() and abs(instance.ratio - ratio) < 1e-6:
                return instance
    raise ValueError("greedy cannot choose this list")


def rounded(weights: dict[str, float]) -> dict[str, int]:
    """Weights as counts, a little less or more."""
    counts = {word: round(weight * SCALE) for word, weight in weights.items()}
    return {word: count for word, count in counts.items() if count > 0}


def whole(weights: dict[str, float]) -> dict[str, int]:
    """Weights that are fractions, as counts.

    >>> whole({"ab": 0.25, "ba": 1 / 3})
    {'ab': 3, 'ba': 4}
    """
    parts = {
        word: Fraction(weight).limit_denominator(LARGEST_DENOMINATOR)
        for word, weight in weights.items()
    }
    scale = lcm(*(part.denominator for part in parts.values()))
    return {word: int(part * scale) for word, part in parts.items() if part > 0}


# Lists


def extensions(merges: Sequence[Merge], letters: Iterable[str]) -> Iterator[tuple[Merge, ...]]:
    """A list, longer by each merge of letters and of merges before.

    >>> len(list(extensions([("a", "b")], "ab")))
    8
    """
    parts: list[Tree] = [*letters, *merges]
    for pair in product(parts, parts):
        if pair not in merges:
            yield (*merges, pair)


def all_lists(num_merges: int, letters: str) -> Iterator[tuple[Merge, ...]]:
    """All valid lists of distinct merges.

    >>> len(list(all_lists(2, "ab")))
    32
    """
    if num_merges == 0:
        yield ()
        return
    for merges in all_lists(num_merges - 1, letters):
        yield from extensions(merges, letters)


def letters_in(merges: Iterable[Merge]) -> str:
    """The letters of merges, in the order of first occurrence."""
    return "".join(dict.fromkeys("".join(map(formal.yield_of, merges))))


def all_pairs_of_lists(num_merges: int, letters: str) -> Iterator[Lists]:
    """Every two lists, up to the names of letters: new letters come in order.

    A rival is taken once for all orders of merges that commute.
    """
    everything = list(all_lists(num_merges, letters))
    rivals = {formal.normal_form(merges) for merges in everything}
    for chosen in everything:
        for rival in rivals:
            used = letters_in((*chosen, *rival))
            if used == letters[: len(used)] and set(rival) != set(chosen):
                yield Lists(chosen, rival)


def changed(lists: Lists, letters: str, chance: random.Random) -> Lists:
    """Two lists that differ a little: another merge in place of one, or two exchanged.

    Greedy's merges may be of earlier ones; the rival's join single letters. A merge whose parts are
    gone becomes another one.
    """
    chosen, rival = list(lists.chosen), list(lists.rival)
    if chance.random() < 0.4:
        rival[chance.randrange(len(rival))] = (chance.choice(letters), chance.choice(letters))
    elif chance.random() < 0.6:
        place = chance.randrange(len(chosen))
        parts: Sequence[Tree] = letters
        if chance.random() < 0.2:
            parts = (*letters, *chosen[:place])
        chosen[place] = (chance.choice(parts), chance.choice(parts))
    else:
        i, j = (chance.randrange(len(chosen)) for _ in range(2))
        chosen[i], chosen[j] = chosen[j], chosen[i]
    if len(set(chosen)) < len(chosen) or len(set(rival)) < len(rival):
        return changed(lists, letters, chance)
    if not formal.is_valid(chosen):
        return changed(lists, letters, chance)
    return Lists(tuple(chosen), tuple(rival))


def search(
    start: Lists, *, letters: str, length: int, num_moves: int, seed: int
) -> tuple[float, Lists]:
    """Lists with a small ratio, by local search."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    words = words_up_to(letters, length)
    here = best = start
    ratio = smallest = least(start, words)
    for _ in range(num_moves):
        there = changed(here, letters, chance)
        value = least(there, words)
        if value <= ratio + WARMTH * chance.random():
            here, ratio = there, value
        if value < smallest - 1e-9:
            best, smallest = there, value
            print(f"{smallest:.6f}  {shown(best)}", flush=True)
    return smallest, best


def random_lists(num_merges: int, letters: str, seed: int) -> Lists:
    """Lists of random pairs of letters."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    pairs: list[Merge] = [(left, right) for left in letters for right in letters]
    chosen, rival = (tuple(chance.sample(pairs, num_merges)) for _ in range(2))
    return Lists(chosen, rival)


def shown(lists: Lists) -> str:
    """Two lists in one line."""
    greedy, rival = (" ".join(map(formal.show, merges)) for merges in lists)
    return f"greedy {greedy}; rival {rival}"


# What is kept


def tree_of(value: str | list[Any]) -> Tree:
    """A tree of JSON."""
    return value if isinstance(value, str) else (tree_of(value[0]), tree_of(value[1]))


def merges_of(values: list[Any]) -> tuple[Merge, ...]:
    """A list of merges of JSON."""
    return tuple(tree for tree in map(tree_of, values) if not isinstance(tree, str))


def kept() -> dict[int, Instance]:
    """The instances of worst_lists.json, by the number of merges."""
    return {
        len(each["rival"]): Instance(
            Lists(merges_of(each["chosen"]), merges_of(each["rival"])), each["words"]
        )
        for each in json.loads(KEPT.read_text(encoding="utf-8"))
    }


def keep(instances: Iterable[Instance]) -> None:
    """Writes worst_lists.json, one instance a line."""
    lines = [
        json.dumps({"chosen": lists.chosen, "rival": lists.rival, "words": words})
        for lists, words in instances
    ]
    with replacing(KEPT) as path:
        path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def solve_again() -> None:
    """Solves the programs of all lists that are kept, and writes their words."""
    instances = []
    for num_merges, (lists, words) in kept().items():
        letters = letters_in((*lists.chosen, *lists.rival))
        length = max(4, *map(len, words))
        instances.append(instance_of(lists, words_up_to(letters, length)))
        print(f"M = {num_merges}: {instances[-1].ratio}", flush=True)
    keep(instances)


def try_all(num_merges: int, letters: str, length: int) -> tuple[float, Lists]:
    """The least ratio over all lists."""
    words = words_up_to(letters, length)
    programs = ((least(lists, words), lists) for lists in all_pairs_of_lists(num_merges, letters))
    return min(programs, key=lambda found: found[0])


def main() -> None:
    """Does what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["search", "all", "kept"])
    parser.add_argument("--merges", type=int, default=2)
    parser.add_argument("--letters", type=int, default=3)
    parser.add_argument("--length", type=int, default=4, help="of the longest words")
    parser.add_argument("--moves", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--random", action="store_true", help="start from random lists")
    given = parser.parse_args()
    letters = string.ascii_lowercase[: given.letters]
    if given.what == "kept":
        solve_again()
        return
    if given.what == "all":
        ratio, lists = try_all(given.merges, letters, given.length)
    else:
        start = None if given.random else kept().get(given.merges)
        lists = start.lists if start else random_lists(given.merges, letters, given.seed)
        ratio, lists = search(
            lists, letters=letters, length=given.length, num_moves=given.moves, seed=given.seed
        )
        if start is None or ratio < start.ratio - 1e-9:
            better = instance_of(lists, words_up_to(letters, given.length))
            keep({**kept(), given.merges: better}.values())
    print(f"smallest: {ratio:.6f}  {shown(lists)}")


if __name__ == "__main__":
    main()
