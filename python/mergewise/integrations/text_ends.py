"""TextEnds: the tokens at the end of a text that may change with what follows, as tiktoken says it.

The words before the last one stay, with one exception: cuts in white space may go when more of it
follows. The last word may become the beginning of any token.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, takewhile
from typing import Final

from mergewise import _core
from mergewise.specials import choice_of
from mergewise.vocabulary import Vocabulary

BYTES: Final = [bytes([byte]) for byte in range(256)]
END_OF_WORD: Final = b"</w>"
# What Python takes for white space and Unicode, which the core's patterns follow, does not.
NOT_WHITE: Final = "\x1c\x1d\x1e\x1f"


class TextEnds:
    """The ends of texts in one encoding.

    Args:
        core: the tokenizer, of ranks over bytes.
        vocabulary: its vocabulary.
    """

    def __init__(self, core: _core.Tokenizer, vocabulary: Vocabulary) -> None:
        self._core = core
        self._vocabulary = vocabulary
        self._strings = sorted(vocabulary.tokens)
        self._lengths = {token_id: len(string) for string, token_id in vocabulary.tokens.items()}
        self._ordinary = choice_of(core, (), ())

    @cached_property
    def _marker(self) -> _core.Tokenizer:
        """Makes each byte its token, and puts an id that no token has behind each word."""
        tokens = {byte: self._vocabulary.tokens[byte] for byte in BYTES}
        return _core.Tokenizer(
            replace(
                self._vocabulary,
                tokens={**tokens, END_OF_WORD: self._core.vocab_size},
                merges=[],
                ranks=None,
                whole_words=False,
                end_of_word=END_OF_WORD,
            )
        )

    @cached_property
    def _merger(self) -> _core.Tokenizer:
        """Makes one word of any bytes, and tokens by merges alone."""
        return _core.Tokenizer(
            replace(self._vocabulary, pattern=None, drops_gaps=False, whole_words=False)
        )

    def merged(self, word: bytes) -> list[int]:
        """The ids of a word, by merges alone."""
        return self._merger.encode(word, self._ordinary)

    def num_stable(self, text: str, ids: Sequence[int], choice: _core.Choice) -> int:
        """How many of a text's ids stay, whatever follows the text."""
        num_bytes = self._last_word(text, choice)
        num_stable = len(ids)
        while num_bytes > 0:
            num_stable -= 1
            num_bytes -= self._lengths[ids[num_stable]]
        if num_stable < len(ids) and self._is_blank(ids[num_stable]):
            while num_stable and self._is_blank(ids[num_stable - 1]):
                num_stable -= 1
        return num_stable

    def _last_word(self, text: str, choice: _core.Choice) -> int:
        """How many bytes the last word has; 0 if a special token stands behind all words."""
        marked = self._marker.encode(text, choice)
        if not marked or marked[-1] != self._core.vocab_size:
            return 0
        word = takewhile(self._lengths.__contains__, reversed(marked[:-1]))
        return sum(1 for _ in word)

    def _is_blank(self, token_id: int) -> bool:
        """Whether a token that is not special is of spaces, newlines and tabs."""
        return token_id in self._lengths and not self._core.token_bytes(token_id).strip(b" \n\t")

    def completions(self, rest: bytes) -> list[list[int]]:
        """All ids that texts beginning with these bytes may begin with, as far as these go."""
        if not rest:
            return []
        found: set[tuple[int, ...]] = {
            (self._vocabulary.tokens[string],) for string in self._beginning_with(rest)
        }
        for index in range(1, len(rest)):
            longer = [rest[:index] + string for string in self._beginning_with(rest[index:])]
            found.update(self._first_ids(ids, len(rest)) for ids in self._encoded(longer))
        last = rest.decode(errors="replace")[-1]
        before = rest.removesuffix(last.encode())
        if before and last.isspace() and last not in NOT_WHITE:
            found.add((*self.merged(before), *self.merged(last.encode())))
        return [[*ids] for ids in sorted(found)]

    def _beginning_with(self, start: bytes) -> Iterable[bytes]:
        """The tokens that begin with these bytes."""
        first = bisect_left(self._strings, start)
        return takewhile(
            lambda string: string.startswith(start), islice(self._strings, first, None)
        )

    def _encoded(self, strings: Collection[bytes]) -> Iterable[list[int]]:
        """The ids of each text, in any order; what is not UTF-8 is one word."""
        texts = [string for string in strings if is_utf8(string)]
        words = [string for string in strings if not is_utf8(string)]
        return chain(
            self._core.encode_batch_lists(texts, self._ordinary, num_threads=1),
            self._merger.encode_batch_lists(words, self._ordinary, num_threads=1),
        )

    def _first_ids(self, ids: Sequence[int], num_bytes: int) -> tuple[int, ...]:
        """The ids that the first bytes of a text need."""
        num_ids = 0
        while num_bytes > 0 and num_ids < len(ids):
            num_bytes -= self._lengths[ids[num_ids]]
            num_ids += 1
        return tuple(ids[:num_ids])


def is_utf8(string: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        string.decode()
    except UnicodeDecodeError:
        return False
    return True
