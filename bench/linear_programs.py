"""The two relaxations behind the bounds of certificates, as linear programs for HiGHS.

Written without a look at the core: each word has its own variables, and nothing is left out.
"""

import importlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Program:
    """Maximise the sum of gains times variables, each from 0 to its highest, under rows."""

    gains: list[float] = field(default_factory=list)
    highest: list[float] = field(default_factory=list)
    rows: list[tuple[float, dict[int, float]]] = field(default_factory=list)
    constant: float = 0.0

    def variable(self, gain: float, highest: float = float("inf")) -> int:
        """A new variable."""
        self.gains.append(gain)
        self.highest.append(highest)
        return len(self.gains) - 1

    def at_most(self, limit: float, terms: Mapping[int, float]) -> None:
        """A new row."""
        if terms:
            self.rows.append((limit, dict(terms)))


def spans_of(word: bytes) -> list[tuple[int, int]]:
    """The spans of two symbols or more, the short ones first."""
    length = len(word)
    return [(i, i + n) for n in range(2, length + 1) for i in range(length - n + 1)]


def forest_program(words: Mapping[bytes, int], num_merges: int) -> Program:
    """Trees over each word whose inner nodes, in part or whole, have the strings of M merges.

    Each merge joins the same two parts wherever it makes its string.
    """
    program = Program()
    splits: dict[bytes, dict[int, int]] = {}
    for word, count in words.items():
        if len(word) < 2:
            continue
        # How often a part is used by the nodes above it, minus how often it is made.
        used: dict[tuple[int, int], dict[int, float]] = {}
        for start, end in spans_of(word):
            ours = splits.setdefault(word[start:end], {})
            for middle in range(start + 1, end):
                if middle - start not in ours:
                    ours[middle - start] = program.variable(0, 1)
                node = program.variable(count)
                program.at_most(0, {node: 1, ours[middle - start]: -1})
                for part in ((start, middle), (middle, end)):
                    used.setdefault(part, {})[node] = 1
                used.setdefault((start, end), {})[node] = -1
        for (start, end), terms in used.items():
            program.at_most(1 if end == start + 1 else 0, terms)
    for ours in splits.values():
        program.at_most(1, dict.fromkeys(ours.values(), 1.0))
    merges = (merge for ours in splits.values() for merge in ours.values())
    program.at_most(num_merges, dict.fromkeys(merges, 1.0))
    return program


def price_program(words: Mapping[bytes, int], num_tokens: int) -> Program:
    """Words cut into tokens of M strings, in part or whole."""
    program = Program()
    strings: dict[bytes, int] = {}
    for word, count in words.items():
        covering: list[dict[int, float]] = [{} for _ in word]
        for start, end in spans_of(word):
            string = word[start:end]
            if string not in strings:
                strings[string] = program.variable(0, 1)
            token = program.variable(count * (end - start - 1))
            program.at_most(0, {token: 1, strings[string]: -1})
            for place in range(start, end):
                covering[place][token] = 1
        for terms in covering:
            program.at_most(1, terms)
    program.at_most(num_tokens, dict.fromkeys(strings.values(), 1.0))
    return program


def solve_program(program: Program, method: str) -> tuple[float, float]:
    """The optimum by HiGHS, and its CPU seconds."""
    highs = _highs(method)
    infinity = highs.getInfinity()
    num_rows = len(program.rows)
    lower = [-infinity] * num_rows
    upper = [limit for limit, _ in program.rows]
    highs.addVars(len(program.gains), [0.0] * len(program.gains), program.highest)
    for variable, gain in enumerate(program.gains):
        highs.changeColCost(variable, -gain)
    starts: list[int] = []
    indices: list[int] = []
    values: list[float] = []
    for _, terms in program.rows:
        starts.append(len(indices))
        indices.extend(terms)
        values.extend(terms.values())
    highs.addRows(num_rows, lower, upper, len(indices), starts, indices, values)
    started = time.process_time()
    highs.run()
    return -highs.getInfo().objective_function_value, time.process_time() - started


def _highs(method: str) -> Any:  # noqa: ANN401 - a foreign class
    highs: Any = importlib.import_module("highspy").Highs()
    highs.setOptionValue("output_flag", False)  # noqa: FBT003 - its interface
    highs.setOptionValue("solver", method)
    return highs
