"""The house: who may import whom, and where pyo3 and the version live."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "mergewise"

# A module may import from the levels after its own, and from `formal` only where FORMAL_USERS says.
LEVELS = [
    {"cli"},
    {"demo", "reporting", "explaining", "cluster"},
    {"training", "pages"},
    {"optimize", "drawing"},
    {"merge_lists"},
    {"tokenizer", "counts"},
    {"encoding", "decoding", "count_tables"},
    {"formats", "sources", "progress"},
    {"files", "vocabulary", "arguments", "parquet"},
    {"_core", "errors"},
]
FORMAL_USERS = {"__init__", "demo", "optimize"}
RUST_LEVELS = [
    {"python"},
    {"exact", "improve", "curvature", "encode", "greedy", "bound", "counting", "segment"},
    {"counts"},
    {
        "pattern",
        "watch",
        "table",
        "specials",
        "blocks",
        "keys",
        "arrow",
        "vocabulary",
        "normalize",
        "prefetch",
        "pages",
        "parallel",
    },
    {"merges"},
    {"error"},
    {"settings"},
]


def level_of(name: str, levels: list[set[str]]) -> int:
    return next(index for index, level in enumerate(levels) if name in level)


def imported_rooms(path: Path) -> set[str]:
    """The rooms of mergewise that a module names in its imports."""
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "mergewise":
            rooms.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mergewise."):
            rooms.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            rooms.update(
                a.name.split(".")[1] for a in node.names if a.name.startswith("mergewise.")
            )
    return rooms


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


MODULES = [p for p in sorted(PACKAGE.rglob("*.py")) if room_of(p) not in {"__init__", "formal"}]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_imports_run_downward(path: Path) -> None:
    room = room_of(path)
    for other in imported_rooms(path) - {room}:
        if other == "formal":
            assert room in FORMAL_USERS
        else:
            assert level_of(room, LEVELS) < level_of(other, LEVELS), f"{room} imports {other}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "formal").glob("*.py")), ids=lambda p: p.stem)
def test_formal_uses_the_standard_library_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            in_formal = name.startswith("mergewise.formal")
            assert in_formal or name.split(".")[0] in sys.stdlib_module_names, name


@pytest.mark.parametrize("path", sorted((ROOT / "src").glob("*.rs")), ids=lambda p: p.stem)
def test_rust_uses_run_downward(path: Path) -> None:
    if path.stem == "lib":
        return
    source = path.read_text(encoding="utf-8")
    for other in set(re.findall(r"\bcrate::(\w+)", source)) - {path.stem}:
        assert level_of(path.stem, RUST_LEVELS) <= level_of(other, RUST_LEVELS)
    assert path.stem == "python" or "pyo3" not in source


def test_every_room_has_a_level() -> None:
    rooms = {room_of(path) for path in MODULES}
    assert rooms <= set().union(*LEVELS)


def test_the_version_is_written_once() -> None:
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version
    assert version[1] not in (ROOT / "pyproject.toml").read_text()
