"""tiktoken's interface: `Encoding` has the methods of `tiktoken.Encoding`, with the same results.

A program that uses tiktoken changes one import: `from mergewise.integrations import tiktoken`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from mergewise import _core
from mergewise.arguments import check_num_threads
from mergewise.errors import InputError, UnknownTokenError
from mergewise.integrations.text_ends import TextEnds
from mergewise.live import tiktoken_settings
from mergewise.optional import import_optional
from mergewise.specials import Specials, choice_of
from mergewise.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

Text = TypeVar("Text", str, Sequence[str])
Result = TypeVar("Result")


class Encoding:
    r"""An encoding of tiktoken, at work in mergewise. Immutable.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 257}
    >>> enc = Encoding("x", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<s>": 258})
    >>> enc.encode("low <s>", allowed_special="all")
    [257, 32, 258]

    Args:
        name: what `name` says.
        pat_str: the regular expression that cuts texts into words.
        mergeable_ranks: the tokens, and their ranks, which are their ids.
        special_tokens: the texts and ids of special tokens.
        explicit_n_vocab: how many tokens there are, to be checked.

    Attributes:
        name: the name of the encoding.
        max_token_value: the largest id.
        tokenizer: the tokenizer that does the work.
        core: its core.
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        self.name = name
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        self.tokenizer = Tokenizer.from_tiktoken(self)
        self.core = self.tokenizer.core
        self.max_token_value = max(*mergeable_ranks.values(), *special_tokens.values())
        num_tokens = len(mergeable_ranks) + len(special_tokens)
        if explicit_n_vocab and not num_tokens == self.n_vocab == explicit_n_vocab:
            found = f"{num_tokens} tokens, the last of which has the id {self.max_token_value}"
            raise ValueError(f"explicit_n_vocab is {explicit_n_vocab}, found {found}")

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, name: str = "mergewise") -> Encoding:
        """The encoding that a tokenizer is; see `Tokenizer.to_tiktoken`."""
        return cls(name, **tiktoken_settings(tokenizer.core, tokenizer.plain_vocabulary))

    @classmethod
    def from_tiktoken(cls, encoding: Any) -> Encoding:  # noqa: ANN401 - of an optional package
        """The same as a `tiktoken.Encoding`."""
        return cls(
            encoding.name,
            pat_str=encoding._pat_str,  # noqa: SLF001
            mergeable_ranks=encoding._mergeable_ranks,  # noqa: SLF001
            special_tokens=encoding._special_tokens,  # noqa: SLF001
        )

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Callable[[], Encoding], tuple[()]]:
        make = partial(
            Encoding,
            self.name,
            pat_str=self._pat_str,
            mergeable_ranks=self._mergeable_ranks,
            special_tokens=self._special_tokens,
        )
        return make, ()

    # Texts to ids.

    def encode(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> list[int]:
        """The ids of a text; see `Tokenizer.encode`.

        Halves of surrogate pairs are joined, and replaced where the other is missing.
        """
        choice = self._choice(allowed_special, disallowed_special, [text])
        return with_valid_text(lambda text: self.core.encode(text, choice), text)

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text in which special tokens are not found."""
        return with_valid_text(lambda text: self.core.encode(text, self._ordinary), text)

    def encode_batch(
        self,
        text: Sequence[str],
        *,
        num_threads: int = 8,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> list[list[int]]:
        """The ids of each text; see `encode`."""
        choice = self._choice(allowed_special, disallowed_special, text)
        num_threads = check_num_threads(num_threads)
        encode = partial(self.core.encode_batch_lists, num_threads=num_threads)
        return with_valid_text(lambda texts: encode(texts, choice), list(text))

    def encode_ordinary_batch(
        self, text: Sequence[str], *, num_threads: int = 8
    ) -> list[list[int]]:
        """The ids of each text; see `encode_ordinary`."""
        return self.encode_batch(text, num_threads=num_threads, disallowed_special=())

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> NDArray[np.uint32]:
        """The ids of a text as an array; see `encode`."""
        numpy = import_optional("numpy", extra="numpy", package="numpy")
        choice = self._choice(allowed_special, disallowed_special, [text])
        encode = partial(self.core.encode_batch, num_threads=1)
        ids, _ = with_valid_text(lambda texts: encode(texts, choice), [text])
        array: NDArray[np.uint32] = numpy.asarray(ids)
        return array

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that stay whatever follows the text, and all that the rest may begin with.

        See `encode`. The completions are in order.
        """
        choice = self._choice(allowed_special, disallowed_special, [text])
        ids = with_valid_text(lambda text: self.core.encode(text, choice), text)
        num_stable = with_valid_text(lambda text: self._ends.num_stable(text, ids, choice), text)
        rest = self.core.decode(ids[num_stable:])
        return ids[:num_stable], self._ends.completions(rest)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of a token or a special token; a KeyError if there is none."""
        string = bytes_of(text_or_bytes)
        if string in self._mergeable_ranks:
            return self._mergeable_ranks[string]
        return self._special_strings[string]

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """The ids of one word."""
        string = bytes_of(text_or_bytes)
        if string in self._mergeable_ranks:
            return [self._mergeable_ranks[string]]
        return self._ends.merged(string)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The ids of bytes; from the first that is not UTF-8 on they go on with the last word."""
        try:
            return self.encode_ordinary(text.decode())
        except UnicodeDecodeError as error:
            num_valid = error.start
        valid = text[:num_valid].decode()
        ids = self.encode_ordinary(valid)
        num_stable = self._ends.num_stable(valid, ids, self._ordinary)
        rest = self.core.decode(ids[num_stable:]) + text[num_valid:]
        return ids[:num_stable] + self._encode_single_piece(rest)

    # Ids to texts.

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        """The bytes that ids stand for; a KeyError if an id is unknown."""
        try:
            return self.core.decode(tokens)
        except UnknownTokenError as error:
            # What cannot be an id is an OverflowError.
            raise error.__cause__ or KeyError(str(error)) from None

    def decode(self, tokens: Iterable[int], errors: str = "replace") -> str:
        """The text that ids stand for."""
        return self.decode_bytes(tokens).decode(errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The string of a token; a KeyError if the id is unknown."""
        try:
            return self.core.token_bytes(token)
        except UnknownTokenError:
            raise KeyError(token) from None

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """The string of each token."""
        tokens = tokens.tolist() if hasattr(tokens, "tolist") else tokens
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """The text of ids, and at which of its characters each token begins.

        A token that begins within a character begins at that one.
        """
        strings = self.decode_tokens_bytes(tokens)
        offsets = []
        num_begun = 0
        for string in strings:
            begins_within = string[:1] != b"" and is_continuation(string[0])
            offsets.append(max(num_begun - begins_within, 0))
            num_begun += sum(not is_continuation(byte) for byte in string)
        return b"".join(strings).decode(), offsets

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        errors: str = "replace",
        num_threads: int = 8,  # noqa: ARG002 - tiktoken's
    ) -> list[str]:
        """The text of each sequence of ids, by one thread."""
        return [string.decode(errors=errors) for string in self.decode_bytes_batch(batch)]

    def decode_bytes_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        num_threads: int = 8,  # noqa: ARG002 - tiktoken's
    ) -> list[bytes]:
        """The bytes of each sequence of ids, by one thread."""
        return [self.decode_bytes(tokens) for tokens in batch]

    # Tokens.

    def token_byte_values(self) -> list[bytes]:
        """The strings of all tokens that are not special, in order."""
        return sorted(self._mergeable_ranks)

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`."""
        return self._special_tokens["<|endoftext|>"]

    @property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id is that of a special token."""
        return token in self._special_strings.values()

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return self.max_token_value + 1

    # Parts.

    @cached_property
    def _special_strings(self) -> Mapping[bytes, int]:
        return {text.encode(): token_id for text, token_id in self._special_tokens.items()}

    @cached_property
    def _ends(self) -> TextEnds:
        return TextEnds(self.core, self.tokenizer.vocabulary)

    @cached_property
    def _ordinary(self) -> _core.Choice:
        return choice_of(self.core, (), ())

    @cached_property
    def _usual(self) -> _core.Choice:
        return choice_of(self.core, (), "all")

    def _choice(
        self, allowed: Specials, disallowed: Specials, texts: Iterable[str]
    ) -> _core.Choice:
        """What a call asks of the core; names that are no special tokens may be refused, too."""
        if not allowed and disallowed == "all":
            return self._usual
        if not allowed and not disallowed:
            return self._ordinary
        special = self.core.specials(always=False)
        if allowed != "all":
            allowed = [name for name in allowed if name in special]
        if disallowed != "all":
            others = [name for name in disallowed if name not in special]
            for text in texts if others else ():
                if found := next((name for name in others if name in text), None):
                    raise InputError(f"the text holds {found!r}, which disallowed_special refuses")
            disallowed = [name for name in disallowed if name in special]
        return choice_of(self.core, allowed, disallowed)


def with_valid_text(call: Callable[[Text], Result], text: Text) -> Result:
    """The result for a text or texts, with surrogates joined or replaced where there are any."""
    try:
        return call(text)
    except UnicodeEncodeError:
        return call(valid(text) if isinstance(text, str) else [*map(valid, text)])


def valid(text: str) -> str:
    r"""A text with surrogates joined where they are pairs, and replaced where they are not.

    >>> valid("\ud83d\udc4d \ud83d") == "👍 \ufffd"
    True
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def bytes_of(text: str | bytes) -> bytes:
    """The bytes of a text."""
    return text.encode() if isinstance(text, str) else text


def is_continuation(byte: int) -> bool:
    """Whether a byte of UTF-8 goes on with a character."""
    return 0x80 <= byte < 0xC0


def package() -> Any:  # noqa: ANN401 - a module
    """The real tiktoken, which knows and fetches the public encodings."""
    return import_optional("tiktoken", extra="tiktoken", package="tiktoken")


@cache
def get_encoding(encoding_name: str) -> Encoding:
    """The encoding that tiktoken has under a name."""
    return Encoding.from_tiktoken(package().get_encoding(encoding_name))


def list_encoding_names() -> list[str]:
    """The names that tiktoken knows."""
    names: list[str] = package().list_encoding_names()
    return names


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding of one of OpenAI's models; a KeyError if tiktoken knows none."""
    name: str = package().encoding_name_for_model(model_name)
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding of one of OpenAI's models; a KeyError if tiktoken knows none."""
    return get_encoding(encoding_name_for_model(model_name))
