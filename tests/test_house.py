"""The rules of the house that a machine can check: who may use whom, sizes, names, clocks.

A rule that is broken fails with the list of all places that break it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from rust_files import Module, RustFile, file_of, rust_files

import mergewise

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "mergewise"

# A module may import from the levels after its own, and from `formal` only where FORMAL_USERS says.
LEVELS = [
    {"__main__"},
    {"cli"},
    {"demo", "reporting", "explaining", "cluster", "integrations"},
    {"training"},
    {"optimize"},
    {"merge_lists"},
    {"tokenizer", "counts"},
    {"token_documents"},
    {"coder", "live", "chat"},
    {"token_table", "saving"},
    {"encoding", "count_tables"},
    {"token_files", "pages"},
    {"formats", "sources", "progress", "drawing"},
    {"files", "vocabulary", "arguments", "parquet", "specials", "trees", "interrupts"},
    {"config", "storage"},
    {"optional", "framing"},
    {"_core", "errors"},
]
FORMAL_USERS = {"__init__", "demo", "optimize"}
# A room of the core may use those of its own level and after, and no two rooms use each other.
RUST_LEVELS = [
    {"python"},
    {"exact", "improve", "curvature", "bound", "segment", "session", "tokenizer"},
    {"decode", "writing"},
    {"encode", "greedy", "counting"},
    {"counts", "prices", "tokenizer_json"},
    {"specials", "pipeline"},
    {"pattern", "table", "reading", "arrow", "vocabulary", "ranks", "framing", "trie"},
    {"watch", "keys", "normalize", "prefetch", "pages", "parallel", "pool", "spelling", "varint"},
    {"merges"},
    {"error"},
    {"settings"},
]
MOST_LINES_OF_A_FILE = 450
MOST_LINES_OF_A_FUNCTION = 60
# A longer function says why, with these words, in the comment or docstring at its head.
REASON = "Long because"


def expect_none(broken: Iterable[str]) -> None:
    """Fail with the list of all places that break a rule."""
    places = sorted(broken)
    assert not places, "\n".join(["", *places])


def circles(uses: dict[Module, set[Module]]) -> Iterator[str]:
    """The uses through which modules use each other in a circle."""
    reached: dict[Module, set[Module]] = {}
    for start, others in uses.items():
        seen: set[Module] = set()
        ahead = list(others)
        while ahead:
            module = ahead.pop()
            if module not in seen:
                seen.add(module)
                ahead.extend(uses.get(module, ()))
        reached[start] = seen
    for module, others in uses.items():
        for other in others:
            if module in reached.get(other, ()):
                yield f"{'/'.join(module)} uses {'/'.join(other)}"


def level_of(name: str, levels: list[set[str]]) -> int:
    for index, level in enumerate(levels):
        if name in level:
            return index
    raise AssertionError(f"{name} has no level")


def imports_of(path: Path) -> set[Module]:
    """What a module imports from mergewise, as paths below it."""
    names: set[str] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {tuple(name.split(".")[1:]) for name in names if name.startswith("mergewise.")}


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


MODULES = [p for p in sorted(PACKAGE.rglob("*.py")) if room_of(p) not in {"__init__", "formal"}]
RUST_FILES = rust_files(ROOT)
USES = {
    file.module: file.uses({other.module for other in RUST_FILES})
    for file in RUST_FILES
    if not file.is_of_tests
}


# Who may use whom.


def test_every_room_has_a_level() -> None:
    assert {room_of(path) for path in MODULES} | {"_core"} == set().union(*LEVELS)
    assert {file.room for file in RUST_FILES} == set().union(*RUST_LEVELS)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_run_downward(path: Path) -> None:
    room = room_of(path)
    for other in {imported[0] for imported in imports_of(path)} - {room}:
        if other == "formal":
            assert room in FORMAL_USERS
        else:
            assert level_of(room, LEVELS) < level_of(other, LEVELS), f"{room} imports {other}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "formal").glob("*.py")), ids=lambda p: p.stem)
def test_formal_uses_the_standard_library_alone(path: Path) -> None:
    for node in ast.walk(parse(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            in_formal = name.startswith("mergewise.formal")
            assert in_formal or name.split(".")[0] in sys.stdlib_module_names, name


@pytest.mark.parametrize("file", RUST_FILES, ids=lambda file: "/".join(file.module))
def test_rust_uses_run_downward(file: RustFile) -> None:
    for other in set(re.findall(r"\bcrate::(\w+)", file.code)) - {file.room}:
        assert level_of(file.room, RUST_LEVELS) <= level_of(other, RUST_LEVELS), other


def test_no_modules_import_each_other_in_a_circle() -> None:
    modules = {path.relative_to(PACKAGE).with_suffix("").parts: path for path in MODULES}
    modules = {
        module[:-1] if module[-1] == "__init__" else module: path
        for module, path in modules.items()
    }
    files = set(modules)
    uses = {
        module: {file_of(imported, files) for imported in imports_of(path)} - {module, ()}
        for module, path in modules.items()
    }
    assert sum(map(len, uses.values())) > 100
    expect_none(circles(uses))


def test_no_rust_files_use_each_other_in_a_circle() -> None:
    expect_none(circles(USES))


def test_no_rooms_of_the_core_use_each_other_in_a_circle() -> None:
    uses: dict[Module, set[Module]] = {}
    for module, others in USES.items():
        uses.setdefault(module[:1], set()).update({other[:1] for other in others} - {module[:1]})
    expect_none(circles(uses))


def test_only_the_binding_names_pyo3() -> None:
    users = [file for file in RUST_FILES if "pyo3" in file.source]
    assert users
    expect_none(name_of(file.path) for file in users if file.room != "python")


# Sizes.


def functions_of(path: Path) -> Iterator[tuple[str, int, str]]:
    """The functions of a Python file: name, lines without the docstring, comment and docstring."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(parse(path)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        docstring = ast.get_docstring(node, clean=False)
        num_lines = (node.end_lineno or node.lineno) - node.lineno + 1
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if docstring is not None:
            num_lines -= docstring.count("\n") + 1
        above = lines[first - 2] if first > 1 else ""
        yield node.name, num_lines, f"{above}\n{docstring}"


