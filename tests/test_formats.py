"""Files of other libraries: what is written encodes there as here, and reads back the same."""

from __future__ import annotations

import base64
import io
import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken
import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from mergewise import formats
from mergewise.errors import ConversionError, FormatError
from mergewise.formats import regexes
from mergewise.formats.reading import Reading
from mergewise.formats.unsupported import surrounding_tokens
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Vocabulary

TEXTS = [
    "low lower lowest",
    "  low\n\n  lower \t low",
    "\n  ",
    "it's 12345 low, and LOWER!  ",
    "café cafe\u0301 ﬁn lowé",
    "▁low low▁low",
    "ααα β",
    " ",
    "<s>low<b> lower<s>",
]


def words_of(vocabulary: Vocabulary, text: str) -> list[str]:
    """The words of a text, by an engine that is not mergewise's."""
    if vocabulary.pattern is None:
        return [text] if text else []
    expression = regexes.PATTERNS.get(vocabulary.pattern, vocabulary.pattern)
    # To this engine `$` also matches before a last newline.
    expression = regex.sub(r"(?<!\[)\$", r"\\Z", expression.replace("(?m:$)", "(?=\n|\\Z)"))
    words, end = [], 0
    for found in regex.finditer(expression, text):
        if found.start() == found.end():
            continue
        if not vocabulary.drops_gaps and end < found.start():
            words.append(text[end : found.start()])
        words.append(found[0])
        end = found.end()
    if not vocabulary.drops_gaps and end < len(text):
        words.append(text[end:])
    return words


def merged(vocabulary: Vocabulary, symbols: list[bytes]) -> list[bytes]:
    """The tokens of a word, as Vocabulary's docstring says it."""
    pair_ranks = {pair: rank for rank, pair in reversed(list(enumerate(vocabulary.merges or ())))}
    token_ranks = vocabulary.ranks or {}
    while True:
        ranks = [
            (pair_ranks.get(pair, token_ranks.get(pair[0] + pair[1])), place)
            for place, pair in enumerate(pairwise(symbols))
        ]
        known = [(rank, place) for rank, place in ranks if rank is not None]
        if not known:
            return symbols
        place = min(known)[1]
        symbols = [*symbols[:place], symbols[place] + symbols[place + 1], *symbols[place + 2 :]]


def word_ids(vocabulary: Vocabulary, word: str) -> list[int]:
    """The ids of a word."""
    tokens, ending = vocabulary.tokens, vocabulary.end_of_word
    if vocabulary.whole_words and word.encode() + ending in tokens:
        return [tokens[word.encode() + ending]]
    if vocabulary.alphabet == "bytes":
        symbols = [bytes([byte]) for byte in word.encode()]
    else:
        symbols = [character.encode() for character in word]
    symbols = [*symbols, ending] if ending in tokens else [*symbols[:-1], symbols[-1] + ending]
    ids: list[int] = []
    for symbol in merged(vocabulary, symbols):
        if symbol in tokens:
            ids.append(tokens[symbol])
        elif vocabulary.byte_tokens:
            ids.extend(vocabulary.byte_tokens[byte] or 0 for byte in symbol)
        elif vocabulary.unknown_token is not None and not (
            vocabulary.fuse_unknown and ids and ids[-1] == vocabulary.unknown_token
        ):
            ids.append(vocabulary.unknown_token)
    return ids


def sections(found: Mapping[str, int], text: str) -> Iterator[str | int]:
    """The ids of special tokens, and the texts between them."""
    if not found:
        yield text
        return
    for part in regex.split(f"({'|'.join(map(regex.escape, found))})", text):
        yield found.get(part, part)


def all_sections(vocabulary: Vocabulary, text: str) -> Iterator[str | int]:
    """The ids of special and added tokens, and the texts between them."""
    special, added = vocabulary.special_tokens, vocabulary.added_tokens
    if vocabulary.prefix_space != "once":
        yield from sections({**special, **added}, text)
        return
    for section in sections(special, text):
        if isinstance(section, int):
            yield section
        elif section:
            yield from sections(added, " " + section)


def encode(vocabulary: Vocabulary, text: str) -> list[int]:
    """The ids of a text, all special tokens allowed."""
    ids: list[int] = []
    for section in all_sections(vocabulary, text):
        if isinstance(section, int):
            ids.append(section)
            continue
        part = section
        if vocabulary.normalize:
            part = unicodedata.normalize(vocabulary.normalize.upper(), part)  # type: ignore[arg-type]
        if vocabulary.mark_is_space:
            part = part.replace("▁", " ")
        if part and (
            vocabulary.prefix_space == "always"
            or (vocabulary.prefix_space == "unless_space" and not part.startswith(" "))
        ):
            part = " " + part
        for word in words_of(vocabulary, part):
            ids.extend(word_ids(vocabulary, word))
    return ids


