"""Texts of many kinds, on which libraries are compared: seeded, so that everybody has the same."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
OPTICKS = (ROOT / "python/mergewise/data/opticks.txt").read_text(encoding="utf-8")

LANGUAGES = """\
Light is bent the more, the denser the glass; isn't it? We'll see, they're sure: I'd SAY'S so.
Der Zug fährt über die Brücke, und Großväter müssen früh aufstehen — „so ist's“.
L’été dernier, nous avons mangé des œufs à Noël… n'est-ce pas ?
El niño comió piñas; ¿qué hora es? ¡Las once y media!
Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.
Cả nhà đều đã ngủ; trời tối đen như mực. Tiếng Việt có dấu.
Ο ήλιος ανατέλλει από την ανατολή και δύει στη δύση.
Все люди рождаются свободными и равными в своём достоинстве и правах.
כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. שָׁלוֹם
يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. ٣٤٥ مرحباً
सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। १२३
সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।
மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์
人人生而自由,在尊严和权利上一律平等。他們賦有理性和良心,2026年11月。
すべての人間は、生まれながらにして自由であり、カタカナとひらがなとﾊﾝｶｸ。
모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.
ყველა ადამიანი იბადება თავისუფალი. Բոլոր մարդիկ ծնվում են ազատ։
Idąc gęstą mgłą, źrebię zgubiło się; żółw je znalazł 7 września o 5:30.
Iğdır'da ılık bir gündü; İZMİR'e giden gemi ışıldıyordu. ŞIK mı, şık mı?
Їжак і ґава сиділи під в'язом; об'єкт № 12 — п'ять кілограмів.
نور از شیشه می‌گذرد و خم می‌شود؛ ۱۲۳ بار دیدم. گل‌های «سرخ»
వెలుగు గాజులో వంగుతుంది. ౧౨౩ కాంతి క్ష
വെളിച്ചം ചില്ലിലൂടെ വളയുന്നു. ൧൨൩ അവൻ‌ ന്റെ
ແສງໂຄ້ງໃນແກ້ວ ໑໒໓ ນ້ຳ
အလင်းသည် ဖန်ထဲတွင် ကွေးသည်။ ၁၂၃ မြန်မာ
ពន្លឺបត់ក្នុងកញ្ចក់ ១២៣ ភាសាខ្មែរ។
ብርሃን በመስታወት ውስጥ ይጎብጣል። ፩፪፫
Ὁ ἥλιος· ᾳ ᾼ ΐ ΌΣΟΣ ὀδός — ΣΑΣ σας
𝔄𝔩𝔩𝔢 𝐛𝐨𝐥𝐝 𝟙𝟚𝟛 𠮷野家 𡨸喃 ﬁ ﬂ Ⅻ ¾ x³ ㎡ ℡ № ㍻ ｱｲｳ ＡＢＣ①⑳
"""
CODE = """\
def merge(pairs: list[tuple[int, int]], *, limit=1_000) -> dict[str, float]:
\tfor i, (left, right) in enumerate(pairs):
        if left != right and not (i % 17):  # it's a comment: don't split\r
            yield {"key": f"{left:>10.3f}\\n", 'other': [0x7F, 1e-9, 3.14159, 123456789]}

