"""Overhead of the server compared with direct requests, and its budgets."""

from collections.abc import Iterator

from request_rows import AZURE_CASES, Figures

CHECK_MS = 25.0
FIRST_WORD_MS = 5.0
THROUGHPUT = 0.7
MEMORY_MIB = 500.0
READY_S = 3.0

OURS = ("taskshield", "ahead")
"""Targets that are this project's server."""
_KIND = ("newest", "stream", "delay_ms", "clients")
"""Keys that are equal in compared rows."""


def compared(rows: list[Figures]) -> list[Figures]:
    """Add to each row its overhead over the provider, and its share of the bare throughput."""
    by_kind = {(row["target"], *_kind(row)): row for row in rows}
    return [
        {
            **row,
            "added_first_ms": _added(row, by_kind["upstream", *_kind(row)]),
            "of_bare": round(row["per_second"] / by_kind["bare", *_kind(row)]["per_second"], 3),
        }
        for row in rows
    ]


def budgets(figures: Figures) -> list[Figures]:
    """Each budget with the measured value, and whether it is met."""
    single = [case.name for case in AZURE_CASES if case.length == case.known + 1]
    checks = [row for row in figures["azure"] if row["new"] in single and row["clients"] == 1]
    ours = [row for row in figures["chat"] if row["target"] in OURS]
    recorded = figures["recorded"]
    typical = [] if recorded is None else [("a call as recorded", recorded["ms"]["p50"])]
    kinds = [(row["new"], row["whole_ms"]["p50"]) for row in checks]
    return [
        *(_at_most(f"over HTTP, p50 ms: {what}", CHECK_MS, p50) for what, p50 in typical + kinds),
        *_first_words([row for row in ours if row["clients"] == 1 and row["stream"]]),
        *_throughputs([row for row in ours if row["clients"] > 1]),
        _at_most("resident MiB after all", MEMORY_MIB, figures["memory_after_mib"]["resident"]),
        _at_most("seconds until ready", READY_S, figures["start"]["median_seconds"]),
    ]


def _first_words(rows: list[Figures]) -> Iterator[Figures]:
    for row in rows:
        what = f"added to the first word, p50 ms: {_named(row)}"
        yield _at_most(what, FIRST_WORD_MS, row["added_first_ms"])


def _throughputs(rows: list[Figures]) -> Iterator[Figures]:
    lowest: dict[str, float] = {}
    for row in rows:
        lowest[_named(row)] = min(row["of_bare"], lowest.get(_named(row), row["of_bare"]))
    for name, least in lowest.items():
        what = f"throughput of the bare pass-through's, lowest: {name}"
        yield {**_budget(what, f">= {THROUGHPUT:g}", least), "met": least >= THROUGHPUT}


def _named(row: Figures) -> str:
    """A short name for a row of chat."""
    ahead = ", ahead" if row["target"] == "ahead" else ""
    return f"{row['newest']}, provider {row['delay_ms']} ms{ahead}"


def _at_most(what: str, limit: float, measured: float) -> Figures:
    return {**_budget(what, f"<= {limit:g}", measured), "met": measured <= limit}


def _budget(what: str, budget: str, measured: float) -> Figures:
    return {"what": what, "budget": budget, "measured": measured}


def _added(row: Figures, upstream: Figures) -> float | None:
    if not row["stream"]:
        return None
    return round(float(row["first_ms"]["p50"] - upstream["first_ms"]["p50"]), 2)


def _kind(row: Figures) -> tuple[object, ...]:
    return tuple(row[name] for name in _KIND)
