"""Pages in a browser: numbers stay whole, tables scroll, directions do not mix, frames work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import opened, started_browser
from playwright.sync_api import Browser

import mergewise as mw

ARABIC = "ترميز أزواج البايتات يدمج أكثر الرموز المتجاورة تكرارا "
TEXTS = {
    "English": "the lowest of the low, 1,234 times over ",
    "Arabic": ARABIC,
    "Chinese": "字节对编码把最常见的相邻符号合并成一个新符号。",
    "code": "def utility(merges, text):\n    return len(text) - len(apply(merges, text))\n",
}
NARROW = {"width": 390, "height": 800}
WIDE = {"width": 1400, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    parts = {
        pattern: {f"{n}.txt": mw.count([t * 4000], pattern=pattern) for n, t in TEXTS.items()}
        for pattern in ("gpt2", "whitespace", "cl100k")
    }
    made = {
        pattern: mw.train(sum(counts.values(), mw.count([], pattern=pattern)), num_merges=60)
        for pattern, counts in parts.items()
    }
    one = mw.report(made["gpt2"], parts["gpt2"], name="ملف.json", time_limit=0.5)
    others = {name: made[name] for name in ("whitespace", "cl100k")}
    three = mw.report(
        made["gpt2"],
        parts["gpt2"],
        name="new.json",
        compare=others,
        compare_counts={name: parts[name] for name in others},
        time_limit=0.5,
    )
    one.save(folder / "one.html")
    three.save(folder / "three.html")
    mw.explain("باب بابا", num_merges=3).save(folder / "explain.html")
    frames = "".join(value._repr_html_() for value in (one, mw.explain("abab", num_merges=1)))
    (folder / "frames.html").write_text(f"<!doctype html><meta charset=utf-8>{frames}")
    return {path.stem: path for path in folder.iterdir()}


# On how many lines the text of each element stands.
LINES = """all => all.map(element => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
})"""


@pytest.mark.parametrize("viewport", [WIDE, NARROW])
def test_a_number_is_on_one_line(
    browser: Browser, pages: dict[str, Path], viewport: dict[str, int]
) -> None:
    with opened(browser, pages["one"], viewport=viewport) as page:
        lines = page.eval_on_selector_all(".tiles dd", LINES)
        assert lines
        assert set(lines) == {1}
        clipped = "all => all.filter(e => e.scrollWidth > e.clientWidth).length"
        assert page.eval_on_selector_all(".tiles dd", clipped) == 0
    with opened(browser, pages["three"], viewport=viewport) as page:
        cells = page.eval_on_selector_all(".compared td", LINES)
        assert len(cells) == 7 * 5
        assert set(cells) == {1}


@pytest.mark.parametrize("name", ["one", "three"])
def test_a_wide_table_scrolls_in_its_own_frame(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    with opened(browser, pages[name], viewport=NARROW, is_mobile=True, has_touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.eval_on_selector_all("details", "all => all.forEach(e => e.open = true)")
        outside = """all => all.filter(e => {
            const frame = e.closest('.scroll');
            return !frame || getComputedStyle(frame).overflowX !== 'auto'
                || frame.getBoundingClientRect().right > window.innerWidth;
        }).length"""
        assert page.eval_on_selector_all("table", outside) == 0
    if name == "three":
        with opened(browser, pages[name], viewport=NARROW) as page:
            script = "e => { e.scrollLeft = 1e6; return e.scrollLeft }"
            assert page.locator(".compared .scroll").evaluate(script) > 100


def test_differences_are_told(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["three"]) as page:
        rows = page.locator(".compared tbody tr")
        cells = {row[0]: row[1:] for row in (r.split("\t") for r in rows.all_inner_texts())}
        ours, *theirs = (int(cells["tokens"][at].replace(",", "")) for at in (0, 1, 3))
        for number, said in zip(theirs, (cells["tokens"][2], cells["tokens"][4]), strict=True):
            assert said == (
                "the same"
                if ours == number
                else f"{abs(ours / number - 1) * 100:.2f}\xa0% "
                + ("fewer" if ours < number else "more")
            )
        assert cells["merges"][2] == "the same"
        head = page.locator(".verdict").inner_text()
        assert "new.json makes" in head
        assert head.count("cl100k") == 1
        assert page.locator(".view").count() == 3
        colours = page.eval_on_selector_all(
            ".key", "all => all.map(e => getComputedStyle(e, '::before').backgroundColor)"
        )
        assert len(set(colours)) == 3
        assert "all 3" in page.inner_text(".shared")


def test_text_from_right_to_left_is_isolated(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"]) as page:
        page.fill("#text", ARABIC)
        page.locator(".chip").nth(3).wait_for()
        places = page.eval_on_selector_all(
            ".chip", "all => all.map(e => e.getBoundingClientRect()).map(r => [r.top, -r.right])"
        )
        assert places == sorted(places)  # the first token is the rightmost
        isolated = "all => new Set(all.map(e => getComputedStyle(e).unicodeBidi)).has('isolate')"
        assert page.eval_on_selector_all(".chip", isolated)
        page.fill("#text", f"{ARABIC} ({ARABIC})")
        page.locator(".tokens").get_by_text(")").first.wait_for()
        bracketed = "all => all.filter(e => /^\\P{L}+$/u.test(e.textContent)).map(e => e.dir)"
        assert set(page.eval_on_selector_all(".chip", bracketed)) == {"rtl"}
        # Each line has its own direction, as in the box above.
        page.fill("#text", f"{ARABIC}\n\nlow ({ARABIC})\n1 {ARABIC}")
        page.locator(".tokens > div:nth-child(3)").wait_for()
        lines = page.eval_on_selector_all(".tokens > div", "all => all.map(e => e.dir)")
        assert [line for line in lines if line] == lines
        assert lines[0] == lines[-1] == "rtl"
        assert page.locator(".tokens > div[dir=ltr]").get_by_text("l").count()
        page.fill("#text", "low lower lowest of all")
        page.locator(".chip:first-child").get_by_text("l").wait_for()
        places = page.eval_on_selector_all(
            ".chip", "all => all.map(e => e.getBoundingClientRect()).map(r => [r.top, r.left])"
        )
        assert places == sorted(places)
        named = "all => all.filter(e => !e.querySelector('bdi')).length"
        assert page.eval_on_selector_all("code.token", named) == 0
    with opened(browser, pages["explain"]) as page:
        names = page.locator(".step.current .list bdi").all_inner_texts()
        assert names == [*"باب▁بابا"]
        popped = page.locator(".popped del").first
        assert popped.evaluate("e => /^− [0-9]+ $/.test(e.firstChild.textContent)")


def test_a_bound_that_is_not_tight_says_so(pages: dict[str, Path]) -> None:
    assert "not yet proved closer than that" in pages["three"].read_text(encoding="utf-8")
    counts = mw.count(["ab ab ab"], pattern="whitespace")
    tight = mw.report(mw.train(counts, num_merges=1), counts, time_limit=0.5)
    assert "makes as few tokens as possible: proved" in tight.html
    assert "not yet proved" not in tight.html


def test_pages_work_inside_the_frames_of_a_notebook(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["frames"]) as page:
        report, explanation = (page.frame_locator(f"iframe >> nth={n}") for n in (0, 1))
        report.locator("#text").fill("low lower")
        report.locator(".chip").first.wait_for()
        explanation.locator("[data-go=forward]").click()
        assert explanation.locator("#where").inner_text().startswith("step 1 of")
