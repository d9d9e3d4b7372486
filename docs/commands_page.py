"""Writes docs/command_line.md from the parser: `make command-line`. A test tells when it is old."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from mergewise.cli.completion import commands_of
from mergewise.cli.parser import COMMANDS, make_parser

PAGE = Path(__file__).parent / "command_line.md"
HEAD = """# Command line

Written by `docs/commands_page.py` from the parser itself. Data goes to standard output, everything
else to standard error; `-` is standard input among inputs, and standard output behind `-o`. The
exit status is 0; 1 after an error, which is one line; 2 after a mistake in the arguments; 130 after
Ctrl-C. `mergewise COMMAND --help` shows the same, and `mergewise completion bash` (or zsh, fish)
completes all of it.

| command | |
|---|---|
"""


def page() -> str:
    """The whole page."""
    rows = "".join(
        f"| [`{name}`](#{name}) | {text[0].upper()}{text[1:]} |\n"
        for name, (_, text) in COMMANDS.items()
    )
    sections = [section(name, parser) for name, parser in parsers().items()]
    return "\n".join([HEAD + rows, *sections])


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    for action in make_parser()._actions:  # noqa: SLF001 - argparse has no public way to ask
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    raise LookupError("the parser has no commands")


def section(name: str, parser: argparse.ArgumentParser) -> str:
    """One command: what it does, its arguments, its examples."""
    module, text = COMMANDS[name]
    doc = inspect.getdoc(getattr(import_module(f"mergewise.cli.{module}"), f"add_{name}")) or ""
    details, _, examples = doc.partition("\n\n")[2].rpartition("Examples:\n")
    lines = [f"## {name}", "", f"{text[0].upper()}{text[1:]}. {details.strip()}".strip(), ""]
    lines += ["| argument | |", "|---|---|", *rows_of(parser), ""]
    lines += ["```text", *(line.removeprefix("  ") for line in examples.splitlines()), "```", ""]
    return "\n".join(lines)


def rows_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A row for each argument but --help."""
    for action in parser._actions:  # noqa: SLF001
        if "--help" in action.option_strings:
            continue
        values = "" if action.nargs == 0 else value_of(action)
        names = ", ".join(action.option_strings)
        shown = f"{names} {values}".strip()
        required = " (required)" if action.required and action.option_strings else ""
        text = (action.help or "").replace("|", "\\|")
        yield f"| `{shown}` | {text}{required} |".replace("`|`", "`\\|`")


def value_of(action: argparse.Action) -> str:
    """What stands behind an option, or in its place."""
    if action.choices is not None and action.metavar is None:
        return " / ".join(map(str, action.choices))
    name = action.metavar or action.dest.upper()
    many = {"*": f"[{name} ...]", "+": f"{name} ...", "?": f"[{name}]"}
    return many.get(str(action.nargs), str(name))


def main() -> None:
    """Write the page."""
    assert [command.name for command in commands_of(make_parser())] == list(COMMANDS)  # noqa: S101
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
