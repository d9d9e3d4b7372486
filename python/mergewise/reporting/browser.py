"""The data with which a page encodes texts in the browser; `encoder.js` reads it.

Numbers are written as varints in base64. A *node* is a symbol or the product of a merge: first the
symbols, then the products, in the order of the merges.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mergewise.formats import merging
from mergewise.formats.protobuf import written_varint
from mergewise.reporting.expressions import Unsupported, browser_expression
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Vocabulary


def browser_tokenizer(tokenizer: Tokenizer, uses: Mapping[int, int]) -> dict[str, Any]:
    """What `encoder.js` needs to encode as the tokenizer does; or, as `unsupported`, why it cannot.

    Args:
        tokenizer: the tokenizer.
        uses: how often each token occurs in a corpus, by id; shown with the token.
    """
    vocabulary = tokenizer.vocabulary
    try:
        words = words_of(vocabulary)
    except Unsupported as error:
        return {"unsupported": str(error)}
    ranks = tokenizer.core.ranks
    merges = [(left, right, ranks[left + right]) for left, right in tokenizer.merges]
    symbols = symbols_of(tokenizer)
    nodes = {string: number for number, string in enumerate(symbols)}
    nodes |= {left + right: len(symbols) + n for n, (left, right, _) in enumerate(merges)}
    ids = [vocabulary.tokens.get(string) for string in nodes]
    return {
        "alphabet": vocabulary.alphabet,
        # Each byte as a character, since not every token is valid UTF-8.
        "symbols": None if vocabulary.alphabet == "bytes" else list(map(as_latin, symbols)),
        "numSymbols": len(symbols),
        "numMerges": len(merges),
        "numbers": packed(numbers_of(nodes, merges, ids, uses)),
        "endOfWord": as_latin(vocabulary.end_of_word),
        "endIsSymbol": vocabulary.end_of_word in vocabulary.tokens,
        "wholeWords": whole_words(tokenizer),
        "byteTokens": vocabulary.byte_tokens,
        "unknown": vocabulary.unknown_token,
        "fuseUnknown": vocabulary.fuse_unknown,
        "normalize": vocabulary.normalize,
        "prefixSpace": vocabulary.prefix_space,
        "markIsSpace": vocabulary.mark_is_space,
        **specials_of(tokenizer),
        **words,
    }


def specials_of(tokenizer: Tokenizer) -> dict[str, list[tuple[str, int]]]:
    """The special tokens; those that may stand behind a space that a text gets once are late."""
    vocabulary = tokenizer.vocabulary
    if vocabulary.prefix_space != "once":
        return {"specials": list(tokenizer.special_tokens.items()), "lateSpecials": []}
    return {
        "specials": list(vocabulary.special_tokens.items()),
        "lateSpecials": list(vocabulary.added_tokens.items()),
    }


def words_of(vocabulary: Vocabulary) -> dict[str, Any]:
    """How texts are cut; raises Unsupported if browsers cannot do it."""
    cut: dict[str, Any] = {"pattern": None, "dropsGaps": vocabulary.drops_gaps, "assigned": None}
    if vocabulary.pattern is not None:
        expression = browser_expression(vocabulary.pattern)
        cut["pattern"] = {"source": expression.source, "classes": expression.classes}
    if vocabulary.normalize is not None:
        # The core has the normal forms of Unicode 9. Those of assigned characters never change, and
        # every browser knows them.
        old = browser_expression(r"\p{age=9.0}")
        cut["assigned"] = old.whole
    return cut


def symbols_of(tokenizer: Tokenizer) -> list[bytes]:
    """The symbols of words: the bytes, or every character that is a token or part of one."""
    vocabulary = tokenizer.vocabulary
    if vocabulary.alphabet == "bytes" and not vocabulary.end_of_word:
        return [bytes([byte]) for byte in range(256)]
    products = {left + right for left, right in tokenizer.merges}
    halves = (half for pair in tokenizer.merges for half in pair if half not in products)
    known = dict.fromkeys(halves)
    if vocabulary.alphabet == "bytes":
        known |= dict.fromkeys(bytes([byte]) for byte in range(256))
    symbols = merging.symbols_of(vocabulary)
    return [*known, *(t for t in vocabulary.tokens if t in symbols and t not in known)]


def whole_words(tokenizer: Tokenizer) -> list[tuple[str, int]] | None:
    """The tokens that whole words are compared with before they are merged; None if they are not.

    A word that some merge makes becomes that token anyway, unless ends of words are marked.
    """
    if not tokenizer.is_by_whole_words:
        return None
    tokens = tokenizer.vocabulary.tokens
    unreachable = set(tokenizer.core.unreachable)
    is_marked = bool(tokenizer.vocabulary.end_of_word)
    return [(as_latin(s), i) for s, i in tokens.items() if is_marked or i in unreachable]


def as_latin(string: bytes) -> str:
    """Bytes as the characters with the same numbers, for JSON."""
    return string.decode("latin-1")


def numbers_of(
    nodes: Mapping[bytes, int],
    merges: Iterable[tuple[bytes, bytes, int]],
    ids: Iterable[int | None],
    uses: Mapping[int, int],
) -> Iterator[int]:
    """The parts of each merge and its rank; then the id and the uses of each node.

    Ranks and ids are written as differences from the previous one. An id is written plus one, and
    as 0 if a symbol is no token.
    """
    before = 0
    for left, right, rank in merges:
        yield from (nodes[left], nodes[right], rank - before)
        before = rank
    before = 0
    for token_id in ids:
        number = 0 if token_id is None else token_id + 1
        yield zigzag(number - before)
        before = number
        yield uses.get(-1 if token_id is None else token_id, 0)


def zigzag(number: int) -> int:
    """A number that may be negative, encoded as one that is not.

    >>> [zigzag(number) for number in (0, -1, 1, -2)]
    [0, 1, 2, 3]
    """
    return 2 * number if number >= 0 else -2 * number - 1


def packed(numbers: Iterable[int]) -> str:
    """Numbers as varints (LEB128), in base64.

    >>> packed([5, 128])
    'BYAB'
    """
    return b64encode(b"".join(map(written_varint, numbers))).decode()
