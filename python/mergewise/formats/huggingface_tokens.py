"""The tokens and merges of tokenizer.json: from how they are written to what texts have.

The core reads files in which nothing is unusual, without an object of Python for each token. All
others are read here, where every error has its words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from mergewise import _core
from mergewise.formats import merging
from mergewise.formats.json_values import Value
from mergewise.formats.letters import BYTE_NAMES, MARK, from_letters
from mergewise.formats.reading import shown
from mergewise.formats.tables import PairTable, StringTable

WrittenMerge = tuple[str, str]


class UnusualError(Exception):
    """The core does not read a file because something about it is unusual."""


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """How tokens are written in a file.

    Attributes:
        has_letters: whether they are in letters that stand for bytes.
        mark_is_space: whether U+2581 stands for a space.
        prefix: what is before each token that does not begin a word, as in `##ing`.
        start_of_word: what tokens that begin one are told by instead.
        has_byte_names: whether names such as <0x41> stand for bytes, and are no tokens of texts.
    """

    has_letters: bool
    mark_is_space: bool
    prefix: str
    start_of_word: bytes
    has_byte_names: bool

    def spell(self, text: str) -> bytes | None:
        """The bytes of a written token, or None if no text can have it."""
        if not text.startswith(self.prefix):
            string = self.spell_plainly(text)
            return self.start_of_word + string if string else None
        return self.spell_plainly(text.removeprefix(self.prefix))

    def spell_plainly(self, text: str) -> bytes | None:
        """The same without prefixes."""
        if self.has_letters:
            return from_letters(text)
        if self.mark_is_space:
            # When tokens are looked up, spaces have become marks.
            return None if " " in text else text.replace(MARK, " ").encode()
        return text.encode()

    def product(self, merge: WrittenMerge) -> str:
        """What a merge makes."""
        return merge[0] + merge[1][len(self.prefix) :]


class SpelledTokens(NamedTuple):
    """The tokens that a text can have.

    Attributes:
        tokens: their strings and ids.
        merges: the merges of these.
        single_bytes: the tokens of one byte.
        written: what is written for ids where it does not follow from the string of a token.
    """

    tokens: Mapping[bytes, int]
    merges: Sequence[tuple[bytes, bytes]]
    single_bytes: Collection[bytes]
    written: dict[int, str]


class WrittenTokens(Protocol):
    """The tokens of a file as they are written."""

    def __len__(self) -> int: ...

    def get(self, text: str) -> int | None:
        """The id of a token; None if there is none."""

    def has(self, token_id: int) -> bool:
        """Whether a token has this id."""

    def spelled(self, spelling: Spelling, added: Mapping[str, bool]) -> SpelledTokens:
        """Tokens and merges, without those for single bytes, and those that are only found.

        Added tokens are false if words may have them, too, which they may if merges have them.
        """


class TokensOfCore:
    """Those that the core has read."""

    def __init__(self, table: _core.TokenizerJson) -> None:
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def get(self, text: str) -> int | None:
        """The id of a token; None if there is none."""
        return self.table.id(text)

    def has(self, token_id: int) -> bool:
        """Whether a token has this id."""
        return self.table.has(token_id)

    def spelled(self, spelling: Spelling, added: Mapping[str, bool]) -> SpelledTokens:
        """Tokens and merges, without those for single bytes, and those that are only found.

        Added tokens are false if words may have them, too, which they may if merges have them.
        """
        found_alone = [text for text, is_found_alone in added.items() if is_found_alone]
        spelled = self.table.spelled(added=list(added), found_alone=found_alone, **asdict(spelling))
        if spelled is None:
            raise UnusualError
        tokens, merges, written = spelled
        single_bytes = tokens.single_bytes()
        return SpelledTokens(StringTable(tokens), PairTable(merges), single_bytes, written)


class TokensOfDocument:
    """Those of a document that was parsed in Python."""

    def __init__(self, model: Value) -> None:
        self.model = model

    @cached_property
    def ids(self) -> dict[str, int]:
        """The ids of all tokens."""
        ids = self.model["vocab"].ids()
        merging.check_ids_differ(self.model.reading, ids, place="model.vocab")
        return ids

    @cached_property
    def merges(self) -> list[WrittenMerge]:
        """The pairs: in the file as lists, or as strings with a space."""
        pairs: list[WrittenMerge] = []
        merges = self.model["merges"]
        for index, raw in enumerate(merges.list()):
            match raw.split(" ") if isinstance(raw, str) else raw:
                case [str(left), str(right)]:
                    pairs.append((left, right))
                case _:
                    raise merges.at(index, raw).wrong("two tokens")
        return pairs

    def __len__(self) -> int:
        return len(self.ids)

    def get(self, text: str) -> int | None:
        """The id of a token; None if there is none."""
        return self.ids.get(text)

    def has(self, token_id: int) -> bool:
        """Whether a token has this id."""
        return token_id in self.ids.values()

    def spelled(self, spelling: Spelling, added: Mapping[str, bool]) -> SpelledTokens:
        """Tokens and merges, without those for single bytes, and those that are only found.

        Added tokens are false if words may have them, too, which they may if merges have them.
        """
        used = self.used(spelling)
        strings: dict[str, bytes] = {}
        written: dict[int, str] = {}
        for text, token_id in self.ids.items():
            string = spelling.spell(text)
            is_no_word = added.get(text, False) and text not in used and len(text) > 1
            is_byte = spelling.has_byte_names and text in BYTE_NAMES
            if string and not is_no_word and not is_byte:
                strings[text] = string
            if (text not in strings or spelling.prefix) and text not in added and not is_byte:
                written[token_id] = text
        # Of a merge that is listed twice, the last place counts, as in tokenizers.
        merges = [*dict.fromkeys(reversed(self.merges))][::-1]
        tokens = {string: self.ids[text] for text, string in strings.items()}
        return SpelledTokens(
            tokens,
            [
                (strings[merge[0]], strings[merge[1]])
                for merge in merges
                # What begins a word stands behind nothing.
                if merge[1].startswith(spelling.prefix)
                and strings.keys() >= {*merge, spelling.product(merge)}
            ],
            [string for string in tokens if len(string) == 1],
            written,
        )

    def used(self, spelling: Spelling) -> set[str]:
        """What merges have and make; refuses what is no token."""
        used: set[str] = set()
        for index, merge in enumerate(self.merges):
            for text in (*merge, spelling.product(merge)):
                if text not in self.ids:
                    found = f"the token {shown(text)}, which model.vocab does not have"
                    place = f"model.merges[{index}]"
                    raise self.model.reading.wrong(place, found, "tokens of the vocabulary")
                used.add(text)
        return used
