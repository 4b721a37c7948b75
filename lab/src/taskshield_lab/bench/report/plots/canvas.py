"""What all plots have in common: settings, letters and files.

A figure stands for itself: nothing is drawn on a screen and no settings of matplotlib stay changed.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from taskshield_lab.bench.report.palette import INK, LINES, PAPER, SOFT

_FONT = "DejaVu Sans"
"""Comes with matplotlib."""
_SETTINGS: Any = {
    "svg.fonttype": "none",  # letters stay letters: to be searched, read aloud and kept small
    "font.family": _FONT,
    "font.size": 9.0,
    "text.parse_math": False,  # names may have dollars in them
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.facecolor": PAPER,
    "axes.titlesize": 10.0,
    "figure.facecolor": PAPER,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINES,
    "grid.linewidth": 0.6,
    "hatch.color": SOFT,
    "hatch.linewidth": 0.7,
}
_DPI = 150


@contextmanager
def drawing() -> Iterator[None]:
    """With our settings, and with the old ones again afterwards."""
    with matplotlib.rc_context(_SETTINGS):
        yield


def figure(title: str, *, width: float, height: float) -> Figure:
    """An empty figure.

    Args:
        title: What it shows.
        width: In inches.
        height: In inches.
    """
    empty = Figure(figsize=(width, height), layout="constrained")
    empty.suptitle(plain(title), fontsize=12, fontweight="bold", x=0.01, ha="left")
    return empty


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG and as PNG. The same figure always gives the same files.

    Args:
        figure: What to write.
        path: Where to, without the ending.
    """
    path.with_name(f"{path.name}.svg").write_text(svg(figure), encoding="utf-8")
    with drawing():
        png = path.with_name(f"{path.name}.png")
        figure.savefig(png, format="png", dpi=_DPI, metadata={"Software": None})


def svg(figure: Figure, *, salt: str = "taskshield") -> str:
    """The figure as an SVG document.

    Args:
        figure: What to write.
        salt: Goes into the ids of shapes, which are the same whenever the figure is. Figures that
            stand in one HTML page need different ones.
    """
    written = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with drawing(), matplotlib.rc_context({"svg.hashsalt": salt}):
        figure.savefig(written, format="svg", metadata=nothing)
    # Verdana is as wide, so that nothing overlaps where the font is not installed.
    return written.getvalue().replace(f"'{_FONT}'", f"'{_FONT}', Verdana, sans-serif")


def plain(text: str) -> str:
    """The text in letters that every font has."""
    return text.encode("ascii", "backslashreplace").decode()
