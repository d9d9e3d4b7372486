"""The drop-ins, beside the libraries whose interfaces they have."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from peer_suites import fill_cache
from test_patterns import GPT2, tiktoken_pattern

import mergewise as mw
from mergewise.errors import ConversionError
from mergewise.integrations import tiktoken as ours

OPTICKS = Path(mw.__file__).parent / "data" / "opticks.txt"
BYTES = {bytes([byte]): byte for byte in range(256)}
SPECIALS = {"<s>": 2000, "<|endoftext|>": 2002}
# The last drops white space and what is neither a word nor white space.
PATTERNS = {
    "gpt2": GPT2,
    "cl100k": tiktoken_pattern("cl100k"),
    "o200k": tiktoken_pattern("o200k"),
    "none": "(?s:.+)",
    "gaps": r"\w+|\n",
}
# With pairs of surrogates and halves of them, and with what Python alone takes for white space.
PARTS = [
    "a",
    "b",
    " ",
    "  ",
    "\n",
    "\t",
    "'s",
    "é",
    "日",
    "🙂",
    "\u3000",
    "\x1c",
    "the light",
    " of",
]
ODD_PARTS = [*SPECIALS, "<", "1", "\ud83d", "\udc4d", "?"]


def texts(*parts: str, max_size: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=max_size).map("".join)


def both_of(**settings: Any) -> tuple[tiktoken.Encoding, ours.Encoding]:
    return tiktoken.Encoding("x", **settings), ours.Encoding("x", **settings)


@cache
def both(name: str) -> tuple[tiktoken.Encoding, ours.Encoding]:
    """The encoding of trained ranks in both libraries."""
    counts = mw.count([OPTICKS.read_text("utf-8")], pattern="cl100k")
    tok = mw.train(counts, vocab_size=1500)
    ranks = {tok.token_bytes(token_id): token_id for token_id in range(1500)}
    return both_of(pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens=SPECIALS)


def outcome(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of a call, or which of the errors that programs know it raised."""
    try:
        result = call(*arguments, **options)
    except KeyError:
        return KeyError
    except ValueError:
        return ValueError
    except OverflowError:
        return OverflowError
    if call.__name__ == "encode_with_unstable":
        return result[0], sorted(result[1])
    return result.tolist() if hasattr(result, "tolist") else result


@pytest.mark.parametrize("pattern", PATTERNS)
@given(
    text=texts(*PARTS, *ODD_PARTS, max_size=12),
    allowed=st.sampled_from(["all", set(), {"<s>"}, {"light"}, {"<s>", "<|endoftext|>"}]),
    disallowed=st.sampled_from(["all", (), ["<s>"], {"light"}, {"<|endoftext|>", "b"}]),
)
def test_ids_equal_those_of_tiktoken(
    pattern: str, text: str, allowed: Any, disallowed: Any
) -> None:
    options: Any = {"allowed_special": allowed, "disallowed_special": disallowed}
    peer, mine = both(pattern)
    expected = outcome(peer.encode, text, **options)
    assert outcome(mine.encode, text, **options) == expected
    assert outcome(mine.encode_to_numpy, text, **options) == expected
    batch = ValueError if expected is ValueError else [peer.encode("b"), expected]
    if disallowed != {"<|endoftext|>", "b"}:
        assert outcome(mine.encode_batch, ["b", text], **options) == batch
    ordinary = peer.encode_ordinary(text)
    assert mine.encode_ordinary(text) == ordinary
    assert mine.encode_ordinary_batch(["b", text], num_threads=2)[1] == ordinary


@pytest.mark.parametrize("pattern", PATTERNS)
@given(
    text=texts(*PARTS, "<s>", max_size=5),
    allowed=st.sampled_from(["all", set(), {"<|endoftext|>"}]),
)
def test_completions_equal_those_of_tiktoken(pattern: str, text: str, allowed: Any) -> None:
    options: Any = {"allowed_special": allowed, "disallowed_special": ()}
    peer, mine = both(pattern)
    found = outcome(mine.encode_with_unstable, text, **options)
    assert found == outcome(peer.encode_with_unstable, text, **options)


