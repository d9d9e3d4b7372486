"""Whether real vocabularies are here what they are in their own libraries.

    python tests/models.py                       # all of them
    python tests/models.py gemma llama2 --every 5

One line for each: what of ids, decoded texts and offsets differs, with the smallest case. The exit
status is 1 unless all are alike.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peers import (
    ENCODINGS,
    Decode,
    Encode,
    Part,
    Peer,
    encoding,
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

# Switch on when Tokenizer.encode has add_special_tokens and Tokenizer.decode skip_special_tokens:
# until then tokens that a template adds, and texts without special tokens, are not compared.
HAS_TEMPLATES = True


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


def encoder(tok: mw.Tokenizer, *, finds_specials: bool, adds: bool = False) -> Encode:
    """Encoding as a peer does; what cannot be encoded has the error in the place of its ids."""
    options = options_of(finds_specials=finds_specials, adds=adds)
    return lambda text: tried(lambda: tok.encode(text, **options))


def options_of(*, finds_specials: bool, adds: bool = False) -> dict[str, Any]:
    options: dict[str, Any] = {"add_special_tokens": adds} if HAS_TEMPLATES else {}
    if finds_specials:
        return {"allowed_special": "all", **options}
    return {"disallowed_special": (), **options}


def decoder(tok: mw.Tokenizer, *, skips: bool = False) -> Decode:
    options: dict[str, Any] = {"skip_special_tokens": skips} if HAS_TEMPLATES else {}
    return lambda ids: tried(lambda: tok.decode(ids, **options))


def tried(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"


def compare(
    ours: Callable[[Part], Any], theirs: Callable[[Part], Any], samples: Sequence[Part]
) -> Differences:
    """Both make the same of each sample; the smallest case is made smaller still."""
    differing = [sample for sample in samples if ours(sample) != theirs(sample)]
    found = Differences(len(differing), len(samples))
    if differing:
        case = reduced(lambda part: bool(ours(part) != theirs(part)), min(differing, key=len))
        found.smallest = f"{shown(case)} ours {shown(ours(case))} theirs {shown(theirs(case))}"
    return found


def shown(value: object, longest: int = 120) -> str:
    words = ascii(value) if isinstance(value, str) else str(value)
    return words if len(words) <= longest else words[:longest] + "…"


def random_ids(ids: Sequence[int], number: int) -> list[list[int]]:
    draw = random.Random(3)  # noqa: S311 (not for secrets)
    return [draw.choices(ids, k=draw.randrange(1, 12)) for _ in range(number)]


def compare_with(tok: mw.Tokenizer, peer: Peer, samples: Sequence[str]) -> dict[str, Differences]:
    """Ids, decoded texts and offsets of the samples."""
    encode = encoder(tok, finds_specials=peer.finds_specials)
    all_ids = [*map(peer.encode, samples), *random_ids(peer.ids, 300)]
    found = {
        "ids": compare(encode, peer.encode, samples),
        "decoded": compare(decoder(tok), peer.decode, all_ids),
    }
    if peer.offsets:
        options = options_of(finds_specials=peer.finds_specials)

        def offsets(text: str) -> Any:
            return tried(lambda: tok.encode(text, offsets=True, **options)[1])

        same_ids = [text for text in samples if encode(text) == peer.encode(text)]
        found["offsets"] = compare(offsets, peer.offsets, same_ids)
    if HAS_TEMPLATES and peer.encode_with_added:
        adding = encoder(tok, finds_specials=peer.finds_specials, adds=True)
        found["ids with template"] = compare(adding, peer.encode_with_added, samples)
    if HAS_TEMPLATES and peer.decode_without_specials:
        skipping = decoder(tok, skips=True)
        found["decoded, skipping"] = compare(skipping, peer.decode_without_specials, all_ids)
    return found


def compare_with_records(tok: mw.Tokenizer, path: Path) -> dict[str, Differences]:
    """What llama.cpp recorded: ids of texts in which no special token is looked for."""
    recorded = recorded_by_llama_cpp(path)
    encode = encoder(tok, finds_specials=False)
    differing = [text for text, ids in recorded.items() if encode(text) != ids]
    found = Differences(len(differing), len(recorded))
    if differing:
        text = min(differing, key=len)
        found.smallest = f"{shown(text)} ours {shown(encode(text))} theirs {shown(recorded[text])}"
    return {"ids": found}


def examine(name: str, *, every: int = 1) -> Outcome:
    """One vocabulary, on every so manyth text, and on its own special tokens."""
    try:
        tok = load_here(name)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        message = str(error).rpartition(f"{vocabulary(name)}: ")[2]
        return Outcome(name, refused=f"{type(error).__name__}: {shown(message, 200)}")
    path = vocabulary(name)
    if path.suffix == ".gguf":
        has_records = path.with_name(path.name + ".inp").exists()
        return Outcome(name, respects=compare_with_records(tok, path) if has_records else {})
    peer = load_there(name)
    own = [text for token in peer.specials for text in texts_around(token)]
    samples = list(dict.fromkeys([*varied_texts()[::every], *own[::every]]))
    return Outcome(name, respects=compare_with(tok, peer, samples))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(VOCABULARIES), metavar="NAME")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth text alone")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(VOCABULARIES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(VOCABULARIES)}")
    outcomes = []
    for name in arguments.names:
        outcomes.append(examine(name, every=arguments.every))
        sys.stdout.write(f"{outcomes[-1]}\n")
        sys.stdout.flush()
    num_alike = sum(outcome.is_alike for outcome in outcomes)
    num_refused = sum(bool(outcome.refused) for outcome in outcomes)
    sys.stdout.write(f"{num_alike} of {len(outcomes)} alike, {num_refused} refused\n")
    return 0 if num_alike == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
