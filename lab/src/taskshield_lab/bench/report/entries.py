"""The rows of tables and plots: one entry for each judge, kind of run, agent and attack."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from taskshield_lab.bench.measure.outcomes import Result, results
from taskshield_lab.bench.records import NO_DEFENCE, BenchmarkRun, Header
from taskshield_lab.bench.report.safe_names import name

UNGUARDED = "no shield"
_DEFENCES = (
    "-tool_filter",
    "-repeat_user_prompt",
    "-spotlighting_with_delimiting",
    "-transformers_pi_detector",
)
"""Suffixes that AgentDojo adds to the name of a model."""
_SHORT_HASH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The result of one agent under one attack, with one judge or none."""

    label: str
    """Shortest name that distinguishes it from the other entries. Safe to show."""
    title: str
    """Complete name. Safe to show."""
    header: Header
    result: Result
    runs: tuple[BenchmarkRun, ...]
    """The runs of the result: those under this attack, and the clean ones."""

    @property
    def guarded(self) -> bool:
        """Whether one of our judges checked the runs."""
        return self.header.judge != NO_DEFENCE

    @property
    def origin(self) -> str:
        """Judge, kind of run and agent. Safe to show."""
        return _comma_separated(_parts(self.header, self.result)[:3])


def entries(files: Iterable[tuple[Header, Sequence[BenchmarkRun]]]) -> list[Entry]:
    """The entries of some files of records.

    Files with equal headers are merged. A run that occurs twice counts once.
    """
    by_id: dict[Header, dict[str, BenchmarkRun]] = {}
    for header, runs in files:
        by_id.setdefault(header, {}).update((run.id, run) for run in runs)
    joined = {header: [*runs.values()] for header, runs in by_id.items()}
    found = [(header, result) for header, runs in joined.items() for result in results(runs)]
    names = _names([_parts(header, result) for header, result in found])
    return [
        Entry(
            label=label,
            title=title,
            header=header,
            result=result,
            runs=tuple(
                run
                for run in joined[header]
                if run.agent == result.agent and run.attack in (None, result.attack)
            ),
        )
        for (label, title), (header, result) in zip(names, found, strict=True)
    ]


def comparable(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Entries that may share a plot, by their common title.

    These have the same kind of run, model, attack and version of the suites. Their labels contain
    only what distinguishes them.
    """
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        model = replace(entry.result, agent=_model(entry.result.agent))
        _, *common = _parts(entry.header, model)[:_ALWAYS]
        groups.setdefault(_comma_separated(common), []).append(entry)
    return {title: _relabelled(group) for title, group in groups.items()}


def as_recorded(runs: Iterable[BenchmarkRun]) -> list[BenchmarkRun]:
    """Replayed runs with the outcome of the recorded run. Other runs are left out."""
    return [
        replace(
            run,
            utility=run.recorded_utility,
            hijacked=not run.clean and bool(run.recorded_hijacked),
        )
        for run in runs
        if run.recorded_utility is not None
    ]


_ALWAYS = 5
"""Number of parts that are in every title."""


def _parts(header: Header, result: Result) -> tuple[str, ...]:
    """All properties in which entries can differ, the most important first. A part may be empty."""
    agent = name(result.agent)
    return (
        _defences_of(header),
        header.way,
        "" if agent == header.way else agent,
        "no attack" if result.attack is None else name(result.attack),
        f"suites {name(header.version)}",
        f"settings {name(header.settings[:_SHORT_HASH])}" if header.settings else "",
        f"taskshield {name(header.taskshield)}",
        f"agentdojo {name(header.agentdojo)}",
    )


def _defences_of(header: Header) -> str:
    judge = f"{name(header.judge)} judge" if header.judge != NO_DEFENCE else ""
    defence = name(header.defence) if header.defence != NO_DEFENCE else ""
    return " + ".join(filter(None, (judge, defence))) or UNGUARDED


def _names(lines: list[tuple[str, ...]]) -> list[tuple[str, str]]:
    """A label and a title for each entry.

    A label contains the parts in which the entries differ, and always the judge.
    """
    differ = [len(set(column)) > 1 for column in zip(*lines, strict=True)]
    names: list[tuple[str, str]] = []
    seen: Counter[str] = Counter()
    for parts in lines:
        distinct = [part if differs else "" for part, differs in zip(parts, differ, strict=True)]
        label = _comma_separated([parts[0], *distinct[1:]])
        title = _comma_separated([*parts[:_ALWAYS], *distinct[_ALWAYS:]])
        seen[label] += 1
        number = f" #{seen[label]}" if seen[label] > 1 else ""
        names.append((label + number, title + number))
    return names


def _model(agent: str) -> str:
    """The agent's name without AgentDojo's suffix for a defence."""
    return next((agent.removesuffix(end) for end in _DEFENCES if agent.endswith(end)), agent)


def _relabelled(entries: list[Entry]) -> list[Entry]:
    names = _names([_parts(entry.header, entry.result) for entry in entries])
    return [replace(entry, label=label) for entry, (label, _) in zip(entries, names, strict=True)]


def _comma_separated(parts: Iterable[str]) -> str:
    return ", ".join(filter(None, parts))
