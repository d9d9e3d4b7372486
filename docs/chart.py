"""Draws docs/screenshots/training.svg from the first table of README.md: `make command-line`."""

from __future__ import annotations

from html import escape
from pathlib import Path

DOCS = Path(__file__).parent
CHART = DOCS / "screenshots" / "training.svg"
WIDTH, ROW, LEFT, RIGHT = 720, 30, 130, 70
# Colours for a light and for a dark page, which follow the reader's.
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #5d6670; }
.own { font-weight: 600; fill: #1f6fb2; }
rect { fill: #b9bfc6; }
rect.own { fill: #1f6fb2; }
@media (prefers-color-scheme: dark) {
  text { fill: #9aa4ae; }
  rect { fill: #59626b; }
  .own, rect.own { fill: #72b5ee; }
}
"""


def figures() -> tuple[str, dict[str, float]]:
    """What the first column of the table measures, and the seconds of each library."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| training |")[2].partition("\n\n")[0].splitlines()
    title = table[0].split("|")[0].strip()
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in table[2:]]
    return title, {name: float(first) for name, first, *_ in rows if first}


def chart() -> str:
    """The drawing."""
    title, seconds = figures()
    most = max(seconds.values())
    parts = []
    for number, (name, value) in enumerate(seconds.items()):
        y = 34 + number * ROW
        own = ' class="own"' if name == "mergewise" else ""
        width = max(2.0, value / most * (WIDTH - LEFT - RIGHT))
        parts += [
            f'<text{own} x="{LEFT - 10}" y="{y + 16}" text-anchor="end">{escape(name)}</text>',
            f'<rect{own} x="{LEFT}" y="{y}" width="{width:.1f}" height="{ROW - 8}" rx="3"/>',
            f'<text{own} x="{LEFT + width + 8:.1f}" y="{y + 16}">{value:.2f} s</text>',
        ]
    height = 34 + len(seconds) * ROW
    heading = f"Training: CPU seconds, {title}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<title>{escape(heading)}</title><style>{STYLE}</style>"
        f'<text x="0" y="16">{escape(heading)}</text>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    CHART.write_text(chart(), encoding="utf-8")