fn main() { let v: Vec<u8> = b"\\xff\\x00".to_vec(); println!("{:?}", v.iter().sum::<u8>()); }
<div class="a b"><a href='https://example.org/?q=%20&amp;r=1#x'>it&#39;s</a></div>
SELECT * FROM t WHERE a<=b AND c LIKE '%\\_%' ORDER BY 1;\n\n\n    $HOME/.config && ls | grep '^d'
"""
SPACES = [
    "",
    " ",
    "\n",
    "\n  ",
    "  \n\n  \t x \r\n\r\n  ",
    "a  b   c    d\u00a0e\u2003f\u3000g\u200bh\ufeffi\u2028j\u0085k",
    " " * 300 + "x" + "\n" * 300 + "y" + "\t \n" * 200,
    "a" * 3000,
    "ab" * 700 + "-" * 700 + "." * 700 + "0" * 700,
    "".join(map(chr, range(256))),
    "".join(map(chr, range(1, 32))) * 3,
    "cafe\u0301 café ﬁn Å Å \u1100\u1161\u11a8 각 \u0301\u0302 e\u0327\u0301 \u0344",
    "👩‍👩‍👧‍👦 👍🏽🏳️‍🌈 🇩🇪🇫🇷 1️⃣ ☺︎ 😀😀😀",
    "▁low ▁▁ low▁ _▁_",
    "it's IT'S we'LL ſ'ſ I'ſ 'K '\u212a don't'd",
]

# Libraries know different versions of Unicode, so no code point is drawn that may be assigned yet.
NEVER_ASSIGNED = [0x40000, 0x9ABCD, 0xDFFFF, 0xFFFE, 0xFFFFF, 0x10FFFF]
MOVED = "\u0295"  # a letter without case since Unicode 17


def is_settled(character: str) -> bool:
    """Do all libraries agree on this one? tokenizers normalises as Unicode 9 did."""
    if unicodedata.category(character) in {"Cn", "Cs"} or character == MOVED:
        return False
    is_plain = not unicodedata.combining(character) and not unicodedata.decomposition(character)
    return is_plain or unicodedata.ucd_3_2_0.category(character) != "Cn"


@cache
def assigned() -> tuple[list[str], ...]:
    """The characters of each plane that has some, private ones included."""
    planes: dict[int, list[str]] = {}
    for code in [*range(0x32400), *range(0xE0000, 0xE0200), *range(0x10FF00, 0x10FFFE)]:
        if is_settled(chr(code)):
            planes.setdefault(code >> 16, []).append(chr(code))
    return tuple(planes.values())


PIECES: list[Callable[[random.Random], str]] = [
    lambda draw: draw.choice(
        ["the", "THE", "it's", "we'll", "I'D", "12", "3456", "x_1", "…", "--"]
    ),
    lambda draw: draw.choice(LANGUAGES.split()),
    lambda draw: draw.choice([" ", " ", "  ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u3000"]),
    lambda draw: " " * draw.randrange(1, 9) + "\n" * draw.randrange(3),
    lambda draw: draw.choice(draw.choice(assigned())),
    lambda draw: draw.choice(assigned()[0]),
    lambda draw: "".join(draw.choices(assigned()[0], k=draw.randrange(1, 6))),
    lambda draw: "".join(draw.choices(assigned()[1], k=draw.randrange(1, 4))),
    lambda draw: draw.choice(["😀", "👩‍💻", "👍🏽", "🇩🇪", "☺️", "❤️‍🔥", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]),
    lambda draw: draw.choice("aeiouAEIOUnc가ก") + chr(draw.randrange(0x300, 0x34F)),
    lambda draw: "".join(chr(draw.randrange(0x4E00, 0x9FA6)) for _ in range(draw.randrange(1, 6))),
    lambda draw: "".join(chr(draw.randrange(0x620, 0x653)) for _ in range(draw.randrange(1, 8))),
    lambda draw: "".join(chr(draw.randrange(0x904, 0x950)) for _ in range(draw.randrange(1, 8))),
    lambda draw: chr(draw.choice([*range(32), 0x7F, 0x85, *NEVER_ASSIGNED])),
    lambda draw: draw.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") * draw.randrange(1, 5),
    lambda draw: draw.choice(CODE.split()),
]


def random_text(draw: random.Random, num_pieces: int) -> str:
    """Pieces of every kind, one after the other."""
    return "".join(piece(draw) for piece in draw.choices(PIECES, k=num_pieces))


# One text for each thing that some tokenizer treats in a way of its own.

ODD_SPACES = [
    *(" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x1f", "\u0085"),
    *("\u00a0", "\u1680", "\u180e", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"),
    *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"),
]
EMOJI = [
    *("😀", "👩‍👩‍👧‍👦", "👍🏽", "🏳️‍🌈", "🇩🇪🇫🇷", "1️⃣", "☺︎", "☺️", "❤️‍🔥", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🧑🏿‍🚀", "😀😀😀😀"),
    *("🫠", "🪿", "👁️‍🗨️", "©️", "™️"),
]
ODDITIES = [
    # Letters with which files mark spaces, bytes and the ends of words.
    *("▁", "▁▁", "Ġ", "ĠĠ", "Ċ", "ĉ", "</w>", "<0x0A>", "<0xE2>", "@@", "@@ ", "##ing", "Ã©"),
    # Letters whose case or normal form is peculiar.
    *(
        "ſ",
        "'ſ",
        "\u212a",
        "ß",
        "ẞ",
        "İ",
        "ı",
        "ǅ",
        "ŉ",
        "ΐ",
        "Ω",
        "Å",
        "e\u0301",
        "\u0344",
        "\u0301",
    ),
    *("\u1100\u1161\u11a8", "가", "か\u3099", "ｶﾞ", "ﷺ", "\u0958", "\U00011a34\u0300", "\U0001079b"),
    # What is not a character, or is not seen.
    *(
        "\x00",
        "\x01",
        "\x7f",
        "\x9f",
        "\ufffd",
        "\ufffe",
        "\uffff",
        "\ufdd0",
        "\ue000",
        "\U000f0000",
    ),
    *("\U0010fffd", "\U0010ffff", "\u202e", "\u2066x\u2069", "\u00ad", "\u034f", "\U000e0041"),
    # Apostrophes, which patterns look for.
    *("'", "''", "’s", "'s", "'S", "'RE", "'ll", "'LL", "'d'", "n't", "·", "々", "〱", "ー", "𝄞"),
]
NAMES = [
    *(
        "<|endoftext|>",
        "<s>",
        "</s>",
        "<unk>",
        "<pad>",
        "<mask>",
        "<bos>",
        "<eos>",
        "[CLS]",
        "[UNK]",
    ),
    *("[INST]", "[/INST]", "<|im_start|>", "<|im_end|>", "<start_of_turn>", "<|begin_of_text|>"),
    *(
        "<|eot_id|>",
        "<|user|>",
        "<think>",
        "</think>",
        "<|fim_prefix|>",
        "<extra_id_0>",
        "<tool_call>",
    ),
    *("<|startoftext|>", "<|endofprompt|>", "<｜begin▁of▁sentence｜>", "<EOT>", "<|0.00|>"),
]
REPEATED = [
    *(" ", "\n", "\t", "\r\n", "\n ", " \n", "\u00a0", "\u200d", "▁", "Ġ", "\x00"),
    *(
        "a",
        "A",
        "ab",
        "aB",
        "é",
        "ä\u0308",
        "\u0301",
        "我",
        "ก",
        "😀",
        "the ",
        " the",
        "aa ",
        "0",
        "9",
        "0 ",
    ),
    *("-", ".", "=", "#", "*", "'", "(", "/", "_", "~", "!?"),
]
TIMES = [2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 64, 100, 255, 700]


def random_character(draw: random.Random) -> str:
    """Any code point of a text, the lower ones more often."""
    code = draw.randrange(draw.choice([0x80, 0x800, 0x10000, 0x20000, 0x110000]))
    return random_character(draw) if 0xD800 <= code <= 0xDFFF else chr(code)


def random_assigned(draw: random.Random) -> str:
    """A character of the Unicode that Python knows."""
    code = draw.choice([draw.randrange(0x3000), draw.randrange(0x10000), draw.randrange(0x20000)])
    category = unicodedata.category(chr(code))
    return random_assigned(draw) if category in {"Cn", "Cs"} else chr(code)


def part_of(text: str, draw: random.Random, longest: int) -> str:
    start = draw.randrange(len(text))
    return text[start : start + draw.randrange(1, longest)]


def single_texts() -> Iterator[str]:
    """Each peculiar thing alone, behind a space, and between letters."""
    yield from ["", "a", " a", "a ", " a ", "ab\x00cd", "\ufeffa"]
    for thing in [*ODD_SPACES, *EMOJI, *ODDITIES, *NAMES]:
        yield from [thing, f" {thing}", f"x{thing}y"]
    yield from (f"{name} x" for name in NAMES)


def long_texts() -> Iterator[str]:
    """Lines, whole documents, repetitions, and blocks of Unicode."""
    for document in (LANGUAGES, CODE):
        yield from [*document.splitlines(), document, document.replace("\n", "\r\n")]
    yield from [LANGUAGES.upper(), LANGUAGES.lower(), CODE.title()]
    yield from [OPTICKS[:8000], OPTICKS[100_000:104_000].upper(), OPTICKS[50_000:52_000].title()]
    for unit in REPEATED:
        yield from (unit * times for times in TIMES if times * len(unit) <= 1500)
    yield from [
        "a" * 4000,
        " " * 4000 + "x",
        "\n" * 2000,
        "0" * 3000,
        "x" + " " * 3000,
        "word " * 800,
    ]
    for first, last in [
        (0, 256),
        (0x300, 0x370),
        (0x2000, 0x2070),
        (0xFE00, 0xFE10),
        (0xFF00, 0xFFF0),
    ]:
        yield "".join(map(chr, range(first, last)))


def random_texts(draw: random.Random) -> Iterator[str]:
    """First so many of each kind, then mixtures without an end."""
    words = OPTICKS[:200_000].split() + 30 * LANGUAGES.split() + 30 * CODE.split()
    for _ in range(150):
        yield draw.choice(words) + draw.choice(ODD_SPACES) + draw.choice(words)
        yield part_of(OPTICKS, draw, 500)
    for _ in range(100):
        yield part_of(CODE, draw, 300)
        yield "".join(random_character(draw) for _ in range(draw.randrange(1, 30)))
    for _ in range(200):
        yield "".join(random_assigned(draw) for _ in range(draw.randrange(1, 40)))
    peculiar = [*ODD_SPACES, *EMOJI, *ODDITIES, *NAMES]
    while True:
        parts = [random_text(draw, draw.randrange(1, 5)) for _ in range(draw.randrange(1, 6))]
        yield "".join(part + draw.choice(peculiar) for part in parts)


@cache
def varied_texts() -> tuple[str, ...]:
    """2,150 different texts."""
    draw = random.Random(7)  # noqa: S311 (not for secrets)
    texts: dict[str, None] = dict.fromkeys([*single_texts(), *long_texts()])
    rest = random_texts(draw)
    while len(texts) < 2150:
        texts[next(rest)] = None
    return tuple(texts)


def texts_around(token: str) -> list[str]:
    """A special token alone, between spaces, in words, doubled, and what is almost one."""
    around = [
        token,
        f" {token} ",
        f"a {token} b",
        f"a{token}b",
        f"{token}{token}",
        f"{token} {token}",
    ]
    return [*around, f"a\n\t{token}\n\nb", f"é{token}1", f".{token}!", token.upper(), token[:-1]]