# Vocabularies small enough to follow by hand.

BYTE_MERGES = [(b"l", b"o"), (b"lo", b"w"), (b" ", b"low"), (b"e", b"r"), (b"\xc3", b"\xa9")]
BYTES = Vocabulary(
    tokens={
        **{bytes([byte]): byte for byte in range(256)},
        **{left + right: 256 + i for i, (left, right) in enumerate(BYTE_MERGES)},
    },
    merges=BYTE_MERGES,
    pattern="gpt2",
)
CHAR_MERGES = [(b"l", b"o"), (b"lo", b"w"), (b" ", b"low"), (b"e", b"r")]
CHAR_STRINGS = [
    *" abcefilnorstwé\n",
    *(left.decode() + right.decode() for left, right in CHAR_MERGES),
]
CHARS = Vocabulary(
    tokens={string.encode(): index for index, string in enumerate(CHAR_STRINGS)},
    merges=CHAR_MERGES,
    alphabet="chars",
)
SIZE = len(CHARS.tokens)
WITH_UNKNOWN = replace(CHARS, unknown_token=SIZE, special_tokens={"<unk>": SIZE})
MARKED = replace(
    WITH_UNKNOWN,
    fuse_unknown=True,
    prefix_space="always",
    mark_is_space=True,
)
WITH_BYTES = replace(MARKED, byte_tokens=tuple(range(SIZE + 1, SIZE + 257)), fuse_unknown=True)
ENDING_MERGES = [(b"l", b"o"), (b"lo", b"w</w>"), (b"e", b"r</w>")]
ENDING_STRINGS = [
    *"elorstw",
    *(character + "</w>" for character in "elorstw"),
    *("lo", "low</w>", "er</w>"),
]
ENDING = Vocabulary(
    tokens={string.encode(): index for index, string in enumerate(ENDING_STRINGS)},
    merges=ENDING_MERGES,
    alphabet="chars",
    end_of_word=b"</w>",
    pattern=r"[^ \r\n]+",
    drops_gaps=True,
)
SPECIALS = {"<s>": 261, "</s>": 262}

BYTE_LEVEL = {
    "gpt2": BYTES,
    "cl100k": replace(BYTES, pattern="cl100k"),
    "o200k": replace(BYTES, pattern="o200k"),
    "whitespace": replace(BYTES, pattern="whitespace"),
    "whole": replace(BYTES, pattern=None),
    "regex": replace(BYTES, pattern=r"\p{L}+|\p{N}{1,2}"),
    "line end": replace(BYTES, pattern=r"\s+$|^\s|\w+"),
    "gaps": replace(BYTES, pattern=r"\w+", drops_gaps=True),
    "special": replace(BYTES, special_tokens=SPECIALS),
    "holes": replace(BYTES, special_tokens={"<s>": 300}),
}
TOKENIZER_JSON = {
    **BYTE_LEVEL,
    "nfc": replace(BYTES, normalize="nfc"),
    "nfkc": replace(BYTES, normalize="nfkc", pattern="cl100k"),
    "prefix": replace(BYTES, prefix_space="always", normalize="nfc"),
    "prefix unless": replace(BYTES, prefix_space="unless_space"),
    "prefix whole": replace(BYTES, prefix_space="unless_space", pattern=None),
    "added": replace(BYTES, special_tokens={"<s>": 261}, added_tokens={"<b>": 262}),
    "chars": CHARS,
    "chars whitespace": replace(CHARS, pattern="whitespace"),
    "chars gaps": replace(CHARS, pattern=r"\S+", drops_gaps=True),
    "unknown": WITH_UNKNOWN,
    "fused": replace(WITH_UNKNOWN, fuse_unknown=True),
    "marked": MARKED,
    "marked without prefix": replace(MARKED, prefix_space=None),
    "metaspace": replace(MARKED, prefix_space="unless_space", pattern=regexes.METASPACE),
    "metaspace whole": replace(MARKED, prefix_space="unless_space"),
    "metaspace always": replace(MARKED, pattern=regexes.METASPACE),
    "bytes for unknown": WITH_BYTES,
    "ending": ENDING,
    "whole words": replace(
        BYTES, tokens={**BYTES.tokens, b"lowest": 261}, whole_words=True, pattern="cl100k"
    ),
}


def without_steps(vocabulary: Vocabulary) -> Vocabulary:
    """What decides ids of texts without unknown characters."""
    plain = replace(vocabulary, extras={}, decoder=None, written={}, drops_unknown=False, roles={})
    # The same in other words.
    is_rewritten = plain.pattern == r"\s+\z|\A\s|\w+"
    return replace(plain, pattern=r"\s+$|^\s|\w+") if is_rewritten else plain


