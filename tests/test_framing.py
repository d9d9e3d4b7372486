"""What is around the ids of texts: templates, truncation, padding and pairs, as in tokenizers."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors

import mergewise as mw
from mergewise.errors import FormatError

TEXTS = ["", "a", "hello world", "the quick brown fox jumps over the lazy dog", "é 漢字"]
SPECIALS = ["<s>", "</s>", "<pad>", "<mask>"]
PROCESSORS = {
    "none": None,
    "template": processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 1)],
    ),
    "template of a beginning": processors.TemplateProcessing(
        single="<s> $0", pair="$B:1 <s> $A", special_tokens=[("<s>", 0)]
    ),
    "bert": processors.BertProcessing(("</s>", 1), ("<s>", 0)),
    "roberta": processors.RobertaProcessing(("</s>", 1), ("<s>", 0)),
    "roberta, as it is": processors.RobertaProcessing(
        ("</s>", 1), ("<s>", 0), trim_offsets=False, add_prefix_space=False
    ),
    "byte level": processors.ByteLevel(trim_offsets=True),
    "sequence": processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)]),
        ]
    ),
}


def peer_of(
    processor: processors.PostProcessor | None, *, add_prefix_space: bool = False
) -> tokenizers.Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {text: index for index, text in enumerate([*SPECIALS, *letters, "he", "Ġt", "Ġth"])}
    peer = tokenizers.Tokenizer(
        models.BPE(vocab=vocab, merges=[("h", "e"), ("Ġ", "t"), ("Ġt", "h")])
    )
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    peer.decoder = decoders.ByteLevel()
    if processor is not None:
        peer.post_processor = processor
    peer.add_special_tokens(SPECIALS[:3])
    peer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return peer


def read(peer: tokenizers.Tokenizer, folder: Path) -> mw.Tokenizer:
    peer.save(str(folder / "tokenizer.json"))
    return mw.Tokenizer.from_file(folder / "tokenizer.json")


@pytest.mark.parametrize("name", PROCESSORS)
@pytest.mark.parametrize("add_prefix_space", [False, True])
def test_templates(name: str, add_prefix_space: bool, tmp_path: Path) -> None:  # noqa: FBT001
    peer = peer_of(PROCESSORS[name], add_prefix_space=add_prefix_space)
    tok = read(peer, tmp_path)
    for text in [*TEXTS, "a <mask> b", "  two  spaces ", " <mask>"]:
        for add in (True, False):
            theirs = peer.encode(text, add_special_tokens=add)
            ids, offsets = tok.encode(
                text, allowed_special="all", add_special_tokens=add, offsets=True
            )
            assert ids == theirs.ids
            assert offsets == theirs.offsets
            assert tok.encode(text, allowed_special="all", add_special_tokens=add) == ids
            count = tok.count_tokens(text, allowed_special="all", add_special_tokens=add)
            assert count == len(ids)
            for other in TEXTS:
                pair = tok.encode(text, pair=other, allowed_special="all", add_special_tokens=add)
                assert pair == peer.encode(text, other, add_special_tokens=add).ids
    copy = tmp_path / "copy.json"
    tok.save(copy)
    assert mw.Tokenizer.from_file(copy) == tok


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("max_length", [5, 8, 13, 40])
def test_truncation(direction: str, strategy: str, max_length: int, tmp_path: Path) -> None:
    peer = peer_of(PROCESSORS["template"])
    plain = read(peer, tmp_path)
    peer.enable_truncation(max_length, strategy=strategy, direction=direction)
    tok = read(peer, tmp_path)
    own = plain.with_truncation(max_length, side=direction, strategy=strategy)  # type: ignore[arg-type]
    for first in TEXTS:
        if strategy != "only_second":
            theirs = peer.encode(first)
            assert tok.encode(first) == own.encode(first) == theirs.ids
            assert tok.encode(first, offsets=True) == (theirs.ids, theirs.offsets)
            assert tok.count_tokens(first) == len(theirs.ids)
        for second in TEXTS:
            try:
                expected = peer.encode(first, second).ids
            except Exception:  # noqa: BLE001 - tokenizers raises this class
                with pytest.raises(ValueError, match="too short"):
                    tok.encode(first, pair=second)
                continue
            assert tok.encode(first, pair=second) == expected
            assert own.encode(first, pair=second) == expected
    assert tok.with_truncation(None).encode(TEXTS[3]) == plain.encode(TEXTS[3])


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("length", [None, 30])
@pytest.mark.parametrize("multiple_of", [None, 8])
def test_padding(
    direction: str, length: int | None, multiple_of: int | None, tmp_path: Path
) -> None:
    peer = peer_of(PROCESSORS["template"])
    plain = read(peer, tmp_path)
    peer.enable_padding(
        direction=direction,
        pad_id=2,
        pad_token="<pad>",
        length=length,
        pad_to_multiple_of=multiple_of,
    )
    tok = read(peer, tmp_path)
    own = plain.with_padding(
        "<pad>",
        length=length,
        multiple_of=multiple_of or 0,
        side=direction,  # type: ignore[arg-type]
    )
    expected = [encoding.ids for encoding in peer.encode_batch(TEXTS)]
    assert tok.encode_batch(TEXTS) == own.encode_batch(TEXTS) == expected
    ids, offsets = tok.encode_batch_numpy(TEXTS)
    found = [ids[start:end].tolist() for start, end in pairwise(offsets)]
    assert found == expected
    for text in TEXTS:
        theirs = peer.encode(text)
        assert tok.encode(text, offsets=True) == (theirs.ids, theirs.offsets)
        assert tok.count_tokens(text) == len(theirs.ids)
    pairs = [
        encoding.ids for encoding in peer.encode_batch(list(zip(TEXTS, TEXTS[::-1], strict=True)))
    ]
    assert tok.encode_batch(TEXTS, pairs=TEXTS[::-1]) == pairs
    assert tok.with_padding(None).encode_batch(TEXTS) == plain.encode_batch(TEXTS)
    own.with_truncation(20, side="left").save(tmp_path / "own.json")
    peer.enable_truncation(20, direction="left")
    written = tokenizers.Tokenizer.from_file(str(tmp_path / "own.json"))
    assert [e.ids for e in written.encode_batch(TEXTS)] == [e.ids for e in peer.encode_batch(TEXTS)]


def test_a_template_that_names_no_text_is_refused(tmp_path: Path) -> None:
    peer = peer_of(PROCESSORS["template"])
    document = json.loads(peer.to_str())
    document["post_processor"]["single"] = document["post_processor"]["single"][:1]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FormatError, match="one text"):
        mw.Tokenizer.from_file(path)


def test_new_special_tokens_get_the_next_ids() -> None:
    tok = mw.train(mw.count(["a a a"]), num_merges=1)
    more = tok.with_special_tokens(["<pad>", "<end>", "<pad>"])
    assert more.special_tokens == {"<pad>": 257, "<end>": 258}
    assert more.encode("a<end>", allowed_special="all") == [*tok.encode("a"), 258]
    assert more.decode([258, 97]) == "<end>a"
    assert more.decode([258, 97], skip_special_tokens=True) == "a"
    again = more.with_special_tokens(["<end>", "<new>"])
    assert again.special_tokens == {"<pad>": 257, "<end>": 258, "<new>": 259}
    assert tok.special_tokens == {}
    with pytest.raises(TypeError, match="one text"):
        tok.with_special_tokens("<pad>")


def test_names_are_those_of_tokenizers(tmp_path: Path) -> None:
    peer = peer_of(None)
    tok = read(peer, tmp_path)
    assert tok.get_vocab() == peer.get_vocab()
    assert tok.get_vocab_size() == len(tok) == peer.get_vocab_size()
    for text in ["Ġt", "<s>", "nothing"]:
        assert tok.token_to_id(text) == peer.token_to_id(text)
    for token_id in [0, 4, 262, 999]:
        assert tok.id_to_token(token_id) == peer.id_to_token(token_id)
    assert tok.n_vocab == tok.vocab_size


def test_tokens_with_a_role(tmp_path: Path) -> None:
    peer = peer_of(None)
    peer.save(str(tmp_path / "tokenizer.json"))
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "pad_token": None}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tok = mw.Tokenizer.from_file(tmp_path)
    assert (tok.bos_token_id, tok.eos_token_id) == (0, 1)
    assert (tok.pad_token_id, tok.unk_token_id) == (None, None)
    assert tok.with_padding("<pad>").pad_token_id == 2


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (lambda tok: tok.with_truncation(-1), "max_length"),
        (lambda tok: tok.with_truncation("7"), "max_length"),
        (lambda tok: tok.with_padding("<pad>", length=-3), "length"),
        (lambda tok: tok.with_padding("<pad>", multiple_of=-1), "multiple_of"),
        (lambda tok: tok.with_padding("<pad>", multiple_of=None), "multiple_of"),
        (lambda tok: tok.with_padding(""), "special token"),
    ],
)
def test_lengths_that_are_none_are_refused(
    frame: Callable[[mw.Tokenizer], mw.Tokenizer], name: str
) -> None:
    tok = mw.train(mw.count(["low lower"]), num_merges=1, special_tokens=["<pad>"])
    with pytest.raises((ValueError, TypeError), match=name):
        frame(tok)
