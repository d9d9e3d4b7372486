"""Writes docs/models.md: `make models`. Minutes: every vocabulary is compared on every text."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mergewise as mw
from mergewise.formats.regexes import PATTERNS

# The tests know the vocabularies and compare them.
sys.path.append(str(Path(__file__).parent.parent / "tests"))
from models import Outcome, examine, load_here
from peers import ENCODINGS
from vocabularies import VOCABULARIES, vocabulary

PAGE = Path(__file__).parent / "models.md"
LIBRARIES = ["tokenizers", "tiktoken", "sentencepiece", "transformers"]
INTRODUCTION = """# Models

Written by `docs/models_page.py`. Each vocabulary that the tests know, taken from the package that
carries it, beside its own library: {libraries}; those of GGUF beside the texts and ids that
llama.cpp has recorded for them. The texts are 2,150 of many kinds (languages, code, emoji, odd
spaces, long repetitions, random characters) and the vocabulary's own special tokens in various
places; decoded are the ids of these texts and 300 random sequences of ids. A number is that of
cases, all equal.

- **ids**: with special tokens found in the text; without and with those that the file puts around
  it, and of pairs of texts, where the library does that.
- **decoded**: with special tokens, and without.
- **offsets**: where each token lies in the text.
- **speed**: what cuts a text into words. A *named* pattern has a scanner of its own, the fastest;
  an *expression* is a regular expression; *steps* are carried out one after the other; *none*: the
  text is not cut.

{alike} of {number} are equal in everything; {refused} are refused.

| vocabulary | package | tokens | what it needs | ids | decoded | offsets | speed |
|---|---|--:|---|---|---|---|---|
"""


def steps_of(part: dict[str, Any] | None) -> list[str]:
    """The types of the steps of a part of tokenizer.json, in order."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part["type"]]
    (steps,) = (value for value in part.values() if isinstance(value, list))
    return [name for step in steps for name in steps_of(step)]


def needs_of_json(document: dict[str, Any]) -> Iterator[str]:
    """What a tokenizer.json asks for, apart from merging."""
    for name in ("normalizer", "pre_tokenizer", "decoder", "post_processor"):
        if steps := steps_of(document.get(name)):
            yield f"{name.replace('_', '-')} {', '.join(steps)}"
    model = document["model"]
    flags = ("byte_fallback", "fuse_unk", "ignore_merges", "end_of_word_suffix")
    yield from (flag for flag in flags if model.get(flag))
    flags = ("lstrip", "rstrip", "single_word", "normalized")
    tokens = document.get("added_tokens", [])
    if used := [flag for flag in flags if any(token[flag] for token in tokens)]:
        yield f"added tokens with {', '.join(used)}"
    yield from (name for name in ("truncation", "padding") if document.get(name))


def strings_of_gguf(data: bytes) -> Iterator[str]:
    """The model and the pre-tokenizer of a GGUF file: a key, the type of a string, and a string."""
    for key in ("model", "pre"):
        name = f"tokenizer.ggml.{key}".encode()
        found = data.find(struct.pack("<Q", len(name)) + name + struct.pack("<I", 8))
        if found >= 0:
            start = found + 8 + len(name) + 4
            (size,) = struct.unpack_from("<Q", data, start)
            yield f"{key} {data[start + 8 : start + 8 + size].decode()}"


KINDS = {
    ".gz": "CLIP's merges",
    ".bpe": "GPT-2's two files",
    "encoder.json": "GPT-2's two files",
    ".json": "ranks in JSON",
}


def needs_of(name: str) -> str:
    """What a file asks for, in a few words."""
    path = vocabulary(name)
    if name in ENCODINGS:
        return "tiktoken's ranks"
    if ".model" in path.name:
        return "SentencePiece"
    if path.suffix == ".gguf":
        return "GGUF: " + ", ".join(strings_of_gguf(path.read_bytes()))
    if path.suffix == ".json":
        document = json.loads(path.read_text("utf-8"))
        if isinstance(document.get("model"), dict):
            return "; ".join(needs_of_json(document))
    return next(kind for ending, kind in KINDS.items() if path.name.endswith(ending))


def speed_of(tok: mw.Tokenizer) -> str:
    """What cuts texts into words."""
    if tok.vocabulary.steps is not None:
        return "steps"
    if tok.pattern is None:
        return "none"
    return "named" if tok.pattern in PATTERNS else "expression"


def cell(outcome: Outcome, *names: str) -> str:
    """How many cases are equal in these respects, or what is not."""
    found = [each for name, each in outcome.respects.items() if name.split(",")[0] in names]
    if not found:
        return ""
    cases = sum(each.cases for each in found)
    number = sum(each.number for each in found)
    return f"**{number:,} of {cases:,} differ**" if number else f"{cases:,}"


def row(outcome: Outcome) -> str:
    """One line of the table."""
    package = VOCABULARIES[outcome.name].package
    if outcome.refused:
        tokens, compared = "", ["**refused**", "", "", ""]
    else:
        tok = load_here(outcome.name)
        tokens = f"{tok.vocab_size:,}"
        compared = [
            cell(outcome, "ids", "pairs"),
            cell(outcome, "decoded"),
            cell(outcome, "offsets"),
            speed_of(tok),
        ]
    cells = [outcome.name, f"{package.name} {package.version}", tokens, needs_of(outcome.name)]
    return f"| {' | '.join([*cells, *compared])} |"


def main() -> None:
    """Compare every vocabulary, and write the page."""
    outcomes = []
    for name in VOCABULARIES:
        outcomes.append(examine(name))
        print(outcomes[-1], flush=True)
    introduction = INTRODUCTION.format(
        libraries=", ".join(f"{name} {version(name)}" for name in LIBRARIES),
        alike=sum(outcome.is_alike for outcome in outcomes),
        number=len(outcomes),
        refused=sum(bool(outcome.refused) for outcome in outcomes),
    )
    page = introduction + "".join(f"{row(outcome)}\n" for outcome in outcomes)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
