"""Which `TASKSHIELD_*` variables are settings, which are mistyped ones, and which are neither.

A mistyped setting would be a guard that is off, so it is an error that names the right variable.
A variable that resembles no setting is ignored: the user keeps a key in it, or Kubernetes made it
for a service that is called taskshield.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from taskshield.core.errors import ConfigError

_SERVICE_LINK = re.compile(
    r"SERVICE_HOST\Z|SERVICE_PORT(_[A-Z0-9_]{1,200})?\Z|PORT_\d{1,9}_(TCP|UDP|SCTP)(_[A-Z]{1,99})?\Z"
)
"""Ends of the names that Kubernetes gives to variables about a service."""
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://")
"""The value of the one that otherwise looks like a port: TASKSHIELD_PORT=tcp://10.0.0.1:8787."""
_SHORT = 5
"""Names of fewer letters resemble a name that differs in one letter; others, in two."""


def of_settings(
    variables: Mapping[str, str], *, prefix: str, besides: str, paths: Iterable[Sequence[str]]
) -> dict[str, str]:
    """The variables that name a setting, or a key in a section that exists.

    Args:
        variables: All variables of the process.
        prefix: Begins the names of those that may be settings.
        besides: A variable with this prefix that is not a setting.
        paths: The steps to each setting and section: `("policy", "output")`.

    Raises:
        ConfigError: A variable resembles a setting, but is none.
    """
    known = {path: _variable(prefix, path) for path in map(tuple, paths)}
    first_steps = {path[0] for path in known}
    found, mistyped = {}, []
    for name in sorted(variables):
        if not name.startswith(prefix) or name == besides:
            continue
        rest = name.removeprefix(prefix)
        if rest.lower().split("__")[0] in first_steps:
            found[name] = variables[name]
        elif not _is_service_link(rest, variables[name]):
            meant = _resembling(rest, known, prefix, besides)
            if meant is not None:
                mistyped.append(
                    f"{name}: no such setting (from the environment). Is {meant} meant? Rename the"
                    " variable, or unset it."
                )
            elif "__" in rest:
                mistyped.append(
                    f"{name}: no such setting (from the environment). Rename the variable, or unset"
                    " it: two underscores name a setting."
                )
    if mistyped:
        raise ConfigError("\n".join(mistyped))
    return found


def _variable(prefix: str, path: Sequence[str]) -> str:
    return prefix + "__".join(path).upper()


def _is_service_link(rest: str, value: str) -> bool:
    by_name = _SERVICE_LINK.search(rest) is not None
    return by_name or (rest.endswith("PORT") and _SERVICE_ADDRESS.match(value) is not None)


def _resembling(
    rest: str, known: Mapping[tuple[str, ...], str], prefix: str, besides: str
) -> str | None:
    """The variable that is meant by one without its prefix; None where it resembles none."""
    letters = _letters(rest)
    names = {_letters(name.removeprefix(prefix)): name for name in (*known.values(), besides)}
    if letters in names:
        return names[letters]
    for path, name in known.items():
        if letters == _letters(path[-1]):
            return name
    allowed = 1 if len(letters) < _SHORT else 2
    near = min(names, key=lambda each: _distance(letters, each))
    return names[near] if _distance(letters, near) <= allowed else None


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _distance(left: str, right: str) -> int:
    """The number of letters to insert, remove or replace that turns one into the other."""
    row = list(range(len(right) + 1))
    for index, letter in enumerate(left, start=1):
        above, row[0] = row[0], index
        for column, other in enumerate(right, start=1):
            best = min(row[column] + 1, row[column - 1] + 1, above + (letter != other))
            above, row[column] = row[column], best
    return row[-1]