@pytest.mark.parametrize("name", TOKENIZER_JSON)
def test_tokenizers_encodes_what_is_written(name: str, tmp_path: Path) -> None:
    vocabulary = TOKENIZER_JSON[name]
    path = tmp_path / "tokenizer.json"
    formats.save(vocabulary, path)
    peer = tokenizers.Tokenizer.from_file(str(path))
    for text in TEXTS:
        assert peer.encode(text, add_special_tokens=False).ids == encode(vocabulary, text), text
    assert formats.detect(path) == "tokenizer_json"
    assert without_steps(formats.load(path)) == vocabulary


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "whole", "marked", "metaspace", "ending"])
def test_tokenizers_decodes_what_is_written(name: str, tmp_path: Path) -> None:
    formats.save(TOKENIZER_JSON[name], tmp_path / "x.json")
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    assert peer.decode(peer.encode("low lower wet").ids) == "low lower wet"


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_tiktoken_encodes_what_is_written(name: str, tmp_path: Path) -> None:
    vocabulary = BYTE_LEVEL[name]
    path = tmp_path / "x.tiktoken"
    formats.save(vocabulary, path)
    lines = path.read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
    settings = json.loads((tmp_path / "x.tiktoken.json").read_text())
    peer = tiktoken.Encoding("x", mergeable_ranks=ranks, **settings)
    for text in TEXTS:
        assert peer.encode(text, allowed_special="all") == encode(vocabulary, text), text
    assert formats.detect(path) == "tiktoken"
    expected = replace(vocabulary, merges=None, ranks=vocabulary.tokens, whole_words=True)
    assert formats.load(path) == expected


def test_ranks_without_settings_need_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    formats.save(BYTES, path)
    (tmp_path / "x.tiktoken.json").unlink()
    with pytest.raises(FormatError, match="hint: give pattern="):
        formats.load(path)
    vocabulary = formats.load(path, pattern=r"\w+", special_tokens={"<s>": 300})
    assert (vocabulary.pattern, vocabulary.drops_gaps) == (r"\w+", True)
    assert vocabulary.special_tokens == {"<s>": 300}
    assert formats.load(path, pattern=None).pattern is None


def sentencepiece_ids(path: Path, text: str) -> list[int]:
    import sentencepiece  # noqa: PLC0415

    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ids: list[int] = peer.encode(text)
    return ids


@pytest.mark.parametrize(
    "vocabulary",
    [
        replace(MARKED, special_tokens={}, unknown_token=None, fuse_unknown=False),
        MARKED,
        replace(MARKED, prefix_space=None),
        WITH_BYTES,
        replace(MARKED, special_tokens={"<unk>": SIZE, "<s>": SIZE + 1, "</s>": SIZE + 2}),
        replace(MARKED, prefix_space=None, added_tokens={"<b>": SIZE + 1, "a.b": SIZE + 2}),
        replace(MARKED, prefix_space="once", added_tokens={"<b>": SIZE + 1, "a.b": SIZE + 2}),
        replace(MARKED, pattern="whitespace"),
    ],
)
def test_sentencepiece_encodes_what_is_written(vocabulary: Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    formats.save(vocabulary, path)
    assert formats.detect(path) == "sentencepiece"
    expected = replace(vocabulary, unknown_token=SIZE, fuse_unknown=True, pattern=None)
    expected = replace(expected, prefix_space=vocabulary.prefix_space and "once")
    expected = replace(expected, special_tokens={"<unk>": SIZE, **vocabulary.special_tokens})
    back = without_steps(formats.load(path))
    assert back.ranks == {b"lo": 0, b"low": 1, b" low": 2, b"er": 3}
    assert replace(back, ranks=None, merges=vocabulary.merges) == expected
    # It does not look for control pieces in a text.
    plain = replace(expected, special_tokens={}, pattern=vocabulary.pattern)
    for text in TEXTS:
        assert sentencepiece_ids(path, text) == encode(plain, text), text
        assert sentencepiece_ids(path, text) == encode(replace(back, special_tokens={}), text)


def test_equal_scores_stay_equal(tmp_path: Path) -> None:
    # Of equal scores the leftmost merges first.
    strings = ["l", "o", "w", "lo", "ow"]
    tokens = {string.encode(): index for index, string in enumerate(strings)}
    scores = {token: -1.0 if len(token) > 1 else -2.0 for token in tokens}
    vocabulary = replace(
        MARKED,
        tokens=tokens,
        merges=[(b"o", b"w"), (b"l", b"o")],
        unknown_token=5,
        special_tokens={"<unk>": 5},
        prefix_space=None,
        extras={"sentencepiece": {"scores": scores}},
    )
    formats.save(vocabulary, tmp_path / "x.model")
    assert formats.load(tmp_path / "x.model").ranks == {b"lo": 0, b"ow": 0}
    assert sentencepiece_ids(tmp_path / "x.model", "low") == [3, 2]
    formats.save(replace(vocabulary, extras={}), tmp_path / "x.model")
    assert sentencepiece_ids(tmp_path / "x.model", "low") == [0, 4]


def test_holes_among_pieces(tmp_path: Path) -> None:
    vocabulary = replace(MARKED, special_tokens={"<unk>": SIZE, "<s>": SIZE + 2})
    with pytest.raises(ConversionError, match="holes; here are 1"):
        formats.save(vocabulary, tmp_path / "x.model")
    formats.save(vocabulary, tmp_path / "x.model", lossy=True)
    for text in TEXTS:
        assert sentencepiece_ids(tmp_path / "x.model", text) == encode(
            replace(vocabulary, special_tokens={}), text
        )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"byte_fallback": True},
        {"user_defined_symbols": ["<b>"], "add_dummy_prefix": False},
    ],
)
def test_models_that_sentencepiece_trains(options: dict[str, Any], tmp_path: Path) -> None:
    import sentencepiece  # noqa: PLC0415

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["low lower lowest", "new newer newest wider"] * 10),
        model_writer=model,
        model_type="bpe",
        vocab_size=290 if "byte_fallback" in options else 32,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
        **options,
    )
    path = tmp_path / "x.model"
    path.write_bytes(model.getvalue())
    vocabulary = replace(formats.load(path), special_tokens={})
    assert set(vocabulary.added_tokens) == set(options.get("user_defined_symbols", ()))
    for text in [*TEXTS[:-1], "newest  low er", "xyz newer"]:
        assert sentencepiece_ids(path, text) == encode(vocabulary, text), text


