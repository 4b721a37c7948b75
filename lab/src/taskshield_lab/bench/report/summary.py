"""The figures of one file of records as values for JSON."""

from collections.abc import Sequence
from dataclasses import asdict

from taskshield_lab.bench.measure.outcomes import Figures, by_injection, figures
from taskshield_lab.bench.measure.rates import Rate
from taskshield_lab.bench.records import BenchmarkRun, Header
from taskshield_lab.bench.report.entries import Entry, as_recorded, entries

_DIGITS = 4


def summary(header: Header, runs: Sequence[BenchmarkRun]) -> dict[str, object]:
    """All figures of a file: for each agent and attack, overall, by suite and by goal."""
    return {
        **asdict(header),
        "attacks": list(header.attacks),
        "runs": len(runs),
        "results": [_result(entry) for entry in entries([(header, runs)])],
    }


def _result(entry: Entry) -> dict[str, object]:
    result = entry.result
    fields: dict[str, object] = {
        "agent": result.agent,
        "attack": result.attack,
        "overall": _figures(result.overall),
        "suites": {suite: _figures(each) for suite, each in result.suites.items()},
        "goals": [
            {
                "suite": cell.suite,
                "injection_task": cell.injection_task,
                "asr": _rate(cell.asr),
            }
            for cell in by_injection(entry.runs)
        ],
    }
    recorded = as_recorded(entry.runs)
    if recorded:
        as_recorded_figures = figures(recorded)
        fields["recorded"] = {
            "clean_utility": _rate(as_recorded_figures.clean_utility),
            "utility": _rate(as_recorded_figures.utility),
            "asr": _rate(as_recorded_figures.asr),
        }
    return fields


def _figures(of: Figures) -> dict[str, object]:
    conversations = max(1, of.clean_runs + of.attacked_runs)
    return {
        "clean_runs": of.clean_runs,
        "attacked_runs": of.attacked_runs,
        "errors": of.errors,
        "unsolved": of.unsolved,
        "by_words": of.by_words,
        "clean_utility": _rate(of.clean_utility),
        "utility": _rate(of.utility),
        "asr": _rate(of.asr),
        "asr_by_calls": _rate(of.asr_by_calls),
        "asr_solved": _rate(of.asr_solved),
        "false_blocks": _rate(of.false_blocks),
        "false_redactions": _rate(of.false_redactions),
        "disturbed": _rate(of.disturbed),
        "missed_calls": _rate(of.missed_calls),
        "checks_per_conversation": round(of.checks, _DIGITS),
        "outages": of.outages,
        "p50_ms": _rounded(of.p50_ms),
        "p99_ms": _rounded(of.p99_ms),
        "llm_calls": of.usage.calls,
        "llm_calls_per_conversation": round(of.usage.calls / conversations, _DIGITS),
        "llm_calls_saved": of.usage.saved,
        "llm_fallbacks": of.usage.fallbacks,
        "prompt_tokens": of.usage.prompt_tokens,
        "completion_tokens": of.usage.completion_tokens,
        "tokens_per_conversation": round(of.usage.tokens / conversations, 1),
    }


def _rate(rate: Rate | None) -> dict[str, object] | None:
    """A share from 0 to 1 with its 95 % interval."""
    if rate is None:
        return None
    return {
        "hits": rate.hits,
        "total": rate.total,
        "value": round(rate.value, _DIGITS),
        "low": round(rate.low, _DIGITS),
        "high": round(rate.high, _DIGITS),
    }


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 2)
