"""Small models of tokenizers with rare options: the same ids and places, also when saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, models, normalizers, pre_tokenizers, processors

import mergewise as mw
from mergewise.errors import FormatError

WORDS = pre_tokenizers.Whitespace()
ENDS = {"a": 0, "a</w>": 1, "b": 2, "b</w>": 3, "ab</w>": 4}
STARTS = {"a": 0, "##a": 1, "b": 2, "##b": 3, "a##b": 4, "ab": 5}
ROBERTA = processors.RobertaProcessing(("a", 0), ("b", 1))


def check(peer: Any, texts: list[str], folder: Path) -> mw.Tokenizer:
    """Compare a tokenizer with what is read of it, and with what is read of that, saved."""
    peer.save(str(folder / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(folder / "tokenizer.json")
    tok.save(folder / "again.json")
    again = mw.Tokenizer.from_file(folder / "again.json")
    theirs_again = tokenizers.Tokenizer.from_file(str(folder / "again.json"))
    assert tok.get_vocab() == peer.get_vocab() == theirs_again.get_vocab()
    for text in texts:
        expected = peer.encode(text)
        for each in (tok, again):
            ids, offsets = each.encode(text, offsets=True, allowed_special="all")
            assert (ids, offsets) == (expected.ids, expected.offsets), text
        assert theirs_again.encode(text).ids == expected.ids
    return tok


def model(vocab: dict[str, int], *merges: tuple[str, str], **options: Any) -> Any:
    return tokenizers.Tokenizer(models.BPE(vocab, list(merges), **options))


def test_what_is_left_out_keeps_the_ends_of_words_where_they_are(tmp_path: Path) -> None:
    peer = model(ENDS, ("a", "b</w>"), end_of_word_suffix="</w>")
    peer.pre_tokenizer = WORDS
    tok = check(peer, ["ab", "abx", "ax", "axb", "xab", "ax b"], tmp_path)
    assert (tok.encode("ax"), tok.encode("abx")) == ([0], [0, 2])


def test_what_is_left_out_keeps_the_starts_of_words_where_they_are(tmp_path: Path) -> None:
    peer = model(STARTS, ("a", "##b"), continuing_subword_prefix="##")
    peer.pre_tokenizer = WORDS
    tok = check(peer, ["ab", "xab", "xb", "axb", "b xa"], tmp_path)
    assert (tok.encode("xb"), tok.encode("xab")) == ([3], [1, 3])


@pytest.mark.parametrize("prefix", ["##", "@@", "▁▁"])
def test_the_mark_inside_of_words_is_kept(prefix: str, tmp_path: Path) -> None:
    vocab = {"[UNK]": 0, "a": 1, f"{prefix}b": 2, "b": 3, "ab": 4, f"{prefix}a": 5, "##": 6}
    peer = model(vocab, ("a", f"{prefix}b"), continuing_subword_prefix=prefix, unk_token="[UNK]")
    peer.pre_tokenizer = WORDS
    tok = check(peer, ["ab ba abab", "xab"], tmp_path)
    assert tok.id_to_token(2) == f"{prefix}b"


@pytest.mark.parametrize("special", [False, True])
def test_an_added_token_of_one_character(special: bool, tmp_path: Path) -> None:  # noqa: FBT001
    peer = model({"a": 0, "b": 1, "ab": 2}, ("a", "b"))
    peer.add_tokens([AddedToken("é", special=special, normalized=False)])
    check(peer, ["abé", "é ab"], tmp_path)


def test_places_are_trimmed_by_what_tokens_are_called(tmp_path: Path) -> None:
    texts = ["a b", " ", "\n", "a\tb", " a", "a\na "]
    peer = model({"a": 0, "b": 1, "<u>": 2}, unk_token="<u>")
    byte_names = {f"<0x{byte:02X}>": byte + 9 for byte in range(256)}
    marked = model({"▁": 0, "a": 1, "\t": 2, "b": 3, "<u>": 4}, unk_token="<u>")
    marked.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    with_bytes = model({"a": 0, "b": 1, **byte_names}, byte_fallback=True)
    spaced = model({"a": 0, " ": 1, "b": 2, "\n": 3, "<u>": 4}, unk_token="<u>")
    inside = {"a": 0, " ": 1, "@@ ": 2, "@@a": 3, "@@b": 4, "@@\n": 5, "@@\t": 6, "\n": 7}
    started = model(inside, continuing_subword_prefix="@@")
    ended = model({"a": 0, " ": 1, " </w>": 2, "b</w>": 3, "\n</w>": 4}, end_of_word_suffix="</w>")
    for index, each in enumerate((peer, marked, with_bytes, spaced, started, ended)):
        for name, processor in (
            ("bytes", processors.ByteLevel(trim_offsets=True)),
            ("rob", ROBERTA),
        ):
            each.post_processor = processor
            folder = tmp_path / f"{index} {name}"
            folder.mkdir()
            check(each, texts, folder)


def test_places_of_tokens_that_are_found_in_normalised_texts_are_trimmed(tmp_path: Path) -> None:
    peer = model({"a": 0, " ": 1, "b": 2, "th": 3})
    peer.normalizer = normalizers.Prepend(" ")
    peer.add_tokens([AddedToken("th", lstrip=True, rstrip=True, normalized=True)])
    peer.post_processor = processors.ByteLevel(trim_offsets=True)
    check(peer, [" th a", "th", "a  th  b"], tmp_path)


def test_an_added_token_that_is_normalised_to_nothing(tmp_path: Path) -> None:
    peer = model({"a": 0, "b": 1, " ": 2})
    peer.normalizer = normalizers.Strip()
    peer.add_tokens([AddedToken("\n", normalized=True)])
    peer.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(FormatError, match=r"found '\\n', of which the normalizer leaves nothing"):
        mw.Tokenizer.from_file(tmp_path / "tokenizer.json")


def test_a_special_token_that_a_step_makes_is_a_text(tmp_path: Path) -> None:
    """Tokenizers looks the word up: here only what is allowed becomes a special token."""
    peer = model({"<": 0, "s": 1, ">": 2, "<s>": 3, "S": 4}, ignore_merges=True)
    peer.normalizer = normalizers.Lowercase()
    peer.add_special_tokens(["<s>"])
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert peer.encode("<S>").ids == [3]
    assert tok.encode("<S>") == [0, 1, 2]
    assert tok.encode("<s>", allowed_special="all") == [3]


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        ({"end_of_word_suffix": "</w>"}, WORDS),
        ({"continuing_subword_prefix": "##"}, WORDS),
        ({}, pre_tokenizers.ByteLevel(add_prefix_space=False)),
    ],
)
def test_bytes_of_marks_and_of_letters_are_refused(
    options: dict[str, str], cut: Any, tmp_path: Path
) -> None:
    names = {f"<0x{byte:02X}>": byte for byte in range(256)}
    peer = model({**names, "a": 256}, byte_fallback=True, **options)
    peer.pre_tokenizer = cut
    peer.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(FormatError, match=r"model.byte_fallback: found True, expected false"):
        mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
