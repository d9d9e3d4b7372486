"""TokenTable: the tokens of a tokenizer, their ids, and how they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any

from mergewise import _core
from mergewise.config import NO_CONFIG, ModelConfig
from mergewise.errors import InputError, UnknownTokenError
from mergewise.formats import names_of
from mergewise.trees import Tree, grown
from mergewise.vocabulary import NO_FRAME, Alphabet, Normalize, Vocabulary, vocabulary_of


def told_not_a_vocabulary(given: object) -> str:
    """What to do instead of making a tokenizer from something else, a path most of the time."""
    told = f"expected a Vocabulary, found {type(given).__name__}"
    if isinstance(given, (str, PathLike)):
        told += f"; to read a file: Tokenizer.from_file({str(given)!r})"
    return told


class TokenTable:
    """The tokens of a tokenizer. Immutable."""

    def __init__(self, vocabulary: Vocabulary | _core.Tokenizer) -> None:
        self._extras: Mapping[str, Any] = {}
        self._framing = NO_FRAME
        self._roles: Mapping[str, int] = {}
        if isinstance(vocabulary, Vocabulary):
            self._extras = vocabulary.extras
            self._framing = vocabulary.framing
            self._roles = vocabulary.roles
            try:
                vocabulary = _core.Tokenizer(vocabulary)
            except OverflowError:
                raise ValueError("ids must be from 0 to 2^32 - 1") from None
        elif not isinstance(vocabulary, _core.Tokenizer):
            raise TypeError(told_not_a_vocabulary(vocabulary))
        self.core = vocabulary

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All that decides how a text is encoded; the merges are those that texts can use."""
        return vocabulary_of(self.core.fields(), self._framing, self._roles, self._extras)

    @property
    def is_by_whole_words(self) -> bool:
        """Whether some word becomes a token that its merges would not make."""
        return self.core.is_by_whole_words

    @cached_property
    def plain_vocabulary(self) -> Vocabulary:
        """The vocabulary with the merges that texts can use, in order."""
        return replace(self.vocabulary, merges=self.merges, ranks=None)

    @cached_property
    def _merges(self) -> tuple[tuple[bytes, bytes], ...]:
        return tuple(self.core.merges)

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges in order, each as the two strings that it joins.

        Of an imported vocabulary these are the merges that some text can use.
        """
        return list(self._merges)

    @property
    def vocab_size(self) -> int:
        """One more than the largest id: how many rows an embedding needs."""
        return self.core.vocab_size

    @property
    def pattern(self) -> str | None:
        """What cuts a text into words; None: merges cross everything."""
        return self.core.pattern

    @property
    def normalize(self) -> Normalize:
        """How texts are normalised first: None, "nfc" or "nfkc"."""
        return self.core.normalize

    @property
    def alphabet(self) -> Alphabet:
        """What a word begins as: its "bytes" or its "chars"."""
        return self.core.alphabet

    @cached_property
    def _specials(self) -> tuple[dict[str, int], dict[str, int]]:
        """The special tokens that are found where they are allowed, and those found everywhere."""
        return self.core.specials(always=False), self.core.specials(always=True)

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids."""
        allowed, always = self._specials
        return {**allowed, **always}

    def token_bytes(self, token_id: int) -> bytes:
        """The string of a token."""
        if not isinstance(token_id, int):
            raise TypeError(f"an id must be an int, found {type(token_id).__name__}")
        try:
            return self.core.token_bytes(token_id)
        except OverflowError:
            raise UnknownTokenError(f"no token has the id {token_id}") from None

    def token_id(self, string: bytes) -> int:
        """The id of the token with this string; a special token's text is not found here."""
        if not isinstance(string, bytes):
            raise TypeError(f"a token's string must be bytes, found {type(string).__name__}")
        token_id = self.core.token_id(string)
        if token_id is None:
            raise UnknownTokenError(f"no token is {string!r}")
        return token_id

    @cached_property
    def _names(self) -> dict[str, int]:
        return names_of(self.vocabulary)

    @cached_property
    def _names_by_id(self) -> dict[int, str]:
        return {token_id: name for name, token_id in self._names.items()}

    def get_vocab(self) -> dict[str, int]:
        """All tokens, as tokenizer.json writes them, and their ids; special tokens included.

        >>> from mergewise import count, train
        >>> tok = train(count(["a a"]), num_merges=0)
        >>> tok.get_vocab()["Ġ"], tok.token_to_id("Ġ"), tok.id_to_token(32)
        (32, 32, 'Ġ')
        """
        return dict(self._names)

    def token_to_id(self, token: str) -> int | None:
        """The id of a token, as `get_vocab` names it; None if there is none."""
        return self._names.get(token)

    def id_to_token(self, token_id: int) -> str | None:
        """The token with an id, as `get_vocab` names it; None if there is none."""
        return self._names_by_id.get(token_id)

    def get_vocab_size(self) -> int:
        """How many tokens there are."""
        return len(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def n_vocab(self) -> int:
        """The same as `vocab_size`."""
        return self.vocab_size

    def _special_id(self, text: str) -> int:
        try:
            return self.special_tokens[text]
        except KeyError:
            known = ", ".join(map(repr, self.special_tokens)) or "none"
            message = f"{text!r} is not a special token; there are: {known}"
            raise InputError(message, hint="add_special", token=text) from None

    @property
    def config(self) -> ModelConfig:
        """What the model's files say besides the vocabulary: roles of tokens, chat templates."""
        config: ModelConfig = self._extras.get("config", NO_CONFIG)
        return config

    def _id_of_role(self, role: str) -> int | None:
        """The id of the token with a role, as the files of the model say it."""
        token = self.config.roles.get(f"{role}_token")
        return self._roles.get(role) if token is None else self.token_to_id(token)

    @property
    def bos_token_id(self) -> int | None:
        """The id of the token that begins a text, if the files name one."""
        return self._id_of_role("bos")

    @property
    def eos_token_id(self) -> int | None:
        """The id of the token that ends a text, if the files name one."""
        return self._id_of_role("eos")

    @property
    def pad_token_id(self) -> int | None:
        """The id of the token that fills a batch, if the files name one."""
        padding = self._framing.padding
        named = self._id_of_role("pad")
        return named if named is not None or padding is None else padding.id

    @property
    def unk_token_id(self) -> int | None:
        """The id of the token for what is unknown, if the files name one."""
        named = self._id_of_role("unk")
        return self.vocabulary.unknown_token if named is None else named

    @cached_property
    def _parts(self) -> dict[bytes, tuple[bytes, bytes]]:
        return {left + right: (left, right) for left, right in self._merges}

    def tree(self, token_id: int) -> Tree:
        """How a token is made: a symbol, or the trees of the two that merge.

        >>> from mergewise import count, train
        >>> train(count(["low low"], pattern="whitespace"), num_merges=2).tree(257)
        ((b'l', b'o'), b'w')
        """
        string = self.token_bytes(token_id)
        if self.core.token_id(string) != token_id:
            return string
        # Trees may be deeper than Python's calls: parts are listed before they are joined.
        to_do: list[bytes] = [string]
        listed: list[bytes | None] = []
        while to_do:
            part = to_do.pop()
            parts = self._parts.get(part)
            listed.append(None if parts else part)
            to_do += parts or ()
        return grown(reversed(listed))