def subword_nmt_tokens(path: Path, text: str) -> list[str]:
    from subword_nmt.apply_bpe import BPE  # noqa: PLC0415

    with path.open(encoding="utf-8") as codes:
        segmented: str = BPE(codes, separator="@@").segment(text)
    return segmented.split(" ")


LETTERS_ALONE = replace(
    ENDING,
    tokens={string.encode(): index for index, string in enumerate([*"elorw", "lo", "low", "er"])},
    merges=[(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")],
    end_of_word=b"",
)
END_IS_TOKEN = replace(
    ENDING,
    tokens={
        string.encode(): index
        for index, string in enumerate([*"elorw", "</w>", "w</w>", "lo", "low</w>", "low", "er"])
    },
    merges=[(b"w", b"</w>"), (b"l", b"o"), (b"lo", b"w</w>"), (b"lo", b"w"), (b"e", b"r")],
)


@pytest.mark.parametrize(
    ("vocabulary", "version"), [(ENDING, "0.2"), (LETTERS_ALONE, "0.1"), (END_IS_TOKEN, "0.1")]
)
def test_subword_nmt_segments_by_what_is_written(
    vocabulary: Vocabulary, version: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.codes"
    formats.save(vocabulary, path)
    assert path.read_text().startswith(f"#version: {version}\n")
    assert formats.detect(path) == "subword_nmt"
    back = formats.load(path)
    assert (back.merges, back.end_of_word) == (vocabulary.merges, vocabulary.end_of_word)
    assert (back.pattern, back.drops_gaps) == (vocabulary.pattern, True)
    assert set(back.tokens) <= set(vocabulary.tokens)
    strings = {token_id: token.decode() for token, token_id in vocabulary.tokens.items()}
    for word in ["low", "lower", "well", "er", "e", "lowlow"]:
        tokens = [strings[i].removesuffix("</w>") for i in encode(vocabulary, word)]
        spoken = "@@ ".join(token for token in tokens if token)
        assert " ".join(subword_nmt_tokens(path, word)) == spoken


def test_ids_of_codes_are_in_the_order_of_need(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_text("#version: 0.2\nb a</w>\nc ba</w>\n")
    expected = [b"a", b"b", b"c", b"a</w>", b"b</w>", b"c</w>", b"ba</w>", b"cba</w>"]
    assert list(formats.load(path).tokens) == expected
    assert list(formats.load(path).tokens.values()) == list(range(8))


@pytest.mark.parametrize("text", ["a  b c", " a\tb\n", "a\r\n", "\u00a0a \u2003b"])
def test_words_of_subword_nmt(text: str, tmp_path: Path) -> None:
    (tmp_path / "codes").write_text("#version: 0.2\nx y\n")
    joined = [token.replace("@@", "") for token in subword_nmt_tokens(tmp_path / "codes", text)]
    assert "".join(joined) == "".join(words_of(ENDING, text))
    ends = [token for token in subword_nmt_tokens(tmp_path / "codes", text) if "@@" not in token]
    assert len(ends) == len(words_of(ENDING, text))


@pytest.mark.parametrize("name", ["", "vocab.json", "merges.txt", "x-merges.txt", "vocab.bpe"])
@pytest.mark.parametrize("specials", [{}, {"<|endoftext|>": 261}])
def test_gpt2_files(name: str, specials: dict[str, int], tmp_path: Path) -> None:
    vocabulary = replace(BYTES, special_tokens=specials)
    path = tmp_path / name if name else tmp_path
    formats.save(vocabulary, path)
    vocab, merges = sorted(tmp_path.iterdir(), key=lambda file: file.suffix != ".json")
    peer = tokenizers.Tokenizer(models.BPE.from_file(str(vocab), str(merges)))
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.add_special_tokens(list(specials))
    for text in [*TEXTS, "low<|endoftext|>lower"]:
        assert peer.encode(text).ids == encode(vocabulary, text), text
    for found in (path, vocab, merges):
        assert formats.detect(found) == "gpt2"
        assert formats.load(found) == vocabulary


@pytest.mark.parametrize("listed", [True, False])
def test_tekken(listed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    strings = [*BYTES.tokens, b"unused"]
    document: dict[str, Any] = {
        "config": {
            "pattern": regexes.LLAMA3,
            "num_vocab_tokens": 262,
            "default_vocab_size": 261 + 25,
            "default_num_special_tokens": 25,
            "version": "v3",
        },
        "vocab": [
            {"rank": i, "token_bytes": base64.b64encode(string).decode(), "token_str": None}
            for i, string in enumerate(strings)
        ],
    }
    if listed:
        specials = [{"rank": 0, "token_str": "<s>", "is_control": True}]
        document["special_tokens"] = specials
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(document))
    assert formats.detect(path) == "tekken"
    vocabulary = formats.load(path)
    assert len(vocabulary.special_tokens) == 25
    assert vocabulary.special_tokens["<s>"] == (0 if listed else 1)
    assert vocabulary.special_tokens["<SPECIAL_24>"] == 24
    peer = tiktoken.Encoding(
        "x", pat_str=regexes.LLAMA3, mergeable_ranks=dict(BYTES.tokens), special_tokens={}
    )
    for text in TEXTS[:-1]:
        assert [i + 25 for i in peer.encode(text)] == encode(vocabulary, text)
    with pytest.raises(ConversionError, match="does not write"):
        formats.save(BYTES, path, format="tekken", lossy=True)


# What tokenizers writes itself.

MODEL = models.BPE(
    {string.replace(" ", "▁"): i for i, string in enumerate([*CHAR_STRINGS, "<unk>"])},
    [("l", "o"), ("lo", "w"), ("▁", "low"), ("e", "r")],
    unk_token="<unk>",
)


def made_by_tokenizers(**parts: Any) -> tokenizers.Tokenizer:
    peer = tokenizers.Tokenizer(MODEL)
    for name, part in parts.items():
        setattr(peer, name, part)
    return peer


@pytest.mark.parametrize(
    "parts",
    [
        {"pre_tokenizer": pre_tokenizers.Metaspace(prepend_scheme="always")},
        {"pre_tokenizer": pre_tokenizers.Metaspace(prepend_scheme="first", split=False)},
        {"pre_tokenizer": pre_tokenizers.Metaspace(prepend_scheme="never")},
        {
            "normalizer": normalizers.Sequence(
                [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
            )
        },
        {
            "normalizer": normalizers.Sequence([normalizers.NFC(), normalizers.Replace(" ", "▁")]),
            "pre_tokenizer": pre_tokenizers.Split(" ", "merged_with_previous"),
        },
        {"pre_tokenizer": pre_tokenizers.WhitespaceSplit()},
        {"pre_tokenizer": pre_tokenizers.Whitespace()},
        {"pre_tokenizer": pre_tokenizers.Split(tokenizers.Regex(r"\s+$"), "isolated")},
        {"pre_tokenizer": pre_tokenizers.Split("o", "isolated")},
        {"pre_tokenizer": pre_tokenizers.Split("!", "isolated")},
        {"pre_tokenizer": pre_tokenizers.Split(".", "isolated")},
        {"pre_tokenizer": pre_tokenizers.Split(tokenizers.Regex("l.w"), "removed", invert=True)},
    ],
)
def test_files_of_tokenizers(parts: dict[str, Any], tmp_path: Path) -> None:
    peer = made_by_tokenizers(**parts)
    peer.save(str(tmp_path / "x.json"))
    vocabulary = formats.load(tmp_path / "x.json")
    for text in TEXTS[:-1]:
        assert peer.encode(text).ids == encode(vocabulary, text), text
    formats.save(vocabulary, tmp_path / "y.json")
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "y.json"))
    assert [again.encode(text).ids for text in TEXTS] == [peer.encode(text).ids for text in TEXTS]


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": normalizers.Lowercase()},
        {"normalizer": normalizers.Sequence([normalizers.NFC(), normalizers.StripAccents()])},
        {"normalizer": normalizers.Prepend("▁")},
        {"pre_tokenizer": pre_tokenizers.Digits()},
        {"pre_tokenizer": pre_tokenizers.Split(tokenizers.Regex("a"), "merged_with_next")},
    ],
    ids=str,
)
def test_steps_that_no_field_can_say(parts: dict[str, Any], tmp_path: Path) -> None:
    peer = made_by_tokenizers(**parts)
    peer.save(str(tmp_path / "x.json"))
    tok = Tokenizer.from_file(tmp_path / "x.json")
    assert tok.vocabulary.steps is not None
    assert [tok.encode(text) for text in TEXTS] == [peer.encode(text).ids for text in TEXTS]
    with pytest.raises(ConversionError, match="steps before merging"):
        tok.save(tmp_path / "x.codes")
    tok.save(tmp_path / "y.json")
    assert Tokenizer.from_file(tmp_path / "y.json") == tok


@pytest.mark.parametrize(
    ("part", "step", "message"),
    [
        ("normalizer", {"type": "Shout"}, "normalizer: found .*Shout"),
        (
            "pre_tokenizer",
            {"type": "Digits", "individual_digits": 3},
            "pre_tokenizer: found .*Digits",
        ),
        ("decoder", {"type": "Strip"}, "decoder: found .*Strip"),
    ],
)
def test_steps_that_are_none(part: str, step: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    document = json.loads(made_by_tokenizers().to_str())
    path.write_text(json.dumps({**document, part: step}))
    with pytest.raises(FormatError, match=message):
        formats.load(path)


def test_what_surrounds_a_text_is_kept_and_a_loss_elsewhere(tmp_path: Path) -> None:
    template = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 261), ("</s>", 262)]
    )
    formats.save(replace(BYTES, special_tokens=SPECIALS), tmp_path / "x.json")
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    peer.post_processor = template
    peer.save(str(tmp_path / "x.json"))
    vocabulary = formats.load(tmp_path / "x.json")
    assert surrounding_tokens(vocabulary) == ["<s>", "</s>"]
    with pytest.raises(ConversionError, match=r"between special tokens \('<s>', '</s>'\)"):
        formats.save(vocabulary, tmp_path / "x.tiktoken")
    formats.save(vocabulary, tmp_path / "y.json")
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "y.json"))
    assert again.encode("low").ids == [261, 257, 262]


