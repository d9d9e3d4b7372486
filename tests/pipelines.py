"""One small tokenizer for each option of tokenizers' pipelines, and for what real models combine.

Where the trainer cannot make what a real file has, the file is edited.
"""

from __future__ import annotations

from small_tokenizers import (
    BYTES,
    LETTERS,
    Document,
    Row,
    byte_level,
    characters,
    compiled_map,
    end_of_word,
    in_model,
    then_bytes,
    with_bytes,
    with_token,
    without_making,
)
from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers, processors

SPLIT = pre_tokenizers.Split
BEHAVIOURS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
MASK = "<mask>"
HELLO = [AddedToken("hello"), AddedToken(" world"), AddedToken("hello wor")]
MARKS = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
LLAMA_DECODER = decoders.Sequence(
    [
        decoders.Replace("▁", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
)
DIGITS_AND_BYTES = pre_tokenizers.Sequence(
    [
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    ]
)
CLIP_PATTERN = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
UNK = ("[UNK]", 0)
GOING_ON: Document = {
    "model": {"unk_token": "[UNK]", "continuing_subword_prefix": "##"},
    "trainer": {"continuing_subword_prefix": "##"},
}

NORMALIZERS = {
    "NFC": normalizers.NFC(),
    "NFD": normalizers.NFD(),
    "NFKC": normalizers.NFKC(),
    "NFKD": normalizers.NFKD(),
    "Lowercase": normalizers.Lowercase(),
    "Strip": normalizers.Strip(),
    "Strip, left": normalizers.Strip(left=True, right=False),
    "StripAccents": normalizers.StripAccents(),
    "NFD and StripAccents": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    "Replace an expression": normalizers.Replace(Regex(r"\s+"), " "),
    "Replace a string by a longer one": normalizers.Replace("e", "eee"),
    "Prepend": normalizers.Prepend("x"),
    "Nmt": normalizers.Nmt(),
    "Precompiled": normalizers.Precompiled(compiled_map("nmt_nfkc")),
    "Precompiled, case folded": normalizers.Precompiled(compiled_map("nmt_nfkc_cf")),
    "BertNormalizer": normalizers.BertNormalizer(),
    "BertNormalizer, cased": normalizers.BertNormalizer(lowercase=False, strip_accents=True),
    "NFKC, Lowercase and Replace": normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Lowercase(), normalizers.Replace(Regex(" {2,}"), " ")]
    ),
}

PRE_TOKENIZERS = {
    "Digits": pre_tokenizers.Digits(),
    "Digits, each alone": pre_tokenizers.Digits(individual_digits=True),
    "UnicodeScripts": pre_tokenizers.UnicodeScripts(),
    "BertPreTokenizer": pre_tokenizers.BertPreTokenizer(),
    "CharDelimiterSplit": pre_tokenizers.CharDelimiterSplit(" "),
    "FixedLength": pre_tokenizers.FixedLength(3),
    "WhitespaceSplit": pre_tokenizers.WhitespaceSplit(),
    "Whitespace": pre_tokenizers.Whitespace(),
    **{f"Punctuation, {how}": pre_tokenizers.Punctuation(how) for how in BEHAVIOURS},
    **{f"Split at spaces, {how}": SPLIT(" ", how) for how in BEHAVIOURS},
    **{f"Split by an expression, {how}": SPLIT(Regex(r"\s+|\p{N}"), how) for how in BEHAVIOURS},
    **{f"Split, inverted, {how}": SPLIT(Regex(r"\w+"), how, invert=True) for how in BEHAVIOURS},
    "Two Splits": pre_tokenizers.Sequence(
        [SPLIT(Regex(r"\p{N}{1,3}"), "isolated"), SPLIT(Regex(r"\p{L}+"), "isolated")]
    ),
}

ROWS: dict[str, Row] = {
    "ByteLevel": byte_level(),
    "ByteLevel, no alphabet": byte_level(trainer={}),
    "ByteLevel, prefix space": byte_level(pre_tokenizer=pre_tokenizers.ByteLevel()),
    "ByteLevel, no decoder": byte_level(decoder=None),
    "ByteLevel, no expression": byte_level(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    ),
    "ByteLevel as a normalizer": byte_level(normalizer=normalizers.ByteLevel(), pre_tokenizer=None),
    **{f"normalizer {name}": byte_level(normalizer=part) for name, part in NORMALIZERS.items()},
    **{
        f"characters, normalizer {name}": characters(
            normalizer=part, pre_tokenizer=pre_tokenizers.WhitespaceSplit()
        )
        for name, part in NORMALIZERS.items()
    },
    **{
        f"pre-tokenizer {name}": byte_level(pre_tokenizer=then_bytes(part))
        for name, part in PRE_TOKENIZERS.items()
    },
    **{
        f"characters, pre-tokenizer {name}": characters(pre_tokenizer=part)
        for name, part in PRE_TOKENIZERS.items()
    },
    "no pre-tokenizer": characters(),
    "no unknown token": Row(pre_tokenizer=pre_tokenizers.Whitespace()),
    "fuse_unk": characters(
        model={"unk_token": "[UNK]", "fuse_unk": True}, pre_tokenizer=pre_tokenizers.Whitespace()
    ),
    "ignore_merges": byte_level(edit=in_model(ignore_merges=True)),
    "ignore_merges, a token that no merge makes": byte_level(
        edit=with_token("Ġconcerning", ignore_merges=True)
    ),
    "a token that no merge makes": byte_level(edit=with_token("Ġconcerning")),
    "a merge of a token that no merge makes": byte_level(edit=without_making),
    "a letter that is no byte": byte_level(edit=with_token("→→")),
    "an empty token": byte_level(edit=with_token("")),
}


