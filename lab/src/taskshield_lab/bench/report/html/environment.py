"""The Jinja environment of the HTML page. Autoescaping is on for every template."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from taskshield.core.safe_text import one_line, visible
from taskshield_lab.bench.report.safe_names import name


@cache
def environment() -> Environment:
    """The environment, with filters that make text from records safe to show."""
    made = Environment(
        loader=PackageLoader("taskshield_lab.bench.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"name": name, "visible": visible, "one_line": one_line}
    return made
