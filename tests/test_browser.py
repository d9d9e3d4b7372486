"""The pages in a real browser: what is typed has the ids of `encode`, and every step is shown."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from browser import PHONE, is_too_wide, opened, started_browser
from playwright.sync_api import Browser, Page
from vocabularies import vocabulary

import mergewise as mw
from mergewise.demo import opticks
from mergewise.vocabulary import Vocabulary

OPTICKS = opticks()
TEXTS = {
    "English": "The quick brown fox doesn't jump over 1,234 lazy dogs.  \n\n  It'S o'clock\u2026",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 naïve ✈️ 1️⃣ 🇪🇺",
    "Chinese": "字节对编码把最常见的相邻符号合并成一个新符号。𠮷野家「テスト」",
    "code": "def f(x):\n\tif x >= 0x1F:  # <b>&amp;\n        return {'a': [x, \"y\"]}\n\n\n",
    "marks": "e\u0301 a\u0308\u0323 \u0915\u094d\u0937 ก็ \u200d\u200c \u05d0\u05b8 Z\u0351\u036b",
    "spaces": "\u00a0\u2003\u3000 \u0085 \ufeff \u2028\u2029 \t \u200b x\u00a0 y  ",
    "case": "'S 'ſ 'LL I'M ſ K ﬀ ǅ İı",
    "numbers": "1234567 ١٢٣٤ Ⅷ ½ ²³ 三",
    "special": "a<|end|>b<|end|><|end of text|>c <|en",
    "nothing": "",
}
VERBOSE = r"""(?x: \p{Lu} \p{Ll}* # a name
 | \b\w{2,4}\b | (?>a|ab)c )|[[:alpha:]&&[^x-z]]+|(?m:^.+$)"""
PATTERNS = [
    "gpt2",
    "cl100k",
    "o200k",
    "whitespace",
    None,
    r"(?i)[a-k]+|\w+?(?=\d)|(?<=\s)\S++|.|\n",
    VERBOSE,
    r"\p{Han}|\p{Greek}+|[^\S\n]+|(?s:.)",
]
# Some patterns leave fewer pairs than merges that are asked for.
pytestmark = pytest.mark.filterwarnings("ignore:stopped after")
WINDOW = "The quick 字节 👩‍👩‍👧"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as browser:
        yield browser


def trained(pattern: str | None, **options: object) -> tuple[mw.Tokenizer, mw.WordCounts]:
    """A tokenizer of a text with letters of many kinds, and the counts of that text."""
    corpus = [OPTICKS[:30_000] + "\n".join(TEXTS.values()) * 20]
    counts = mw.count(corpus, pattern=pattern)
    specials = ["<|end|>", "<|end of text|>"]
    options = {"num_merges": 400, "special_tokens": specials, **options}
    return mw.train(counts, **options), counts  # type: ignore[arg-type]


def saved(folder: Path, tokenizer: mw.Tokenizer, counts: mw.WordCounts) -> Path:
    path = folder / "report.html"
    mw.report(tokenizer, {"a corpus": counts}, name="a tokenizer", time_limit=0).save(path)
    return path


def random_texts(number: int) -> list[str]:
    """Texts of characters of all planes, those near letters and spaces more often."""
    draw = random.Random(0)  # noqa: S311 - the same texts every time
    ranges = [(0x20, 0x7F), (0x9, 0xE), (0x80, 0x250), (0x300, 0x600), (0x900, 0xA00)]
    ranges += [(0x2000, 0x2070), (0x3000, 0x3100), (0x4E00, 0x4F00), (0x1F300, 0x1F700)]
    ranges += [(0x0, 0xD800), (0xE000, 0x110000)]
    texts = []
    for _ in range(number):
        size = draw.randrange(1, 60)
        texts.append("".join(chr(draw.randrange(*draw.choice(ranges))) for _ in range(size)))
    return texts


def ids_in(page: Page, texts: Sequence[str]) -> list[list[int] | None]:
    """The ids that the page's own encoder gives; None for texts that it refuses."""
    script = """texts => texts.map(text => {
        try {
            return mergewise.encode(text).map(token => token.id);
        } catch (error) {
            if (error.constructor.name !== "UnknownCharacter") throw error;
            return null;
        }
    })"""
    ids: list[list[int] | None] = page.evaluate(script, list(texts))
    return ids


