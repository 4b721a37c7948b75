"""A chart of pairs of bars as a self-contained SVG file, for light and dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LEFT, _WIDTH, _LINE, _TOP = 210, 400, 20, 56
_STYLE = """\
    svg { --card: #ffffff; --ink: #1f2937; --soft: #4b5563; --rule: #d1d5db; --before: #b8c0cc;
      --after: #b45309; }
    @media (prefers-color-scheme: dark) {
      svg { --card: #1b2230; --ink: #e5e7eb; --soft: #b6bfcc; --rule: #3b4454; --before: #56627a;
        --after: #fbbf24; }
    }
    .card { fill: var(--card); } .rule { stroke: var(--rule); }
    .before { fill: var(--before); } .after { fill: var(--after); }
    text { fill: var(--ink); font: 12px system-ui, sans-serif; } .soft { fill: var(--soft); }
    .title { font-weight: 600; font-size: 14px; }"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A line of the chart. Both shares are between 0 and 1."""

    label: str
    before: float
    after: float


def chart(title: str, bars: Sequence[Bar]) -> str:
    """The SVG file."""
    height = _TOP + _LINE * len(bars) + 28
    width = _LEFT + _WIDTH + 60
    body = [_legend(title), *_rules(height), *(_bar(at, bar) for at, bar in enumerate(bars))]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"  <title>{escape(title)}</title>",
            "  <desc>The table below has the same figures.</desc>",
            f"  <style>\n{_STYLE}\n  </style>",
            f'  <rect class="card" width="{width}" height="{height}" rx="8"/>',
            *body,
            "</svg>\n",
        ]
    )


def _legend(title: str) -> str:
    return (
        f'  <text class="title" x="16" y="24">{escape(title)}, per cent</text>\n'
        f'  <rect class="before" x="{_LEFT}" y="34" width="12" height="9"/>'
        f'<text class="soft" x="{_LEFT + 18}" y="43">no defence</text>\n'
        f'  <rect class="after" x="{_LEFT + 110}" y="34" width="12" height="9"/>'
        f'<text class="soft" x="{_LEFT + 128}" y="43">judge embedded</text>'
    )


def _rules(height: int) -> list[str]:
    return [
        f'  <line class="rule" x1="{_x(share)}" x2="{_x(share)}" y1="{_TOP - 6}"'
        f' y2="{height - 22}"/>'
        f'<text class="soft" x="{_x(share)}" y="{height - 8}" text-anchor="middle">'
        f"{share * 100:.0f}</text>"
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]


def _bar(at: int, bar: Bar) -> str:
    y = _TOP + at * _LINE
    return (
        f'  <text x="{_LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(bar.label)}</text>'
        f'<rect class="before" x="{_LEFT}" y="{y + 1}" width="{_WIDTH * bar.before:.1f}"'
        f' height="6"/>'
        f'<rect class="after" x="{_LEFT}" y="{y + 7}" width="{_WIDTH * bar.after:.1f}"'
        f' height="6"/>'
    )


def _x(share: float) -> float:
    return _LEFT + _WIDTH * share
