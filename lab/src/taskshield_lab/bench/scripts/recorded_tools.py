"""The tools of recorded runs, which the records do not contain."""

from functools import cache

from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.tools import ToolSpec
from taskshield_lab.bench.agentdojo import suites
from taskshield_lab.bench.agentdojo.pipeline_elements import tool_specs


def tools_of(run: RecordedRun) -> tuple[ToolSpec, ...]:
    """The tools of the run's suite. Empty if the suite does not exist."""
    return _tools(run.suite, "v1" if run.version is None else run.version)


@cache
def _tools(suite: str, version: str) -> tuple[ToolSpec, ...]:
    found = suites.suites(version).get(suite)
    return () if found is None else tool_specs(found.tools)
