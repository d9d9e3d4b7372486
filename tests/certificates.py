"""Small corpora with certificates: their words, their proofs and their true optima."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zlib
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from random import Random

import mergewise as mw
from mergewise import formal
from mergewise._core import WordCounts as CoreCounts
from mergewise._core import verify_bound
from mergewise.formal.bound import pieces_of, spans
from mergewise.formal.rings import Chains, Rings, places_of, tolls_of_links
from mergewise.merge_lists import no_merges
from mergewise.optimize.certificate import MAGIC
from mergewise.optimize.certificate_fields import Against

TEXT = "the cat sat on the mat, and the rat sat on the cat that sat on the mat " * 3
BOTH: tuple[Against, ...] = ("merges", "vocabularies")


def counts_of(words: dict[str, int]) -> mw.WordCounts:
    return mw.WordCounts(CoreCounts(list(words.items()), pattern="whitespace"))


def random_words(random: Random) -> dict[str, int]:
    letters = "abcd"[: random.randint(1, 4)]
    return {
        "".join(random.choices(letters, k=random.randint(1, 7))): random.randint(1, 6)
        for _ in range(random.randint(1, 4))
    }


def optimum(words: dict[str, int], against: Against, number: int) -> int:
    """What the best list of `number` merges, or the best vocabulary of `number` strings, saves."""
    enough = len(words) if against == "vocabularies" else sum(len(word) - 1 for word in words)
    if number >= enough:
        return sum(count * (len(word) - 1) for word, count in words.items())
    if number <= 0:
        return 0
    if against == "vocabularies":
        return best_vocabulary(words, number)
    return mw.solve(counts_of(words), num_merges=number).utility


def best_vocabulary(words: dict[str, int], num_tokens: int) -> int:
    """What the best vocabulary saves, by trying them all with the best segmentations."""
    strings = {w[i:j] for w in words for i in range(len(w)) for j in range(i + 2, len(w) + 1)}
    chosen = combinations(sorted(strings), min(num_tokens, len(strings)))
    return max(sum(c * saved(w, set(v)) for w, c in words.items()) for v in chosen)


def saved(word: str, vocabulary: set[str]) -> int:
    fewest = [0]
    for end in range(1, len(word) + 1):
        starts = [s for s in range(end - 1) if word[s:end] in vocabulary]
        fewest.append(1 + min(fewest[start] for start in [end - 1, *starts]))
    return len(word) - fewest[-1]


def formal_bound(
    words: dict[str, int],
    against: Against,
    number: int,
    numbers: list[int],
    setting: dict[str, int],
    *,
    cases: Sequence[str | None] = (None,),
    rings: Rings[str] = (),
    chains: Chains[str] = (),
) -> int:
    """The bound that the formal verifier computes."""
    if against == "merges":
        return formal.merge_bound(
            words, number, numbers, cases=cases, rings=rings, chains=chains, **setting
        )
    return formal.token_bound(words, number, numbers, **setting)


def core_bound(
    words: dict[str, int],
    against: Against,
    number: int,
    numbers: list[int],
    setting: dict[str, int],
    *,
    cases: Sequence[str | None] = (None,),
    rings: Rings[str] = (),
    chains: Chains[str] = (),
) -> int:
    """The bound that the core's verifier computes."""
    counts = counts_of(words)
    return verify_bound(
        counts.core,
        initial=no_merges(counts, "chars"),
        against=against,
        num_merges=number,
        discounts=varints(numbers),
        cases=[None if string is None else string.encode() for string in cases],
        rings=(
            [(list(map(str.encode, ring)), toll, list(both)) for ring, toll, both in rings],
            [list(map(str.encode, chain)) for chain in chains],
        ),
        **setting,
    )


