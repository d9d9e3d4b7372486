"""Vocabulary: all that decides how a text is encoded, whatever file it came from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mergewise import _core
from mergewise.framing import Framing

Alphabet: TypeAlias = Literal["bytes", "chars"]
Normalize: TypeAlias = Literal["nfc", "nfkc"] | None
PrefixSpace: TypeAlias = Literal["always", "unless_space", "once"] | None
NO_FRAME: Final = Framing()
# A step of tokenizer.json, such as {"type": "Lowercase"}.
Step: TypeAlias = Mapping[str, Any]


class Search(NamedTuple):
    """How a special token is found in a text.

    Attributes:
        lstrip: whether white space before it becomes part of it.
        rstrip: whether white space behind it becomes part of it.
        single_word: whether it is found only where no word character is next to it.
        normalized: whether it is normalised as the text is and found in the normalised text.
    """

    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The tokens of a tokenizer, how texts are cut into words, and how words become tokens.

    A word begins as its symbols and ends as tokens: the adjacent pair of the lowest rank becomes
    one token, the leftmost first, until no pair has a rank. The ranks are those of `merges` (a
    pair's place in the list) or of `ranks` (a pair has the rank of the token that it makes,
    whichever pair it is); one of the two is given.

    Attributes:
        tokens: the string and the id of every token that is not special. With an alphabet of bytes
            all 256 of them are here. Where `mark_is_space`, a token is written with spaces,
            not with marks for them (U+2581).
        merges: the pairs in order.
        ranks: the rank of each token that a pair may make; low ranks merge first.
        alphabet: whether the symbols of a word are its bytes or its characters.
        byte_tokens: for an alphabet of characters: the ids of 256 tokens, one a byte, that stand
            for a character which is no token; None for a byte that has none.
        unknown_token: the id of the token that stands for a character which is no token and not
            all of whose bytes are.
        fuse_unknown: whether neighbouring unknown characters become one unknown token.
        drops_unknown: whether unknown characters are left out where no token stands for them,
            instead of being an error.
        whole_words: whether a word that is a token becomes it, whatever its merges make of it.
        unused: ids of tokens that are made and taken apart again, into the two that made them;
            those that are single symbols are unknown.
        start_of_word: is part of the string of each token that begins a word.
        end_of_word: is part of the string of each token that ends a word, as in `low</w>`. A word's
            last symbol has it from the start, or, if it is a token by itself, it is a symbol of its
            own behind the last.
        pattern: what cuts a text into words: see `mergewise.count`.
        drops_gaps: whether what lies between the matches of the pattern is left out, instead of
            being a word of its own.
        normalize: how a text is normalised first.
        prefix_space: where a space is put: before each stretch between special tokens ("always"),
            before each that does not begin with one ("unless_space"), or before each stretch
            between special tokens, which may have added ones inside ("once"); an empty stretch
            gets none.
        mark_is_space: whether U+2581 in a text is read as a space.
        normalizer: the steps that change a text before it is cut, as tokenizer.json has them, where
            `normalize`, `prefix_space` and `mark_is_space` cannot say them.
        pre_tokenizer: the same for the steps that cut it, where `pattern` cannot. If one of the two
            is given, all steps are in them, and the fields named here are not set.
        special_tokens: the texts and ids of tokens that are found in a text only where the caller
            allows it.
        added_tokens: the same for tokens that are found in every text, before it is cut.
        searches: how special and added tokens are found that are not found plainly, by text.
        decoder: how ids become a text: steps as the decoders of tokenizer.json have them, by which
            the strings of tokens, as the file writes them, become one text; None: as the bytes of
            tokens, with a space for the end of a word, without one that was put before the text.
        written: what the file writes for ids where it does not follow from the string of a token.
        framing: what is put around the ids of a text.
        roles: the ids of the tokens that begin and end texts, fill batches and stand for unknown
            characters: "bos", "eos", "pad" and "unk", where the file says them.
        extras: what else the file says, for the same format to write back: name of the format to
            its own data.
    """

    tokens: Mapping[bytes, int]
    merges: Sequence[tuple[bytes, bytes]] | None = None
    ranks: Mapping[bytes, int] | None = None
    alphabet: Alphabet = "bytes"
    byte_tokens: tuple[int | None, ...] | None = None
    unknown_token: int | None = None
    fuse_unknown: bool = False
    drops_unknown: bool = False
    whole_words: bool = False
    unused: tuple[int, ...] = ()
    start_of_word: bytes = b""
    end_of_word: bytes = b""
    pattern: str | None = None
    drops_gaps: bool = False
    normalize: Normalize = None
    prefix_space: PrefixSpace = None
    mark_is_space: bool = False
    normalizer: Sequence[Step] | None = None
    pre_tokenizer: Sequence[Step] | None = None
    special_tokens: dict[str, int] = field(default_factory=dict)
    added_tokens: dict[str, int] = field(default_factory=dict)
    searches: Mapping[str, Search] = field(default_factory=dict)
    decoder: Sequence[Step] | None = None
    written: dict[int, str] = field(default_factory=dict)
    framing: Framing = NO_FRAME
    roles: Mapping[str, int] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self.tokens):,} tokens, pattern={brief_pattern(self.pattern)}>"

    @property
    def steps(self) -> str | None:
        """The steps before merging as the core reads them, if they are given step by step."""
        if self.normalizer is None and self.pre_tokenizer is None:
            return None
        steps = {
            "normalizer": list(self.normalizer or ()),
            "pre_tokenizer": list(self.pre_tokenizer or ()),
            "is_spelled": self.alphabet == "bytes",
        }
        return json.dumps(steps, ensure_ascii=False)

    @property
    def decoding(self) -> str | None:
        """The steps of the decoder as the core reads them, if it has any."""
        if self.decoder is None:
            return None
        return json.dumps(list(self.decoder), ensure_ascii=False, sort_keys=True)


def brief(text: str | None, most: int = 48) -> str:
    """A text as a repr shows it: in one line, and cut if it is long.

    >>> brief("a b"), brief(None), brief("a" * 9, 8)
    ("'a b'", 'None', "'aaaaaaa…'")
    """
    return repr(text if text is None or len(text) <= most else f"{text[: most - 1]}…")


def brief_pattern(pattern: str | None) -> str:
    """A pattern as a repr shows it: by the name of the models that have it, if there is one.

    >>> brief_pattern("gpt2"), brief_pattern(dict(_core.other_names_of_patterns())["llama3"])
    ("'gpt2'", "'llama3'")
    """
    known = {name for name, _, _ in _core.named_patterns()}
    others = {means: name for name, means in _core.other_names_of_patterns() if means not in known}
    return brief(pattern if pattern is None else others.get(pattern, pattern))


def vocabulary_of(
    fields: Mapping[str, Any],
    framing: Framing,
    roles: Mapping[str, int],
    extras: Mapping[str, Any],
) -> Vocabulary:
    """The vocabulary of the fields that the core has, and of what it has not."""
    fields = dict(fields)
    steps = fields.pop("steps")
    if steps is not None:
        parsed = json.loads(steps)
        fields["normalizer"] = parsed["normalizer"]
        fields["pre_tokenizer"] = parsed["pre_tokenizer"]
    decoding = fields.pop("decoding")
    fields["decoder"] = None if decoding is None else json.loads(decoding)
    fields["searches"] = {text: Search(*flags) for text, flags in fields["searches"].items()}
    return Vocabulary(**fields, framing=framing, roles=roles, extras=extras)
