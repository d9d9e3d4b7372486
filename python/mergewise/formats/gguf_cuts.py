r"""How llama.cpp cuts texts into words: what the name `tokenizer.ggml.pre` stands for.

Each name has one or more regular expressions. The first cuts the text, each other one cuts the
words that are there by then; what an expression does not match is a word, too. A property such as
`\p{Lu}` means any letter in llama.cpp, so that \p{L} stands for it here, and white space is what
Unicode says.
"""

from __future__ import annotations

from typing import Final

from mergewise.formats.regexes import PATTERNS

# Parts of the expressions. Contractions are of ASCII letters alone.
SHORT: Final = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])"
WORD: Final = r"[^\r\n\p{L}\p{N}]?\p{L}+"
SPACES: Final = r"\s*[\r\n]+|\s+(?!\S)|\s+"
MARKS: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
MARKS_OR_SLASH: Final = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
PUNCTUATED: Final = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+"
)
# Digits in groups of three, counted from the last; led: the first has what stands before it.
THREES: Final = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
LED_THREES: Final = rf"\P{{N}}+(?:{THREES})?|{THREES}"
# A word that begins where it does or where a multiple of three digits ends a number.
SUPERBPE_THREES: Final = r"[\s\S](?:(?!(?:[0-9]{3})+(?![0-9]))[\s\S])*"
# Letters that have a case in DeepSeek's first models, and the other ranges that they name.
CASED: Final = (
    r"A-Za-z\x{00B5}\x{00C0}-\x{00D6}\x{00D8}-\x{00F6}\x{00F8}-\x{01BA}\x{01BC}-\x{01BF}"
    r"\x{01C4}-\x{0293}\x{0295}-\x{02AF}\x{0370}-\x{0373}\x{0376}\x{0377}\x{037B}-\x{037D}"
    r"\x{037F}\x{0386}\x{0388}-\x{038A}\x{038C}\x{038E}-\x{03A1}\x{03A3}-\x{03F5}"
    r"\x{03F7}-\x{0481}\x{048A}-\x{052F}\x{0531}-\x{0556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}"
    r"\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}"
    r"\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}"
    r"\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}"
    r"\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}"
    r"\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}"
    r"\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}"
    r"\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}"
    r"\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}"
    r"\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}"
    r"\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}"
    r"\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}"
    r"\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}"
)
WIDE: Final = r"[\x{0800}-\x{9FA5}\x{AC00}-\x{D7FF}&&\S]+"
KANJI: Final = r"[\x{4E00}-\x{9FA5}\x{3040}-\x{30FF}]+"
ASIAN: Final = (
    r"[\x{0E40}-\x{0EFF}\x{1000}-\x{109F}\x{1100}-\x{11FF}\x{1780}-\x{17FF}\x{2F00}-\x{2FDF}"
    r"\x{3040}-\x{30FF}\x{3400}-\x{4DBF}\x{4E00}-\x{FAFF}\x{FF65}-\x{FF9F}]+"
)
HAN: Final = (
    r"\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2EBEF}\x{F900}-\x{FAFF}"
    r"\x{2F800}-\x{2FA1F}"
)
KOREAN_AND_WIDE_MARKS: Final = (
    r"[\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[！…“”‘’—：；，、-〿︰-﹏]+|[\x{3105}-\x{312F}]+"
    rf"|{KANJI}"
)
CHINESE_MARKS: Final = r" ?[^(\s|.,!?…。，、।۔،)]+"

GPT2: Final = PATTERNS["gpt2"]
QWEN2: Final = rf"{SHORT}|{WORD}|\p{{N}}|{MARKS}|{SPACES}"
LLAMA3: Final = rf"{SHORT}|{WORD}|\p{{N}}{{1,3}}|{MARKS}|{SPACES}"


def cased(upper: str, lower: str, digits: str, end: str = "") -> str:
    """The expression of GPT-4o's kind: words of capitals, then of small letters."""
    start = r"[^\r\n\p{L}\p{N}]?"
    return (
        f"{start}{upper}*{lower}+{end}|{start}{upper}+{lower}*{end}|{digits}|{MARKS_OR_SLASH}"
        f"|{SPACES}"
    )


