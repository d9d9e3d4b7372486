"""`mergewise certify` and `mergewise verify`."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence

from mergewise.cli.making import read_tokenizer, sum_of_files
from mergewise.cli.output import put
from mergewise.counts import WordCounts
from mergewise.optimize import Certificate, certify
from mergewise.optimize.certificate import Against
from mergewise.tokenizer import Tokenizer
from mergewise.training import count_files
from mergewise.vocabulary import Normalize

RIVALS: dict[str, tuple[Against, ...]] = {
    "merges": ("merges",),
    "vocabularies": ("vocabularies",),
    "both": ("merges", "vocabularies"),
}


def run_certify(parsed: argparse.Namespace) -> None:
    """`mergewise certify`."""
    both = parsed.against == "both"
    if both and parsed.save is not None:
        parsed.refuse("--save keeps one certificate: give --against merges or vocabularies")
    tokenizer = read_tokenizer(parsed)
    counts = counts_for(parsed, tokenizer.pattern, tokenizer.normalize, specials_of(tokenizer))
    started = time.perf_counter()
    certificates = [
        certify(
            tokenizer,
            counts,
            against=against,
            time_limit=parsed.time_limit / (2 if both else 1),
            num_threads=parsed.threads,
            progress=not parsed.quiet,
        )
        for against in RIVALS[parsed.against]
    ]
    seconds = time.perf_counter() - started
    if parsed.save is not None:
        certificates[0].save(parsed.save)
    if parsed.json:
        put(json.dumps([facts_of(certificate) for certificate in certificates]))
    else:
        put_certificates(certificates, seconds)


def put_certificates(certificates: Sequence[Certificate], seconds: float) -> None:
    """Certificates for people."""
    first = certificates[0]
    put(f"{first.num_symbols:,} symbols, {first.tokens:,} tokens: {first.utility:,} saved")
    for certificate in certificates:
        size = f"{certificate.num_merges:,}"
        rivals = {
            "merges": f"the best possible list of {size} merges",
            "vocabularies": f"any vocabulary of {size} tokens beside the symbols",
        }
        put(
            f"within {certificate.excess:.2%} of {rivals[certificate.against]}: "
            f"it makes {certificate.tokens_bound:,} tokens or more (saves {certificate.bound:,})"
        )
    put(f"proved in {seconds:.1f} s")


def facts_of(certificate: Certificate) -> dict[str, object]:
    """A certificate as JSON, without its proof."""
    return {
        "against": certificate.against,
        "merges": certificate.num_merges,
        "symbols": certificate.num_symbols,
        "tokens": certificate.tokens,
        "tokens_bound": certificate.tokens_bound,
        "utility": certificate.utility,
        "bound": certificate.bound,
        "ratio": certificate.ratio,
        "excess": certificate.excess,
        "fingerprint": certificate.fingerprint,
    }


def run_verify(parsed: argparse.Namespace) -> None:
    """`mergewise verify`."""
    certificate = Certificate.from_file(parsed.certificate)
    tokenizer = None if parsed.tokenizer is None else read_tokenizer(parsed)
    specials = () if tokenizer is None else specials_of(tokenizer)
    counts = counts_for(parsed, certificate.pattern, certificate.normalize, specials)
    certificate.verify(counts, tokenizer=tokenizer, by="formal" if parsed.formal else "core")
    if parsed.json:
        put(json.dumps(facts_of(certificate)))
    else:
        put(f"the proof holds: {certificate}")


def specials_of(tokenizer: Tokenizer) -> list[str]:
    """Texts that are tokens of their own and were never merged."""
    return [*tokenizer.vocabulary.special_tokens, *tokenizer.vocabulary.added_tokens]


def counts_for(
    parsed: argparse.Namespace, pattern: str | None, normalize: Normalize, specials: Sequence[str]
) -> WordCounts:
    """The counts of the inputs: texts, cut as the tokenizer does, or files of counts."""
    counts = sum_of_files(parsed.files)
    if counts is not None:
        return counts
    return count_files(
        parsed.files,
        pattern=pattern,
        documents=parsed.documents,
        field=parsed.field,
        normalize=normalize,
        special_tokens=specials,
        errors=parsed.errors,
        num_threads=parsed.threads,
        progress=not parsed.quiet,
    )
