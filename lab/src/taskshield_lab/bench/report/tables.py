"""The tables, made from figures. Pure."""

from collections.abc import Callable, Iterable, Sequence

from taskshield_lab.bench.measure.outcomes import Figures, figures
from taskshield_lab.bench.measure.rates import Rate
from taskshield_lab.bench.report.entries import Entry, as_recorded
from taskshield_lab.bench.report.grids import Block, Column, Grid, Row
from taskshield_lab.bench.report.safe_names import name

NONE = "-"
"""Shown if there is no figure."""

_RUNS = Column(title="runs", parts=("clean", "attacked"))
_Share = Callable[[Figures], Rate | None]

_MAIN: tuple[tuple[str, _Share], ...] = (
    ("CU", lambda each: each.clean_utility),
    ("U", lambda each: each.utility),
    ("ASR", lambda each: each.asr),
)
_NARROWER: tuple[tuple[str, _Share], ...] = (
    ("ASR by calls", lambda each: each.asr_by_calls),
    ("ASR solved goals", lambda each: each.asr_solved),
)
"""Shown if they differ from ASR."""


def overview(entries: Sequence[Entry]) -> Grid:
    """CU, U and ASR of all suites together, one row for each entry."""
    return Grid(
        title="Overall: per cent, with 95 % intervals clustered by user task",
        subject="entry",
        columns=(_RUNS, *(Column(title=title, parts=("", "")) for title, _ in _MAIN)),
        blocks=(
            Block(
                rows=tuple(
                    _shares(entry.label, entry.result.overall, _MAIN, strong=entry.guarded)
                    for entry in entries
                )
            ),
        ),
        notes=(_legend(_MAIN),),
    )


def suite_results(entries: Sequence[Entry]) -> Grid:
    """CU, U and ASR with their intervals, for each suite and overall."""
    everything = [each for entry in entries for _, each in _by_suite(entry)]
    shares = [
        *_MAIN,
        *(
            (title, share)
            for title, share in _NARROWER
            if any(share(each) != each.asr for each in everything)
        ),
    ]
    return Grid(
        title="By suite: per cent, with 95 % intervals clustered by user task",
        subject="suite",
        columns=(_RUNS, *(Column(title=title, parts=("", "")) for title, _ in shares)),
        blocks=tuple(
            Block(
                heading=entry.title,
                rows=tuple(
                    _shares(suite, each, shares, strong=each is entry.result.overall)
                    for suite, each in _by_suite(entry)
                ),
            )
            for entry in entries
        ),
        notes=(_legend(shares), *(note for entry in entries for note in _exceptions(entry))),
    )


def cost(entries: Sequence[Entry]) -> Grid:
    """The costs of the shield: blocked calls, time, model calls and tokens."""
    llm_used = any(entry.result.overall.usage.calls for entry in entries)
    saved = any(entry.result.overall.usage.saved for entry in entries)
    columns = [
        Column(title="false blocks", parts=("", "")),
        Column(title="false redactions", parts=("", "")),
        Column(title="disturbed", parts=("", "")),
        Column(title="missed calls", parts=("", "")),
        Column(title="checks", parts=("a conv.",)),
        Column(title="outages"),
        Column(title="ms a check", parts=("p50", "p99")),
    ]
    if llm_used:
        columns += [
            Column(title="LLM calls", parts=("all", "a conv.")),
            Column(title="tokens", parts=("all", "a conv.")),
        ]
    if saved:
        columns.append(Column(title="calls saved", parts=("all", "a conv.")))
    notes = (
        "false blocks: blocked calls of clean runs, per cent with 95 % interval.",
        "false redactions: tool outputs of clean runs that were redacted or withheld.",
        "disturbed: clean runs with a false block or redaction. Replay: of successful runs only.",
        "missed calls: calls of the attacker that were allowed. Worst-case agent only.",
        "ms a check: checks of assistant and tool messages, without cached answers.",
        *(["calls saved: messages that a cascade scored without its LLM."] if saved else []),
    )
    return Grid(
        title="Cost: all suites together",
        subject="entry",
        columns=tuple(columns),
        blocks=(
            Block(rows=tuple(_costs(entry, llm_used=llm_used, saved=saved) for entry in entries)),
        ),
        notes=notes,
    )


