"""A YAML file with slots, parsed once and filled many times.

AgentDojo fills the slots in the text and parses all of it again for every run. Here only those
scalars are parsed again that have a slot in them, exactly as they stand in the file: what line
breaks and backslashes in a payload turn into is part of the benchmark.
"""

import pickle
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

_Path = tuple[Any, ...]
_BRACES = frozenset("{}")


class Template:
    """A file whose strings may hold `{slot}`, as `str.format` takes them."""

    def __init__(self, text: str) -> None:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
        data = yaml.load(text, Loader=yaml.CSafeLoader)
        self._data = pickle.dumps(data)  # the fastest way to copy it
        self._slotted = dict(_slotted(root, data, text, ()))

    def filled(self, texts: Mapping[str, str]) -> Any:
        """The data with these texts in the slots."""
        data = pickle.loads(self._data)
        for (*way, last), source in self._slotted.items():
            place = data
            for step in way:
                place = place[step]
            place[last] = yaml.load(source.format(**texts), Loader=yaml.CSafeLoader)
        return data


def _slotted(node: yaml.Node, data: Any, text: str, path: _Path) -> Iterator[tuple[_Path, str]]:
    """The scalars that are not what they look like before they are filled, with their source."""
    if isinstance(node, yaml.MappingNode):
        for (key_node, value_node), (key, value) in zip(node.value, data.items(), strict=True):
            if not _BRACES.isdisjoint(_source(key_node, text)):
                raise ValueError("a slot in a key is not supported")
            yield from _slotted(value_node, value, text, (*path, key))
    elif isinstance(node, yaml.SequenceNode):
        for number, (inner, value) in enumerate(zip(node.value, data, strict=True)):
            yield from _slotted(inner, value, text, (*path, number))
    elif not _BRACES.isdisjoint(source := _source(node, text)):
        yield path, source


def _source(node: yaml.Node, text: str) -> str:
    return text[node.start_mark.index : node.end_mark.index]