GPT4O: Final = cased(r"[\p{L}&&[^a-z]]", r"[\p{L}&&[^A-Z]]", r"\p{N}{1,3}", f"(?:{SHORT})?")
LINES: Final = r"[^\n]+|\n+"
QWEN35: Final = (
    rf"{SHORT}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{SPACES}"
)
KIMI: Final = (
    rf"[{HAN}]+|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}&&[^{HAN}]]+(?:{SHORT})?|\p{{N}}{{1,3}}"
    rf"|{MARKS}|{SPACES}"
)
EXAONE: Final = (
    rf"{SHORT}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
)
TINY_AYA: Final = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+(?:{SHORT})?|\p{{N}}{{1,3}}|{MARKS_OR_SLASH}"
    rf"|{SPACES}"
)
LIKE_LLAMA3: Final = (
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"
)
# The names of each sequence of expressions.
SEQUENCES: Final[dict[tuple[str, ...], str]] = {
    (GPT2,): (
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert mpt "
        "olmo jais trillion granite-docling exaone4 jina-v1-en jina-v2-code roberta-bpe"
    ),
    (LLAMA3,): f"{LIKE_LLAMA3} dbrx smaug-bpe chatglm-bpe glm4 glm5",
    (QWEN2,): "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 hunyuan solar-open megrez grok-2",
    (QWEN35,): "qwen35",
    (rf"{WORD}|\p{{N}}|{MARKS}|{SPACES}",): "ufakzeka",
    (r"\p{N}", GPT2): ("starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"),
    (r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"): "falcon",
    (r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"): "default",
    (
        r"[\r\n]",
        rf"\s?[{CASED}]+",
        r"\s?[!-/:-~！-／：-～‘-‟、-。]+",
        r"\s+$",
        WIDE,
        r"\p{N}+",
    ): "deepseek-llm",
    (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", WIDE, r"\p{N}"): "deepseek-coder",
    (r"\p{N}{1,3}", KANJI, rf"{PUNCTUATED}[\r\n]*|{SPACES}"): (
        "deepseek-v3 hunyuan-dense joyai-llm hy_v4"
    ),
    (r"\p{N}{1,3}", KANJI, rf"{PUNCTUATED}|[\r\n]|\s+(?!\S)|\s+", r"\p{N}"): "spark2_5",
    (LED_THREES, ASIAN, rf"{PUNCTUATED}[\r\n]*|{SPACES}"): "afmoe",
    (
        KOREAN_AND_WIDE_MARKS,
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+(?:{SHORT})?|\p{{N}}|{MARKS_OR_SLASH}|{SPACES}",
    ): "youtu",
    (LED_THREES, TINY_AYA): "tiny_aya cohere2moe",
    (GPT4O,): "gpt-4o llama4 kanana2 talkie minimax-m2",
    (
        cased(r"[\p{L}\p{M}&&[^a-z]]", r"[\p{L}\p{M}&&[^A-Z]]", r"\p{N}{1,3}", f"(?:{SHORT})?"),
    ): "granite-embed-multi-97m",
    (cased(r"[\p{L}&&[^a-z]]", r"[\p{L}&&[^A-Z]]", r"\p{N}"),): "tekken",
    (KIMI,): "kimi-k2",
    (rf"{SHORT}|{WORD}|\p{{N}}|{MARKS}|\s*[\r\n]|\s+(?!\S)|\s+",): (
        "bailingmoe bailingmoe2 llada-moe"
    ),
    (rf"{SHORT}|{WORD}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{SPACES}",): "seed-coder",
    (EXAONE,): "exaone-moe",
    (
        rf"{SHORT}|{WORD}|\p{{N}}{{1,3}}|{MARKS}|\s*[\r\n]+"
        + "".join(rf"|\s{{{size}}}(?!\S)" for size in (512, 256, 128, 64, 32, 16, 8, 4))
        + r"|\s{1,2}(?!\S)|\s",
    ): "jais-2",
    (r"\p{N}{1,3}", rf"{SHORT}|{WORD}|\p{{N}}+|{MARKS}|{SPACES}"): "minicpm5",
    (LINES, QWEN2): "laguna",
    (CHINESE_MARKS,): "poro-chat bloom gpt3-finnish",
    (CHINESE_MARKS, r"\p{N}"): "viking",
    (r"\p{N}+", SUPERBPE_THREES): "superbpe",
    (
        "<sentinel:[0-9]+>",
        "IMGIMG[A-I]{1,4}Z",
        r"[\t\n]|    |  ",
        r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]",
        GPT2,
    ): "chameleon",
}
EXPRESSIONS: Final = {
    name: expressions for expressions, names in SEQUENCES.items() for name in names.split()
}
# The names whose words become tokens whatever their merges make of them.
BY_WHOLE_WORDS: Final = frozenset(
    f"{LIKE_LLAMA3} minicpm5 youtu glm4 glm5 tekken granite-embed-multi-97m".split()
)
# The names whose texts begin with the token BOS unless the file says otherwise.
BEGUN: Final = frozenset(f"{LIKE_LLAMA3} tekken chameleon".split())
# The names of vocabularies over characters with marks for spaces, cut into lines.
OF_CHARACTERS: Final = frozenset({"gemma4", "granite-embed-multi-311m", "sarvam-moe"})
