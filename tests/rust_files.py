"""The Rust sources as the guards of `test_house.py` read them: functions, and who uses whom.

This is no parser. Comments and literals are blanked, braces are counted, and paths are followed
from `crate`, `super` and `self`; macros are read as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

Module = tuple[str, ...]

NO_CODE = re.compile(
    r"""
      //[^\n]*                                          # a comment
    | /\*.*?\*/
    | \bb?r(\#*)".*?"\1                                 # a string
    | \bb?"(?:\\.|[^"\\])*" | "(?:\\.|[^"\\])*"
    | '(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'             # a character, and no lifetime
    """,
    re.DOTALL | re.VERBOSE,
)
INLINE_MODULE = re.compile(r"(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))?\s+)?mod\s+\w+\s*\{")
BRACE = re.compile(r"[{}]")
FUNCTION = re.compile(r"\bfn\s+(\w+)")
PATH = re.compile(r"(?<![\w:])(?:crate|super|self)(?:\s*::\s*\w+)*\s*(::\s*(?=[{*]))?")


@dataclass(frozen=True)
class Function:
    """A function: where it begins, and what stands above it."""

    name: str
    line: int
    num_lines: int
    head: str


@dataclass(frozen=True)
class RustFile:
    """One file of the crate."""

    path: Path
    module: Module

    @property
    def room(self) -> str:
        """The module of the crate that the file belongs to."""
        return self.module[0]

    @property
    def is_of_tests(self) -> bool:
        """Whether the file is compiled for tests only."""
        return self.module[-1] == "tests"

    @cached_property
    def source(self) -> str:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def code(self) -> str:
        """The source with comments and literals blanked; lines stay where they are."""
        return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), self.source)

    def functions(self) -> Iterator[Function]:
        """All functions with a body, also those of tests and those inside others."""
        lines = self.source.splitlines()
        for found in FUNCTION.finditer(self.code):
            opening = body_of(self.code, found.end())
            if opening is None:
                continue
            line = self.code.count("\n", 0, found.start())
            last = self.code.count("\n", 0, closing_of(self.code, opening))
            yield Function(found[1], line + 1, last - line + 1, head_above(lines, line))

    def uses(self, modules: set[Module]) -> set[Module]:
        """The other files that this file names, apart from those in its own folder.

        The first file of a room is its front: it names its files, and some of them its types.
        Inline modules are left out: they are tests, and the list of what Python sees.
        """
        named = set()
        for path in paths_in(without_inline_modules(self.code)):
            base = () if path[0] == "crate" else self.module
            names = path if path[0] == "super" else path[1:]
            while names and names[0] == "super":
                base, names = base[:-1], names[1:]
            named.add(file_of((*base, *names), modules))
        return {other for other in named if other and other[: len(self.module)] != self.module}


def rust_files(root: Path) -> list[RustFile]:
    """All files below `src`, but for the one that lists the modules."""
    paths = sorted((root / "src").rglob("*.rs"))
    files = [RustFile(path, path.relative_to(root / "src").with_suffix("").parts) for path in paths]
    return [file for file in files if file.module != ("lib",)]


def body_of(code: str, start: int) -> int | None:
    """Where the body of a function opens whose name ends at `start`; None if it has none."""
    depth = 0
    for at in range(start, len(code)):
        if code[at] in "([":
            depth += 1
        elif code[at] in ")]":
            depth -= 1
        elif depth == 0 and code[at] in "{;":
            return at if code[at] == "{" else None
    return None


def closing_of(code: str, opening: int) -> int:
    """Where the brace that opens at `opening` closes."""
    depth = 0
    for brace in BRACE.finditer(code, opening):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    raise ValueError("a brace that is not closed")


def head_above(lines: list[str], line: int) -> str:
    """The comments and attributes right above a line."""
    first = line
    while first > 0 and re.match(r"\s*(//|#\[|\)\]|[^;{}]*\)\]\s*$)", lines[first - 1]):
        first -= 1
    return "\n".join(lines[first:line])


def without_inline_modules(code: str) -> str:
    """The code without `mod name { ... }`."""
    while (found := INLINE_MODULE.search(code)) is not None:
        code = code[: found.start()] + code[closing_of(code, found.end() - 1) + 1 :]
    return code


def paths_in(code: str) -> Iterator[list[str]]:
    """The paths that begin with `crate`, `super` or `self`, one for each name in braces."""
    for found in PATH.finditer(code):
        start = re.findall(r"\w+", found[0])
        if found[1] and code[found.end()] == "{":
            inside = code[found.end() + 1 : closing_of(code, found.end())]
            yield from ([*start, *path] for path in paths_in_braces(inside))
        elif found[1] or len(start) > 1:
            yield start


def paths_in_braces(inside: str) -> Iterator[list[str]]:
    """The paths of a list in braces, each up to braces of its own."""
    depth, item = 0, ""
    for letter in inside + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield [name for name in re.findall(r"\w+", item.partition("{")[0]) if name != "self"]
            item = ""
        else:
            item += letter


def file_of(path: Module, modules: set[Module]) -> Module:
    """The file that holds what a path names: the longest beginning of it that is a file."""
    while path and path not in modules:
        path = path[:-1]
    return path
