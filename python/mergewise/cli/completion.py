"""`mergewise completion`: scripts for shells, made from the parser."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mergewise.cli.options import Parser
from mergewise.cli.parser import make_parser

PROGRAM = "mergewise"


class Command(NamedTuple):
    """A command, its arguments with names, and the values of its positional ones, if few."""

    name: str
    text: str
    flagged: list[argparse.Action]
    words: list[str]


def commands_of(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """The commands of a parser."""
    # argparse has no public way to ask what was added to it.
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            texts = {a.dest: a.help or "" for a in action._choices_actions}  # noqa: SLF001
            for name, sub in action.choices.items():
                flagged = [a for a in sub._actions if a.option_strings]  # noqa: SLF001
                others = [a for a in sub._actions if not a.option_strings]  # noqa: SLF001
                words = [word for a in others for word in a.choices or ()]
                yield Command(name, texts[name], flagged, words)


def text_of(option: argparse.Action) -> str:
    """What an option does."""
    return (option.help or "").replace("%%", "%")


def bash_script(commands: list[Command]) -> str:
    """A script for bash; where it offers nothing, bash offers files."""
    names = " ".join(command.name for command in commands)
    return f"""\
# bash completion of {PROGRAM}: eval "$({PROGRAM} completion bash)"
_{PROGRAM}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "{names} --help --version" -- "$current"))
        return
    fi
    case "${{COMP_WORDS[1]}}:$before" in
{indented(8, bash_values(commands))}
    esac
    if [[ -z $words ]]; then
        case "${{COMP_WORDS[1]}}:$current" in
{indented(12, bash_flags(commands))}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _{PROGRAM} {PROGRAM}
"""


def bash_values(commands: list[Command]) -> Iterator[str]:
    """The cases of values that follow an option."""
    for command in commands:
        for option in command.flagged:
            places = "|".join(f"{command.name}:{flag}" for flag in option.option_strings)
            if option.choices:
                yield f'{places}) words="{" ".join(option.choices)}" ;;'
            elif option.nargs != 0:
                yield f"{places}) return ;;"


def bash_flags(commands: list[Command]) -> Iterator[str]:
    """The cases of options and positional arguments."""
    for command in commands:
        flags = " ".join(flag for option in command.flagged for flag in option.option_strings)
        yield f'{command.name}:-*) words="{flags}" ;;'
        if command.words:
            yield f'{command.name}:*) words="{" ".join(command.words)}" ;;'


def zsh_script(commands: list[Command]) -> str:
    """A script for zsh."""
    names = [quoted(f"{command.name}:{command.text}") for command in commands]
    return f"""\
#compdef {PROGRAM}
# zsh completion of {PROGRAM}: put it as _{PROGRAM} into a folder of $fpath, or eval it.
_{PROGRAM}() {{
    local -a commands=(
{indented(8, names)}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{indented(8, map(zsh_case, commands))}
    esac
}}
if [[ $funcstack[1] == _{PROGRAM} ]]; then
    _{PROGRAM} "$@"
else
    compdef _{PROGRAM} {PROGRAM}
fi
"""


def zsh_case(command: Command) -> str:
    """The case of a command for zsh."""
    rest = f"({' '.join(command.words)})" if command.words else "_files"
    specs = [quoted(spec) for option in command.flagged for spec in zsh_specs(option)]
    return f"{command.name}) _arguments {' '.join([*specs, quoted(f'*:argument:{rest}')])} ;;"


def zsh_specs(option: argparse.Action) -> Iterator[str]:
    """An option in the language of zsh's `_arguments`, once for each of its names."""
    text = re.sub(r"([\[\]:\\])", r"\\\1", text_of(option))
    is_repeated = isinstance(option, argparse._AppendAction)  # noqa: SLF001
    others = "*" if is_repeated else f"({' '.join(option.option_strings)})"
    offered = f"({' '.join(option.choices)})" if option.choices else ""
    files = "_files" if option.type is Path else ""
    value = f":value:{offered or files}" if option.nargs != 0 else ""
    return (f"{others}{flag}[{text}]{value}" for flag in option.option_strings)


def fish_script(commands: list[Command]) -> str:
    """A script for fish."""
    lines = [f"# fish completion of {PROGRAM}: {PROGRAM} completion fish | source"]
    for command in commands:
        start = f"complete -c {PROGRAM} -n __fish_use_subcommand -f"
        lines.append(f"{start} -a {command.name} -d {quoted(command.text)}")
    for command in commands:
        start = f'complete -c {PROGRAM} -n "__fish_seen_subcommand_from {command.name}"'
        lines += [f"{start} {fish_option(option)}" for option in command.flagged]
        if command.words:
            lines.append(f"{start} -f -a {quoted(' '.join(command.words))}")
    return "\n".join(lines) + "\n"


def fish_option(option: argparse.Action) -> str:
    """An option in the language of fish's `complete`."""
    parts = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        for flag in option.option_strings
    ]
    if option.choices:
        parts.append(f"-x -a {quoted(' '.join(option.choices))}")
    elif option.nargs != 0:
        parts.append("-r" if option.type is Path else "-x")
    return " ".join([*parts, f"-d {quoted(text_of(option))}"])


def quoted(text: str) -> str:
    r"""A word of a shell's script.

    >>> print(quoted("the file's name"))
    'the file'\''s name'
    """
    return "'" + text.replace("'", "'\\''") + "'"


def indented(width: int, lines: Iterable[str]) -> str:
    """Lines moved to the right."""
    return "\n".join(" " * width + line for line in lines)


SCRIPTS: dict[str, Callable[[list[Command]], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}


def add_completion(parser: Parser) -> None:
    """The arguments of `mergewise completion`.

    Examples:
      eval "$(mergewise completion bash)"
      mergewise completion zsh > ~/.zfunc/_mergewise
      mergewise completion fish > ~/.config/fish/completions/mergewise.fish
    """
    parser.add_argument("shell", choices=sorted(SCRIPTS))


def run_completion(parsed: argparse.Namespace) -> None:
    """`mergewise completion`."""
    sys.stdout.write(SCRIPTS[parsed.shell](list(commands_of(make_parser()))))