def check_bytes(peer: tiktoken.Encoding, mine: ours.Encoding, string: bytes) -> None:
    assert mine._encode_bytes(string) == peer._encode_bytes(string)  # noqa: SLF001
    if string:  # tiktoken panics at an empty word
        assert mine._encode_single_piece(string) == peer._encode_single_piece(string)  # noqa: SLF001


def ranks_with(strings: list[bytes]) -> dict[bytes, int]:
    new = [string for string in dict.fromkeys(strings) if len(string) > 1]
    return {**BYTES, **{string: 256 + index for index, string in enumerate(new)}}


@given(
    ranks=st.lists(st.lists(st.sampled_from(list(b"ab \n\xc3\xa9")), max_size=5).map(bytes)),
    pattern=st.sampled_from([*PATTERNS.values()]),
    text=texts("a", "b", " ", "\n", "é", max_size=6),
    string=st.lists(st.sampled_from(list(b"ab \n\xc3\xa9\xff")), min_size=1, max_size=8).map(bytes),
)
@example([b"aab"], PATTERNS["none"], "aab ", b"aab")
def test_tokens_that_no_merges_make(
    ranks: list[bytes], pattern: str, text: str, string: bytes
) -> None:
    peer, mine = both_of(
        pat_str=pattern, mergeable_ranks=ranks_with(ranks), special_tokens=SPECIALS
    )
    stable, completions = peer.encode_with_unstable(text)
    assert mine.encode_with_unstable(text) == (stable, sorted(completions))
    check_bytes(peer, mine, string)


def test_a_special_token_of_white_space_stays() -> None:
    peer, mine = both_of(pat_str=GPT2, mergeable_ranks=BYTES, special_tokens={"\n\n": 300})
    stable, completions = peer.encode_with_unstable("a\n\n ", allowed_special="all")
    assert stable == [97, 300]
    found = mine.encode_with_unstable("a\n\n ", allowed_special="all")
    assert found == (stable, sorted(completions))


@given(texts(*PARTS, max_size=5))
def test_completions_complete(text: str) -> None:
    mine = both("cl100k")[1]
    stable, completions = mine.encode_with_unstable(text)
    assert text.encode().startswith(mine.decode_bytes(stable))
    assert stable == mine.encode(text)[: len(stable)]
    for ids in completions:
        assert mine.decode_bytes([*stable, *ids]).startswith(text.encode())


@pytest.mark.parametrize("pattern", PATTERNS)
@given(
    st.lists(st.sampled_from([*BYTES, b"the", "é日🙂".encode(), b"\xe6\x97", b"  "])).map(b"".join)
)
def test_bytes_that_are_not_utf8(pattern: str, string: bytes) -> None:
    peer, mine = both(pattern)
    check_bytes(peer, mine, string)