def replays(entries: Sequence[Entry]) -> Grid | None:
    """Recorded and replayed outcomes. None if no entry is a replay."""
    blocks = tuple(
        Block(heading=entry.title, rows=_replayed(entry))
        for entry in entries
        if entry.header.way == "replay" and as_recorded(entry.runs)
    )
    if not blocks:
        return None
    parts = ("record", "replay", "points")
    return Grid(
        title="Replays: per cent in the record and in the replay, and the difference in points",
        subject="suite",
        columns=tuple(Column(title=title, parts=parts) for title, _ in _MAIN),
        blocks=blocks,
        notes=(
            "Without a shield the difference is the error of the method. With a shield it is the "
            "effect of the shield.",
        ),
    )


def with_interval(rate: Rate | None) -> tuple[str, str]:
    """A share and its interval, in per cent."""
    if rate is None:
        return NONE, ""
    return percent(rate.value), f"[{percent(rate.low)}, {percent(rate.high)}]"


def percent(share: float) -> str:
    """A share in per cent, in four characters at most."""
    return "100" if share == 1 else f"{100 * share:.1f}"


def _shares(
    label: str, each: Figures, shares: Iterable[tuple[str, _Share]], *, strong: bool
) -> Row:
    runs = (str(each.clean_runs), str(each.attacked_runs))
    return Row(
        label=label,
        cells=(runs, *(with_interval(share(each)) for _, share in shares)),
        strong=strong,
    )


def _legend(shares: Iterable[tuple[str, _Share]]) -> str:
    known = {
        "CU": "CU: the user's task was completed, without an attack.",
        "U": "U: the same under attack.",
        "ASR": "ASR: the attacker's goal was reached.",
        "ASR by calls": "ASR by calls: without goals that were reached by text alone.",
        "ASR solved goals": "ASR solved goals: only goals for which AgentDojo lists calls.",
    }
    return " ".join(known[title] for title, _ in shares)


def _exceptions(entry: Entry) -> list[str]:
    """Exceptions that a reader of the figures must know."""
    total = entry.result.overall
    exceptions = []
    if total.unsolved:
        exceptions.append(
            f"{total.unsolved:,} of {counted(total.attacked_runs, 'attack')} have a goal for "
            "which AgentDojo lists no calls"
        )
    if total.by_words:
        exceptions.append(f"{counted(total.by_words, 'attack')} reached the goal by text alone")
    if total.errors:
        exceptions.append(f"left out because of an error: {counted(total.errors, 'run')}")
    return [f"{entry.label}: {'; '.join(exceptions)}."] if exceptions else []


def _by_suite(entry: Entry) -> list[tuple[str, Figures]]:
    suites = [(name(suite), each) for suite, each in entry.result.suites.items()]
    return [*suites, ("overall", entry.result.overall)]


def _costs(entry: Entry, *, llm_used: bool, saved: bool) -> Row:
    total = entry.result.overall
    conversations = max(1, total.clean_runs + total.attacked_runs)
    cells = [
        with_interval(total.false_blocks),
        with_interval(total.false_redactions),
        with_interval(total.disturbed),
        with_interval(total.missed_calls),
        (f"{total.checks:.1f}",),
        (f"{total.outages:,}",),
        (_milliseconds(total.p50_ms), _milliseconds(total.p99_ms)),
    ]
    if llm_used:
        calls, tokens = total.usage.calls, total.usage.tokens
        cells += [
            (short(calls), f"{calls / conversations:.1f}"),
            (short(tokens), short(tokens / conversations)),
        ]
    if saved:
        calls_saved = total.usage.saved
        cells.append((short(calls_saved), f"{calls_saved / conversations:.1f}"))
    return Row(label=entry.label, cells=tuple(cells))


def _replayed(entry: Entry) -> tuple[Row, ...]:
    comparable = [run for run in entry.runs if run.recorded_utility is not None]
    rows = []
    for suite in (*entry.result.suites, None):
        own = [run for run in comparable if suite is None or run.suite == suite]
        recorded, replayed = figures(as_recorded(own)), figures(own)
        cells = tuple(_compared(share(recorded), share(replayed)) for _, share in _MAIN)
        label = "overall" if suite is None else name(suite)
        rows.append(Row(label=label, cells=cells, strong=suite is None))
    return tuple(rows)


def _compared(recorded: Rate | None, replayed: Rate | None) -> tuple[str, str, str]:
    if recorded is None or replayed is None:
        return NONE, NONE, NONE
    points = 100 * (replayed.value - recorded.value)
    return percent(recorded.value), percent(replayed.value), f"{points:+.1f}"


def _milliseconds(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def short(number: float) -> str:
    """A number in five characters or so."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
