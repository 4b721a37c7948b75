"""Renames tools and their arguments."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from taskshield.core.messages import JsonObject
from taskshield_lab.training.augmentation.scenario_rewriting import rewrite_scenario
from taskshield_lab.training.sources.scenarios import Call, Scenario, Tool

_SYNONYMS = (
    ("get", "fetch", "read", "retrieve", "show", "load"),
    ("list", "enumerate", "browse"),
    ("search", "find", "lookup", "query", "grep"),
    ("send", "dispatch", "deliver", "transmit"),
    ("create", "add", "make", "insert"),
    ("update", "edit", "change", "modify", "amend"),
    ("delete", "remove", "erase", "drop", "purge"),
    ("mail", "email"),
    ("pay", "remit"),
    ("cancel", "revoke", "withdraw"),
    ("share", "grant"),
    ("purchase", "buy"),
)
_PREFIXES = ("mcp", "api", "svc", "tool", "app", "ext", "v2")

Casing = Callable[[Sequence[str]], str]


def snake(words: Sequence[str]) -> str:
    """like_this."""
    return "_".join(words)


def camel(words: Sequence[str]) -> str:
    """LikeThis."""
    return words[0] + "".join(word.capitalize() for word in words[1:])


def kebab(words: Sequence[str]) -> str:
    """like-this."""
    return "-".join(words)


def pascal(words: Sequence[str]) -> str:
    """LikeThis."""
    return "".join(word.capitalize() for word in words)


def upper(words: Sequence[str]) -> str:
    """LIKE_THIS."""
    return "_".join(words).upper()


CASINGS: tuple[Casing, ...] = (snake, snake, camel, kebab, pascal, upper)


def rename_tools(scenario: Scenario, rng: Random, *, arguments: bool = False) -> Scenario:
    """The scenario with all tools renamed in one style, and perhaps their arguments."""
    casing = rng.choice(CASINGS)
    prefix = [rng.choice(_PREFIXES)] if rng.random() < 0.25 else []
    swap = {word: rng.choice(group) for group in _SYNONYMS for word in group}
    names: dict[str, str] = {}
    for tool in scenario.tools:
        words = _words(tool.name)
        new = casing([*prefix, *(swap.get(word, word) for word in words)])
        while new in names.values():
            words = [*words, "2"]
            new = casing([*prefix, *words])
        names[tool.name] = new
    keys = {tool.name: _keys(tool, rng.choice(CASINGS[:3])) for tool in scenario.tools}
    if not arguments:
        keys = {tool.name: {key: key for key in tool.parameters} for tool in scenario.tools}
    distinctive = [name for name in names if re.search(r"[_-]|\w[A-Z]", name)]
    pattern = "|".join(re.escape(name) for name in sorted(distinctive, key=len, reverse=True))
    mention = re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])") if distinctive else None

    def text(one: str) -> str:
        return one if mention is None else mention.sub(lambda match: names[match[0]], one)

    changed = rewrite_scenario(scenario, text, lambda value: value)

    def call(one: Call) -> Call:
        return Call(name=names[one.name], args=_rekeyed(one.args, keys[one.name]))

    return replace(
        changed,
        tools=tuple(
            replace(
                tool,
                name=names[tool.name],
                parameters={keys[tool.name][key]: one for key, one in tool.parameters.items()},
            )
            for tool in scenario.tools
        ),
        steps=tuple(replace(step, call=call(step.call)) for step in changed.steps),
        also_fine=tuple(map(call, changed.also_fine)),
        drift=tuple(replace(drift, call=call(drift.call)) for drift in changed.drift),
        attacks=tuple(
            replace(attack, calls=tuple(map(call, attack.calls))) for attack in changed.attacks
        ),
    )


def _words(name: str) -> list[str]:
    """The words of a name, in lower case, however they are joined."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[\W_]+", spaced) if word] or [name]


def _keys(tool: Tool, casing: Casing) -> Mapping[str, str]:
    new = {key: casing(_words(key)) for key in tool.parameters}
    return new if len(set(new.values())) == len(new) else {key: key for key in new}


def _rekeyed(args: JsonObject, keys: Mapping[str, str]) -> JsonObject:
    return {keys[key]: value for key, value in args.items()}
