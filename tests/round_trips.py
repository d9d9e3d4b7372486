"""Whether what is saved is, in the library of its format, what it was here.

    python tests/round_trips.py                       # every vocabulary, in every format
    python tests/round_trips.py gemma llama2 --every 20

One line for each vocabulary and format: refused, with the reason, or how many texts have other ids
in the library that reads the file. The exit status is 1 if any have.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from models import FINDING, NOT_FINDING, Differences, compare, load_here, shown
from peers import Peer, in_gpt2, in_sentencepiece, in_tiktoken, in_tokenizers
from sample_texts import varied_texts
from vocabularies import VOCABULARIES

import mergewise as mw
from mergewise.errors import ConversionError


def read_here(path: Path) -> Peer:
    """Formats without a library that encodes texts by the file alone."""
    tok = mw.Tokenizer.from_file(path)
    return Peer(
        encode=lambda text: tok.encode(text, **FINDING, add_special_tokens=False), decode=tok.decode
    )


FORMATS: dict[str, tuple[str, Callable[[Path], Peer]]] = {
    "tokenizer_json": ("tokenizer.json", in_tokenizers),
    "tiktoken": ("x.tiktoken", in_tiktoken),
    "sentencepiece": ("x.model", in_sentencepiece),
    "gpt2": ("merges.txt", in_gpt2),
    "subword_nmt": ("x.codes", read_here),
    "gguf": ("x.gguf", read_here),
}


@dataclass(frozen=True)
class Trip:
    """What became of a vocabulary in a format: why it was refused, or which texts differ there."""

    format_name: str
    refused: str = ""
    texts: Differences = field(default_factory=Differences)

    def __str__(self) -> str:
        if self.refused:
            return f"{self.format_name:15} refused: {self.refused}"
        number, cases = self.texts.number, self.texts.cases
        words = f"DIFFER {number} of {cases}: {self.texts.smallest}" if number else f"ids {cases}"
        return f"{self.format_name:15} {words}"


def trips_of(name: str, *, every: int = 1) -> Iterator[Trip]:
    """What becomes of a vocabulary in each format."""
    tok = load_here(name)
    texts = varied_texts()[::every]
    for format_name, (file_name, load) in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, file_name)
            try:
                tok.save(path, format=format_name)
            except ConversionError as error:
                yield Trip(format_name, refused=shown(error.message, 150))
                continue
            # GPT-2's two files do not say which tokens are special, so their reader is told.
            is_told = format_name == "gpt2"
            peer = in_gpt2(path, list(tok.vocabulary.special_tokens)) if is_told else load(path)
            choice = FINDING if peer.finds_specials else NOT_FINDING
            ours = partial(tok.encode, **choice, add_special_tokens=False)
            yield Trip(format_name, texts=compare(ours, peer.encode, texts))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(VOCABULARIES), metavar="NAME")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth text alone")
    arguments = parser.parse_args()
    are_right = True
    for name in arguments.names:
        for trip in trips_of(name, every=arguments.every):
            sys.stdout.write(f"{name:18} {trip}\n")
            sys.stdout.flush()
            are_right = are_right and not trip.texts.number
    return 0 if are_right else 1


if __name__ == "__main__":
    sys.exit(main())
