"""Objects with named members in stored documents."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

from taskshield.adapters.stored.shapes import Misshapen, Schema, Shape, wrong
from taskshield.core.errors import PrivilegeError

T = TypeVar("T")


class _Needed:
    """Marks a member that has no default."""


NEEDED = _Needed()


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object.

    A member has a default only where reading without it cannot make the guard weaker. A member
    that was added after format 1 has one, and is left out where it has that value: earlier releases
    of the same format then read it as before.
    """

    name: str
    """As it is stored."""
    shape: Shape[Any]
    default: object = NEEDED
    """What a missing member means."""
    attribute: str = ""
    """Where the value has it, if it is named otherwise there; may have dots."""
    argument: str = ""
    """The argument for it when the value is made, if it is named otherwise there."""
    added: bool = False
    """Whether it was added after format 1."""


class Record(Generic[T]):
    """A value as an object with these members. Members that are not known are ignored."""

    __slots__ = ("_added", "_keeps", "_make", "_readers", "_writers", "members")

    def __init__(
        self, make: Callable[..., T], *members: Member, keeps_unknown_as: str | None = None
    ) -> None:
        """Define a record.

        Args:
            make: Makes the value of its members; usually its class.
            members: The members in the order in which they are written.
            keeps_unknown_as: The argument and attribute for members that are not known. They are
                written again.
        """
        self._make = make
        self.members = members
        """In the order in which they are written."""
        self._keeps = keeps_unknown_as
        self._writers = tuple(
            (each.name, attrgetter(each.attribute or each.name), each.shape.write)
            for each in members
            if not each.added
        )
        self._added = tuple(each for each in members if each.added)
        self._readers = tuple(
            (each.name, each.argument or each.name, each.shape.read, each.default)
            for each in members
        )

    def write(self, value: T) -> dict[str, object]:
        """The value as an object."""
        name = ""
        written: dict[str, object] = {}
        try:
            for name, get, write in self._writers:
                written[name] = write(get(value))
            for member in self._added:
                name = member.name
                found = attrgetter(member.attribute or name)(value)
                if found != member.default:
                    written[name] = member.shape.write(found)
        except Misshapen as error:
            error.steps.append(name)
            raise
        except AttributeError:  # not a value of this record at all
            raise Misshapen(f"{type(value).__name__} has no {name}") from None
        if self._keeps is not None:
            known = {each.name for each in self.members}
            kept: Mapping[str, object] = getattr(value, self._keeps)
            written.update((key, item) for key, item in kept.items() if key not in known)
        return written

    def read(self, value: Any) -> T:
        """The value of an object."""
        if type(value) is not dict:
            raise wrong("an object", value)
        given: dict[str, object] = {}
        name = ""
        try:
            for name, argument, read, default in self._readers:
                if name in value:
                    given[argument] = read(value[name])
                elif default is NEEDED:
                    raise Misshapen("this member is missing")
                else:
                    given[argument] = default
        except Misshapen as error:
            error.steps.append(name)
            raise
        if self._keeps is not None:
            known = {each.name for each in self.members}
            given[self._keeps] = {key: item for key, item in value.items() if key not in known}
        try:
            return self._make(**given)
        except PrivilegeError as error:
            raise Misshapen(str(error)) from None

    def schema(self) -> Schema:
        """The members, and which of them are needed."""
        return {
            "type": "object",
            "properties": {each.name: each.shape.schema() for each in self.members},
            "required": [each.name for each in self.members if each.default is NEEDED],
        }


class Either(Generic[T]):
    """One of several records, known by the member that only it has."""

    __slots__ = ("_by_member", "_by_type")

    def __init__(self, **records: tuple[type[Any], Record[Any]]) -> None:
        """Define it by the class and the record of each member."""
        self._by_member = {name: record for name, (_, record) in records.items()}
        self._by_type = dict(records.values())

    def write(self, value: T) -> object:
        """The value as its object."""
        record = self._by_type.get(type(value))
        if record is None:
            raise wrong(self._needed(), value)
        return record.write(value)

    def read(self, value: Any) -> T:
        """The value of an object."""
        if type(value) is not dict:
            raise wrong("an object", value)
        for name, record in self._by_member.items():
            if name in value:
                found: T = record.read(value)
                return found
        raise Misshapen(f"has no member {self._needed()}")

    def schema(self) -> Schema:
        """Any of the records."""
        return {"anyOf": [record.schema() for record in self._by_member.values()]}

    def _needed(self) -> str:
        return " or ".join(self._by_member)
