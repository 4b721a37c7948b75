"""Settings, fonts and files shared by all plots.

Nothing is drawn on a screen, and matplotlib's global settings are restored.
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
    "svg.fonttype": "none",  # text stays text: searchable, readable aloud, small
    "font.family": _FONT,
    "font.size": 9.0,
    "text.parse_math": False,  # names may contain dollar signs
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
    """Apply our settings inside the block."""
    with matplotlib.rc_context(_SETTINGS):
        yield


def figure(title: str, *, width: float, height: float) -> Figure:
    """An empty figure.

    Args:
        title: Its heading.
        width: In inches.
        height: In inches.
    """
    empty = Figure(figsize=(width, height), layout="constrained")
    empty.suptitle(plain(title), fontsize=12, fontweight="bold", x=0.01, ha="left")
    return empty


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG and PNG. The same figure always gives the same files.

    Args:
        figure: The figure.
        path: The path without a suffix.
    """
    path.with_name(f"{path.name}.svg").write_text(svg(figure), encoding="utf-8")
    with drawing():
        png = path.with_name(f"{path.name}.png")
        figure.savefig(png, format="png", dpi=_DPI, metadata={"Software": None})


def svg(figure: Figure, *, salt: str = "taskshield") -> str:
    """The figure as an SVG document.

    Args:
        figure: The figure.
        salt: Part of the ids of shapes, which are reproducible. Figures on one HTML page need
            different salts.
    """
    written = io.StringIO()
    no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with drawing(), matplotlib.rc_context({"svg.hashsalt": salt}):
        figure.savefig(written, format="svg", metadata=no_metadata)
    # Verdana is as wide, so nothing overlaps if the font is not installed.
    return written.getvalue().replace(f"'{_FONT}'", f"'{_FONT}', Verdana, sans-serif")


def plain(text: str) -> str:
    """The text in ASCII, which every font has."""
    return text.encode("ascii", "backslashreplace").decode()