def test_no_file_is_too_long() -> None:
    paths = [*(ROOT / "src").rglob("*.rs"), *(ROOT / "python").rglob("*.py*")]
    sizes = {path: path.read_bytes().count(b"\n") for path in paths if path.suffix != ".pyc"}
    expect_none(f"{name_of(p)}: {n} lines" for p, n in sizes.items() if n > MOST_LINES_OF_A_FILE)


def test_a_long_function_says_why_it_is() -> None:
    functions = [
        (name_of(file.path), function.name, function.num_lines, function.head)
        for file in RUST_FILES
        for function in file.functions()
    ]
    for path in sorted((ROOT / "python").rglob("*.py")):
        functions.extend((name_of(path), *function) for function in functions_of(path))
    assert len(functions) > 1000
    expect_none(
        f"{path}: {name} has {num_lines} lines"
        for path, name, num_lines, head in functions
        if num_lines > MOST_LINES_OF_A_FUNCTION and REASON not in head
    )


# Names, clocks and the version.


def test_names_say_what_is_in_a_file() -> None:
    """No `utils`, and no second version of something beside the first."""
    sources = [
        path
        for folder in ("src", "python", "tests", "bench", "paper", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".rs", ".py"}
    ]
    vague = re.compile(r"(utils?|helpers?|common|misc|.*_(v\d+|old|new|fast|2))")
    expect_none(name_of(path) for path in sources if vague.fullmatch(path.stem))
    version = re.compile(r"\b(?:fn|def|class|struct|enum)\s+\w+_(?:v\d+|old|fast)\b")
    expect_none(
        f"{name_of(path)}: {found}"
        for path in sources
        for found in version.findall(path.read_text(encoding="utf-8"))
    )


def test_no_test_reads_a_clock() -> None:
    """Time by the clock is that of the whole machine; CPU time, steps and calls are the work's."""
    clock = re.compile(
        r"\b(time\.(time|monotonic|perf_counter)(_ns)?|datetime\.(utc)?now|from\s+time\s+import)\b"
    )
    expect_none(
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in (ROOT / "tests").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if clock.search(line)
    )


def test_importing_the_package_loads_no_room() -> None:
    program = "import mergewise, sys; print([m for m in sys.modules if m.startswith('mergewise.')])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_every_public_name_is_loaded_when_it_is_used() -> None:
    program = (
        "from mergewise import *; import mergewise; print([*map(dir().count, mergewise.__all__)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{[1] * len(mergewise.__all__)}\n"
    assert dir(mergewise) == sorted([*mergewise.__all__, "__version__"])


def test_a_name_that_is_missing_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'mergewise' has no attribute 'tokenise'"):
        mergewise.tokenise  # type: ignore[attr-defined]  # noqa: B018


def test_the_version_is_written_once() -> None:
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version
    sources = [*(ROOT / "src").rglob("*.rs"), *(ROOT / "python").rglob("*.py*")]
    others = [ROOT / name for name in ("pyproject.toml", "CITATION.cff", "mkdocs.yml", "README.md")]
    texts = [path for path in sources if path.suffix != ".pyc"] + others
    expect_none(name_of(p) for p in texts if version[1] in p.read_text(encoding="utf-8"))


# What the guards rely on.


def rust_file(folder: Path, source: str, *module: str) -> RustFile:
    path = folder / "file.rs"
    path.write_text(source)
    return RustFile(path, module)


def test_rust_files_are_read(tmp_path: Path) -> None:
    modules = {("a",), ("b",), ("b", "one"), ("b", "two"), ("c",)}
    source = """
use crate::a::{self, Thing};
use super::{two::{X, Y}, Front};
// use crate::c;
#[cfg(test)]
mod tests { use crate::c::Z; }
pub(super) fn f<'a>(x: &'a [u8; 2]) -> char { let _ = "{ crate::c::Z"; '{' }
"""
    file = rust_file(tmp_path, source, "b", "one")
    assert file.uses(modules) == {("a",), ("b",), ("b", "two")}
    front = rust_file(tmp_path, "mod one;\npub use self::one::X;\nfn g() { one::h() }\n", "b")
    assert front.uses(modules) == set()


def test_functions_are_measured(tmp_path: Path) -> None:
    source = """
/// What it is.
///
/// Long because it is.
#[inline]
fn long(
    text: &str,
) -> [u8; 2]
where
    u8: Copy,
{
    if text == "}" { return [0; 2]; }
    [b'}'; 2]
}

fn short() {}
trait Has { fn none(&self); }
"""
    long, short = rust_file(tmp_path, source, "a").functions()
    assert (long.name, long.line, long.num_lines) == ("long", 6, 9)
    assert REASON in long.head
    assert (short.name, short.num_lines, short.head) == ("short", 1, "")


def test_circles_are_found() -> None:
    a, b, c, d = (("a",), ("b",), ("c",), ("d", "e"))
    assert list(circles({a: {b}, b: {c}, c: {d}, d: set()})) == []
    found = circles({a: {b}, b: {c}, c: {d}, d: {b}})
    assert list(found) == ["b uses c", "c uses d/e", "d/e uses b"]
