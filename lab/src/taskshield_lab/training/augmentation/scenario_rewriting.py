"""Applies one change to all texts and values of a scenario."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from taskshield.core.messages import Json
from taskshield_lab.training.sources.scenarios import Call, Scenario

TextChange = Callable[[str], str]


def rewrite_scenario(
    scenario: Scenario, text: TextChange, value: Callable[[Json], Json]
) -> Scenario:
    """The scenario with every text and every argument value changed; tools stay as they are."""

    def call(one: Call) -> Call:
        return replace(one, args={name: value(inner) for name, inner in one.args.items()})

    return replace(
        scenario,
        system=None if scenario.system is None else text(scenario.system),
        turns=tuple(
            replace(
                turn,
                text=text(turn.text),
                tasks=tuple(
                    replace(
                        task,
                        text=text(task.text),
                        delegates_to=None if task.delegates_to is None else text(task.delegates_to),
                    )
                    for task in turn.tasks
                ),
            )
            for turn in scenario.turns
        ),
        steps=tuple(
            replace(
                step,
                call=call(step.call),
                output=text(step.output),
                benign=tuple(map(text, step.benign)),
                obey=tuple(map(text, step.obey)),
            )
            for step in scenario.steps
        ),
        also_fine=tuple(map(call, scenario.also_fine)),
        drift=tuple(replace(drift, call=call(drift.call)) for drift in scenario.drift),
        attacks=tuple(
            replace(attack, goal=text(attack.goal), calls=tuple(map(call, attack.calls)))
            for attack in scenario.attacks
        ),
        final=text(scenario.final),
    )


def all_calls(scenario: Scenario) -> Iterator[Call]:
    """Every call of the scenario, aligned or not."""
    yield from (step.call for step in scenario.steps)
    yield from scenario.also_fine
    yield from (drift.call for drift in scenario.drift)
    for attack in scenario.attacks:
        yield from attack.calls


def source_texts(scenario: Scenario) -> tuple[str, ...]:
    """The texts that argument values are taken from."""
    return (
        *(turn.text for turn in scenario.turns),
        *(step.output for step in scenario.steps),
        *(attack.goal for attack in scenario.attacks),
    )


def leaf_values(value: Json) -> Iterator[str | int | float]:
    """The texts and numbers inside an argument."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from leaf_values(inner)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield value
    else:
        for inner in value:
            yield from leaf_values(inner)
