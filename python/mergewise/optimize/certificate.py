"""Certificate: how good a tokenizer is, with a proof that a short program checks."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from mergewise import _core, formal
from mergewise.counts import WordCounts
from mergewise.errors import CertificateError
from mergewise.files import checked_path, write_files
from mergewise.merge_lists import no_merges
from mergewise.optimize.certificate_fields import (
    ONE_CASE,
    OPTIONS,
    PRICES,
    Against,
    Chains,
    Rings,
    check_fields,
)
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Alphabet, Normalize, PrefixSpace, brief_pattern

MAGIC = b"mergewise certificate 3\n"
MOST_DISCOUNT = (1 << 31) - 1
# Of a number in ten bytes, the most that the core reads.
MOST_BITS = 70
# A byte of a compressed proof stands for at most this number of bytes.
MOST_EXPANSION = 100
DIGEST_SIZE = hashlib.sha256().digest_size


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A bound on what any merge list, or any vocabulary, of a size can save on a corpus.

    The proof is a list of whole numbers, the *discounts* of docs/theory/certificates.md:
    `verify` computes the bound from them anew, in integers, and needs to trust nothing else.

    Attributes:
        against: holds against all "merges" lists of this length, or all "vocabularies" of this
            size, however they cut words into tokens.
        num_merges: the length of the list, or how many tokens there are beside the symbols.
        num_symbols: of the corpus.
        utility: how many tokens the tokenizer saves: symbols minus tokens.
        bound: none saves more.
        alphabet: are symbols "bytes" or "chars"?
        pattern: how the corpus was cut into words.
        normalize: how it was normalised first.
        fingerprint: SHA-256 of the counts.
        one: the discounts are in units of 1/`one`.
        floor: strings that occur more often have a price.
        longest: and are no longer than this.
        counted: longer strings up to this length cost as much as their symbols.
        drops_gaps: whether the claim is about the words without what lies between the matches of
            the pattern.
        prefix_space: where a space is put before a word that is a whole text.
        mark_is_space: whether U+2581 is read as a space.
        cases: the tree of the cases whose discounts follow each other: None, a case, or a string in
            hexadecimal, followed by the tree of the lists that have it and the tree of the others.
        rings: of a proof by one case, strings in hexadecimal, a toll, and which of the strings,
            from 0, are linked to the next by both.
        chains: the strings of the chains of three or four that link them, in hexadecimal.
        discounts: the proof, each number as a varint (LEB128); then the credits of the rings.
    """

    against: Against
    num_merges: int
    num_symbols: int
    utility: int
    bound: int
    alphabet: Alphabet
    pattern: str | None
    normalize: Normalize
    fingerprint: str
    one: int
    floor: int
    longest: int
    counted: int
    discounts: bytes = field(repr=False)
    drops_gaps: bool = False
    prefix_space: PrefixSpace = None
    mark_is_space: bool = False
    cases: tuple[str | None, ...] = ONE_CASE
    rings: Rings = ()
    chains: Chains = ()

    def __post_init__(self) -> None:
        check_fields(vars(self))

    @property
    def ratio(self) -> float:
        """The part of the best possible utility that the tokenizer has for certain."""
        return self.utility / self.bound if self.bound else 1.0

    @property
    def tokens(self) -> int:
        """How many tokens the tokenizer makes of the corpus."""
        return self.num_symbols - self.utility

    @property
    def tokens_bound(self) -> int:
        """None makes fewer."""
        return self.num_symbols - self.bound

    @property
    def excess(self) -> float:
        """By how much the tokens exceed the fewest possible at most: 0.02 is two percent."""
        return self.tokens / self.tokens_bound - 1 if self.tokens_bound else 0.0

    @property
    def claim(self) -> str:
        """What the proof proves, in words: the bound, which says nothing about the tokenizer."""
        rivals = {
            "merges": f"no list of {self.num_merges:,} merges",
            "vocabularies": f"no vocabulary of {self.num_merges:,} tokens beside the symbols",
        }
        return (
            f"{rivals[self.against]} makes fewer than {self.tokens_bound:,} tokens of this corpus"
        )

    def __str__(self) -> str:
        return (
            f"{self.tokens:,} tokens; {self.claim}: within {self.excess:.2%} of the best possible"
        )

    def __repr__(self) -> str:
        return (
            f"<Certificate: {self.tokens:,} tokens, at least {self.tokens_bound:,} with any "
            f"{self.num_merges:,} {self.against}>"
        )

    def _repr_html_(self) -> str:
        from mergewise.pages.notebook import facts  # noqa: PLC0415 - for notebooks alone

        tokens = "merges" if self.against == "merges" else "tokens beside the symbols"
        return facts(
            f"Certificate: within {self.excess:.2%} of the best possible",
            {
                "tokens": f"{self.tokens:,}",
                "proved": self.claim,
                tokens: f"{self.num_merges:,}",
                "pattern": brief_pattern(self.pattern),
                "of the counts": f"{self.fingerprint[:12]}…",
            },
        )

    def verify(
        self,
        counts: WordCounts,
        *,
        tokenizer: Tokenizer | None = None,
        by: Literal["core", "formal"] = "core",
    ) -> None:
        """Compute the bound anew; CertificateError unless all is as the certificate says.

        Args:
            counts: the corpus. Other counts than the certificate was made for are refused.
            tokenizer: if given, its utility is computed anew too; without it, `utility` and what
                follows from it are only what the certificate says.
            by: "core" is fast; "formal" is `mergewise.formal`, short and without the core.
        """
        words = self._check_counts(counts)
        try:
            bound = self._formal_bound(words) if by == "formal" else self.proved(words)
        except ValueError as error:
            raise CertificateError(f"the proof is damaged: {error}") from None
        if bound != self.bound:
            raise CertificateError(f"the proof gives the bound {bound:,}, not {self.bound:,}")
        if tokenizer is not None:
            self._check_tokenizer(tokenizer, counts)
            utility = self.num_symbols - tokenizer.core.num_tokens(counts.core)
            if utility != self.utility:
                raise CertificateError(f"the tokenizer saves {utility:,}, not {self.utility:,}")
        if self.utility > self.bound:
            raise CertificateError(f"a utility of {self.utility:,}, a bound of {self.bound:,}")

    def _check_counts(self, counts: WordCounts) -> WordCounts:
        """The words that the claim is about, if the counts are those it was made for."""
        found = fingerprint_of(counts)
        if found != self.fingerprint:
            raise CertificateError(
                "the certificate is of other counts: "
                f"{self.fingerprint[:12]}…, these are {found[:12]}…"
            )
        settings = {"pattern": counts.pattern, "normalize": counts.normalize}
        for name, value in settings.items():
            if getattr(self, name) != value:
                raise CertificateError(f"{name} is {value!r}, not {getattr(self, name)!r}")
        words = encoded_words(counts, **{name: getattr(self, name) for name in OPTIONS})
        try:
            num_symbols = symbols_in(words, self.alphabet)
        except UnicodeDecodeError:
            raise CertificateError("the counted words are not UTF-8: no characters") from None
        if num_symbols != self.num_symbols:
            raise CertificateError(f"{num_symbols:,} symbols, not {self.num_symbols:,}")
        return words

    def _check_tokenizer(self, tokenizer: Tokenizer, counts: WordCounts) -> None:
        """Refuse a tokenizer with other rivals than those of the claim."""
        try:
            check_comparable(tokenizer, counts, self.against)
        except ValueError as error:
            raise CertificateError(str(error)) from None
        found = {
            "num_merges": size_of(tokenizer, self.against),
            "alphabet": tokenizer.alphabet,
            **options_of(tokenizer),
        }
        for name, value in found.items():
            if getattr(self, name) != value:
                raise CertificateError(
                    f"{name} of the tokenizer is {value!r}, not {getattr(self, name)!r}"
                )

    @property
    def _prices(self) -> dict[str, int]:
        """How the discounts are read: the numbers that stand beside them in the proof."""
        return {name: getattr(self, name) for name in PRICES}

    def proved(self, counts: WordCounts) -> int:
        """The bound that the proof gives on these words, which must be those it was made for.

        The proof holds for every number of merges, but is best for the one it was searched for.
        """
        return _core.verify_bound(
            counts.core,
            initial=no_merges(counts, self.alphabet),
            against=self.against,
            num_merges=self.num_merges,
            discounts=self.discounts,
            cases=self._cases(bytes.fromhex),
            rings=self._rings(bytes.fromhex),
            **self._prices,
        )

    def _formal_bound(self, counts: WordCounts) -> int:
        words, numbers = words_of(counts, self.alphabet), numbers_in(self.discounts)
        if self.against == "vocabularies":
            return formal.token_bound(words, self.num_merges, numbers, **self._prices)
        read: Callable[[str], Any] = bytes.fromhex
        if self.alphabet == "chars":
            read = characters
        rings, chains = self._rings(read)
        return formal.merge_bound(
            words,
            self.num_merges,
            numbers,
            cases=self._cases(read),
            rings=rings,
            chains=chains,
            **self._prices,
        )

    def _cases(self, read: Callable[[str], Any]) -> list[Any]:
        return [None if string is None else read(string) for string in self.cases]

    def _rings(self, read: Callable[[str], Any]) -> tuple[list[Any], list[Any]]:
        rings = [(list(map(read, ring)), toll, list(both)) for ring, toll, both in self.rings]
        return rings, [list(map(read, strings)) for strings in self.chains]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a file, whole or not at all.

        A line of text, a line of JSON, the discounts compressed by zlib, and the SHA-256 of all
        that.
        """
        header = {name: value for name, value in asdict(self).items() if name != "discounts"}
        for name, usual in OPTIONS.items():
            if header[name] == usual[0]:
                del header[name]
        for name, usual_proof in {"cases": ONE_CASE, "rings": (), "chains": ()}.items():
            if header[name] == usual_proof:
                del header[name]
        line = json.dumps(header, sort_keys=True).encode() + b"\n"
        body = MAGIC + line + compressed(self.discounts)
        write_files({Path(path): body + hashlib.sha256(body).digest()})

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Certificate:
        """The certificate that `save` wrote; CertificateError if the file is not what it was."""
        content = checked_path(path).read_bytes()
        try:
            return cls(**parsed(content))
        except (ValueError, TypeError, RecursionError, zlib.error) as error:
            raise CertificateError(f"{os.fspath(path)}: {error}") from None


def parsed(content: bytes) -> dict[str, Any]:
    """The fields of a certificate in a file."""
    if not content.startswith(MAGIC):
        raise ValueError(f"found {content[:24]!r}, expected a certificate of mergewise")
    body, digest = content[:-DIGEST_SIZE], content[-DIGEST_SIZE:]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError("the file was changed or cut short: its checksum differs")
    header, _, proof = body[len(MAGIC) :].partition(b"\n")
    fields = json.loads(header)
    if "cases" in fields:
        fields["cases"] = tuple(fields["cases"])
    if "rings" in fields:
        # Earlier files have rings by either alone, and did not say so.
        rings = ((strings, toll, *(both or ((),))) for strings, toll, *both in fields["rings"])
        fields["rings"] = tuple((tuple(ring), toll, tuple(both)) for ring, toll, both in rings)
    if "chains" in fields:
        fields["chains"] = tuple(map(tuple, fields["chains"]))
    return {**fields, "discounts": decompressed(proof)}


def compressed(discounts: bytes) -> bytes:
    """The discounts as a file holds them."""
    proof = zlib.compress(discounts)
    if len(discounts) > MOST_EXPANSION * len(proof):
        # Without repeats a byte takes a bit at least.
        coder = zlib.compressobj(strategy=zlib.Z_HUFFMAN_ONLY)
        proof = coder.compress(discounts) + coder.flush()
    return proof


def decompressed(proof: bytes) -> bytes:
    """The discounts of a file; refuses those that `compressed` would have written otherwise."""
    coder, most = zlib.decompressobj(), MOST_EXPANSION * len(proof)
    discounts = coder.decompress(proof, most + 1)
    if len(discounts) > most:
        raise ValueError(f"the proof has more than {MOST_EXPANSION} bytes for each of the file's")
    if not coder.eof:
        raise ValueError("the proof is cut short")
    return discounts


def characters(string: str) -> str:
    """A string of characters, given in hexadecimal."""
    return bytes.fromhex(string).decode()


def numbers_in(discounts: bytes) -> Iterator[int]:
    """The numbers of a list of varints.

    >>> list(numbers_in(bytes([5, 0x80, 1])))
    [5, 128]
    """
    number = shift = 0
    for byte in discounts:
        number |= (byte & 0x7F) << shift
        shift += 7
        # Zeros may make a number longer, but not without end.
        if number > MOST_DISCOUNT or (shift == MOST_BITS and byte >= 0x80):
            raise ValueError(f"a discount is above {MOST_DISCOUNT}, or longer than ten bytes")
        if byte < 0x80:
            yield number
            number = shift = 0
    if shift:
        raise ValueError("the discounts end in the midst of a number")


def fingerprint_of(counts: WordCounts) -> str:
    """SHA-256 of the file of the counts: the same for equal counts."""
    return hashlib.sha256(counts.core.to_bytes()).hexdigest()


def words_of(counts: WordCounts, alphabet: Alphabet) -> dict[Any, int]:
    """The words with their counts, as symbols."""
    words = counts.top(counts.num_unique)
    if alphabet == "bytes":
        return dict(words)
    return {word.decode(): count for word, count in words}


def symbols_in(counts: WordCounts, alphabet: Alphabet) -> int:
    """How many symbols the corpus has."""
    if alphabet == "bytes":
        return counts.num_symbols
    return sum(len(word) * count for word, count in words_of(counts, alphabet).items())


def encoded_words(counts: WordCounts, **options: Any) -> WordCounts:  # noqa: ANN401
    """The words as they are when a tokenizer with these `OPTIONS` merges them."""
    if all(options[name] == usual[0] for name, usual in OPTIONS.items()):
        return counts
    return WordCounts(counts.core.encoded(**options))


def options_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """What a tokenizer does to words before it merges them: see `encoded_words`."""
    vocabulary = tokenizer.vocabulary
    return {name: getattr(vocabulary, name) for name in OPTIONS}


def check_comparable(tokenizer: Tokenizer, counts: WordCounts, against: Against) -> None:
    """Refuse a tokenizer with tokens that no rival can have: it might save more than the bound."""
    if against == "merges" and tokenizer.is_by_whole_words:
        raise ValueError(
            "some words become tokens that no merge makes, so no merge list compares; "
            'hint: certify against "vocabularies"'
        )
    vocabulary = tokenizer.vocabulary
    if vocabulary.fuse_unknown and vocabulary.alphabet == "chars":
        known = {string.decode(errors="replace") for string in vocabulary.tokens}
        unknown = {char for word in words_of(counts, "chars") for char in word} - known
        if unknown:
            raise ValueError(
                f"the character {min(unknown)!r} is no token, and neighbours that are none become "
                "one unknown token, which no merge makes"
            )


def size_of(tokenizer: Tokenizer, against: Against) -> int:
    """How many merges, or tokens beside the symbols, the rivals may have."""
    if against == "merges":
        return len(tokenizer.merges)
    vocabulary = tokenizer.vocabulary
    if vocabulary.alphabet == "bytes":
        return sum(len(string) > 1 for string in vocabulary.tokens)
    return sum(len(string.decode(errors="replace")) > 1 for string in vocabulary.tokens)
