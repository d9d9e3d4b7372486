"""Pages: nothing is loaded, and no script runs but their own."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import started_browser

import mergewise as mw
from mergewise.pages import page

COUNTS = mw.count(["low lower lowest low"], pattern="whitespace")
TOKENIZER = mw.train(COUNTS, num_merges=3)
PAGES = {
    "report": mw.report(TOKENIZER, COUNTS, time_limit=0.01).html,
    "explanation": mw.explain("abaabbaa", num_merges=2).html,
    "no scripts": page("title", "body", "explaining", css="explain.css", scripts=[]),
}
every_page = pytest.mark.parametrize("name", PAGES)


class Elements(HTMLParser):
    """The policy of a page, its scripts and styles, and attributes that would be either."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.policy: dict[str, list[str]] = {}
        self.contents: dict[str, list[str]] = {"script": [], "style": []}
        self.attributes: list[str] = []
        self.current: str | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("http-equiv") == "Content-Security-Policy":
            rules = [rule.split() for rule in (found["content"] or "").split(";")]
            self.policy = {rule[0]: rule[1:] for rule in rules}
        self.attributes += [key for key in found if key == "style" or key.startswith("on")]
        is_data = tag == "script" and found.get("type") == "application/json"
        self.current = tag if tag in self.contents and not is_data else None
        if self.current:
            self.contents[tag].append("")

    def handle_endtag(self, _tag: str) -> None:
        self.current = None

    def handle_data(self, data: str) -> None:
        if self.current:
            self.contents[self.current][-1] += data


def allowed(contents: list[str]) -> list[str]:
    digests = [hashlib.sha256(content.encode()).digest() for content in contents]
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests] or ["'none'"]


@every_page
def test_a_page_allows_its_own_scripts_and_styles_by_their_hash_alone(name: str) -> None:
    found = Elements(PAGES[name])
    assert found.policy["default-src"] == ["'none'"]
    assert found.policy["script-src"] == allowed(found.contents["script"])
    assert found.policy["style-src"] == allowed(found.contents["style"])
    assert found.attributes == []


def test_a_script_of_others_does_not_run(tmp_path: Path) -> None:
    """As if a text of the corpus had not been escaped."""
    path = tmp_path / "page.html"
    foreign = "<script>document.title = 'foreign'</script>"
    path.write_text(page("ours", foreign, "explaining", css="explain.css", scripts=[]))
    with started_browser() as browser:
        shown = browser.new_page()
        shown.goto(path.as_uri())
        assert shown.title() == "ours"