def shown_ids(page: Page) -> list[int]:
    """The ids of the tokens that can be seen."""
    script = "[...document.querySelectorAll('.chip')].map(chip => Number(chip.dataset.id))"
    ids: list[int] = page.evaluate(script)
    return ids


def type_text(page: Page, text: str) -> None:
    """Put a text into the box, and wait until its tokens are there."""
    page.fill("#text", text)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def expected_ids(tokenizer: mw.Tokenizer, text: str) -> list[int]:
    return tokenizer.encode(text, allowed_special="all")


def test_typing_shows_the_tokens_of_encode(browser: Browser, tmp_path: Path) -> None:
    tokenizer, counts = trained("cl100k")
    with opened(browser, saved(tmp_path, tokenizer, counts)) as page:
        for name, text in TEXTS.items():
            type_text(page, text)
            # The box turns some ends of lines into others before anybody can read it.
            value = page.input_value("#text")
            assert shown_ids(page) == expected_ids(tokenizer, value), name
            number = len(expected_ids(tokenizer, value))
            noun = "token" if number == 1 else "tokens"
            assert page.inner_text(".summary").startswith(f"{number:,} {noun} · ")
        page.fill("#text", "")
        page.type("#text", WINDOW)
        page.locator(".chip").first.wait_for()
        type_text(page, WINDOW)
        assert shown_ids(page) == expected_ids(tokenizer, WINDOW)


def test_a_long_text_is_shown_bit_by_bit(browser: Browser, tmp_path: Path) -> None:
    tokenizer, counts = trained("o200k", num_merges=1500)
    text = (OPTICKS[30_000:130_000] + "\n".join(TEXTS.values()))[-100_000:]
    assert len(text) >= 100_000
    with opened(browser, saved(tmp_path, tokenizer, counts)) as page:
        # Chromium takes seconds to paste as much into any box; here only the last key is pressed.
        page.evaluate("text => { document.getElementById('text').value = text }", text)
        page.focus("#text")
        page.keyboard.press("x")
        page.locator(".more").wait_for()
        typed = page.input_value("#text")
        assert typed == text + "x"
        ids = expected_ids(tokenizer, typed)
        first = shown_ids(page)
        assert first == ids[: len(first)]
        assert 0 < len(first) < len(ids)
        assert page.inner_text(".summary").startswith(f"{len(ids):,} tokens")
        # Whoever scrolls to the end sees more, and so does whoever asks for it.
        page.evaluate("document.querySelector('.tokens').scrollTop = 1e9")
        page.locator(".chip").nth(len(first)).wait_for()
        page.click(".more")
        page.evaluate("for (const m = document.querySelector('.more'); !m.hidden;) m.click()")
        assert shown_ids(page) == ids
        assert page.is_hidden(".more")


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: (p or "none")[:10])
def test_every_pattern_encodes_alike(browser: Browser, tmp_path: Path, pattern: str | None) -> None:
    tokenizer, counts = trained(pattern)
    texts = [*TEXTS.values(), *random_texts(400), "a" * 3000, "ab " * 500]
    with opened(browser, saved(tmp_path, tokenizer, counts)) as page:
        for text, ids in zip(texts, ids_in(page, texts), strict=True):
            assert ids == expected_ids(tokenizer, text), repr(text)


def byte_tokens(first: int) -> tuple[int, ...]:
    return tuple(range(first, first + 256))


