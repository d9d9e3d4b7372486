"""The documents run: every block of code and every command, in order, in a fresh folder.

A block is one of these, by its language:

- `pycon`: run as a doctest.
- `console`: run by bash, but for what FOREIGN lists and what `make` does. The folder has the files
  that the documents speak of; the tutorial's has none.
- `python`: a program, which is run where ELSEWHERE says, or, in guide/use_in.md, by test_use_in.py.
- `text`, or none: what something prints, or a drawing, named in SHOWN.
"""

from __future__ import annotations

import doctest
import os
import re
import runpy
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import PROGRAM

import mergewise as mw
from mergewise.cli.parser import make_parser, parse
from mergewise.demo import opticks
from mergewise.integrations import tiktoken
from mergewise.integrations import transformers as in_transformers

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Programs that need Spark or Ray, and the tests that run them (`make test-cluster`).
ELSEWHERE = {
    "Spark": "test_cluster_spark.py::test_the_example_of_the_document_runs",
    "Ray": "test_cluster_ray.py::test_the_example_of_the_document_runs",
}
# Blocks that are no code.
SHOWN = {
    ("README.md", "139,"): "what the demo prints: test_demo.py::test_the_readme_quotes_it",
    (
        "docs/command_line.md",
        "",
    ): "examples of --help: test_cli.py::test_every_command_has_examples",
    ("docs/design.md", "texts, files, Arrow batches"): "a drawing of the way of the data",
}
# Commands that are not mergewise's, and why they are not run here.
FOREIGN = {
    ("README.md", "pip install"): "from the network; `make wheels` installs what it builds",
    ("docs/index.md", "pip install"): "the same",
    ("docs/tutorial.md", "pip install"): "the same",
    ("docs/install.md", "pip install"): "the same",
    ("docs/install.md", "cargo add"): "from the network",
    ("CONTRIBUTING.md", "python3.11 -m venv"): "fuzzing installs atheris, from the network",
    ("CONTRIBUTING.md", "PYTHONPATH=python"): "and runs for minutes; its seeds run in the tests",
}


@dataclass(frozen=True)
class Block:
    """A block of a document between two fences."""

    document: str
    language: str
    code: str

    def is_listed(self, listed: dict[tuple[str, str], str], line: str = "") -> bool:
        text = line or self.code
        return any(self.document == name and text.startswith(start) for name, start in listed)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n```") == 2 * len(FENCE.findall(text)), f"{path.name}: an odd fence"
    return [Block(name_of(path), *found) for found in FENCE.findall(text)]


BLOCKS = [block for path in DOCUMENTS for block in blocks_of(path)]


def commands_of(script: str) -> list[list[str]]:
    """The words of each command of a script, without what the shell takes for itself.

    >>> commands_of('cat a | tool "b c" --d > e  # why')
    [['cat', 'a'], ['tool', 'b c', '--d']]
    """
    commands = []
    for line in script.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        command: list[str] = []
        for word in words:
            if word in {"|", "&&", ";"}:
                commands.append(command)
                command = []
            elif word in {"<", ">"}:
                next(words)
            else:
                command.append(word)
        commands.append(command)
    return [command for command in commands if command]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the documents take for granted: texts, and tokenizers to look at."""
    folder = tmp_path_factory.mktemp("files")
    text = opticks()[:60_000]
    (folder / "corpus.txt").write_text(text, encoding="utf-8")
    (folder / "corpus").mkdir()
    (folder / "corpus" / "one.txt").write_text(text[:20_000], encoding="utf-8")
    (folder / "corpus" / "two.jsonl").write_text('{"text": "Light and Colours"}\n' * 9)
    (folder / "code").mkdir()
    (folder / "code" / "docs.py").write_text(Path(__file__).read_text(encoding="utf-8"))
    for name in ("en.txt", "de.txt"):
        (folder / name).write_text(text[:9_000], encoding="utf-8")
    counts = mw.count([text], pattern="gpt2")
    for name, size in {"tokenizer.json": 500, "new.json": 450, "old.json": 400}.items():
        made = mw.train(counts, vocab_size=size, special_tokens=["<|endoftext|>"])
        made.save(folder / name)
    return folder


def copy_of(files: Path, folder: Path, *, names: Sequence[str]) -> Path:
    """The files once more, where a page may change them, and a `mergewise` to call."""
    for file in (file for name in names for file in files.rglob(name)):
        copy = folder / file.relative_to(files)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(file.read_bytes())
    program = folder / ".bin" / "mergewise"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    program.chmod(0o755)
    return program.parent


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_a_document_is_followed_literally(
    path: Path, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block by block; where a search would take minutes it takes a moment."""
    is_tutorial = path.name == "tutorial.md"
    programs = copy_of(files, tmp_path, names=() if is_tutorial else ("*.*",))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    known: dict[str, object] = {}
    runner = doctest.DocTestRunner()
    for number, block in enumerate(blocks_of(path)):
        if block.language == "console":
            run_commands(block)
        elif block.language == "pycon":
            name = f"{block.document}, block {number}"
            parsed = doctest.DocTestParser().get_doctest(block.code, known, name, str(path), 0)
            assert parsed.examples, name
            runner.run(parsed, clear_globs=False)
            known = parsed.globs
            assert runner.failures == 0, name


def run_commands(block: Block) -> None:
    """The commands of a block, in the folder that is current."""
    lines = [line for line in block.code.splitlines() if not block.is_listed(FOREIGN, line)]
    commands = "\n".join(line for line in lines if not line.startswith("make "))
    script = re.sub(r"(--time-limit|--improve) \d+", r"\1 0.2", commands)
    unlimited = r"mergewise (certify|improve|report) (?!.*--(?:time-limit|moves))"
    script = re.sub(unlimited, r"mergewise \1 --time-limit 0.2 ", script)
    script = re.sub(r"--length \d+", "--length 6", script)
    script = script.replace("mergewise improve ", "mergewise improve --certify 0.2 ")
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for words in commands_of(commands):
        if "-o" in words:
            assert Path(words[words.index("-o") + 1]).stat().st_size > 0


@pytest.mark.parametrize(
    ("program", "function", "name"),
    [("commands_page", "page", "command_line.md"), ("chart", "chart", "screenshots/training.svg")],
)
def test_what_is_made_is_current(program: str, function: str, name: str) -> None:
    made = runpy.run_path(str(ROOT / "docs" / f"{program}.py"))[function]()
    hint = "run `make command-line`"
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == made, hint


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_exist(path: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for block in blocks_of(path):
        if block.language != "console":
            continue
        for line in block.code.splitlines():
            if block.is_listed(FOREIGN, line):
                continue
            for program, *arguments in commands_of(line):
                assert program in {"mergewise", "make", "cat", "zcat", "echo"}, line
                if program == "mergewise":
                    assert callable(parse(make_parser(), arguments).run)
                elif program == "make":
                    assert set(arguments) <= set(targets), line


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_in_the_text_exist(path: Path) -> None:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in re.findall(r"`make ([a-z-]+)", text):
        assert target in targets, f"{path.name} speaks of make {target}"


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    for block in BLOCKS:
        if block.language in {"", "text"}:
            assert block.is_listed(SHOWN), block
        else:
            assert block.language in {"pycon", "console", "python"}, block