# Spaces that are marked, and ends of words.

METASPACE: dict[str, Document] = {
    "Metaspace": {},
    "Metaspace, never": {"prepend_scheme": "never"},
    "Metaspace, first": {"prepend_scheme": "first"},
    "Metaspace, whole": {"split": False},
    "Metaspace, first, whole": {"prepend_scheme": "first", "split": False},
    "Metaspace, another mark": {"replacement": "_"},
}
ROWS |= {
    name: characters(
        pre_tokenizer=pre_tokenizers.Metaspace(**options), decoder=decoders.Metaspace(**options)
    )
    for name, options in METASPACE.items()
}
ROWS |= {
    "Metaspace, bytes": characters(
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]),
        edit=with_bytes(),
    ),
    "Metaspace, added tokens": characters(
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first"),
        decoder=decoders.Metaspace(prepend_scheme="first"),
        added=[AddedToken(MASK, special=True), *HELLO],
    ),
    "ends of words": end_of_word(
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(), decoder=decoders.BPEDecoder()
    ),
    "ends of words, punctuation": end_of_word(
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(), decoder=decoders.BPEDecoder()
    ),
    "ends of words, lower case": end_of_word(
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.BPEDecoder(),
    ),
    "prefix of what goes on": Row(
        **GOING_ON,
        pre_tokenizer=pre_tokenizers.Whitespace(),
        decoder=decoders.WordPiece(),
    ),
    "prefix of what goes on, no clean-up": Row(
        **GOING_ON,
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(cleanup=False),
    ),
}

# Decoders.

DECODERS = {
    "ByteFallback": decoders.ByteFallback(),
    "Fuse": decoders.Fuse(),
    "Strip": decoders.Strip("e", 2, 0),
    "Replace": decoders.Replace("e", " "),
    "Replace an expression": decoders.Replace(Regex("[aeiou]+"), "*"),
    "WordPiece": decoders.WordPiece(),
    "CTC": decoders.CTC(pad_token="[UNK]", word_delimiter_token="|"),
    "BPEDecoder": decoders.BPEDecoder(),
    "Metaspace": decoders.Metaspace(),
    "Fuse and Strip": decoders.Sequence([decoders.Fuse(), decoders.Strip(" ", 2, 0)]),
    "Strip and Fuse": decoders.Sequence([decoders.Strip(" ", 1, 0), decoders.Fuse()]),
    "of Llama 2": LLAMA_DECODER,
}
ROWS |= {
    f"decoder {name}": characters(
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="never"),
        decoder=part,
        added=[AddedToken(MASK, special=True)],
    )
    for name, part in DECODERS.items()
}

# Added tokens.

FLAGS = ["lstrip", "rstrip", "single_word", "normalized", "special"]
ADDED = {
    **{flag: [AddedToken(MASK, **{flag: True})] for flag in FLAGS},
    "lstrip, special": [AddedToken(MASK, lstrip=True, special=True)],
    "both sides": [AddedToken(MASK, lstrip=True, rstrip=True), AddedToken("<s>", rstrip=True)],
    "single words": [AddedToken("the", single_word=True), AddedToken("of", single_word=True)],
    "single words, stripped": [AddedToken("the", single_word=True, lstrip=True, rstrip=True)],
    "overlapping": HELLO,
    "spaces": [AddedToken("  "), AddedToken("    "), AddedToken("\n\n")],
    "of the vocabulary": [AddedToken("e", special=True), AddedToken("th")],
    "normalized and not": [
        AddedToken("Hello", normalized=True),
        AddedToken("World", normalized=False),
        AddedToken("É", normalized=True),
    ],
}
ROWS |= {f"added, {name}": byte_level(added=added) for name, added in ADDED.items()}
ROWS |= {
    f"added, lower case, {name}": byte_level(normalizer=normalizers.Lowercase(), added=added)
    for name, added in ADDED.items()
}
ROWS |= {
    f"added, prefix space, {name}": byte_level(
        pre_tokenizer=pre_tokenizers.ByteLevel(), added=added
    )
    for name, added in ADDED.items()
}

