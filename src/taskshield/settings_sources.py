"""Where settings come from: a file and the environment, merged key by key.

It owns reading and merging; which keys there are and what they mean belongs to `settings`.

Not pydantic-settings: it ignores a mistyped `TASKSHIELD_*` variable and a settings file that does
not exist, both of which must be errors here, cannot say which source a wrong value came from, and
adds 110 ms to every command.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import yaml

from taskshield.core.errors import ConfigError

Values = Mapping[str, object]
"""Values by key; a section is a mapping of its own."""


def read_file(path: Path) -> Values:
    """The values in a YAML or TOML file.

    Raises:
        ConfigError: There is no such file, or it cannot be read as settings.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = type(error).__name__
        raise ConfigError(f"The settings file {path} cannot be read ({why}).") from None
    try:
        value = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
    # Also what both do not expect: numbers of absurd length and endless nesting.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        kind = "TOML" if path.suffix == ".toml" else "YAML"
        raise ConfigError(f"The settings file {path} is not valid {kind}{line}.") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"The settings file {path} must hold keys and values.")
    return value


def read_environment(variables: Mapping[str, str], *, prefix: str) -> Values:
    """The values in these variables, whose names all begin with the prefix."""
    values: dict[str, object] = {}
    for name in sorted(variables):
        nested: object = _parse(variables[name])
        for key in reversed(name.removeprefix(prefix).lower().split("__")):
            nested = {key: nested}
        assert isinstance(nested, dict)
        merge(values, nested)
    return values


def merge(into: dict[str, object], stronger: Values) -> None:
    """Write the stronger values over those in `into`, sections key by key."""
    for key, value in stronger.items():
        inner = into.get(key)
        if isinstance(inner, dict) and isinstance(value, Mapping):
            merge(inner, value)
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def gives(values: object, path: list[str]) -> bool:
    """Whether there is a value for the key with this path, or for a section around it."""
    for step in path:
        if not isinstance(values, Mapping):
            return True
        if step not in values:
            return False
        values = values[step]
    return True


def _parse(text: str) -> object:
    """A variable's value: JSON where it is an object or a list, otherwise the text itself."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text)
        except ValueError:
            return text  # the key's own type check then names the key
    return text
