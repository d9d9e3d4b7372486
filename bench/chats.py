"""1,000 chats through transformers: `MergewiseTokenizer` beside its own fast tokenizer.

    python bench/chats.py llama3.1=FOLDER qwen2.5=FOLDER --newer NEWER/bin/python

Each FOLDER is that of a model. NEWER has a version of tokenizers with which transformers does not
work yet, and mergewise's requirements for chats; it is measured without transformers. Each
competitor runs in a process of its own, repetitions interleaved, the best of which counts; answers
that differ are an error.
"""

import argparse
import hashlib
import importlib.metadata
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

from tables import keep, processor, table

import mergewise as mw

NUM_CHATS = 1_000
RESULTS = Path(__file__).parent / "results" / "transformers.md"
TITLE = """# Through transformers

Written by `bench/chats.py`: one call of transformers on 1,000 chats of two to eight paragraphs,
about a million tokens, given once as texts and once as messages. In each cell: millions of tokens a
second of wall time; milliseconds of the processor, all threads together; and how many times
those of mergewise they are. Each competitor runs in a process of its own, the repetitions
interleaved, the best counts; other programs used the machine meanwhile. The results of all rows are
equal: ids, masks and offsets. *Lists* are of Python's integers; *chats* is `apply_chat_template`,
most of which is jinja2's work. transformers does not work with tokenizers 1.0 yet, so that row is
tokenizers alone: `encode_batch`, and the lists of ids and of the mask."""
# What is asked for, by the words of the table.
Call = Callable[[list[Any], list[str]], Any]
CALLS: dict[str, Callable[[Any], Call]] = {
    "lists": lambda tok: lambda _, texts: tok(texts),
    "lists, padded": lambda tok: lambda _, texts: tok(texts, padding=True),
    "arrays of 512": lambda tok: (
        lambda _, texts: tok(
            texts, padding="max_length", truncation=True, max_length=512, return_tensors="np"
        )
    ),
    "lists, offsets": lambda tok: lambda _, texts: tok(texts, return_offsets_mapping=True),
    "chats": lambda tok: lambda chats, _: tok.apply_chat_template(chats),
}


def made_chats() -> list[Any]:
    """Conversations of two to eight messages, each a paragraph of the text in the package."""
    text = (files("mergewise") / "data" / "opticks.txt").read_text(encoding="utf-8")
    paragraphs = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    draw = random.Random(0)  # noqa: S311 (not for secrets)
    return [
        [
            {"role": ("user", "assistant")[turn % 2], "content": draw.choice(paragraphs)}
            for turn in range(draw.randrange(2, 9))
        ]
        for _ in range(NUM_CHATS)
    ]


def calls_of(kind: str, folder: str) -> dict[str, Call]:
    """The calls of a competitor that are measured."""
    if kind == "alone":
        import tokenizers  # noqa: PLC0415

        alone = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
        return {"lists": lambda _, texts: columns_of(alone.encode_batch(texts))}
    if kind == "fast":
        from transformers import PreTrainedTokenizerFast as Made  # noqa: PLC0415
    else:
        from mergewise.integrations.transformers import MergewiseTokenizer as Made  # noqa: PLC0415

    tokenizer = Made.from_pretrained(folder)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return {name: make(tokenizer) for name, make in CALLS.items()}


def columns_of(encodings: list[Any]) -> dict[str, list[list[int]]]:
    """What transformers takes from encodings at least."""
    return {
        "input_ids": [row.ids for row in encodings],
        "attention_mask": [row.attention_mask for row in encodings],
    }


def measure(kind: str, folder: str) -> dict[str, Any]:
    """One call of each kind, behind one that warms up."""
    chats = made_chats()
    render = mw.Tokenizer.from_file(folder).apply_chat_template
    texts = [render(chat, tokenize=False) for chat in chats]
    measured: dict[str, Any] = {}
    for name, call in calls_of(kind, folder).items():
        call(chats[:20], texts[:20])
        wall, cpu = time.perf_counter(), time.process_time()
        result = call(chats, texts)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        as_lists = json.dumps(dict(sorted(result.items())), default=lambda array: array.tolist())
        measured[name] = {
            "wall": wall,
            "cpu": cpu,
            "num_tokens": int(sum(map(sum, result["attention_mask"]))),
            "digest": hashlib.sha256(as_lists.encode()).hexdigest(),
        }
    version = importlib.metadata.version
    at_work = f"{'' if kind == 'alone' else 'transformers with '}tokenizers"
    named = "mergewise" if kind == "mergewise" else f"{at_work} {version('tokenizers')}"
    return {"name": named, "calls": measured}


def in_process(python: str, kind: str, folder: str) -> dict[str, Any]:
    """What a process of its own measures."""
    command = [python, __file__, "--measure", kind, folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    outcome: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return outcome


def rows(folder: str, newer: list[str], repetitions: int) -> list[list[str]]:
    """The rows of the table of a model."""
    peers = [(sys.executable, "mergewise"), (sys.executable, "fast")]
    peers += [(python, "alone") for python in newer]
    runs = [[in_process(*peer, folder) for peer in peers] for _ in range(repetitions)]
    made = [[outcome["name"]] for outcome in runs[0]]
    for name in CALLS:
        found = [[run[index]["calls"].get(name) for run in runs] for index in range(len(peers))]
        digests = {each["digest"] for of_peer in found for each in of_peer if each}
        assert len(digests) == 1, f"{folder}: the answers to {name!r} differ"
        least = min(each["cpu"] for each in found[0])
        for row, of_peer in zip(made, found, strict=True):
            row.append(cell(of_peer, least) if of_peer[0] else "")
    return made


def cell(repetitions: list[dict[str, Any]], least: float) -> str:
    """What the repetitions of a competitor come to, beside the least time of mergewise."""
    wall, cpu = (min(each[clock] for each in repetitions) for clock in ("wall", "cpu"))
    speed = repetitions[0]["num_tokens"] / wall / 1e6
    return f"{speed:.2f}; {cpu * 1e3:,.0f} ms; {cpu / least:.1f}"


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", metavar="NAME=FOLDER")
    parser.add_argument("--newer", nargs="*", default=[], metavar="PYTHON")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(*arguments.measure)))
        return
    for name, _, folder in (each.partition("=") for each in arguments.folders):
        made = rows(folder, arguments.newer, arguments.repetitions)
        told = f"{date.today()}, {processor()}, {arguments.repetitions} repetitions."  # noqa: DTZ011
        keep(RESULTS, TITLE, {name: f"{told}\n\n" + table(["at work", *CALLS], made)})


if __name__ == "__main__":
    main()
