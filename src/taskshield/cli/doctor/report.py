"""The findings as lines for people, or as one JSON document for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from taskshield._version import __version__
from taskshield.cli.doctor.findings import Finding, State
from taskshield.core.safe_text import one_line

_LONGEST = 600
_STYLES: Mapping[State, str] = {
    "ok": "green",
    "note": "yellow",
    "failed": "bold red",
    "skipped": "dim",
}


def has_failed(findings: Sequence[Finding]) -> bool:
    """Whether a check failed."""
    return any(each.state == "failed" for each in findings)


def show(console: Console, findings: Sequence[Finding]) -> None:
    """Print one line for each finding, and below a failed one what to do."""
    width = max(len(each.check) for each in findings)
    for each in findings:
        label = "FAILED" if each.state == "failed" else each.state
        line = Text(f"{label:<7}  ", style=_STYLES[each.state])
        line.append(f"{each.check:<{width}}  {one_line(each.what, _LONGEST)}", style="default")
        console.print(line, soft_wrap=True)
        if each.advice:
            console.print(
                Text(f"{'':<7}  {'':<{width}}  -> {one_line(each.advice, _LONGEST)}"),
                soft_wrap=True,
            )
    count = sum(each.state == "failed" for each in findings)
    last = "All checks passed." if count == 0 else f"{count} failed. Do what the arrows say."
    console.print(Text(last), soft_wrap=True)


def document(findings: Sequence[Finding]) -> str:
    """The findings as JSON, all of it ASCII."""
    return json.dumps(
        {
            "version": __version__,
            "passed": not has_failed(findings),
            "checks": [asdict(each) for each in findings],
        },
        ensure_ascii=True,
        indent=2,
    )
