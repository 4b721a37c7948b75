"""Stored documents and their versions.

Format 1 is what release 0.1.0 writes; its documents have no version. From format 2 on, a document
carries its version as its first member. A document of an older format is lifted to the newest one
step by step before it is read; one of a newer format is refused. Within a format, members may be
added: releases that do not know them ignore them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from taskshield.adapters.stored.records import Record
from taskshield.adapters.stored.shapes import Misshapen, Schema, Shape
from taskshield.core.errors import WireFormatError

T = TypeVar("T")

NEWEST = 2
"""The newest format, which this release writes where nothing else is asked for."""
VERSION = "version"
"""The member of a document that has its version."""

Step: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Changes a document of one format into one of the next, or of the one before."""


def write_json(shape: Shape[T], value: T, name: str) -> str:
    """A value as JSON in ASCII, so that it can be stored anywhere.

    Raises:
        WireFormatError: The value is not what its types say, or nested beyond reason.
    """
    try:
        return _text(shape.write(value), name)
    except Misshapen as error:
        raise error.error(name) from None
    except RecursionError:
        raise _not_written(name) from None


def read_json(shape: Shape[T], text: str, name: str) -> T:
    """Read what `write_json` wrote.

    Every text comes back equal, surrogates without a partner included.

    Raises:
        WireFormatError: The text is not of this shape. The message names the path.
    """
    try:
        return shape.read(_parsed(text, name))
    except Misshapen as error:
        raise error.error(name) from None
    except RecursionError:
        raise _not_read(name) from None


class NewerFormat(WireFormatError):
    """A document is in a format of a newer release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Generic[T]):
    """A kind of document, in all its formats."""

    name: str
    """What errors call it."""
    record: Record[T]
    """The newest layout."""
    lifts: Mapping[int, Step] = field(default_factory=dict)
    """From each older format to the next, where more changes than the version."""
    lowers: Mapping[int, Step] = field(default_factory=dict)
    """To each older format from the next."""

    def write(self, value: T, version: int = NEWEST) -> str:
        """Write a value as a document of a format.

        Raises:
            WireFormatError: The value is not what its types say, or nested beyond reason.
        """
        try:
            plain = self.record.write(value)
        except Misshapen as error:
            raise error.error(self.name) from None
        except RecursionError:
            raise _not_written(self.name) from None
        for older in range(NEWEST - 1, version - 1, -1):
            if older in self.lowers:
                plain = self.lowers[older](plain)
        return _text(plain if version == 1 else {VERSION: version, **plain}, self.name)

    def read(self, text: str) -> T:
        """Read a document of any format.

        Raises:
            WireFormatError: The text is no such document, or a newer release wrote it
                (`NewerFormat`). The message names the path.
        """
        try:
            plain = _parsed(text, self.name)
            for older in range(_take_version(plain, self.name), NEWEST):
                if older in self.lifts:
                    plain = self.lifts[older](plain)
            return self.record.read(plain)
        except Misshapen as error:
            raise error.error(self.name) from None
        except (RecursionError, KeyError, TypeError, AttributeError):  # of a lift
            raise _not_read(self.name) from None

    def schema(self) -> Schema:
        """The newest format as a JSON schema."""
        schema = self.record.schema()
        properties = {VERSION: {"const": NEWEST}, **schema["properties"]}
        return {
            **schema,
            "properties": properties,
            "required": [VERSION, *schema["required"]],
        }


def _take_version(plain: object, name: str) -> int:
    version = plain.pop(VERSION, 1) if type(plain) is dict else 1
    if type(version) is not int or version < 1:
        misshapen = Misshapen("not a version of a stored document")
        misshapen.steps.append(VERSION)
        raise misshapen
    if version > NEWEST:
        raise NewerFormat(
            f"{name}: written by a newer release, in format {version};"
            f" this release reads up to {NEWEST}"
        )
    return version


def _text(plain: object, name: str) -> str:
    try:
        return json.dumps(plain)
    except (ValueError, TypeError, RecursionError):
        raise _not_written(name) from None


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # not JSON, a number of absurd length, endless brackets
        raise _not_read(name) from None


def _not_written(name: str) -> WireFormatError:
    return WireFormatError(f"{name}: cannot be written as JSON")


def _not_read(name: str) -> WireFormatError:
    return WireFormatError(f"{name}: not JSON that can be read")
