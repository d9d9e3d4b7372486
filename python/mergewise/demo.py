"""The demonstration, on a text inside the package."""

from __future__ import annotations

import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import TextIO

from mergewise import formal
from mergewise.counts import WordCounts
from mergewise.drawing import draw_segmentation, is_coloured
from mergewise.interrupts import noticed_interrupts
from mergewise.optimize import certify
from mergewise.optimize.certificate_fields import Against
from mergewise.tokenizer import Tokenizer
from mergewise.training import count, train

PATTERN = "gpt2"
VOCAB_SIZES = (512, 1024, 2048, 4096)
VOCAB_SIZE = 4096
NUM_STEPS = 300
AGAINST: tuple[Against, ...] = ("merges", "vocabularies")
PARAGRAPH = "From what has been said it is also evident, that the Whiteness"


def opticks() -> str:
    """Newton's Opticks (1730), the text inside the package."""
    return resources.files("mergewise").joinpath("data/opticks.txt").read_text(encoding="utf-8")


def run_demo(out: TextIO) -> None:
    """Print the demonstration to `out`."""
    print_the_paper(out)
    text = opticks()
    started = time.perf_counter()
    counts = count([text], pattern=PATTERN)
    tokenizer = train(counts, vocab_size=VOCAB_SIZE)
    seconds = time.perf_counter() - started
    print(f"\nNewton's Opticks, counted and trained in {seconds:.2f} s:", file=out)
    print(f"  {counts}", file=out)
    print_merges(tokenizer, out)
    print_segmentation(tokenizer, paragraph_of(text), out)
    print_compression(text, counts, out)
    print_formats(tokenizer, text, out)
    print_certificates(tokenizer, counts, out)


def print_certificates(tokenizer: Tokenizer, counts: WordCounts, out: TextIO) -> None:
    """Print how far the tokenizer can be from the best of its size, proved."""
    started = time.perf_counter()
    print("\nHow good is it? Proved, and the proofs checked:", file=out)
    with noticed_interrupts() as is_interrupted:
        for against in AGAINST:
            certificate = certify(tokenizer, counts, against=against, num_steps=NUM_STEPS)
            if is_interrupted():
                raise KeyboardInterrupt
            certificate.verify(counts, tokenizer=tokenizer)
            print(f"  {certificate}", file=out)
    print(f"  in {time.perf_counter() - started:.1f} s", file=out)


def print_the_paper(out: TextIO) -> None:
    """Print the paper's Example 2: greedy is not optimal."""
    text = "abaabbaa"
    chosen = formal.greedy(text, 2, ties=formal.first_occurrence)
    best = formal.exact_guarded(text, 2)
    print(f"The paper's definitions, run on {text} with 2 merges:", file=out)
    for name, merges in (("greedy", chosen), ("optimal", best.merges)):
        shown = " ".join(formal.show(tree) for tree in formal.apply(merges, text))
        print(f"  {name:<8} saves {formal.utility(merges, text)}: {shown}", file=out)
    sigma = formal.curvature(text, 2).sigma_min
    print(
        f"  the curvature is {sigma}, so greedy attains at least "
        f"{formal.guarantee(sigma):.0%} of the optimum",
        file=out,
    )


def print_merges(tokenizer: Tokenizer, out: TextIO) -> None:
    """Print the first and the last merges."""
    print(f"  {tokenizer}", file=out)
    for name, merges in (
        ("first merges", tokenizer.merges[:12]),
        ("last merges", tokenizer.merges[-8:]),
    ):
        shown = " ".join(repr((left + right).decode(errors="replace")) for left, right in merges)
        print(f"  {name}: {shown}", file=out)


def paragraph_of(text: str) -> str:
    """The paragraph that defines white."""
    start = text.index(PARAGRAPH)
    return text[start : text.index("\n\n", start)]


def print_segmentation(tokenizer: Tokenizer, paragraph: str, out: TextIO) -> None:
    """Print a paragraph in tokens."""
    ids = tokenizer.encode(paragraph)
    tokens = [tokenizer.token_bytes(token_id) for token_id in ids]
    print(f"\nA paragraph of {len(paragraph)} characters in {len(ids)} tokens:", file=out)
    drawn = draw_segmentation(tokens, is_coloured=is_coloured(out))
    print("  " + drawn.replace("\n", "\n  "), file=out)


def print_compression(text: str, counts: WordCounts, out: TextIO) -> None:
    """Print the number of tokens of the text for several vocabulary sizes."""
    num_bytes = len(text.encode())
    print(f"\nThe whole text has {num_bytes:,} bytes:", file=out)
    print("  vocabulary   tokens  bytes per token", file=out)
    for vocab_size in VOCAB_SIZES:
        num_tokens = train(counts, vocab_size=vocab_size).count_tokens(text)
        ratio = num_bytes / num_tokens
        print(f"  {vocab_size:>10,}  {num_tokens:>7,}  {ratio:>15.2f}", file=out)


def print_formats(tokenizer: Tokenizer, text: str, out: TextIO) -> None:
    """Save in two formats, read back, and compare the ids."""
    ids = tokenizer.encode(text)
    print("\nSaved, read again, and the whole text encoded once more:", file=out)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tokenizer.json", "opticks.tiktoken"):
            path = Path(folder) / name
            tokenizer.save(path)
            again = Tokenizer.from_file(path).encode(text)
            verdict = "agree" if again == ids else "DIFFER"
            print(f"  {name:<16}  {path.stat().st_size:>7,} bytes, the ids {verdict}", file=out)