def test_every_program_is_run_by_a_test() -> None:
    """Those of docs/cluster.md by the tests of the clusters; others are parts of these.

    Those of guide/use_in.md by the tests of their packages.
    """
    cluster = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    run = []
    for heading, cited in ELSEWHERE.items():
        file, _, name = cited.partition("::")
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        body = source.partition(f"def {name}(")[2].partition("\ndef ")[0]
        assert f'example("{heading}", ' in body, cited
        section = cluster.partition(f"\n## {heading}\n")[2]
        run.append(section.partition("```python\n")[2].partition("```")[0])
    tests = (ROOT / "tests" / "test_use_in.py").read_text(encoding="utf-8")
    for package in re.findall(r'\brun\("(\w+)"\)', tests):
        run += [block.code for block in BLOCKS if f"from {package} import" in block.code]
    lines = {line for program in run for line in program.splitlines()}
    for block in BLOCKS:
        if block.language == "python":
            assert block.code in run or set(block.code.splitlines()) <= lines, block


def reference_name(room: str, name: str, thing: object) -> str:
    """What api.md calls a public name; a function with the name of its module by its full path."""
    module = getattr(thing, "__module__", "")
    return f"{module}.{name}" if module.endswith(f".{name}") else f"{room}.{name}"


def test_the_reference_has_every_public_name() -> None:
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: (\S+)$", reference, re.MULTILINE)
    rooms = {
        "mergewise": mw,
        "mergewise.cluster": mw.cluster,
        "mergewise.formal": mw.formal,
        "mergewise.integrations.tiktoken": tiktoken,
        "mergewise.integrations.transformers": in_transformers,
    }
    public = [
        reference_name(room, name, getattr(module, name))
        for room, module in rooms.items()
        for name in module.__all__
    ]
    assert sorted(shown) == sorted(public)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_cited_tests_exist(path: Path) -> None:
    for file, name in re.findall(r"(test_\w+\.py)::(\w+)", path.read_text(encoding="utf-8")):
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {name}(" in source, f"{path.name} cites {file}::{name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_linked_files_exist(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{path.name} links {target}"
