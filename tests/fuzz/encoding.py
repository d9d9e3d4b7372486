"""Encoding and counting: equal to slow references that are written here."""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import regex
from normal_forms import normalized

import mergewise as mw
from mergewise import sources
from mergewise.errors import InvalidMergesError, UnknownTokenError
from mergewise.formats.regexes import PATTERNS
from mergewise.sources import Source, classify, documents_of
from mergewise.vocabulary import Vocabulary

T = TypeVar("T")
Piece = tuple[int, int, int]  # an id, and where it begins and ends in the text

BYTES = {bytes([byte]): byte for byte in range(256)}
LETTERS = ["a", "b", "c", " ", "é", "▁", "'s", "1", "\n", "B", "e\u0301", "ﬁ", "\u3000", "<s>"]
CUTS: list[dict[str, Any]] = [
    *({"pattern": name} for name in (None, None, *PATTERNS, "a+|[^a]+", r"\S|\s+")),
    {"pattern": "[^ ]+", "drops_gaps": True},
]
UNKNOWN: list[dict[str, Any]] = [
    {},
    {"unknown_token": 2},
    {"unknown_token": 2, "fuse_unknown": True},
    {"byte_tokens": tuple(range(1000, 1256))},
]


class Draws:
    """Choices that bytes make; when they are used up, each is the first one."""

    def __init__(self, data: bytes) -> None:
        self.data = iter(data)

    def below(self, end: int) -> int:
        """A number from 0 on."""
        return next(self.data, 0) % end

    def one_of(self, options: Sequence[T]) -> T:
        """One of these."""
        return options[self.below(len(options))]

    def text(self) -> bytes:
        """A text of the letters, repeated now and then, and of any bytes."""
        parts = [self.letter() for _ in range(self.below(24))]
        return b"".join(parts) * self.one_of([1, 1, 1, 2, 12])

    def letter(self) -> bytes:
        """Mostly one of the letters."""
        kind = self.below(len(LETTERS) + 2)
        return LETTERS[kind].encode() if kind < len(LETTERS) else bytes([self.below(256)])

    def vocabulary(self) -> Vocabulary:
        """A vocabulary of a few merges or ranks, and any of the options."""
        in_bytes = self.below(2) == 0
        ending = self.one_of([b"", b"", b"</w>"])
        parts = [b"a", b"b", b"ab", b" "]
        parts += [b"\xc3", b"\xa9"] if in_bytes else ["é".encode(), "▁".encode()]
        ends = [part + ending for part in parts] if ending else []
        if ending and self.below(4) == 0:
            ends = [ending]
        symbols = [*(part for part in parts + ends if part != b"ab")]
        pairs = []
        for _ in range(self.below(14)):
            pair = (self.one_of(parts), self.one_of(parts + ends))
            pairs.append(pair)
            (ends if ending and pair[1].endswith(ending) else parts).append(pair[0] + pair[1])
        missing = {self.one_of(symbols) for _ in range(self.below(3))}
        strings = [*(s for s in symbols if s not in missing), *(a + b for a, b in pairs)]
        tokens = dict(BYTES) if in_bytes else {}
        for string in strings:
            tokens.setdefault(string, 3 * len(tokens) + 5)
        how: dict[str, Any] = {"merges": pairs}
        if self.below(2):
            how = {"ranks": {a + b: self.below(256) // 4 for a, b in pairs}}
        elif self.below(3) == 0:
            how = {"merges": sorted(pairs)}
        return Vocabulary(
            tokens=tokens,
            **how,
            alphabet="bytes" if in_bytes else "chars",
            end_of_word=ending,
            whole_words=self.below(3) == 1,
            normalize=self.one_of([None, None, None, "nfc", "nfkc"]),
            prefix_space=self.one_of([None, None, "always", "unless_space", "once"]),
            mark_is_space=self.below(4) == 1,
            special_tokens=self.one_of([{}, {"<s>": 5000, "<s>a": 5001}]),
            added_tokens=self.one_of([{}, {}, {"ab": 6000}]),
            **self.one_of(CUTS),
            **({} if in_bytes else self.one_of(UNKNOWN)),
        )


def words_of(text: bytes, pattern: str | None, *, drops_gaps: bool) -> Iterator[tuple[int, bytes]]:
    """The words of a text and where they begin; bytes that are not UTF-8 are symbols."""
    escaped = text.decode("utf-8", "surrogateescape")
    shown = re.sub("[\ud800-\udfff]", "\ufffd", escaped)
    expression = PATTERNS.get(pattern or "", pattern or "(?s:.+)").replace("$", r"\Z")
    end = 0
    for found in regex.finditer(expression, shown):
        for start, stop in ((end, found.start()), found.span()):
            if start < stop and not (drops_gaps and start == end != found.start()):
                before = escaped[:start].encode("utf-8", "surrogateescape")
                yield len(before), escaped[start:stop].encode("utf-8", "surrogateescape")
        end = found.end()
    if end < len(shown) and not drops_gaps:
        before = escaped[:end].encode("utf-8", "surrogateescape")
        yield len(before), escaped[end:].encode("utf-8", "surrogateescape")


def merged(vocabulary: Vocabulary, tokens: list[bytes]) -> list[bytes]:
    """The pair of the lowest rank becomes one, the leftmost first, until none has a rank."""
    places: dict[tuple[bytes, bytes], int] = {}
    for place, pair in enumerate(vocabulary.merges or ()):
        places.setdefault(pair, place)
    ranks = vocabulary.ranks
    while True:
        known = []
        for place, (left, right) in enumerate(pairwise(tokens)):
            rank = places.get((left, right)) if ranks is None else ranks.get(left + right)
            if rank is not None:
                known.append((rank, place))
        if not known:
            return tokens
        place = min(known)[1]
        tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]


def slow_word(vocabulary: Vocabulary, word: bytes, start: int) -> Iterator[Piece]:
    """The tokens of a word."""
    tokens, ending = vocabulary.tokens, vocabulary.end_of_word
    if vocabulary.whole_words and word in tokens:
        yield tokens[word], start, start + len(word)
        return
    symbols = [bytes([byte]) for byte in word]
    if vocabulary.alphabet == "chars":
        escaped = word.decode("utf-8", "surrogateescape")
        symbols = [character.encode("utf-8", "surrogateescape") for character in escaped]
    if ending in tokens:
        symbols.append(ending)
    else:
        symbols[-1] += ending
    for token in merged(vocabulary, symbols):
        body = token.removesuffix(ending)
        if token in tokens:
            yield tokens[token], start, start + len(body)
        elif vocabulary.byte_tokens:
            for place, byte in enumerate(body, start):
                yield vocabulary.byte_tokens[byte] or 0, place, place + 1
        elif vocabulary.unknown_token is None:
            raise UnknownTokenError(repr(token))
        else:
            yield vocabulary.unknown_token, start, start + len(body)
        start += len(body)


def fused(vocabulary: Vocabulary, pieces: list[Piece]) -> list[Piece]:
    """Neighbouring unknown tokens as one, where that is so."""
    made: list[Piece] = []
    for token, start, end in pieces:
        if made and vocabulary.fuse_unknown and made[-1][0] == token == vocabulary.unknown_token:
            made[-1] = (token, made[-1][1], end)
        else:
            made.append((token, start, end))
    return made


def prepared(vocabulary: Vocabulary, text: bytes) -> bytes:
    """A text as it is before it is cut into words."""
    if vocabulary.normalize:
        # Bytes that are not UTF-8 are no characters, and nothing combines across them.
        characters = text.decode("utf-8", "surrogateescape")
        text = normalized(vocabulary.normalize, characters).encode("utf-8", "surrogateescape")
    if vocabulary.mark_is_space:
        text = text.replace("▁".encode(), b" ")
    prefix = vocabulary.prefix_space
    has_prefix = prefix == "always" or (prefix == "unless_space" and not text.startswith(b" "))
    return b" " + text if text and has_prefix else text


def slow_encode(vocabulary: Vocabulary, text: bytes) -> list[Piece]:
    """The tokens of a text, special ones included, with places in the prepared parts."""
    special, added = vocabulary.special_tokens, vocabulary.added_tokens
    if vocabulary.prefix_space != "once":
        return slow_encode_part(vocabulary, text, {**special, **added}, 0)
    pieces: list[Piece] = []
    for start, part in parts_of(text, special):
        if part.decode("utf-8", "replace") in special:
            pieces.append((special[part.decode()], start, start + len(part)))
        elif part:
            in_part = slow_encode_part(vocabulary, b" " + part, added, start - 1)
            pieces += [
                (token, max(first, start), max(last, start)) for token, first, last in in_part
            ]
    return pieces


def parts_of(text: bytes, specials: Collection[str]) -> Iterator[tuple[int, bytes]]:
    """Special tokens and what is between them, with where each begins."""
    longest_first = sorted(specials, key=len, reverse=True)
    pattern = b"|".join(re.escape(s.encode()) for s in longest_first) or b"(?!)"
    place = 0
    for part in re.split(b"(" + pattern + b")", text):
        yield place, part
        place += len(part)


def slow_encode_part(
    vocabulary: Vocabulary, text: bytes, specials: Mapping[str, int], place: int
) -> list[Piece]:
    """The tokens of a text that begins at `place`."""
    pieces: list[Piece] = []
    for at, part in parts_of(text, specials):
        start_of_part = place + at
        if part.decode("utf-8", "replace") in specials:
            pieces.append((specials[part.decode()], start_of_part, start_of_part + len(part)))
            continue
        in_part: list[Piece] = []
        ready = prepared(vocabulary, part)
        added = len(ready) - len(part)
        cut = words_of(ready, vocabulary.pattern, drops_gaps=vocabulary.drops_gaps)
        for start, word in cut:
            in_part += fused(vocabulary, list(slow_word(vocabulary, word, start)))
        if vocabulary.pattern is None:
            in_part = fused(vocabulary, in_part)
        # A space that was put before the text has the place of the text's first character.
        first = len(part.decode("utf-8", "surrogateescape")[:1].encode("utf-8", "surrogateescape"))
        pieces += [
            (
                token,
                # What has no bytes, such as the end of a word, stands behind what is before it.
                start_of_part + (max(start - added, 0) if start < end or start > added else first),
                start_of_part + (end - added if end > added else first),
            )
            for token, start, end in in_part
        ]
    return pieces


def check_encode(data: bytes) -> None:
    """Encode a text in every way; all say what the reference says."""
    draws = Draws(data)
    vocabulary = draws.vocabulary()
    text, other = draws.text(), draws.text()
    try:
        tok = mw.Tokenizer(vocabulary)
    except InvalidMergesError:
        return
    try:
        pieces = slow_encode(vocabulary, text)
    except UnknownTokenError:
        try:
            tok.encode(text, allowed_special="all")
        except (UnknownTokenError, ValueError):
            return
        raise AssertionError("an unknown character was encoded") from None
    ids = [token for token, _, _ in pieces]
    for _ in range(2):  # the second time out of the cache
        found = tok.encode(text, allowed_special="all")
        assert found == ids, f"{text!r}: {found}, expected {ids}"
    batch = [text, other, text] if not has_unknown(vocabulary, other) else [text, text]
    alone = [tok.encode(document, allowed_special="all") for document in batch]
    for num_threads in (1, 2):
        found_batch = tok.encode_batch(batch, allowed_special="all", num_threads=num_threads)
        assert found_batch == alone
    assert tok.count_tokens(text, allowed_special="all") == len(ids)
    check_offsets(tok, text, pieces)
    check_decode(tok, text, ids)
    if not has_unknown(vocabulary, text + other):
        parts = read_in_parts(text + other, tok, max(len(text), 1))
        assert b"".join(parts) == text + other
        in_parts = [token for part in parts for token in tok.encode(part, allowed_special="all")]
        assert in_parts == tok.encode(text + other, allowed_special="all"), f"in parts {parts}"
        for length in (1, 1 + len(text) // 2):
            check_stream(tok, text + other, length)


def check_stream(tok: mw.Tokenizer, text: bytes, length: int) -> None:
    """A text in parts has the ids of the whole, unless a beginning has an unknown character."""
    try:
        written = text.decode()
    except UnicodeDecodeError:
        return
    encoder = tok.stream_encoder(allowed_special="all")
    starts = range(0, len(written), length)
    parts = [written[start : start + length] for start in starts]
    try:
        streamed = [token for part in parts for token in encoder.add(part)] + encoder.finish()
    except (UnknownTokenError, ValueError):
        # The last character of a beginning may be unknown with the mark of a word's end.
        beginnings = [written[: start + length].encode() for start in starts]
        assert any(has_unknown(tok.vocabulary, beginning) for beginning in beginnings)
        return
    expected = tok.encode(text, allowed_special="all")
    assert streamed == expected, f"{parts!r}: {streamed}, expected {expected}"


def read_in_parts(text: bytes, tok: mw.Tokenizer, block_bytes: int) -> list[bytes]:
    """The parts in which a file of this text is read."""
    stdin = classify(Path("-"))
    with (
        mock.patch.object(sources, "BLOCK_BYTES", block_bytes),
        mock.patch.object(Source, "reader", io.BytesIO(text)),
    ):
        documents = documents_of(stdin, tokenizer=tok.core)
    return [part for parts, _ in documents for part in parts]


def has_unknown(vocabulary: Vocabulary, text: bytes) -> bool:
    """Whether a text has a character that cannot be encoded."""
    try:
        slow_encode(vocabulary, text)
    except UnknownTokenError:
        return True
    return False


def check_offsets(tok: mw.Tokenizer, text: bytes, pieces: list[Piece]) -> None:
    """Offsets are those of the reference, in bytes and in characters."""
    changes = replace(tok.vocabulary, prefix_space=None)
    is_changed = prepared(changes, text) != text or changes.normalize is not None
    try:
        found, places = tok.encode(text, allowed_special="all", offsets=True)
    except ValueError as error:
        assert "have no offsets" in str(error)  # noqa: PT017
        assert is_changed
        return
    if is_changed:
        # Those of tokenizers, with which they are compared elsewhere.
        assert found == [token for token, _, _ in pieces]
        assert all(0 <= start <= end <= len(text) for start, end in places)
        return
    assert list(zip(found, *zip(*places, strict=True), strict=True) if found else []) == pieces
    try:
        written = text.decode()
    except UnicodeDecodeError:
        return
    _, in_characters = tok.encode(written, allowed_special="all", offsets=True)
    for (start, end), (first, last) in zip(places, in_characters, strict=True):
        assert first <= last
        inside = written[first:last].encode()
        assert text[start:end] in inside, f"{start}:{end} in bytes, {first}:{last} in characters"


def check_decode(tok: mw.Tokenizer, text: bytes, ids: list[int]) -> None:
    """Ids of bytes stand for the text; a stream decodes as all at once."""
    decoder = tok.stream_decoder()
    streamed = "".join(map(decoder.add, ids)) + decoder.finish()
    assert streamed == tok.decode(ids), f"{streamed!r} in a stream, {tok.decode(ids)!r} at once"
    vocabulary = tok.vocabulary
    changes = (
        *(vocabulary.prefix_space, vocabulary.end_of_word, vocabulary.drops_gaps),
        *(vocabulary.normalize, vocabulary.mark_is_space),
    )
    if vocabulary.alphabet == "bytes" and not any(changes):
        assert tok.decode_bytes(ids) == text


def check_count(data: bytes) -> None:
    """Count texts by a pattern, with threads, in parts, and train on the counts."""
    draws = Draws(data[:8])
    pattern = draws.one_of([None, *PATTERNS, "a+|[^a]+", r"\S|\s+"])
    normalize = draws.one_of([None, None, "nfc", "nfkc"])
    special_tokens: list[str] = draws.one_of([[], ["ab", "<s>"]])
    rest = data[8:]
    texts = [rest] if draws.below(2) else [draws.text() for _ in range(3)]
    if draws.below(2):
        texts = [bytes(Draws(rest).text()), *rest.split(b"\n")]
    options: dict[str, Any] = {
        "pattern": pattern,
        "normalize": normalize,
        "special_tokens": special_tokens,
    }
    counts = mw.count(texts, num_threads=1, **options)
    assert counts == mw.count(texts, num_threads=2, **options)
    parts = [mw.count([text], **options) for text in texts]
    assert sum(part.num_words for part in parts) == counts.num_words
    known = "".join(text.decode("utf-8", "ignore") for text in texts)
    if not normalize and all(unicodedata.category(c) != "Cn" for c in known):
        expected: Counter[bytes] = Counter()
        for text in texts:
            for part in re.split(b"<s>|ab", text) if special_tokens else [text]:
                expected.update(word for _, word in words_of(part, pattern, drops_gaps=False))
        assert dict(counts.top(len(expected) + 1)) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there are fewer merges
        tok = mw.train(counts, num_merges=8, special_tokens=special_tokens)
    for text in texts:
        ids = tok.encode(text, disallowed_special=())
        assert normalize or tok.decode_bytes(ids) == text
