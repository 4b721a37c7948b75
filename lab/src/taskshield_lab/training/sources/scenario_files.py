"""Reads and checks scenarios, openings, styles and tool definitions from JSON lines.

What they are is in `scenarios`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.core.messages import Json
from taskshield.core.tools import Tier
from taskshield_lab.training.sources.scenarios import (
    ATTACK_KINDS,
    INJECTION_SLOT,
    Attack,
    Call,
    Drift,
    Opening,
    Scenario,
    ScenarioStep,
    ScenarioTurn,
    Style,
    Tool,
    ToolDefinition,
    UserTask,
)

_Value = TypeVar("_Value")


def read_scenarios(folder: Path) -> tuple[Scenario, ...]:
    """All scenarios of a folder of JSON lines.

    Raises:
        ConfigError: The folder holds no such file.
        WireFormatError: A line is not a scenario; the message names file and line.
    """
    return _read(folder, _scenario, lambda scenario: scenario.id)


def read_openings(folder: Path) -> tuple[Opening, ...]:
    """All openings of a folder of JSON lines.

    Raises:
        ConfigError: The folder holds no such file.
        WireFormatError: A line is not an opening; the message names file and line.
    """
    return _read(folder, _opening, lambda opening: opening.id)


def read_styles(folder: Path) -> tuple[Style, ...]:
    """All styles of a folder of JSON lines.

    Raises:
        ConfigError: The folder holds no such file.
        WireFormatError: A line is not a style; the message names file and line.
    """
    return _read(folder, _style, lambda style: style.id)


def read_tool_definitions(folder: Path) -> tuple[ToolDefinition, ...]:
    """All tool definitions of a folder of JSON lines.

    Raises:
        ConfigError: The folder holds no such file.
        WireFormatError: A line is not a definition; the message names file and line.
    """
    return _read(folder, _definition, lambda definition: "\n".join(definition.texts))


def _read(
    folder: Path, parse: Callable[["_Fields"], _Value], id_of: Callable[[_Value], str]
) -> tuple[_Value, ...]:
    found: dict[str, _Value] = {}
    for where, line in _lines(folder):
        try:
            value = parse(_Fields(json.loads(line)))
            if id_of(value) in found:
                raise ValueError("An earlier line has the same id.")
        except (ValueError, RecursionError) as error:
            raise WireFormatError(f"{where}: {error}") from error
        found[id_of(value)] = value
    return tuple(found.values())


def _lines(folder: Path) -> Iterator[tuple[str, str]]:
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise ConfigError(f"The folder {folder} has no .jsonl file.")
    for path in paths:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if line.strip():
                yield f"{path}:{number}", line


class _Fields:
    """A JSON object whose fields are read with their types."""

    def __init__(self, value: object) -> None:
        if not isinstance(value, dict):
            raise ValueError("A JSON object was expected.")
        self._value: dict[str, Json] = value

    def get(self, key: str, *types: type) -> Json:
        value = self._value.get(key)
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise ValueError(f"The field {key!r} is missing or has the wrong type.")
        return value

    def text(self, key: str) -> str:
        return str(self.get(key, str))

    def text_or_none(self, key: str) -> str | None:
        value = self.get(key, str, type(None))
        return None if value is None else str(value)

    def number(self, key: str, below: int) -> int:
        value = self.get(key, int)
        if not isinstance(value, int) or not 0 <= value < below:
            raise ValueError(f"The field {key!r} must be from 0 to {below - 1}.")
        return value

    def object(self, key: str) -> Mapping[str, Json]:
        value = self.get(key, dict)
        assert isinstance(value, dict)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        items = self._list(key)
        if not all(isinstance(item, str) and item for item in items):
            raise ValueError(f"The field {key!r} must be a list of texts.")
        return tuple(str(item) for item in items)

    def list(self, key: str) -> tuple["_Fields", ...]:
        return tuple(_Fields(item) for item in self._list(key))

    def _list(self, key: str) -> Sequence[Json]:
        value = self.get(key, list)
        assert isinstance(value, list)
        return value


def _scenario(fields: _Fields) -> Scenario:
    tools = {tool.name: tool for tool in map(_tool, fields.list("tools"))}
    turns = tuple(
        ScenarioTurn(text=turn.text("text"), tasks=tuple(map(_goal, turn.list("tasks"))))
        for turn in fields.list("turns")
    )
    steps = tuple(_step(step, tools, turns) for step in fields.list("steps"))
    if not steps or not any(INJECTION_SLOT in step.output for step in steps):
        raise ValueError(f"No step's output has the mark {INJECTION_SLOT} for an injection.")
    if any(left.turn > right.turn for left, right in zip(steps, steps[1:], strict=False)):
        raise ValueError("The steps are not in the order of the turns.")
    return Scenario(
        id=fields.text("id"),
        domain=fields.text("domain"),
        lang=fields.text("lang"),
        tools=tuple(tools.values()),
        system=fields.text_or_none("system"),
        turns=turns,
        steps=steps,
        also_fine=tuple(_call(call, tools) for call in fields.list("also_fine")),
        drift=tuple(
            Drift(
                after=drift.number("after", len(steps)),
                call=_call(_Fields(drift.object("call")), tools),
            )
            for drift in fields.list("drift")
        ),
        attacks=tuple(_attack(attack, tools) for attack in fields.list("attacks")),
        final=fields.text("final"),
    )


def _opening(fields: _Fields) -> Opening:
    tools = {tool.name: tool for tool in map(_tool, fields.list("tools"))}

    def calls(key: str) -> tuple[Call, ...]:
        return tuple(_call(_Fields(one.object("call")), tools) for one in fields.list(key))

    opening = Opening(
        id=fields.text("id"),
        domain=fields.text("domain"),
        lang=fields.text("lang"),
        tools=tuple(tools.values()),
        system=fields.text_or_none("system"),
        turns=fields.texts("turns"),
        right=calls("right"),
        wrong=calls("wrong"),
    )
    if not opening.turns or not opening.right or not opening.wrong:
        raise ValueError("An opening needs a turn, a right call and a wrong one.")
    if any(call in opening.right for call in opening.wrong):
        raise ValueError("A call is both right and wrong.")
    return opening


def _tool(fields: _Fields) -> Tool:
    parameters = fields.object("parameters")
    return Tool(
        name=fields.text("name"),
        description=fields.text("description"),
        parameters={name: str(meaning) for name, meaning in parameters.items()},
        tier=Tier(fields.text("tier")),
    )


def _goal(fields: _Fields) -> UserTask:
    return UserTask(text=fields.text("text"), delegates_to=fields.text_or_none("delegates_to"))


def _call(fields: _Fields, tools: Mapping[str, Tool]) -> Call:
    call = Call(name=fields.text("name"), args=fields.object("args"))
    if call.name not in tools:
        raise ValueError(f"The scenario has no tool {call.name!r}.")
    unknown = call.args.keys() - tools[call.name].parameters.keys()
    if unknown:
        raise ValueError(f"The tool {call.name} has no parameter {', '.join(sorted(unknown))}.")
    return call


def _step(
    fields: _Fields, tools: Mapping[str, Tool], turns: Sequence[ScenarioTurn]
) -> ScenarioStep:
    step = ScenarioStep(
        turn=fields.number("turn", len(turns)),
        call=_call(_Fields(fields.object("call")), tools),
        serves=fields.number("serves", sum(len(turn.tasks) for turn in turns)),
        output=fields.text("output"),
        benign=fields.texts("benign"),
        obey=fields.texts("obey"),
    )
    plain = step.output.replace(INJECTION_SLOT, "")
    if not all(sentence in plain for sentence in (*step.benign, *step.obey)):
        raise ValueError("A sentence of 'benign' or 'obey' is not in the output of its step.")
    return step


def _attack(fields: _Fields, tools: Mapping[str, Tool]) -> Attack:
    attack = Attack(
        goal=fields.text("goal"),
        calls=tuple(_call(call, tools) for call in fields.list("calls")),
        kind=fields.text("kind"),
    )
    if attack.kind not in ATTACK_KINDS or not attack.calls:
        raise ValueError(
            f"An attack needs calls and one of the kinds {', '.join(sorted(ATTACK_KINDS))}."
        )
    return attack


def _style(fields: _Fields) -> Style:
    style = Style(
        id=fields.text("id"), label=fields.text("style"), template=fields.text("template")
    )
    if "{goal}" not in style.template:
        raise ValueError("The template has no {goal}.")
    return style


def _definition(fields: _Fields) -> ToolDefinition:
    definition = ToolDefinition(texts=fields.texts("texts"), injected=fields.texts("planted"))
    if not definition.texts:
        raise ValueError("A tool definition needs a text.")
    if not all(any(words in text for text in definition.texts) for words in definition.injected):
        raise ValueError("An injected text is in none of the texts of its definition.")
    return definition
