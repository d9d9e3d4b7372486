"""How a script of this folder states claims: what the paper says, what we find, whether it holds.

A script has one generator of claims and calls `state(claims)`, which prints them to be read, or as
JSON lines for `run.py`.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

PAPER = Path(__file__).parent
NO_CORPORA = "not run: give CORPORA"


@dataclass(frozen=True)
class Options:
    """How much to do.

    Attributes:
        full: the whole size, instead of one that fits 2 cores in 15 minutes with all the others.
        corpora: a folder with en.txt and de.txt.
        figures: where figures go; None: none are drawn.
    """

    full: bool = False
    corpora: Path | None = None
    figures: Path | None = None


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes:
        place: where in the paper.
        claim: what it says.
        published: its figure.
        ours: what we found.
        holds: do the two agree? None where the paper gives nothing to compare with.
    """

    place: str
    claim: str
    published: str
    ours: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """In words."""
        if self.ours == NO_CORPORA:
            return "not run"
        return {True: "yes", False: "**no**", None: "not comparable"}[self.holds]


def equality(place: str, claim: str, published: str, ours: str) -> Claim:
    """A claim that holds if what we found reads as what was published."""
    return Claim(place, claim, published, ours, published == ours)


def state(claims: Callable[[Options], Iterable[Claim]]) -> None:
    """Prints the claims of a script, whose docstring says what it is about."""
    script = sys.modules["__main__"]
    parser = argparse.ArgumentParser(
        description=script.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="the whole size: hours")
    parser.add_argument("--corpora", type=Path, help="a folder with en.txt and de.txt")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    try:
        for claim in claims(Options(given.full, given.corpora, PAPER / "figures")):
            print(json.dumps(asdict(claim)) if given.json else described(claim), flush=True)
    except KeyboardInterrupt:
        sys.exit("stopped")


def described(claim: Claim) -> str:
    """A claim to be read."""
    return (
        f"{claim.place}: {claim.claim}\n"
        f"  published: {claim.published}\n"
        f"  ours:      {claim.ours}\n"
        f"  holds:     {claim.verdict.strip('*')}"
    )


def counted(cases: Iterable[bool]) -> tuple[int, int]:
    """How many cases there are, and in how many of them it does not hold.

    >>> counted([True, False, True])
    (3, 1)
    """
    number = failures = 0
    for holds in cases:
        number += 1
        failures += not holds
    return number, failures


def none_fails(
    place: str, claim: str, published: str, cases: Iterable[bool], kind: str
) -> Iterator[Claim]:
    """The claim that something holds in all cases, tried on many."""
    number, failures = counted(cases)
    ours = f"{failures:,} of {number:,} {kind} violate it"
    yield Claim(place, claim, published, ours, number > 0 and failures == 0)
