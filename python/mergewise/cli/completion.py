"""`mergewise completion`: scripts for shells, made from the parser."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mergewise.cli.options import Parser
from mergewise.cli.parser import make_parser

PROGRAM = "mergewise"


@dataclass(frozen=True)
class Option:
    """An argument of a command.

    Attributes:
        flags: its names; none for a positional argument.
        text: what it does.
        choices: its values, if that is a short list.
        takes_value: whether a value follows it.
        is_file: whether the value is a file.
        is_repeated: whether it may be given again.
    """

    flags: tuple[str, ...]
    text: str
    choices: tuple[str, ...]
    takes_value: bool
    is_file: bool
    is_repeated: bool


@dataclass(frozen=True)
class Command:
    """A command and its arguments."""

    name: str
    text: str
    options: tuple[Option, ...]

    @property
    def flagged(self) -> list[Option]:
        """The arguments that have names."""
        return [option for option in self.options if option.flags]

    @property
    def words(self) -> list[str]:
        """The values of positional arguments, if that is a short list."""
        return [word for option in self.options if not option.flags for word in option.choices]


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """The commands of a parser."""
    # argparse has no public way to ask what was added to it.
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            texts = {a.dest: a.help or "" for a in action._choices_actions}  # noqa: SLF001
            return [
                Command(name, texts[name], tuple(map(option_of, sub._actions)))  # noqa: SLF001
                for name, sub in action.choices.items()
            ]
    return []


def option_of(action: argparse.Action) -> Option:
    """An argument of argparse, for the shells."""
    return Option(
        flags=tuple(action.option_strings),
        text=(action.help or "").replace("%%", "%"),
        choices=tuple(map(str, action.choices or ())),
        takes_value=action.nargs != 0,
        is_file=action.type is Path,
        is_repeated=isinstance(action, argparse._AppendAction),  # noqa: SLF001
    )


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
            places = "|".join(f"{command.name}:{flag}" for flag in option.flags)
            if option.choices:
                yield f'{places}) words="{" ".join(option.choices)}" ;;'
            elif option.takes_value:
                yield f"{places}) return ;;"


def bash_flags(commands: list[Command]) -> Iterator[str]:
    """The cases of options and positional arguments."""
    for command in commands:
        flags = " ".join(flag for option in command.flagged for flag in option.flags)
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


def zsh_specs(option: Option) -> Iterator[str]:
    """An option in the language of zsh's `_arguments`, once for each of its names."""
    text = re.sub(r"([\[\]:\\])", r"\\\1", option.text)
    others = "*" if option.is_repeated else f"({' '.join(option.flags)})"
    value = ""
    if option.takes_value:
        offered = f"({' '.join(option.choices)})" if option.choices else "_files" * option.is_file
        value = f":value:{offered}"
    return (f"{others}{flag}[{text}]{value}" for flag in option.flags)


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


def fish_option(option: Option) -> str:
    """An option in the language of fish's `complete`."""
    parts = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    ]
    if option.choices:
        parts.append(f"-x -a {quoted(' '.join(option.choices))}")
    elif option.takes_value:
        parts.append("-r" if option.is_file else "-x")
    return " ".join([*parts, f"-d {quoted(option.text)}"])


def quoted(text: str) -> str:
    r"""A word of a shell's script.

    >>> print(quoted("the file's name"))
    'the file'\''s name'
    """
    return "'" + text.replace("'", "'\\''") + "'"


def indented(width: int, lines: Iterator[str] | list[str] | map[str]) -> str:
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
    sys.stdout.write(SCRIPTS[parsed.shell](commands_of(make_parser())))
