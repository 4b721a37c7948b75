"""Figures of a scheme, computed from the costs of messages. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from counted_replay import Cost

from taskshield import Level

LEVELS = (Level.USER, Level.ASSISTANT, Level.TOOL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The cost of a scheme over all messages."""

    calls: int
    """Model calls, with those for system messages."""
    checked: int
    """Messages that were checked."""
    calls_per_checked_message: float
    share_of_messages_without_a_call: float
    most_calls_of_a_message: int
    calls_by_level: Mapping[str, int]
    prompt_tokens: int | None
    """Estimated. None if the scheme was not run."""
    prompt_tokens_per_checked_message: float | None
    most_prompt_tokens_of_a_message: int | None
    prompt_tokens_by_level: Mapping[str, int] | None
    failed: int
    """Checks that were outages."""

    def as_json(self) -> dict[str, object]:
        """For the results file."""
        return asdict(self)


def measured(costs: Sequence[Cost]) -> Figures:
    """The figures of a scheme that was run."""
    tokens = [cost.usage.prompt_tokens for cost in costs]
    return _figures(
        costs,
        lambda cost: cost.usage.calls,
        prompt_tokens=sum(tokens),
        most_prompt_tokens=max(tokens),
        by_level=_by_level(costs, lambda cost: cost.usage.prompt_tokens),
    )


def by_definition(costs: Sequence[Cost]) -> Figures:
    """The paper's scheme by definition: one extraction call, and one call for each instruction."""
    return _figures(costs, lambda cost: _extraction(cost) + cost.instructions)


def floor(costs: Sequence[Cost]) -> Figures:
    """The lowest cost of the paper's scheme: as if no text had an instruction."""
    return _figures(costs, lambda cost: _extraction(cost) + cost.calls)


def _extraction(cost: Cost) -> int:
    return 0 if cost.check == "skipped" else 1


def _figures(
    costs: Sequence[Cost],
    calls_of: Callable[[Cost], int],
    *,
    prompt_tokens: int | None = None,
    most_prompt_tokens: int | None = None,
    by_level: Mapping[str, int] | None = None,
) -> Figures:
    calls = [calls_of(cost) for cost in costs]
    checked = sum(1 for cost in costs if cost.check != "skipped")
    return Figures(
        calls=sum(calls),
        checked=checked,
        calls_per_checked_message=round(sum(calls) / checked, 3),
        share_of_messages_without_a_call=round(calls.count(0) / len(calls), 4),
        most_calls_of_a_message=max(calls),
        calls_by_level=_by_level(costs, calls_of),
        prompt_tokens=prompt_tokens,
        prompt_tokens_per_checked_message=(
            None if prompt_tokens is None else round(prompt_tokens / checked, 1)
        ),
        most_prompt_tokens_of_a_message=most_prompt_tokens,
        prompt_tokens_by_level=by_level,
        failed=sum(1 for cost in costs if cost.check == "failed"),
    )


def _by_level(costs: Sequence[Cost], amount: Callable[[Cost], int]) -> dict[str, int]:
    return {
        level.value: sum(amount(cost) for cost in costs if cost.level is level) for level in LEVELS
    }
