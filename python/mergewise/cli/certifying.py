"""`mergewise certify` and `mergewise verify`."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from mergewise.cli.corpora import add_inputs, counts_for, files_among, read_counts
from mergewise.cli.options import Parser, keywords
from mergewise.cli.output import put
from mergewise.cli.tokenizers import add_reading, add_tokenizer, read_tokenizer
from mergewise.optimize import Certificate, certify
from mergewise.optimize.certificate_fields import Against
from mergewise.sources import check_output

AGAINST: tuple[Against, ...] = ("merges", "vocabularies")


def add_certify(parser: Parser) -> None:
    """The arguments of `mergewise certify`.

    Texts are cut into words as the tokenizer does. Ctrl-C ends the search for a better proof,
    and the best so far is shown.

    Examples:
      mergewise certify tokenizer.json corpus.txt --time-limit 60
      mergewise certify tokenizer.json corpus.counts --against merges --save tok.cert
    """
    add_tokenizer(parser)
    add_inputs(parser)
    text = "all merge lists of its length, or all vocabularies of its size (default both)"
    parser.add_choice("--against", [*AGAINST, "both"], f"what to compare with: {text}", "both")
    parser.add_time_limit("how long to search for proofs (default 60)", 60.0)
    parser.add_steps()
    text = "how many cases a proof may divide merge lists into (default: as time allows)"
    parser.add_number("--cases", text, dest="num_cases")
    parser.add_file("--save", "the file to write the certificate to")
    parser.add_reporting()


def run_certify(parsed: argparse.Namespace) -> None:
    """`mergewise certify`."""
    both = parsed.against == "both"
    if both and parsed.save is not None:
        parsed.refuse("--save keeps one certificate: give --against merges or vocabularies")
    if parsed.save is not None:
        check_output(parsed.save, [*parsed.files, *files_among(parsed.tokenizer)])
    tokenizer = read_tokenizer(parsed)
    counts = counts_for(parsed, tokenizer)
    started = time.perf_counter()
    chosen = keywords(parsed, "num_steps", "num_cases", "num_threads", "progress")
    chosen["time_limit"] = parsed.time_limit / (2 if both else 1)
    certificates = [
        certify(tokenizer, counts, against=against, **chosen)
        for against in (AGAINST if both else [parsed.against])
    ]
    seconds = time.perf_counter() - started
    if parsed.save is not None:
        certificates[0].save(parsed.save)
    if parsed.json:
        put(json.dumps([facts_of(certificate) for certificate in certificates]))
        return
    first = certificates[0]
    put(f"{first.num_symbols:,} symbols, {first.tokens:,} tokens: {first.utility:,} saved")
    for certificate in certificates:
        put(
            f"{distance(certificate)}: it makes {certificate.tokens_bound:,} tokens or more "
            f"(saves {certificate.bound:,})"
        )
    put(f"proved in {seconds:.1f} s")


def distance(certificate: Certificate) -> str:
    """How far the tokenizer is at most from the best possible."""
    size = f"{certificate.num_merges:,}"
    rivals = {
        "merges": f"the best possible list of {size} merges",
        "vocabularies": f"any vocabulary of {size} tokens beside the symbols",
    }
    return f"within {certificate.excess:.2%} of {rivals[certificate.against]}"


def facts_of(certificate: Certificate, *, has_tokenizer: bool = True) -> dict[str, object]:
    """A certificate without its proof, for JSON; without a tokenizer what the proof proves."""
    sizes = {"merges": certificate.num_merges, "symbols": certificate.num_symbols}
    names = ["tokens_bound", "bound", "fingerprint"]
    names += ["tokens", "utility", "ratio", "excess"] * has_tokenizer
    values = {name: getattr(certificate, name) for name in names}
    return {"against": certificate.against, **sizes, **values}


def add_verify(parser: Parser) -> None:
    """The arguments of `mergewise verify`.

    The proof is of the bound alone. With --tokenizer the number of its tokens, and so how far
    it is from the best possible, is computed and checked too.

    Examples:
      mergewise verify tok.cert corpus.txt
      mergewise verify tok.cert corpus.counts --tokenizer tokenizer.json --formal
    """
    parser.add_argument("certificate", type=Path, metavar="CERTIFICATE")
    add_inputs(parser)
    parser.add_file("--tokenizer", "the tokenizer, to check how far it is from the bound")
    add_reading(parser)
    parser.add_flag("--formal", "check with the short reference program (slow, independent)")
    parser.add_reporting()


def run_verify(parsed: argparse.Namespace) -> None:
    """`mergewise verify`."""
    certificate = Certificate.from_file(parsed.certificate)
    tokenizer = None if parsed.tokenizer is None else read_tokenizer(parsed)
    specials = () if tokenizer is None else list(tokenizer.special_tokens)
    counts, _ = read_counts(parsed, certificate.pattern, certificate.normalize, specials)
    certificate.verify(counts, tokenizer=tokenizer, by="formal" if parsed.formal else "core")
    has_tokenizer = tokenizer is not None
    if parsed.json:
        put(json.dumps(facts_of(certificate, has_tokenizer=has_tokenizer)))
    else:
        put(f"the proof holds: {certificate if has_tokenizer else certificate.claim}")
