"""The colours of the plots, on light paper and on dark.

Kinds of colour blindness leave the series apart, and shapes tell them apart as well.
"""

from collections.abc import Mapping

INK = "#1c2128"
SOFT = "#59636e"
"""Minor text, and points that are not ours."""
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
"""What each colour becomes."""

_HEAT = ((254, 232, 200), (240, 150, 80), (179, 40, 20))
"""From a little to all."""
_DARK = 0.825
"""Heat from which on white letters read better."""


def heat(share: float) -> str:
    """The colour of a share from 0 to 1; nothing at all is as the paper."""
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
    """The colour of letters on `heat`."""
    if share == 0:
        return INK
    return "#ffffff" if share > _DARK else "#000000"
