"""What a tokenizer does to a corpus, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from mergewise.counts import WordCounts
from mergewise.tokenizer import Tokenizer


@dataclass(frozen=True)
class Part:
    """A part of a corpus: a file, or a language.

    Attributes:
        name: of the part.
        num_bytes: of its words.
        num_words: as the pattern cuts it.
        num_tokens: what these become.
    """

    name: str
    num_bytes: int
    num_words: int
    num_tokens: int

    @property
    def tokens_per_word(self) -> float:
        """How many tokens a word becomes on average."""
        return self.num_tokens / self.num_words if self.num_words else 0.0

    @property
    def bytes_per_token(self) -> float:
        """How much a token stands for on average."""
        return self.num_bytes / self.num_tokens if self.num_tokens else 0.0


@dataclass(frozen=True)
class Measured:
    """A tokenizer on a corpus.

    Attributes:
        name: of the tokenizer.
        tokenizer: itself.
        counts: the words of the whole corpus, as the tokenizer cuts it.
        parts: the parts of the corpus.
        uses: how often the corpus becomes each token, by id.
    """

    name: str
    tokenizer: Tokenizer
    counts: WordCounts
    parts: tuple[Part, ...]
    uses: Mapping[int, int]

    def __repr__(self) -> str:
        return f"<Measured: {self.name}: {self.total.num_tokens:,} tokens, {self.counts!r}>"

    @cached_property
    def total(self) -> Part:
        """The whole corpus."""
        words = self.counts
        return Part("all", words.num_symbols, words.num_words, sum(self.uses.values()))

    @cached_property
    def gains(self) -> list[int]:
        """How often each merge is made in the corpus: the tokens that it saves.

        A merge is made once in every tree that holds its token. So each token's uses are handed
        down from the longest tokens to their parts, and no merge has to be made again.
        """
        merges, ids = self.tokenizer.merges, self.tokenizer.vocabulary.tokens
        parts = {left + right: (left, right) for left, right in merges}
        made = {string: self.uses.get(ids.get(string, -1), 0) for string in parts}
        for string in sorted(parts, key=len, reverse=True):
            for half in parts[string]:
                if half in made:
                    made[half] += made[string]
        return [made[left + right] for left, right in merges]

    @cached_property
    def curve(self) -> list[int]:
        """How many tokens the corpus has after the first 0, 1, 2, ... merges."""
        start = self.total.num_tokens + sum(self.gains)
        return list(accumulate(self.gains, lambda tokens, gain: tokens - gain, initial=start))

    @cached_property
    def no_curve(self) -> str | None:
        """Why the first merges alone cannot be told from all of them; None if they can."""
        if self.tokenizer.is_by_whole_words:
            return "some words become tokens that no merge makes"
        made: set[bytes] = set()
        products = {left + right for left, right in self.tokenizer.merges}
        for left, right in self.tokenizer.merges:
            if any(half in products and half not in made for half in (left, right)):
                return "some merges come before those that make their parts"
            made.add(left + right)
        return None

    @cached_property
    def unreachable(self) -> list[int]:
        """The tokens that no text becomes."""
        return sorted(self.tokenizer.core.unreachable)

    @cached_property
    def unused(self) -> list[int]:
        """The tokens that some text becomes, but none of the corpus."""
        ids = set(self.tokenizer.vocabulary.tokens.values()) - set(self.unreachable)
        return sorted(ids - self.uses.keys())

    @cached_property
    def stepping_stones(self) -> set[int]:
        """Of the unused tokens, those that are parts of others in the corpus."""
        tokens = self.tokenizer.vocabulary.tokens
        pairs = zip(self.tokenizer.merges, self.gains, strict=True)
        made = {tokens[left + right] for (left, right), gain in pairs if gain}
        return made & set(self.unused)

    @cached_property
    def lengths(self) -> dict[int, tuple[int, int]]:
        """For each length in bytes: how many tokens have it, and how many of the corpus's do."""
        tokens: Counter[int] = Counter()
        uses: Counter[int] = Counter()
        for string, token_id in self.tokenizer.vocabulary.tokens.items():
            tokens[len(string)] += 1
            uses[len(string)] += self.uses.get(token_id, 0)
        return {length: (tokens[length], uses[length]) for length in sorted(tokens) if length}


def measure(name: str, tokenizer: Tokenizer, parts: Mapping[str, WordCounts]) -> Measured:
    """A tokenizer on a corpus in parts, which are words as the tokenizer cuts them."""
    if not parts:
        raise ValueError("a report needs at least one part of a corpus")
    uses: Counter[int] = Counter()
    measured = []
    for part, counts in parts.items():
        found = tokenizer.core.token_counts(counts.core)
        uses.update(found)
        measured.append(Part(part, counts.num_symbols, counts.num_words, sum(found.values())))
    first, *others = parts.values()
    return Measured(name, tokenizer, sum(others, first), tuple(measured), uses)