@given(st.lists(st.one_of(st.integers(0, 1500), st.sampled_from([*SPECIALS.values(), 2001, -1]))))
def test_decoding_equals_that_of_tiktoken(ids: list[int]) -> None:
    peer, mine = both("cl100k")
    for name in ("decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
        expected = outcome(getattr(peer, name), ids)
        assert outcome(getattr(mine, name), ids) == expected
    assert outcome(mine.decode, ids, "strict") == outcome(peer.decode, ids, "strict")
    for name in ("decode_batch", "decode_bytes_batch"):
        assert outcome(getattr(mine, name), [ids, []]) == outcome(getattr(peer, name), [ids, []])


@given(texts(*PARTS, max_size=12))
def test_offsets_equal_those_of_tiktoken(text: str) -> None:
    peer, mine = both("cl100k")
    ids = peer.encode(text)
    assert mine.decode_with_offsets(ids) == peer.decode_with_offsets(ids)


def test_tokens() -> None:
    peer, mine = both("cl100k")
    assert mine.token_byte_values() == peer.token_byte_values()
    assert mine.special_tokens_set == peer.special_tokens_set
    for name in ("name", "n_vocab", "max_token_value", "eot_token", "__repr__"):
        ours_, theirs = getattr(mine, name), getattr(peer, name)
        assert (ours_() if callable(ours_) else ours_) == (theirs() if callable(theirs) else theirs)
    for token_id in (0, 300, 2000, 2001, 2002):
        assert mine.is_special_token(token_id) == peer.is_special_token(token_id)
        assert outcome(mine.decode_single_token_bytes, token_id) == outcome(
            peer.decode_single_token_bytes, token_id
        )
    for token in ("the", b"\xff", "<s>", "no token", b"<\xff"):
        assert outcome(mine.encode_single_token, token) == outcome(peer.encode_single_token, token)


def test_a_special_token_that_is_refused_is_named() -> None:
    mine = both("cl100k")[1]
    with pytest.raises(ValueError, match=r'special token "<s>" at byte 2.*allowed_special'):
        mine.encode("a <s>")
    with pytest.raises(ValueError, match="the text holds 'light'"):
        mine.encode("the light", disallowed_special={"light"})


def test_encodings_are_pickled_and_copied() -> None:
    peer, mine = both("gaps")
    for again in (pickle.loads(pickle.dumps(mine)), copy.deepcopy(mine)):  # noqa: S301 - our own
        assert again.name == mine.name
        assert again.encode("light: <s>", allowed_special="all") == peer.encode(
            "light: <s>", allowed_special="all"
        )


def test_the_number_of_tokens_is_checked() -> None:
    settings: Any = {"pat_str": GPT2, "mergeable_ranks": BYTES}
    ours.Encoding("x", **settings, special_tokens={"<s>": 256}, explicit_n_vocab=257)
    for special in ({}, {"<s>": 257}):
        with pytest.raises(ValueError, match="explicit_n_vocab is 257, found 25"):
            ours.Encoding("x", **settings, special_tokens=special, explicit_n_vocab=257)


def test_special_tokens_may_share_an_id() -> None:
    special = {"<a>": 300, "<b>": 300}
    peer, mine = both_of(pat_str=GPT2, mergeable_ranks=BYTES, special_tokens=special)
    assert mine.encode("<a><b>", allowed_special="all") == [300, 300]
    assert peer.encode("<a><b>", allowed_special="all") == [300, 300]
    assert mine.encode_single_token("<a>") == mine.encode_single_token("<b>") == 300
    assert mine.decode([300]) in special


def test_tokenizers_become_encodings() -> None:
    tok = mw.train(
        mw.count(["low low lower"], pattern="gpt2"), num_merges=3, special_tokens=["<s>"]
    )
    mine, peer = ours.Encoding.from_tokenizer(tok, "low"), tok.to_tiktoken("low")
    assert mine.name == "low"
    assert mine.encode_with_unstable("lower lo") == (
        [257, 101, 114],
        sorted(peer.encode_with_unstable("lower lo")[1]),
    )
    assert ours.Encoding.from_tiktoken(peer).encode("<s>low", allowed_special="all") == [259, 257]
    normal = mw.train(mw.count(["low low"], normalize="nfc"), num_merges=1)
    with pytest.raises(ConversionError, match="normalised"):
        ours.Encoding.from_tokenizer(normal)


def test_public_encodings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_cache(tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert ours.list_encoding_names() == tiktoken.list_encoding_names()
    assert ours.encoding_name_for_model("text-davinci-001") == "r50k_base"
    mine = ours.encoding_for_model("text-davinci-001")
    assert mine is ours.get_encoding("r50k_base")
    peer = tiktoken.get_encoding("r50k_base")
    assert mine.encode("hello fanta") == peer.encode("hello fanta")
    stable, completions = peer.encode_with_unstable("hello fanta")
    assert mine.encode_with_unstable("hello fanta") == (stable, sorted(completions))
    with pytest.raises(KeyError):
        ours.encoding_for_model("no model")