def vocabularies() -> dict[str, Vocabulary]:
    """Vocabularies of every kind, with few tokens, so that words have many ways to be encoded."""
    letters = {letter.encode(): n for n, letter in enumerate("abcdehlotw é語")}
    longer = [b"lo", b"low", b" low", b"ab", b"abc", "é語".encode()]
    tokens = {**letters, **{string: 50 + n for n, string in enumerate(longer)}}
    merges = [
        (b"l", b"o"),
        (b"lo", b"w"),
        (b" ", b"low"),
        (b"a", b"b"),
        (b"ab", b"c"),
        ("é".encode(), "語".encode()),
    ]
    chars = Vocabulary(tokens=tokens, merges=merges, alphabet="chars", pattern="whitespace")
    bytes_tokens = {bytes([byte]): 255 - byte for byte in range(256)}
    ends = {
        "l": 0,
        "o": 1,
        "w": 2,
        "w</w>": 3,
        "lo": 4,
        "low</w>": 5,
        "o</w>": 6,
        " ": 7,
        " </w>": 8,
    }
    ending = Vocabulary(
        tokens={string.encode(): i for string, i in ends.items()},
        merges=[(b"l", b"o"), (b"lo", b"w</w>")],
        alphabet="chars",
        end_of_word=b"</w>",
        unknown_token=9,
        pattern=r"\S+",
        drops_gaps=True,
    )
    ranks = {b"ab": 0, b"bc": 0, b"cd": 1, b"abc": 2, b"bcd": 2, b"abcd": 1}
    by_rank = {**bytes_tokens, **{string: 300 + n for n, string in enumerate(ranks)}}
    own_end = {**ending.tokens, b"</w>": 10}
    return {
        "chars, bytes for others": make(chars, byte_tokens=byte_tokens(100)),
        "chars, unknown": make(chars, unknown_token=99),
        "chars, unknown fused": make(chars, unknown_token=99, fuse_unknown=True, pattern=None),
        "chars, others refused": make(chars, added_tokens={"<x>": 400}),
        "SentencePiece": make(
            chars,
            byte_tokens=byte_tokens(100),
            pattern=None,
            prefix_space="always",
            mark_is_space=True,
            normalize="nfkc",
        ),
        "once": make(chars, byte_tokens=byte_tokens(100), prefix_space="once"),
        "unless": make(chars, byte_tokens=byte_tokens(100), prefix_space="unless_space"),
        "nfc": make(chars, byte_tokens=byte_tokens(100), normalize="nfc"),
        "ends of words": ending,
        "ends are symbols": make(ending, tokens=own_end),
        "ends merge": make(
            ending, tokens=own_end, merges=[(b"w", b"</w>"), *(ending.merges or ())]
        ),
        "whole words": Vocabulary(
            tokens={**bytes_tokens, b"abcd": 300, b"low": 301, b"lo": 302},
            merges=[(b"l", b"o")],
            whole_words=True,
            pattern="whitespace",
        ),
        "equal ranks": Vocabulary(tokens=by_rank, ranks=ranks, pattern=None),
        "parts later": Vocabulary(
            tokens={**bytes_tokens, b"ab": 300, b"abc": 301},
            merges=[(b"ab", b"c"), (b"a", b"b")],
            pattern="gpt2",
        ),
    }


def make(vocabulary: Vocabulary, **changes: object) -> Vocabulary:
    fields = {**vars(vocabulary), **changes}
    return Vocabulary(**fields)