def test_merges_in_one_string(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    formats.save(BYTES, path)
    document = json.loads(path.read_text())
    document["model"]["merges"] = [" ".join(merge) for merge in document["model"]["merges"]]
    path.write_text(json.dumps(document))
    assert formats.load(path).merges == BYTES.merges


def test_an_added_token_may_be_part_of_merges(tmp_path: Path) -> None:
    vocabulary = replace(BYTES, added_tokens={"low": BYTES.tokens[b"low"]})
    formats.save(vocabulary, tmp_path / "x.json")
    assert replace(formats.load(tmp_path / "x.json"), extras={}) == vocabulary
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    assert peer.encode("a low").ids == [97, 32, 257] == encode(vocabulary, "a low")


@given(pairs=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_merges_come_back(pairs: list[tuple[int, int]], tmp_path: Path) -> None:
    strings = [b" ", b"\n", b"a", b"b", b"\xff", b"\xc3"]
    merges: list[tuple[bytes, bytes]] = []
    for left, right in pairs:
        merge = strings[left % len(strings)], strings[right % len(strings)]
        if merge[0] + merge[1] not in strings:
            merges.append(merge)
            strings.append(merge[0] + merge[1])
    tokens = {bytes([byte]): byte for byte in range(256)}
    tokens.update((left + right, 256 + index) for index, (left, right) in enumerate(merges))
    vocabulary = Vocabulary(tokens=tokens, merges=merges, pattern="gpt2")
    for name in ("x.json", "vocab.json"):
        formats.save(vocabulary, tmp_path / name)
        assert replace(formats.load(tmp_path / name), extras={}) == vocabulary
    formats.save(vocabulary, tmp_path / "x.tiktoken")
    assert formats.load(tmp_path / "x.tiktoken").ranks == tokens


def test_a_part_may_be_made_later(tmp_path: Path) -> None:
    # As in Llama 3: the second merge is of a higher rank, and still comes first.
    merges = [(b"lo", b"w"), (b"l", b"o")]
    tokens = {token: i for token, i in BYTES.tokens.items() if i < 256}
    vocabulary = replace(BYTES, tokens={**tokens, b"lo": 256, b"low": 257}, merges=merges)
    formats.save(vocabulary, tmp_path / "x.json")
    assert formats.load(tmp_path / "x.json").merges == merges
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    assert peer.encode("low").ids == [257] == encode(vocabulary, "low")


# What cannot be said.

LOSSES = [
    (replace(BYTES, normalize="nfc"), "x.tiktoken", "normalised"),
    (replace(BYTES, prefix_space="always"), "x.tiktoken", "a space is put before"),
    (replace(BYTES, added_tokens={"<b>": 300}), "x.tiktoken", "found in every text .'<b>'"),
    (replace(BYTES, merges=BYTE_MERGES[::-1]), "x.tiktoken", "in the order of their ids"),
    (replace(BYTES, pattern=r"(a)\1"), "x.tiktoken", "groups"),
    (CHARS, "x.tiktoken", "its symbols are bytes"),
    (replace(BYTES, pattern="cl100k"), "merges.txt", "pattern gpt2, not cl100k"),
    (
        replace(CHARS, tokens={**CHARS.tokens, b"rat": SIZE}, whole_words=True),
        "x.model",
        "words become tokens which no merge makes .b'rat'",
    ),
    (
        replace(BYTES, tokens={**BYTES.tokens, b"xyz": 300}),
        "vocab.json",
        "never found there .b'xyz'",
    ),
    (CHARS, "vocab.json", "its symbols are bytes"),
    (BYTES, "x.model", "its symbols are characters"),
    (replace(CHARS, pattern="gpt2"), "x.model", "does not cut texts"),
    (replace(CHARS, pattern=r"\S+", drops_gaps=True), "x.model", "does not cut texts"),
    (replace(CHARS, tokens={**CHARS.tokens, "▁".encode(): SIZE}), "x.model", "U[+]2581"),
    (replace(CHARS, prefix_space="unless_space"), "x.model", "whatever their beginning"),
    (WITH_UNKNOWN, "x.model", "neighbouring unknown"),
    (replace(MARKED, added_tokens={"<b>": SIZE + 1}), "x.model", "puts no space behind"),
    (replace(ENDING, special_tokens={"<s>": 99}), "x.codes", "no special tokens .'<s>'"),
    (replace(ENDING, pattern="whitespace"), "codes.txt", "between spaces"),
    (replace(ENDING, end_of_word=b"_"), "codes.txt", "by </w>, not _"),
    (replace(END_IS_TOKEN, merges=[(b"l", b"o")]), "codes.txt", "</w> only if a merge"),
    (BYTES, "codes.txt", "its symbols are characters"),
    (replace(CHARS, prefix_space="unless_space"), "x.json", "before texts that have none"),
    (
        replace(BYTES, prefix_space="unless_space", pattern=r" ?\w+", drops_gaps=True),
        "x.json",
        "before texts that have none",
    ),
    (replace(BYTES, pattern="a{1,2}+"), "x.json", "another meaning"),
    (replace(BYTES, mark_is_space=True), "x.json", "where symbols are bytes"),
    (replace(CHARS, mark_is_space=True, pattern="gpt2"), "x.json", "where spaces become"),
]


# What is written of these is not written at all, or is not clear to a reader.
UNREADABLE = (
    "its symbols",
    "not _",
    "U[+]2581",
    "another meaning",
    "where spaces become",
    "behind",
)


@pytest.mark.parametrize(("vocabulary", "name", "reason"), LOSSES)
def test_losses_are_refused(vocabulary: Vocabulary, name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=f"{reason}.*; hint: lossy=True"):
        formats.save(vocabulary, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("vocabulary", "name"),
    [(v, n) for v, n, reason in LOSSES if not any(word in reason for word in UNREADABLE)],
)
def test_losses_are_accepted(vocabulary: Vocabulary, name: str, tmp_path: Path) -> None:
    formats.save(vocabulary, tmp_path / name, lossy=True)
    assert formats.load(tmp_path / name).alphabet == vocabulary.alphabet


@pytest.mark.parametrize("name", ["x.tiktoken", "vocab.json"])
def test_other_symbols_cannot_be_written_at_all(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="bytes, found characters"):
        formats.save(CHARS, tmp_path / name, lossy=True)
    assert not list(tmp_path.iterdir())


def test_a_file_stays_as_it_was_if_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    formats.save(BYTES, path)
    before = path.read_bytes()
    # "Ġ" is how the space is written, whose id is 32.
    with pytest.raises(ConversionError, match="two tokens would be written as 'Ġ'"):
        formats.save(replace(BYTES, special_tokens={"Ġ": 300}), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]


def test_ranks_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="with merges"):
        formats.save(replace(BYTES, merges=None, ranks=BYTES.tokens), tmp_path / "x.json")


def test_names_decide_the_format(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'x.bin'.*hint: give format="):
        formats.save(BYTES, tmp_path / "x.bin")
    formats.save(BYTES, tmp_path / "x.bin", format="tokenizer_json")
    assert replace(formats.load(tmp_path / "x.bin"), extras={}) == BYTES
    with pytest.raises(ValueError, match="no format is named 'zip'"):
        formats.load(tmp_path / "x.bin", format="zip")


def test_the_caller_knows_better(tmp_path: Path) -> None:
    formats.save(BYTES, tmp_path / "x.json")
    vocabulary = formats.load(tmp_path / "x.json", pattern="o200k", special_tokens={"<s>": 500})
    assert (vocabulary.pattern, vocabulary.special_tokens) == ("o200k", {"<s>": 500})
    with pytest.raises(TypeError, match="map texts to ids, found list"):
        formats.load(tmp_path / "x.json", special_tokens=["<s>"])  # type: ignore[arg-type]
    for wrong in ({"<s>": -1}, {"": 300}, {"<s>": 300, "</s>": 300}):
        with pytest.raises(ValueError, match="special_tokens must"):
            formats.load(tmp_path / "x.json", special_tokens=wrong)
    with pytest.raises(FormatError, match="'<s>' with the id 97 of another token"):
        formats.load(tmp_path / "x.json", special_tokens={"<s>": 97})


# Regular expressions.

# Engines know different versions of Unicode, so letters are old ones.
TEXT_FOR_PATTERNS = st.text(
    st.one_of(
        st.sampled_from("aA1'sStleR \n\r\t\u00a0\u2028ſ.,/é中\u0301"),
        st.characters(max_codepoint=0x24F),
        st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5),
    ),
    max_size=20,
)


def found_by(expression: str, text: str) -> list[str]:
    return [found[0] for found in regex.finditer(expression.replace("$", r"\Z"), text)]


@pytest.mark.parametrize("spelling", regexes.NAMES)
@given(text=TEXT_FOR_PATTERNS)
def test_published_spellings_are_the_named_patterns(spelling: str, text: str) -> None:
    named = regexes.PATTERNS[regexes.NAMES[spelling]]
    assert found_by(spelling, text) == found_by(named, text)


@pytest.mark.parametrize("pattern", sorted(regexes.COMPLETE))
@given(text=TEXT_FOR_PATTERNS)
def test_complete_patterns_leave_no_gap(pattern: str, text: str) -> None:
    assert "".join(found_by(regexes.PATTERNS.get(pattern, pattern), text)) == text


@pytest.mark.parametrize("pattern", [*regexes.PATTERNS, r"\s+$|^\s|\w+", r"[$^a]+|[\w.]|\W"])
@given(text=TEXT_FOR_PATTERNS)
def test_tokenizers_cuts_by_the_written_pattern(pattern: str, text: str) -> None:
    written = regexes.to_oniguruma(pattern) or ""
    split = pre_tokenizers.Split(tokenizers.Regex(written), "isolated")
    words = words_of(Vocabulary(tokens={}, merges=[], pattern=pattern), text)
    assert [word for word, _ in split.pre_tokenize_str(text)] == words


def test_the_older_cl100k_is_another_pattern() -> None:
    assert regexes.from_tiktoken(regexes.LLAMA3) == (regexes.LLAMA3, False)
    assert found_by(regexes.LLAMA3, "\n  ") == ["\n", "  "]
    assert found_by(regexes.PATTERNS["cl100k"], "\n  ") == ["\n  "]


def test_reading_shows_its_place() -> None:
    error = Reading(path=Path("x")).wrong("line 3", "a", "b", hint="c")
    assert str(error) == "x: line 3: found a, expected b; hint: c"


def test_the_last_number_is_no_rank(tmp_path: Path) -> None:
    """A rank of 2^32 - 1 is refused where it is read, and not written."""
    last = (1 << 32) - 1
    lines = [f"{base64.b64encode(bytes([byte])).decode()} {byte}" for byte in range(256)]
    path = tmp_path / "x.tiktoken"
    path.write_text("\n".join([*lines, f"YWI= {last}"]))
    with pytest.raises(FormatError, match="line 257"):
        Tokenizer.from_file(path, pattern=None, special_tokens={})
    tokens = {**{bytes([byte]): byte for byte in range(256)}, b"ab": last}
    tokenizer = Tokenizer(Vocabulary(tokens=tokens, merges=[(b"a", b"b")]))
    with pytest.raises(ConversionError, match="4294967295"):
        tokenizer.save(tmp_path / "y.tiktoken")
