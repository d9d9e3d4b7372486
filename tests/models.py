"""Whether real vocabularies are here what they are in their own libraries.

    python tests/models.py                       # all of them
    python tests/models.py gemma llama2 --every 5
    python tests/models.py llama3 qwen3 --texts many-languages/*.txt

One line for each: what of ids, decoded texts and offsets differs, with the smallest case; of large
texts in files, the ids. The exit status is 1 unless all are alike.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from peers import (
    ENCODINGS,
    Offsets,
    Part,
    Peer,
    encoding,
    halves,
    in_clip,
    in_gpt2,
    in_ranks_of_npm,
    in_sentencepiece,
    in_tekken,
    in_tiktoken,
    in_tokenizers,
    recorded_by_llama_cpp,
    reduced,
)
from sample_texts import texts_around, varied_texts
from vocabularies import VOCABULARIES, vocabulary

import mergewise as mw


@dataclass
class Differences:
    """What differs in one respect: in how many cases, of how many, and the smallest one."""

    number: int = 0
    cases: int = 0
    smallest: str = ""


@dataclass
class Outcome:
    """How a vocabulary fares here, beside its own library."""

    name: str
    refused: str = ""
    respects: dict[str, Differences] = field(default_factory=dict)

    @property
    def is_alike(self) -> bool:
        return not self.refused and not any(each.number for each in self.respects.values())

    def __str__(self) -> str:
        if self.refused:
            return f"{self.name:18} refused: {self.refused}"
        words = [
            f"{name} {each.cases:,}" for name, each in self.respects.items() if not each.number
        ]
        words += [
            f"{name} DIFFER {each.number:,} of {each.cases:,}: {each.smallest}"
            for name, each in self.respects.items()
            if each.number
        ]
        return f"{self.name:18} " + ("alike: " if self.is_alike else "") + "; ".join(words)


# Loading.


def load_here(name: str) -> mw.Tokenizer:
    """As users load it; what files of ranks do not say is given."""
    if name in {"gpt2", "p50k", "cl100k", "o200k"} or name not in ENCODINGS:
        return mw.Tokenizer.from_file(vocabulary(name))
    settings = encoding(name)
    pattern, special_tokens = settings["pat_str"], settings["special_tokens"]
    return mw.Tokenizer.from_file(vocabulary(name), pattern=pattern, special_tokens=special_tokens)


READERS: dict[str, Callable[[Path], Peer]] = {
    "encoder.json": lambda path: in_gpt2(path.with_name("vocab.bpe")),
    "vocab.bpe": in_gpt2,
    "claude.json": in_ranks_of_npm,
    "p50k_edit.json": in_ranks_of_npm,
    ".txt.gz": in_clip,
    ".model": in_sentencepiece,
    **{f".model.v{version}": in_sentencepiece for version in (1, 2, 3, 7)},
}


def load_there(name: str) -> Peer:
    """By its own library."""
    path = vocabulary(name)
    if name in ENCODINGS:
        return in_tiktoken(path, **encoding(name))
    for ending, load in READERS.items():
        if path.name.endswith(ending):
            return load(path)
    return in_tekken(path)[0] if path.name.startswith("tekken") else in_tokenizers(path)


# Comparing.


FINDING: dict[str, Any] = {"allowed_special": "all"}
NOT_FINDING: dict[str, Any] = {"disallowed_special": ()}


def compare(
    ours: Callable[[Part], Any], theirs: Callable[[Part], Any], samples: Sequence[Part]
) -> Differences:
    """Both make the same of each sample; the smallest case is made smaller still."""

    def differs(sample: Part) -> bool:
        return bool(tried(ours, sample) != tried(theirs, sample))

    differing = list(filter(differs, samples))
    found = Differences(len(differing), len(samples))
    if differing:
        case = reduced(differs, min(differing, key=len))
        found.smallest = (
            f"{shown(case)} ours {shown(tried(ours, case))} theirs {shown(tried(theirs, case))}"
        )
    return found


def tried(make: Callable[[Part], Any], sample: Part) -> Any:
    """What is made of a sample, or the error in its place: also a panic, which is no Exception."""
    try:
        return make(sample)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"


def shown(value: object, longest: int = 120) -> str:
    words = ascii(value) if isinstance(value, str) else str(value)
    return words if len(words) <= longest else words[:longest] + "…"


def random_ids(ids: Sequence[int], number: int) -> list[list[int]]:
    draw = random.Random(3)  # noqa: S311 (not for secrets)
    return [draw.choices(ids, k=draw.randrange(1, 12)) for _ in range(number)]


def compare_with(tok: mw.Tokenizer, peer: Peer, samples: Sequence[str]) -> dict[str, Differences]:
    """Ids, decoded texts and offsets of the samples, in every way that the peer has."""
    finding = FINDING if peer.finds_specials else NOT_FINDING
    bare = {**finding, "add_special_tokens": False}
    all_ids = [*map(peer.encode, samples), *random_ids(peer.ids, 300)]
    found = {
        "ids": compare(lambda text: tok.encode(text, **bare), peer.encode, samples),
        "decoded": compare(tok.decode, peer.decode, all_ids),
    }
    unpadded = tok.with_padding(None)

    def in_a_batch(text: str) -> list[int]:
        # Short texts are encoded together.
        return unpadded.encode_batch(["One text,", text, " another."], **bare)[1]

    alone = partial(unpadded.encode, **bare)
    found["ids, in a batch"] = compare(in_a_batch, alone, samples[::5])
    if theirs := peer.encode_with_added:
        found["ids, with added"] = compare(lambda t: tok.encode(t, **finding), theirs, samples)
    if theirs := peer.encode_halves:

        def pair(text: str) -> list[int]:
            first, second = halves(text)
            return tok.encode(first, pair=second, **finding)

        found["pairs"] = compare(pair, theirs, samples[::5])
    for name, places, options in (
        ("offsets", peer.offsets, bare),
        ("offsets, with added", peer.offsets_with_added, finding),
    ):
        if places:
            found[name] = compare(partial(offsets_of, tok, options), places, samples)
    if skipping := peer.decode_without_specials:
        skip = partial(tok.decode, skip_special_tokens=True)
        found["decoded, without specials"] = compare(skip, skipping, all_ids)
    return found


def offsets_of(tok: mw.Tokenizer, options: dict[str, Any], text: str) -> Offsets:
    return tok.encode(text, offsets=True, **options)[1]


def compare_with_records(tok: mw.Tokenizer, path: Path, every: int) -> dict[str, Differences]:
    """What llama.cpp recorded of some vocabularies: ids of texts, special tokens not looked for.

    Of the others it tests nothing but that a text comes back, and so does this.
    """
    bare = {**NOT_FINDING, "add_special_tokens": False}
    recorded = recorded_by_llama_cpp(path)
    if not recorded:
        texts = [text for text in varied_texts()[::every] if "▁" not in text]
        back = compare(lambda text: tok.decode(tok.encode(text, **bare)), str, texts)
        return {"decoded": back}

    def encode(text: str) -> list[int] | None:
        return tok.encode(text, **bare) if text in recorded else None

    return {"ids": compare(encode, recorded.get, list(recorded))}


def documents_of(paths: Sequence[Path], length: int = 100_000) -> list[str]:
    """The texts of files in pieces, the last one of each shorter."""
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [text[at : at + length] for text in texts for at in range(0, len(text), length)]


def examine(name: str, *, every: int = 1, documents: Sequence[str] = ()) -> Outcome:
    """One vocabulary, on every so manyth text, and on its own special tokens; or on documents."""
    try:
        tok = load_here(name)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        message = str(error).rpartition(f"{vocabulary(name)}: ")[2]
        return Outcome(name, refused=f"{type(error).__name__}: {shown(message, 200)}")
    path = vocabulary(name)
    if path.suffix == ".gguf":
        return Outcome(name, respects=compare_with_records(tok, path, every))
    peer = load_there(name)
    if documents:
        bare = {**(FINDING if peer.finds_specials else NOT_FINDING), "add_special_tokens": False}
        ids = compare(lambda text: tok.encode(text, **bare), peer.encode, documents)
        return Outcome(name, respects={"ids of documents": ids})
    own = [text for token in peer.specials for text in texts_around(token)]
    samples = list(dict.fromkeys([*varied_texts()[::every], *own[::every]]))
    return Outcome(name, respects=compare_with(tok, peer, samples))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(VOCABULARIES), metavar="NAME")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth text alone")
    parser.add_argument("--texts", type=Path, nargs="+", default=[], metavar="FILE")
    arguments = parser.parse_args()
    documents = documents_of(arguments.texts)
    if unknown := set(arguments.names) - set(VOCABULARIES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(VOCABULARIES)}")
    outcomes = []
    for name in arguments.names:
        outcomes.append(examine(name, every=arguments.every, documents=documents))
        sys.stdout.write(f"{outcomes[-1]}\n")
        sys.stdout.flush()
    num_alike = sum(outcome.is_alike for outcome in outcomes)
    num_refused = sum(bool(outcome.refused) for outcome in outcomes)
    sys.stdout.write(f"{num_alike} of {len(outcomes)} alike, {num_refused} refused\n")
    return 0 if num_alike == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