def random_discounts(
    random: Random, words: dict[str, int], against: Against, setting: dict[str, int]
) -> list[int]:
    """As many as needed. A word is about one token, or each symbol is."""
    numbers = []
    priced, counted = pieces_of(words, setting["floor"], setting["longest"])
    pieces = set(counted)
    if against == "vocabularies":
        pieces = {word for word in words if len(word) > 1}
    for piece in sorted(pieces):
        usual = random.choice([0, 16 - 16 // len(piece), 16 - 20 // len(piece)])
        for start in range(len(piece)):
            numbers.append(max(0, usual + random.choice([-1, 0, 0, 0, 1])))
            ends = range(start + 2, min(len(piece), start + setting["longest"]) + 1)
            strings = [piece[start:end] for end in ends if against == "merges"]
            numbers += [random.choice([0, 0, 0, 1]) for string in strings if string in priced]
    return numbers


def random_rings(random: Random, words: dict[str, int], one: int) -> Rings[str]:
    """One to three rings of two to five strings: of words that cross, of others, and repeated."""
    letters = "".join(words)
    strings = [string for word in words for string in spans(word, 4)]
    strings += ["".join(random.choices(letters, k=length)) for length in (1, 2, 2)]
    found = []
    for _ in range(random.randint(1, 3)):
        near = random.choice([strings, spans(random.choice(list(words)), 3) or strings])
        ring = random.choices(near, k=random.choice([2, 3, 3, 4, 5]))
        both = [index for index in range(len(ring)) if random.random() < 0.3]
        if (len(ring) - len(both)) % 2 == 0:
            both = both[1:] if both else [0]
        found.append((ring, random.choice([0, 1, one // 2, one, 2 * one, 3 * one]), both))
    return found


def random_chains(random: Random, words: dict[str, int], rings: Rings[str]) -> Chains[str]:
    """Chains of three or four strings: for links of rings, and for others."""
    strings = [string for word in words for string in spans(word, 4)] or ["ab"]
    found = []
    for ring, _, both in rings:
        for index, string in enumerate(ring):
            between = random.choices(strings, k=1 if index in both else 2)
            found.append([string, *between, ring[(index + 1) % len(ring)]])
    more = [random.choices(strings, k=random.choice([3, 4])) for _ in range(3)]
    return [chain for chain in [*found, *more] if random.random() < 0.7]


def random_credits(
    random: Random,
    words: dict[str, int],
    setting: dict[str, int],
    rings: Rings[str],
    chains: Chains[str] = (),
) -> list[int]:
    """As many as needed."""
    priced, pieces = pieces_of(words, setting["floor"], setting["longest"])
    pairs = [[*strings] * 2 for strings, both in tolls_of_links(rings) if not both]
    rows = {row for chain in chains for row in (tuple(chain), tuple(reversed(chain)))}
    rows |= {row for pair in pairs for row in ((pair[0], pair[1]), (pair[1], pair[0]))}
    one = abs(setting["one"])
    usual = random.choice([0, one // 2, one, one])
    places = [place for piece in sorted(pieces) for place in places_of(piece, priced, rows)]
    return [random.choice([usual] * 9 + [2 * one]) for _ in places]


def random_tree(random: Random, words: dict[str, int], depth: int = 3) -> list[str | None]:
    """A tree of cases: by strings of the words, and some that no word has."""
    if depth == 0 or random.random() < 0.3:
        return [None]
    word = random.choice([*words, *map("".join, combinations("".join(words), 2))])
    start = random.randint(0, len(word) - 1)
    string = word[start : start + random.randint(1, 4)]
    halves = (random_tree(random, words, depth - 1) for _ in range(2))
    return [string, *(case for half in halves for case in half)]


def varints(numbers: list[int]) -> bytes:
    encoded = bytearray()
    for number in numbers:
        rest = number
        while rest >= 0x80:
            encoded.append(rest & 0x7F | 0x80)
            rest >>= 7
        encoded.append(rest)
    return bytes(encoded)


def rewritten(cert: mw.Certificate, path: Path, **changes: object) -> None:
    """A file with another header and a right checksum, as someone might forge it."""
    fields = {**dataclasses.asdict(cert), **changes}
    discounts = fields.pop("discounts")
    assert isinstance(discounts, bytes)
    header = json.dumps(fields, sort_keys=True).encode()
    body = MAGIC + header + b"\n" + zlib.compress(discounts)
    path.write_bytes(body + hashlib.sha256(body).digest())
