"""The colours of the plots, on light and on dark backgrounds.

The series stay distinct for colour-blind readers, and differ in shape as well.
"""

from collections.abc import Mapping

INK = "#1c2128"
SOFT = "#59636e"
"""Minor text, and points of others."""
LINES = "#d1d9e0"
PAPER = "#fefefe"
SERIES = ("#0072b2", "#c84e00", "#007a5a", "#aa3377", "#8a6a00")

ON_DARK: Mapping[str, str] = {
    INK: "#f0f3f6",
    SOFT: "#9ea7b3",
    LINES: "#3d444d",
    PAPER: "#151b23",
    "#0072b2": "#6cb8f0",
    "#c84e00": "#ff9153",
    "#007a5a": "#3ccf9e",
    "#aa3377": "#f08fc4",
    "#8a6a00": "#e0bd4b",
}
"""Replacements on a dark background."""

_HEAT = ((254, 232, 200), (240, 150, 80), (179, 40, 20))
"""From low to high."""
_DARK = 0.825
"""Heat above which white text is more readable."""


def heat(share: float) -> str:
    """The colour of a share from 0 to 1. Zero has the colour of the background."""
    if share == 0:
        return PAPER
    place = share * (len(_HEAT) - 1)
    lower = min(int(place), len(_HEAT) - 2)
    mixed = (
        round(low + (high - low) * (place - lower))
        for low, high in zip(_HEAT[lower], _HEAT[lower + 1], strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def on_heat(share: float) -> str:
    """The colour of text on `heat`."""
    if share == 0:
        return INK
    return "#ffffff" if share > _DARK else "#000000"
