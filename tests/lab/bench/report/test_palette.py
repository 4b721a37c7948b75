"""Colours that people can tell apart and letters that they can read."""

import re
from pathlib import Path

import pytest

from taskshield_lab.bench.report import palette

CSS = (Path(palette.__file__).parent / "html" / "templates" / "page.css").read_text()


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("color", [palette.INK, palette.SOFT, *palette.SERIES])
def test_letters_and_marks_stand_out_on_light_and_on_dark(color: str) -> None:
    assert contrast(color, palette.PAPER) >= 4.5
    assert contrast(palette.ON_DARK[color], palette.ON_DARK[palette.PAPER]) >= 4.5


def test_figures_can_be_read_at_any_heat() -> None:
    for percent in range(101):
        share = percent / 100
        assert contrast(palette.heat(share), palette.on_heat(share)) >= 4.5, percent


def test_more_heat_is_darker_and_none_is_paper() -> None:
    assert palette.heat(0) == palette.PAPER
    darker = [luminance(palette.heat(percent / 100)) for percent in range(101)]
    assert darker == sorted(darker, reverse=True)
    assert len(set(darker)) > 90


def test_letters_of_the_page_have_the_contrast_of_wcag_aa() -> None:
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+)", block))
        for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    )
    assert light.keys() == dark.keys()
    for colors in (light, dark):
        for back in (colors["paper"], colors["card"]):
            for letters in "ink soft link good bad system user assistant tool".split():
                assert contrast(colors[letters], back) >= 4.5, (letters, back)
        assert contrast(colors["good"], colors["good-back"]) >= 4.5
        assert contrast(colors["bad"], colors["bad-back"]) >= 4.5
        assert contrast(colors["ink"], colors["plain-back"]) >= 4.5
