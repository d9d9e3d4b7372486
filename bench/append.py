"""What an append to a session costs, beside encoding the whole text again.

    python bench/append.py tokenizer.json o200k_base.tiktoken

For each tokenizer, microseconds of the processor's time: an append of the text of 100 tokens to
texts of 1,000, 32,000 and 1,000,000 tokens, and the whole text again; single characters appended to
texts in which no word ends; a stream of parts of 20 characters, beside that of iree-tokenizer where
it is installed and reads the file. Ids are compared with those of the whole text.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.resources import files
from statistics import median
from typing import Any

import mergewise as mw

TEXT = (files("mergewise") / "data" / "opticks.txt").read_text(encoding="utf-8")
SIZES = [1_000, 32_000, 1_000_000]
ENDLESS = {
    "one endless word": "abcdefghijklm",
    "one letter": "a",
    "spaces": " ",
    "combining marks": "e\u0301\u0327",
    "pairs of CR and LF": "\r\n",
    "halves of special tokens": "<|end",
}
LENGTH = 4_000


def microseconds(work: Callable[[str], object], text: str) -> float:
    """The time of the processor that something takes with a text."""
    start = time.process_time_ns()
    work(text)
    return (time.process_time_ns() - start) / 1e3


def appends(tok: mw.Tokenizer) -> list[str]:
    """A row of the table for each size."""
    encode = partial(tok.encode, disallowed_special=())
    ratio = len(encode(TEXT)) / len(TEXT)
    rows = []
    for size in SIZES:
        length = int(size / ratio)
        text = (TEXT * (length // len(TEXT) + 1))[:length]
        part = TEXT[5_000 : 5_000 + int(100 / ratio)]
        session = tok.session(disallowed_special=())
        session.append(text)
        forks = [session.fork() for _ in range(15)]
        cost = median(microseconds(fork.append, part) for fork in forks)
        whole = text + part
        again = median(microseconds(encode, whole) for _ in range(3))
        assert forks[0].ids == encode(whole)
        rows.append(f"| {size:,} tokens | {cost:,.1f} | {again:,.0f} | {again / cost:,.0f} |")
    return rows


def endless(tok: mw.Tokenizer) -> list[str]:
    """A row of the table for each text without an end."""
    rows = []
    for name, unit in ENDLESS.items():
        session = tok.session(disallowed_special=())
        text = (unit * LENGTH)[:LENGTH]
        costs = [microseconds(session.append, character) for character in text]
        assert session.ids == tok.encode(text, disallowed_special=())
        mean = sum(costs) / len(costs)
        last = median(costs[-LENGTH // 10 :])
        rows.append(f"| {name} | {mean:,.1f} | {last:,.1f} | {sorted(costs)[-21]:,.1f} |")
    return rows


def streams(path: str, tok: mw.Tokenizer) -> list[str]:
    """A row of the table for each library whose streams run here."""
    parts = [TEXT[at : at + 20] for at in range(0, len(TEXT), 20)]
    options: dict[str, Any] = {"disallowed_special": (), "add_special_tokens": False}
    whole = tok.encode(TEXT, **options)

    def ours() -> list[int]:
        stream = tok.stream_encoder(**options)
        return [token for part in parts for token in stream.add(part)] + stream.finish()

    rows = [stream_row("mergewise", ours, len(parts), whole)]
    try:
        peer = import_module("iree.tokenizer").Tokenizer.from_file(path)
    except (ImportError, ValueError) as error:
        return [*rows, f"| iree-tokenizer: {error} | | |"]

    def theirs() -> list[int]:
        stream = peer.encode_stream(add_special_tokens=False)
        return [token for part in parts for token in stream.feed(part)] + list(stream.finalize())

    return [*rows, stream_row("iree-tokenizer", theirs, len(parts), whole)]


def stream_row(name: str, work: Callable[[], list[int]], num_parts: int, whole: list[int]) -> str:
    """The least time of a few, for a part, and whether the ids are right."""
    costs = [microseconds(lambda _: work(), "") for _ in range(5)]
    verdict = "as of the whole text" if work() == whole else "other ids than the model's"
    return f"| {name} | {min(costs) / num_parts:,.2f} | {verdict} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizers", nargs="+", help="files of tokenizers")
    for path in parser.parse_args().tokenizers:
        tok = mw.Tokenizer.from_file(path, lossy=True)
        print(
            f"\n## {path}\n\n| history | append, µs | whole again, µs | times |\n|---|--:|--:|--:|"
        )
        print(*appends(tok), sep="\n")
        print(
            "\n| a character more | mean, µs | in the last tenth, µs | all but 20 are below, µs |"
            "\n|---|--:|--:|--:|"
        )
        print(*endless(tok), sep="\n")
        print("\n| stream | a part of 20 characters, µs | ids |\n|---|--:|---|")
        print(*streams(path, tok), sep="\n")


if __name__ == "__main__":
    main()