# What is put around ids; how many there are.

PROCESSORS = {
    "TemplateProcessing": processors.TemplateProcessing(
        single="[UNK] $A", pair="[UNK] $A [UNK] $B:1", special_tokens=[UNK]
    ),
    "TemplateProcessing, end": processors.TemplateProcessing(
        single="$A [UNK]", special_tokens=[UNK]
    ),
    "BertProcessing": processors.BertProcessing(UNK, UNK),
    "RobertaProcessing": processors.RobertaProcessing(UNK, UNK),
    "RobertaProcessing, whole": processors.RobertaProcessing(
        UNK, UNK, trim_offsets=False, add_prefix_space=False
    ),
    "ByteLevel": processors.ByteLevel(trim_offsets=True),
    "ByteLevel, whole": processors.ByteLevel(trim_offsets=False),
    "ByteLevel and TemplateProcessing": processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(single="[UNK] $A [UNK]", special_tokens=[UNK]),
        ]
    ),
}
ROWS |= {
    f"processor {name}, prefix space {prefix}": byte_level(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=prefix), post_processor=part
    )
    for name, part in PROCESSORS.items()
    for prefix in (False, True)
}
TEMPLATE = PROCESSORS["TemplateProcessing"]
ROWS |= {
    "truncation": byte_level(
        post_processor=TEMPLATE, prepare=lambda peer: peer.enable_truncation(8)
    ),
    "truncation, left": byte_level(
        prepare=lambda peer: peer.enable_truncation(8, direction="left")
    ),
    "padding": byte_level(
        post_processor=TEMPLATE, prepare=lambda peer: peer.enable_padding(length=12)
    ),
    "padding, left": byte_level(
        prepare=lambda peer: peer.enable_padding(direction="left", pad_to_multiple_of=8)
    ),
}

# As real models combine them.

ROWS |= {
    "Llama 2": characters(
        normalizer=MARKS,
        decoder=LLAMA_DECODER,
        added=[AddedToken("<s>", special=True), AddedToken("</s>", special=True)],
        edit=with_bytes(),
    ),
    "Llama 2, normalized tokens": characters(
        normalizer=MARKS,
        decoder=LLAMA_DECODER,
        added=[AddedToken("<s>", normalized=True), AddedToken("a b", normalized=True)],
        edit=with_bytes(),
    ),
    "Gemma": characters(
        normalizer=normalizers.Replace(" ", "▁"),
        pre_tokenizer=SPLIT(" ", "merged_with_previous"),
        decoder=decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        ),
        added=[AddedToken("\n\n", normalized=False), AddedToken("▁▁", normalized=False)],
        edit=with_bytes(BYTES[:9] + BYTES[11:]),
    ),
    "DeepSeek V3": byte_level(
        pre_tokenizer=then_bytes(
            SPLIT(Regex(r"\p{N}{1,3}"), "isolated"),
            SPLIT(Regex("[一-龥぀-ゟ゠-ヿ]+"), "isolated"),
            SPLIT(
                Regex(
                    r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
                ),
                "isolated",
            ),
        )
    ),
    "Falcon": byte_level(
        pre_tokenizer=pre_tokenizers.Sequence(
            [
                pre_tokenizers.Punctuation("contiguous"),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
                pre_tokenizers.Digits(),
                SPLIT(Regex("[0-9][0-9][0-9]"), "isolated"),
            ]
        )
    ),
    "StarCoder": byte_level(pre_tokenizer=DIGITS_AND_BYTES),
    "Command R": byte_level(
        normalizer=normalizers.NFC(),
        pre_tokenizer=DIGITS_AND_BYTES,
    ),
    "RoBERTa": byte_level(
        pre_tokenizer=pre_tokenizers.ByteLevel(),
        post_processor=processors.RobertaProcessing(UNK, UNK),
        added=[AddedToken(MASK, lstrip=True, special=True)],
        trainer={},
    ),
    "CLIP": Row(
        normalizer=normalizers.Sequence(
            [
                normalizers.NFC(),
                normalizers.Replace(Regex(r"\s+"), " "),
                normalizers.Lowercase(),
            ]
        ),
        pre_tokenizer=then_bytes(SPLIT(CLIP_PATTERN, "removed", invert=True)),
        decoder=decoders.ByteLevel(),
        post_processor=processors.RobertaProcessing(UNK, UNK, trim_offsets=False),
        model={"unk_token": "[UNK]", "end_of_word_suffix": "</w>"},
        trainer={"end_of_word_suffix": "</w>", "initial_alphabet": LETTERS},
    ),
    "BERT": Row(
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
        post_processor=processors.BertProcessing(UNK, UNK),
        **GOING_ON,
        added=[AddedToken(MASK, lstrip=True, special=True)],
    ),
}
