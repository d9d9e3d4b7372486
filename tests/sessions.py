"""Random operations on sessions, whose ids are compared with those of whole texts.

    python tests/sessions.py --operations 1000000 --seed 1 gpt-4o gemma llama3

By default every vocabulary of tests/data/vocabularies.txt. The exit status is 1 if ids differ.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from typing import Any

from models import load_here
from sample_texts import CODE, EMOJI, LANGUAGES, ODD_SPACES, OPTICKS, random_text
from vocabularies import VOCABULARIES

import mergewise as mw

PROSE = OPTICKS[2000:12000] + LANGUAGES + CODE
# What is cut into parts, so that parts meet in all ways.
PIECES = [
    *("a", "aa", "ab", "the", " the", "'s", "'", "l", "ll", "0", "123", "\r", "\n", "\r\n", "\t"),
    *(" ", "  ", "   ", ".", "..", "!?", "é", "e\u0301", "\u0301", "\u0327\u0301", "한", "\u1112"),
    *("\u1161", "\u11ab", "漢字", "ﬁ", "▁", "\u0344", "<", "|", "<|", "|>", "</", "[", "]", "_"),
    *("\u00a0", "\u200d", *EMOJI[:6], *ODD_SPACES[:6]),
]
ENDLESS = ["a", "ab", " ", "\n", "=", "-", "x7Q", "\u0301", "é", "漢", "\r\n", "aaab", "ba"]
LONGEST = 600


class Operations:
    """One session after the other, and forks of it, compared after each operation."""

    def __init__(self, tokenizer: mw.Tokenizer, draw: random.Random) -> None:
        self.draw = draw
        specials = list(tokenizer.special_tokens)
        self.specials = draw.sample(specials, min(len(specials), 12))
        self.tokenizer = tokenizer.with_truncation(None).with_padding(None)
        self.begin()

    def begin(self) -> None:
        """Begin with an empty text, and options of its own."""
        allows = self.draw.random() < 0.7
        self.options: dict[str, Any] = {
            "allowed_special": "all" if allows else (),
            "disallowed_special": (),
            "add_special_tokens": self.draw.random() < 0.5,
        }
        self.sessions = [(self.tokenizer.session(**self.options), "")]

    def part(self) -> str:
        """A text to append."""
        draw = self.draw
        kind = draw.randrange(10)
        if kind < 3:
            return "".join(draw.choices(PIECES, k=draw.randrange(1, 6)))
        if kind < 5:
            start = draw.randrange(len(PROSE))
            return PROSE[start : start + draw.randrange(1, 40)]
        if kind < 7:
            # Some are longer than any token, and settle within themselves.
            return draw.choice(ENDLESS) * draw.randrange(1, draw.choice([30, 30, 30, 300]))
        if kind < 9 and self.specials:
            special = draw.choice(self.specials)
            start = draw.randrange(len(special) + 1)
            return draw.choice([special, special[:start], special[start:], special + " "])
        return random_text(draw, draw.randrange(1, 4))

    def do(self) -> None:
        """One operation; an AssertionError if the ids are not those of the whole text."""
        index = self.draw.randrange(len(self.sessions))
        session, text = self.sessions[index]
        kind = self.draw.randrange(12)
        if kind == 0:
            self.sessions.append((session.fork(), text))
            if len(self.sessions) > 4:
                del self.sessions[self.draw.randrange(4)]
            return
        if kind == 1 or len(text) > LONGEST:
            length = self.draw.randrange(len(text) + 3)
            session.truncate(length)
            text = text[:length]
        else:
            before = session.ids
            part = self.part()
            text += part
            num_kept, following = session.append(part)
            assert [*before[:num_kept], *following] == session.ids, (text, part)
            assert before[num_kept : num_kept + 1] != following[:1] or not following, (text, part)
        self.sessions[index] = session, text
        expected = self.tokenizer.encode(text, **self.options)
        assert session.ids == expected, (self.options, text, session.ids, expected)
        assert len(session) == len(expected)
        assert session.text == text


def check(tokenizer: mw.Tokenizer, num_operations: int, seed: int) -> None:
    """Do random operations, and compare."""
    operations = Operations(tokenizer, random.Random(seed))  # noqa: S311 (not for secrets)
    for number in range(num_operations):
        if number % 200 == 199:
            operations.begin()
        operations.do()


def difference(name: str, num_operations: int, seed: int) -> str:
    """The first difference that a vocabulary has; empty if there is none. Says so, too."""
    found = ""
    try:
        check(load_here(name), num_operations, seed)
    except AssertionError as error:
        found = f"DIFFERS: {error}"
    sys.stdout.write(f"{name:20} {found or f'{num_operations:,} operations alike'}\n")
    sys.stdout.flush()
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="vocabularies; all by default")
    parser.add_argument("--operations", type=int, default=10_000, help="for each vocabulary")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    names = options.names or VOCABULARIES
    differences = {name: difference(name, options.operations, options.seed) for name in names}
    return int(any(differences.values()))


if __name__ == "__main__":
    sys.exit(main())
