"""The command line as tests call it, and a small tokenizer whose ids can be worked out by hand."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from processes import HANGS, LISTEN

from mergewise.cli import main
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Vocabulary

PROGRAM = [
    sys.executable,
    "-c",
    LISTEN + "from mergewise.cli import main; raise SystemExit(main())",
]
MERGES = [(b"l", b"o"), (b"lo", b"w"), (b" ", b"low")]
TOKENS = {**{bytes([byte]): byte for byte in range(256)}, b"lo": 256, b"low": 257, b" low": 258}
END = {"<|end|>": 259}


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return self.output.decode()


def call(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run the command line in this process."""
    written, errors = io.BytesIO(), io.StringIO()
    output = io.TextIOWrapper(written, encoding="utf-8", newline="\n")
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            status = main([str(argument) for argument in arguments])
    except SystemExit as stopped:
        status = int(stopped.code or 0)
    finally:
        sys.stdin = before
    output.flush()
    return Done(status, written.getvalue(), errors.getvalue())


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start the command line as a process of its own, with pipes."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def interrupt_once_shown(shown: str, *arguments: str | Path) -> Done:
    """Run the command line in a terminal, and send Ctrl-C once its bar matches a pattern."""
    terminal, side_of_process = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=side_of_process
    )
    os.close(side_of_process)
    try:
        errors = ""
        while not re.search(shown, errors):
            errors += os.read(terminal, 1000).decode(errors="replace")
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=HANGS)
        return Done(process.returncode, output, errors)
    finally:
        process.kill()
        process.communicate()
        os.close(terminal)


def low_tokenizer(folder: Path) -> Path:
    """A tokenizer.json with the bytes, `lo`, `low`, ` low` and one special token."""
    path = folder / "low.json"
    vocabulary = Vocabulary(tokens=TOKENS, merges=MERGES, pattern="gpt2", special_tokens=END)
    Tokenizer(vocabulary).save(path)
    return path
