"""What mergewise writes for itself: certificates, checkpoints, tokenizers and counts as bytes."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mergewise as mw
from fuzz.mutations import SEPARATOR
from fuzz.readers import check_use
from mergewise.errors import CertificateError, FormatError, InputError, InvalidMergesError
from mergewise.optimize import enumerate_curvature
from mergewise.optimize.certificate import encoded_words, fingerprint_of, symbols_in
from mergewise.vocabulary import NO_FRAME

# The seeds of checkpoints are of this enumeration.
ENUMERATION: dict[str, Any] = {"num_letters": 2, "num_merges": 2}
ENUMERATED_LENGTH = 5
# Proofs about more are checked for too long by the formal verifier, whose time is cubic.
MOST_SQUARES = 2_000


def check_certificate(data: bytes) -> None:
    """Load a certificate and verify it in both ways, also of the counts that it is not of."""
    content, _, counted = data.partition(SEPARATOR)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.certificate"
        path.write_bytes(content)
        (Path(folder) / "x.counts").write_bytes(counted)
        try:
            counts = mw.WordCounts.from_file(Path(folder) / "x.counts")
        except FormatError:
            return
        try:
            certificate = mw.Certificate.from_file(path)
        except CertificateError as error:
            assert folder in str(error), "the message does not name the file"  # noqa: PT017
            return
        assert str(certificate)
        certificate.save(path)
        assert mw.Certificate.from_file(path) == certificate
    if sum(len(word) ** 2 for word, _ in counts.top(2**20)) > MOST_SQUARES:
        return
    check_verdicts(certificate, counts)
    options: dict[str, Any] = {
        "drops_gaps": certificate.drops_gaps,
        "prefix_space": certificate.prefix_space,
        "mark_is_space": certificate.mark_is_space,
    }
    try:
        num_symbols = symbols_in(encoded_words(counts, **options), certificate.alphabet)
    except ValueError:  # not UTF-8, or a pattern that the words do not fit
        return
    adapted: dict[str, Any] = {
        "pattern": counts.pattern,
        "normalize": counts.normalize,
        "fingerprint": fingerprint_of(counts),
        "num_symbols": num_symbols,
    }
    check_verdicts(replace(certificate, **adapted), counts)


def check_verdicts(certificate: mw.Certificate, counts: mw.WordCounts) -> None:
    """Both verifiers accept, or both refuse, and then for the same bound."""
    by_core = refusal(lambda: certificate.verify(counts, by="core"))
    by_formal = refusal(lambda: certificate.verify(counts, by="formal"))
    is_same = (by_core is None) == (by_formal is None)
    if "the proof gives" in f"{by_core}{by_formal}":
        is_same = by_core == by_formal
    assert is_same, f"the core says {by_core}, formal says {by_formal}"


def refusal(verify: Callable[[], None]) -> str | None:
    """Why a certificate is refused; None if it is not."""
    try:
        verify()
    except CertificateError as error:
        return str(error)
    return None


def check_checkpoint(data: bytes) -> None:
    """Go on with an enumeration, and look at all that it found."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_bytes(data)
        try:
            found = enumerate_curvature(
                ENUMERATED_LENGTH, **ENUMERATION, num_threads=1, checkpoint=path
            )
        except FormatError as error:
            assert folder in str(error), "the message does not name the file"  # noqa: PT017
            return
        for num_merges in range(1, ENUMERATION["num_merges"] + 1):
            for num_letters in range(1, ENUMERATION["num_letters"] + 1):
                for length in range(1, ENUMERATED_LENGTH + 1):
                    place = {"num_letters": num_letters, "length": length}
                    assert found.extremes(num_merges=num_merges, **place) is not None


def check_core(data: bytes) -> None:
    """Read what a pickle holds: a tokenizer or counts as bytes."""
    if data.startswith(b"mergewise tokenizer"):
        check_pickled_tokenizer(data)
    else:
        check_pickled_counts(data)


def check_pickled_tokenizer(data: bytes) -> None:
    """The tokenizer can be used, and is the same as bytes again."""
    tok = mw.Tokenizer.__new__(mw.Tokenizer)
    try:
        tok.__setstate__((data, NO_FRAME, {}, {}))
    except (FormatError, InputError, InvalidMergesError):
        return
    again = mw.Tokenizer.__new__(mw.Tokenizer)
    again.__setstate__((tok.core.to_bytes(), NO_FRAME, {}, {}))
    assert again == tok
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_use(tok)


def check_pickled_counts(data: bytes) -> None:
    """The counts are the same as bytes again."""
    counts = mw.WordCounts.__new__(mw.WordCounts)
    try:
        counts.__setstate__(data)
    except (FormatError, InputError):
        return
    again = mw.WordCounts.__new__(mw.WordCounts)
    again.__setstate__(counts.__getstate__())
    assert again == counts
    assert counts.num_unique == len(counts.top(2**20))