@pytest.mark.parametrize("name", vocabularies())
def test_every_kind_of_vocabulary_encodes_alike(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    tokenizer = mw.Tokenizer(vocabularies()[name])
    counts = mw.count(["low"], pattern=tokenizer.pattern, normalize=tokenizer.normalize)
    texts = ["low abcd lowlow", " low  low", "ab\u2581low abc", "xé語 é語x", "abcdabcabd", "lo w"]
    texts += ["e\u0301 ﬁ x", "<x>low<x>", "bcdbcd", "語語xyé", ""]
    draw = random.Random(1)  # noqa: S311 - the same texts every time
    texts += ["".join(draw.choices("abcdlow é語x", k=draw.randrange(1, 30))) for _ in range(200)]
    with opened(browser, saved(tmp_path, tokenizer, counts)) as page:
        for text, ids in zip(texts, ids_in(page, texts), strict=True):
            try:
                expected: list[int] | None = expected_ids(tokenizer, text)
            except mw.errors.UnknownTokenError:
                expected = None
            assert ids == expected, repr(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gpt2", "cl100k", "o200k", "llama3", "qwen2.5", "tekken", "mistral-v3"]
)
def test_real_vocabularies_encode_alike(browser: Browser, tmp_path: Path, name: str) -> None:
    pattern = {"pattern": name} if name in {"gpt2", "cl100k", "o200k"} else {}
    tokenizer = mw.Tokenizer.from_file(vocabulary(name), lossy=True, **pattern)  # type: ignore[arg-type]
    counts = mw.count(["low"], pattern=tokenizer.pattern, normalize=tokenizer.normalize)
    texts = [*TEXTS.values(), *random_texts(300), OPTICKS[:20_000]]
    with opened(browser, saved(tmp_path, tokenizer, counts)) as page:
        for text, ids in zip(texts, ids_in(page, texts), strict=True):
            assert ids == expected_ids(tokenizer, text), repr(text)


def test_a_refused_character_is_named(browser: Browser, tmp_path: Path) -> None:
    counts = mw.count(["abab"], pattern=None)
    tokenizer = mw.train(counts, num_merges=1, alphabet="chars")
    with opened(browser, saved(tmp_path, tokenizer, counts)) as page:
        type_text(page, "abc")
        assert page.inner_text(".summary").startswith("“c” is no symbol")
        assert shown_ids(page) == []
        type_text(page, "ab")
        assert shown_ids(page) == [2]


def test_trees_and_facts_of_a_token(browser: Browser, tmp_path: Path) -> None:
    counts = mw.count(["low low low lower"], pattern="whitespace")
    tokenizer = mw.train(counts, num_merges=3)
    with opened(browser, saved(tmp_path, tokenizer, counts)) as page:
        type_text(page, "lowest low")
        assert page.inner_text(".facts") == "low · id 257 · merge 2 · 1 times in the corpus"
        labels = page.eval_on_selector_all(".forest .leaf", "all => all.map(e => e.textContent)")
        assert "".join(labels).startswith("low")
        roots = page.eval_on_selector_all(".forest .root", "all => all.map(e => e.textContent)")
        assert roots == ["low", "e", "s", "t", "▁low"]
        titles = page.eval_on_selector_all(".branch title", "all => all.map(e => e.textContent)")
        assert "low = lo + w, merge 2" in titles
        # By keys: to the last token and one back.
        page.focus(".tokens")
        page.keyboard.press("End")
        assert page.inner_text(".facts") == "▁low · id 258 · merge 3 · 3 times in the corpus"
        page.keyboard.press("ArrowLeft")
        assert page.inner_text(".facts").startswith("t · id 116 · a symbol")
        page.click(".chip >> nth=0")
        assert page.inner_text(".facts").startswith("low · id 257")


def test_two_tokenizers_side_by_side(browser: Browser, tmp_path: Path) -> None:
    first, counts = trained("cl100k")
    second, other = trained("whitespace")
    path = tmp_path / "both.html"
    made = mw.report(first, counts, compare=second, compare_counts=other, time_limit=0)
    made.save(path)
    with opened(browser, path) as page:
        type_text(page, WINDOW)
        for number, tokenizer in enumerate((first, second)):
            script = "v => [...v.querySelectorAll('.chip')].map(c => Number(c.dataset.id))"
            view = page.locator(".view").nth(number)
            assert view.evaluate(script) == expected_ids(tokenizer, WINDOW)


def test_a_pattern_that_no_browser_knows(browser: Browser, tmp_path: Path) -> None:
    pattern = r"(\w)\1|\w+|\W+"
    counts = mw.count(["aabb"], pattern=pattern)
    with opened(browser, saved(tmp_path, mw.train(counts, num_merges=0), counts)) as page:
        assert page.locator(".view").count() == 0
        assert "A browser cannot cut texts" in page.inner_text(".unsupported")


def luminance(page: Page, selector: str) -> float:
    """How bright an element's background is, from 0 to 1."""
    script = "s => getComputedStyle(document.querySelector(s)).backgroundColor"
    colour = page.evaluate(script, selector)
    red, green, blue = map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    tokenizer, counts = trained("cl100k")
    long_name = "a-long-name-without-spaces" * 4 + ".json"
    both = mw.report(
        tokenizer, {long_name: counts}, name=long_name, compare=tokenizer, time_limit=1
    )
    both.save(folder / "both.html")
    mw.report(tokenizer, counts, time_limit=1).save(folder / "report.html")
    mw.explain("picked pickled pickles", num_merges=5).save(folder / "explain.html")
    mw.explain("x" * 120, num_merges=1).save(folder / "long.html")
    return {path.stem: path for path in folder.iterdir()}


PAGES = ["both", "report", "explain", "long"]


@pytest.mark.parametrize("name", PAGES)
def test_dark_and_light(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], color_scheme="light") as page:
        assert luminance(page, "body") > 0.9
    with opened(browser, pages[name], color_scheme="dark") as page:
        assert luminance(page, "body") < 0.15


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_shows_the_whole_width(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], viewport=PHONE, has_touch=True, is_mobile=True) as page:
        assert not is_too_wide(page)
        small = """all => all.filter(e => e.textContent.trim() && e.getClientRects().length
            && parseFloat(getComputedStyle(e).fontSize) < 10).length"""
        assert page.eval_on_selector_all("body *", small) == 0


