"""Readers: a file loads and can be used, or is refused with FormatError or InvalidMergesError."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from pathlib import Path

import mergewise as mw
from fuzz.mutations import SEPARATOR
from mergewise import formats
from mergewise.errors import ConversionError, FormatError, InvalidMergesError, UnknownTokenError

# The files of each format; the first is the one that is loaded.
FILES = {
    "gpt2": ("vocab.json", "merges.txt"),
    "tekken": ("tekken.json",),
    "tokenizer_json": ("tokenizer.json",),
    "sentencepiece": ("x.model",),
    "tiktoken": ("x.tiktoken", "x.tiktoken.json"),
    "subword_nmt": ("x.codes",),
    "gguf": ("x.gguf",),
    "tiktoken_json": ("ranks.json",),
}
WRITTEN = [name for name in FILES if name not in {"tekken", "tiktoken_json"}]
TEXTS: list[str | bytes] = [
    "",
    "a",
    "abab  ab\n",
    "low lower é e\u0301 ▁a <s></w> 12",
    b"\xff\xc3(ab\xe2\x96",
    "ab" * 200,
]


def check_reader(name: str, data: bytes) -> None:
    """Load a file of a format, use what was loaded, write it and load it again."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file, part in zip(FILES[name], data.split(SEPARATOR, 1), strict=False):
            (Path(folder) / file).write_bytes(part)
        path = Path(folder) / FILES[name][0]
        with contextlib.suppress(FormatError):
            assert formats.detect(path) in formats.FORMATS
        for lossy in (False, True):
            try:
                vocabulary = formats.load(path, format=name, lossy=lossy)
            except (FormatError, InvalidMergesError) as error:
                assert folder in str(error), "the message does not name the file"  # noqa: PT017
                continue
            tok = mw.Tokenizer(vocabulary)
            check_use(tok)
            others = [other for other in WRITTEN if other != name]
            for other in {name, others[len(data) % len(others)]}:
                check_round_trip(tok, Path(folder) / "again" / FILES[other][0], other)
            return


def encoded(tok: mw.Tokenizer, text: str | bytes, *, finds_special: bool) -> list[int] | None:
    """The ids of a text; None where there can be none."""
    allowed = "all" if finds_special else ()
    try:
        return tok.encode(text, allowed_special=allowed, disallowed_special=())
    except UnknownTokenError:
        return None
    except ValueError as error:
        reasons = ("invalid UTF-8", "takes too long on a text")
        if not str(error).startswith(reasons):
            raise
        return None


def check_use(tok: mw.Tokenizer) -> None:
    """Encode and decode a few texts in every way."""
    assert hash(tok) == hash(tok)
    assert tok.vocab_size >= len(tok.vocabulary.tokens)
    for text in TEXTS:
        ids = encoded(tok, text, finds_special=True)
        encoded(tok, text, finds_special=False)
        if ids is None:
            continue
        assert tok.encode_batch([text], allowed_special="all") == [ids]
        assert tok.count_tokens(text, allowed_special="all") == len(ids)
        assert all(token_id < tok.vocab_size for token_id in ids)
        decoder = tok.stream_decoder()
        streamed = "".join(map(decoder.add, ids)) + decoder.finish()
        assert streamed == tok.decode(ids)
        for token_id in set(ids):
            tok.tree(token_id)


def check_round_trip(tok: mw.Tokenizer, path: Path, name: str) -> None:
    """What can be saved loads again and encodes alike."""
    path.parent.mkdir(exist_ok=True)
    try:
        tok.save(path, format=name)
    except ConversionError:
        return
    again = mw.Tokenizer.from_file(path, format=name)
    # tokenizer.json puts a space behind special tokens too, SentencePiece does not.
    is_alike = tok.vocabulary.prefix_space == again.vocabulary.prefix_space
    for text in TEXTS:
        for finds_special in (False, True) if is_alike else (False,):
            before = encoded(tok, text, finds_special=finds_special)
            if before is None:  # SentencePiece always has an unknown token
                continue
            after = encoded(again, text, finds_special=finds_special)
            is_same = before == after
            if name == "subword_nmt":  # it has no ids, nor characters that no merge uses
                is_same = after is None or strings(tok, before) == strings(again, after)
            assert is_same, f"{text!r} by {name}: {before} before, {after} after"


def strings(tok: mw.Tokenizer, ids: list[int]) -> list[bytes]:
    """The tokens that ids stand for."""
    return [tok.token_bytes(token_id) for token_id in ids]


def check_counts(data: bytes) -> None:
    """Load word counts, use them, write them and load them again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.counts"
        path.write_bytes(data)
        try:
            counts = mw.WordCounts.from_file(path)
        except FormatError as error:
            assert folder in str(error), "the message does not name the file"  # noqa: PT017
            return
        assert counts.num_unique == len(counts.top(2**20))
        assert counts.num_words == sum(number for _, number in counts.top(2**20))
        counts.save(path)
        assert mw.WordCounts.from_file(path) == counts
        with contextlib.suppress(ValueError):  # more than 64 bits can count
            assert counts.prune(2).num_unique <= len(counts)
            assert (counts + counts).num_words == 2 * counts.num_words
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # there are fewer merges
            tok = mw.train(counts, num_merges=5)
        for word, _ in counts.top(10):
            assert tok.decode_bytes(tok.encode(word)) == word or counts.normalize
