"""A vocabulary that no merge list makes: the strings that the dual of the price bound chooses.

Words are cut into as few of its tokens as possible. That is not byte-pair encoding, and needs
another encoder, but such a vocabulary makes fewer tokens than any merge list of the same size that
is known; its certificate says how far it can be from the best.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from mergewise import _core, formats
from mergewise.arguments import check_count
from mergewise.counts import WordCounts
from mergewise.files import write_text
from mergewise.formats.letters import to_letters
from mergewise.formats.tokenizer_json_writer import document_of
from mergewise.optimize.certificate import Certificate
from mergewise.optimize.certifying import TIME_LIMIT, CertifyProgress, find_certificate
from mergewise.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class UnigramVocabulary:
    """Strings, into as few of which as possible words are cut: not byte-pair encoding.

    Attributes:
        tokens: the strings, beside the 256 bytes.
        certificate: how many tokens the corpus has, and how far that can be from the best
            vocabulary of this size.
        pattern: how texts are cut into words.
        normalize: how they are normalised first.
    """

    tokens: list[bytes] = field(repr=False)
    certificate: Certificate
    pattern: str | None
    normalize: str | None

    def __repr__(self) -> str:
        return f"<UnigramVocabulary: {len(self.tokens):,} tokens beside the bytes>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a tokenizer.json of the kind Unigram, in which every token costs the same.

        The libraries of HuggingFace read it, and cut each word into as few tokens as possible.
        """
        # A tokenizer that cuts texts into the same words, but has no tokens.
        symbols = Vocabulary(
            tokens={bytes([byte]): byte for byte in range(256)},
            merges=[],
            pattern=self.pattern,
            normalize=self.normalize,  # type: ignore[arg-type]
        )
        formats.check_supported(symbols, path, "tokenizer_json")
        document = document_of(symbols, Path(path))
        pieces = [[to_letters(bytes([byte])), -1.0] for byte in range(256)]
        pieces += [[to_letters(token), -1.0] for token in self.tokens]
        document["model"] = {
            "type": "Unigram",
            "unk_id": None,
            "vocab": pieces,
            "byte_fallback": False,
        }
        write_text(json.dumps(document, ensure_ascii=False, indent=2), path)


def optimize_vocabulary(
    counts: WordCounts,
    *,
    num_tokens: int,
    time_limit: float = TIME_LIMIT,
    num_steps: int | None = None,
    num_threads: int = 0,
    progress: CertifyProgress = False,
) -> UnigramVocabulary:
    """A vocabulary of `num_tokens` strings beside the bytes, into few of which the words are cut.

    >>> from mergewise import count
    >>> counts = count(["low low low lower lowest"], pattern="whitespace")
    >>> optimize_vocabulary(counts, num_tokens=1, num_steps=50).tokens
    [b' low']

    Args:
        counts: from `count` or `count_files`.
        num_tokens: how many strings.
        time_limit: seconds for the search.
        num_steps: the number of steps of the search, instead of a time limit.
        num_threads: 0 means all cores.
        progress: see `certify`.
    """
    if not isinstance(counts, WordCounts):
        raise TypeError(f"expected WordCounts, found {type(counts).__name__}")
    check_count("num_tokens", num_tokens)
    certificate, chosen = find_certificate(
        counts,
        "bytes",
        "vocabularies",
        num_tokens,
        lambda tokens: _core.fewest_tokens(counts.core, tokens),
        time_limit=time_limit,
        num_steps=num_steps,
        num_threads=num_threads,
        progress=progress,
    )
    return UnigramVocabulary(
        tokens=chosen,
        certificate=certificate,
        pattern=counts.pattern,
        normalize=counts.normalize,
    )