@pytest.mark.parametrize("name", PAGES)
def test_paper_has_no_controls(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert luminance(page, "body") > 0.9
        assert page.locator("button:visible, textarea:visible, input:visible").count() == 0
        steps = page.locator(".step").count()
        assert page.locator(".step:visible").count() == steps


def test_without_scripts_all_steps_are_there(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["explain"], java_script_enabled=False) as page:
        assert page.locator(".step:visible").count() == 29


def current_step(page: Page) -> int:
    """The number of the one step that can be seen."""
    visible = page.locator(".step:visible")
    assert visible.count() == 1
    title = visible.locator("h2").inner_text()
    return int(title.split("/")[0])


def test_stepping_through_every_step(browser: Browser, pages: dict[str, Path]) -> None:
    explanation = mw.explain("picked pickled pickles", num_merges=5)
    last = len(explanation.steps) - 1
    names = explanation.run.names
    with opened(browser, pages["explain"]) as page:
        for number, step in enumerate(explanation.steps):
            assert current_step(page) == number
            nodes = page.locator(".step:visible .node .text").all_inner_texts()
            assert nodes == [names[token].replace(" ", "▁") for _, token in step.tokens]
            new = page.locator(".step:visible .node.new .place").all_inner_texts()
            assert new == ([str(step.place)] if step.kind == "replace" else [])
            waiting = page.locator(".step:visible .node.first .place").all_inner_texts()
            assert waiting == [str(place) for place in step.waiting]
            if number < last:
                page.click("[data-go=forward]")
        assert page.get_attribute("[data-go=forward]", "aria-disabled") == "true"
        assert current_step(page) == last
        for number in range(last - 1, -1, -1):
            page.click("[data-go=back]")
            assert current_step(page) == number
        assert page.get_attribute("[data-go=back]", "aria-disabled") == "true"


def test_stepping_by_keys_slider_and_address(browser: Browser, pages: dict[str, Path]) -> None:
    explanation = mw.explain("picked pickled pickles", num_merges=5)
    last = len(explanation.steps) - 1
    merges = [n for n, step in enumerate(explanation.steps) if step.kind == "choose"]
    with opened(browser, pages["explain"], fragment="#step=7") as page:
        assert current_step(page) == 7
        for key, expected in [("ArrowRight", 8), ("ArrowLeft", 7), ("End", last), ("Home", 0)]:
            page.keyboard.press(key)
            assert current_step(page) == expected
        for expected in [*merges, last]:
            page.keyboard.press("PageDown")
            assert current_step(page) == expected
        for expected in [*reversed(merges), 0]:
            page.keyboard.press("PageUp")
            assert current_step(page) == expected
        # All buttons can be reached and used by keys.
        for button in ("first", "merge-back", "back", "forward"):
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.dataset.go") == button
        page.keyboard.press("Enter")
        assert current_step(page) == 1
        page.fill("#slider", "12")
        assert current_step(page) == 12
        assert page.evaluate("location.hash") == "#step=12"


def test_changes_are_marked(browser: Browser, pages: dict[str, Path]) -> None:
    # Step 2 replaces the first c·k, at 2, between i at 1 and e at 4.
    with opened(browser, pages["explain"], fragment="#step=2") as page:
        rows = page.locator(".step:visible .positions dt").all_inner_texts()
        places = page.locator(".step:visible .positions dd").all_inner_texts()
        found = dict(zip(rows, (place.split() for place in places), strict=True))
        assert found["c·k"] == ["−2", "9", "17"]
        assert found["i·c"] == ["−1", "8", "16"]
        assert found["k·e"] == ["−3"]
        assert found["i·ck"] == ["+1"]
        assert found["ck·e"] == ["+2"]
        assert "now 2" in page.locator(".step:visible .entry.stale").first.inner_text()
