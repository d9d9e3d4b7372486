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
from round_trips import Trip, trips_of
from vocabularies import VOCABULARIES, vocabulary

PAGE = Path(__file__).parent / "models.md"
LIBRARIES = ["tokenizers", "tiktoken", "sentencepiece", "transformers"]
INTRODUCTION = """# Models

Written by `docs/models_page.py` (`make models`). {number} vocabularies of published models, each
read by mergewise and compared with the library that it was made for: {libraries}. A number in the
table is that of the cases compared, all of them equal; what differs, or is refused, is in bold.
An empty cell: nothing to compare with.

The texts are 2,150 of many kinds (languages, code, emoji, odd spaces, long repetitions, random
characters), and the vocabulary's own special tokens in various places.

- **ids**: of {ids} vocabularies. Special tokens are found in the text. Where the library can,
  also with the special tokens that the file puts around a text, and of pairs of texts.
- **decoded**: of {decoded}. The ids of these texts and 300 random sequences of ids, with special
  tokens and, where the library can, without.
- **offsets**: of {offsets}. Where each token lies in the text, as tokenizers says.
- **saved as**: the formats in which `save` writes it; it refuses the others, because the file
  would encode differently. {files} files, {files_alike} of them with equal ids for the 2,150
  texts in the library of the format. Codes and GGUF are read by mergewise itself; transformers,
  which reads GPT-2's two files, is told which tokens are special, as they do not say it.
- **cut by**: what cuts a text into words. A *named* pattern and an *expression* are
  automata, fast alike. *Steps* that only cut are one expression where they amount to one;
  others are carried out one after the other, which takes longer. *Nothing*: the text is not cut.

llama.cpp is not run. Vocabularies in GGUF are compared with the ids that its repository records,
of about 50 texts; where it records none, the texts come back from their ids, which is counted
under decoded.

{alike} of {number} are equal in everything that is compared; {refused} are refused.

| vocabulary | package | tokens | what it needs | ids | decoded | offsets | saved as | cut by |
|---|---|--:|---|--:|--:|--:|---|---|
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


def cut_by(tok: mw.Tokenizer) -> str:
    """What cuts texts into words."""
    if tok.vocabulary.steps is not None:
        return "steps"
    if tok.pattern is None:
        return "nothing"
    return "named" if tok.pattern in PATTERNS else "expression"


RESPECTS = {"ids": ("ids", "pairs"), "decoded": ("decoded",), "offsets": ("offsets",)}


def cell(outcome: Outcome, *names: str) -> str:
    """How many cases are equal in these respects, or what is not."""
    found = [each for name, each in outcome.respects.items() if name.split(",")[0] in names]
    if not found:
        return ""
    cases = sum(each.cases for each in found)
    number = sum(each.number for each in found)
    return f"**{number:,} of {cases:,} differ**" if number else f"{cases:,}"


def saved_as(trips: list[Trip]) -> str:
    """The formats in which a vocabulary is saved, and how many texts have other ids there."""
    return ", ".join(
        trip.format_name + (f" (**{trip.texts.number:,} differ**)" if trip.texts.number else "")
        for trip in trips
    )


def row(outcome: Outcome, trips: list[Trip]) -> str:
    """One line of the table."""
    package = VOCABULARIES[outcome.name].package
    if outcome.refused:
        tokens, compared = "", ["**refused**", "", "", "", ""]
    else:
        tok = load_here(outcome.name)
        tokens = f"{tok.vocab_size:,}"
        respects = [cell(outcome, *names) for names in RESPECTS.values()]
        compared = [*respects, saved_as(trips), cut_by(tok)]
    cells = [outcome.name, f"{package.name} {package.version}", tokens, needs_of(outcome.name)]
    return f"| {' | '.join([*cells, *compared])} |"


def introduction(outcomes: list[Outcome], trips: list[Trip]) -> str:
    """What the numbers mean, with their totals."""
    compared = {
        name: sum(bool(cell(outcome, *names)) for outcome in outcomes)
        for name, names in RESPECTS.items()
    }
    return INTRODUCTION.format(
        libraries=", ".join(f"{name} {version(name)}" for name in LIBRARIES),
        number=len(outcomes),
        alike=sum(outcome.is_alike for outcome in outcomes),
        refused=sum(bool(outcome.refused) for outcome in outcomes),
        files=len(trips),
        files_alike=sum(not trip.texts.number for trip in trips),
        **compared,
    )


def main() -> None:
    """Compare every vocabulary, and write the page."""
    outcomes, saved = [], {}
    for name in VOCABULARIES:
        outcomes.append(examine(name))
        print(outcomes[-1], flush=True)
        trips = [] if outcomes[-1].refused else list(trips_of(name))
        saved[name] = [trip for trip in trips if not trip.refused]
    every_trip = [trip for trips in saved.values() for trip in trips]
    rows = [f"{row(outcome, saved[outcome.name])}\n" for outcome in outcomes]
    PAGE.write_text(introduction(outcomes, every_trip) + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
