"""English text for the measurements: Newton's Opticks, which is inside the package, or a corpus."""

import random
import re
from itertools import islice

from claims import Options

from mergewise.demo import opticks

OPTICKS = "Newton's Opticks"


def lines(options: Options, number: int) -> tuple[list[str], str]:
    """The first lines that are not empty, without their ends, and where they come from."""
    if options.corpora is None:
        return list(islice(filter(None, opticks().splitlines()), number)), OPTICKS
    with (options.corpora / "en.txt").open(encoding="utf-8", newline="\n") as file:
        full = (line for line in (line.rstrip("\n") for line in file) if line.strip())
        return list(islice(full, number)), "en.txt"


def sentences(number: int, length: int = 64) -> list[str]:
    """The beginnings of sentences of Newton's Opticks, drawn at random, each time the same."""
    text = " ".join(opticks().split())
    long = [part for part in re.split(r"(?<=[.;:?!]) ", text) if len(part) >= length]
    return [part[:length] for part in random.Random(0).sample(long, number)]  # noqa: S311 (no secret)
