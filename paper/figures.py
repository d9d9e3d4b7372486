"""How the figures look, and where they go."""

import math
from importlib import import_module
from pathlib import Path
from typing import Any

from claims import Options

from mergewise.files import replacing

# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLACK, GREY = "#000000", "#767676"
BLUE, ORANGE, GREEN, RED, SKY, PINK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
)
STYLE = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "savefig.dpi": 110,
    "svg.hashsalt": "mergewise",
}


def canvas(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    """A figure of that many inches, and its axes."""
    matplotlib: Any = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update(STYLE)
    plots: Any = import_module("matplotlib.pyplot")
    figure, axes = plots.subplots(1, columns, figsize=(width, height))
    return figure, axes


def save(figure: Any, name: str, options: Options) -> None:  # noqa: ANN401 (matplotlib's)
    """Writes a figure as SVG and PNG, the same bytes for the same data."""
    folder = Path(options.figures or ".")
    folder.mkdir(exist_ok=True)
    plain: dict[str, dict[str, Any]] = {
        "svg": {"metadata": {"Date": None}},
        "png": {"metadata": {"Software": None}, "pil_kwargs": {"optimize": True}},
    }
    for kind, settings in plain.items():
        with replacing(folder / f"{name}.{kind}") as path:
            figure.savefig(path, format=kind, **settings)


def name_lines(axes: Any, lines: dict[str, Any]) -> None:  # noqa: ANN401 (matplotlib's)
    """Writes the names of lines at their ends, in their colours, none on another."""
    axes.figure.draw_without_rendering()
    points = 72 / axes.figure.dpi

    def height(line: Any) -> float:  # noqa: ANN401
        place = line.get_xdata()[-1], line.get_ydata()[-1]
        return float(axes.transData.transform(place)[1] * points)

    free = -math.inf
    for name, line in sorted(lines.items(), key=lambda item: height(item[1])):
        target = max(height(line), free)
        free = target + 12
        axes.annotate(
            name,
            (line.get_xdata()[-1], line.get_ydata()[-1]),
            xytext=(7, target - height(line)),
            textcoords="offset points",
            color=line.get_color(),
            va="center",
            fontsize=9,
        )
