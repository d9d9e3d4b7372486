"""The fields of a certificate: which there are in a file, and what they may be."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, TypeAlias

Against: TypeAlias = Literal["merges", "vocabularies"]
# Of each ring its strings in hexadecimal, its toll, and which are linked to the next by both.
Rings: TypeAlias = tuple[tuple[tuple[str, ...], int, tuple[int, ...]], ...]
# Of each chain of three or four its strings in hexadecimal.
Chains: TypeAlias = tuple[tuple[str, ...], ...]

# Fields that stand in a file only where they differ from the first choice.
OPTIONS: dict[str, tuple[Any, ...]] = {
    "drops_gaps": (False, True),
    "prefix_space": (None, "always", "once", "unless_space"),
    "mark_is_space": (False, True),
}
# Of all lists, undivided.
ONE_CASE: tuple[str | None, ...] = (None,)
MOST_CASES = 1 << 12
PRICES = ("one", "floor", "longest", "counted")
# The smallest and the largest value of a number, where they are not those of 64 bits.
LIMITS = {
    "num_merges": (0, (1 << 32) - 2),
    "utility": (-(1 << 64), (1 << 64) - 1),
    "one": (1, 1 << 30),
    "longest": (2, (1 << 32) - 2),
}


def check_fields(fields: Mapping[str, Any]) -> None:
    """Refuse fields that cannot be, or that the verifiers' proofs do not allow."""
    for name in ("num_merges", "num_symbols", "utility", "bound", *PRICES):
        check_number(name, fields[name])
    if fields["one"] & (fields["one"] - 1):
        raise ValueError(f"one is {fields['one']}, expected a power of two")
    for name, kinds in {"pattern": (str, NoneType), "fingerprint": (str,)}.items():
        if not isinstance(fields[name], kinds):
            raise TypeError(f"{name} is {fields[name]!r}, expected a string")
    choices: dict[str, tuple[Any, ...]] = {
        "against": ("merges", "vocabularies"),
        "alphabet": ("bytes", "chars"),
        "normalize": (None, "nfc", "nfkc"),
    }
    for name, allowed in {**choices, **OPTIONS}.items():
        value = fields[name]
        if value not in allowed or isinstance(value, int) != isinstance(allowed[0], int):
            raise ValueError(f"{name} is {value!r}, expected one of {allowed}")
    check_cases(fields["cases"], fields["against"])
    check_rings(fields["rings"], fields["chains"])
    has_rings = fields["rings"] or fields["chains"]
    if has_rings and (fields["against"] != "merges" or fields["cases"] != ONE_CASE):
        raise ValueError("only a proof against merges by one case has rings")


def check_number(name: str, value: Any) -> None:  # noqa: ANN401
    """Refuse all but the whole numbers that a field of this name may have."""
    least, most = LIMITS.get(name, (0, (1 << 64) - 1))
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}, expected a number from {least} to {most}")


def check_cases(cases: Any, against: Against) -> None:  # noqa: ANN401
    """Refuse all but strings in hexadecimal and None; whether they are a tree, verifiers see."""
    if not isinstance(cases, tuple) or not 0 < len(cases) <= MOST_CASES:
        raise ValueError(f"cases must be a tuple of 1 to {MOST_CASES}, found {cases!r:.40}")
    for string in cases:
        if string is not None and not is_hexadecimal(string):
            raise ValueError(f"a case is {string!r}, expected None or a string in hexadecimal")
    if against == "vocabularies" and cases != ONE_CASE:
        raise ValueError("a proof against vocabularies has one case")


def check_rings(rings: Any, chains: Any) -> None:  # noqa: ANN401
    """Refuse all but strings in hexadecimal with tolls; whether rings are odd, verifiers see."""
    for name, value in {"rings": rings, "chains": chains}.items():
        if not isinstance(value, tuple):
            raise TypeError(f"{name} must be a tuple, found {value!r:.40}")
    for strings, toll, both in rings:
        check_strings("a ring", strings)
        check_number("a toll", toll)
        if not isinstance(both, tuple):
            raise TypeError(f"the links of a ring by both are {both!r:.40}, expected a tuple")
        for index in both:
            check_number("a link of a ring", index)
    for strings in chains:
        check_strings("a chain", strings)


def check_strings(name: str, strings: Any) -> None:  # noqa: ANN401
    """Refuse all but a tuple of strings in hexadecimal."""
    if not isinstance(strings, tuple) or not all(map(is_hexadecimal, strings)):
        raise ValueError(f"{name} is {strings!r:.40}, expected strings in hexadecimal")


def is_hexadecimal(string: Any) -> bool:  # noqa: ANN401
    """Is this a string of bytes as certificates write them?"""
    return isinstance(string, str) and bytes.fromhex(string).hex() == string
