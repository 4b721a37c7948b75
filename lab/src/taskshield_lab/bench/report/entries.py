"""Our lines in tables and plots: one for each judge, way, agent and attack."""

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
"""As AgentDojo adds them to the name of a model."""
_SHORT_HASH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What came of one agent under one attack, with one judge or none."""

    label: str
    """Tells it from the others, in as few words as that takes. Safe to show."""
    title: str
    """All that there is to say of it. Safe to show."""
    header: Header
    result: Result
    runs: tuple[BenchmarkRun, ...]
    """What the result was made from: the runs under this attack, and the clean ones."""

    @property
    def guarded(self) -> bool:
        """Whether a judge of ours was there."""
        return self.header.judge != NO_DEFENCE

    @property
    def origin(self) -> str:
        """Who stood guard, how the exam was sat and by whom. Safe to show."""
        return _told(_parts(self.header, self.result)[:3])


def entries(files: Iterable[tuple[Header, Sequence[BenchmarkRun]]]) -> list[Entry]:
    """The lines that records give.

    Those with equal headers are taken together; a run that is there twice counts once.
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
    """The lines that may stand in one plot, by what they have in common.

    Those are lines of one way, model, attack and version of the suites: anything else is another
    question. Their labels say only what tells them apart from each other.
    """
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        model = replace(entry.result, agent=_model(entry.result.agent))
        _, *common = _parts(entry.header, model)[:_ALWAYS]
        groups.setdefault(_told(common), []).append(entry)
    return {title: _named_anew(group) for title, group in groups.items()}


def as_recorded(runs: Iterable[BenchmarkRun]) -> list[BenchmarkRun]:
    """Replayed runs with the outcome that the record itself tells; others are left out."""
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
"""So many of the parts below are in every title."""


def _parts(header: Header, result: Result) -> tuple[str, ...]:
    """All in which lines can differ, what matters most first. A part may be empty."""
    agent = name(result.agent)
    return (
        _guard(header),
        header.way,
        "" if agent == header.way else agent,
        "no attack" if result.attack is None else name(result.attack),
        f"suites {name(header.version)}",
        f"settings {name(header.settings[:_SHORT_HASH])}" if header.settings else "",
        f"taskshield {name(header.taskshield)}",
        f"agentdojo {name(header.agentdojo)}",
    )


def _guard(header: Header) -> str:
    judge = f"{name(header.judge)} judge" if header.judge != NO_DEFENCE else ""
    defence = name(header.defence) if header.defence != NO_DEFENCE else ""
    return " + ".join(filter(None, (judge, defence))) or UNGUARDED


def _names(lines: list[tuple[str, ...]]) -> list[tuple[str, str]]:
    """For each line a label and a title.

    A label has the parts in which not all lines are the same; who stood guard is always said.
    """
    differ = [len(set(column)) > 1 for column in zip(*lines, strict=True)]
    names: list[tuple[str, str]] = []
    seen: Counter[str] = Counter()
    for parts in lines:
        telling = [part if tells else "" for part, tells in zip(parts, differ, strict=True)]
        label = _told([parts[0], *telling[1:]])
        title = _told([*parts[:_ALWAYS], *telling[_ALWAYS:]])
        seen[label] += 1
        number = f" #{seen[label]}" if seen[label] > 1 else ""
        names.append((label + number, title + number))
    return names


def _model(agent: str) -> str:
    """The agent without the name of a defence of AgentDojo's at the end of its name."""
    return next((agent.removesuffix(end) for end in _DEFENCES if agent.endswith(end)), agent)


def _named_anew(entries: list[Entry]) -> list[Entry]:
    names = _names([_parts(entry.header, entry.result) for entry in entries])
    return [replace(entry, label=label) for entry, (label, _) in zip(entries, names, strict=True)]


def _told(parts: Iterable[str]) -> str:
    return ", ".join(filter(None, parts))
